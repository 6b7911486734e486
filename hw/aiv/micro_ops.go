package aiv

import (
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/urma"
)

// Steps of Submit and Flush.
const (
	submitEnter = iota
	submitEach  // the software's part of the next WQE, or all are written
	submitBuild
	submitPost // it has been written
	submitRung // the doorbell store is out
)

const (
	flushEnter = iota
	flushWait  // for the next CQE
	flushSeen
	flushDrained
)

// execSubmit has one lane write WQEs, one after another, and ring for every few. c.row
// is the WQE.
func (c *Core) execSubmit(op *program.Op) bool {
	w, n := op.WQEs, op.Bytes.At(&c.here)
	for {
		switch c.step {
		case submitEnter:
			if n <= 0 {
				return true
			}
			c.peer, c.row, c.step = int(op.Peer.At(&c.here)), 0, submitEach
			if !c.claim() {
				return false
			}
			c.submits(w, int64(w.N)*n)
		case submitEach:
			if c.row == w.N {
				c.sq.CountSend()
				c.count(result.Sends, 1)
				return true
			}
			c.step = submitBuild
			if !c.spend(result.Scalar, w.Each) {
				return false
			}
		case submitBuild:
			c.step = submitPost
			d := c.env.URMA.Lane(w.SGEs)
			c.lanes("build", d.Scale(c.Task.Slow))
			if !c.spend(result.SIMTBuild, d) {
				return false
			}
		case submitPost:
			if !c.submit(op, n) {
				return false
			}
			if c.row++; c.row%w.Bells() != 0 && c.row != w.N {
				c.step = submitEach
				continue
			}
			c.step = submitRung
			if !c.spend(result.Doorbell, c.env.URMA.DoorbellIssue()) {
				return false
			}
		case submitRung:
			c.sq.Doorbell(c.Task.ID)
			c.count(result.Doorbells, 1)
			c.step = submitEach
		}
	}
}

// submits counts a Submit of n bytes in all.
func (c *Core) submits(w *program.WQEs, n int64) {
	if !w.Read {
		c.count(result.Puts, int64(w.N))
		c.count(result.BytesSent, n)
		return
	}
	c.count(result.Gets, int64(w.N))
	c.count(result.BytesReceived, n)
	c.env.Report.Served(c.Task.Tag, c.peer, n)
}

// submit writes WQE c.row of n bytes into the ring.
func (c *Core) submit(op *program.Op, n int64) bool {
	at := int64(c.row) * n
	src := memory.Addr{Rank: c.Task.Rank, Buf: c.buf(op.Src), Off: op.SrcOff.At(&c.here) + at}
	dst := memory.Addr{Rank: c.peer, Buf: c.buf(op.Dst), Off: op.DstOff.At(&c.here) + at}
	if op.WQEs.Read { // the SGEs name what is local
		src, dst = memory.Addr{Rank: c.Task.Rank, Buf: dst.Buf, Off: dst.Off}, memory.Addr{Rank: c.peer, Buf: src.Buf, Off: src.Off}
	}
	c.sges = c.sges[:0]
	for k, left := int64(op.WQEs.SGEs), n; left > 0; k-- {
		part := (left + k - 1) / k
		c.sges = append(c.sges, urma.SGE{Addr: c.env.Mem.Device(src), Len: uint32(part)})
		src.Off, left = src.Off+part, left-part
	}
	before := c.sq.Counters()
	if err := c.sq.Post(c.Task.ID, urma.Write{Remote: c.env.Mem.Device(dst), SGEs: c.sges, Last: true, Packed: true, Read: op.WQEs.Read}); err != nil {
		return c.violate("sq_ring", int64(c.peer), int64(c.env.URMA.Depth), "%v", err)
	}
	c.posted(&before, c.sq.Counters())
	return true
}

// execFlush reads the CQEs of what a Submit of the same operands has submitted. The
// poller reads the queue without a pause, so what a poll costs is part of the drain.
func (c *Core) execFlush(op *program.Op) bool {
	n := op.Bytes.At(&c.here)
	if n <= 0 {
		return true
	}
	for {
		switch c.step {
		case flushEnter:
			c.peer, c.row, c.step = int(op.Peer.At(&c.here)), 0, flushWait
			c.sq = c.queue(c.peer)
		case flushWait:
			c.step = flushSeen
			c.turn(result.CQEWait)
			if !c.sq.Completed(c, evResume) {
				return false
			}
		case flushSeen:
			c.step = flushDrained
			if !c.spend(result.CQEWait, c.env.URMA.DrainTime()) {
				return false
			}
		case flushDrained:
			cqe, ok := c.sq.PollCQE()
			if !ok {
				panic("aiv: a completion was announced, but the CQ is empty")
			}
			c.count(result.CQEs, 1)
			if cqe.Status != 0 {
				return c.violate("cqe_status", int64(cqe.Status), 0, "a CQE of the put to rank %d has status %d", c.peer, cqe.Status)
			}
			if !op.WQEs.Read {
				c.env.Report.Received(c.Task.Tag, c.peer, n)
			}
			if c.row++; c.row == op.WQEs.N {
				c.sq.Release(c.Task.ID)
				return true
			}
			c.step = flushWait
		}
	}
}
