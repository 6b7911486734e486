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
	Bytes                                     int64 // landed at the peer, or read there
}

// ConflictError is a second writer on a queue (S-51, S-89). Holder is 0 when nobody
// has an open exchange.
type ConflictError struct {
	Rank, Peer     int
	Holder, Writer uint32
}

func (e *ConflictError) Error() string {
	if e.Holder == 0 {
		return fmt.Sprintf("AIV %d submits to the queue of rank %d to rank %d without an open exchange", e.Writer, e.Rank, e.Peer)
	}
	return fmt.Sprintf("two writers on the queue of rank %d to rank %d: AIV %d has an open exchange, AIV %d wants to submit", e.Rank, e.Peer, e.Holder, e.Writer)
}

// CapacityError is a send that does not fit in its queue (S-66). Need and Depth are
// WQEBBs.
type CapacityError struct{ Rank, Peer, Need, Depth int }

func (e *CapacityError) Error() string {
	return fmt.Sprintf("the send of rank %d to rank %d needs %d WQEBBs, but sqDepth is %d", e.Rank, e.Peer, e.Need, e.Depth)
}

// Queue is one send queue with its completion queue. The marks count WQEBBs since the
// beginning; a WQEBB lies in slot mark mod depth of the ring.
//
//	tail          gathered         fetched       seen          head
//	 | being moved | being fetched  | may be      | published,  |    head - tail <= depth
//	 | or waits    | or processed   | fetched     | or not yet  |
type Queue struct {
	nic      *NIC
	ring     *ring // nil when tail is head
	watch    *watch
	waiter   engine.Handler // to be woken by the next CQE
	arg      uint64
	back     *answers // nil until the first READ
	tail     uint64
	gathered uint64
	fetched  uint64
	seen     uint64
	head     uint64
	free     engine.Time // at which the last SQE so far was ready for the wire
	waiting  *work       // for the wire, the first of them
	latest   *work       // the last of them
	cqTail   uint32      // CQEs polled
	cqHead   uint32      // CQEs written
	wanted   uint32      // CQEs asked for
	ready    uint16      // SQEs that have passed the engine and wait for the wire
	fetching uint16      // SQEs being fetched, or fetched and not yet gathered
	sqes     uint32      // SQEs submitted
	wire     uint16      // SQEs between their gather and the moment at which they have left, or READs until their data is here
	peak     uint32
	peer     uint32
	flow     fabric.Flow
	holder   uint32 // 0 is nobody
	held     bool
	closed   bool // an SQE is on the wire, or was less than wqe_gap ago
	dead     bool
	reads    bool  // what is under way are READs
	failed   uint8 // worst status of an SQE; the queue stays in error
	nops     uint32
	bells    uint32
	sges     int64
	bytes    int64
	away     int64 // on their way and not acknowledged; counted where there is a window
	sends    int64
}

// answers is the way back of what READs bring.
type answers struct {
	flow fabric.Flow
	free engine.Time // at which the last one so far was ready for the wire
}

// Write asks for one WRITE of at most twelve ranges to a contiguous remote range, or,
// with Read, for one READ of a contiguous remote range into at most six.
type Write struct {
	Remote uint64 // device address
	SGEs   []SGE
	Last   bool // of the send: strong, fence and a CQE
	Read   bool
	Packed bool // take only the WQEBBs that the SGEs need, rather than always four (S-65)
}

// Claim opens an exchange: only writer may submit until it is released. The error is
// a *ConflictError.
func (q *Queue) Claim(writer uint32) error {
	if q.held {
		return q.conflict(writer)
	}
	q.held, q.holder = true, writer
	return nil
}

// Release closes the writer's exchange. It panics if writer has none.
func (q *Queue) Release(writer uint32) {
	if !q.held || q.holder != writer {
		panic("urma: released by who does not hold it")
	}
	q.held, q.holder = false, 0
	q.nic.pass(q.peer)
}

// Await wakes h when the exchange that is open now is closed; who has waited longest
// comes first. h then has to claim the queue, as another may have done.
func (q *Queue) Await(h engine.Handler, arg uint64) {
	q.nic.turns = append(q.nic.turns, turn{q.peer, h, arg})
}

// Held reports whether an exchange is open.
func (q *Queue) Held() bool { return q.held }

func (q *Queue) conflict(writer uint32) error {
	return &ConflictError{q.nic.rank, int(q.peer), q.holder, writer}
}

// Room asserts that a send of so many WQEBBs fits in the whole queue: at the start
// of a send the queue is empty, because every call waits for its last CQE. The error
// is a *CapacityError.
func (q *Queue) Room(wqebbs int) error {
	if wqebbs > q.nic.spec.Depth {
		return &CapacityError{q.nic.rank, int(q.peer), wqebbs, q.nic.spec.Depth}
	}
	return nil
}

