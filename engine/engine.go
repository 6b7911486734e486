// Package engine is the discrete-event kernel: simulated time and its units, the event queue, and the two parts that
// every hardware model is made of, a Server (something that is busy) and a Counter (something that one waits for). A
// simulation is a set of Handlers: the engine takes the earliest event, moves the clock to it and calls its handler,
// which changes its own state and schedules further events. Nothing else happens, and it happens on one goroutine.
// Events are ordered by time, and at one instant by the order in which they were scheduled, so two runs of one model are
// equal event for event; a digest of the stream shows it.
package engine

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// A Handler is a part of a model that can be woken. Arg is what it was scheduled with; its meaning is the handler's own.
// An event is no more than these two and a time, so scheduling one allocates nothing.
type Handler interface{ Handle(arg uint64) }

// Options selects how an Engine keeps and guards its events. The zero value is the default.
type Options struct {
	// Queue names the event queue: Radix (or empty) or Reference.
	Queue string
	// Ties, if it is not 0, is the seed of another order at each instant: the handlers that are woken then take turns in
	// an order drawn anew for that instant, and only the events of one handler stay in the order in which they were
	// scheduled. A model whose result depends on it depends on what no machine promises. It takes the Reference queue.
	Ties uint64
	// StallLimit is how many events may run at one instant without Progress; 0 means DefaultStallLimit.
	StallLimit int
	// Sample, if it is not nil, is called between events, every SampleEvents of them, so that somebody can be shown how far
	// the simulation is. It must change nothing of the model.
	Sample func()
}

// SampleEvents is how many events lie between two calls of Sample: a fraction of a millisecond of work.
const SampleEvents = 1 << 12

// The event queues: the fast one, and its plain twin that gives the same order at several times the cost.
const (
	Radix     = "radix"
	Reference = "reference"
)

// DefaultStallLimit is far above what the largest runs do at one instant, and far below what a user would wait for.
const DefaultStallLimit = 1 << 20

// Check says whether o can be used: an unknown queue and a negative limit are errors.
func (o Options) Check() error {
	if o.Queue != "" && o.Queue != Radix && o.Queue != Reference {
		return fmt.Errorf("unknown event queue %q; there are %q and %q", o.Queue, Radix, Reference)
	}
	if o.StallLimit < 0 {
		return fmt.Errorf("a stall limit of %d events is negative", o.StallLimit)
	}
	return nil
}

// Engine holds the clock and the events to come. The zero Engine is ready to use, with the default Options.
type Engine struct {
	now   Time
	queue radix
	twin  *reference // in place of queue, if not nil
	stop  bool

	events uint64
	digest uint64
	sample func()
	log    *log // nil: nobody asks why

	idle     int // events at this instant since the last Progress
	limit    int // of idle
	suspects []string
}

// New returns an engine at time 0. It panics if o.Check fails.
func New(o Options) *Engine {
	if err := o.Check(); err != nil {
		panic("engine: " + err.Error())
	}
	e := &Engine{limit: o.StallLimit, sample: o.Sample}
	if o.Queue == Reference || o.Ties != 0 {
		e.twin = newReference(o.Ties)
	}
	return e
}

// Now returns the time of the event that is being handled, or that was handled last.
func (e *Engine) Now() Time { return e.now }

// Events returns how many events have been handled.
func (e *Engine) Events() uint64 { return e.events }

// Digest returns a hash of the time and argument of every event handled so far, in order: what two equal runs share,
// whichever queue they use.
func (e *Engine) Digest() uint64 { return e.digest }

// Pending returns how many events are yet to come.
func (e *Engine) Pending() int {
	if e.twin != nil {
		return e.twin.Size()
	}
	return e.queue.n
}

// At schedules h to be woken at t with arg, after everything that is scheduled for t already. A time in the past and a
// nil handler are bugs in the model: At panics.
func (e *Engine) At(t Time, h Handler, arg uint64) {
	if t < e.now || h == nil {
		panic(fmt.Sprintf("engine: %T scheduled at %v, but it is already %v", h, t, e.now))
	}
	var s step
	if e.log != nil {
		s = e.log.scheduled(t)
	}
	if e.twin != nil {
		e.twin.push(t, h, arg, s)
		return
	}
	e.queue.push(t, h, arg, s)
}

// After schedules h to be woken d from now with arg; d may be zero, and At's rules hold.
func (e *Engine) After(d Duration, h Handler, arg uint64) { e.At(e.now.Add(d), h, arg) }

// Stop ends Run once the current event is handled; what is pending stays so, and a further Run continues.
func (e *Engine) Stop() { e.stop = true }

// Progress tells the stall guard that something has been achieved at this instant, such as an op that completed.
func (e *Engine) Progress() { e.idle = 0 }

// Run handles events in order until none is left or Stop is called. The only error is a *StallError.
func (e *Engine) Run() error {
	e.stop = false
	if e.limit == 0 {
		e.limit = DefaultStallLimit
	}
	watch := max(0, e.limit-maxLoop)
	for !e.stop && e.Pending() > 0 {
		t, h, arg, s := e.pop()
		if t != e.now {
			e.now, e.idle = t, 0
		}
		e.idle++
		e.events++
		e.digest = mix(e.digest, uint64(t), arg)
		if e.log != nil {
			e.log.handling(s, t)
			if e.due() {
				e.prune()
			}
		}
		h.Handle(arg)
		if e.events%SampleEvents == 0 && e.sample != nil {
			e.sample()
		}
		if e.idle > watch {
			if err := e.suspect(h, e.idle == watch+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) pop() (Time, Handler, uint64, step) {
	if e.twin != nil {
		return e.twin.pop()
	}
	return e.queue.pop()
}

// mix folds one event into a digest. The multiplication carries each bit upwards and the rotation brings the upper
// half down again, so that the order of events counts.
func mix(digest, t, arg uint64) uint64 {
	const odd1, odd2 = 0x9e3779b97f4a7c15, 0xd1b54a32d192ed03 // 2^64 over the golden ratio, and over its plane sibling
	return bits.RotateLeft64((digest^(t*odd1+arg))*odd2, 32)
}

// maxLoop is how many events before the stall limit the guard begins to note who runs: loops of models are shorter.
const maxLoop = 64

// StallError says that a simulation runs on the spot: its clock stands still while handlers wake each other, and no op
// makes progress.
type StallError struct {
	At       Time
	Events   int      // at that instant, since the last progress
	Handlers []string // the types of handlers that ran last, a few
}

func (s *StallError) Error() string {
	return fmt.Sprintf("no progress: %d events ran at %v without one op moving on; the last were handled by %s",
		s.Events, s.At, strings.Join(s.Handlers, ", "))
}

// suspect notes h as one of the last handlers before the stall limit, and returns an error beyond it.
func (e *Engine) suspect(h Handler, first bool) error {
	if first {
		e.suspects = nil
	}
	if name := fmt.Sprintf("%T", h); len(e.suspects) < 8 && !slices.Contains(e.suspects, name) {
		e.suspects = append(e.suspects, name)
	}
	if e.idle <= e.limit {
		return nil
	}
	return &StallError{At: e.now, Events: e.idle, Handlers: e.suspects}
}
