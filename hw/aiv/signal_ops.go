package aiv

import (
	"math"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// execNotify issues one notify to every peer, in ascending order.
func (c *Core) execNotify(op *program.Op) bool {
	if c.step > 0 {
		return true
	}
	c.step = 1
	entry, gap := c.signalIssue(op)
	n := engine.Duration(c.env.Ranks - 1)
	c.count(result.Notifies, int64(n))
	b := c.batch(op, gap)
	b.away = c.env.Spec.Remote.Hop
	b.start = c.env.Eng.Now().Add(entry + gap + b.away)
	c.env.Signals.send(b)
	c.simt(op, entry+n*gap)
	return c.pause(result.SignalIssue, entry+n*gap)
}

// execAdd adds to the own cells and waits until the last add has been served.
func (c *Core) execAdd(op *program.Op) bool {
	if c.step > 0 {
		return true
	}
	c.step = 1
	entry, gap := c.signalIssue(op)
	n := engine.Duration(c.env.Ranks - 1)
	c.count(result.SelfAdds, int64(n))
	c.simt(op, entry+n*gap)
	if n == 0 { // a rank alone has none of its own cells to add to
		return c.pause(result.Fence, entry)
	}
	c.turn(result.Fence)
	b := c.batch(op, gap)
	b.self, b.done, b.away = true, c, c.env.Spec.Signal.Local
	b.start = c.env.Eng.Now().Add(entry + gap + b.away)
	c.env.Signals.send(b)
	return false
}

// execNotifyOne issues one notify to one rank. On the own rank it is an add to the own
// cell, which the core waits for as it does in execAdd.
func (c *Core) execNotifyOne(op *program.Op) bool {
	if c.step > 0 {
		return true
	}
	c.step = 1
	peer := int(op.Peer.At(&c.here))
	entry, gap := c.signalIssue(op)
	b := c.batch(op, gap)
	b.at, b.one, b.next = cells{buf: c.buf(op.Signal), base: int32(op.Cell.At(&c.here))}, true, int32(peer)
	c.simt(op, entry+gap)
	if peer == c.Task.Rank {
		c.count(result.SelfAdds, 1)
		c.turn(result.Fence)
		b.away, b.done = c.env.Spec.Signal.Local, c
		b.start = c.env.Eng.Now().Add(entry + gap + b.away)
		c.env.Signals.send(b)
		return false
	}
	c.count(result.Notifies, 1)
	b.away = c.env.Spec.Remote.Hop + c.env.Net.Latency(c.Task.Rank, peer)
	b.start = c.env.Eng.Now().Add(entry + gap + b.away)
	c.env.Signals.send(b)
	return c.pause(result.SignalIssue, entry+gap)
}

func (c *Core) batch(op *program.Op, gap engine.Duration) batch {
	return batch{
		at: c.cells(op), src: int32(c.Task.Rank), value: int32(op.Value.At(&c.here)), set: op.Set, writer: c.Task.ID, gap: gap, op: c.pc,
		told: c.watch.Release(),
	}
}

// cells returns the group of cells that an op names.
func (c *Core) cells(op *program.Op) cells {
	col := op.Col.At(&c.here)
	x := cells{buf: c.buf(op.Signal), group: int32(col), base: int32(op.CellOf(0, col))}
	x.step = int32(op.CellOf(1, col)) - x.base
	return x
}

// signalIssue returns the cost of entering the notify code and of each notify,
// on this rank's clock.
func (c *Core) signalIssue(op *program.Op) (entry, gap engine.Duration) {
	s := c.env.Spec
	if op.SIMT {
		return s.SIMT.Entry.Scale(c.Task.Slow), s.Signal.Issue.Scale(c.Task.Slow)
	}
	return 0, s.Signal.TNotify.Scale(c.Task.Slow)
}

// simt books the SIMT unit for the issue of atomics by an op that uses it.
func (c *Core) simt(op *program.Op, d engine.Duration) {
	if op.SIMT {
		c.lanes(op.Kind.String(), d)
	}
}

// wait is a wait for signal cells. Its account has three parts: entering the SIMT
// region, a cell too low, and all there but no poll has seen it.
//
//	|-- signal_issue --|-- signal_wait --|-- poll_overshoot --|
//	                 polls             ready                 seen
type wait struct {
	op           *program.Op // nil when the core waits for no cell
	polls, ready engine.Time
	from         engine.Point // when it began
}

// never is when cells are ready of which nobody knows yet.
const never = engine.Time(math.MaxInt64)

// Steps of WaitPeers.
const (
	waitEnter = iota
	waitCells
	waitSeen
)

// execWait waits for the cells of all peers: at once with a SIMT lane per source,
// or one after another with scalar TWAITs.
func (c *Core) execWait(op *program.Op) bool {
	switch {
	case c.step == waitEnter && op.SIMT:
		entry := c.env.Spec.SIMT.Entry.Scale(c.Task.Slow)
		c.lanes(op.Kind.String(), entry)
		return c.waitFor(op, -1, entry)
	case c.step == waitEnter:
		c.peer = -1
	default:
		row := c.peer
		if op.SIMT {
			row = -1
		}
		if c.jumped(op, row) {
			return false
		}
		c.settle(c.env.Eng.Now())
		c.BarrierExit = c.env.Eng.Now()
		if op.SIMT {
			return true
		}
	}
	if c.peer++; c.peer == c.Task.Rank {
		c.peer++
	}
	return c.peer >= c.env.Ranks || c.waitFor(op, c.peer, 0)
}

// execWaitOne waits for one own cell.
func (c *Core) execWaitOne(op *program.Op) bool {
	if c.step == waitEnter {
		entry := engine.Duration(0)
		if op.SIMT {
			entry = c.env.Spec.SIMT.Entry.Scale(c.Task.Slow)
			c.lanes(op.Kind.String(), entry)
		}
		return c.waitFor(op, -1, entry)
	}
	if c.jumped(op, -1) {
		return false
	}
	c.settle(c.env.Eng.Now())
	c.BarrierExit = c.env.Eng.Now()
	return true
}

// waitFor blocks until the cell of one row, or of all when row is negative, is right
// and a poll has seen it. Polling starts after entry.
func (c *Core) waitFor(op *program.Op, row int, entry engine.Duration) bool {
	c.turn(result.SignalIssue)
	c.wait = wait{op: op, polls: c.env.Eng.Now().Add(entry), ready: never, from: c.env.Eng.Here()}
	c.enlist(op, row)
	return false
}

// enlist waits for the cells of an op.
func (c *Core) enlist(op *program.Op, row int) {
	c.step = waitCells
	if ok, visible := c.env.Signals.wait(c.Task.Rank, c.waiter(op, row)); ok {
		c.Signalled(visible)
	}
}

func (c *Core) waiter(op *program.Op, row int) waiter {
	w := waiter{who: c, row: int32(row), want: int32(op.Value.At(&c.here)), eq: op.Eq}
	if op.Kind == program.Wait {
		w.at = cells{buf: c.buf(op.Signal), base: int32(op.Cell.At(&c.here))}
	} else {
		w.at = c.cells(op)
	}
	return w
}

// jumped reports whether a poll for the very value of a cell has come too late: the
// cell has gone on meanwhile. The core then waits for it to come back.
func (c *Core) jumped(op *program.Op, row int) bool {
	if !op.Eq {
		return false
	}
	w := c.waiter(op, row)
	if c.env.Signals.missing(c.Task.Rank, &w) == 0 {
		return false
	}
	c.wait.ready = never
	c.enlist(op, row)
	return true
}

// Signalled is called when the cells waited for can all be seen from ready on; the
// core goes on when a poll has seen them.
func (c *Core) Signalled(ready engine.Time) {
	c.step, c.notifier = waitSeen, c.env.Signals.landing
	c.wait.ready = max(ready, c.env.Eng.Now())
	sources, seen, polls := int64(1), engine.Time(0), int64(0)
	p, s := c.env.Spec.Poll.slowed(c.Task.Slow), &c.env.Spec.Signal
	if op := c.wait.op; op.SIMT {
		if op.Kind == program.WaitPeers {
			sources = int64(c.env.Ranks - 1)
		}
		seen, polls = p.Success(c.wait.polls, c.wait.ready, s.Read.Scale(c.Task.Slow))
	} else {
		seen, polls = p.spin(c.wait.polls, c.wait.ready, s.TWait.Scale(c.Task.Slow))
	}
	c.count(result.PollsSatisfied, sources)
	c.count(result.PollsAttempted, polls*sources)
	if c.env.Eng.Now() < c.wait.polls { // the core itself is late
		c.env.Eng.From(c.wait.from)
		c.env.Eng.Through(c.wait.polls, c.why(cause.Issue))
	}
	c.env.Eng.Through(c.wait.ready, c.why(cause.Sector))
	c.env.Eng.Because(c.why(cause.Poll))
	c.env.Eng.At(max(seen, c.env.Eng.Now()), c, evResume)
}

// settle splits the time since a wait began, up to t, into its parts.
func (c *Core) settle(t engine.Time) {
	if c.wait.op == nil {
		return
	}
	polls := min(c.wait.polls, t)
	c.turnAt(polls, result.SignalWait)
	c.turnAt(min(max(c.wait.ready, polls), t), result.PollOvershoot)
	c.wait.op = nil
}
