package aiv

import (
	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// warp is how many lanes issue an atomic together (hardware parameters 1.7).
const warp = 32

// Steps of Storm.
const (
	stormEnter = iota
	stormIssue // the lanes have been entered
	stormLand  // the first atomics are at the L2
	stormOver
)

// execStorm lets each lane add to its word. All lanes are at the L2 at once, and the
// blocks' accesses take turns there. c.row is the lane whose access is next.
func (c *Core) execStorm(op *program.Op) bool {
	a, sig := op.Atomics, &c.env.Spec.Signal
	switch c.step {
	case stormEnter:
		c.row, c.polled, c.step = 0, 0, stormIssue
		if !c.spend(result.SignalIssue, c.env.Spec.SIMT.Entry) {
			return false
		}
		fallthrough
	case stormIssue:
		c.step = stormLand
		return c.spend(result.SignalIssue, sig.Local) && c.execStorm(op)
	case stormLand:
		if int64(c.row) < a.Ops {
			c.polled = max(c.polled, c.access(op))
			c.env.Eng.Progress()
			c.env.Eng.At(c.env.Eng.Now(), c, evResume)
			return false
		}
		c.step = stormOver
		end := c.polled
		if a.Returns {
			end = end.Add(sig.Local)
		}
		return c.pause(result.SignalIssue, max(end.Sub(c.env.Eng.Now()), 0))
	}
	return true
}

// access does the access of the next lanes and returns when it is over: that of one lane
// or, where nothing comes back, of all lanes of a warp that follow with other words of the
// same sector, which are one.
func (c *Core) access(op *program.Op) engine.Time {
	a, buf := op.Atomics, c.buf(op.Signal)
	word := func(lane int) int64 {
		return (int64(c.Task.Block)*a.Ops + int64(lane)) % a.Targets * a.Stride / 4
	}
	first := word(c.row)
	last := first
	for {
		c.env.Mem.AddWord(c.Task.Rank, buf, int(last), 1)
		c.row++
		next := word(c.row)
		same := c.env.Signals.sector(int(next)) == c.env.Signals.sector(int(first))
		if a.Returns || int64(c.row) == a.Ops || c.row%warp == 0 || !same || next <= last {
			break
		}
		last = next
	}
	return c.env.Signals.Atomic(c.Task.Rank, buf, int(first), c.Task.ID, a.Returns)
}

// lineBytes is what one bank of the L2 holds next to each other (hardware parameters 1.1).
const lineBytes = 512

// Atomic books an atomic on a cell that is at its sector now, beside those of other
// sectors, and returns when it is done. One that returns the old value also takes the
// bank of its line.
func (g *Signals) Atomic(rank int, buf memory.ID, cell int, writer uint32, returns bool) engine.Time {
	r := g.at(buf, rank)
	if !returns {
		return g.serve(r, cell, writer, false)
	}
	if r.lines == nil {
		r.lines = make([]engine.Time, len(r.sectors)*int(g.spec.Signal.Sector)/lineBytes+1)
	}
	s, line := &r.sectors[g.sector(cell)], &r.lines[cell*4/lineBytes]
	s.writer = writer
	s.free = max(s.free, g.eng.Now()).Add(g.spec.Signal.Returned)
	*line = max(*line, g.eng.Now()).Add(g.spec.Signal.Line)
	return max(s.free, *line)
}
