package engine

import (
	"fmt"
	"testing"
	"time"
)

// The hold model: a number of events is pending, each schedules one more at a random
// increment (Jones, "An empirical comparison of priority-queue and event-set
// implementations", CACM 29(4), 1986).

// holder keeps its events in hold until left is used up.
type holder struct {
	e    *Engine
	rng  uint64
	left int
}

func (h *holder) Handle(uint64) {
	if h.left--; h.left > 0 {
		h.e.After(Duration(increment(&h.rng)), h, 0)
	}
}

// increment draws up to about a microsecond, as delays in a run are.
func increment(state *uint64) uint64 {
	*state = *state*6364136223846793005 + 1442695040888963407
	return *state >> 44
}

// bare is the yardstick: an inline 4-ary heap of events in a loop, without an engine,
// a digest or guards around it.
type bare struct {
	heap []bareEvent
	seq  uint64
}

type bareEvent struct {
	at, seq uint64
	h       Handler
	arg     uint64
}

func (e *bareEvent) before(f *bareEvent) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

func (q *bare) push(at uint64, h Handler) {
	q.seq++
	x := bareEvent{at, q.seq, h, 0}
	q.heap = append(q.heap, x)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !x.before(&q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = x
}

func (q *bare) pop() bareEvent {
	h := q.heap
	top, n := h[0], len(h)-1
	x := h[n]
	h = h[:n]
	q.heap = h
	i := 0
	for c := 1; c < n; c = 4*i + 1 {
		best := c
		for k := c + 1; k < min(c+4, n); k++ {
			if h[k].before(&h[best]) {
				best = k
			}
		}
		if x.before(&h[best]) {
			break
		}
		h[i] = h[best]
		i = best
	}
	if n > 0 {
		h[i] = x
	}
	return top
}

// touch is what the bare loop's events do: as little as a handler can.
type touch struct{ n uint64 }

func (t *touch) Handle(uint64) { t.n++ }

func bareHold(pending, events int) time.Duration {
	var q bare
	var rng uint64 = 1
	h := &touch{}
	for range pending {
		q.push(increment(&rng), h)
	}
	start := time.Now()
	for range events {
		x := q.pop()
		x.h.Handle(x.arg)
		q.push(x.at+increment(&rng), h)
	}
	return time.Since(start)
}

func engineHold(queue string, pending, events int) time.Duration {
	e := New(Options{Queue: queue})
	h := &holder{e: e, rng: 1, left: events}
	for range pending {
		e.At(Time(increment(&h.rng)), h, 0)
	}
	start := time.Now()
	if err := e.Run(); err != nil {
		panic(err)
	}
	return time.Since(start) * time.Duration(events) / time.Duration(e.Events())
}

// BenchmarkHold runs the engine and the bare heap loop in turn and reports the ratio
// of their times, which holds when the machine's speed drifts.
func BenchmarkHold(b *testing.B) {
	const events = 1 << 19
	for _, pending := range []int{1 << 10, 1 << 16} {
		for _, queue := range []string{Radix, Reference} {
			b.Run(fmt.Sprintf("%s/pending=%d", queue, pending), func(b *testing.B) {
				var own, yard time.Duration
				for b.Loop() {
					yard += bareHold(pending, events)
					own += engineHold(queue, pending, events)
				}
				n := float64(b.N) * events
				b.ReportMetric(float64(own.Nanoseconds())/n, "ns/event")
				b.ReportMetric(float64(yard.Nanoseconds())/n, "bare-ns/event")
				b.ReportMetric(float64(own)/float64(yard), "ratio")
			})
		}
	}
}
