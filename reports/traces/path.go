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
	find := NewFinder(t)
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
		at := Stop{s.From, s.To, find.Where(s)}
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

// step writes a step as spans of the path.
func (t *Trace) step(track timeline.Track, s *result.PathStep) {
	for _, x := range Pieces(s) {
		v := timeline.Span{Begin: x.From, End: x.To, Name: x.Cause, Peer: s.Peer, Seq: -1}
		v.Op, v.PC, v.Phase = s.Op, -1, place(s)
		t.stats.Events++
		t.show(track)
		t.enc.path(track, &v, x.Holder)
	}
}

// Piece is a part of a step that has one cause.
type Piece struct {
	Cause    string
	From, To engine.Time
	Holder   string // who had what was waited for; "": nobody, or nobody knows
}

// Pieces splits a step into the time in which others held what it needed and its own. Turns
// of a link alternate: of a step with both, the two sums stand one after the other, the wait
// first.
func Pieces(s *result.PathStep) []Piece {
	own := Piece{Cause: s.Cause, From: s.From.Add(s.Queued), To: s.To}
	if s.Queued == 0 {
		return []Piece{own}
	}
	wait := Piece{Cause: queueOf(s.Cause), From: s.From, To: own.From, Holder: "others"}
	if h := s.Holder; h != nil {
		wait.Holder = fmt.Sprintf("%d -> %d", h.Rank, h.Peer)
		if h.Peer < 0 {
			wait.Holder = process(h.Rank)
		}
	}
	if own.From == own.To {
		return []Piece{wait}
	}
	return []Piece{wait, own}
}

// queueOf is the cause of waiting for what another cause is the use of.
func queueOf(cause string) string {
	if cause == "sdma_rate" {
		return "sdma_queue"
	}
	return cause + "_queue"
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
	// Find returns the tracks that fit.
	Find(fits func(p *timeline.Place) bool) []timeline.Track
	// Unit returns the AIV that executes the block of a step; -1 when nothing shows it.
	Unit(s *result.PathStep) int
	// Lane returns what is known of the spans of a track; nil when nothing is.
	Lane(t timeline.Track) *Lane
}

// Finder finds the tracks that show the steps of a path, which repeat the same few places.
type Finder struct {
	seen  Seen
	known map[spot][]timeline.Track
}

// spot is what decides on which tracks a step may be.
type spot struct {
	kind       timeline.Kind
	rank, peer int
	cause      string
	unit       int
}

// NewFinder returns one for tracks that have been shown.
func NewFinder(t Seen) *Finder { return &Finder{t, map[spot][]timeline.Track{}} }

// Where returns the track that shows a step; 0 when there is none. Of several lanes it is
// the one that was at it then.
func (f *Finder) Where(s *result.PathStep) timeline.Track {
	x := spot{kind: timeline.NumKinds, rank: s.Rank, peer: s.Peer, cause: s.Cause, unit: -1}
	if s.Block >= 0 {
		x.unit = f.seen.Unit(s)
	}
	list, ok := f.known[x]
	if !ok {
		list = candidates(s, x.unit, f.seen)
		f.known[x] = list
	}
	if len(list) == 0 {
		return 0
	}
	best, most := list[0], 0
	for _, t := range list {
		if n := f.seen.Lane(t).fit(s); n > most {
			best, most = t, n
		}
	}
	return best
}

// candidates are the tracks that may show a step.
func candidates(s *result.PathStep, unit int, t Seen) []timeline.Track {
	find := func(k timeline.Kind, rank int, fits func(p *timeline.Place) bool) []timeline.Track {
		return t.Find(func(p *timeline.Place) bool { return p.Kind == k && p.Rank == rank && fits(p) })
	}
	any := func(*timeline.Place) bool { return true }
	named := func(name string) func(p *timeline.Place) bool {
		return func(p *timeline.Place) bool { return p.Name == name }
	}
	switch s.Cause {
	case "egress", "wire", "uplink":
		if at := find(timeline.Port, s.Rank, named(fmt.Sprintf("port to rank %d", s.Peer))); len(at) > 0 {
			return at
		}
		return find(timeline.Port, s.Rank, named("egress cap"))
	case "ingress":
		return find(timeline.Port, s.Peer, named("ingress cap"))
	case "memory_rate", "memory_latency":
		return find(timeline.Memory, s.Rank, any)
	}
	if k, ok := parts[s.Cause]; ok {
		return find(k, s.Rank, func(p *timeline.Place) bool { return p.Index == s.Peer || k == timeline.SDMA })
	}
	if s.Block < 0 {
		return find(timeline.Calls, s.Rank, any)
	}
	k, ok := lanes[s.Cause]
	if !ok {
		k = timeline.Scalar
	}
	return find(k, s.Rank, func(p *timeline.Place) bool { return p.Index == unit })
}

// Find returns the tracks of the file that fit.
func (t *Trace) Find(fits func(p *timeline.Place) bool) (out []timeline.Track) {
	for i := range t.tracks {
		if x := &t.tracks[i]; x.shown && fits(&x.Place) {
			out = append(out, timeline.Track(i))
		}
	}
	return out
}

// Lane returns the spans of a track that is one of several for the same thing.
func (t *Trace) Lane(id timeline.Track) *Lane { return t.tracks[id].lane }

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
