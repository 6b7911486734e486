package workloads

import (
	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw/result"
)

// Clock is what the clock of a benchmark would have shown: what validate compares.
type Clock struct {
	Time   engine.Duration `json:"time_ps"`     // the mean over the timed calls
	Calls  int             `json:"timed_calls"` //
	Covers string          `json:"covers"`      // in words
}

// clock reads a benchmark's clock; nil where it covers the elapsed time, or several items ran.
func (w *Workload) clock(res *result.Result) *Clock {
	if len(w.items) != 1 || w.items[0].Call == nil || res.Abort != nil || res.Stuck != nil {
		return nil
	}
	a, err := collectives.Lookup(w.items[0].Call.Op, w.items[0].Call.Form)
	if err != nil || a.Clock.Text() == "" {
		return nil
	}
	out := &Clock{Covers: a.Clock.Text()}
	slowest := make([]engine.Duration, len(res.Calls))
	for i := range res.Blocks {
		b := &res.Blocks[i]
		slowest[b.Call] = max(slowest[b.Call], covered(b, a.Clock))
	}
	var sum engine.Duration
	for i := range res.Calls {
		if res.Calls[i].Timed {
			sum, out.Calls = sum+slowest[i], out.Calls+1
		}
	}
	if out.Calls == 0 {
		return nil
	}
	out.Time = (sum + engine.Duration(out.Calls)/2) / engine.Duration(out.Calls)
	return out
}

// covered is what a clock covers of a block's time.
func covered(b *result.Block, c collectives.Clock) (d engine.Duration) {
	if len(c.Reasons) == 0 {
		return b.End.Sub(b.Start) - b.Time[result.Launch]
	}
	for _, r := range c.Reasons {
		d += b.Time[r]
	}
	return d
}
