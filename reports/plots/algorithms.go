package plots

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pldperf/engine"
	"pldperf/reports"
)

// Algorithms draws the time of each algorithm of a race against the axis along which
// they are compared, both axes logarithmic, and marks where another one becomes the
// fastest. Algorithms that ended ok nowhere have no curve.
func Algorithms(f Frame, r *reports.Race, points []reports.Point) (*Picture, error) {
	p := f.gridPlot(false)
	c := curves{frame: &f, plot: p, names: true}
	name := r.CommonOp()
	var drawn []plotter.XYs
	all := make([]*trace, len(r.Algorithms))
	for a := range r.Algorithms {
		all[a] = raceCurve(r, points, a)
	}
	c.shades(all)
	for a, algorithm := range r.Algorithms {
		t := all[a]
		c.dash = slices.ContainsFunc(drawn, func(o plotter.XYs) bool { return covers(o, t.xys) })
		c.add(a, len(r.Algorithms), strings.TrimPrefix(algorithm, name), t)
		drawn = append(drawn, t.xys)
	}
	if len(c.xs) == 0 {
		return nil, errNothing
	}
	c.logAxes(r.Along, "time (us)")
	if !inBytes(r.Values) {
		p.X.Tick.Marker = countTicks{}
		if p.X.Label.Text = f.axisLabel(r.Along); strings.HasSuffix(r.Along, "size") {
			p.X.Label.Text += " " + f.tr("(elements)")
		}
	}
	c.crossings(r.Crossings)
	c.explain()
	title := f.tr("Algorithms against %s", r.Along)
	if name != "" {
		title = f.tr("%s: algorithms against %s", strings.TrimSuffix(name, "/"), r.Along)
	}
	return f.picture(title, c.legend, p.Draw), nil
}

// covers reports whether one curve would hide the other: it is dashed then.
func covers(a, b plotter.XYs) bool {
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].X != b[i].X || math.Abs(math.Log(a[i].Y/b[i].Y)) > 0.01 {
			return false
		}
	}
	return true
}

// raceCurve returns where one algorithm ended ok.
func raceCurve(r *reports.Race, points []reports.Point, algorithm int) *trace {
	t := &trace{}
	for v, value := range r.Values {
		i := r.Points[v][algorithm]
		x, ok := amount(value)
		if i >= 0 && ok {
			t.elapsed(&points[i], x)
		}
	}
	return t
}

// amount reads a plain number or a size.
func amount(s string) (float64, bool) {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v, true
	}
	var size engine.Bytes
	err := size.UnmarshalText([]byte(s))
	return float64(size), err == nil
}

// inBytes reports whether values are bytes rather than plain numbers.
func inBytes(values []string) bool {
	for _, v := range values {
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			return false
		}
	}
	return true
}

// crossings rings the switch-over points and writes their place below them, where the
// fastest algorithm leaves no other curve.
func (c *curves) crossings(all []reports.Crossing) {
	var at plotter.XYs
	style := c.frame.style(legendSize, ink, true)
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	for _, x := range all {
		if x.X > 0 && x.Y > 0 {
			at = append(at, plotter.XY{X: x.X, Y: x.Y})
			c.plot.Add(&label{at: at[len(at)-1], text: x.At, style: style, offset: vg.Point{Y: -vg.Points(11)}})
		}
	}
	if len(at) == 0 {
		return
	}
	ring := &plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: ink, Radius: vg.Points(7.5), Shape: ringGlyph{}}}
	c.plot.Add(ring)
	c.legend = append(c.legend, entry{c.frame.tr("switch-over"), []plot.Thumbnailer{ring}})
}
