package traces

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

const pathName = "critical path"

// Stop is a place on a track at which a path stays from Begin to End.
type Stop struct {
	Begin, End engine.Time
	track      timeline.Track
}

// leave is the last nanosecond of a stop: an arrow leaves from within its span.
func (s *Stop) leave() engine.Time {
	return max(s.Begin, s.End-engine.Time(engine.Nanosecond))
}

// Path writes the critical path of a run, after the run: its steps as spans of a track of
// their own, and an arrow from each to the next where that is on another track of the trace.
// Options.Path keeps room for it. The error is about steps that are not in order of time: no
// arrow runs backwards.
func (t *Trace) Path(p *result.Path) error {
	if p == nil || len(p.Steps) == 0 {
		return nil
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.To < s.From || i > 0 && s.From < p.Steps[i-1].To {
			return fmt.Errorf("the critical path runs backwards at step %d: %v to %v", i, s.From, s.To)
		}
	}
	t.limit(false)
	track := timeline.Track(len(t.tracks))
	t.Open(track, &timeline.Place{Kind: timeline.Calls, Rank: -1, Name: pathName})
	var last Stop
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.From < t.opt.From || s.To > t.opt.To || s.From == s.To {
			continue
		}
		if !t.fits() {
			t.note = append(t.note, Fact{pathName, fmt.Sprintf("up to %v: what follows exceeds the limits", s.From)})
			break
		}
		t.step(track, s)
		at := Stop{s.From, s.To, Where(s, t)}
		if at.track == 0 {
			continue
		}
		if last.track != 0 && last.track != at.track && t.fits() {
			t.stats.Events++
			t.enc.arrow(int64(i)+1, &last, &at)
		}
		last = at
		t.done(t.begun())
	}
	return nil
}

// step writes a step as a span of the path.
func (t *Trace) step(track timeline.Track, s *result.PathStep) {
	v := timeline.Span{Begin: s.From, End: s.To, Name: s.Cause, Peer: s.Peer, Seq: -1}
	v.Op, v.PC, v.Phase = s.Op, -1, place(s)
	t.stats.Events++
	t.show(track)
	t.enc.span(track, &v)
}

// place says in words whose a step is.
func place(s *result.PathStep) string {
	text := process(s.Rank)
	if s.Block >= 0 {
		text += fmt.Sprintf(", block %d", s.Block)
	}
	if s.Phase != "" {
		text += ", " + s.Phase
	}
	return text
}

// lanes say on which track of an AIV a cause of a block is shown; the rest is on SCALAR.
var lanes = map[string]timeline.Kind{"mte2": timeline.MTE2, "mte3": timeline.MTE3}

// parts say which part of the machine a cause of two ranks is shown at.
var parts = map[string]timeline.Kind{
	"remote_mte": timeline.Remote, "sdma_start": timeline.SDMA, "sdma_rate": timeline.SDMA,
	"doorbell_wire": timeline.Queue, "wqe_fetch": timeline.Queue, "nic_engine": timeline.Queue, "sge_gather": timeline.Queue,
	"queue_order": timeline.Queue, "wqe_gap": timeline.Queue, "ack": timeline.Queue, "cqe_write": timeline.Queue, "timeout": timeline.Queue,
}

// Seen is what knows the tracks that are shown.
type Seen interface {
	// Find returns the first track that fits; 0 when there is none.
	Find(fits func(p *timeline.Place) bool) timeline.Track
	// Unit returns the AIV that executes the block of a step; -1 when nothing shows it.
	Unit(s *result.PathStep) int
}

// Where returns the track that shows a step; 0 when there is none.
func Where(s *result.PathStep, t Seen) timeline.Track {
	switch s.Cause {
	case "egress", "wire", "uplink":
		port := fmt.Sprintf("port to rank %d", s.Peer)
		if at := t.Find(func(p *timeline.Place) bool { return p.Kind == timeline.Port && p.Rank == s.Rank && p.Name == port }); at != 0 {
			return at
		}
		return t.Find(func(p *timeline.Place) bool {
			return p.Kind == timeline.Port && p.Rank == s.Rank && p.Name == "egress cap"
		})
	case "ingress":
		return t.Find(func(p *timeline.Place) bool {
			return p.Kind == timeline.Port && p.Rank == s.Peer && p.Name == "ingress cap"
		})
	case "memory_rate", "memory_latency":
		return t.Find(func(p *timeline.Place) bool { return p.Kind == timeline.Memory && p.Rank == s.Rank })
	}
	if k, ok := parts[s.Cause]; ok {
		return t.Find(func(p *timeline.Place) bool {
			return p.Kind == k && p.Rank == s.Rank && (p.Index == s.Peer || k == timeline.SDMA)
		})
	}
	if s.Block < 0 {
		return t.Find(func(p *timeline.Place) bool { return p.Kind == timeline.Calls && p.Rank == s.Rank })
	}
	k, ok := lanes[s.Cause]
	if !ok {
		k = timeline.Scalar
	}
	unit := t.Unit(s)
	return t.Find(func(p *timeline.Place) bool { return p.Kind == k && p.Rank == s.Rank && p.Index == unit })
}

// Find returns the first track of the file that fits; 0 when there is none.
func (t *Trace) Find(fits func(p *timeline.Place) bool) timeline.Track {
	for i := range t.tracks {
		if x := &t.tracks[i]; x.shown && fits(&x.Place) {
			return timeline.Track(i)
		}
	}
	return 0
}

// work is when an AIV executed a block.
type work struct {
	call       *timeline.Call
	block      int
	begin, end engine.Time
}

// executes remembers which block the AIV of a track works for.
func (x *track) executes(s *timeline.Span) {
	if n := len(x.works); n > 0 && x.works[n-1].call == s.Call && x.works[n-1].block == s.Block {
		x.works[n-1].end = s.End
		return
	}
	x.works = append(x.works, work{s.Call, s.Block, s.Begin, s.End})
}

// Unit returns the AIV that executes the block of a step; -1 when the trace does not show it.
func (t *Trace) Unit(s *result.PathStep) int {
	for i := range t.tracks {
		x := &t.tracks[i]
		if x.Kind != timeline.Scalar || x.Rank != s.Rank {
			continue
		}
		for _, w := range x.works {
			if w.block == s.Block && w.call.Task == s.Task && w.begin <= s.From && s.From <= w.end {
				return x.Index
			}
		}
	}
	return -1
}
