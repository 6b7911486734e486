package engine

import "math/bits"

// radix is the event queue: a radix heap, which a monotone queue may be, since nobody schedules in the past. An event
// waits in the bucket that says where its time first differs, read in digits of six bits, from the time reached so far:
//
//	reached   1 23 04 17      level 0: the last digit differs, and the bucket holds one instant
//	event     1 23 51 02  ->  level 1, bucket 51; spread over level 0 once 1 23 51 is reached
//
// The earliest event is in the lowest level's first bucket. An event is linked once a level at most, in practice two or
// three times in all, without a comparison to mispredict. Each bucket is a list in order of scheduling, and spreading
// keeps that order; events of one instant always share a bucket. So the order is (time, sequence) with no sequence
// stored.
type radix struct {
	n       int
	reached uint64
	levels  uint64          // which levels hold events
	used    [levels]uint64  // which buckets of a level do
	first   [levels]buckets // lists through nodes
	nodes   []node          // nodes[0] is none
	free    int32
}

const (
	digit  = 6
	levels = 64/digit + 1
)

type buckets [1 << digit]struct{ head, tail int32 }

type node struct {
	t    uint64
	h    Handler
	arg  uint64
	next int32
	step step
}

func (q *radix) push(t Time, h Handler, arg uint64, s step) {
	i := q.free
	if i == 0 {
		i = q.grow()
	} else {
		q.free = q.nodes[i].next
	}
	x := &q.nodes[i]
	x.t, x.h, x.arg, x.next, x.step = uint64(t), h, arg, 0, s
	q.n++
	q.link(i, uint64(t))
}

// grow makes one more node. The free list never shrinks: a simulation peaks many times.
func (q *radix) grow() int32 {
	if len(q.nodes) == 0 {
		q.nodes = make([]node, 1, 64)
	}
	q.nodes = append(q.nodes, node{})
	return int32(len(q.nodes) - 1)
}

// link appends node i, which is due at t and last of its list, to its bucket.
func (q *radix) link(i int32, t uint64) {
	level := uint(bits.Len64((t^q.reached)|1)-1) / digit
	k := t >> (digit * level) % (1 << digit)
	b := &q.first[level][k]
	if q.used[level]&(1<<k) == 0 {
		q.used[level] |= 1 << k
		q.levels |= 1 << level
		b.head = i
	} else {
		q.nodes[b.tail].next = i
	}
	b.tail = i
}

// pop removes the earliest event; there must be one.
func (q *radix) pop() (Time, Handler, uint64, step) {
	for {
		level := uint(bits.TrailingZeros64(q.levels))
		k := uint(bits.TrailingZeros64(q.used[level])) % (1 << digit)
		b := &q.first[level][k]
		i := b.head
		x := &q.nodes[i]
		if level == 0 && x.next != 0 {
			b.head = x.next
			return q.take(i, x)
		}
		if q.used[level] &^= 1 << k; q.used[level] == 0 {
			q.levels &^= 1 << level
		}
		if x.next == 0 {
			return q.take(i, x)
		}
		q.reached = x.t >> (digit * level) << (digit * level)
		q.spread(i)
	}
}

// take frees the node of the earliest event, which is out of its list, and returns the event.
func (q *radix) take(i int32, x *node) (Time, Handler, uint64, step) {
	q.reached = x.t
	q.n--
	x.next, q.free = q.free, i
	h := x.h
	x.h = nil // what is free is of no use to anybody
	return Time(x.t), h, x.arg, x.step
}

// spread links the list from i on anew, one level or more below.
func (q *radix) spread(i int32) {
	for i != 0 {
		x := &q.nodes[i]
		next := x.next
		x.next = 0
		q.link(i, x.t)
		i = next
	}
}

// steps replaces the step of every event. A node that is free has an old one, which nobody may follow.
func (q *radix) steps(f func(step) step) {
	for i := range q.nodes {
		if x := &q.nodes[i]; x.h != nil {
			x.step = f(x.step)
		}
	}
}
