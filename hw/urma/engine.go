package urma

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
)

// work is one SQE from its gather to its landing, or to its CQE if it asks for one.
//
//	doorbell ~> fetch ~> engine -> gather -> wire -> Left
//	                                              \~> land [ -> ack ~> CQE ]
//
// A READ sends a request that has no payload; the peer's memory is sampled when it is
// there, and what comes back is stored in the local ranges:
//
//	gather -> request ~> peer's memory -> wire ~> back [ ~> CQE ]
type work struct {
	q     *Queue
	next  *work // of those that wait for the flow
	step  *record
	dst   memory.Addr
	data  memory.Data
	into  []memory.Addr // of a READ: its SGEs
	got   []memory.Data // and what they get
	id    uint32
	seq   uint32 // of the first WQEBB
	bytes uint32
	op    uint8
	flags uint8
	bad   uint8 // status
	parts uint8 // of two that are over: leaving, and landing
	frags [MaxSGEs]memory.Frag
}

// Events of a NIC: the kind in the low bits, then the peer of a queue, with the head
// that a doorbell publishes above it, or the number of a work.
const (
	evSeen    = iota // a doorbell has come
	evFetched        // an SQE has been read
	evGather         // the engine is through with it
	evWire           // its first byte leaves
	evLeft           // its last byte has left
	evLanded         // its last byte is there
	evCQE            // its CQE can be read
	evOpen           // the gap behind the last SQE of a queue is over
	evReply          // the first byte that a READ asks for leaves the peer
	evBack           // the last one is here
	evAcked          // the acknowledgement of a WRITE without a CQE is here

	evBits   = 4
	peerBits = 20
)

// Handle implements engine.Handler.
func (n *NIC) Handle(arg uint64) {
	kind, i := arg%(1<<evBits), arg>>evBits
	switch kind {
	case evSeen, evFetched, evGather, evOpen:
		n.advance(kind, n.queues[i%(1<<peerBits)], i>>peerBits)
	case evWire:
		n.offer(n.works[i])
	case evLeft:
		n.left(n.works[i])
	case evLanded:
		n.land(n.works[i])
	case evCQE:
		n.complete(n.works[i])
	case evReply:
		n.reply(n.works[i])
	case evBack:
		n.back(n.works[i])
	case evAcked:
		n.retired(n.works[i])
		n.passed(n.works[i])
	}
	n.eng.Progress()
}

// advance takes the next SQE of a queue one stage further.
func (n *NIC) advance(kind uint64, q *Queue, head uint64) {
	switch kind {
	case evSeen:
		q.seen = head
		n.fetch(q)
	case evFetched:
		e := &n.engines[int(q.peer)%len(n.engines)]
		begin, end, _ := e.Reserve(n.eng.Now(), n.spec.Engine.WQE, q.peer)
		n.eng.Through(begin, n.why(cause.EngineQ, q))
		n.eng.Because(n.why(cause.Engine, q))
		n.eng.At(end, n, uint64(q.peer)<<evBits|evGather)
	case evGather:
		q.ready++
		n.gather(q)
	case evOpen:
		q.closed = false
		n.drain(q)
	}
}

// ring lets the engine see the head of a queue.
func (n *NIC) ring(q *Queue) {
	arg := q.head<<peerBits | uint64(q.peer)
	n.eng.Because(n.why(cause.DoorbellWire, q))
	n.eng.After(n.spec.Doorbell.Latency, n, arg<<evBits+evSeen)
}

// fetch starts to read SQEs while the queue may. They come back in order.
func (n *NIC) fetch(q *Queue) {
	for q.fetched < q.seen && int(q.fetching) < n.spec.Fetch.InFlight {
		if s := q.watch.find(q.fetched); s != nil {
			s.Fetch = n.eng.Now()
		}
		q.fetched += uint64(q.bbs(q.fetched))
		q.fetching++
		n.eng.Because(n.why(cause.Fetch, q))
		n.eng.After(n.spec.Fetch.Latency, n, uint64(q.peer)<<evBits|evFetched)
	}
}

