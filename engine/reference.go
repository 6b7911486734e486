package engine

import (
	"cmp"

	"github.com/emirpasic/gods/v2/queues/priorityqueue"
)

// reference is the event queue as one would write it down: a library's priority queue, ordered by (time, sequence). A
// user can run a case on both queues and compare the digests.
type reference struct {
	*priorityqueue.Queue[event]
	seq uint64
}

type event struct {
	t   Time
	seq uint64
	h   Handler
	arg uint64
}

func newReference() *reference {
	return &reference{Queue: priorityqueue.NewWith(func(a, b event) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.seq, b.seq))
	})}
}

func (q *reference) push(t Time, h Handler, arg uint64) {
	q.seq++
	q.Enqueue(event{t, q.seq, h, arg})
}

func (q *reference) pop() (Time, Handler, uint64) {
	x, _ := q.Dequeue()
	return x.t, x.h, x.arg
}
