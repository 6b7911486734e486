package aiv

import (
	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/ub"
)

// pieces cuts a block's share of the self rows for the stage ring (semantics 7.6):
// consecutive source rows are one interval, an interval is cut at stage size.
type pieces struct {
	row      int64
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
	p.from, p.to = int64(first)*p.row, p.dst.Off+int64(p.j)*p.row
	p.left = int64(k-p.j) * p.row
	p.j = k
	return true
}

// ringTail is how far the core cares for the stage ring's last stores.
type ringTail uint8

const (
	drained  ringTail = iota // none is in flight
	draining                 // CopyRows will wait for the last
	leaving                  // CopyRows will not wait for the last
	left                     // in flight, and the core does other things
	awaited                  // DrainRows waits for the last
)

// Steps of CopyRows.
const (
	rowsEnter = iota
	rowsStaged
	rowsCoalesced
	rowsDone
)

// execRows loads the index slice, finds the intervals and streams the rows.
func (c *Core) execRows(op *program.Op) bool {
	r := op.Rows
	switch c.step {
	case rowsEnter:
		lo, hi := r.Share(c.Task.Block, c.rowsTo(r, c.Task.Rank))
		if lo == hi {
			return true
		}
		c.share(r, lo, hi)
		c.step = rowsStaged
		c.turn(result.IndexCheck)
		at := memory.Addr{Rank: c.Task.Rank, Buf: c.buf(r.Index), Off: 4 * (int64(c.Task.Rank)*int64(r.Capacity) + int64(lo))}
		c.env.Eng.At(c.pipes.Load(c.env.Eng.Now(), at, 4*int64(hi-lo), c.Task.ID), c, evResume)
		return false
	case rowsStaged:
		c.step = rowsCoalesced
		if !c.spend(result.Scalar, engine.Duration(c.rows.hi-c.rows.j)*c.env.Spec.Scalar.Coalesce) {
			return false
		}
		fallthrough
	case rowsCoalesced:
		for j := c.rows.j; j < c.rows.hi; j++ {
			if _, ok := c.index(r, c.rows.index, c.Task.Rank, j); !ok {
				return false
			}
		}
		c.move(op.NoDrain)
		return false
	}
	return c.step == rowsDone
}

func (c *Core) share(r *program.Rows, lo, hi int) {
	rank, stage := c.Task.Rank, int64(c.env.UB.Stage)
	if r.Piece == "rows" && r.Row <= stage {
		stage = stage / r.Row * r.Row
	}
	c.rows = pieces{
		row: r.Row, j: lo, hi: hi, cut: stage,
		src:   memory.Addr{Rank: rank, Buf: c.buf(r.Input)},
		dst:   memory.Addr{Rank: rank, Buf: c.buf(r.Target), Off: int64(rank) * int64(r.Capacity) * r.Row},
		index: c.env.Mem.Row(rank, c.buf(r.Index), rank),
	}
}

// move starts the ring on the block's share.
func (c *Core) move(leave bool) {
	c.count(result.BytesSelf, int64(c.rows.hi-c.rows.j)*c.rows.row)
	c.turn(result.MTE2)
	c.tail = draining
	if leave {
		c.tail = leaving
	}
	c.ring.Init(c.env.Eng, c.env.UB, &c.pipes, c.env.Mem, c.Task.ID)
	c.ring.Start(&c.rows, c, ub.Tags{Issued: evIssued, Loaded: evEmptied, Idle: evIdle})
}

// rowsIssued: the last load has started, so a core that is not to drain goes on.
func (c *Core) rowsIssued() {
	if c.tail == leaving {
		c.tail = left
		c.closeRing(result.MTE2)
		c.step = rowsDone
		c.run()
	}
}

// rowsEmptied: the last load has ended; what is left is the drain.
func (c *Core) rowsEmptied() {
	if c.tail == draining {
		c.closeRing(result.MTE3)
	}
}

// rowsIdle: the last store is visible.
func (c *Core) rowsIdle() {
	waits := c.tail == draining || c.tail == awaited
	c.tail = drained
	if waits {
		c.step = rowsDone
		c.run()
	}
}

// closeRing charges the time of the loads: what the ring waited for stages, and the
// rest to MTE2.
func (c *Core) closeRing(next result.Reason) {
	s := &c.ring.Stats
	c.Acct.Pieces, c.Acct.Waits, c.Acct.WaitTime = s.Pieces, s.Waits, s.WaitTime
	c.count(result.Pieces, s.Pieces)
	c.turn(next)
	c.Acct.Time[result.MTE2] -= s.WaitTime
	c.Acct.Time[result.StageWait] += s.WaitTime
}

// execDrain waits for stores that CopyRows left in flight.
func (c *Core) execDrain() bool {
	if c.tail == drained {
		return true
	}
	c.tail = awaited
	c.turn(result.MTE3)
	return false
}
