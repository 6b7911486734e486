package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/arith"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// put and get (semantics 3.3) as small kernels on a ring, with the handshake that makes
// them right:
//
//	put   rank r puts src to dst of rank r+1, notifies it, waits for rank r-1 and
//	      copies what has come to output: out_r = src_(r-1)
//	get   rank r stages input in its window, notifies rank r-1, which reads it, waits for
//	      rank r+1 and gets that rank's window: out_r = input_(r+1)
//
// full moves all ROWS rows of SIZE elements; region moves ROWS-1 rows, row 0 on, to row
// 1 on. A stage holds chunk_rows by chunk_cols elements; with pipeline there are two.
// With atomic every rank adds src to dst of rank 0, which waits for all:
//
//	out_0 = sum over r of src_r
//
// Each rank sends and receives N bytes, in ceil(R/cr)*ceil(W/cc) stages.
var (
	_ = register(mover("put", "full", "TPUT of a whole tensor to rank r+1, or added to rank 0's"))
	_ = register(mover("put", "region", "TPUT of rows to other rows of rank r+1"))
	_ = register(mover("get", "full", "TGET of a whole window from rank r+1"))
	_ = register(mover("get", "region", "TGET of rows of rank r+1 to other rows"))
)

func mover(op, form, doc string) Algorithm {
	a := Algorithm{
		Op: op, Form: form, Doc: doc, Default: form == "full",
		Fields:  []string{"dtype", "size", "message", "rows", "chunk_rows", "chunk_cols", "pipeline", "signal_columns", "transport"},
		Check:   checkMover,
		Record:  recordPut,
		Formula: func(c *Call, rank, _ int) result.Counters { return moverFormula(c, rank) },
		Formulas: [][2]string{
			{"bytes_sent", "N; atomic: 0 at rank 0"},
			{"bytes_received", "N; atomic: (P-1) * N at rank 0"},
			{op + "s", "1"},
			{"put_stages", "ceil(ROWS/chunk_rows) * ceil(SIZE/chunk_cols)"},
			{"notifies", "1"},
		},
		Bounds:   moverBounds,
		Bytes:    func(c *Call, _, _ int) engine.Bytes { return engine.Bytes(c.area().bytes()) },
		Stage:    func(c *Call) int64 { return c.moverStage() },
		Mistakes: []Mistake{{"wrong_direction", "mixes up push and pull: acts on rank r-1 instead of r+1", "F15"}},
	}
	if op == "put" {
		a.Fields = append(a.Fields, "atomic")
	} else {
		a.Record = recordGet
		a.Mistakes = append(a.Mistakes, Mistake{"wrong_neighbour", "notifies rank r+1, not rank r-1 which reads it", "F19"})
	}
	if form == "region" {
		a.Mistakes = append(a.Mistakes, Mistake{"wrong_layout", "counts the rows of the destination one element too short", "F8"})
	}
	return a
}

// area is what a put or get moves, in bytes, of tensors of whole rows.
type area struct{ all, rows, width, srcOff, dstOff int64 }

func (a area) bytes() int64 { return a.rows * a.width }
func (a area) size() int64  { return a.all * a.width }

func (c *Call) area() area {
	a := area{all: int64(max(c.Rows, 1)), width: c.Chunk()}
	if a.rows = a.all; c.Form == "region" {
		a.rows--
		a.dstOff = a.width
	}
	return a
}

// moverStage is the bytes of a put's or get's stages.
func (c *Call) moverStage() int64 {
	a := c.area()
	rows, cols := a.rows, int64(c.Size)
	if c.ChunkRows > 0 {
		rows = min(rows, int64(c.ChunkRows))
	}
	if c.ChunkCols > 0 {
		cols = min(cols, int64(c.ChunkCols))
	}
	n := rows * cols * int64(ElemSize(c.DType))
	if c.Pipeline {
		n *= 2
	}
	return n
}

