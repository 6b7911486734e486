// Package traces writes what a timeline shows as files that other tools open: a trace, as
// Chrome JSON or as Perfetto's protobuf, while the run goes on and within limits that it
// states, and a pprof profile of where blocks spend simulated time. Times in the files are
// whole nanoseconds, rounded down; sums to the picosecond are in the result.
package traces

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// Format is what a trace is written as.
type Format string

// The formats.
const (
	Chrome   Format = "json"    // Trace Event Format
	Perfetto Format = "pftrace" // perfetto.protos.Trace
)

// Level says how much of a machine a trace shows.
type Level string

// The levels; each shows all that the one before does.
const (
	Blocks Level = "block" // calls, and what each block is blocked on
	Pipes  Level = "pipe"  // SIMT, VECTOR, MTE2, MTE3, queues, SDMA, remote MTE
	All    Level = "all"   // ports, HBM and L2
)

// Levels are all of them.
var Levels = []Level{Blocks, Pipes, All}

// shows reports whether a level shows tracks of a kind.
func (l Level) shows(k timeline.Kind) bool {
	switch k {
	case timeline.Calls, timeline.Scalar:
		return true
	case timeline.Port, timeline.Memory, timeline.Rate:
		return l == All
	}
	return l != Blocks
}

// Options say what of a run a trace holds. The zero value is all of it, without limits.
type Options struct {
	Level    Level       // none: all
	Ranks    []int       // none: all
	From, To engine.Time // To 0: to the end
	Events   int64       // at most; 0: any number
	Bytes    int64       // at most, before compression; 0: any number
	Path     bool        // keep a fiftieth of that for the critical path
}

// Trace is a timeline.Sink that writes a trace.
type Trace struct {
	opt     Options
	w       io.Writer
	enc     encoder
	tracks  []track // by timeline.Track
	stats   Stats
	err     error
	written int64
	calls   uint32
	clock   func() time.Time // to see what recording costs
	encoded time.Duration    // in the calls that were timed
	flushed time.Duration
	events  int64 // that fit now
	size    int64
	note    []Fact // what is lacking beside
}

// Stats say what a trace holds.
type Stats struct {
	Events  int64
	Bytes   int64 // before compression
	Dropped int64 // events beyond the limits
	Limit   string
	Cut     engine.Time   // nothing that ends before is lacking
	Last    engine.Time   // nothing that ends later is there, but for the critical path
	Took    time.Duration // about what writing took
}

// track is what a Trace knows of a track.
type track struct {
	timeline.Place
	wanted bool
	shown  bool   // the file names it
	stack  []open // what Begin has opened
	held   bool   // a counter's value from before Options.From is still to be written
	value  int64
	works  []work // of a Scalar track
	lane   *Lane  // of a track that is one of several
}

type open struct {
	at      engine.Time
	name    string
	counted bool
	written bool
}

// encoder writes events in one format into a buffer that grows until it is taken.
type encoder interface {
	open(t timeline.Track, p *timeline.Place)
	begin(t timeline.Track, at engine.Time, name string)
	end(t timeline.Track, at engine.Time)
	span(t timeline.Track, s *timeline.Span)
	path(t timeline.Track, s *timeline.Span, holder string)
	count(t timeline.Track, at engine.Time, value int64)
	instant(t timeline.Track, at engine.Time, name string)
	arrow(n int64, from, to *Stop)
	close(about []Fact)
	buffer() *[]byte
}

// Fact is a word about the trace itself, which stands in it.
type Fact struct{ Key, Value string }

// New begins a trace. The error is about the format.
func New(w io.Writer, f Format, o Options) (*Trace, error) {
	t := &Trace{opt: o, w: w, tracks: make([]track, 1), clock: time.Now}
	t.limit(o.Path)
	if t.opt.Level == "" {
		t.opt.Level = All
	}
	if t.opt.To == 0 {
		t.opt.To = math.MaxInt64
	}
	switch f {
	case Chrome:
		t.enc = newChrome()
	case Perfetto:
		t.enc = newPerfetto()
	default:
		return nil, fmt.Errorf("no trace format %q; there are %s and %s", f, Chrome, Perfetto)
	}
	return t, nil
}

// kept is how much is gathered before it is written.
const kept = 1 << 16

// Of so many calls one is timed, to say what recording costs. What takes longer than stalled
// is the doing of something else on the computer.
const (
	sampled = 64
	stalled = 20 * time.Microsecond
)

// begun begins a call of the Sink, which done ends.
func (t *Trace) begun() (start time.Time) {
	if t.calls++; t.calls%sampled == 0 {
		start = t.clock()
	}
	return start
}

