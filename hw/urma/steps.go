package urma

import "pldperf/engine"

// Step is the life of one SQE; a time is zero where it does not apply.
type Step struct {
	Seq                                                        int64 // number of the SQE on its queue, from 0
	Bytes                                                      int64
	SGEs                                                       int
	Build, Doorbell, Fetch, Gather, Wire, Left, Land, Ack, CQE engine.Time
}

// watch records the steps of SQEs first ... first+n-1 of a queue.
type watch struct {
	first, n int64
	steps    []Step
	unrung   int
}

type stepKind uint8

const (
	stepFetch stepKind = iota
	stepGather
	stepWire
	stepLeft
	stepLand
	stepAck
	stepCQE
)

// Watch makes the queue to peer record the steps of n SQEs from the first-th on.
func (n *NIC) Watch(peer, first, count int) {
	n.Queue(peer).watch = &watch{first: int64(first), n: int64(count), steps: make([]Step, 0, count)}
}

// Steps returns what has been recorded of the queue to peer.
func (n *NIC) Steps(peer int) []Step {
	if w := n.Queue(peer).watch; w != nil {
		return w.steps
	}
	return nil
}

func (w *watch) built(q *Queue, s *SQE) {
	i := int64(q.head / SQEBBs)
	if i >= w.first && i < w.first+w.n {
		w.steps = append(w.steps, Step{Seq: i, Bytes: int64(s.Length), SGEs: len(s.SGEs), Build: q.nic.eng.Now()})
	}
}

func (w *watch) rung(q *Queue) {
	for ; w.unrung < len(w.steps); w.unrung++ {
		w.steps[w.unrung].Doorbell = q.nic.eng.Now()
	}
}

// find returns the record of the SQE at a WQEBB; nil when nobody watches it.
func (w *watch) find(seq uint64) *Step {
	if w == nil {
		return nil
	}
	i := int64(seq/SQEBBs) - w.first
	if i < 0 || i >= int64(len(w.steps)) {
		return nil
	}
	return &w.steps[i]
}

func (s *Step) at(k stepKind, t engine.Time) {
	if s == nil {
		return
	}
	switch k {
	case stepFetch:
		s.Fetch = t
	case stepGather:
		s.Gather = t
	case stepWire:
		s.Wire = t
	case stepLeft:
		s.Left = t
	case stepLand:
		s.Land = t
	case stepAck:
		s.Ack = t
	case stepCQE:
		s.CQE = t
	}
}
