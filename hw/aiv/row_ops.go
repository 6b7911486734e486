package aiv

import (
	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/ub"
	"pldperf/hw/urma"
)

// word reads a control word as the scalar unit does.
func (c *Core) word(rank int, b program.Buf, i int) int64 {
	return int64(c.env.Mem.Word(rank, c.buf(b), i))
}

// execPull reads, checks and publishes the counts of the block's sources: a remote
// 4-byte read and an uncached write each. c.i is the source, c.sub the step.
func (c *Core) execPull(r *program.Rows) bool {
	s := c.env.Spec.Scalar
	step := min(r.Blocks, r.Ranks)
	for {
		switch c.sub {
		case 0: // enter: the first source
			c.i = c.block
			if c.block >= step {
				return true
			}
			c.sub = 1
		case 1: // request
			if c.i >= r.Ranks {
				return true
			}
			c.sub = 2
			if c.pause(result.CountRead, s.Read.Scale(c.slow)+c.away(c.i)) {
				continue
			}
			return false
		case 2: // value is here
			n := c.word(c.i, r.SendCounts, c.rank)
			if c.i != c.rank {
				c.count[result.CountReads]++
			}
			if n < 0 || n > int64(r.Capacity) {
				return c.violate("count", n, int64(r.Capacity), "send_counts[%d] of rank %d is %d, must be in [0, %d]", c.rank, c.i, n, r.Capacity)
			}
			c.env.Mem.SetWord(c.rank, c.buf(r.RecvCounts), c.i, int32(n))
			if c.i != c.rank {
				c.count[result.BytesReceived] += n * r.Row
			}
			c.sub, c.i = 1, c.i+step
			if !c.spend(result.CountRead, s.Write) {
				return false
			}
		}
	}
}

// away returns the time that a remote scalar read takes beyond a local one.
func (c *Core) away(peer int) engine.Duration {
	if peer == c.rank {
		return 0
	}
	return c.env.Spec.Remote.Hop + c.env.Net.Latency(c.rank, peer)
}

// execCheck reads the own counts that the block uses and asserts them and the
// capacity of each owned queue, before anything is submitted to any of them.
func (c *Core) execCheck(r *program.Rows) bool {
	if c.sub == 0 {
		c.sub, c.i = 1, r.Next(c.rank, c.block, -1)
		if !c.spend(result.CountRead, c.env.Spec.Scalar.Read) { // the self count
			return false
		}
	}
	if c.sub == 1 {
		if !c.checkCount(r, c.rank) {
			return false
		}
		c.sub = 2
		if c.i < r.Ranks && !c.spend(result.CountRead, c.env.Spec.Scalar.Read) {
			return false
		}
	}
	for c.i < r.Ranks {
		if !c.checkCount(r, c.i) {
			return false
		}
		n := int(c.word(c.rank, r.SendCounts, c.i))
		if n > 0 {
			need := 4 * r.SQEs(n)
			if err := c.queue(c.i).Room(need); err != nil {
				return c.violate("sq_capacity", int64(need), int64(c.env.URMA.Depth), "%v", err)
			}
		}
		c.i = r.Next(c.rank, c.block, c.i)
		if c.i < r.Ranks && !c.spend(result.CountRead, c.env.Spec.Scalar.Read) {
			return false
		}
	}
	return true
}

func (c *Core) checkCount(r *program.Rows, d int) bool {
	n := c.word(c.rank, r.SendCounts, d)
	if n < 0 || n > int64(r.Capacity) {
		return c.violate("count", n, int64(r.Capacity), "send_counts[%d] is %d, must be in [0, %d]", d, n, r.Capacity)
	}
	return true
}

func (c *Core) queue(peer int) *urma.Queue { return c.env.NICs[c.rank].Queue(peer) }

// Steps of SendOwned.
const (
	sendEnter = iota
	sendBuild // SIMT lanes write a segment
	sendRing  // its SQEs are in the ring: fence and doorbell store
	sendRung  // the store is out
)

// execSend submits to the owned destinations in ascending order. c.i is the
// destination and c.k the first row of the segment.
func (c *Core) execSend(r *program.Rows) bool {
	for {
		switch c.sub {
		case sendEnter:
			c.i = r.Next(c.rank, c.block, -1)
			c.sub = sendBuild
		case sendBuild:
			if c.i >= r.Ranks {
				return true
			}
			n := int(c.word(c.rank, r.SendCounts, c.i))
			if c.k == 0 && n > 0 {
				if err := c.queue(c.i).Claim(c.id); err != nil {
					return c.violate("queue_conflict", int64(c.i), 1, "%v", err)
				}
			}
			if c.k >= n {
				c.finishSend(n)
				c.i, c.k = r.Next(c.rank, c.block, c.i), 0
				continue
			}
			c.sub = sendRing
			if !c.spend(result.SIMTBuild, c.buildSpan(r, n)) {
				return false
			}
		case sendRing:
			if !c.post(r) {
				return false
			}
			c.sub = sendRung
			if !c.spend(result.Doorbell, c.env.URMA.DoorbellIssue()) {
				return false
			}
		case sendRung:
			c.queue(c.i).Doorbell(c.id)
			c.sub = sendBuild
		}
	}
}

