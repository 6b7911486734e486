package urma

import (
	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
)

// NIC is the engine of one rank with its queues.
//
//	doorbell -> fetch SQE -> engine -> gather rows -> wire -> land -> ack -> CQE
type NIC struct {
	eng     *engine.Engine
	spec    Spec
	mem     *memory.Space
	net     fabric.Fabric
	rank    int
	queues  map[int]*Queue // by peer, made at first touch; never ranged over
	order   []*Queue       // in order of first touch
	engines []engine.Server
	works   []work
	unused  []uint32
	pages   []*page
	faults  []Fault
}

// work is one SQE from its fetch to its landing.
type work struct {
	q     *Queue
	seq   uint64
	sqe   SQE
	sges  [MaxSGEs]SGE
	dst   memory.Addr
	data  memory.Data
	ends  engine.Time
	bad   uint8
	step  *Step
	stage uint8
}

// Fault is a failure to inject.
type Fault struct {
	Kind     string // cqe_status or dead_link
	Src, Dst int
	Nth      int // cqe_status: which CQE of the queue
	Status   uint8
}

// Events of a NIC: the kind in the low bits, then a peer or a work number.
const (
	evSeen = iota
	evFetched
	evGather
	evWire
	evLeft
	evLanded
	evCQE
	evBits = 3
)

// New makes the NIC of a rank.
func New(eng *engine.Engine, spec Spec, mem *memory.Space, net fabric.Fabric, rank int, faults []Fault) (*NIC, error) {
	n := &NIC{eng: eng, spec: spec.normal(), mem: mem, net: net, rank: rank, queues: map[int]*Queue{}}
	n.engines = make([]engine.Server, max(spec.Engine.Count, 1))
	for _, f := range faults {
		if f.Src == rank {
			n.faults = append(n.faults, f)
		}
	}
	return n, nil
}

// Queue returns the queue to a peer. There is none to the own rank (S-79).
func (n *NIC) Queue(peer int) *Queue {
	q := n.queues[peer]
	if q == nil {
		if peer == n.rank {
			panic("urma: no loopback queue")
		}
		q = &Queue{nic: n, peer: peer, flow: n.net.Open(n.rank, peer)}
		q.dead = n.fault("dead_link", peer, 0) != nil
		n.queues[peer] = q
		n.order = append(n.order, q)
	}
	return q
}

// Counters sums up the queues.
func (n *NIC) Counters() (c Counters) {
	for _, q := range n.order {
		c.SQEs += q.count.SQEs
		c.SGEs += q.count.SGEs
		c.WQEBBs += q.count.WQEBBs
		c.NOPs += q.count.NOPs
		c.Doorbells += q.count.Doorbells
		c.CQEs += q.count.CQEs
		c.Sends += q.count.Sends
		c.Bytes += q.count.Bytes
	}
	return c
}