// pieces is how many stages a put or get takes (semantics 3.3, rule 8).
func (c *Call) pieces() int64 {
	rows, cols := c.area().rows, int64(1)
	if c.ChunkRows > 0 {
		rows = ceil(rows, int64(c.ChunkRows))
	} else {
		rows = min(rows, 1)
	}
	if c.ChunkCols > 0 {
		cols = ceil(int64(c.Size), int64(c.ChunkCols))
	}
	return rows * cols
}

func checkMover(c *Call) []error {
	var w refusals
	w.common(c)
	w.payload(c)
	if c.Form == "region" && c.Rows < 2 {
		w.add("rows: %d; a region of rows 0 to ROWS-2 that goes to rows 1 to ROWS-1 takes at least 2", c.Rows)
	}
	if c.Pipeline && (c.ChunkRows <= 0 || c.ChunkCols <= 0) {
		w.add("pipeline: requires both chunk_rows > 0 and chunk_cols > 0 (here %d and %d)", c.ChunkRows, c.ChunkCols)
	}
	w.atomic(c)
	local, remote := "src", "dst"
	if c.Op == "get" {
		local, remote = "dst", "src"
	}
	w = append(w, c.checkTransport("mte")...)
	return append(w, c.checkOperands([]operand{{local, false, true}, {remote, true, false}, {"signal", true, false}},
		[][2]string{{"dst", "src"}, {"dst", "signal"}, {"src", "signal"}})...)
}

// atomic reports what AtomicAdd cannot add (semantics 3.3, rule 7).
func (w *refusals) atomic(c *Call) {
	if c.Atomic && c.DType == "BF16" && c.Platform != "" && c.Platform != "a2a3" {
		w.add("dtype: AtomicAdd of BF16 is there on 910B only, the machine is %s", c.Platform)
	}
}

// move is the put or get of the call.
func (c *Call) move(dst, src program.Buf, peer program.Expr) program.Op {
	a := c.area()
	op := program.Op{
		Kind: program.Put, Dst: dst, Src: src, Peer: peer, DstOff: program.Const(a.dstOff), SrcOff: program.Const(a.srcOff),
		Pipeline: c.Pipeline, Atomic: c.Atomic, DType: c.Elem(), Transport: c.carrier(),
	}
	if c.Op == "get" {
		op.Kind = program.Get
	}
	if c.Mistake == "wrong_layout" {
		op.DstOff.C -= int64(ElemSize(c.DType))
	}
	if c.ChunkCols > 0 && c.ChunkCols < c.Size {
		op.Rect = &program.Rect{
			Rows: a.rows, Width: a.width, SrcPitch: a.width, DstPitch: a.width,
			ChunkRows: int64(c.ChunkRows), ChunkWidth: int64(c.ChunkCols) * int64(ElemSize(c.DType)),
		}
		return op
	}
	op.Bytes = program.Const(a.bytes())
	if op.Chunk = a.bytes(); c.ChunkRows > 0 {
		op.Chunk = min(op.Chunk, int64(c.ChunkRows)*a.width)
	}
	return op
}

// reach returns the rank that the call acts on and the one that acts on it.
func (c *Call) reach() (to, from program.Expr) {
	if c.Mistake == "wrong_direction" {
		return peerAhead(c.Ranks, -1), peerAhead(c.Ranks, 1)
	}
	return peerAhead(c.Ranks, 1), peerAhead(c.Ranks, -1)
}

// ring is what the calls on a ring are recorded with.
type ring struct{ local, window, signal, out program.Buf }

