package reports

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/result"
)

// Point is one run of a sweep, cut down to what comparisons and plots need. Rates
// are 0 when the run took no time or did not finish.
type Point struct {
	Axes     []KV            `json:"axes"` // where in the sweep, in the sweep's order
	Status   result.Status   `json:"status"`
	Problem  string          `json:"problem,omitempty"` // why the status is not ok
	Size     engine.Bytes    `json:"size_bytes"`        // the message that plots have on their axis; 0 is unknown
	Elapsed  engine.Duration `json:"elapsed_ps"`
	Bound    engine.Duration `json:"bound_ps"`
	BoundBy  string          `json:"bound_by"`
	Reasons  result.Times    `json:"slowest_block_ps"`
	Algbw    engine.Rate     `json:"algbw_bytes_per_s"`
	Busbw    engine.Rate     `json:"busbw_bytes_per_s"`
	Wire     engine.Rate     `json:"wire_bytes_per_s"`
	Limits   string          `json:"limited_by"`
	Counters result.Counters `json:"counters"`
	PeakSQ   int64           `json:"peak_sq_wqebb"`
	SQDepth  int64           `json:"sq_depth_wqebb"`
	Events   uint64          `json:"events"`
	Digest   string          `json:"digest"` // of the result
}

// NewPoint cuts a card down to the point at the given place of a sweep, whose
// message size is size.
func NewPoint(axes []KV, size engine.Bytes, c *Card) Point {
	r, m := c.Result, Measure(c)
	p := Point{
		Axes: axes, Status: r.Status, Size: size, Elapsed: r.Elapsed, Bound: m.Bound, BoundBy: m.BoundBy,
		Reasons: Slowest(r), Algbw: m.Algbw, Busbw: m.Busbw, Wire: m.Wire,
		Counters: r.Totals, PeakSQ: m.PeakSQ, SQDepth: c.SQDepth, Events: r.Events, Digest: r.Digests.Result,
	}
	if r.Status != result.OK {
		p.Problem = verdict(r)[0]
		for _, d := range r.Diagnoses {
			p.Problem += fmt.Sprintf("; %s: %s", d.Row, d.Cause)
		}
	}
	for i := range r.Hazards {
		if h := &r.Hazards[i]; h.Kind == result.NothingDone {
			p.Status, p.Problem = NotPossible, h.Text
			if len(r.Notes) > 0 {
				p.Problem = r.Notes[0]
			}
		}
	}
	p.Limits = p.limit()
	return p
}

// Impossible is the point of an algorithm that cannot do it.
func Impossible(axes []KV, why string) Point {
	return Point{Axes: axes, Status: NotPossible, Problem: why}
}

// boundShare is the share of its bound from which a run counts as bound by it.
const boundShare = 800_000

// limit names what a run spends its time on: the resource that binds if the run
// comes near its bound, else the reason that took the slowest block longest.
func (p *Point) limit() string {
	if reached, ok := share(p.Bound, p.Elapsed); ok && reached >= boundShare && p.BoundBy != "" {
		return p.BoundBy + " (bound)"
	}
	longest := result.Reason(0)
	for k := range result.NumReasons {
		if p.Reasons[k] > p.Reasons[longest] {
			longest = k
		}
	}
	if p.Reasons[longest] == 0 {
		return ""
	}
	return longest.String() + ", " + percentOf(p.Reasons[longest], p.Elapsed) + " %"
}

// axis returns the point's value on an axis.
func (p *Point) axis(name string) (string, bool) {
	for _, kv := range p.Axes {
		if kv.Key == name {
			return kv.Value, true
		}
	}
	return "", false
}
