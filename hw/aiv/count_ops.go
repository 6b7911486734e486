package aiv

import (
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/urma"
)

// word reads a control word as the scalar unit does.
func (c *Core) word(rank int, b program.Buf, i int) int64 {
	return int64(c.env.Mem.Word(rank, c.buf(b), i))
}

// rowsTo returns the send count to a destination, which has been checked.
func (c *Core) rowsTo(r *program.Rows, d int) int { return int(c.word(c.Task.Rank, r.SendCounts, d)) }

// legal aborts when a count is outside [0, C] (S-59, S-60).
func (c *Core) legal(r *program.Rows, rank, i int) bool {
	n := c.word(rank, r.SendCounts, i)
	if n >= 0 && n <= int64(r.Capacity) {
		return true
	}
	return c.violate("count", n, int64(r.Capacity), "send_counts[%d] of rank %d is %d, must be in [0, %d]", i, rank, n, r.Capacity)
}

// Steps of PullCounts.
const (
	pullEnter = iota
	pullRequest
	pullValue // of a source is here
)

// execPull reads, checks and publishes the counts of the block's sources: a remote
// 4-byte read and an uncached write each.
func (c *Core) execPull(r *program.Rows) bool {
	s := c.env.Spec.Scalar
	stride := min(r.Blocks, r.Ranks)
	for {
		switch c.step {
		case pullEnter:
			c.peer, c.step = c.Task.Block, pullRequest
			if c.Task.Block >= stride {
				return true
			}
		case pullRequest:
			if c.peer >= r.Ranks {
				return true
			}
			c.step = pullValue
			if !c.pause(result.CountRead, s.Read.Scale(c.Task.Slow)+c.away(c.peer)) {
				return false
			}
		case pullValue:
			if !c.publish(r) {
				return false
			}
			c.peer, c.step = c.peer+stride, pullRequest
			if !c.spend(result.CountRead, s.Write) {
				return false
			}
		}
	}
}

// publish writes the count of source c.peer past the cache (S-86).
func (c *Core) publish(r *program.Rows) bool {
	if !r.Clamp && !c.legal(r, c.peer, c.Task.Rank) {
		return false
	}
	if c.peer != c.Task.Rank {
		c.count(result.CountReads, 1)
	}
	n := c.env.Mem.Word(c.peer, c.buf(r.SendCounts), c.Task.Rank)
	if r.Clamp {
		n = min(max(n, 0), int32(r.Capacity))
	}
	c.env.Mem.SetWord(c.Task.Rank, c.buf(r.RecvCounts), c.peer, n)
	s := c.env.Spec.Scalar
	c.shown = c.env.Eng.Now().Add(s.Write.Scale(c.Task.Slow) + s.Visible)
	return true
}

// away returns the time that a remote scalar read takes beyond a local one.
func (c *Core) away(peer int) engine.Duration {
	if peer == c.Task.Rank {
		return 0
	}
	return c.env.Spec.Remote.Hop + c.env.Net.Latency(c.Task.Rank, peer)
}

// Steps of CheckCounts.
const (
	checkEnter = iota
	checkSelf  // the self count is here
	checkPeer  // that of c.peer is here
)

// execCheck reads the own counts that the block uses and asserts them and the
// capacity of each owned queue, before anything is submitted to any of them.
func (c *Core) execCheck(r *program.Rows) bool {
	for {
		switch c.step {
		case checkEnter:
			c.peer, c.step = -1, checkSelf
		case checkSelf:
			if !c.legal(r, c.Task.Rank, c.Task.Rank) {
				return false
			}
			c.step = checkPeer
			if c.peer = r.Next(c.Task.Rank, c.Task.Block, -1); c.peer >= r.Ranks {
				return true
			}
		case checkPeer:
			if !c.legal(r, c.Task.Rank, c.peer) || !c.fits(r) {
				return false
			}
			if c.peer = r.Next(c.Task.Rank, c.Task.Block, c.peer); c.peer >= r.Ranks {
				return true
			}
		}
		if !c.spend(result.CountRead, c.env.Spec.Scalar.Read) {
			return false
		}
	}
}

// fits asserts that the send to c.peer fits in its queue (S-66).
func (c *Core) fits(r *program.Rows) bool {
	n := c.rowsTo(r, c.peer)
	if n == 0 || r.SGEs == 0 {
		return true
	}
	need := urma.SQEBBs * r.SQEs(n)
	if err := c.queue(c.peer).Room(need); err != nil {
		return c.violate("sq_capacity", int64(need), int64(c.env.URMA.Depth), "%v", err)
	}
	return true
}

func (c *Core) queue(peer int) *urma.Queue { return c.env.NICs[c.Task.Rank].Queue(peer) }