func (t *Trace) done(start time.Time) {
	if !start.IsZero() {
		t.encoded += min(t.clock().Sub(start), stalled)
	}
	if b := t.enc.buffer(); len(*b) >= kept {
		now := t.clock()
		t.flush()
		t.flushed += t.clock().Sub(now)
	}
}

func (t *Trace) flush() {
	b := t.enc.buffer()
	if t.err == nil {
		_, t.err = t.w.Write(*b)
	}
	t.written += int64(len(*b))
	*b = (*b)[:0]
}

// Open implements timeline.Sink.
func (t *Trace) Open(id timeline.Track, p *timeline.Place) bool {
	for int(id) >= len(t.tracks) {
		t.tracks = append(t.tracks, track{})
	}
	ours := p.Rank < 0 || len(t.opt.Ranks) == 0 || slices.Contains(t.opt.Ranks, p.Rank)
	t.tracks[id] = track{Place: *p, wanted: ours && t.opt.Level.shows(p.Kind)}
	if t.opt.Path && t.tracks[id].wanted && HasLanes(p.Kind) {
		t.tracks[id].lane = new(Lane)
	}
	return t.tracks[id].wanted
}

// show names a track in the file before its first event.
func (t *Trace) show(id timeline.Track) {
	if x := &t.tracks[id]; !x.shown {
		x.shown = true
		t.enc.open(id, &x.Place)
	}
}

// enter writes what encloses an event that ends at a time.
func (t *Trace) enter(id timeline.Track, end engine.Time) {
	x := &t.tracks[id]
	for i := range x.stack {
		o := &x.stack[i]
		if o.counted {
			continue
		}
		if o.counted = true; t.room(end) {
			o.written = true
			t.show(id)
			t.enc.begin(id, max(o.at, t.opt.From), o.name)
		}
	}
}

// Begin implements timeline.Sink. It is written when something is in it.
func (t *Trace) Begin(id timeline.Track, at engine.Time, name string) {
	x := &t.tracks[id]
	x.stack = append(x.stack, open{at: at, name: name})
}

// End implements timeline.Sink.
func (t *Trace) End(id timeline.Track, at engine.Time) {
	x := &t.tracks[id]
	o := x.stack[len(x.stack)-1]
	if x.stack = x.stack[:len(x.stack)-1]; o.written {
		t.enc.end(id, min(at, t.opt.To))
	}
}

// Span implements timeline.Sink.
func (t *Trace) Span(id timeline.Track, s *timeline.Span) {
	start := t.begun()
	if s.Call != nil {
		t.tracks[id].executes(s)
	}
	if s.Begin < t.opt.From || s.End > t.opt.To {
		v := *s
		v.Begin, v.End = max(v.Begin, t.opt.From), min(v.End, t.opt.To)
		s = &v
	}
	if s.Begin < s.End {
		t.enter(id, s.End)
		if t.room(s.End) {
			t.show(id)
			t.enc.span(id, s)
			if l := t.tracks[id].lane; l != nil {
				l.Add(s.Begin, s.End, s.Name)
			}
		}
	}
	t.done(start)
}

// Count implements timeline.Sink.
func (t *Trace) Count(id timeline.Track, at engine.Time, value int64) {
	start := t.begun()
	switch x := &t.tracks[id]; {
	case at < t.opt.From:
		x.held, x.value = true, value
	case at < t.opt.To:
		t.release(id)
		if t.room(at) {
			t.show(id)
			t.enc.count(id, at, value)
		}
	}
	t.done(start)
}

// release writes the value that a counter had when the trace began.
func (t *Trace) release(id timeline.Track) {
	if x := &t.tracks[id]; x.held {
		x.held = false
		if x.value != 0 && t.room(t.opt.From) {
			t.show(id)
			t.enc.count(id, t.opt.From, x.value)
		}
	}
}

// Instant implements timeline.Sink.
func (t *Trace) Instant(id timeline.Track, at engine.Time, name string) {
	if at < t.opt.From || at >= t.opt.To {
		return
	}
	t.enter(id, at)
	if t.room(at) {
		t.show(id)
		t.enc.instant(id, at, name)
	}
}

// Close writes what is left, with facts about the run, and returns what the trace holds.
func (t *Trace) Close(facts ...Fact) (Stats, error) {
	for id := range t.tracks {
		t.release(timeline.Track(id))
	}
	facts = append(facts, Fact{"level", string(t.opt.Level)}, Fact{"events", fmt.Sprint(t.stats.Events)})
	if text := t.stats.CutText(); text != "" {
		facts = append(facts, Fact{"cut", text})
	}
	t.enc.close(append(facts, t.note...))
	t.flush()
	t.stats.Bytes, t.stats.Took = t.written, t.flushed+t.encoded*sampled
	return t.stats, t.err
}
