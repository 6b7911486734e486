package engine

import "fmt"

// A Server serves one request at a time, first come, first served: a port, a pipe, an engine. It never has to choose, so
// its queue needs neither memory nor events: all there is to know is when it will be free. Latency is no part of it.
// The zero Server is free.
type Server struct {
	free  Time
	busy  Duration
	owner uint32
}

// Reserve books the server for a request that arrives now, at arrival, takes span, and belongs to owner. It begins when
// the server is free, and prev is whose request came before (0 at first): if begin is later than arrival, who is to
// blame. Call it at the moment of arrival, never ahead of it, or requests overtake each other. A negative span is a bug
// in the model: Reserve panics.
func (s *Server) Reserve(arrival Time, span Duration, owner uint32) (begin, end Time, prev uint32) {
	if span < 0 {
		panic(fmt.Sprintf("engine: a server is reserved for %v", span))
	}
	begin, prev = max(arrival, s.free), s.owner
	s.free, s.owner = begin.Add(span), owner
	s.busy += span
	return begin, s.free, prev
}

// Busy returns the sum of all reserved spans.
func (s *Server) Busy() Duration { return s.busy }

// Free returns when the last reservation ends, which is 0 if there was none.
func (s *Server) Free() Time { return s.free }

// A Counter is a number that others wait for: a flag, a completion count, or credits. It may go down as well as up.
// The zero Counter is 0 and nobody waits.
type Counter struct {
	n       int64
	waiters []waiter // in the order in which they came
}

type waiter struct {
	want int64
	h    Handler
	arg  uint64
}

// WaitAtLeast reports whether the counter is at want or above. If not, it wakes h with arg, once, when an Add takes it
// there. Where the counter can fall again, h must ask again: by then an earlier one may have used up what it waited for.
func (c *Counter) WaitAtLeast(want int64, h Handler, arg uint64) bool {
	if c.n >= want {
		return true
	}
	c.waiters = append(c.waiters, waiter{want, h, arg})
	return false
}

// Add changes the counter by n and wakes those whose wait is over, in the order in which they came: through the event
// queue, at this instant, never by a call, so that no model is entered while it is at work.
func (c *Counter) Add(e *Engine, n int64) {
	c.n += n
	keep := c.waiters[:0]
	for _, w := range c.waiters {
		if c.n >= w.want {
			e.At(e.now, w.h, w.arg)
		} else {
			keep = append(keep, w)
		}
	}
	c.waiters = keep
}

// Value returns the counter's value.
func (c *Counter) Value() int64 { return c.n }

// Waiting returns how many wait: what must be none at the end of a run.
func (c *Counter) Waiting() int { return len(c.waiters) }