// gather samples the rows of the SQEs whose turn it is. A queue has a bounded
// number of SQEs between their gather and the moment at which they have left, or at
// which what a READ asks for is here.
func (n *NIC) gather(q *Queue) {
	now := n.eng.Now()
	for q.ready > 0 && int(q.wire) < n.ahead(q) {
		q.ready--
		q.fetching--
		q.wire++
		w := n.take(q)
		start := n.start(w)
		q.free = start
		if w.step = q.watch.find(q.gathered); w.step != nil {
			w.step.Gather = now
		}
		q.gathered += uint64(q.bbs(q.gathered))
		n.schedule(start, evWire, w)
		n.fetch(q)
	}
}

// ahead returns how many SQEs of a queue can be on their way at once.
func (n *NIC) ahead(q *Queue) int {
	if q.reads {
		return max(n.spec.Reads, 1)
	}
	return n.spec.Fetch.InFlight
}

// start returns when the first byte of w can leave: of a WRITE behind its gather, of a
// READ, which has nothing to gather, at once.
func (n *NIC) start(w *work) engine.Time {
	if w.op == OpRead {
		n.aim(w)
		return max(n.eng.Now(), w.q.free)
	}
	first := n.eng.Now().Add(n.spec.Gather)
	read := n.supplied(w, n.sample(w), n.rank, int(w.q.peer))
	n.eng.Through(first, n.why(cause.Gather, w.q))
	n.eng.Through(read, cause.HBM.Why(n.rank, 0))
	n.eng.Because(n.why(cause.Order, w.q))
	return max(first, read, w.q.free)
}

// supplied returns when w can leave so that memory, which has given all of its rows at
// read, does not fall behind the wire.
func (n *NIC) supplied(w *work, read engine.Time, src, dst int) engine.Time {
	if read <= n.eng.Now().Add(n.spec.Gather) {
		return n.eng.Now()
	}
	return read.Add(-n.net.Pair(src, dst).Span(engine.Bytes(w.bytes)))
}

// decode reads the next SQE of a queue from ring memory into n.sqe. The engine has
// fetched it already, but nobody may overwrite it before it completes.
func (n *NIC) decode(q *Queue) *SQE {
	s := &n.sqe
	if err := s.Decode(q.read(q.gathered)); err != nil {
		panic(err) // only Post writes the ring
	}
	if s.Owner != q.owner(q.gathered) || s.Seq != uint32(q.gathered) {
		panic(fmt.Sprintf("urma: WQEBB %d holds what was written as %d, owner bit %t", q.gathered, s.Seq, s.Owner))
	}
	return s
}

// take makes a work of the next SQE of a queue.
func (n *NIC) take(q *Queue) *work {
	if len(n.unused) == 0 {
		block := make([]work, 8)
		for i := range block {
			w := &block[i]
			w.id, w.data.Frags = uint32(len(n.works)), w.frags[:0]
			n.works, n.unused = append(n.works, w), append(n.unused, w)
		}
	}
	w := n.unused[len(n.unused)-1]
	n.unused = n.unused[:len(n.unused)-1]
	s := n.decode(q)
	w.q, w.seq, w.bytes, w.op, w.flags = q, s.Seq, s.Length, s.Op, s.Flags
	w.bad, w.parts = StatusOK, 0
	return w
}

// passed frees a work that has both left and landed.
func (n *NIC) passed(w *work) {
	if w.parts++; w.parts == 2 {
		w.q.watch.over(w.step)
		w.q, w.step = nil, nil
		n.unused = append(n.unused, w)
	}
}

// why names a queue as what time is spent on.
func (n *NIC) why(k cause.Kind, q *Queue) engine.Why { return k.Why(n.rank, int(q.peer)) }

func (n *NIC) schedule(t engine.Time, ev uint64, w *work) {
	n.eng.At(t, n, uint64(w.id)<<evBits|ev)
}

// nicOwner is who a NIC's memory accesses are accounted to.
const nicOwner = 1 << 31

