package plots

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

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

// mark puts an asterisk on bars of runs outside what was measured, whose heights are
// predictions, and says in the legend what it means.
func (b *bars) mark(p *plot.Plot, legend []entry, height func(*reports.Point) float64) []entry {
	style := b.frame.style(labelSize, ink, true)
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	any := false
	for i, x := range b.points {
		if x != nil && len(x.Outside) > 0 {
			any = true
			p.Add(&label{at: plotter.XY{X: float64(i), Y: height(x)}, text: "*", style: style, offset: vg.Point{Y: -vg.Points(3)}})
		}
	}
	if any {
		legend = append(legend, entry{name: "* " + b.frame.tr("outside what was measured")})
	}
	return legend
}

// name labels the bars with their values, and below them the groups. Of many amounts it
// names every few; names have no order that would tell those between, so they are turned
// where there is no room for all, and the groups then stand above.
func (b *bars) name(p *plot.Plot) {
	s := p.X.Tick.Label
	words := b.short()
	widest := vg.Length(0)
	for _, v := range words {
		widest = max(widest, s.Width(v))
	}
	every := 1
	for b.place()*vg.Length(every) < widest+vg.Points(8) && every < len(words) {
		every++
	}
	turned := every > 1 && b.named()
	if turned {
		every = 1
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/6, draw.XRight, draw.YTop
	}
	var ticks plot.ConstantTicks
	for _, g := range b.groups {
		for i := g.first; i <= g.last; i += every {
			if words[i] != "" {
				ticks = append(ticks, plot.Tick{Value: float64(i), Label: words[i]})
			}
		}
		if g.name == "" {
			continue
		}
		name, middle := cut(s, g.name, b.place()*vg.Length(g.last-g.first+2)), float64(g.first+g.last)/2
		if !turned {
			ticks = append(ticks, plot.Tick{Value: middle, Label: "\n" + name})
			continue
		}
		above := b.frame.style(tickSize, ink, false)
		above.XAlign, above.YAlign = draw.XCenter, draw.YTop
		p.Add(&label{at: plotter.XY{X: middle, Y: p.Y.Max}, text: name, style: above})
	}
	p.X.Tick.Marker = ticks
	p.X.Tick.Length = 0
	p.X.Min, p.X.Max = -0.6, float64(len(b.points))-0.4
	p.X.Label.Text = b.frame.axisLabel(b.axis)
	if common := b.common(); common != "" {
		p.X.Label.Text += " (" + common + "...)"
	}
}

// named reports whether the bars have names rather than amounts.
func (b *bars) named() bool {
	return slices.ContainsFunc(b.values, func(v string) bool { _, ok := amount(v); return v != "" && !ok })
}

// common is the operation that the names of all bars begin with: "allreduce/".
func (b *bars) common() string {
	first := slices.IndexFunc(b.values, func(v string) bool { return v != "" })
	if first < 0 {
		return ""
	}
	op, _, found := strings.Cut(b.values[first], "/")
	if op += "/"; !found || slices.ContainsFunc(b.values, func(v string) bool { return v != "" && !strings.HasPrefix(v, op) }) {
		return ""
	}
	return op
}

// short are the values without what is common to all.
func (b *bars) short() []string {
	out, common := slices.Clone(b.values), b.common()
	for i := range out {
		out[i] = strings.TrimPrefix(out[i], common)
	}
	return out
}

// title puts the axis, or "run" without one, into the format.
func (b *bars) title(format string) string {
	return b.frame.tr(format, cmp.Or(b.axis, "run"))
}