func recordPut(p *Plan, c *Call) {
	a := c.area()
	b := ring{
		local:  p.buffer("src", program.Buffer{Size: engine.Bytes(a.size()), Fill: c.source(int(a.size() / c.Elem().Size()))}),
		window: p.buffer("dst", program.Buffer{Window: true, Size: engine.Bytes(a.size())}),
		signal: p.signalWindow(c.Ranks),
		out:    p.buffer("output", program.Buffer{Size: engine.Bytes(a.bytes()), Fill: program.Zero{}}),
	}
	text := &program.Program{Name: c.Op + "/" + c.Form}
	back := func() {
		text.Phase("read_back").Add(copyTile(b.out, b.window, program.Expr{}, program.Const(a.dstOff), a.bytes(), stageCap))
	}
	text.Phase("put")
	if c.Atomic {
		text.Add(c.move(b.window, b.local, program.Const(0)))
		c.gatherAt(text, b.signal, back)
	} else {
		to, from := c.reach()
		text.Add(c.move(b.window, b.local, to))
		shake(text.Phase("handshake"), b.signal, to, from)
		back()
	}
	c.ringCalls(p, b, text, func(k int) []program.Promise {
		if c.Atomic {
			return []program.Promise{{Buf: b.window, Values: p.added(c, k, a.dstOff, a.bytes())}, {Buf: b.out, Values: p.added(c, k, 0, a.bytes())}}
		}
		return []program.Promise{
			{Buf: b.window, Ranges: p.from(c, b.local, -1, k, a.srcOff, a.dstOff, a.bytes())},
			{Buf: b.out, Ranges: p.from(c, b.local, -1, k, a.srcOff, 0, a.bytes())},
		}
	})
}

// gatherAt has every rank tell rank 0, which waits for all and does the rest.
func (c *Call) gatherAt(p *program.Program, signal program.Buf, rest func()) {
	p.Phase("handshake")
	p.Loop(allBut(c.Ranks, 0), func() {
		p.Add(program.Op{Kind: program.Notify, Signal: signal, Peer: program.Const(0), Cell: program.Own, Value: program.Const(1)})
	})
	p.Loop(only(c.Ranks, 0), func() {
		p.Add(waitAll(signal, program.Const(1)))
		rest()
	})
}

// ringCalls records a call whose source is its only input.
func (c *Call) ringCalls(p *Plan, b ring, text *program.Program, promises func(k int) []program.Promise) {
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name, t.Promises = p.item.Name, promises(k)
		return []program.Task{t}
	}, []program.Buf{b.window, b.signal}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.local}} })
}

// from promises n bytes at dst that come from src of rank r+ahead's buffer.
func (p *Plan) from(c *Call, buf program.Buf, ahead, k int, src, dst, n int64) ranges {
	return func(rank int, yield func(off, n int64, from program.Origin)) {
		yield(dst, n, program.Origin{Rank: ((rank+ahead)%c.Ranks + c.Ranks) % c.Ranks, Buf: buf, Version: p.version(k), Off: src})
	}
}

func recordGet(p *Plan, c *Call) {
	a := c.area()
	b := ring{
		local:  p.buffer("input", program.Buffer{Size: engine.Bytes(a.size()), Fill: c.source(int(a.size() / c.Elem().Size()))}),
		window: p.buffer("src", program.Buffer{Window: true, Size: engine.Bytes(a.size())}),
		signal: p.signalWindow(c.Ranks),
		out:    p.buffer("dst", program.Buffer{Size: engine.Bytes(a.size()), Fill: program.Zero{}}),
	}
	text := &program.Program{Name: c.Op + "/" + c.Form}
	c.stageAndTell(text, b, a.size())
	to, _ := c.reach()
	text.Phase("get").Add(c.move(b.out, b.window, to))
	c.ringCalls(p, b, text, func(k int) []program.Promise {
		return []program.Promise{{Buf: b.out, Ranges: p.from(c, b.local, 1, k, a.srcOff, a.dstOff, a.bytes())}}
	})
}

// stageAndTell copies the input to the own window, tells the rank that reads it and
// waits until the rank that the call reads has done so.
func (c *Call) stageAndTell(p *program.Program, b ring, n int64) {
	p.Phase("stage").Add(copyTile(b.window, b.local, program.Expr{}, program.Expr{}, n, stageCap))
	p.Phase("handshake").Add(program.Op{Kind: program.Fence})
	to, from := c.reach()
	if c.Mistake == "wrong_neighbour" {
		shake(p, b.signal, to, from)
		return
	}
	shake(p, b.signal, from, to)
}

// addend is the content of what all ranks add to one place: the same value in every
// element, Base + Step*r, and one more a version.
type addend struct {
	t          program.DType
	base, step int64
}

