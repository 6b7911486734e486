package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/arith"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// remote_load and remote_store (semantics 3.3) as small kernels on a ring: what moves is
// a tile of the Unified Buffer.
//
//	remote_load   rank r stages input in its window, notifies rank r-1, which reads it,
//	              waits for rank r+1 and loads that rank's window: out_r = input_(r+1)
//	remote_store  rank r loads input and stores it at rank r+1; a fence waits until it is
//	              there, then a notify says so; rank r waits for rank r-1 and copies what
//	              has come to output: out_r = input_(r-1)
//
//	ring     the row in tiles of chunk_cols elements; with atomic remote_store adds it to
//	         rank 0's instead
//	halves   the row as two stores of half a row
//	doubled  a computed value: twice the row
//
// Each rank sends and receives N bytes.
var (
	_ = register(tileMover("remote_load", "ring", "row of rank r+1 loaded into a tile"))
	_ = register(tileMover("remote_store", "ring", "row stored at rank r+1, or added to rank 0's"))
	_ = register(tileMover("remote_store", "halves", "two half rows stored at rank r+1"))
	_ = register(tileMover("remote_store", "doubled", "twice the row stored at rank r+1"))
)

func tileMover(op, form, doc string) Algorithm {
	a := Algorithm{
		Op: op, Form: form, Doc: doc, Default: form == "ring",
		Fields:  []string{"dtype", "size", "message", "signal_columns", "transport"},
		Check:   checkTileMover,
		Record:  recordRemoteStore,
		Formula: func(c *Call, rank, _ int) result.Counters { return tileMoverFormula(c, rank) },
		Formulas: [][2]string{
			{"bytes_sent", "N; atomic: 0 at rank 0"},
			{"bytes_received", "N; atomic: (P-1) * N at rank 0"},
			{op + "s", "ceil(SIZE/chunk_cols)"},
			{"notifies", "1"},
		},
		Bounds: tileMoverBounds,
		Bytes: func(c *Call, rank, _ int) engine.Bytes {
			if c.Atomic && rank == 0 {
				return 0 // a store to the own rank is no transfer
			}
			return engine.Bytes(c.Chunk())
		},
		Stage:    func(c *Call) int64 { return c.tileOf() },
		Mistakes: []Mistake{{"wrong_direction", "mixes up push and pull: acts on rank r-1 instead of r+1", "F15"}},
	}
	switch form {
	case "ring":
		a.Fields = append(a.Fields, "chunk_cols")
	case "halves":
		a.Formulas[2][1] = "2"
	case "doubled":
		a.Formulas[2][1] = "1"
	}
	if op == "remote_load" {
		a.Record = recordRemoteLoad
		a.Mistakes = append(a.Mistakes, Mistake{"wrong_neighbour", "notifies rank r+1, not rank r-1 which reads it", "F19"})
		return a
	}
	if form == "ring" {
		a.Fields = append(a.Fields, "atomic")
	}
	a.Mistakes = append(a.Mistakes, Mistake{"no_fence", "notifies without a fence behind the store", "F16"})
	return a
}

// tileOf is the bytes of one tile of the call.
func (c *Call) tileOf() int64 {
	switch {
	case c.Form == "halves":
		return c.halves()[1]
	case c.ChunkCols > 0:
		return min(c.Chunk(), int64(c.ChunkCols)*int64(ElemSize(c.DType)))
	}
	return c.Chunk()
}

// halves are the bytes of the two halves of a row.
func (c *Call) halves() [2]int64 {
	first := int64(c.Size/2) * int64(ElemSize(c.DType))
	return [2]int64{first, c.Chunk() - first}
}

func checkTileMover(c *Call) []error {
	var w refusals
	w.common(c)
	w.payload(c)
	least := c.Size
	if c.Form == "halves" {
		least /= 2
	}
	w.tile("size", c, least)
	w.tile("chunk_cols", c, c.ChunkCols)
	w.atomic(c)
	w = append(w, c.checkTransport("mte")...)
	return append(w, c.checkOperands([]operand{{"input", false, true}, {"data", true, false}, {"signal", true, false}},
		[][2]string{{"data", "signal"}, {"input", "data"}, {"input", "signal"}})...)
}

// rowRing makes the buffers of a kernel that moves one row on a ring.
func (c *Call) rowRing(p *Plan) ring {
	row := engine.Bytes(c.Chunk())
	return ring{
		local:  p.buffer("input", program.Buffer{Size: row, Fill: c.source(c.Size)}),
		window: p.buffer("data", program.Buffer{Window: true, Size: row}),
		signal: p.signalWindow(c.Ranks),
		out:    p.buffer("output", program.Buffer{Size: row, Fill: program.Zero{}}),
	}
}

