package collectives

import (
	"pldperf/hw/program"
)

// ringForm is allreduce along a ring: a rank reads from its left neighbour alone. The
// vector is cut into P segments; P-1 rounds of reduce_scatter, in which partial sums go
// round, are followed by P-1 rounds of allgather, in which the reduced segments do. The
// signal is [rows,P], a row for each round (semantics 5.5.4 ... 5.5.6, 5.8):
//
//	round i of reduce_scatter   segment r-i-lead: left's and the own combined
//	round i of allgather        segment r-i-lead+1: left's
//
// ring_incore: lead 2, signal [2(P-1),P], boundaries floor(i*N/P), for FP16 rounded up to
// 16 elements. A round is cut into subchunks of 16 KiB, as many on every rank; before and
// behind each is a barrier on the round's row. Pieces can be empty, and take part in the
// barriers all the same.
// ring_host: lead 1, signal [2(P-1)+1,P]; a barrier before each round and a last one;
// tiles of 256 elements, a flush and PIPE_ALL behind the round.
// ring_hand: lead 1, signal [2(P-1),P]; a rank waits in cell [round, left] and tells right
// in cell [round+1, me], there are no barriers.
// bidirectional_ring: ring_host's rounds by hand, of two rings at once: the first half of
// the vector goes up as above, the second down, from right neighbours.
type ringForm struct{}

func (ringForm) check(c *Call, w *refusals) {
	parts := c.Ranks
	switch c.Form {
	case "ring_host":
		if c.DType != "FP32" || c.reduce() != program.Sum {
			w.add("reduce: the HOST ring takes Sum of FP32, not %s of %s", c.reduce(), c.DType)
		}
		if c.Ranks > hostRanks {
			w.add("ranks: %d, the HOST ring serves at most %d", c.Ranks, hostRanks)
		}
		if c.Size <= 0 {
			w.add("size: %d, must be positive", c.Size)
		}
	case "bidirectional_ring":
		parts *= 2
	}
	if c.Form != "ring_incore" && c.Size%parts != 0 {
		w.add("size: %d, must be divisible by %d: the remainder is %d", c.Size, parts, c.Size%parts)
	}
	if byHand(c.Form) {
		w.tile("size", c, c.Size/parts)
		w.tile("chunk_cols", c, c.ChunkCols)
	}
	rows, shape := c.rowsOfRing(), "2*(NR-1)"
	if c.rowsOfRing()%2 == 1 {
		shape += "+1"
	}
	if c.Signal > 0 && c.Signal != c.Ranks {
		w.add("signal_columns: the signal of %s must be [%s,NR] = [%d,%d]; it has %d columns", c.Form, shape, rows, c.Ranks, c.Signal)
	}
	if c.Rows > 0 && c.Rows < rows {
		w.add("rows: the signal of %s must have at least %s = %d rows, not [%d,%d]", c.Form, shape, rows, c.Rows, c.Ranks)
	}
}

func (ringForm) mistakes(form string) []Mistake {
	out := []Mistake{
		{"bad_modulo", "takes (rank-1) % P with a modulo that truncates: rank 0 is its own left neighbour", "F18"},
		{"index_off_by_one", "reads in the allgather the segment behind the right one", "F29"},
		{"rows_reused", "uses the rows of the reduce_scatter again for the allgather", "F28"},
	}
	if form == "ring_hand" {
		out = append(out, Mistake{"wrong_neighbour", "tells the left neighbour, which it reads, rather than the right one, which reads it", "F19"})
	}
	return out
}

// move records what happens to the present tile.
func (x *circle) move(p *program.Program, s scratch, buf program.Buf, gather bool, last int64) {
	shift := int64(0)
	if gather {
		shift = 1
		if x.Mistake == "index_off_by_one" {
			shift = 0
		}
	}
	at, bytes, wide := x.part(shift, last)
	x.fetch(p, s, program.Op{Tile: 1, Src: buf, SrcOff: at, Peer: x.neighbour(), Bytes: wide, Used: &bytes})
	if !gather {
		p.Add(program.Op{Kind: program.LoadTile, Src: buf, SrcOff: at, Bytes: bytes})
		p.Add(x.combine(1, 0, bytes))
	}
	p.Add(program.Op{Kind: program.StoreTile, Tile: 1, Dst: buf, DstOff: at, Bytes: bytes})
}

