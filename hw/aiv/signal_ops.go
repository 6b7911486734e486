package aiv

import (
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// execNotify issues one notify to every peer, in ascending order.
func (c *Core) execNotify(op *program.Op) bool {
	if c.sub > 0 {
		return true
	}
	c.sub = 1
	entry, step := c.signalIssue(op)
	n := engine.Duration(c.env.Ranks - 1)
	now := c.env.Eng.Now()
	c.count[result.Notifies] += int64(n)
	c.env.Signals.send(batch{
		buf: c.buf(op.Signal), src: int32(c.rank), col: int32(op.Col.At(c.rank, c.block)), stride: int32(op.Stride),
		value: int32(op.Value), set: op.Set, writer: int32(c.id), step: step,
		start: now.Add(entry + step + c.env.Spec.Remote.Hop),
	})
	return c.pause(result.SignalIssue, entry+n*step)
}

// signalIssue returns the cost of entering the notify code and of each notify,
// on this rank's clock.
func (c *Core) signalIssue(op *program.Op) (entry, step engine.Duration) {
	s := c.env.Spec
	if op.SIMT {
		entry = s.SIMT.Entry.Scale(c.slow)
		c.Acct.SIMT += entry
		return entry, s.Signal.Issue.Scale(c.slow)
	}
	return 0, s.Signal.TNotify.Scale(c.slow)
}

// execAdd adds to the own cells and waits until the last add has landed.
func (c *Core) execAdd(op *program.Op) bool {
	if c.sub > 0 {
		return true
	}
	c.sub = 1
	entry, step := c.signalIssue(op)
	c.count[result.SelfAdds] += int64(c.env.Ranks - 1)
	c.turn(result.Fence)
	c.env.Signals.send(batch{
		buf: c.buf(op.Signal), src: int32(c.rank), self: true, col: int32(op.Col.At(c.rank, c.block)), stride: int32(op.Stride),
		value: int32(op.Value), set: op.Set, writer: int32(c.id), step: step, done: c,
		start: c.env.Eng.Now().Add(entry + step + c.env.Spec.Signal.Local),
	})
	return false
}

// execWait waits for the cells of all peers: at once with a SIMT lane per source,
// or one after another with scalar TWAITs.
func (c *Core) execWait(op *program.Op) bool {
	if op.SIMT {
		return c.waitColumn(op)
	}
	for {
		if c.sub == 2 {
			c.i, c.sub = c.i+1, 0
		}
		if c.i == c.rank {
			c.i++
		}
		if c.i >= c.env.Ranks {
			c.waits, c.BarrierExit = nil, c.env.Eng.Now()
			return true
		}
		if !c.waitCells(op, c.i, 0) {
			return false
		}
	}
}

func (c *Core) waitColumn(op *program.Op) bool {
	if c.sub == 2 {
		c.waits, c.BarrierExit = nil, c.env.Eng.Now()
		return true
	}
	entry := c.env.Spec.SIMT.Entry.Scale(c.slow)
	c.Acct.SIMT += entry
	return c.waitCells(op, -1, entry)
}

// waitCells blocks until the cell of one row, or of all when row is negative, is
// high enough and a poll has seen it. Polling starts after entry.
func (c *Core) waitCells(op *program.Op, row int, entry engine.Duration) bool {
	c.sub, c.waits = 1, op
	c.mark = c.env.Eng.Now().Add(entry)
	c.turn(result.SignalWait)
	ok, visible := c.env.Signals.wait(c, c.buf(op.Signal), int(op.Col.At(c.rank, c.block)), int(op.Stride), row, int32(op.Value))
	if ok {
		c.signalled(visible)
	}
	return false
}

// signalled is called when the cells waited for are all high enough from ready on;
// the core goes on when a poll has seen it.
func (c *Core) signalled(ready engine.Time) {
	op := c.waits
	ready = max(ready, c.env.Eng.Now())
	c.sub = 2
	s := c.env.Spec
	n := int64(1)
	var seen engine.Time
	if op.SIMT {
		seen, n = s.Poll.Success(c.mark, ready, s.Signal.Read.Scale(c.slow))
		c.count[result.PollsSatisfied] += int64(c.env.Ranks - 1)
		c.count[result.PollsAttempted] += n * int64(c.env.Ranks-1)
	} else {
		seen, n = spin(c.mark, ready, s.Signal.TWait.Scale(c.slow))
		c.count[result.PollsSatisfied]++
		c.count[result.PollsAttempted] += n
	}
	if ready > c.since {
		c.turnAt(min(ready, seen), result.PollOvershoot)
	} else {
		c.turnAt(c.since, result.PollOvershoot)
	}
	c.env.Eng.At(max(seen, c.env.Eng.Now()), c, evResume)
}

// spin returns when a poll of the given period that began at start sees what is
// there from ready on, and how many polls that took.
func spin(start, ready engine.Time, period engine.Duration) (engine.Time, int64) {
	n := int64(1)
	if ready > start {
		n += (int64(ready-start) + int64(period) - 1) / int64(period)
	}
	return start.Add(engine.Duration(n) * period), n
}
