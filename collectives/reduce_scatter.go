package collectives

import (
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// reduce_scatter (semantics 5.4): row j of rank k's window [P,SIZE] is what k contributes
// to rank j; afterwards row r of rank r's window is the reduction of all ranks' row r. The
// own row is combined first, then the peers' in ascending order:
//
//	ready      barrier: all windows are there
//	reduce     own tile, then each peer's, combined        } for each tile
//	read_done  barrier: everybody has read this tile       }
//	store      the tile to row r                           }
//	epilogue   take the credits back: 1 + tiles
//
// hand: stages all P rows first, and the result goes to an output; no barrier but the first.
// incore: one tile up to 16 KiB; above, chunks of 16 KiB. What a remote load reads of the
// last chunk of FP16 is widened to 32 bytes and then trimmed.
// host: Sum of FP32 in tiles of 256 elements that are stored at once, and a single barrier
// behind them all; at most 16 ranks.
var (
	_ = register(reduceScatter("hand", "a barrier, then row my_rank of every peer: the tutorial's kernel"))
	_ = register(reduceScatter("incore", "composite inside one AIV kernel: in place, a barrier for each 16 KiB chunk"))
	_ = register(reduceScatter("host", "HOST builtin: Sum of FP32, 256-element tiles, two barriers, at most 16 ranks"))
)

func reduceScatter(form, doc string) Algorithm {
	a := Algorithm{
		Op: "reduce_scatter", Form: form, Doc: doc, Default: form == "incore",
		Fields: []string{"dtype", "size", "message", "reduce", "signal_columns", "transport", "what_if"},
		Mistakes: []Mistake{
			{"own_twice", "adds the own row again among the peers'", "F22"},
			{"seed_zero", "seeds the accumulator with zero instead of the own row", "F39"},
			{"fixed_row", "reduces row 0 on every rank", "F40"},
		},
		Check:   checkReduceScatter,
		Record:  recordReduceScatter,
		Formula: func(c *Call, _, _ int) result.Counters { return reduceScatterFormula(c) },
		Formulas: [][2]string{
			{"bytes_received", "(P-1) * SIZE"}, {"bytes_sent", "(P-1) * SIZE"}, {"combined", "(P-1) * SIZE"},
			{"remote_loads", "(P-1) * ceil(SIZE/tile), tile 16 KiB or chunk_cols"}, {"notifies", "P-1"}, {"self_adds", "0"},
		},
		Bounds: reductionBounds(scatterWork),
		Bytes: func(c *Call, _, _ int) engine.Bytes {
			if c.silent() {
				return 0
			}
			return engine.Bytes(int64(c.Ranks) * c.Chunk())
		},
	}
	switch form {
	case "hand":
		a.Fields = append(a.Fields, "chunk_cols")
	case "incore":
		a.Formulas[0][1] += "; FP16: SIZE rounded up to 32 B"
		a.Formulas[1][1] = a.Formulas[0][1]
		a.Formulas[3][1] = "(P-1) * K, K = ceil(SIZE/16 KiB)"
		a.Formulas[4][1], a.Formulas[5][1] = "(1+K)(P-1)", "P-1"
	case "host":
		a.Formulas[3][1] = "(P-1) * ceil(SIZE/256)"
		a.Formulas[4][1], a.Formulas[5][1] = "2(P-1)", "P-1"
		a.Formulas = append(a.Formulas, [2]string{"pipe_barriers", "4"})
	}
	return a
}

func checkReduceScatter(c *Call) []error {
	var w refusals
	w.common(c)
	w.reduction(c)
	switch c.Form {
	case "hand":
		w.tile("size", c, c.Size)
		w.tile("chunk_cols", c, c.ChunkCols)
	case "incore":
		if ElemSize(c.DType) > 0 && c.DType != "FP32" && c.DType != "FP16" {
			w.add("dtype: target dtype must be FP16 or FP32, not %s", c.DType)
		}
	case "host":
		if c.reduce() != program.Sum {
			w.add("reduce: the HOST builtin takes Sum, not %s", c.reduce())
		}
	}
	ops := []operand{{"target", true, false}, {"signal", true, false}}
	distinct := [][2]string{{"target", "signal"}}
	if c.Form == "hand" {
		ops = []operand{{"input", false, true}, {"data", true, false}, {"signal", true, false}, {"output", false, false}}
		distinct = [][2]string{{"data", "signal"}, {"input", "data"}}
	}
	return append(w, c.checkOperands(ops, distinct)...)
}

// scatter is how a call's row is cut.
type scatter struct {
	*Call
	n, wide, tile int64
}

func (c *Call) scatter() scatter {
	x := scatter{c, c.Chunk(), c.Chunk(), c.stageTile()}
	switch {
	case c.Form == "host":
		x.tile = hostTile * int64(ElemSize(c.DType))
	case c.Form == "incore":
		if x.tile = stageCap; c.DType == "FP16" {
			x.wide = widened(x.n)
		}
	}
	return x
}

func recordReduceScatter(p *Plan, c *Call) {
	x, all := c.scatter(), int64(c.Ranks)*c.Chunk()
	text := &program.Program{Name: c.Op + "/" + c.Form}
	s := p.scratch(c, x.tile)
	if c.Form == "hand" {
		b := p.handed(c, all, x.n, c.Ranks)
		x.byHand(text, s, b, p.zeros(c, x.tile))
		gold := p.golden(c, b.in)
		p.handedCalls(c, b, text, func(k int) program.Promise {
			return program.Promise{Buf: b.out, Values: func(rank int, yield func(int64, []byte)) {
				gold.yield(p.version(k), meshOrder(rank), int64(rank)*x.n, 0, x.n, yield)
			}}
		})
		return
	}
	target := p.inPlace(c, all-x.n+widened(x.wide)) // the last row, too, is read in whole 32 bytes
	signal := p.signalWindow(c.Ranks)
	if !c.silently(text) {
		x.inPlace(text, s, groups{signal: signal, stride: 1}, target, p.zeros(c, x.tile))
	}
	gold := p.golden(c, target)
	p.inPlaceCalls(target, signal, func(version uint32) program.Task {
		t := c.task(text)
		t.Name, t.Zero = p.item.Name, []program.Buf{signal}
		t.Promises = []program.Promise{{Buf: target, Values: func(rank int, yield func(int64, []byte)) {
			if !c.silent() {
				gold.yield(version, meshOrder(rank), int64(rank)*x.n, int64(rank)*x.n, x.n, yield)
			}
		}}}
		return t
	})
}

// tiles cuts the row, and reads of it a little more.
func (x scatter) tiles() (t, wide tiled, depth int) {
	t, wide = tiled{n: x.n, tile: x.tile}, tiled{n: x.wide, tile: x.tile}
	if t.count() > 1 {
		depth = 1
	}
	return t, wide, depth
}

// row is where the row that the rank reduces begins.
func (x scatter) row() program.Expr {
	if x.Mistake == "fixed_row" {
		return program.Const(0)
	}
	return program.PerRank(x.n)
}

// reduce records the reduction of the present tile.
func (x scatter) reduce(p *program.Program, s scratch, src, zeros program.Buf) program.Op {
	t, wide, depth := x.tiles()
	at := x.row().Plus(t.at())
	x.gather(p.Phase("reduce"), s, share{src: src, zeros: zeros, at: at, bytes: t.bytes(), own: t.bytes(), wide: wide.bytes()}, depth)
	return program.Op{Kind: program.StoreTile, Dst: src, DstOff: program.PerRank(x.n).Plus(t.at()), Bytes: t.bytes()}
}

// byHand records the tutorial's kernel.
func (x scatter) byHand(p *program.Program, s scratch, b handBuffers, zeros program.Buf) {
	b.stage(p, int64(x.Ranks)*x.n, x.tile)
	groups{signal: b.signal, stride: 1}.meet(p.Phase("ready"), program.Expr{}, program.Const(1))
	t, _, _ := x.tiles()
	t.loop(p, func() {
		store := x.reduce(p, s, b.data, zeros)
		store.Dst, store.DstOff = b.out, t.at()
		p.Phase("store").Add(store)
	})
}

// inPlace records the phases of the builtins.
func (x scatter) inPlace(p *program.Program, s scratch, g groups, target, zeros program.Buf) {
	t, _, depth := x.tiles()
	credits := int64(2)
	if x.Form == "host" {
		g.meetAll(p.Phase("ready"), program.Expr{}, program.Const(1))
		t.loop(p, func() { p.Add(x.reduce(p, s, target, zeros)) })
		g.meetAll(p.Phase("read_done"), program.Expr{}, program.Const(2))
	} else {
		credits = 1 + t.count()
		value := program.Const(2)
		if depth > 0 {
			value.L[0] = 1
		}
		g.meet(p.Phase("ready"), program.Expr{}, program.Const(1))
		t.loop(p, func() {
			store := x.reduce(p, s, target, zeros)
			g.meet(p.Phase("read_done"), program.Expr{}, value)
			p.Phase("store").Add(store)
		})
	}
	g.clear(p, program.Expr{}, program.Const(-credits))
}

func reduceScatterFormula(c *Call) result.Counters {
	out := counted()
	if c.silent() {
		return out
	}
	x, peers := c.scatter(), int64(c.Ranks-1)
	tiles := ceil(x.n, x.tile)
	c.pulled(&out, peers, x.wide, x.tile)
	out[result.BytesSent] = peers * x.wide
	out[result.Combined] = peers * x.n
	out[result.SelfAdds] = peers
	switch c.Form {
	case "hand":
		c.barriers(&out, 1)
		out[result.SelfAdds] = 0
	case "host":
		c.barriers(&out, 2)
		out[result.PipeBarriers] = 4
	default:
		c.barriers(&out, 1+tiles)
	}
	return out
}

func scatterWork(c *Call) reductionWork {
	x, peers := c.scatter(), int64(c.Ranks-1)
	tiles := ceil(x.n, x.tile)
	w := reductionWork{meets: 2, loads: peers * tiles, bytes: peers * x.n, pair: x.n, received: peers * x.n}
	switch c.Form {
	case "hand":
		w.meets = 1
	case "incore":
		w.meets = 1 + tiles
	}
	return w
}