// sample captures what the SGEs of n.sqe name now, charges the memory for it and
// returns when all of it has been read.
func (n *NIC) sample(w *work) engine.Time {
	w.data.Reset()
	read := n.eng.Now()
	if !n.remote(w) {
		return read
	}
	for i := range n.sqe.SGEs {
		a, ok := n.local(w, &n.sqe.SGEs[i])
		if !ok {
			return read
		}
		size := int64(n.sqe.SGEs[i].Len)
		n.mem.Capture(&w.data, a, size)
		read = max(read, n.mem.Read(a, size, nicOwner).End)
	}
	return read
}

// remote finds what n.sqe names at the peer, which must be in a window.
func (n *NIC) remote(w *work) bool {
	a, ok := n.mem.Resolve(n.sqe.Remote, int64(w.bytes))
	if w.dst = a; !ok || a.Rank != int(w.q.peer) || !n.mem.Buffer(a.Buf).Window {
		w.bad = StatusAccess
	}
	return w.bad == StatusOK
}

// local finds what an SGE names.
func (n *NIC) local(w *work, g *SGE) (a memory.Addr, ok bool) {
	a, ok = n.mem.Resolve(g.Addr, int64(g.Len))
	if ok = ok && a.Rank == n.rank; !ok {
		w.bad = StatusAccess
	}
	return a, ok
}

// aim notes where what n.sqe, a READ, asks for is to go.
func (n *NIC) aim(w *work) {
	w.into = w.into[:0]
	if !n.remote(w) {
		return
	}
	for i := range n.sqe.SGEs {
		a, ok := n.local(w, &n.sqe.SGEs[i])
		if !ok {
			return
		}
		w.into = append(w.into, a)
		if len(w.got) < len(w.into) {
			w.got = append(w.got, memory.Data{})
		}
		w.got[i].Reset()
		w.got[i].Len = int64(n.sqe.SGEs[i].Len) // to come
	}
}

// offer sends an SQE as soon as the queue's flow has been idle for the gap behind the
// one before it.
func (n *NIC) offer(w *work) {
	q := w.q
	if q.waiting == nil {
		q.waiting = w
	} else {
		q.latest.next = w
	}
	q.latest = w
	n.drain(q)
}

func (n *NIC) drain(q *Queue) {
	for q.waiting != nil && !q.closed && n.opens(q) {
		w := q.waiting
		q.waiting, w.next = w.next, nil
		q.closed = n.spec.Gap > 0
		n.send(w)
	}
}

// opens reports whether the window of a queue lets the next WRITE go, and counts it then.
func (n *NIC) opens(q *Queue) bool {
	if n.spec.Window == 0 || q.waiting.op == OpRead {
		return true
	}
	size := int64(q.waiting.bytes)
	if q.away > 0 && q.away+size > int64(n.spec.Window) {
		return false
	}
	q.away += size
	return true
}

// retired lets the window of a queue go on by a WRITE that is over: its CQE is written, or
// its acknowledgement here.
func (n *NIC) retired(w *work) {
	if n.spec.Window > 0 && w.op != OpRead {
		w.q.away -= int64(w.bytes)
		n.drain(w.q)
	}
}

// send gives the gathered rows to the fabric as one message. Of a bad SQE only its
// turn goes there and back, so that it cannot complete before what came before it.
func (n *NIC) send(w *work) {
	now := n.eng.Now()
	if w.step != nil {
		w.step.Wire = now
	}
	if w.q.dead {
		w.bad = StatusTimeout
		n.schedule(now, evLeft, w)
		n.eng.Because(n.why(cause.Timeout, w.q))
		n.schedule(now.Add(n.spec.Timeout), evLanded, w)
		return
	}
	size := engine.Bytes(w.bytes)
	if w.bad != StatusOK || w.op == OpRead {
		size = 0
	}
	n.net.Send(fabric.Message{
		Src: n.rank, Dst: int(w.q.peer), Bytes: size, Flow: w.q.flow,
		Landed: n, LandedArg: uint64(w.id)<<evBits | evLanded, Left: n, LeftArg: uint64(w.id)<<evBits | evLeft,
	})
}

