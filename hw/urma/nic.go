package urma

import (
	"errors"
	"fmt"

	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
	"pldperf/hw/timeline"
)

// NIC is the engine of one rank with its queues.
type NIC struct {
	eng     *engine.Engine
	spec    Spec
	mem     *memory.Space
	net     fabric.Fabric
	rank    int
	watches map[int]*watch // asked for, by peer; never ranged over
	queues  []*Queue       // by peer, made at first touch
	engines []engine.Server
	works   []*work
	unused  []*work
	rings   []*ring
	pages   []*page
	sqe     SQE           // being decoded
	wqe     [SQESize]byte // being encoded, or read from two pages
	faults  []Fault
	turns   []turn // who waits for a queue
	line    *timeline.Recorder
}

// turn is somebody who waits for the queue to a peer.
type turn struct {
	peer uint32
	h    engine.Handler
	arg  uint64
}

// pass wakes who waits for the queue to a peer.
func (n *NIC) pass(peer uint32) {
	for i, t := range n.turns {
		if t.peer == peer {
			n.turns = append(n.turns[:i], n.turns[i+1:]...)
			n.eng.At(n.eng.Now(), t.h, t.arg)
			return
		}
	}
}

// Fault is a failure to inject into the queue of rank Src to rank Dst.
type Fault struct {
	// Kind is cqe_status, which completes with Status (1, if it is 0), or dead_link,
	// on which nothing arrives and everything completes with StatusTimeout.
	Kind     string
	Src, Dst int
	Nth      int // cqe_status: which CQE of the queue, from 0
	Status   uint8
}

// New makes the NIC of a rank; faults of other ranks are not its own. It fails when
// the spec or a fault is wrong. A spec without a depth is that of a machine whose
// AIVs have no queues.
func New(eng *engine.Engine, spec Spec, mem *memory.Space, net fabric.Fabric, rank int, faults []Fault) (*NIC, error) {
	n := &NIC{eng: eng, spec: spec.normal(), mem: mem, net: net, rank: rank}
	n.engines = make([]engine.Server, max(spec.Engine.Count, 1))
	var errs []error
	if spec.Depth != 0 {
		errs = spec.problems()
	}
	for _, f := range faults {
		if f.Kind != "cqe_status" && f.Kind != "dead_link" {
			errs = append(errs, fmt.Errorf("fault: no kind %q; there are cqe_status and dead_link", f.Kind))
		}
		if f.Src == rank {
			n.faults = append(n.faults, f)
		}
	}
	return n, errors.Join(errs...)
}

// problems is what a spec that did not come from a checked file may have.
func (s *Spec) problems() (errs []error) {
	report := func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("urma."+path+": "+format, args...))
	}
	s.Check(report)
	if s.Depth < SQEBBs || s.CQDepth < 1 || s.MaxSGEs < 1 || s.MaxSGEs > MaxSGEs || s.Fetch.InFlight < 1 {
		report("depth", "depth %d, cq_depth %d, max_sges %d and fetch.in_flight %d make no queue", s.Depth, s.CQDepth, s.MaxSGEs, s.Fetch.InFlight)
	}
	return errs
}

// Queue returns the queue to a peer. There is none to the own rank (S-79): Queue
// panics.
func (n *NIC) Queue(peer int) *Queue {
	if n.queues == nil {
		n.queues, n.sqe.SGEs = make([]*Queue, n.mem.Ranks()), make([]SGE, 0, MaxSGEs)
	}
	q := n.queues[peer]
	if q == nil {
		if peer == n.rank {
			panic("urma: no loopback queue")
		}
		q = &Queue{nic: n, peer: uint32(peer), flow: n.net.Open(n.rank, peer)}
		q.dead = n.fault("dead_link", peer, 0) != nil
		q.watch = n.watches[peer]
		n.show(q)
		n.queues[peer] = q
	}
	return q
}

// Counters sums up the queues.
func (n *NIC) Counters() (sum Counters) {
	for _, q := range n.queues {
		if q == nil {
			continue
		}
		c := q.Counters()
		sum.SQEs += c.SQEs
		sum.SGEs += c.SGEs
		sum.WQEBBs += c.WQEBBs
		sum.NOPs += c.NOPs
		sum.Doorbells += c.Doorbells
		sum.CQEs += c.CQEs
		sum.Sends += c.Sends
		sum.Bytes += c.Bytes
	}
	return sum
}

// Peak returns the most WQEBBs that any queue of the rank has held at once.
func (n *NIC) Peak() (p int64) {
	for _, q := range n.queues {
		if q != nil {
			p = max(p, int64(q.peak))
		}
	}
	return p
}

// Busy returns how long the engines have been busy, together.
func (n *NIC) Busy() (d engine.Duration) {
	for i := range n.engines {
		d += n.engines[i].Busy()
	}
	return d
}

func (n *NIC) fault(kind string, peer, nth int) *Fault {
	for i := range n.faults {
		if f := &n.faults[i]; f.Kind == kind && f.Dst == peer && (kind == "dead_link" || f.Nth == nth) {
			return f
		}
	}
	return nil
}
