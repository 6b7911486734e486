package urma

import (
	"slices"

	"pldperf/hw/timeline"
)

// Show makes the queues appear in a timeline; call it before the first use of any.
func (n *NIC) Show(line *timeline.Recorder) { n.line = line }

// show makes a new queue appear.
func (n *NIC) show(q *Queue) {
	line := n.line.Queue(n.rank, int(q.peer))
	if line == nil {
		return
	}
	if q.watch == nil {
		q.watch = new(watch)
	}
	q.watch.line = line
}

// depth shows how many WQEBBs of the queue have not completed.
func (w *watch) depth(q *Queue) {
	if w != nil {
		w.line.Depth(q.nic.eng.Now(), int64(q.head-q.tail))
	}
}

// over shows an SQE that has left and landed, and forgets it unless it is a chosen one.
func (w *watch) over(s *record) {
	if w == nil || w.line == nil || s == nil {
		return
	}
	w.line.Over(s.life())
	if w.picked(s.Seq) {
		w.kept = append(w.kept, s)
	}
	i := slices.Index(w.steps, s)
	if i < w.unrung {
		w.unrung--
	}
	if i == 0 { // as a rule: they end in order
		w.steps = w.steps[1:]
	} else {
		w.steps = slices.Delete(w.steps, i, i+1)
	}
}

func (s *record) life() *timeline.SQE {
	return &timeline.SQE{
		Seq: s.Seq, Bytes: s.Bytes, SGEs: s.SGEs, Read: s.read,
		Fetch: s.Fetch, Gather: s.Gather, Wire: s.Wire, Left: s.Left, Land: s.Land, Ack: s.Ack, Done: s.CQE,
	}
}

// Cut shows, at the end of a run, what is still under way as far as it has come.
func (n *NIC) Cut() {
	for _, q := range n.queues {
		for q != nil && q.watch != nil && q.watch.line != nil && len(q.watch.steps) > 0 {
			q.watch.over(q.watch.steps[0])
		}
	}
}
