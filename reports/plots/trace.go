package plots

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

// trace is a curve with what is known of its points: between what their band lies, and
// whether they are beyond what was measured.
type trace struct {
	xys       plotter.XYs
	low, high []float64
	outside   []bool
}

// add adds a point of a run that ended ok; what a logarithm cannot show is left out.
func (t *trace) add(p *reports.Point, x, y float64, low, high float64) {
	if p.Status != result.OK || !(x > 0) || !(y > 0) || x-x != 0 || y-y != 0 {
		return
	}
	if !(low > 0) || !(high >= low) {
		low, high = y, y
	}
	t.xys = append(t.xys, plotter.XY{X: x, Y: y})
	t.low, t.high = append(t.low, low), append(t.high, high)
	t.outside = append(t.outside, len(p.Outside) > 0)
}

// elapsed adds a point's time.
func (t *trace) elapsed(p *reports.Point, x float64) {
	r, _ := p.Span()
	t.add(p, x, micros(p.Elapsed), micros(engine.Duration(r.Low)), micros(engine.Duration(r.High)))
}

// rate adds one of a point's rates.
func (t *trace) rate(p *reports.Point, x float64, m *Metric) {
	r, _ := m.span(p)
	t.add(p, x, m.rate(p).GBps(), engine.Rate(r.Low).GBps(), engine.Rate(r.High).GBps())
}

// banded reports whether any point has a band.
func (t *trace) banded() bool {
	for i := range t.xys {
		if t.low[i] < t.high[i] {
			return true
		}
	}
	return false
}

// shade is the area between low and high, of one point a bar.
func (t *trace) shade(c color.RGBA) plot.Plotter {
	if len(t.xys) == 1 {
		at := t.xys[0].X
		return &plotter.Line{XYs: plotter.XYs{{X: at, Y: t.low[0]}, {X: at, Y: t.high[0]}}, LineStyle: draw.LineStyle{Color: pale(c), Width: vg.Points(8)}}
	}
	var ring plotter.XYs
	for i, v := range t.xys {
		ring = append(ring, plotter.XY{X: v.X, Y: t.low[i]})
	}
	for i := len(t.xys) - 1; i >= 0; i-- {
		ring = append(ring, plotter.XY{X: t.xys[i].X, Y: t.high[i]})
	}
	return &plotter.Polygon{XYs: []plotter.XYs{ring}, Color: pale(c)}
}

// pale is a colour through which others can be seen.
func pale(c color.RGBA) color.Color { return color.NRGBA{c.R, c.G, c.B, 0x2c} }

// lines are the pieces of the curve; those from or to a point that is outside what was
// measured are dotted.
func (t *trace) lines(style draw.LineStyle) (out []*plotter.Line) {
	for i := 0; i+1 < len(t.xys); {
		extrapolated := t.outside[i] || t.outside[i+1]
		j := i + 1
		for j+1 < len(t.xys) && (t.outside[j] || t.outside[j+1]) == extrapolated {
			j++
		}
		l := &plotter.Line{XYs: t.xys[i : j+1], LineStyle: style}
		if extrapolated {
			l.LineStyle = dotted(style)
		}
		out = append(out, l)
		i = j
	}
	return out
}

func dotted(s draw.LineStyle) draw.LineStyle {
	s.Dashes = []vg.Length{vg.Points(1.5), vg.Points(3)}
	return s
}

// marks are the points; those outside what was measured are hollow.
func (t *trace) marks(style draw.GlyphStyle) (out []*plotter.Scatter) {
	var all, holes plotter.XYs
	for i, v := range t.xys {
		all = append(all, v)
		if t.outside[i] {
			holes = append(holes, v)
		}
	}
	out = append(out, &plotter.Scatter{XYs: all, GlyphStyle: style})
	if len(holes) > 0 {
		out = append(out, &plotter.Scatter{XYs: holes, GlyphStyle: hole(style)})
	}
	return out
}

// hole is what makes a mark hollow.
func hole(s draw.GlyphStyle) draw.GlyphStyle {
	return draw.GlyphStyle{Color: color.White, Radius: s.Radius * 0.55, Shape: draw.CircleGlyph{}}
}

// traces makes one of each series.
func traces(series []Series, add func(*trace, *reports.Point)) []*trace {
	out := make([]*trace, len(series))
	for i, s := range series {
		out[i] = &trace{}
		for k := range s.Points {
			add(out[i], &s.Points[k])
		}
	}
	return out
}

// shades draws the bands of all curves, below the curves.
func (c *curves) shades(all []*trace) {
	for i, t := range all {
		if t.banded() {
			c.shaded = append(c.shaded, c.color(i, len(all)))
			c.ys = slices.Concat(c.ys, t.low, t.high)
			c.plot.Add(t.shade(c.color(i, len(all))))
		}
	}
}

// stripes are the bands of several curves in the legend.
type stripes []color.RGBA

// Thumbnail implements plot.Thumbnailer.
func (s stripes) Thumbnail(c *draw.Canvas) {
	width := (c.Max.X - c.Min.X) / vg.Length(len(s))
	for i, col := range s {
		left := c.Min.X + vg.Length(i)*width
		c.FillPolygon(pale(col), []vg.Point{{X: left, Y: c.Min.Y}, {X: left, Y: c.Max.Y}, {X: left + width, Y: c.Max.Y}, {X: left + width, Y: c.Min.Y}})
	}
}

// color returns the colour of curve i of n.
func (c *curves) color(i, n int) color.RGBA {
	if c.names {
		return nameColor(i, n)
	}
	return seriesColor(i, n)
}

// explain adds what shades and dots mean to the legend.
func (c *curves) explain() {
	if len(c.shaded) > 0 {
		c.legend = append(c.legend, entry{c.frame.tr("band, 10-90 % of draws"), []plot.Thumbnailer{stripes(c.shaded)}})
	}
	if c.dots {
		g := draw.GlyphStyle{Color: muted, Radius: vg.Points(3.5), Shape: draw.CircleGlyph{}}
		c.legend = append(c.legend, entry{c.frame.tr("outside what was measured"), []plot.Thumbnailer{
			&plotter.Line{LineStyle: dotted(draw.LineStyle{Color: muted, Width: vg.Points(2)})}, &plotter.Scatter{GlyphStyle: g}, &plotter.Scatter{GlyphStyle: hole(g)},
		}})
	}
}
