package plots

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pldperf/hw/result"
	"pldperf/reports"
)

// bars are the places of a bar chart: runs that ended ok, in groups that differ on
// one axis only, with an empty place between groups.
type bars struct {
	frame  *Frame
	axis   string
	points []*reports.Point // nil is an empty place
	values []string         // on the axis
	groups []barGroup
}

// barGroup is what the bars from first to last have in common, and others have not.
type barGroup struct {
	name        string
	first, last int
}

func newBars(f *Frame, axis string, points []reports.Point) *bars {
	b := &bars{frame: f, axis: axis}
	choices := reports.Recommend(points, axis, 0)
	shared := make([][]reports.KV, len(choices))
	for i := range choices {
		shared[i] = choices[i].Axes
	}
	for i, c := range choices {
		first := len(b.points)
		if first > 0 {
			first++
		}
		for _, row := range c.Rows {
			p := &points[row.Point]
			if p.Status != result.OK {
				continue
			}
			if len(b.points) < first {
				b.points, b.values = append(b.points, nil), append(b.values, "")
			}
			b.points, b.values = append(b.points, p), append(b.values, row.Value)
		}
		if len(b.points) > first {
			b.groups = append(b.groups, barGroup{differences(shared, i), first, len(b.points) - 1})
		}
	}
	return b
}

// layer is one colour of stacked bars.
type layer struct {
	name   string
	color  color.Color
	values plotter.Values
}

// layer takes a value of each run.
func (b *bars) layer(name string, c color.Color, of func(*reports.Point) float64) layer {
	l := layer{name, c, make(plotter.Values, len(b.points))}
	for i, p := range b.points {
		if p != nil {
			l.values[i] = of(p)
		}
	}
	return l
}

// stack adds layers to a plot, the first at the bottom, and returns their legend in
// the order in which they stand.
func (b *bars) stack(p *plot.Plot, layers []layer) (legend []entry) {
	below := make([]*plotter.BarChart, len(b.groups))
	top := make(plotter.Values, len(b.points))
	for _, l := range layers {
		var bar *plotter.BarChart
		for i, g := range b.groups { // a chart for each group: an empty place would break the axis line
			bar = &plotter.BarChart{
				Values: l.values[g.first : g.last+1], XMin: float64(g.first), Width: b.width(),
				Color: l.color, LineStyle: draw.LineStyle{Color: color.White, Width: vg.Points(0.4)},
			}
			if below[i] != nil {
				bar.StackOn(below[i])
			}
			below[i] = bar
			p.Add(bar)
		}
		legend = append(legend, entry{l.name, []plot.Thumbnailer{bar}})
		for i, v := range l.values {
			top[i] += v
		}
	}
	slices.Reverse(legend)
	p.Y.Min, p.Y.Max = 0, 1
	if highest := slices.Max(top); highest > 0 {
		p.Y.Max = highest * 1.05
	}
	p.Y.Tick.Marker = evenTicks{}
	b.name(p)
	return legend
}

// plotRoom is how wide a plot is at least, in points, beside the widest legend.
const plotRoom = 560

// place is the width of one bar with its share of the gaps.
func (b *bars) place() vg.Length { return plotRoom / vg.Length(len(b.points)) }

func (b *bars) width() vg.Length { return min(vg.Points(64), b.place()*0.78) }

// name labels the bars with their values, every few when there are many, and below
// them the groups.
func (b *bars) name(p *plot.Plot) {
	s := p.X.Tick.Label
	widest := vg.Length(0)
	for _, v := range b.values {
		widest = max(widest, s.Width(v))
	}
	every := 1
	for b.place()*vg.Length(every) < widest+vg.Points(8) && every < len(b.values) {
		every++
	}
	var ticks plot.ConstantTicks
	for _, g := range b.groups {
		for i := g.first; i <= g.last; i += every {
			if b.values[i] != "" {
				ticks = append(ticks, plot.Tick{Value: float64(i), Label: b.values[i]})
			}
		}
		if g.name != "" {
			name := cut(s, g.name, b.place()*vg.Length(g.last-g.first+2))
			ticks = append(ticks, plot.Tick{Value: float64(g.first+g.last) / 2, Label: "\n" + name})
		}
	}
	p.X.Tick.Marker = ticks
	p.X.Tick.Length = 0
	p.X.Min, p.X.Max = -0.6, float64(len(b.points))-0.4
	p.X.Label.Text = b.frame.axisLabel(b.axis)
}

// title puts the axis, or "run" without one, into the format.
func (b *bars) title(format string) string {
	return b.frame.tr(format, cmp.Or(b.axis, "run"))
}
