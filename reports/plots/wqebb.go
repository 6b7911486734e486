package plots

import (
	"errors"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pldperf/hw/result"
	"pldperf/reports"
)

// WQEBB draws what the runs that ended ok did with their send queues: the WQEBBs
// written over all ranks, used and NOP, and below how full the fullest queue was,
// beside its depth where that is not far above.
func WQEBB(f Frame, axis string, points []reports.Point) (*Picture, error) {
	b := newBars(&f, axis, points)
	written, depth, fullest := int64(0), int64(0), int64(0)
	for _, p := range b.points {
		if p != nil {
			written += p.Counters[result.WQEBBs]
			depth, fullest = max(depth, p.SQDepth), max(fullest, p.PeakSQ)
		}
	}
	if written == 0 {
		return nil, errors.New("there is nothing to draw: no run that ended ok wrote a WQEBB")
	}
	counted := func(k result.Counter) func(*reports.Point) float64 {
		return func(p *reports.Point) float64 { return float64(p.Counters[k]) }
	}
	used := func(p *reports.Point) float64 { return float64(p.Counters[result.WQEBBs] - p.Counters[result.NOPs]) }
	peak := func(p *reports.Point) float64 { return float64(p.PeakSQ) }
	upper, lower := f.gridPlot(true), f.gridPlot(true)
	legend := b.stack(upper, []layer{b.layer(f.tr("used"), okabeIto[0], used), b.layer(f.tr("NOP"), okabeIto[4], counted(result.NOPs))})
	legend = append(legend, b.stack(lower, []layer{b.layer(f.tr("peak occupancy"), okabeIto[2], peak)})...)
	upper.Y.Label.Text, lower.Y.Label.Text = f.tr("WQEBBs written"), f.tr("fullest queue (WQEBB)")
	upper.X.Label.Text = ""
	if depth > 0 {
		legend = append(legend, depthLine(&f, lower, depth, fullest))
	}
	return f.picture(b.title("WQEBB use against %s"), legend, func(c draw.Canvas) { panels(c, upper, lower) }), nil
}

// depthLine draws the depth if the bars are still to be seen beside it, and says it in
// any case.
func depthLine(f *Frame, p *plot.Plot, depth, fullest int64) entry {
	e := entry{name: f.tr("queue depth") + " " + number(float64(depth))}
	if depth > 4*max(fullest, 1) {
		return e
	}
	l := &plotter.Line{XYs: plotter.XYs{{X: p.X.Min, Y: float64(depth)}, {X: p.X.Max, Y: float64(depth)}}, LineStyle: dashed(ink)}
	p.Add(l)
	p.Y.Max = max(p.Y.Max, float64(depth)*1.1)
	e.thumb = []plot.Thumbnailer{l}
	return e
}

// panels draws two plots above one another with their left edges in line.
func panels(c draw.Canvas, upper, lower *plot.Plot) {
	top, bottom := c, c
	middle := c.Min.Y + (c.Max.Y-c.Min.Y)*0.48
	top.Min.Y, bottom.Max.Y = middle+vg.Points(8), middle-vg.Points(8)
	a, b := upper.DataCanvas(top), lower.DataCanvas(bottom)
	left := max(a.Min.X, b.Min.X)
	top.Min.X += left - a.Min.X
	bottom.Min.X += left - b.Min.X
	upper.Draw(top)
	lower.Draw(bottom)
}
