package aiv

import (
	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/sdma"
)

// Steps of PutOwned.
const (
	ownedEnter     = iota
	ownedPeer      // c.peer, or a later destination
	ownedStaged    // its index is in the Unified Buffer
	ownedCoalesced // the intervals are found
	ownedNext      // the next interval, or the next batch of them
	ownedRung      // the doorbell store is out
	ownedVisible   // the completion record can be seen
	ownedSeen
)

// execPutOwned moves the rows to the owned destinations in ascending order, an interval
// of consecutive rows at a time.
func (c *Core) execPutOwned(op *program.Op) bool {
	r := op.Rows
	for {
		switch c.step {
		case ownedEnter:
			c.peer, c.step = r.Next(c.Task.Rank, c.Task.Block, -1), ownedPeer
		case ownedPeer:
			if c.peer >= r.Ranks {
				return true
			}
			if n := c.rowsTo(r, c.peer); n > 0 {
				c.outgoing(r, n)
				c.step = ownedStaged
				c.turn(result.IndexCheck)
				at := memory.Addr{Rank: c.Task.Rank, Buf: c.buf(r.Index), Off: 4 * int64(c.peer) * int64(r.Capacity)}
				c.env.Eng.At(c.pipes.Load(c.env.Eng.Now(), at, 4*int64(n), c.Task.ID), c, evResume)
				return false
			}
			c.peer = r.Next(c.Task.Rank, c.Task.Block, c.peer)
		case ownedStaged:
			c.step = ownedCoalesced
			if !c.spend(result.Scalar, engine.Duration(c.rows.hi)*c.env.Spec.Scalar.Coalesce) {
				return false
			}
		case ownedCoalesced:
			for j := range c.rows.hi {
				if _, ok := c.index(r, c.rows.index, c.peer, j); !ok {
					return false
				}
			}
			c.count(result.BytesSent, int64(c.rows.hi)*r.Row)
			c.step = ownedNext
		default:
			more, goOn := c.nextOwned(op)
			if !goOn {
				return false
			}
			if !more {
				c.peer, c.step = r.Next(c.Task.Rank, c.Task.Block, c.peer), ownedPeer
			}
		}
	}
}

// outgoing sets up the n rows to c.peer.
func (c *Core) outgoing(r *program.Rows, n int) {
	c.rows = pieces{
		row: r.Row, hi: n,
		src:   memory.Addr{Rank: c.Task.Rank, Buf: c.buf(r.Input)},
		dst:   memory.Addr{Rank: c.peer, Buf: c.buf(r.Target), Off: int64(c.Task.Rank) * int64(r.Capacity) * r.Row},
		index: c.env.Mem.Row(c.Task.Rank, c.buf(r.Index), c.peer),
	}
}

// nextOwned moves the next interval to c.peer, or the next batch of them; more is false
// when there is none, and goOn when an event will go on.
func (c *Core) nextOwned(op *program.Op) (more, goOn bool) {
	if op.Transport == program.SDMA {
		return c.nextBatch(op)
	}
	p := &c.rows
	if !p.interval() {
		return false, true
	}
	src, dst := p.src, p.dst
	src.Off, dst.Off = p.from, p.to
	t := &c.put
	t.rect = program.Rect{Rows: 1, Width: p.left, ChunkWidth: op.Chunk}
	t.src, t.dst, t.op, t.stages, t.pieces, t.after = src, dst, op, 1, t.rect.Pieces(), 0
	t.asked, t.loaded, t.begun, t.stored = 0, 0, 0, 0
	p.left = 0
	c.count(result.Puts, 1)
	c.count(result.PutStages, t.pieces)
	return true, c.advance()
}

// nextBatch has the block's SDMA channel move as many intervals as its ring holds.
func (c *Core) nextBatch(op *program.Op) (more, goOn bool) {
	t, spec := &c.carried, c.env.SDMA
	switch c.step {
	case ownedNext:
		c.moves = c.rows.moves(c.moves[:0], int64(spec.Block), spec.Depth)
		if t.batch = len(c.moves); t.batch == 0 {
			c.env.Report.Received(c.Task.Tag, c.peer, int64(c.rows.hi)*op.Rows.Row)
			return false, true
		}
		c.step = ownedRung
		return true, c.spend(result.Doorbell, spec.IssueSpan(t.batch))
	case ownedRung:
		c.step = ownedVisible
		c.turn(result.CQEWait)
		return true, c.ringSDMA()
	case ownedVisible:
		c.step = ownedSeen
		return true, c.spend(result.CQEWait, spec.PollTime())
	}
	c.count(result.CQEs, 1)
	c.step = ownedNext
	return true, true
}

// moves cuts the next intervals into moves of at most so many bytes, no more than depth
// of them.
func (p *pieces) moves(out []sdma.Move, most int64, depth int) []sdma.Move {
	for p.cut = most; len(out) < depth; {
		piece, ok := p.Next()
		if !ok {
			break
		}
		out = append(out, sdma.Move{Local: piece.Src, Remote: piece.Dst, N: piece.N})
	}
	return out
}
