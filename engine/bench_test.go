package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The hold model (Jones, "An empirical comparison of priority-queue and event-set implementations", CACM 29(4), 1986):
// so many events are pending, and each schedules one more. The yardstick is a bare loop around an inline 4-ary heap of
// small events, with neither handlers nor a digest nor guards. Both draw their increments from one table.

const draws = 1 << 16

// increments fills the table: exponential as in the literature, or as a product run mixes them.
func increments(kind string) []Duration {
	rng := rand.New(rand.NewPCG(1, 2))
	table := make([]Duration, draws)
	for i := range table {
		table[i] = Duration(rng.ExpFloat64() * float64(Microsecond))
		if kind == "product" {
			table[i] = [...]Duration{
				0, 0, // a wake
				350 * Nanosecond, 150 * Nanosecond, // a latency
				20 * Nanosecond,                       // an issue
				Rate(53.1e9).Span(86016),              // a row of a dozen pieces on a port
				Duration(rng.Int64N(int64(1e6))),      // a wait for a turn
				Duration(rng.Int64N(int64(1e6)) << 5), // a back-off, a phase
			}[rng.IntN(8)]
		}
	}
	return table
}

// holder keeps the engine's events in hold, until left are done.
type holder struct {
	e     *Engine
	table []Duration
	next  int
	left  int
	sum   uint64
}

func (h *holder) Handle(arg uint64) {
	h.sum = h.sum*31 + uint64(h.e.Now()) + arg
	h.e.After(h.table[h.next%draws], h, arg)
	h.next++
	if h.left--; h.left == 0 {
		h.e.Stop()
	}
}

func newHolder(queue string, table []Duration, pending int) *holder {
	h := &holder{e: New(Options{Queue: queue}), table: table}
	for i := range pending {
		h.e.At(Time(table[i%draws]), h, uint64(i))
	}
	return h
}

func (h *holder) run(events int) {
	h.left = events
	if err := h.e.Run(); err != nil {
		panic(err)
	}
}

// bare is the yardstick.
type bare struct {
	heap  []bareEvent
	seq   uint64
	table []Duration
	next  int
	sum   uint64
}

type bareEvent struct {
	at       Time
	seq, arg uint64
}

func (x *bareEvent) before(y *bareEvent) bool { return x.at < y.at || x.at == y.at && x.seq < y.seq }

func newBare(table []Duration, pending int) *bare {
	q := &bare{table: table}
	for i := range pending {
		q.push(Time(table[i%draws]), uint64(i))
	}
	return q
}

func (q *bare) run(events int) {
	for range events {
		x := q.pop()
		q.sum = q.sum*31 + uint64(x.at) + x.arg
		q.push(x.at.Add(q.table[q.next%draws]), x.arg)
		q.next++
	}
}

func (q *bare) push(at Time, arg uint64) {
	q.seq++
	x := bareEvent{at, q.seq, arg}
	heap := append(q.heap, x)
	i := len(heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !x.before(&heap[up]) {
			break
		}
		heap[i] = heap[up]
		i = up
	}
	heap[i] = x
	q.heap = heap
}

func (q *bare) pop() bareEvent {
	n := len(q.heap) - 1
	top, x := q.heap[0], q.heap[n]
	heap := q.heap[:n]
	q.heap = heap
	i := 0
	for c := 1; c < n; c = 4*i + 1 {
		best := c
		for k := c + 1; k < min(c+4, n); k++ {
			if heap[k].before(&heap[best]) {
				best = k
			}
		}
		if x.before(&heap[best]) {
			break
		}
		heap[i] = heap[best]
		i = best
	}
	if n > 0 {
		heap[i] = x
	}
	return top
}

func TestTheYardstickDoesTheSameWork(t *testing.T) {
	for _, kind := range []string{"exponential", "product"} {
		table := increments(kind)
		own, twin, yard := newHolder(Radix, table, 1000), newHolder(Reference, table, 1000), newBare(table, 1000)
		for range 20 {
			own.run(1000)
			twin.run(1000)
			yard.run(1000)
			require.Equal(t, yard.sum, own.sum)
			require.Equal(t, yard.sum, twin.sum)
		}
		assert.Equal(t, twin.e.Digest(), own.e.Digest())
		assert.Equal(t, 1000, own.e.Pending())
	}
}

// BenchmarkHold runs the engine and the yardstick in turn, in slices of some milliseconds, and reports the time of an
// event in each and their ratio, which holds when the machine's speed drifts. One operation is one event of each.
func BenchmarkHold(b *testing.B) {
	for _, queue := range []string{Radix, Reference} {
		for _, kind := range []string{"exponential", "product"} {
			for _, pending := range []int{16, 1 << 10, 1 << 16} {
				b.Run(fmt.Sprintf("%s/%s/pending=%d", queue, kind, pending), func(b *testing.B) {
					hold(b, queue, increments(kind), pending)
				})
			}
		}
	}
}

func hold(b *testing.B, queue string, table []Duration, pending int) {
	own, yard := newHolder(queue, table, pending), newBare(table, pending)
	own.run(4 * pending) // to the steady state
	yard.run(4 * pending)
	b.ReportAllocs()
	b.ResetTimer()
	const slice = 1 << 16
	var ownTime, yardTime time.Duration
	for done := 0; done < b.N; done += slice {
		n := min(slice, b.N-done)
		start := time.Now()
		own.run(n)
		middle := time.Now()
		yard.run(n)
		ownTime += middle.Sub(start)
		yardTime += time.Since(middle)
	}
	b.ReportMetric(float64(ownTime.Nanoseconds())/float64(b.N), "engine-ns/event")
	b.ReportMetric(float64(yardTime.Nanoseconds())/float64(b.N), "bare-ns/event")
	b.ReportMetric(float64(ownTime)/float64(yardTime), "ratio")
}
