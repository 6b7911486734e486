package collectives

import (
	"math"

	"pldperf/hw/program"
	"pldperf/hw/result"
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

// circle is how a call's vector is cut and which way it goes round.
type circle struct {
	*Call
	starts, lens, wide []int64 // of each segment, in bytes; wide is what is read of it
	tile               int64
	tiles              int64 // a round has on every rank
	lead               int64
	down               bool
}

func (c *Call) circle() circle {
	x := circle{Call: c, tile: c.stageTile(), lead: 1}
	switch c.Form {
	case "ring_incore":
		x.lead, x.tile = 2, stageCap
		x.cut(0, c.boundaries())
		x.tile = min(x.tile, widened(x.longest()))
		x.tiles = ceil(x.longest(), x.tile)
		return x
	case "ring_host":
		x.tile = hostTile * int64(ElemSize(c.DType))
	}
	n := c.Chunk()
	if c.Form == "bidirectional_ring" {
		n /= 2
	}
	x.cut(0, multiples(c.Ranks+1, n/int64(c.Ranks)))
	x.tiles = ceil(x.lens[0], x.tile)
	return x
}

// other is the second ring of bidirectional_ring.
func (x circle) other() circle {
	first := x.Chunk() / 2
	x.down = true
	x.cut(first, multiples(x.Ranks+1, first/int64(x.Ranks)))
	return x
}

// circles are the rings of the call.
func (c *Call) circles() []circle {
	x := c.circle()
	if c.Form == "bidirectional_ring" {
		return []circle{x, x.other()}
	}
	return []circle{x}
}

// cut sets the segments between boundaries in bytes, behind first.
func (x *circle) cut(first int64, at []int64) {
	x.starts, x.lens, x.wide = nil, nil, nil
	for g := range x.Ranks {
		n := at[g+1] - at[g]
		x.starts, x.lens, x.wide = append(x.starts, first+at[g]), append(x.lens, n), append(x.wide, n)
		if x.Form == "ring_incore" && x.DType == "FP16" {
			x.wide[g] = widened(n)
		}
	}
}

// boundaries are those of the composite's segments, in bytes.
func (c *Call) boundaries() []int64 {
	n, e, align := int64(c.Size), int64(ElemSize(c.DType)), int64(1)
	if c.DType == "FP16" {
		align = 16
	}
	out := make([]int64, c.Ranks+1)
	for i := range out {
		out[i] = min(ceil(int64(i)*n/int64(c.Ranks), align)*align, n) * e // i*N/P is rounded down
	}
	return out
}

// longest is max_seg, for which all ranks loop: the longest that a segment can be.
func (x *circle) longest() int64 {
	n, e := int64(x.Size), int64(ElemSize(x.DType))
	if most := ceil(n, int64(x.Ranks)); x.DType == "FP16" {
		return min(n, most+15) * e
	} else {
		return most * e
	}
}

// ringRounds is how many rounds a phase has.
func (c *Call) ringRounds() int64 { return int64(c.Ranks - 1) }

// rowsOfRing is how many rows of the signal a form uses.
func (c *Call) rowsOfRing() int {
	n := 2 * (c.Ranks - 1)
	if c.Form == "ring_host" || c.Form == "bidirectional_ring" {
		n++
	}
	return n
}

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

// neighbour is the rank that one reads from.
func (x *circle) neighbour() program.Expr {
	if x.down {
		return peerAhead(x.Ranks, 1)
	}
	left := peerAhead(x.Ranks, -1)
	if x.Mistake == "bad_modulo" {
		left.Of = append([]int64{0}, left.Of[:x.Ranks-1]...)
		left.C = 0
	}
	return left
}

// pick is entry r-i-lead+gather of a table of segments in round i of the outermost loop,
// or, with a constant last, in that round.
func (x *circle) pick(of []int64, gather int64, last int64) program.Expr {
	e := program.Expr{R: 1, C: -x.lead + gather, Of: of}
	e.L[0] = -1
	if last >= 0 {
		e.C, e.L[0] = e.C-last, 0
	}
	if x.down {
		e.C, e.L[0] = -e.C, -e.L[0]
	}
	return e
}

// part is the present tile of a round: of all segments the one that pick tells, in tiles
// of the loop inside that over rounds.
func (x *circle) part(gather, last int64) (at, bytes, wide program.Expr) {
	tile := iteration(1, 0)
	cut := func(of []int64) program.Expr {
		e := x.pick(of, gather, last)
		if x.tiles > 1 {
			back := iteration(1, -x.tile)
			e.And, e.Cap = &back, x.tile
		}
		return e
	}
	at = x.pick(x.starts, gather, last)
	if x.tiles > 1 {
		tile.L[1] = x.tile
		at = at.Plus(tile)
	}
	return at, cut(x.lens), cut(x.wide)
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
	x.fetch(p, s, program.Op{Tile: 1, Src: buf, SrcOff: at, Peer: x.neighbour(), Bytes: wide})
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

// ringRow is the signal's row in round i of a phase.
func (c *Call) ringRow(gather bool) program.Expr {
	e := iteration(0, 1)
	if gather && c.Mistake != "rows_reused" {
		e.C = c.ringRounds()
	}
	return e
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

func (f ringForm) recordHand(p *Plan, c *Call, text *program.Program, rows int) {
	b := p.handed(c, c.Chunk(), c.Chunk(), rows*c.Ranks)
	s := p.scratch(c, c.circle().tile)
	b.stage(text, c.Chunk(), c.stageTile())
	if c.Form == "ring_hand" {
		f.handshakes(c, text, s, b)
	} else {
		f.barrierRounds(c, text, s, groups{signal: b.signal, stride: int64(c.Ranks), byRow: true}, b.data)
	}
	text.Phase("read_back").Add(copyTile(b.out, b.data, program.Expr{}, program.Expr{}, c.Chunk(), c.stageTile()))
	gold := p.golden(c, b.in)
	p.handedCalls(c, b, text, func(k int) program.Promise { return c.ringPromise(gold, b.out, p.version(k)) })
}

// handshakes records the rounds of ring_hand. Everybody tells the right neighbour when a
// segment is there, and nobody behind the last round.
func (ringForm) handshakes(c *Call, p *program.Program, s scratch, b handBuffers) {
	x := c.circle()
	p.Add(program.Op{Kind: program.Fence})
	p.Add(x.tell(b.signal, program.Const(0)))
	rounds := c.ringRounds()
	p.Phase(ringPhases[0]).Loop(program.Const(rounds), func() {
		x.handshake(p, s, b, false, -1)
		p.Add(program.Op{Kind: program.Fence})
		next := iteration(0, 1)
		if next.C = 1; c.Mistake == "rows_reused" {
			next = program.Expr{L: next.L, C: 1, Of: multiples(int(rounds), 1)}
		}
		p.Add(x.tell(b.signal, next))
	})
	p.Phase(ringPhases[1])
	if rounds > 1 {
		p.Loop(program.Const(rounds-1), func() {
			x.handshake(p, s, b, true, -1)
			next := x.ringRow(true)
			next.C++
			p.Add(program.Op{Kind: program.Fence})
			p.Add(x.tell(b.signal, next))
		})
	}
	x.handshake(p, s, b, true, rounds-1)
}

// tell notifies the right neighbour in the own cell of a row.
func (x circle) tell(signal program.Buf, row program.Expr) program.Op {
	to := peerAhead(x.Ranks, 1)
	if x.Mistake == "wrong_neighbour" {
		to = x.neighbour()
	}
	return program.Op{Kind: program.Notify, Signal: signal, Peer: to, Cell: x.cell(row, program.Own), Value: program.Const(1)}
}

// cell is that of a source in a row.
func (x circle) cell(row, source program.Expr) program.Expr {
	if row.Of != nil {
		row.Of = multiples(len(row.Of), int64(x.Ranks))
		return row.Plus(source)
	}
	return times(row, int64(x.Ranks)).Plus(source)
}

// handshake records a round that waits for the left neighbour.
func (x circle) handshake(p *program.Program, s scratch, b handBuffers, gather bool, last int64) {
	row := x.ringRow(gather)
	if last >= 0 {
		row.C, row.L[0] = row.C+last, 0
	}
	p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Cell: x.cell(row, x.neighbour()), Value: program.Const(1)})
	inner := x
	if last >= 0 && x.tiles > 1 { // there is no loop around that over tiles
		p.Loop(program.Const(1), func() {
			p.Loop(program.Const(inner.tiles), func() { inner.move(p, s, b.data, gather, last) })
		})
		return
	}
	x.tileLoop(p, func() { x.move(p, s, b.data, gather, last) })
}

// loads calls yield for each round of rank r with the segment that it loads.
func (x *circle) loads(r int, yield func(segment int, gather bool)) {
	for i := range int(x.ringRounds()) {
		for gather := range 2 {
			g := r - i - int(x.lead) + gather
			if x.down {
				g = r + i + int(x.lead) - gather
			}
			yield((g%x.Ranks+2*x.Ranks)%x.Ranks, gather == 1)
		}
	}
}

func (ringForm) formula(c *Call, rank int) result.Counters {
	out := counted()
	rounds := c.ringRounds()
	for _, x := range c.circles() {
		x.loads(rank, func(g int, gather bool) {
			c.pulled(&out, 1, x.wide[g], x.tile)
			c.empty(&out, x.tiles-ceil(x.wide[g], x.tile))
			if !gather {
				out[result.Combined] += x.lens[g]
			}
		})
		reader := rank + 1 // who reads this rank
		if x.down {
			reader = rank - 1
		}
		x.loads((reader+c.Ranks)%c.Ranks, func(g int, _ bool) { out[result.BytesSent] += x.wide[g] })
	}
	switch c.Form {
	case "ring_incore":
		c.barriers(&out, 4*rounds*c.circle().tiles)
		out[result.SelfAdds] = 2 * rounds * rounds
	case "ring_host":
		c.barriers(&out, 2*rounds+1)
		out[result.SelfAdds] = (2*rounds + 1) * rounds
		out[result.PipeBarriers] = 2*(2*rounds+1) + 2*rounds
	case "ring_hand":
		out[result.Notifies], out[result.PollsSatisfied] = 2*rounds, 2*rounds
	default:
		c.barriers(&out, 2*rounds+1)
	}
	return out
}

func (ringForm) formulas(form string) [][2]string {
	out := [][2]string{
		{"bytes_received", "2(P-1)/P * N"}, {"bytes_sent", "2(P-1)/P * N"}, {"combined", "(P-1)/P * N"},
		{"remote_loads", "2(P-1) * ceil(N/P/tile), tile 16 KiB or chunk_cols"}, {"notifies", "(2(P-1)+1)(P-1)"}, {"self_adds", "0"},
	}
	switch form {
	case "ring_incore":
		out[0][1] = "about 2(P-1)/P * N: segments differ by an element, in FP16 by up to 16; FP16: each rounded up to 32 B"
		out[1][1], out[2][1] = out[0][1], "about (P-1)/P * N"
		out[3][1] = "2(P-1) * subchunks, but for empty ones; subchunks = ceil(max_seg/16 KiB)"
		out[4][1], out[5][1] = "4(P-1)^2 * subchunks", "2(P-1)^2"
	case "ring_host":
		out[3][1], out[5][1] = "2(P-1) * ceil(N/P/256)", "(2(P-1)+1)(P-1)"
		out = append(out, [2]string{"pipe_barriers", "2(2(P-1)+1) + 2(P-1)"})
	case "ring_hand":
		out[4][1] = "2(P-1)"
	case "bidirectional_ring":
		out[3][1] = "4(P-1) * ceil(N/2P/tile), tile 16 KiB or chunk_cols"
	}
	return out
}

func (ringForm) work(c *Call) (w reductionWork) {
	rounds := c.ringRounds()
	switch c.Form {
	case "ring_incore":
		w.meets = 4 * rounds * c.circle().tiles
	case "ring_hand":
		w.meets = 2 * rounds
	default:
		w.meets = 2*rounds + 1
	}
	for i, x := range c.circles() {
		least := reductionWork{loads: math.MaxInt64, bytes: math.MaxInt64}
		for r := range c.Ranks {
			var all reductionWork
			x.loads(r, func(g int, _ bool) {
				all.loads, all.bytes = all.loads+ceil(x.wide[g], x.tile), all.bytes+x.wide[g]
			})
			least.loads, least.bytes = min(least.loads, all.loads), min(least.bytes, all.bytes)
		}
		w.loads, w.bytes, w.received = w.loads+least.loads, w.bytes+least.bytes, w.received+least.bytes
		if i == 0 {
			w.pair = least.bytes
		}
	}
	return w
}