func (c *Core) finishSend(n int) {
	if n > 0 {
		c.queue(c.i).CountSend()
	}
}

// buildSpan is the time in which the SIMT lanes write the next segment.
func (c *Core) buildSpan(r *program.Rows, n int) engine.Duration {
	d := c.env.Spec.SIMT.Entry + c.env.URMA.BuildSpan(min(n-c.k, r.SGEs*r.Segment), c.clock)
	c.Acct.SIMT += d.Scale(c.slow)
	return d
}

// post writes the segment's SQEs into the ring. An index is checked when the SGE
// that uses it is built; earlier segments may be in flight then.
func (c *Core) post(r *program.Rows) bool {
	n := int(c.word(c.rank, r.SendCounts, c.i))
	index := c.env.Mem.Row(c.rank, c.buf(r.Index), c.i)
	q := c.queue(c.i)
	for s := 0; s < r.Segment && c.k < n; s++ {
		m := min(r.SGEs, n-c.k)
		c.sges = c.sges[:0]
		for j := c.k; j < c.k+m; j++ {
			row, ok := c.index(r, index, j)
			if !ok {
				return false
			}
			src := memory.Addr{Rank: c.rank, Buf: c.buf(r.Input), Off: row * r.Row}
			c.sges = append(c.sges, urma.SGE{Addr: c.env.Mem.Device(src), Len: uint32(r.Row)})
		}
		dst := memory.Addr{Rank: c.i, Buf: c.buf(r.Target), Off: (int64(c.rank)*int64(r.Capacity) + int64(c.k)) * r.Row}
		c.k += m
		w := urma.Write{Remote: c.env.Mem.Device(dst), SGEs: c.sges, Last: c.k == n}
		if err := q.Post(c.id, w); err != nil {
			return c.violate("sq_ring", int64(c.i), int64(c.env.URMA.Depth), "%v", err)
		}
	}
	return true
}

// index reads and checks entry j of an index row.
func (c *Core) index(r *program.Rows, index []int32, j int) (int64, bool) {
	v := int64(-1)
	if j < len(index) {
		v = int64(index[j])
	}
	c.count[result.IndexReads]++
	if v < 0 || v >= int64(r.Nmax) {
		return 0, c.violate("index", v, int64(r.Nmax), "index[%d,%d] is %d, must be in [0, %d)", c.i, j, v, r.Nmax)
	}
	return v, true
}

// execPoll waits for the final CQE of each owned send, in ascending order.
func (c *Core) execPoll(r *program.Rows) bool {
	for {
		switch c.sub {
		case 0:
			c.i, c.sub = r.Next(c.rank, c.block, -1), 1
		case 1: // wait for the CQE of destination c.i
			if c.i >= r.Ranks {
				return true
			}
			if c.word(c.rank, r.SendCounts, c.i) == 0 {
				c.i = r.Next(c.rank, c.block, c.i)
				continue
			}
			c.turn(result.CQEWait)
			c.mark, c.sub = c.env.Eng.Now(), 2
			if !c.queue(c.i).Completed(c, evResume) {
				return false
			}
		case 2: // it is visible: when does a poll see it?
			seen, _ := c.env.Spec.Poll.Success(c.mark, c.env.Eng.Now(), 0)
			c.sub = 3
			if d := seen.Sub(c.env.Eng.Now()); d > 0 {
				c.env.Eng.After(d, c, evResume)
				return false
			}
		case 3:
			c.sub = 4
			if !c.spend(result.CQEWait, c.env.URMA.DrainTime()) {
				return false
			}
		case 4:
			if !c.takeCQE() {
				return false
			}
			c.i, c.sub = r.Next(c.rank, c.block, c.i), 1
		}
	}
}

func (c *Core) takeCQE() bool {
	q := c.queue(c.i)
	cqe, ok := q.PollCQE()
	if !ok {
		panic("aiv: a completion was announced, but the CQ is empty")
	}
	if cqe.Status != 0 {
		return c.violate("cqe_status", int64(cqe.Status), 0, "the CQE of the send to rank %d has status %d", c.i, cqe.Status)
	}
	q.Release(c.id)
	return true
}

// pieces cuts a block's share of the self rows for the stage ring (semantics 7.6):
// consecutive source rows are one interval, an interval is cut at stage size.
type pieces struct {
	r        *program.Rows
	src, dst memory.Addr // bases: input row 0, first self slot
	index    []int32
	j, hi    int   // next row of the share, end of the share
	from, to int64 // what is left of the interval: offsets in input and target
	left     int64
	cut      int64
}

// Next implements ub.Source.
func (p *pieces) Next() (ub.Piece, bool) {
	if p.left == 0 && !p.interval() {
		return ub.Piece{}, false
	}
	n := min(p.left, p.cut)
	piece := ub.Piece{Src: p.src, Dst: p.dst, N: n}
	piece.Src.Off, piece.Dst.Off = p.from, p.to
	p.from, p.to, p.left = p.from+n, p.to+n, p.left-n
	return piece, true
}