// left makes room for the next SQE of the queue.
func (n *NIC) left(w *work) {
	q := w.q
	if w.op != OpRead {
		q.wire--
	}
	if w.step != nil {
		w.step.Left = n.eng.Now()
	}
	if q.closed {
		n.eng.Because(n.why(cause.Gap, q))
		n.eng.After(n.spec.Gap, n, uint64(q.peer)<<evBits|evOpen)
	}
	n.passed(w)
	n.gather(q)
}

// land stores the rows at the peer. The flow is ordered, and so is the peer's memory,
// so when the last WRITE of a send is there, all earlier ones are.
func (n *NIC) land(w *work) {
	now, q := n.eng.Now(), w.q
	if w.op == OpRead {
		n.serve(w)
		return
	}
	done := now
	if w.bad == StatusOK {
		n.mem.Land(w.dst, &w.data)
		done = n.written(w, n.mem.Write(w.dst, int64(w.bytes), nicOwner))
		q.bytes += int64(w.bytes)
		n.eng.Through(done, cause.HBM.Why(int(q.peer), 0))
	}
	if w.bad != StatusTimeout && w.flags&CompletionOn != 0 { // a timeout is what there is without an acknowledgement
		done = done.Add(n.net.Latency(int(q.peer), n.rank))
	}
	n.arrived(w, done)
}

// lastStored is how many bytes are stored behind the last one's arrival: as many as the
// fabric moves in a turn, so that a store may wait for a turn to be complete (est).
const lastStored = 16 << 10

// written returns when the last byte of w, whose write has been charged as arriving now, is
// in memory: the bytes before it came while the wire carried it, and were stored then,
// unless memory is slower than the wire.
func (n *NIC) written(w *work, a memory.Access) engine.Time {
	last := min(w.bytes, lastStored)
	tail := engine.Duration(int64(a.End.Sub(a.Begin)) * int64(last) / int64(w.bytes))
	return max(n.eng.Now().Add(tail), a.End.Add(-n.net.Pair(n.rank, int(w.q.peer)).Span(engine.Bytes(w.bytes))))
}

// arrived ends an SQE whose bytes are at their place, which this rank knows at done.
func (n *NIC) arrived(w *work, done engine.Time) {
	q := w.q
	q.failed = max(q.failed, w.bad)
	if w.step != nil {
		w.step.Land = n.eng.Now()
	}
	if w.flags&CompletionOn == 0 {
		if n.spec.Window == 0 || w.op == OpRead {
			n.passed(w)
			return
		}
		n.eng.Because(n.why(cause.Ack, q))
		n.schedule(done.Add(n.net.Latency(int(q.peer), n.rank)), evAcked, w)
		return
	}
	if w.step != nil {
		w.step.Ack = done
	}
	n.eng.Through(done, n.why(cause.Ack, q))
	n.eng.Because(n.why(cause.CQE, q))
	n.schedule(done.Add(n.spec.CQE.Visible), evCQE, w)
}

// complete writes the CQE and wakes who polls.
func (n *NIC) complete(w *work) {
	q := w.q
	c := CQE{Owner: q.cqOwner(q.cqHead), Status: q.failed, Op: w.op, Seq: w.seq, Bytes: w.bytes}
	if f := n.fault("cqe_status", int(q.peer), int(q.cqHead)); f != nil {
		c.Status = max(f.Status, 1)
	}
	q.cqHead++
	r := q.ring
	r.cq = append(r.cq, make([]byte, CQESize)...)
	c.Encode(r.cq[len(r.cq)-CQESize:])
	if w.step != nil {
		w.step.CQE = n.eng.Now()
	}
	if h := q.waiter; h != nil {
		q.waiter = nil
		n.eng.At(n.eng.Now(), h, q.arg)
	}
	n.retired(w)
	n.passed(w)
}
