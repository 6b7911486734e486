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
	begins  []clock // otherwise, by rank
	offered int     // ranks that have been given their start
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
			if !slices.Contains(x.signals, o.Signal) {
				x.signals = append(x.signals, o.Signal)
			}
		}
	}
}

// Offer is called when nothing stands before a task on a rank any more, before its
// producers write: its start knows what the ends of the tasks before it knew, and what
// the cells of its deferred wait tell.
func (c *Checker) Offer(task, rank int) {
	if c == nil {
		return
	}
	x, t := &c.tasks[task], &c.job.Tasks[task]
	start := x.all.copy()
	if !t.Barrier && x.begins != nil {
		start, x.begins[rank] = x.begins[rank], nil
	}
	if x.offered++; x.offered == c.job.Ranks {
		x.all, x.begins = nil, nil
	}
	by := c.thread(who{task: int32(task), rank: int32(rank), block: caller}, start)
	if x.callers == nil {
		x.callers = make([]*Thread, c.job.Ranks)
	}
	x.callers[rank] = by
	c.conditions(by, t)
	by.pc = produces
	for _, w := range t.Before {
		c.rewrite(by, &w)
	}
	by.step()
}

// conditions acquires what the cells of a deferred wait tell.
func (c *Checker) conditions(by *Thread, t *program.Task) {
	h := program.Here{Rank: by.rank}
	for i := range t.Until {
		u := &t.Until[i]
		by.acquire(u.Signal, int(u.Cell.At(&h)), int32(u.Value), false)
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
	return c.thread(who{int32(task), int32(rank), int32(block), p}, c.tasks[task].callers[rank].clock.copy())
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
	by := c.tasks[task].callers[rank]
	by.pc, by.seq = consumes, math.MaxUint32
	by.at(read, rank, b, off, n)
}

// Ended is called when a task has ended on a rank and all that its caller uses is known,
// before those are released that wait for it.
func (c *Checker) Ended(task, rank int) {
	if c == nil {
		return
	}
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
