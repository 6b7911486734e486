package plots

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

// Series is one curve: the points of a sweep that belong together, by size.
type Series struct {
	Name   string
	Points []reports.Point
}

// Split makes a series of all points that share every axis but one, which is the
// axis along which a curve runs, such as the message size. Its name says where it
// differs from the other series.
func Split(points []reports.Point, along string) []Series {
	var series []Series
	place := map[string]int{} // shared axes -> index in series
	var shared [][]reports.KV
	for _, p := range points {
		others := slices.DeleteFunc(slices.Clone(p.Axes), func(kv reports.KV) bool { return kv.Key == along })
		key := fmt.Sprintf("%q", others)
		k, ok := place[key]
		if !ok {
			k = len(series)
			place[key] = k
			series, shared = append(series, Series{}), append(shared, others)
		}
		series[k].Points = append(series[k].Points, p)
	}
	for i := range series {
		series[i].Name = differences(shared, i)
		slices.SortStableFunc(series[i].Points, func(a, b reports.Point) int { return int(min(max(a.Size-b.Size, -1), 1)) })
	}
	return series
}

// differences names the axes of group i that are not the same in all groups.
func differences(groups [][]reports.KV, i int) string {
	var parts []string
	for _, kv := range groups[i] {
		same := true
		for _, g := range groups {
			same = same && slices.Contains(g, kv)
		}
		if !same {
			parts = append(parts, kv.Key+" "+kv.Value)
		}
	}
	return strings.Join(parts, ", ")
}

// Metric is what a bandwidth plot shows.
type Metric struct {
	Label string // of the axis, with its unit
	rate  func(*reports.Point) engine.Rate
	span  func(*reports.Point) (reports.Range, bool) // over the draws of a band
}

// The metrics; their definitions are those of the cost card.
var (
	Algbw = Metric{"algbw (GB/s)", func(p *reports.Point) engine.Rate { return p.Algbw }, (*reports.Point).AlgbwSpan}
	Busbw = Metric{"busbw (GB/s)", func(p *reports.Point) engine.Rate { return p.Busbw }, (*reports.Point).BusbwSpan}
	Wire  = Metric{"wire rate (GB/s)", func(p *reports.Point) engine.Rate { return p.Wire }, func(*reports.Point) (reports.Range, bool) { return reports.Range{}, false }}
)

// Roof is a rate that the machine cannot exceed.
type Roof struct {
	Name string
	Rate engine.Rate // Unlimited is not drawn
}

var errNothing = errors.New("there is nothing to draw: no run that ended ok has a size and a time above zero")

// xy keeps what a logarithmic axis can show of the runs that ended ok.
func xy(points []reports.Point, x, y func(*reports.Point) float64) (xys plotter.XYs) {
	for i := range points {
		p := &points[i]
		if v, w := x(p), y(p); p.Status == result.OK && v > 0 && w > 0 {
			xys = append(xys, plotter.XY{X: v, Y: w})
		}
	}
	return xys
}

func bySize(p *reports.Point) float64 { return float64(p.Size) }

// Bandwidth draws a metric against message size, both axes logarithmic, a curve a
// series, and the machine's roofs above.
func Bandwidth(f Frame, m Metric, series []Series, roofs []Roof) (*Picture, error) {
	p := f.gridPlot(false)
	c := curves{frame: &f, plot: p, names: named(series)}
	traces := traces(series, func(t *trace, p *reports.Point) { t.rate(p, bySize(p), &m) })
	c.shades(traces)
	for i, s := range series {
		c.add(i, len(series), s.Name, traces[i])
	}
	if len(c.xs) == 0 {
		return nil, errNothing
	}
	roofs = slices.DeleteFunc(slices.Clone(roofs), func(r Roof) bool { return r.Rate == engine.Unlimited || r.Rate <= 0 })
	for _, r := range roofs {
		c.ys = append(c.ys, r.Rate.GBps())
	}
	c.logAxes("message size", m.Label)
	c.roofs(roofs)
	c.explain()
	return f.picture("Bandwidth against message size", c.legend, p.Draw), nil
}

