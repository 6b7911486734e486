package aiv

import (
	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/urma"
)

// Steps of SendOwned.
const (
	sendEnter = iota
	sendNext  // segment, of c.peer or of a later destination
	sendRing  // SIMT lanes have written the segment: fence and doorbell store
	sendRung  // the store is out
)

// execSend submits to the owned destinations in ascending order. c.peer is the
// destination and c.row the first row of the segment.
func (c *Core) execSend(r *program.Rows) bool {
	for {
		switch c.step {
		case sendEnter:
			c.peer, c.row, c.step = r.Next(c.Task.Rank, c.Task.Block, -1), 0, sendNext
		case sendNext:
			if c.peer >= r.Ranks {
				return true
			}
			n := c.rowsTo(r, c.peer)
			if c.row >= n {
				c.submitted(n)
				c.peer, c.row = r.Next(c.Task.Rank, c.Task.Block, c.peer), 0
				continue
			}
			c.step = sendRing
			if c.row == 0 && !c.claim() || !c.spend(result.SIMTBuild, c.build(r, n)) {
				return false
			}
		case sendRing:
			c.step = sendRung
			if !c.post(r) || !c.spend(result.Doorbell, c.env.URMA.DoorbellIssue()) {
				return false
			}
		case sendRung:
			c.sq.Doorbell(c.Task.ID)
			c.count(result.Doorbells, 1)
			c.step = sendNext
		}
	}
}

// claim opens the exchange on the queue to c.peer: it must have no other writer (S-51).
func (c *Core) claim() bool {
	c.sq = c.queue(c.peer)
	if err := c.sq.Claim(c.Task.ID); err != nil {
		return c.violate("queue_conflict", int64(c.peer), 1, "%v", err)
	}
	return true
}

// submitted counts a send of n rows that is submitted as a whole (S-71).
func (c *Core) submitted(n int) {
	if n > 0 {
		c.sq.CountSend()
		c.count(result.Sends, 1)
	}
}

// build is the time in which the SIMT lanes write the next segment of n rows.
func (c *Core) build(r *program.Rows, n int) engine.Duration {
	d := c.env.Spec.SIMT.Entry + c.env.URMA.BuildSpan(min(n-c.row, r.SGEs*r.Segment), c.env.Spec.Clock)
	c.lanes("build", d.Scale(c.Task.Slow))
	return d
}

// post writes the segment's SQEs into the ring. An index is checked when the SGE
// that uses it is built; earlier segments may be in flight then.
func (c *Core) post(r *program.Rows) bool {
	n := c.rowsTo(r, c.peer)
	index := c.env.Mem.Row(c.Task.Rank, c.buf(r.Index), c.peer)
	before := c.sq.Counters()
	for s := 0; s < r.Segment && c.row < n; s++ {
		m := min(r.SGEs, n-c.row)
		if !c.gather(r, index, m) {
			return false
		}
		dst := memory.Addr{Rank: c.peer, Buf: c.buf(r.Target), Off: (int64(c.Task.Rank)*int64(r.Capacity) + int64(c.row)) * r.Row}
		c.row += m
		w := urma.Write{Remote: c.env.Mem.Device(dst), SGEs: c.sges, Last: c.row == n}
		if err := c.sq.Post(c.Task.ID, w); err != nil {
			return c.violate("sq_ring", int64(c.peer), int64(c.env.URMA.Depth), "%v", err)
		}
		c.count(result.BytesSent, int64(m)*r.Row)
	}
	c.posted(&before, c.sq.Counters())
	return true
}

// gather names the next m rows of a send in c.sges.
func (c *Core) gather(r *program.Rows, index []int32, m int) bool {
	base := memory.Addr{Rank: c.Task.Rank, Buf: c.buf(r.Input)}
	c.sges = c.sges[:0]
	for j := c.row; j < c.row+m; j++ {
		row, ok := c.index(r, index, c.peer, j)
		if !ok {
			return false
		}
		a := base
		a.Off = row * r.Row
		c.sges = append(c.sges, urma.SGE{Addr: c.env.Mem.Device(a), Len: uint32(r.Row)})
	}
	return true
}

// posted counts what the queue did in one segment; it has no other writer.
func (c *Core) posted(before *urma.Counters, after urma.Counters) {
	c.count(result.SQEs, after.SQEs-before.SQEs)
	c.count(result.SGEs, after.SGEs-before.SGEs)
	c.count(result.WQEBBs, after.WQEBBs-before.WQEBBs)
	c.count(result.NOPs, after.NOPs-before.NOPs)
	c.count(result.DescriptorBytes, urma.WQEBB*(after.WQEBBs-before.WQEBBs))
}

// index reads and checks entry j of an index row; what the row lacks reads as -1.
func (c *Core) index(r *program.Rows, index []int32, dst, j int) (int64, bool) {
	v := int64(-1)
	if j < len(index) {
		v = int64(index[j])
	}
	c.count(result.IndexReads, 1)
	if v < 0 || v >= int64(r.Nmax) {
		return 0, c.violate("index", v, int64(r.Nmax), "index[%d,%d] is %d, must be in [0, %d)", dst, j, v, r.Nmax)
	}
	return v, true
}

// Steps of PollOwned.
const (
	pollEnter = iota
	pollStart
	pollVisible // the CQE can be read
	pollSeen    // a poll has seen it
	pollDrained
)

// execPoll waits for the final CQE of each owned send, in ascending order.
func (c *Core) execPoll(r *program.Rows) bool {
	for {
		switch c.step {
		case pollEnter:
			c.peer, c.step = r.Next(c.Task.Rank, c.Task.Block, -1), pollStart
		case pollStart:
			if c.peer >= r.Ranks {
				return true
			}
			if c.rowsTo(r, c.peer) == 0 {
				c.peer = r.Next(c.Task.Rank, c.Task.Block, c.peer)
				continue
			}
			c.turn(result.CQEWait)
			c.polled, c.step, c.sq = c.env.Eng.Now(), pollVisible, c.queue(c.peer)
			if !c.sq.Completed(c, evResume) {
				return false
			}
		case pollVisible:
			c.step = pollSeen
			seen, _ := c.env.Spec.Poll.slowed(c.Task.Slow).Success(c.polled, c.env.Eng.Now(), 0)
			if !c.pause(result.PollOvershoot, seen.Sub(c.env.Eng.Now())) {
				return false
			}
		case pollSeen:
			c.step = pollDrained
			if !c.spend(result.CQEWait, c.env.URMA.DrainTime()) {
				return false
			}
		case pollDrained:
			if !c.complete(r) {
				return false
			}
			c.peer, c.step = r.Next(c.Task.Rank, c.Task.Block, c.peer), pollStart
		}
	}
}

// complete reads the CQE of the send to c.peer: all its rows have landed there.
func (c *Core) complete(r *program.Rows) bool {
	cqe, ok := c.sq.PollCQE()
	if !ok {
		panic("aiv: a completion was announced, but the CQ is empty")
	}
	c.count(result.CQEs, 1)
	if cqe.Status != 0 {
		return c.violate("cqe_status", int64(cqe.Status), 0, "the CQE of the send to rank %d has status %d", c.peer, cqe.Status)
	}
	c.env.Report.Received(c.Task.Tag, c.peer, int64(c.rowsTo(r, c.peer))*r.Row)
	c.sq.Release(c.Task.ID)
	return true
}
