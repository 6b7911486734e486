package engine

import (
	"cmp"

	"github.com/emirpasic/gods/v2/queues/priorityqueue"
)

// reference is the event queue as one would write it down: a library's priority queue, ordered by (time, sequence). A
// user can run a case on both queues and compare the digests.
type reference struct {
	*priorityqueue.Queue[event]
	seq  uint64
	ties uint64             // seed; 0: events of one instant stay in order
	ids  map[Handler]uint64 // of handlers, in the order in which they were first woken; never ranged over
	keep []step             // steps of events, which the library's queue does not let one change
	free []int              // places in keep
}

type event struct {
	t    Time
	turn uint64 // of its handler at that instant
	seq  uint64
	h    Handler
	arg  uint64
	step int // its place in keep
}

func newReference(ties uint64) *reference {
	return &reference{ties: ties, ids: map[Handler]uint64{}, Queue: priorityqueue.NewWith(func(a, b event) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.turn, b.turn), cmp.Compare(a.seq, b.seq))
	})}
}

func (q *reference) push(t Time, h Handler, arg uint64, s step) {
	q.seq++
	q.Enqueue(event{t, q.turn(t, h), q.seq, h, arg, q.place(s)})
}

// turn draws when a handler is served at t.
func (q *reference) turn(t Time, h Handler) uint64 {
	if q.ties == 0 {
		return 0
	}
	id, ok := q.ids[h]
	if !ok {
		id = uint64(len(q.ids))
		q.ids[h] = id
	}
	return mix(mix(q.ties, uint64(t), id), id, uint64(t))
}

func (q *reference) pop() (Time, Handler, uint64, step) {
	x, _ := q.Dequeue()
	s := q.keep[x.step]
	q.keep[x.step], q.free = 0, append(q.free, x.step)
	return x.t, x.h, x.arg, s
}

func (q *reference) place(s step) int {
	if n := len(q.free) - 1; n >= 0 {
		i := q.free[n]
		q.keep[i], q.free = s, q.free[:n]
		return i
	}
	q.keep = append(q.keep, s)
	return len(q.keep) - 1
}

// steps replaces the step of every event.
func (q *reference) steps(f func(step) step) {
	for i, s := range q.keep {
		q.keep[i] = f(s)
	}
}
