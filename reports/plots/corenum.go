package plots

import (
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pldperf/engine"
	"pldperf/reports"
)

// CoreNum draws the elapsed time against an axis of plain numbers, such as core_num,
// a curve for each combination of the other axes, and marks on each the value that
// reports.Recommend takes. Time begins at zero, so that a flat curve looks flat,
// unless the curves lie so far apart that only a logarithm shows them all.
func CoreNum(f Frame, axis string, points []reports.Point, tolerance engine.Fraction) (*Picture, error) {
	p := f.gridPlot(false)
	c := curves{frame: &f, plot: p}
	choices := reports.Recommend(points, axis, tolerance)
	groups := make([][]reports.KV, len(choices))
	for i := range choices {
		groups[i] = choices[i].Axes
	}
	words := takes{style: f.style(legendSize, ink, true), format: f.tr("take %s")}
	words.style.XAlign, words.style.YAlign = draw.XCenter, draw.YTop
	all, picks := make([]*trace, len(choices)), make([]*plotter.XY, len(choices))
	for i := range choices {
		all[i], picks[i] = choiceCurve(&choices[i], points)
	}
	c.shades(all)
	for i, t := range all {
		c.add(i, len(choices), differences(groups, i), t)
		if pick := picks[i]; pick != nil {
			words.picks = append(words.picks, *pick)
		}
	}
	if len(c.xs) == 0 {
		return nil, errNothing
	}
	c.numberAxes(axis)
	if len(words.picks) > 0 {
		ring := &plotter.Scatter{XYs: words.picks, GlyphStyle: draw.GlyphStyle{Color: ink, Radius: vg.Points(7.5), Shape: ringGlyph{}}}
		p.Add(ring, &words)
		c.legend = append(c.legend, entry{f.tr("recommended"), []plot.Thumbnailer{ring}})
	}
	c.explain()
	return f.picture(f.tr("Time against %s", axis), c.legend, p.Draw), nil
}

// choiceCurve returns the points of a choice that ended ok, and the recommended one.
func choiceCurve(c *reports.Choice, points []reports.Point) (t *trace, pick *plotter.XY) {
	t = &trace{}
	for i, row := range c.Rows {
		x, err := strconv.ParseFloat(row.Value, 64)
		if err != nil {
			continue
		}
		before := len(t.xys)
		if t.elapsed(&points[row.Point], x); i == c.Pick && len(t.xys) > before {
			pick = &t.xys[before]
			pick = &plotter.XY{X: pick.X, Y: pick.Y}
		}
	}
	return t, pick
}

// numberAxes are an axis of plain numbers, logarithmic when it spans more than a
// factor of 8, and time.
func (c *curves) numberAxes(axis string) {
	p := c.plot
	p.X.Label.Text, p.Y.Label.Text = c.frame.axisLabel(axis), c.frame.tr("time (us)")
	xlo, xhi := logSpan(c.xs, 1)
	if xhi/xlo > 8 {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powerTicks{}
		p.X.Min, p.X.Max = xlo/1.15, xhi*1.15
	} else {
		p.X.Tick.Marker = wholeTicks{}
		room := max(0.05*(xhi-xlo), 0.5)
		p.X.Min, p.X.Max = xlo-room, xhi+room
	}
	ylo, yhi := logSpan(c.ys, 1)
	if yhi/ylo > 12 {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
		p.Y.Min, p.Y.Max = ylo/1.3, yhi*1.5
	} else {
		p.Y.Tick.Marker = evenTicks{}
		p.Y.Min, p.Y.Max = 0, yhi*1.12
	}
}

// axisLabel names an axis with its unit where the name alone does not.
func (f *Frame) axisLabel(axis string) string {
	if strings.HasSuffix(axis, "core_num") {
		return axis + " " + f.tr("(AIVs a rank)")
	}
	return axis
}

// ringGlyph is a bold ring around a point.
type ringGlyph struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (ringGlyph) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: vg.Points(1.8)})
	r := min(s.Radius, (c.Max.Y-c.Min.Y)/2) // the legend has less room
	var path vg.Path
	path.Move(vg.Point{X: at.X + r, Y: at.Y})
	path.Arc(at, r, 0, 2*3.141592653589793)
	path.Close()
	c.Stroke(path)
}