// Post writes one SQE at the head of the ring. It fails, and writes nothing, when
// writer does not hold the queue (a *ConflictError), when the ring would overwrite
// what the engine has not finished or the CQ what nobody has read, when w is no legal
// request, and when a READ and a WRITE would be under way at once: their order at the
// two ends is not that of the queue.
func (q *Queue) Post(writer uint32, w Write) error {
	if !q.held || q.holder != writer {
		return q.conflict(writer)
	}
	length, err := q.check(&w)
	if err != nil {
		return err
	}
	s := SQE{
		Op: OpWrite, Flags: Relaxed, Owner: q.owner(q.head), Seq: uint32(q.head), Length: length,
		Remote: w.Remote, Jetty: q.peer, SGEs: w.SGEs,
	}
	s.Packed = w.Packed
	if w.Read {
		s.Op = OpRead
	}
	if w.Last {
		s.Flags = LastWrite
		q.wanted++
	}
	bbs := s.Encode(q.nic.wqe[:])
	q.write(q.nic.wqe[:bbs*WQEBB])
	q.watch.built(q, length, len(w.SGEs), w.Read)
	q.head += uint64(bbs)
	q.watch.depth(q)
	q.sqes++
	q.reads = w.Read
	q.peak = max(q.peak, uint32(q.head-q.tail))
	q.sges += int64(len(w.SGEs))
	q.nops += uint32(bbs - Used(len(w.SGEs)))
	return nil
}

// check returns the bytes of a WRITE that can be posted.
func (q *Queue) check(w *Write) (uint32, error) {
	spec := &q.nic.spec
	most, bytes := min(spec.MaxSGEs, MaxSGEs), int64(0)
	if w.Read {
		most = min(most, MaxReads)
	}
	for i := range w.SGEs {
		bytes += int64(w.SGEs[i].Len)
	}
	switch n := len(w.SGEs); {
	case n < 1 || n > most:
		return 0, fmt.Errorf("an SQE of %d SGEs, must be 1 to %d", n, most)
	case bytes > MaxBytes:
		return 0, fmt.Errorf("an SQE of %v, at most %v", engine.Bytes(bytes), engine.Bytes(MaxBytes))
	case q.tail != q.head && q.reads != w.Read:
		return 0, fmt.Errorf("rank %d has READs and WRITEs to rank %d under way at once", q.nic.rank, q.peer)
	case q.head+uint64(BBs(n, w.Packed))-q.tail > uint64(spec.Depth):
		return 0, fmt.Errorf("SQ ring of rank %d to rank %d corrupted: WQEBB %d overwrites one in use", q.nic.rank, q.peer, q.head%uint64(spec.Depth))
	case w.Last && q.wanted-q.cqTail >= uint32(spec.CQDepth):
		return 0, fmt.Errorf("CQ ring of rank %d to rank %d corrupted: CQE %d overwrites one in use", q.nic.rank, q.peer, q.wanted%uint32(spec.CQDepth))
	}
	return uint32(bytes), nil
}

// owner returns the owner bit of a WQEBB: set on even laps of the ring.
func (q *Queue) owner(seq uint64) bool { return seq&uint64(q.nic.spec.Depth) == 0 }

// cqOwner is owner for the completion ring.
func (q *Queue) cqOwner(seq uint32) bool { return seq&uint32(q.nic.spec.CQDepth) == 0 }

// Doorbell publishes the head; the engine sees it after the doorbell's latency. It
// panics unless writer holds the queue.
func (q *Queue) Doorbell(writer uint32) {
	if !q.held || q.holder != writer {
		panic(q.conflict(writer))
	}
	q.bells++
	q.watch.rung(q.nic.eng.Now())
	q.nic.ring(q)
}

// CountSend counts one non-empty send in submittedWqeCount (S-71).
func (q *Queue) CountSend() { q.sends++ }

// Completed reports whether a CQE can be read; if not, it wakes h when one can.
func (q *Queue) Completed(h engine.Handler, arg uint64) bool {
	if q.cqTail != q.cqHead {
		return true
	}
	if q.waiter != nil {
		panic("urma: two wait for one CQE")
	}
	q.waiter, q.arg = h, arg
	return false
}

// PollCQE reads the oldest CQE: valid when its owner bit is that of the ring's lap.
// It moves the CQ tail, and the SQ tail behind the SQE that completed.
func (q *Queue) PollCQE() (c CQE, ok bool) {
	if q.ring == nil || len(q.ring.cq) == 0 {
		return c, false
	}
	r := q.ring
	if err := c.Decode(r.cq); err != nil || c.Owner != q.cqOwner(q.cqTail) {
		panic(fmt.Sprintf("urma: CQE %d is not of this lap: %+v, %v", q.cqTail, c, err)) // only the engine writes it
	}
	r.cq = r.cq[:copy(r.cq, r.cq[CQESize:])]
	q.cqTail++
	last := q.tail + uint64(c.Seq-uint32(q.tail))
	q.retire(last + uint64(q.bbs(last)))
	return c, true
}

// Counters returns what the queue has done so far.
func (q *Queue) Counters() Counters {
	return Counters{
		SQEs: int64(q.sqes), SGEs: q.sges, WQEBBs: int64(q.head), NOPs: int64(q.nops),
		Doorbells: int64(q.bells), CQEs: int64(q.cqHead), Sends: q.sends, Bytes: q.bytes,
	}
}

// Head returns the WQEBBs submitted so far.
func (q *Queue) Head() uint64 { return q.head }

// Tail returns the WQEBBs whose completion has been seen.
func (q *Queue) Tail() uint64 { return q.tail }
