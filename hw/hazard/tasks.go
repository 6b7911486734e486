package hazard

import (
	"math"
	"slices"

	"pldperf/hw/program"
)

// task is what the checker knows of one of the job's tasks.
type task struct {
	next    []int   // tasks that wait for it
	all     clock   // behind a barrier: what its start knows on all ranks
	met     bool    // they have met there
	begins  []clock // without a barrier: what it knows, by rank
	callers []*Thread
	signals []program.Buf // on which its blocks notify
}

// plan prepares the tasks, and finds the buffers that they write.
func (c *Checker) plan() {
	c.tasks = make([]task, len(c.job.Tasks))
	for i := range c.job.Tasks {
		t := &c.job.Tasks[i]
		for _, d := range t.After {
			c.tasks[d].next = append(c.tasks[d].next, i)
		}
		for _, w := range t.Before {
			c.bufs[w.Buf].written = true
		}
		if t.Perblock != nil { // nobody knows
			for b := range c.bufs {
				c.bufs[b].written = true
			}
		}
		if t.Program != nil {
			c.scan(&c.tasks[i], t.Program)
		}
	}
}

// scan finds what a program writes and with which signals it notifies.
func (c *Checker) scan(x *task, p *program.Program) {
	for i := range p.Ops {
		o := &p.Ops[i]
		switch o.Kind {
		case program.Put, program.Get, program.CopyTile, program.StoreTile, program.RemoteStore, program.Submit:
			c.bufs[o.Dst].written = true
		case program.SendOwned, program.PutOwned, program.CopyRows:
			c.bufs[o.Rows.Target].written = true
		case program.PullCounts:
			c.bufs[o.Rows.RecvCounts].written = true
		case program.Notify, program.NotifyPeers:
			if o.Value.At(&program.Here{}) > 0 && !slices.Contains(x.signals, o.Signal) {
				x.signals = append(x.signals, o.Signal)
			}
		}
	}
}

// Offer is called when nothing stands before a task on a rank any more, before its
// producers write: its start knows what the ends of the tasks before it knew, and what
// the cells of its deferred wait tell. Behind a barrier all ranks' producers write before
// any rank starts.
func (c *Checker) Offer(task, rank int) {
	if c == nil {
		return
	}
	x, t := &c.tasks[task], &c.job.Tasks[task]
	if x.callers == nil {
		x.callers = make([]*Thread, c.job.Ranks)
	}
	switch {
	case !t.Barrier:
		start := clock(nil)
		if x.begins != nil {
			start, x.begins[rank] = x.begins[rank], nil
		}
		c.caller(task, rank, start)
		c.conditions(x.callers[rank], t)
		c.produce(x.callers[rank], t)
		return
	case !x.met:
		c.meet(task)
	}
	c.conditions(x.callers[rank], t)
}

// caller begins to follow who works around a task on a rank.
func (c *Checker) caller(task, rank int, start clock) {
	c.tasks[task].callers[rank] = c.thread(who{task: int32(task), rank: int32(rank), block: caller}, start)
}

// meet lets the producers of all ranks write, before any rank starts.
func (c *Checker) meet(task int) {
	x := &c.tasks[task]
	all := x.all
	for rank := range x.callers {
		c.caller(task, rank, x.all.copy())
	}
	for _, by := range x.callers {
		c.produce(by, &c.job.Tasks[task])
		all.join(by.told())
	}
	for _, by := range x.callers {
		by.clock.join(all)
	}
	x.met, x.all = true, nil
}

// told returns what somebody knows who is told something now.
func (t *Thread) told() clock {
	now := t.clock.copy()
	t.step()
	return now
}

// conditions acquires what the cells of a deferred wait tell.
func (c *Checker) conditions(by *Thread, t *program.Task) {
	by.pc = awaits
	h := program.Here{Rank: by.rank}
	for i := range t.Until {
		u := &t.Until[i]
		by.acquire(u.Signal, int(u.Cell.At(&h)), int32(u.Value), false)
	}
}

// produce gives a task its fresh content on a rank.
func (c *Checker) produce(by *Thread, t *program.Task) {
	by.pc = produces
	for i := range t.Before {
		c.rewrite(by, &t.Before[i])
	}
}

// rewrite gives a rank's buffer fresh content: a signal forgets who has notified.
func (c *Checker) rewrite(by *Thread, w *program.Rewrite) {
	switch {
	case !c.job.Buffers[w.Buf].Signal:
		by.at(write, by.rank, w.Buf, 0, int64(c.job.Buffers[w.Buf].Size))
	case c.bufs[w.Buf].cells != nil:
		c.preset(w.Buf, by.rank, w.Table)
	}
}

// Compute is called when a computation begins on a rank: it reads what it consumes.
func (c *Checker) Compute(task, rank int) {
	if c == nil {
		return
	}
	by := c.tasks[task].callers[rank]
	by.pc = computes
	for _, b := range c.job.Tasks[task].Reads {
		by.at(read, rank, b, 0, int64(c.job.Buffers[b].Size))
	}
}

// Launch starts to follow a block of a task that has been offered on its rank.
func (c *Checker) Launch(task, rank, block int, p *program.Program) *Thread {
	if c == nil {
		return nil
	}
	return c.thread(who{int32(task), int32(rank), int32(block), p}, c.tasks[task].callers[rank].told())
}

// End is called when a block has ended: its remote stores are over, and who comes behind
// its task knows what it knew.
func (t *Thread) End() {
	if t == nil {
		return
	}
	t.joined(stores)
	t.c.tasks[t.task].callers[t.rank].clock.join(t.clock)
	t.end()
}

// Consumed is called when a task has ended on a rank, for what it has promised there: the
// caller uses it, until those start that wait for the task.
func (c *Checker) Consumed(task, rank int, b program.Buf, off, n int64) {
	if c == nil {
		return
	}
	if u := &c.used; u.hi == off && u.buf == b && u.by == c.tasks[task].callers[rank] {
		u.hi += n
		return
	}
	c.consumed()
	c.used = used{c.tasks[task].callers[rank], b, off, off + n}
}

// used is a range that a caller uses, which may grow at its end.
type used struct {
	by     *Thread
	buf    program.Buf
	lo, hi int64
}

func (c *Checker) consumed() {
	if u := c.used; u.by != nil {
		u.by.pc, u.by.seq = consumes, math.MaxUint32
		u.by.at(read, u.by.rank, u.buf, u.lo, u.hi-u.lo)
		c.used = used{}
	}
}

// Ended is called when a task has ended on a rank and all that its caller uses is known,
// before those are released that wait for it.
func (c *Checker) Ended(task, rank int) {
	if c == nil {
		return
	}
	c.consumed()
	x := &c.tasks[task]
	by := x.callers[rank]
	x.callers[rank] = nil
	for _, i := range x.next {
		y := &c.tasks[i]
		if c.job.Tasks[i].Barrier {
			y.all.join(by.clock)
			continue
		}
		if y.begins == nil {
			y.begins = make([]clock, c.job.Ranks)
		}
		y.begins[rank].join(by.clock)
	}
	by.end()
}