// interval finds the next maximal run of consecutive source rows.
func (p *pieces) interval() bool {
	if p.j >= p.hi {
		return false
	}
	first := p.index[p.j]
	k := p.j + 1
	for k < p.hi && p.index[k] == first+int32(k-p.j) {
		k++
	}
	p.from, p.to = int64(first)*p.r.Row, p.dst.Off+int64(p.j)*p.r.Row
	p.left = int64(k-p.j) * p.r.Row
	p.j = k
	return true
}

// Steps of CopyRows.
const (
	rowsEnter = iota
	rowsStaged
	rowsCoalesced
	rowsMoving
	rowsDone
)

// execRows loads the index slice, finds the intervals and streams the rows.
func (c *Core) execRows(op *program.Op) bool {
	r := op.Rows
	switch c.sub {
	case rowsEnter:
		n := int(c.word(c.rank, r.SendCounts, c.rank))
		lo, hi := r.Share(c.block, n)
		if lo == hi {
			return true
		}
		c.share(r, lo, hi)
		c.sub = rowsStaged
		c.turn(result.IndexCheck)
		at := memory.Addr{Rank: c.rank, Buf: c.buf(r.Index), Off: 4 * (int64(c.rank)*int64(r.Capacity) + int64(lo))}
		c.env.Eng.At(c.pipes.Load(c.env.Eng.Now(), at, 4*int64(hi-lo), c.id), c, evResume)
		return false
	case rowsStaged:
		c.sub = rowsCoalesced
		if !c.spend(result.Scalar, engine.Duration(c.rows.hi-c.rows.j)*c.env.Spec.Scalar.Coalesce) {
			return false
		}
		fallthrough
	case rowsCoalesced:
		c.i = c.rank
		for j := c.rows.j; j < c.rows.hi; j++ {
			if _, ok := c.index(r, c.rows.index, j); !ok {
				return false
			}
		}
		return c.moveRows(r, op.NoDrain)
	}
	return c.sub == rowsDone
}

func (c *Core) share(r *program.Rows, lo, hi int) {
	stage := int64(c.env.UB.Stage)
	if r.Piece == "rows" && r.Row <= stage {
		stage = stage / r.Row * r.Row
	}
	c.rows = pieces{
		r: r, j: lo, hi: hi, cut: stage,
		src:   memory.Addr{Rank: c.rank, Buf: c.buf(r.Input)},
		dst:   memory.Addr{Rank: c.rank, Buf: c.buf(r.Target), Off: int64(c.rank) * int64(r.Capacity) * r.Row},
		index: c.env.Mem.Row(c.rank, c.buf(r.Index), c.rank),
	}
}

func (c *Core) moveRows(r *program.Rows, leave bool) bool {
	c.count[result.BytesSelf] += int64(c.rows.hi-c.rows.j) * r.Row
	c.sub = rowsMoving
	c.turn(result.MTE2)
	c.wide = 0
	if leave {
		c.wide = 1
	}
	c.ring.Init(c.env.Eng, c.env.UB, &c.pipes, c.env.Mem, c.id)
	return !c.ring.Start(&c.rows, c, ub.Tags{Issued: evIssued, Loaded: evEmptied, Idle: evIdle})
}

// rowsIssued: the last load has started, so a core that does not drain goes on.
func (c *Core) rowsIssued() {
	if c.wide == 1 {
		c.closeRing()
		c.sub = rowsDone
		c.run()
	}
}

// rowsEmptied: the last load has ended; what is left is the drain.
func (c *Core) rowsEmptied() {
	if c.wide == 0 {
		c.closeRing()
		c.reason = result.MTE3
	}
}

// rowsIdle: the last store is visible.
func (c *Core) rowsIdle() {
	switch {
	case c.wide == 0:
		c.sub = rowsDone
		c.run()
	case c.wide == 2: // DrainRows waits
		c.wide = 0
		c.run()
	default:
		c.wide = 0
	}
	c.copyStats()
}

// closeRing charges the time of the loads: what the ring waited for stages, and the
// rest to MTE2.
func (c *Core) closeRing() {
	c.copyStats()
	c.turn(result.MTE2)
	wait := min(c.ring.Stats.WaitTime, c.Acct.Time[result.MTE2])
	c.Acct.Time[result.MTE2] -= wait
	c.Acct.Time[result.StageWait] += wait
}

func (c *Core) copyStats() {
	c.count[result.Pieces] += c.ring.Stats.Pieces - c.Acct.Pieces
	c.Acct.Pieces, c.Acct.Waits, c.Acct.WaitTime = c.ring.Stats.Pieces, c.ring.Stats.Waits, c.ring.Stats.WaitTime
}

// execDrain waits for stores that CopyRows left in flight.
func (c *Core) execDrain() bool {
	if c.wide != 1 {
		return true
	}
	c.wide = 2
	c.turn(result.MTE3)
	return false
}
