// Package timeline shows what the parts of a machine do over time. While a run goes on the
// models tell a Recorder what each part is busy with and how full its queues are; it keeps
// what belongs together apart in tracks, in each of which spans follow one another and never
// overlap, and gives them to a Sink that writes a trace or sums up a profile. Nothing of it
// has an effect on the run: models only tell, and all methods of a nil Recorder, and of what
// it made, do nothing. Cores account for time when it is over, so a span may be told behind
// one of another track that begins later; within a track the order is that of time.
package timeline

import "pldperf/engine"

// Track is the number of a track, from 1 on; 0 is one that the Sink does not want.
type Track uint32

// Kind is what a track shows.
type Kind uint8

// The kinds of tracks. Scalar to Stages are of an AIV.
const (
	Calls  Kind = iota // the tasks of a rank
	Scalar             // what the program counter is blocked on
	SIMT               // the SIMT lanes write SQEs or issue atomics
	Vector             // the vector unit combines tiles
	MTE2               // loads into the Unified Buffer
	MTE3               // stores out of it
	Stages             // counter: stages of the ring that hold a piece
	Queue              // SQEs of the send queue to a peer, from their fetch on
	Depth              // counter: WQEBBs in it that have not completed
	SDMA               // a channel of the system DMA
	Remote             // the path of all remote MTE from a rank to a peer
	Port               // a port, cap or uplink of the fabric
	Memory             // HBM or L2
	Rate               // counter: bytes a second of a Port or Memory
	NumKinds
)

// Counter reports whether a track of the kind holds values rather than spans.
func (k Kind) Counter() bool { return k == Stages || k == Depth || k == Rate }

// Place says what a track belongs to.
type Place struct {
	Kind  Kind
	Rank  int    // -1: no rank's
	Index int    // AIV, peer, channel or number of a link; 0 where there is one
	Lane  int    // of several that show one thing, because it does several things at once
	Group string // what people find it under: "AIV 3"; none: the rank itself
	Name  string // "MTE2"
	Unit  string // of a counter: "WQEBB"
}

// Span is a part at work. A Sink may not keep it.
type Span struct {
	Begin, End engine.Time
	Name       string
	Bytes      int64 // that it moves; 0: none
	Peer       int   // -1: none
	Seq        int64 // of an SQE; -1: none
	SGEs       int
	Spent      // of a Scalar span
}

// Spent says what a block spends time on.
type Spent struct {
	Call  *Call // nil: this is no Scalar span
	Block int
	Op    string
	PC    int // the op's number in its program
	Phase string
	// Holder is the rank that it waits for. NoHolder: for none, or nobody knows; NoRank: for what is no other rank's, a
	// sector of signal cells or memory.
	Holder int
}

// Holders that are no ranks.
const (
	NoRank   = -1
	NoHolder = -2
)

// Call is a task, on all ranks.
type Call struct {
	ID    int
	Task  string // its name in the job, which may be none
	Name  string // what people read
	Timed bool
}

// A Sink takes what is seen. It hears of tracks before anything on them; within a track,
// times do not fall, spans do not overlap, and what Begin opens encloses the spans up to its
// End.
type Sink interface {
	// Open tells of a track; false: nothing of it is wanted.
	Open(t Track, p *Place) bool
	// Begin opens a span that encloses others.
	Begin(t Track, at engine.Time, name string)
	// End closes the span that was opened last.
	End(t Track, at engine.Time)
	// Span tells of a whole span.
	Span(t Track, s *Span)
	// Count tells of a counter's value from at on.
	Count(t Track, at engine.Time, value int64)
	// Instant tells of something that takes no time.
	Instant(t Track, at engine.Time, name string)
}

// Recorder gives what models tell to a Sink.
type Recorder struct {
	sink    Sink
	tracks  Track
	ranks   []*rank
	servers []*Server
	span    Span        // for those who have none of their own to give
	settled engine.Time // up to when servers have told of what they did
}

// New returns a Recorder for a sink; nil for none.
func New(sink Sink) *Recorder {
	if sink == nil {
		return nil
	}
	return &Recorder{sink: sink}
}

// lane is a track that is opened when something is to be shown there.
type lane struct {
	track Track
	asked bool
}

func (r *Recorder) open(l *lane, p *Place) Track {
	l.asked = true
	r.tracks++
	if r.sink.Open(r.tracks, p) {
		l.track = r.tracks
	}
	return l.track
}

// put gives a span to the sink; one that takes no time is none.
func (r *Recorder) put(t Track, s *Span) {
	if t != 0 && s.End > s.Begin {
		r.sink.Span(t, s)
	}
}

// Close ends what is open at the end of a run.
func (r *Recorder) Close(at engine.Time) {
	if r == nil {
		return
	}
	for _, k := range r.ranks {
		if k == nil {
			continue
		}
		for _, u := range k.units {
			if u.block != nil {
				u.block.Done(at, true)
			}
		}
	}
	for _, s := range r.servers {
		s.close()
	}
}
