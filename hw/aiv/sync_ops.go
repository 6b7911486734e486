package aiv

import (
	"pldperf/engine"
	"pldperf/hw/result"
)

// flagBytes is what a block's flag takes: the least that a store moves (semantics 3.2).
const flagBytes = 32

// place is a task on a rank, where its blocks can meet.
type place struct{ tag, rank int }

// meeting is the blocks of a task on a rank that are there already.
type meeting struct {
	here    int
	seen    engine.Time // when all flags so far can be seen
	waiting []*Core
}

// meet returns where the core's blocks meet.
func (c *Core) meet() *meeting {
	at := place{c.Task.Tag, c.Task.Rank}
	if c.env.meets == nil {
		c.env.meets = map[place]*meeting{}
	}
	m := c.env.meets[at]
	if m == nil {
		m = new(meeting)
		c.env.meets[at] = m
	}
	return m
}

// Steps of SyncBlocks.
const (
	syncEnter  = iota
	syncRead   // pipes are drained
	syncStore  // the own flag is here
	syncStored // one more than it has been stored
	syncPoll   // and MTE3 is drained
	syncWait
	syncSeen
)

// execSync is a barrier of the blocks of a rank by flags in memory (SyncAll in software):
// a block reads its own flag, stores it one higher, and then loads the flags of all blocks
// and looks at each, until all are as high. Failed polls are not simulated.
func (c *Core) execSync() bool {
	m, now := c.meet(), c.env.Eng.Now()
	switch c.step {
	case syncEnter:
		c.step = syncRead
		c.count(result.PipeBarriers, 1)
		return c.spend(result.PipeBarrier, c.env.Spec.PipeBarrier) && c.execSync()
	case syncRead:
		c.step = syncStore
		return c.pause(result.MTE2, c.flagLoad(1)) && c.execSync()
	case syncStore:
		c.step = syncStored
		stored := c.flagStore()
		m.seen = max(m.seen, now.Add(stored))
		return c.pause(result.MTE3, stored) && c.execSync()
	case syncStored:
		c.step = syncPoll
		c.count(result.PipeBarriers, 1)
		return c.spend(result.PipeBarrier, c.env.Spec.PipeBarrier) && c.execSync()
	case syncPoll:
		c.step, c.polled = syncWait, now
		if m.here++; m.here < c.Task.Blocks {
			m.waiting = append(m.waiting, c)
			c.turn(result.SignalWait)
			return false
		}
		for _, w := range m.waiting {
			c.env.Eng.At(now, w, evResume)
		}
		m.here, m.waiting = 0, m.waiting[:0]
		return c.execSync()
	case syncWait:
		c.step = syncSeen
		c.turn(result.SignalWait)
		seen, _ := c.env.Spec.Poll.spin(c.polled, m.seen, c.flagLoad(c.Task.Blocks)+engine.Duration(c.Task.Blocks)*c.env.Spec.Scalar.Flag.Scale(c.Task.Slow))
		return c.pause(result.PollOvershoot, max(seen.Sub(now), 0)) && c.execSync()
	}
	return true
}

// flagStore is the time of a store of one flag until it can be seen.
func (c *Core) flagStore() engine.Duration {
	ub := c.env.UB
	if ub.Ideal() {
		return 0
	}
	return c.env.Spec.Clock.Span(ub.Issue + ub.StoreLatency).Scale(c.Task.Slow)
}

// flagLoad is the time of a load of so many flags, which are in the L2.
func (c *Core) flagLoad(n int) engine.Duration {
	ub, mem := c.env.UB, c.env.Mem
	if ub.Ideal() {
		return 0
	}
	return max(c.env.Spec.Clock.Span(ub.Issue), ub.Load.Span(engine.Bytes(n*flagBytes))).Scale(c.Task.Slow) + mem.Hit()
}
