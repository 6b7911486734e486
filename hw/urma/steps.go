package urma

import (
	"cmp"
	"slices"
	"sort"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// Step is the life of one SQE; a time is zero where it does not apply. Build is the
// end of the building, Fetch the start of the read, Gather the sampling of the rows,
// Wire the first byte out and Left the last, Land the last byte in the peer's memory.
type Step struct {
	Seq                                                        int64 // number of the SQE on its queue, from 0
	Bytes                                                      int64
	SGEs                                                       int
	Build, Doorbell, Fetch, Gather, Wire, Left, Land, Ack, CQE engine.Time
}

// watch records the steps of chosen SQEs of a queue, and while they are under way those of
// all when the queue is shown in a timeline. A nil watch records nothing.
type watch struct {
	chosen []chosen
	line   *timeline.SQEs // nil: it is not shown
	steps  []*record      // in order of Seq
	kept   []*record      // of the chosen ones, those that are over and have been shown
	unrung int
}

// record is the Step of the SQE at a WQEBB.
type record struct {
	Step
	at   uint64
	read bool
}

// chosen is the SQEs first ... first+n-1.
type chosen struct{ first, n int64 }

// Watch makes the queue to peer record the steps of n SQEs from the first-th on,
// besides those that it is to record already. It opens no queue, so that a run is the
// same with and without it; call it before the first use of the queue.
func (n *NIC) Watch(peer, first, count int) {
	w := n.watches[peer]
	if w == nil {
		w = new(watch)
		if n.watches == nil {
			n.watches = map[int]*watch{}
		}
		n.watches[peer] = w
	}
	w.chosen = append(w.chosen, chosen{int64(first), int64(count)})
}

// Steps returns what has been recorded of the queue to peer, each SQE once, in order.
func (n *NIC) Steps(peer int) (out []Step) {
	if w := n.watches[peer]; w != nil {
		for _, s := range append(slices.Clone(w.kept), w.steps...) {
			if w.picked(s.Seq) {
				out = append(out, s.Step)
			}
		}
	}
	slices.SortFunc(out, func(a, b Step) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// picked reports whether SQE i is a chosen one.
func (w *watch) picked(i int64) bool {
	return slices.ContainsFunc(w.chosen, func(c chosen) bool { return i >= c.first && i-c.first < c.n })
}

// built begins the record of the SQE at the head, if it is a chosen one.
func (w *watch) built(q *Queue, bytes uint32, sges int, read bool) {
	if w == nil {
		return
	}
	if i := int64(q.sqes); w.line != nil || w.picked(i) {
		s := Step{Seq: i, Bytes: int64(bytes), SGEs: sges, Build: q.nic.eng.Now()}
		w.steps = append(w.steps, &record{Step: s, at: q.head, read: read})
	}
}

func (w *watch) rung(now engine.Time) {
	if w == nil {
		return
	}
	for ; w.unrung < len(w.steps); w.unrung++ {
		w.steps[w.unrung].Doorbell = now
	}
}

// find returns the record of the SQE at a WQEBB; nil when nobody watches it.
func (w *watch) find(seq uint64) *record {
	if w == nil {
		return nil
	}
	i := sort.Search(len(w.steps), func(i int) bool { return w.steps[i].at >= seq })
	if i == len(w.steps) || w.steps[i].at != seq {
		return nil
	}
	return w.steps[i]
}
