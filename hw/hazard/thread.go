package hazard

import (
	"pldperf/hw/program"
)

// Thread follows one AIV, or the caller of a task on a rank.
type Thread struct {
	c           *Checker
	who         int32
	task        int
	rank, block int
	program     *program.Program
	clock       clock
	slot        slot
	lane        [sorts]uint32 // of the slot's, those that the thread has used
	pc          int           // of the op that is being executed
	seq         uint32        // ops begun
	open        bool          // one has begun and is not over
	sends       []send        // whose CQEs have not been read, in order
	rounds      []round
}

// send is something that the NIC does for a block.
type send struct {
	peer  int
	count uint32
	over  bool
}

// round is when a block has last notified anybody with a signal.
type round struct {
	signal program.Buf
	seq    uint32
}

// Places that are no op of a program.
const (
	produces = 1<<24 + iota // fresh content before a task
	awaits                  // the deferred wait of a task
	computes                // a computation reads what it consumes
	consumes                // the caller has the result of a task
)

// thread starts to follow somebody who knows what start knows, which becomes its own.
func (c *Checker) thread(w who, start clock) *Thread {
	t := &Thread{}
	if n := len(c.idle); n > 0 {
		t, c.idle = c.idle[n-1], c.idle[:n-1]
	}
	*t = Thread{
		c: c, who: int32(len(c.whos)), task: int(w.task), rank: int(w.rank), block: int(w.block), program: w.program,
		clock: start, slot: c.lanes.take(int(w.rank), start), lane: [sorts]uint32{none, none, none, none},
		sends: t.sends[:0], rounds: t.rounds[:0],
	}
	c.whos = append(c.whos, w)
	t.use(main)
	t.step()
	return t
}

// use makes one of the slot's lanes the thread's.
func (t *Thread) use(sort int) uint32 {
	if t.lane[sort] == none {
		t.lane[sort] = t.c.lanes.own(&t.slot, sort, t.who)
	}
	return t.lane[sort]
}

// step begins a new count in the main lane: what is done from now on is not known to who
// has been told before.
func (t *Thread) step() {
	l := &t.c.lanes.all[t.lane[main]]
	l.count++
	t.clock.set(t.lane[main], l.count)
}

// begin returns the count of work beside the block's own order: the one that is under
// way, or a new one.
func (t *Thread) begin(sort int, fresh bool) uint32 {
	i := t.use(sort)
	l := &t.c.lanes.all[i]
	if fresh || l.count == t.clock.at(i) {
		l.count++
	}
	return l.count
}

// joined: the block knows that all of one sort of its work is over.
func (t *Thread) joined(sort int) {
	if i := t.lane[sort]; i != none {
		t.clock.set(i, t.c.lanes.all[i].count)
	}
}

// Release is what a block knew when it told somebody something.
type Release struct {
	clock clock
	mark  mark
	task  int
}

// Release returns what a notify that begins now tells who waits for it: all that the
// block has done and has been told of, but not what works beside it.
func (t *Thread) Release() *Release {
	if t == nil {
		return nil
	}
	m := t.mark()
	return &Release{clock: t.told(), mark: m, task: t.task}
}

// mark returns the place at which the block is.
func (t *Thread) mark() mark {
	return mark{time: t.c.eng.Now(), lane: t.lane[main], count: t.clock[t.lane[main]], seq: t.seq, op: uint32(t.pc) << kindBits}
}

// end gives back the thread's lanes.
func (t *Thread) end() {
	t.c.lanes.give(t.rank, t.slot)
	t.c.idle = append(t.c.idle, t)
}
