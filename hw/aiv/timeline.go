package aiv

import (
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

// turned shows that the block has another reason from t on.
func (c *Core) turned(t engine.Time, r result.Reason) {
	if c.Task.Program == nil || c.pc >= len(c.Task.Program.Ops) {
		c.line.Turn(t, r.String(), "end", "", -1, -1)
		return
	}
	op := &c.Task.Program.Ops[c.pc]
	c.line.Turn(t, r.String(), op.Kind.String(), op.Phase, c.pc, c.whom(op))
}

// whom returns the peer that an op has to do with now; -1 when there is none.
func (c *Core) whom(op *program.Op) int {
	peer := -1
	switch op.Kind {
	case program.Put, program.Get, program.RemoteLoad, program.RemoteStore, program.Notify, program.Submit, program.Flush:
		peer = int(op.Peer.At(&c.here))
	case program.SendOwned, program.PollOwned, program.PutOwned, program.PullCounts, program.CheckCounts:
		peer = c.peer
	case program.WaitPeers:
		if !op.SIMT {
			peer = c.peer
		}
	}
	if peer < 0 || peer >= c.env.Ranks || peer == c.Task.Rank {
		return -1
	}
	return peer
}

// lanes books the SIMT lanes of the core for d from now on.
func (c *Core) lanes(what string, d engine.Duration) {
	c.Acct.SIMT += d
	c.work(timeline.SIMT, what, d)
}

// work shows that a unit of the core is at work for d from now on.
func (c *Core) work(k timeline.Kind, what string, d engine.Duration) {
	if c.line != nil {
		now := c.env.Eng.Now()
		c.line.Work(k, now, now.Add(d), what, 0, -1)
	}
}