// Time draws the elapsed time against message size, both axes logarithmic, a curve a
// series, and under each its lower bound, dashed.
func Time(f Frame, series []Series) (*Picture, error) {
	p := f.gridPlot(false)
	c := curves{frame: &f, plot: p, names: named(series)}
	traces := traces(series, func(t *trace, p *reports.Point) { t.elapsed(p, bySize(p)) })
	c.shades(traces)
	for i, s := range series {
		c.bound(i, len(series), xy(s.Points, bySize, func(p *reports.Point) float64 { return micros(p.Bound) }))
		c.add(i, len(series), s.Name, traces[i])
	}
	if len(c.legend) == 0 {
		return nil, errNothing
	}
	c.logAxes("message size", "time (us)")
	if c.bounds {
		l := &plotter.Line{LineStyle: dashed(muted)}
		c.legend = append(c.legend, entry{f.tr("lower bound"), []plot.Thumbnailer{l}})
	}
	c.explain()
	return f.picture("Time against message size", c.legend, p.Draw), nil
}

// named reports whether series differ in names rather than amounts.
func named(series []Series) bool {
	return slices.ContainsFunc(series, func(s Series) bool {
		_, ok := amount(s.Name[strings.LastIndexByte(s.Name, ' ')+1:])
		return !ok
	})
}

// curves collects what the curves of a plot have in common.
type curves struct {
	frame  *Frame
	plot   *plot.Plot
	names  bool // series have names rather than amounts
	dash   bool // the next curve is dashed
	legend []entry
	xs, ys []float64 // all values shown
	bounds bool
	shaded []color.RGBA // of curves with a band
	dots   bool         // a point is outside what was measured
}

func (c *curves) add(i, n int, name string, t *trace) {
	xys := t.xys
	if len(xys) == 0 {
		return
	}
	c.note(xys)
	col := c.color(i, n)
	c.dots = c.dots || slices.Contains(t.outside, true)
	l := &plotter.Line{LineStyle: draw.LineStyle{Color: col, Width: vg.Points(2)}}
	if c.dash {
		l.LineStyle = dashed(col)
		l.LineStyle.Width = vg.Points(2)
	}
	for _, piece := range t.lines(l.LineStyle) {
		c.plot.Add(piece)
	}
	radius := vg.Points(3.5)
	if len(xys) > 32 {
		radius = vg.Points(2)
	}
	s := &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: col, Radius: radius, Shape: seriesGlyph(i)}}
	for _, m := range t.marks(s.GlyphStyle) {
		c.plot.Add(m)
	}
	if name != "" || n > 1 {
		c.legend = append(c.legend, entry{name, []plot.Thumbnailer{l, s}})
	} else {
		c.legend = append(c.legend, entry{c.frame.tr("simulated"), []plot.Thumbnailer{l, s}})
	}
}

func (c *curves) bound(i, n int, xys plotter.XYs) {
	if len(xys) == 0 {
		return
	}
	c.note(xys)
	c.bounds = true
	col := c.color(i, n)
	if len(xys) == 1 { // a line needs two
		xys = plotter.XYs{{X: xys[0].X / 1.05, Y: xys[0].Y}, {X: xys[0].X * 1.05, Y: xys[0].Y}}
	}
	c.plot.Add(&plotter.Line{XYs: xys, LineStyle: dashed(col)})
}

func (c *curves) note(xys plotter.XYs) {
	for _, v := range xys {
		c.xs, c.ys = append(c.xs, v.X), append(c.ys, v.Y)
	}
}

func (c *curves) logAxes(x, y string) {
	p := c.plot
	p.X.Label.Text, p.Y.Label.Text = c.frame.tr(x), c.frame.tr(y)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = sizeTicks{}, logTicks{}
	p.X.Min, p.X.Max = sizeSpan(c.xs)
	p.Y.Min, p.Y.Max = logSpan(c.ys, 1.3)
}

// roofs draws horizontal lines with their names at the left, above the line, where
// curves that rise to it leave room. Names of lines that lie close stand one behind
// the other.
func (c *curves) roofs(roofs []Roof) {
	p := c.plot
	slices.SortStableFunc(roofs, func(a, b Roof) int { return cmp.Compare(a.Rate, b.Rate) })
	s := c.frame.style(legendSize, ink, false)
	s.YAlign = draw.YBottom
	right := vg.Points(8)
	for i, r := range roofs {
		y := r.Rate.GBps()
		if i > 0 && math.Log(y/roofs[i-1].Rate.GBps()) > math.Log(p.Y.Max/p.Y.Min)/20 {
			right = vg.Points(8)
		}
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: p.X.Min, Y: y}, {X: p.X.Max, Y: y}}, LineStyle: dashed(ink)})
		name := r.Name + " " + strconv.FormatFloat(y, 'g', 4, 64) + " GB/s"
		p.Add(&label{at: plotter.XY{X: p.X.Min, Y: y}, text: name, style: s, offset: vg.Point{X: right, Y: vg.Points(5)}})
		right += s.Width(name)*wider + vg.Points(12)
	}
}
