package aiv

import (
	"pldperf/engine"
	"pldperf/hw/arith"
	"pldperf/hw/cause"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// transfer is the state of a put, a get or a copy: pieces pass through one stage of
// the Unified Buffer, or through two that take turns. With one stage a piece is loaded
// when the one before has been stored and the drain knows; with two, loads overlap
// stores:
//
//	one stage   load 0, store 0, load 1, store 1 ...
//	two stages  load 0, store 0  , store 1  ...
//	                    load 1   , load 2   ...
type transfer struct {
	data     [2]memory.Data
	rect     program.Rect
	src, dst memory.Addr
	op       *program.Op
	stages   int64
	pieces   int64
	asked    int64 // pieces whose load has begun
	loaded   int64
	begun    int64 // pieces whose store has begun
	stored   int64
	end      engine.Time     // before which the present store cannot be over
	after    engine.Duration // PIPE_ALLs behind each piece
}

// execPut moves data to a peer through the Unified Buffer, piece by piece, and drains.
// A put to the own rank is a local copy.
func (c *Core) execPut(op *program.Op) bool {
	peer := int(op.Peer.At(&c.here))
	if op.Transport != program.MTE && peer != c.Task.Rank {
		return c.execCarried(op)
	}
	if c.step > 0 {
		return true
	}
	n := c.aim(op, c.Task.Rank, peer)
	if !c.inside(c.put.ends()) {
		return false
	}
	c.count(result.Puts, 1)
	if peer == c.Task.Rank {
		c.count(result.BytesSelf, n)
	} else {
		c.count(result.BytesSent, n)
	}
	c.count(result.PutStages, c.put.pieces)
	c.count(result.PipeBarriers, c.put.pieces*int64(op.Barriers))
	return c.advance()
}

// execGet moves data from a peer through the Unified Buffer.
func (c *Core) execGet(op *program.Op) bool {
	peer := int(op.Peer.At(&c.here))
	if op.Transport != program.MTE && peer != c.Task.Rank {
		return c.execCarried(op)
	}
	if c.step > 0 {
		return true
	}
	n := c.aim(op, peer, c.Task.Rank)
	if !c.inside(c.put.ends()) {
		return false
	}
	c.count(result.Gets, 1)
	c.count(result.PutStages, c.put.pieces)
	if peer == c.Task.Rank {
		c.count(result.BytesSelf, n)
	} else {
		c.env.Report.Served(c.Task.Tag, peer, n)
		c.count(result.BytesReceived, n)
	}
	return c.advance()
}

// execCopy loads a tile of the own rank and stores it.
func (c *Core) execCopy(op *program.Op) bool {
	if c.step > 0 {
		return true
	}
	n := c.aim(op, c.Task.Rank, c.Task.Rank)
	if !c.inside(c.put.ends()) {
		return false
	}
	c.env.Copied += n
	return c.advance()
}

// aim sets up the transfer of an op between two ranks and returns its bytes.
func (c *Core) aim(op *program.Op, from, to int) int64 {
	c.step = 1
	t := &c.put
	n := op.Bytes.At(&c.here)
	t.rect = program.Rect{Rows: 1, Width: n, ChunkWidth: op.Chunk}
	if op.Rect != nil {
		t.rect = *op.Rect
		n = t.rect.Rows * t.rect.Width
	}
	t.src = memory.Addr{Rank: from, Buf: c.buf(op.Src), Off: op.SrcOff.At(&c.here)}
	t.dst = memory.Addr{Rank: to, Buf: c.buf(op.Dst), Off: op.DstOff.At(&c.here)}
	t.op, t.stages, t.pieces = op, 1, 0
	t.after = engine.Duration(op.Barriers) * c.env.Spec.PipeBarrier.Scale(c.Task.Slow)
	if op.Pipeline {
		t.stages = 2
	}
	if n > 0 {
		t.pieces = t.rect.Pieces()
	}
	t.asked, t.loaded, t.begun, t.stored = 0, 0, 0, 0
	return n
}

// inside aborts where what an op moves reaches beyond a buffer: counts that are stale or
// doubled lead there.
func (c *Core) inside(areas ...memory.Area) bool {
	for i := range areas {
		if a := &areas[i]; !c.env.Mem.Holds(a) {
			b := c.env.Mem.Buffer(a.Buf)
			return c.violate("address", a.Off, int64(b.Size), "%s+%d, %d x %d B, is beyond the %d B of %s", b.Name, a.Off, a.Rows, a.Width, int64(b.Size), b.Name)
		}
	}
	return true
}

// ends are all that a transfer reads, and all that it writes.
func (t *transfer) ends() (from, to memory.Area) {
	from = memory.Area{Addr: t.src, Rows: t.rect.Rows, Width: t.rect.Width, Pitch: t.rect.SrcPitch}
	to = memory.Area{Addr: t.dst, Rows: t.rect.Rows, Width: t.rect.Width, Pitch: t.rect.DstPitch}
	return from, to
}

// piece returns where piece i is at one end of the transfer.
func (t *transfer) piece(i int64, end memory.Addr, pitch int64) memory.Area {
	row, col, rows, width := t.rect.Piece(i)
	end.Off += row*pitch + col
	return memory.Area{Addr: end, Rows: rows, Width: width, Pitch: pitch}
}

func (t *transfer) from(i int64) memory.Area { return t.piece(i, t.src, t.rect.SrcPitch) }
func (t *transfer) to(i int64) memory.Area   { return t.piece(i, t.dst, t.rect.DstPitch) }

// advance begins the load and the store that can begin; true when the transfer is over.
func (c *Core) advance() bool {
	t := &c.put
	if t.stored == t.pieces {
		return true
	}
	if t.begun < t.loaded && t.begun == t.stored {
		t.begun++
		c.storePiece(t.begun - 1)
	}
	if t.asked < t.pieces && t.asked == t.loaded && t.asked-t.stored < t.stages {
		t.asked++
		c.loadPiece(t.asked - 1)
	}
	c.turn(t.reason(c.Task.Rank))
	return false
}

// reason is what the block waits for: a store that is on its way, or else a load.
func (t *transfer) reason(rank int) result.Reason {
	switch storing := t.begun > t.stored; {
	case storing && t.dst.Rank == rank:
		return result.MTE3
	case !storing && t.src.Rank == rank:
		return result.MTE2
	}
	return result.RemoteWait
}

// loadPiece asks for a piece. The own memory is sampled now, a peer's when the request
// is there.
func (c *Core) loadPiece(i int64) {
	t := &c.put
	a := t.from(i)
	if a.Rank != c.Task.Rank {
		c.fetch(&t.data[i%2], a, evLoaded)
		return
	}
	t.data[i%2].Reset()
	c.env.Mem.CaptureArea(&t.data[i%2], &a)
	c.env.Eng.At(c.pipes.LoadArea(c.env.Eng.Now(), &a, c.Task.ID), c, evLoaded)
}

// pieceLoaded: a piece is in the Unified Buffer.
func (c *Core) pieceLoaded() {
	c.put.loaded++
	c.advance()
}

// storePiece stores a piece whose load has ended.
func (c *Core) storePiece(i int64) {
	t, now := &c.put, c.env.Eng.Now()
	a := t.to(i)
	t.end = now
	if a.Rank == c.Task.Rank {
		c.env.Eng.At(c.pipes.StoreArea(now, &a, c.Task.ID), c, evLanded)
		return
	}
	_, left := c.push(a.Rank, a.Bytes(), evLanded)
	t.end = left.Add(c.env.Net.Latency(c.Task.Rank, a.Rank))
}

// landed ends a store: the data is at its place and, for a peer, the drain knows.
func (c *Core) landed() {
	t, now := &c.put, c.env.Eng.Now()
	if now < t.end { // the fabric is faster than the remote MTE
		c.env.Eng.Because(cause.Remote.Why(c.Task.Rank, t.dst.Rank))
		c.env.Eng.At(t.end, c, evLanded)
		return
	}
	a := t.to(t.begun - 1)
	c.land(&a, &t.data[(t.begun-1)%2], t.op)
	done := now
	if a.Rank != c.Task.Rank {
		done = c.receive(&a)
	}
	c.env.Eng.Through(done, c.why(cause.Hop))
	c.env.Eng.Because(c.why(cause.Pipe))
	c.env.Eng.At(done.Add(t.after), c, evStored)
}

// pieceStored: the drain knows of a piece.
func (c *Core) pieceStored() {
	c.between(c.put.after)
	c.put.stored++
	if c.advance() {
		c.run()
	}
}

// land stores or, for an atomic op, adds data to its place.
func (c *Core) land(a *memory.Area, d *memory.Data, op *program.Op) {
	if !op.Atomic {
		c.env.Mem.LandArea(a, d)
		return
	}
	c.env.Mem.AddArea(a, d, func(dst, src []byte) { arith.Combine(dst, src, program.Sum, op.DType) })
}

// receive reports data that has landed at a peer and returns when the own rank knows
// that it is visible there.
func (c *Core) receive(a *memory.Area) engine.Time {
	c.env.Report.Received(c.Task.Tag, a.Rank, a.Bytes())
	stored := c.env.Mem.WriteArea(a, c.Task.ID).End
	c.env.Eng.Through(stored, cause.HBM.Why(a.Rank, 0))
	c.env.Eng.Because(c.why(cause.Hop))
	return stored.Add(c.env.Spec.Remote.Hop)
}