// Generate implements program.Content.
func (x addend) Generate(dst []byte, rank int, version uint32, off int64) {
	generate(dst, x.t, off, func(int64) float64 { return float64(x.base + x.step*int64(rank) + int64(version)) })
}

// exact is the integer up to which a type holds all of them, 0 where sums wrap around
// and so do not depend on their order either.
var exact = map[program.DType]int64{program.FP32: 1 << 24, program.FP16: 1 << 11, program.BF16: 1 << 8}

// source is the content of what is moved: values to add, which sum up to the same in
// any order, or a ramp.
func (c *Call) source(n int) program.Content {
	if !c.Atomic {
		return c.ramp(n)
	}
	x := addend{t: c.Elem(), base: 10, step: 22}
	p := int64(c.Ranks)
	if most := exact[x.t]; most > 0 && p*x.base+x.step*p*(p-1)/2 > most/2 {
		x.base, x.step = 1, 0
	}
	return x
}

// added promises the sums of what all ranks have added to n bytes at off of rank 0's
// buffer since it was zero.
func (p *Plan) added(c *Call, k int, off, n int64) func(rank int, yield func(off int64, want []byte)) {
	first, fill := p.history(k), c.source(0)
	return func(rank int, yield func(off int64, want []byte)) {
		if rank != 0 {
			return
		}
		e := c.Elem().Size()
		sum, one := make([]byte, n), make([]byte, e)
		for j := first; j <= k; j++ {
			for r := range c.Ranks {
				fill.Generate(one, r, p.version(j), 0)
				arith.Combine(sum[:e], one, program.Sum, c.Elem())
			}
		}
		for done := e; done < n; done *= 2 { // all elements are the same
			copy(sum[done:], sum[:done])
		}
		yield(off, sum)
	}
}

func moverFormula(c *Call, rank int) result.Counters {
	out, a := counted(), c.area()
	if c.carrier() == program.MTE {
		out[result.PutStages] = c.pieces()
	}
	kind := program.Put
	if c.Op == "get" {
		kind = program.Get
	}
	c.carried(&out, kind, 1, a.bytes()) // rows that follow one another are one range
	c.ringFormula(&out, rank, a.bytes())
	return out
}

// ringFormula counts n bytes a rank and their handshake.
func (c *Call) ringFormula(out *result.Counters, rank int, n int64) {
	out[result.BytesSent], out[result.BytesReceived] = n, n
	out[result.Notifies], out[result.PollsSatisfied] = 1, 1
	if !c.Atomic {
		return
	}
	out[result.BytesReceived], out[result.PollsSatisfied] = 0, 0
	if peers := int64(c.Ranks - 1); rank == 0 {
		out[result.BytesSent], out[result.BytesSelf], out[result.BytesReceived] = 0, n, peers*n
		out[result.Notifies], out[result.PollsSatisfied] = 0, peers
	}
}

// moverBounds: the remote legs of a rank's stages are serial, even where there are two
// stages, and a message tells that they are over, or that they can begin.
func moverBounds(c *Call, l *hw.Limits, _ int) []Bound {
	return c.ringBounds(l, c.pieces(), c.area().bytes())
}

// ringBounds are those of n bytes that each rank moves to or from its neighbour, or to
// rank 0, in so many serial trips.
func (c *Call) ringBounds(l *hw.Limits, trips, n int64) []Bound {
	launch := l.Launch(1)
	_, near := farthest(l)
	wire := slowestRing(c, l, 1, n)
	if c.Op == "put" || c.Op == "remote_store" || c.Op == "defer_wait" {
		wire = slowestRing(c, l, -1, n)
	}
	legs := c.trips(trips, near) + near
	bounds := []Bound{{"latency", launch + legs, "launch, serial trips to the neighbour and a message"}}
	if c.Atomic {
		return append(bounds, Bound{"ingress", launch + 2*near + l.Ingress(0).Span(engine.Bytes(int64(c.Ranks-1)*n)), "what the peers add to rank 0 at its fabric rate"})
	}
	return append(bounds, Bound{c.linkName(), launch + legs + wire, "the transfer of one rank at the rate to a peer, its trips and a message"})
}
