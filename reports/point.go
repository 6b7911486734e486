package reports

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Point is one run cut down to what comparisons and plots need.
type Point = document.Point

// NewPoint cuts a card down to the point at the given place of a sweep, whose
// message size is size.
func NewPoint(axes []KV, size engine.Bytes, c *Card) Point {
	r, m := c.Result, Measure(c)
	account := newAccounts(r)
	p := Point{
		Axes: axes, Status: r.Status, Size: size, Elapsed: r.Elapsed, Bound: m.Bound, BoundBy: m.BoundBy,
		Reasons: account.slowest, Between: account.between, Algbw: m.Algbw, Busbw: m.Busbw, Wire: m.Wire, Busiest: busiest(r),
		Outside: c.Outside, Counters: r.Totals, PeakSQ: m.PeakSQ, SQDepth: c.SQDepth, Events: r.Events, Digest: r.Digests.Result, Order: r.Digests.Events,
	}
	if r.Path != nil {
		for _, x := range r.Path.Parts {
			p.Path = append(p.Path, document.Part{Name: x.Cause, Time: x.Time})
		}
	}
	for _, b := range c.Bound.Parts {
		p.Bounds = append(p.Bounds, BoundPart{Name: b.Name, Time: b.Time})
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
	p.Limits = limit(&p)
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
func limit(p *Point) string {
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
