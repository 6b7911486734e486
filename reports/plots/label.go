package plots

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// label writes words at a place of a plot. Unlike plotter.Labels it does not move
// the axes to make room.
type label struct {
	at     plotter.XY
	text   string
	style  text.Style
	offset vg.Point
}

// Plot implements plot.Plotter. The words are kept within the plot.
func (l *label) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	at := vg.Point{X: trX(l.at.X), Y: trY(l.at.Y)}.Add(l.offset)
	width := l.style.Width(l.text)
	left := at.X + width*vg.Length(l.style.XAlign)
	at.X += max(0, c.Min.X-left) - max(0, left+width-c.Max.X)
	c.FillText(l.style, at, l.text)
}

// takes are the words at recommended points. Curves come down to these points, so
// the words stand below them; where others stand already, further down, or not at
// all if those say the same.
type takes struct {
	picks  plotter.XYs
	style  text.Style
	format string // of the value
}

// Plot implements plot.Plotter.
func (t *takes) Plot(c draw.Canvas, p *plot.Plot) {
	type place struct {
		text string
		box  vg.Rectangle
	}
	var placed []place
	trX, trY := p.Transforms(&c)
	gap := vg.Points(11)
	for _, pick := range t.picks { // the rings, which have no words
		at := vg.Point{X: trX(pick.X), Y: trY(pick.Y)}
		r := vg.Point{X: gap - vg.Points(2), Y: gap - vg.Points(2)}
		placed = append(placed, place{box: vg.Rectangle{Min: at.Sub(r), Max: at.Add(r)}})
	}
	for _, pick := range slices.SortedStableFunc(slices.Values(t.picks), func(a, b plotter.XY) int { return int(min(max(trY(b.Y)-trY(a.Y), -1), 1)) }) {
		at := place{text: fmt.Sprintf(t.format, number(pick.X))}
		size := vg.Point{X: t.style.Width(at.text), Y: t.style.Font.Size}
		top := vg.Point{X: trX(pick.X), Y: trY(pick.Y) - gap}
		if top.Y-size.Y < c.Min.Y {
			top.Y += 2*gap + size.Y
		}
		taken := true
		for taken {
			at.box = vg.Rectangle{Min: vg.Point{X: top.X - size.X/2, Y: top.Y - size.Y}, Max: vg.Point{X: top.X + size.X/2, Y: top.Y}}
			i := slices.IndexFunc(placed, func(o place) bool { return overlap(o.box, at.box) })
			if taken = i >= 0; taken && placed[i].text == at.text {
				break
			} else if taken {
				top.Y = placed[i].box.Min.Y - vg.Points(1)
			}
		}
		if !taken && at.box.Min.Y >= c.Min.Y {
			placed = append(placed, at)
			c.FillText(t.style, top, at.text)
		}
	}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
