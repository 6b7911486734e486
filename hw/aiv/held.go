package aiv

import (
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// heldRanks is the most ranks of which blocks say for whom they waited: beyond, a list of
// peers in each block is most of a result, and looking for a peer in it most of the run.
const heldRanks = 128

// hold charges a wait that ends to the rank that it was for, while there is a record. What other reasons wait for is
// the block's own: its pipes, its poll, its launch.
func (c *Core) hold(d engine.Duration) {
	if d == 0 || c.env.Ranks > heldRanks || !heldByOthers(c.reason) {
		return
	}
	if c.reason == result.SignalWait {
		c.holder = c.notifier
	} else if c.holder == lastStore {
		c.holder = c.last
	}
	c.line.Held(c.since.Add(d), c.holder)
	for i := range c.Acct.Held {
		if h := &c.Acct.Held[i]; h.Reason == c.reason.String() && h.Peer == c.holder {
			h.Time += d
			return
		}
	}
	c.Acct.Held = append(c.Acct.Held, result.Held{Reason: c.reason.String(), Peer: c.holder, Time: d})
}

func heldByOthers(r result.Reason) bool {
	return r == result.SignalWait || r == result.CQEWait || r == result.RemoteWait
}

// lastStore stands for the rank at which the last of the remote stores in flight will land.
const lastStore = -2

// waitsFor returns the rank at the other end of the op that begins to wait.
func (c *Core) waitsFor() int {
	if c.fenced {
		return lastStore
	}
	switch op := &c.Task.Program.Ops[c.pc]; op.Kind {
	case program.Put, program.Get, program.RemoteLoad, program.RemoteStore, program.Submit, program.Flush:
		return int(op.Peer.At(&c.here))
	}
	return c.peer
}
