package urma

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/fabric"
)

// Counters are what a queue, or all queues of a NIC, have done.
type Counters struct {
	SQEs, SGEs, WQEBBs, NOPs, Doorbells, CQEs int64
	Sends                                     int64 // submittedWqeCount (S-71)
	Bytes                                     int64 // landed at the peer
}

// ConflictError is a second writer on a queue (S-51, S-89).
type ConflictError struct {
	Rank, Peer     int
	Holder, Writer uint32
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("two writers on the queue of rank %d to rank %d: AIV %d has an open exchange, AIV %d wants to submit", e.Rank, e.Peer, e.Holder, e.Writer)
}

// CapacityError is a send that does not fit in its queue (S-66).
type CapacityError struct{ Rank, Peer, Need, Depth int }

func (e *CapacityError) Error() string {
	return fmt.Sprintf("the send of rank %d to rank %d needs %d WQEBBs, but sqDepth is %d", e.Rank, e.Peer, e.Need, e.Depth)
}

// page is a piece of simulated ring memory.
type page [pageSQEs * SQESize]byte

// Queue is one send queue with its completion queue. head, tail and the rest count
// WQEBBs since the beginning; a WQEBB lies in slot head mod depth of the ring.
//
//	tail            fetched        seen        head
//	 | being moved    | may fetch    | built      |   head - tail <= depth
type Queue struct {
	nic     *NIC
	peer    int
	flow    fabric.Flow
	holder  uint32
	held    bool
	head    uint64
	tail    uint64
	fetched uint64
	seen    uint64
	first   uint64 // ring page number of pages[0]
	pages   []*page
	bells   []uint64 // heads published, not yet seen
	ready   []uint32 // gathered next, in order
	loading int      // SQEs being fetched or waiting for the wire
	wire    int      // SQEs that have not left
	free    engine.Time
	cq      []byte // CQEs that have not been polled
	cqHead  uint64
	waiter  engine.Handler
	arg     uint64
	count   Counters
	peak    uint64
	dead    bool
	failed  uint8 // worst status of an SQE without a CQE of its own
	watch   *watch
}

// Write asks for one WRITE of at most twelve ranges to a contiguous remote range.
type Write struct {
	Remote uint64 // device address
	SGEs   []SGE
	Last   bool // of the send: strong, fence and a CQE
}

// Claim opens an exchange: only writer may submit until it is released.
func (q *Queue) Claim(writer uint32) error {
	if q.held {
		return &ConflictError{q.nic.rank, q.peer, q.holder, writer}
	}
	q.held, q.holder = true, writer
	return nil
}

// Release closes the writer's exchange.
func (q *Queue) Release(writer uint32) {
	if !q.held || q.holder != writer {
		panic("urma: released by who does not hold it")
	}
	q.held = false
}

// Room asserts that a send of so many WQEBBs fits in the whole queue: at the start
// of a send the queue is empty, because every call waits for its last CQE.
func (q *Queue) Room(wqebbs int) error {
	if wqebbs > q.nic.spec.Depth {
		return &CapacityError{q.nic.rank, q.peer, wqebbs, q.nic.spec.Depth}
	}
	return nil
}

// Post writes one SQE at the head of the ring. It fails when writer does not hold
// the queue and when the ring would overwrite what the engine has not finished.
func (q *Queue) Post(writer uint32, w Write) error {
	if !q.held || q.holder != writer {
		return &ConflictError{q.nic.rank, q.peer, q.holder, writer}
	}
	depth := uint64(q.nic.spec.Depth)
	if q.head+SQEBBs-q.tail > depth {
		return fmt.Errorf("SQ ring of rank %d to rank %d corrupted: WQEBB %d overwrites one in use", q.nic.rank, q.peer, q.head%depth)
	}
	s := SQE{Op: OpWrite, Flags: Relaxed, Owner: q.head&depth == 0, Seq: uint32(q.head), Remote: w.Remote, Jetty: uint32(q.peer), SGEs: w.SGEs}
	if w.Last {
		s.Flags = LastWrite
	}
	for _, g := range w.SGEs {
		s.Length += g.Len
	}
	s.Encode(q.slot(q.head))
	if q.watch != nil {
		q.watch.built(q, &s)
	}
	q.head += SQEBBs
	q.peak = max(q.peak, q.head-q.tail)
	q.count.SQEs++
	q.count.SGEs += int64(len(w.SGEs))
	q.count.WQEBBs += SQEBBs
	q.count.NOPs += int64(SQEBBs - Used(len(w.SGEs)))
	return nil
}

// Doorbell publishes the head; the engine sees it after the doorbell's latency.
func (q *Queue) Doorbell(writer uint32) {
	q.count.Doorbells++
	q.bells = append(q.bells, q.head)
	if q.watch != nil {
		q.watch.rung(q)
	}
	q.nic.after(q.nic.spec.Doorbell.Latency, evSeen, uint32(q.peer))
}

// CountSend counts one non-empty send in submittedWqeCount.
func (q *Queue) CountSend() { q.count.Sends++ }

// Completed reports whether a CQE can be read; if not, it wakes h when one can.
func (q *Queue) Completed(h engine.Handler, arg uint64) bool {
	if len(q.cq) > 0 {
		return true
	}
	q.waiter, q.arg = h, arg
	return false
}

// PollCQE reads the oldest CQE: valid when its owner bit is that of the ring's lap.
// It moves the CQ tail, and the SQ tail behind the SQE that completed.
func (q *Queue) PollCQE() (CQE, bool) {
	var c CQE
	if len(q.cq) == 0 {
		return c, false
	}
	if err := c.Decode(q.cq); err != nil || c.Owner != (q.cqHead&uint64(q.nic.spec.CQDepth) == 0) {
		return c, false
	}
	q.cq = q.cq[:copy(q.cq, q.cq[CQESize:])]
	q.cqHead++
	q.retire(q.tail + uint64(c.Seq+SQEBBs-uint32(q.tail)))
	return c, true
}

// Counters, Head, Tail and Peak describe the queue.
func (q *Queue) Counters() Counters { return q.count }

// Head returns the WQEBBs submitted so far.
func (q *Queue) Head() uint64 { return q.head }

// Tail returns the WQEBBs whose completion has been seen.
func (q *Queue) Tail() uint64 { return q.tail }

// slot returns the ring memory of the SQE at WQEBB seq. Pages exist from the tail
// to the head only.
func (q *Queue) slot(seq uint64) []byte {
	n := seq / (pageSQEs * SQEBBs)
	if len(q.pages) == 0 {
		q.first = n
	}
	for n-q.first >= uint64(len(q.pages)) {
		q.pages = append(q.pages, q.nic.page())
	}
	off := seq % (pageSQEs * SQEBBs) * WQEBB
	return q.pages[n-q.first][off : off+SQESize]
}

// retire moves the tail and gives back the pages behind it.
func (q *Queue) retire(tail uint64) {
	q.tail = tail
	n := int(min(tail/(pageSQEs*SQEBBs)-q.first, uint64(len(q.pages))))
	q.nic.pages = append(q.nic.pages, q.pages[:n]...)
	q.pages = q.pages[:copy(q.pages, q.pages[n:])]
	q.first += uint64(n)
	if q.tail == q.head {
		q.nic.pages = append(q.nic.pages, q.pages...)
		q.pages, q.bells, q.ready, q.cq = nil, nil, nil, nil
	}
}
