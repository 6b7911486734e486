package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Measured is a measured time and the simulated one, in microseconds.
type Measured struct {
	Measured, Simulated float64
	HeldOut             bool
}

// Agreement draws simulated against measured times, both axes logarithmic, rows that
// were fitted and rows that were held out with different marks, and the line on which
// they would agree.
func Agreement(f Frame, rows []Measured) (*Picture, error) {
	p := f.gridPlot(false)
	var fit, held plotter.XYs
	var all []float64
	for _, r := range rows {
		if r.Measured <= 0 || r.Simulated <= 0 {
			continue
		}
		all = append(all, r.Measured, r.Simulated)
		if at := (plotter.XY{X: r.Measured, Y: r.Simulated}); r.HeldOut {
			held = append(held, at)
		} else {
			fit = append(fit, at)
		}
	}
	if len(all) == 0 {
		return nil, errNothing
	}
	p.X.Label.Text, p.Y.Label.Text = f.tr("measured (us)"), f.tr("simulated (us)")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = logTicks{}, logTicks{}
	p.X.Min, p.X.Max = logSpan(all, 1.3)
	p.Y.Min, p.Y.Max = p.X.Min, p.X.Max
	equal := &plotter.Line{XYs: plotter.XYs{{X: p.X.Min, Y: p.X.Min}, {X: p.X.Max, Y: p.X.Max}}, LineStyle: dashed(muted)}
	p.Add(equal)
	legend := []entry{}
	for i, s := range []struct {
		name string
		xys  plotter.XYs
	}{{"fitted", fit}, {"held out", held}} {
		if len(s.xys) == 0 {
			continue
		}
		m := &plotter.Scatter{XYs: s.xys, GlyphStyle: draw.GlyphStyle{Color: seriesColor(i, 2), Radius: vg.Points(4), Shape: seriesGlyph(i)}}
		p.Add(m)
		legend = append(legend, entry{f.tr(s.name), []plot.Thumbnailer{m}})
	}
	legend = append(legend, entry{f.tr("equal"), []plot.Thumbnailer{equal}})
	return f.picture("Simulated against measured", legend, p.Draw), nil
}
