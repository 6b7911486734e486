package plots

import (
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
