package plots

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/plotter"

	"pldperf/hw/result"
	"pldperf/reports"
)

// reasonColors gives each reason its colour, the same in every picture. What stands
// together in the stack differs in brightness, for all kinds of colour vision.
var reasonColors = [result.NumReasons]color.RGBA{
	result.Launch:         {0xbb, 0xbb, 0xbb, 0xff},
	result.Scalar:         {0x66, 0x25, 0x06, 0xff},
	result.IndexCheck:     {0xf7, 0xd9, 0x8c, 0xff},
	result.CountRead:      {0x99, 0x4f, 0x00, 0xff},
	result.SIMTBuild:      {0xe6, 0x9f, 0x00, 0xff},
	result.Doorbell:       {0x88, 0x22, 0x55, 0xff},
	result.SignalIssue:    {0xf0, 0xb7, 0xd3, 0xff},
	result.SignalWait:     {0xcc, 0x79, 0xa7, 0xff},
	result.PollOvershoot:  {0x5e, 0x3c, 0x99, 0xff},
	result.MTE2:           {0xa6, 0xe3, 0xc5, 0xff},
	result.MTE3:           {0x00, 0x9e, 0x73, 0xff},
	result.StageWait:      {0x11, 0x4b, 0x33, 0xff},
	result.CQEWait:        {0x56, 0xb4, 0xe9, 0xff},
	result.RemoteWait:     {0x00, 0x45, 0x7a, 0xff},
	result.Fence:          {0xf4, 0xa5, 0x82, 0xff},
	result.PipeBarrier:    {0xd5, 0x5e, 0x00, 0xff},
	result.Vector:         {0x9a, 0x8c, 0x1c, 0xff},
	result.Compute:        {0xf0, 0xe4, 0x42, 0xff},
	result.DependencyWait: {0x77, 0x77, 0x77, 0xff},
	result.Idle:           {0xe8, 0xe8, 0xe8, 0xff},
}

// Reasons draws one bar for each run that ended ok, its height the time of the
// slowest block, split by what the block spent it on. Bars are named by the axis, in
// groups by the other axes. Reasons that are less than a hundredth of every bar are
// drawn together.
func Reasons(f Frame, axis string, points []reports.Point) (*Picture, error) {
	b := newBars(&f, axis, points)
	if len(b.points) == 0 {
		return nil, errNothing
	}
	p := f.gridPlot(true)
	legend := b.mark(p, b.stack(p, b.reasons()), func(p *reports.Point) float64 { return micros(p.Reasons.Sum()) })
	p.Y.Label.Text = f.tr("time of the slowest block (us)")
	return f.picture(b.title("Time by reason against %s"), legend, p.Draw), nil
}

func (b *bars) reasons() (layers []layer) {
	small := make(plotter.Values, len(b.points))
	merged := 0
	for k := range result.NumReasons {
		l := b.layer(k.String(), reasonColors[k], func(p *reports.Point) float64 { return micros(p.Reasons[k]) })
		seen, shown := false, false
		for _, p := range b.points {
			if p != nil && p.Reasons[k] > 0 {
				seen = true
				shown = shown || p.Reasons[k] >= p.Reasons.Sum()/100
			}
		}
		if shown {
			layers = append(layers, l)
		} else if seen {
			merged++
			for i := range small {
				small[i] += l.values[i]
			}
		}
	}
	if merged > 0 {
		layers = append(layers, layer{fmt.Sprintf("%s (%d, each < 1 %%)", b.frame.tr("others"), merged), ink, small})
	}
	return layers
}
