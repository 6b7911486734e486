package plots

import (
	"errors"
	"fmt"
	"image/color"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// heatScale are the colours of amounts, light for little, with which zero is white.
var heatScale = []color.RGBA{
	{0xff, 0xff, 0xff, 0xff}, {0xe0, 0xf0, 0xdb, 0xff}, {0xa8, 0xdd, 0xb5, 0xff}, {0x4e, 0xb3, 0xd3, 0xff}, {0x08, 0x68, 0xac, 0xff}, {0x06, 0x2a, 0x5e, 0xff},
}

// ramp is heatScale as a palette.
type ramp struct{}

// Colors implements palette.Palette.
func (ramp) Colors() []color.Color {
	out := make([]color.Color, 256)
	for i := range out {
		out[i] = along(heatScale, float64(i)/255)
	}
	return out
}

// grid is a matrix as plotter.HeatMap asks for it, with row 0 at the top. Each cell
// is drawn as fine x fine equal ones: an image of few cells would be blurred when it
// is scaled up.
type grid struct {
	cells [][]int64
	fine  int
}

func (g grid) Dims() (c, r int)   { return len(g.cells) * g.fine, len(g.cells) * g.fine }
func (g grid) Z(c, r int) float64 { return float64(g.cells[len(g.cells)-1-r/g.fine][c/g.fine]) }
func (g grid) X(c int) float64    { return (float64(c)+0.5)/float64(g.fine) - 0.5 }
func (g grid) Y(r int) float64    { return g.X(r) }

// bare hides that a heat map can list a box for every cell, a million for 1,024 ranks,
// which the plot would keep clear of its edges.
type bare struct{ plot.Plotter }

// check returns the greatest cell.
func check(rows [][]int64) (most int64, err error) {
	if len(rows) == 0 {
		return 0, errors.New("the traffic matrix is empty")
	}
	for s, row := range rows {
		if len(row) != len(rows) {
			return 0, fmt.Errorf("the traffic matrix has %d rows, but row %d has %d columns", len(rows), s, len(row))
		}
		for d, n := range row {
			if n < 0 {
				return 0, fmt.Errorf("the traffic from rank %d to rank %d is %d, below zero", s, d, n)
			}
			most = max(most, n)
		}
	}
	return most, nil
}

// Maps of more ranks than vectorRanks are drawn as an image of about pixels x pixels.
const (
	vectorRanks = 64
	pixels      = 1024
)

// Traffic draws rows[src][dst], in the given unit, as a heat map with source 0 at the
// top. The title says how uneven the remote traffic is: the busiest source and
// destination, over the mean. A matrix that is empty, not square or negative is an
// error.
func Traffic(f Frame, rows [][]int64, unit string) (*Picture, error) {
	most, err := check(rows)
	if err != nil {
		return nil, err
	}
	if f.Title == "" {
		f.Title = f.tr("Traffic between ranks")
	}
	f.Title += ": " + Imbalance(rows)
	top := float64(max(most, 1))
	p := f.plot()
	heat := &plotter.HeatMap{GridXYZ: grid{rows, 1}, Palette: ramp{}, Min: 0, Max: top}
	if len(rows) > vectorRanks {
		heat.GridXYZ, heat.Rasterized = grid{rows, max(1, pixels/len(rows))}, true
	}
	p.Add(bare{heat})
	rankAxis(&p.X, len(rows), f.tr("destination rank"), func(r int) int { return r })
	rankAxis(&p.Y, len(rows), f.tr("source rank"), func(r int) int { return len(rows) - 1 - r })
	if len(rows) <= 16 {
		cellNumbers(&f, p, rows, most)
	}
	return f.picture("", nil, func(c draw.Canvas) { heatAndBar(&f, p, unit, top, c) }), nil
}

// Imbalance says how uneven the traffic between different ranks is.
func Imbalance(rows [][]int64) string {
	var out, in, all int64
	for r := range rows {
		var sent, received int64
		for q := range rows {
			if q != r {
				sent, received = sent+rows[r][q], received+rows[q][r]
			}
		}
		all += sent
		out, in = max(out, sent), max(in, received)
	}
	if all == 0 {
		return "no remote traffic"
	}
	over := func(n int64) string {
		return strconv.FormatFloat(float64(n)*float64(len(rows))/float64(all), 'f', 2, 64)
	}
	return fmt.Sprintf("busiest source %s x, busiest destination %s x the mean", over(out), over(in))
}

// rankAxis marks ranks where place says they are.
func rankAxis(a *plot.Axis, ranks int, name string, place func(rank int) int) {
	a.Label.Text = name
	a.Min, a.Max = -0.5, float64(ranks)-0.5
	step := 1
	for ranks > 16*step {
		step *= 2
	}
	var ticks plot.ConstantTicks
	for r := 0; r < ranks; r += step {
		ticks = append(ticks, plot.Tick{Value: float64(place(r)), Label: strconv.Itoa(r)})
	}
	a.Tick.Marker = ticks
}

func cellNumbers(f *Frame, p *plot.Plot, rows [][]int64, most int64) {
	for s := range rows {
		for d, n := range rows[s] {
			ink := color.Color(ink)
			if n*100 > most*65 {
				ink = color.White
			}
			size := float64(tickSize)
			if len(rows) > 8 {
				size = 9
			}
			style := f.style(size, ink, false)
			style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
			p.Add(&label{at: plotter.XY{X: float64(d), Y: float64(len(rows) - 1 - s)}, text: number(float64(n)), style: style})
		}
	}
}

// heatAndBar draws the map as a square and the scale of its colours beside it.
func heatAndBar(f *Frame, p *plot.Plot, unit string, most float64, c draw.Canvas) {
	const bar, gap = 110, 24
	area := c
	area.Max.X -= bar + gap
	data := p.DataCanvas(area)
	if spare := (data.Max.X - data.Min.X) - (data.Max.Y - data.Min.Y); spare > 0 {
		area.Max.X -= spare
	} else {
		area.Min.Y -= spare
	}
	p.Draw(area)
	scale := f.plot()
	scale.Add(bare{&plotter.HeatMap{GridXYZ: column{most}, Palette: ramp{}, Min: 0, Max: most, Rasterized: true}})
	scale.X.Min, scale.X.Max = -0.5, 0.5
	scale.X.Tick.Marker, scale.X.Width = plot.ConstantTicks{}, 0
	scale.Y.Min, scale.Y.Max = 0, most
	scale.Y.Tick.Marker = evenTicks{}
	scale.Y.Label.Text = unit
	data = p.DataCanvas(area)
	side := c
	side.Min.X = area.Max.X + gap
	side.Max.X = side.Min.X + bar
	side.Min.Y, side.Max.Y = data.Min.Y, data.Max.Y
	side.Min.Y = max(side.Min.Y, c.Min.Y)
	scale.Draw(side)
}

// column is the scale of colours from 0 to most.
type column struct{ most float64 }

func (c column) Dims() (cols, rows int) { return 1, 256 }
func (c column) Z(_, r int) float64     { return c.most * float64(r) / 255 }
func (c column) X(int) float64          { return 0 }
func (c column) Y(r int) float64        { return c.Z(0, r) }