func recordRemoteLoad(p *Plan, c *Call) {
	b, via := c.rowRing(p), p.scratch(c, c.tileOf())
	text := &program.Program{Name: c.Op + "/" + c.Form}
	c.stageAndTell(text, b, c.Chunk())
	to, _ := c.reach()
	t := tiled{n: c.Chunk(), tile: c.tileOf()}
	text.Phase("load")
	t.loop(text, func() {
		c.fetch(text, via, program.Op{Src: b.window, SrcOff: t.at(), Peer: to, Bytes: t.bytes()})
		text.Add(program.Op{Kind: program.StoreTile, Dst: b.out, DstOff: t.at(), Bytes: t.bytes()})
	})
	c.ringCalls(p, b, text, func(k int) []program.Promise {
		return []program.Promise{{Buf: b.out, Ranges: p.from(c, b.local, 1, k, 0, 0, c.Chunk())}}
	})
}

func recordRemoteStore(p *Plan, c *Call) {
	b, via := c.rowRing(p), p.scratch(c, c.tileOf())
	text := &program.Program{Name: c.Op + "/" + c.Form}
	to, from := c.reach()
	if c.Atomic {
		to = program.Const(0)
	}
	text.Phase("store")
	c.storeRow(text, b, via, to)
	if c.Mistake != "no_fence" {
		text.Phase("handshake").Add(program.Op{Kind: program.Fence})
	}
	back := func() {
		text.Phase("read_back").Add(copyTile(b.out, b.window, program.Expr{}, program.Expr{}, c.Chunk(), stageCap))
	}
	if c.Atomic {
		c.gatherAt(text, b.signal, back)
	} else {
		shake(text.Phase("handshake"), b.signal, to, from)
		back()
	}
	c.ringCalls(p, b, text, func(k int) []program.Promise {
		switch {
		case c.Atomic:
			return []program.Promise{{Buf: b.window, Values: p.added(c, k, 0, c.Chunk())}, {Buf: b.out, Values: p.added(c, k, 0, c.Chunk())}}
		case c.Form == "doubled":
			return []program.Promise{{Buf: b.window, Values: p.doubled(c, k)}, {Buf: b.out, Values: p.doubled(c, k)}}
		}
		golden := p.from(c, b.local, -1, k, 0, 0, c.Chunk())
		return []program.Promise{{Buf: b.window, Ranges: golden}, {Buf: b.out, Ranges: golden}}
	})
}

// storeRow records the stores of the row at a rank.
func (c *Call) storeRow(p *program.Program, b ring, via scratch, to program.Expr) {
	move := func(tile uint8, at, n program.Expr) {
		p.Add(program.Op{Kind: program.LoadTile, Tile: tile, Src: b.local, SrcOff: at, Bytes: n})
		if c.Form == "doubled" {
			p.Add(program.Op{Kind: program.Combine, Tile: tile, Other: tile, Bytes: n, DType: c.Elem()})
		}
		c.deliver(p, via, program.Op{Tile: tile, Dst: b.window, DstOff: at, Peer: to, Bytes: n, Atomic: c.Atomic, DType: c.Elem()})
	}
	if c.Form == "halves" {
		h := c.halves()
		move(0, program.Expr{}, program.Const(h[0]))
		move(1, program.Const(h[0]), program.Const(h[1]))
		return
	}
	t := tiled{n: c.Chunk(), tile: c.tileOf()}
	t.loop(p, func() { move(0, t.at(), t.bytes()) })
}

// doubled promises twice the row of rank r-1.
func (p *Plan) doubled(c *Call, k int) func(rank int, yield func(off int64, want []byte)) {
	return func(rank int, yield func(off int64, want []byte)) {
		row := make([]byte, c.Chunk())
		c.ramp(c.Size).Generate(row, (rank-1+c.Ranks)%c.Ranks, p.version(k), 0)
		arith.Combine(row, row, program.Sum, c.Elem())
		yield(0, row)
	}
}

func tileMoverFormula(c *Call, rank int) result.Counters {
	out := counted()
	c.ringFormula(&out, rank, c.Chunk())
	out[result.BytesSelf] = 0 // a tile stored in the own memory
	kind := program.RemoteStore
	if c.Op == "remote_load" {
		kind = program.RemoteLoad
	}
	switch {
	case c.Form == "halves":
		h := c.halves()
		c.carried(&out, kind, 1, h[0])
		c.carried(&out, kind, 1, h[1])
	case !c.Atomic || rank != 0:
		c.carriedTiles(&out, kind, 1, c.Chunk(), c.tileOf())
	}
	if c.Form == "doubled" {
		out[result.Combined] = c.Chunk()
	}
	return out
}

// tileMoverBounds: loads are serial, since each tile is stored before the next is loaded;
// of stores only the last one is waited for.
func tileMoverBounds(c *Call, l *hw.Limits, _ int) []Bound {
	trips := int64(1)
	if c.Op == "remote_load" {
		trips = ceil(c.Chunk(), c.tileOf())
	}
	return c.ringBounds(l, trips, c.Chunk())
}
