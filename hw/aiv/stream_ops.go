package aiv

import (
	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// stream is the state of a Stream. MTE2 takes its loads in order, the vector unit the
// tiles that are there, and MTE3 those that have been worked on:
//
//	load m    after load m-1, and after the work on tile m-Depth, whose buffer it needs
//	work m    after work m-1, load m and store m-Depth
//	store m   after store m-1 and work m
//
// Where nothing is worked on, a tile's buffer is free when it has been stored.
type stream struct {
	op     *program.Op
	walk   tileWalk
	tile   memory.Area // being loaded
	second bool        // its second operand is next
	more   bool        // there is a tile to load
	armed  bool        // a load is scheduled
	depth  int64
	loads  int64 // tiles loaded, or on their way
	works  int64 // tiles worked on
	stores int64 // stores begun
	freed  int64 // stores whose buffer is free
	there  engine.Time
	last   engine.Time   // when all that has begun is over
	busy   bool          // a tile is being worked on
	tiles  []memory.Area // of the tiles whose buffers are not free, from number freed on
	ready  []engine.Time // when they are there
	data   []memory.Data // by number mod 2*depth: of tiles loaded, and of tiles worked on
}

// tileWalk goes through the tiles of a block's matrix, row by row of tiles, slice by slice.
type tileWalk struct {
	rows, low, high int64 // of the matrix; of the present slice
	row, col, pass  int64
}

// next returns the place and size of the next tile.
func (w *tileWalk) next(t *program.Tiles) (row, col, rows, width int64, ok bool) {
	if w.col >= t.Width {
		w.row, w.col = w.row+t.TileRows, 0
		if w.row >= w.high {
			if w.pass++; w.pass >= max(t.Passes, 1) {
				w.low, w.pass = w.high, 0
				w.high = min(w.low+t.Slice(w.rows), w.rows)
			}
			w.row = w.low
		}
	}
	if w.row >= w.rows {
		return 0, 0, 0, 0, false
	}
	row, col, rows, width = w.row, w.col, min(t.TileRows, w.high-w.row), min(t.TileWidth, t.Width-w.col)
	w.col += t.TileWidth
	return row, col, rows, width, true
}

// execStream starts the first load; the op is over when the last tile is there or, where
// it is stored, known to be.
func (c *Core) execStream(op *program.Op) bool {
	t, s := op.Tiles, &c.stream
	if c.step > 0 {
		return true
	}
	rows := op.Tiles.Rows.At(&c.here)
	if rows <= 0 || t.Width <= 0 {
		return true
	}
	c.step = 1
	*s = stream{op: op, depth: t.Depth, walk: tileWalk{rows: rows, high: min(t.Slice(rows), rows)}, tiles: s.tiles[:0], ready: s.ready[:0], data: s.data}
	for int64(len(s.data)) < 2*t.Depth {
		s.data = append(s.data, memory.Data{})
	}
	all := memory.Area{Addr: memory.Addr{Rank: c.Task.Rank, Buf: c.buf(op.Src), Off: op.SrcOff.At(&c.here)}, Rows: rows, Width: t.Width, Pitch: t.Pitch}
	if !c.inside(all) {
		return false
	}
	c.turn(result.MTE2)
	c.nextTile()
	c.loadTiles()
	return false
}

// nextTile finds the next tile to load.
func (c *Core) nextTile() {
	s := &c.stream
	row, col, rows, width, ok := s.walk.next(s.op.Tiles)
	if s.more = ok; ok {
		off := s.op.SrcOff.At(&c.here) + row*s.op.Tiles.Pitch + col
		s.tile = memory.Area{Addr: memory.Addr{Rank: c.Task.Rank, Buf: c.buf(s.op.Src), Off: off}, Rows: rows, Width: width, Pitch: s.op.Tiles.Pitch}
	}
}

// free reports whether the buffer that the next tile needs is free.
func (s *stream) free() bool {
	switch t := s.op.Tiles; {
	case s.depth == 0:
		return true
	case t.Work:
		return s.loads-s.works < s.depth
	default:
		return s.loads-s.freed < s.depth
	}
}

// loadTiles begins the next load, now that MTE2 is free.
func (c *Core) loadTiles() {
	s, now := &c.stream, c.env.Eng.Now()
	s.armed = false
	if !s.more || !s.second && !s.free() {
		return
	}
	a := s.tile
	if s.second {
		a.Buf = c.buf(s.op.Tiles.Other)
	} else if s.depth > 0 && s.op.Tiles.Store {
		d := &s.data[s.loads%(2*s.depth)]
		d.Reset()
		c.env.Mem.CaptureArea(d, &a)
	}
	s.there = max(s.there, c.pipes.LoadArea(now, &a, c.Task.ID))
	s.last = max(s.last, s.there)
	c.env.Eng.Progress()
	if s.op.Tiles.Two && !s.second {
		s.second = true
	} else {
		s.second = false
		s.loads++
		c.queueTile(a)
		if c.nextTile(); !s.more && s.op.Tiles.Store {
			c.turn(result.MTE3)
		}
	}
	c.moreTiles()
}

// queueTile gives a tile that is on its way to who comes next.
func (c *Core) queueTile(a memory.Area) {
	s := &c.stream
	if s.depth == 0 {
		return
	}
	s.tiles, s.ready = append(s.tiles, a), append(s.ready, s.there)
	c.workOn()
}

// moreTiles schedules the next load, or ends the op when there is none and all is over.
func (c *Core) moreTiles() {
	s := &c.stream
	switch {
	case s.armed:
	case s.more && (s.second || s.free()):
		s.armed = true
		c.env.Eng.Because(c.why(cause.MTE2))
		c.env.Eng.At(max(c.env.Eng.Now(), c.pipes.LoadFree()), c, evTile)
	case !s.more && (s.depth == 0 || s.freed == s.loads):
		c.env.Eng.Because(c.why(spent[c.reason]))
		c.env.Eng.At(max(s.last, c.env.Eng.Now()), c, evResume)
	}
}

// workOn lets the vector unit take the oldest tile that it has not taken, one at a time.
func (c *Core) workOn() {
	s, t := &c.stream, c.stream.op.Tiles
	i := s.works - s.freed
	if s.busy || i >= int64(len(s.ready)) || i >= s.depth {
		return
	}
	start, span := max(s.ready[i], c.env.Eng.Now()), t.Each
	if t.Work {
		span += c.env.Spec.Vector.Time(s.op.Reduce, s.tiles[i].Bytes(), c.env.Spec.Clock)
	}
	s.busy = true
	c.env.Eng.Through(start, cause.Latency.Why(c.Task.Rank, 0))
	c.env.Eng.Because(c.why(cause.Vector))
	c.env.Eng.At(start.Add(span.Scale(c.Task.Slow)), c, evWorked)
}

// tileWorked: the oldest tile can be stored, and its buffers to load are free.
func (c *Core) tileWorked() {
	c.stream.busy = false
	c.stream.works++
	c.storeTiles()
	c.workOn()
	c.moreTiles()
}

// storeTiles begins the next store, once MTE3 is through with the one before.
func (c *Core) storeTiles() {
	s, now := &c.stream, c.env.Eng.Now()
	if s.stores == s.works || s.stores > s.freed {
		return
	}
	a, d := c.target(s.stores)
	s.stores++
	switch {
	case !s.op.Tiles.Store:
		c.env.Eng.At(now, c, evFreed)
	case a.Rank != c.Task.Rank:
		begin, left := c.sendTile(a, d)
		c.env.Eng.Through(begin, cause.RemoteQ.Why(c.Task.Rank, a.Rank))
		c.env.Eng.Because(cause.Remote.Why(c.Task.Rank, a.Rank))
		c.env.Eng.At(left, c, evFreed)
	default:
		s.last = max(s.last, c.pipes.StoreArea(now, &a, c.Task.ID))
		c.env.Eng.At(max(c.pipes.StoreFree(), now), c, evFreed)
	}
}

// target is where tile i is stored, and what it holds.
func (c *Core) target(i int64) (memory.Area, *memory.Data) {
	s := &c.stream
	a := s.tiles[i-s.freed]
	a.Off += s.op.DstOff.At(&c.here) - s.op.SrcOff.At(&c.here)
	a.Buf = c.buf(s.op.Dst)
	if n := s.op.Tiles.Spread; n > 0 {
		a.Rank = (c.Task.Rank + 1 + int(i)) % n
	}
	return a, &s.data[i%(2*s.depth)]
}

// sendTile stores a tile at a peer and returns when it begins to leave, and when MTE3 can
// take the next.
func (c *Core) sendTile(a memory.Area, d *memory.Data) (begin, free engine.Time) {
	c.count(result.RemoteStores, 1)
	c.count(result.BytesSent, a.Bytes())
	i := c.slot()
	f := c.flights[i]
	f.data.Set(d)
	f.op, f.at = c.stream.op, a
	begin, left := c.env.Links.send(c.Task.Rank, a.Rank, a.Bytes(), c.Task.ID, c, evFlight|uint64(i)<<evBits)
	f.end = left.Add(c.env.Net.Latency(c.Task.Rank, a.Rank))
	c.flying++
	now := c.env.Eng.Now()
	left = max(left, now.Add(c.env.Spec.Remote.Store.Scale(c.Task.Slow)))
	c.pipes.StoreRemote(now, a.Bytes(), left)
	return begin, max(left, c.pipes.StoreFree())
}

// tileFreed: MTE3 is through with the oldest tile.
func (c *Core) tileFreed() {
	s := &c.stream
	if a, d := c.target(s.freed); s.op.Tiles.Store && a.Rank == c.Task.Rank {
		c.env.Mem.LandArea(&a, d)
		c.env.Copied += a.Bytes()
	}
	s.tiles, s.ready = s.tiles[1:], s.ready[1:]
	s.freed++
	c.storeTiles()
	c.workOn()
	c.moreTiles()
}