// Peak returns the most WQEBBs that any queue of the rank has held at once.
func (n *NIC) Peak() (p int64) {
	for _, q := range n.order {
		p = max(p, int64(q.peak))
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

func (n *NIC) page() *page {
	if k := len(n.pages); k > 0 {
		p := n.pages[k-1]
		n.pages = n.pages[:k-1]
		return p
	}
	return new(page)
}

func (n *NIC) after(d engine.Duration, ev uint64, id uint32) {
	n.eng.After(d, n, uint64(id)<<evBits|ev)
}

// Handle implements engine.Handler.
func (n *NIC) Handle(arg uint64) {
	id := uint32(arg >> evBits)
	switch arg & (1<<evBits - 1) {
	case evSeen:
		q := n.queues[int(id)]
		q.seen = q.bells[0]
		q.bells = q.bells[:copy(q.bells, q.bells[1:])]
		n.fetch(q)
	case evFetched:
		n.decode(id)
	case evGather:
		q := n.works[id].q
		q.ready = append(q.ready, id)
		n.gather(q)
	case evWire:
		n.send(id)
	case evLeft:
		q := n.works[id].q
		q.wire--
		n.works[id].step.at(stepLeft, n.eng.Now())
		n.passed(id)
		n.gather(q)
	case evLanded:
		n.land(id)
	case evCQE:
		n.complete(id)
	}
	n.eng.Progress()
}

// fetch starts reading SQEs while the queue may.
func (n *NIC) fetch(q *Queue) {
	for q.fetched < q.seen && q.loading < n.spec.Fetch.InFlight {
		id := n.take()
		w := &n.works[id]
		w.q, w.seq, w.bad, w.stage = q, q.fetched, 0, 0
		q.fetched += SQEBBs
		q.loading++
		w.step = q.watch.find(w.seq)
		w.step.at(stepFetch, n.eng.Now())
		n.after(n.spec.Fetch.Latency, evFetched, id)
	}
}

func (n *NIC) take() uint32 {
	if k := len(n.unused); k > 0 {
		id := n.unused[k-1]
		n.unused = n.unused[:k-1]
		return id
	}
	n.works = append(n.works, work{})
	return uint32(len(n.works) - 1)
}

// decode reads the SQE from ring memory and takes its turn at the engine.
func (n *NIC) decode(id uint32) {
	w := &n.works[id]
	w.sqe.SGEs = w.sges[:0]
	if err := w.sqe.Decode(w.q.slot(w.seq)); err != nil {
		panic(err) // only Post writes the ring
	}
	e := &n.engines[w.q.peer%len(n.engines)]
	_, end, _ := e.Reserve(n.eng.Now(), n.spec.Engine.WQE, uint32(w.q.peer))
	n.eng.At(end, n, uint64(id)<<evBits|evGather)
}

// gather samples the rows of the SQEs whose turn it is. A queue has a bounded
// number of SQEs between their gather and the moment at which they have left.
func (n *NIC) gather(q *Queue) {
	for len(q.ready) > 0 && q.wire < n.spec.Fetch.InFlight {
		id := q.ready[0]
		q.ready = q.ready[:copy(q.ready, q.ready[1:])]
		q.wire++
		q.loading--
		n.sample(&n.works[id])
		w := &n.works[id]
		start := max(n.eng.Now().Add(n.spec.Gather), w.ends, q.free)
		q.free = start.Add(n.spec.Gap)
		w.step.at(stepGather, n.eng.Now())
		n.eng.At(start, n, uint64(id)<<evBits|evWire)
		n.fetch(q)
	}
}

// sample captures what the SGEs name now and charges the memory for it.
func (n *NIC) sample(w *work) {
	w.data.Reset()
	w.ends = n.eng.Now()
	var ok bool
	if w.dst, ok = n.mem.Resolve(w.sqe.Remote, int64(w.sqe.Length)); !ok || w.dst.Rank != w.q.peer {
		w.bad = StatusAccess
		return
	}
	for i := range w.sqe.SGEs {
		g := &w.sqe.SGEs[i]
		a, ok := n.mem.Resolve(g.Addr, int64(g.Len))
		if !ok || a.Rank != n.rank {
			w.bad = StatusAccess
			return
		}
		n.mem.Capture(&w.data, a, int64(g.Len))
		w.ends = max(w.ends, n.mem.Read(a, int64(g.Len), nicOwner).End)
	}
}

// nicOwner is who a NIC's memory accesses are accounted to.
const nicOwner = 1 << 31

// send gives the gathered rows to the fabric as one message.
func (n *NIC) send(id uint32) {
	w := &n.works[id]
	w.step.at(stepWire, n.eng.Now())
	if w.q.dead && w.bad == 0 {
		w.bad = StatusTimeout
	}
	if w.bad != 0 { // nothing leaves; the completion says why
		n.after(0, evLeft, id)
		d := engine.Duration(0)
		if w.bad == StatusTimeout {
			d = n.spec.Timeout
		}
		n.after(d, evLanded, id)
		return
	}
	n.net.Send(fabric.Message{
		Src: n.rank, Dst: w.q.peer, Bytes: engine.Bytes(w.sqe.Length), Flow: w.q.flow,
		Landed: n, LandedArg: uint64(id)<<evBits | evLanded, Left: n, LeftArg: uint64(id)<<evBits | evLeft,
	})
}

// land stores the rows at the peer. The flow is ordered, so when the last WRITE of
// a send lands, all earlier ones have.
func (n *NIC) land(id uint32) {
	w := &n.works[id]
	now := n.eng.Now()
	w.step.at(stepLand, now)
	done := now
	if w.bad == 0 {
		n.mem.Land(w.dst, &w.data)
		done = max(now, n.mem.Write(w.dst, int64(w.sqe.Length), nicOwner).End)
		w.q.count.Bytes += int64(w.sqe.Length)
	} else {
		w.q.failed = max(w.q.failed, w.bad)
	}
	if w.sqe.Flags&CompletionOn == 0 {
		n.passed(id)
		return
	}
	ack := done.Add(n.net.Latency(w.q.peer, n.rank))
	w.step.at(stepAck, ack)
	n.eng.At(ack.Add(n.spec.CQE.Visible), n, uint64(id)<<evBits|evCQE)
}

// complete writes the CQE and wakes who polls.
func (n *NIC) complete(id uint32) {
	w := &n.works[id]
	q := w.q
	w.step.at(stepCQE, n.eng.Now())
	c := CQE{
		Owner:  (q.cqHead+uint64(len(q.cq)/CQESize))&uint64(n.spec.CQDepth) == 0,
		Status: max(w.bad, q.failed), Op: w.sqe.Op, Seq: w.sqe.Seq, Bytes: w.sqe.Length,
	}
	if f := n.fault("cqe_status", q.peer, int(q.count.CQEs)); f != nil {
		c.Status = max(f.Status, 1)
	}
	q.count.CQEs++
	q.cq = append(q.cq, make([]byte, CQESize)...)
	c.Encode(q.cq[len(q.cq)-CQESize:])
	if h := q.waiter; h != nil {
		q.waiter = nil
		n.eng.At(n.eng.Now(), h, q.arg)
	}
	n.passed(id)
}

// passed frees a work when it has both left and landed (or completed).
func (n *NIC) passed(id uint32) {
	w := &n.works[id]
	if w.stage++; w.stage == 2 {
		w.q, w.step = nil, nil
		n.unused = append(n.unused, id)
	}
}