// tileLoop records body for each tile of a round.
func (x *circle) tileLoop(p *program.Program, body func()) {
	if x.tiles == 1 {
		body()
		return
	}
	p.Loop(program.Const(x.tiles), body)
}

var ringPhases = [2]string{"reduce_scatter", "allgather"}

func (f ringForm) record(p *Plan, c *Call) {
	rows := max(c.rowsOfRing(), c.Rows)
	text := &program.Program{Name: c.Op + "/" + c.Form}
	if byHand(c.Form) {
		f.recordHand(p, c, text, rows)
		return
	}
	target := p.inPlace(c, c.Chunk())
	g := groups{signal: p.signalWindow(rows * c.Ranks), stride: int64(c.Ranks), byRow: true}
	s := p.scratch(c, c.circle().tile)
	credits := int64(-1)
	if c.Form == "ring_host" {
		f.barrierRounds(c, text, s, g, target)
	} else {
		x := c.circle()
		credits = -2 * x.tiles
		x.composite(text, s, g, target)
	}
	text.Phase("epilogue").Loop(program.Const(int64(c.rowsOfRing())), func() {
		g.clear(text, iteration(0, 1), program.Const(credits))
	})
	gold := p.golden(c, target)
	p.inPlaceCalls(target, g.signal, func(version uint32) program.Task {
		t := c.task(text)
		t.Name, t.Zero = p.item.Name, []program.Buf{g.signal}
		t.Promises = []program.Promise{c.ringPromise(gold, target, version)}
		return t
	})
}

// ringPromise: segment g is what the ranks hold, combined along the ring; all ranks hold
// the same.
func (c *Call) ringPromise(gold *golden, buf program.Buf, version uint32) program.Promise {
	return program.Promise{Buf: buf, Values: func(_ int, yield func(int64, []byte)) {
		for _, x := range c.circles() {
			for g := range c.Ranks {
				o := c.ringOrder((g+int(x.lead)-1)%c.Ranks, x.down)
				gold.yield(version, o, x.starts[g], x.starts[g], x.lens[g], yield)
			}
		}
	}}
}

// composite records the rounds of the InCore form: barrier 2c+1 of a row before subchunk
// c, 2c+2 between its load and its store.
func (x circle) composite(p *program.Program, s scratch, g groups, target program.Buf) {
	value := func(first int64) program.Expr {
		e := program.Const(first)
		if x.tiles > 1 {
			e.L[1] = 2
		}
		return e
	}
	for i, phase := range ringPhases {
		p.Phase(phase).Loop(program.Const(x.ringRounds()), func() {
			x.tileLoop(p, func() {
				g.meet(p, x.ringRow(i == 1), value(1))
				x.move(p, s, target, i == 1, -1)
				store := p.Ops[len(p.Ops)-1]
				p.Ops = p.Ops[:len(p.Ops)-1]
				g.meet(p, x.ringRow(i == 1), value(2))
				p.Add(store)
			})
		})
	}
}

// barrierRounds records rounds that begin with a barrier, and the last barrier.
func (ringForm) barrierRounds(c *Call, p *program.Program, s scratch, g groups, buf program.Buf) {
	meet := g.meet
	if c.Form == "ring_host" {
		meet = g.meetAll
	}
	for i, phase := range ringPhases {
		p.Phase(phase).Loop(program.Const(c.ringRounds()), func() {
			meet(p, c.ringRow(i == 1), program.Const(1))
			for _, x := range c.circles() {
				x.tileLoop(p, func() { x.move(p, s, buf, i == 1, -1) })
			}
			if c.Form == "ring_host" {
				p.Add(program.Op{Kind: program.Fence}) // flushes the segment
				p.Add(program.Op{Kind: program.PipeBarrier})
			}
		})
	}
	last := program.Const(2 * c.ringRounds())
	meet(p.Phase("close"), last, program.Const(1))
}
