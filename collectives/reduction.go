package collectives

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/program"
)

// What allreduce and reduce_scatter have in common. Every rank pulls: it loads a tile of
// its own, loads the same tile of one peer after another and combines them. The order in
// which it does so decides the last bits of a floating-point result:
//
//	mesh   own, then the peers ascending: another order on every rank
//	ring   along the ring: one order for a segment, and so equal bits on all ranks

// reduce is how the call combines elements.
func (c *Call) reduce() program.Reduce {
	if c.Reduce == "" {
		return program.Sum
	}
	op, _ := program.ParseReduce(c.Reduce) // an unknown one has been refused
	return op
}

// widened is n rounded up to what a remote load reads at least.
func widened(n int64) int64 { return ceil(n, leastTile) * leastTile }

// stageTile is the bytes of a tile in InCore and hand forms: 16 KiB, or chunk_cols.
func (c *Call) stageTile() int64 {
	if n := int64(c.ChunkCols) * int64(ElemSize(c.DType)); n > 0 {
		return n
	}
	return stageCap
}

// reduction reports what is wrong with the elements and how to combine them.
func (w *refusals) reduction(c *Call) {
	w.payload(c)
	if _, err := program.ParseReduce(c.Reduce); err != nil && c.Reduce != "" {
		w.add("reduce: %v", err)
	}
	*w = append(*w, c.checkTransport("mte")...)
}

// groups are the cells on which barriers meet: columns of a [P,S] signal or, by row, the
// rows of a [rows,P] one.
type groups struct {
	signal program.Buf
	stride int64
	byRow  bool
}

func (g groups) op(kind program.Kind, group, value program.Expr) program.Op {
	return program.Op{Kind: kind, Signal: g.signal, Stride: g.stride, ByRow: g.byRow, Col: group, Value: value}
}

// meet records a barrier of a kernel that the compiler has made: a fence publishes, then
// a credit for each peer and a wait for theirs.
func (g groups) meet(p *program.Program, group, value program.Expr) {
	p.Add(program.Op{Kind: program.Fence})
	p.Add(g.op(program.NotifyPeers, group, program.Const(1)))
	p.Add(g.op(program.WaitPeers, group, value))
}

// meetAll is the barrier of a HOST builtin, in PIPE_ALLs.
func (g groups) meetAll(p *program.Program, group, value program.Expr) {
	p.Add(program.Op{Kind: program.PipeBarrier})
	p.Add(g.op(program.NotifyPeers, group, program.Const(1)))
	p.Add(g.op(program.WaitPeers, group, value))
	p.Add(program.Op{Kind: program.PipeBarrier})
}

// clear takes the credits of a call back.
func (g groups) clear(p *program.Program, group, value program.Expr) {
	p.Phase("epilogue").Add(g.op(program.AddPeers, group, value))
}

// peersOf records body for every peer of the executing rank, ascending, in a loop at a
// depth.
func (c *Call) peersOf(p *program.Program, depth int, body func(peer program.Expr)) {
	peer, n := peerAt(depth, 1), c.Ranks-1
	if c.Mistake == "own_twice" {
		peer, n = iteration(depth, 1), c.Ranks
	}
	p.Loop(program.Const(int64(n)), func() { body(peer) })
}

// peerAt is k times the peer of an iteration j of the loop at a depth: on rank r that is
// j, or j+1 from r on.
func peerAt(depth int, k int64) program.Expr {
	e, behind := iteration(depth, k), iteration(depth, k) // j-r+1 is above 0 from r on
	behind.C, behind.R, behind.Cap = k, -k, k
	e.And = &behind
	return e
}

// share is a tile of a reduction: its place in a buffer, the same on all ranks, its
// bytes and those that are loaded from the own rank and from a peer, which can be a few
// more.
type share struct {
	src, zeros           program.Buf
	at, bytes, own, wide program.Expr
}

// gather records the reduction of a tile over all ranks into tile 0: the own part first,
// then the peers' in ascending order.
func (c *Call) gather(p *program.Program, s scratch, x share, depth int) {
	own := program.Op{Kind: program.LoadTile, Src: x.src, SrcOff: x.at, Bytes: x.own}
	if c.Mistake == "seed_zero" {
		own = program.Op{Kind: program.LoadTile, Src: x.zeros, Bytes: x.own}
	}
	p.Add(own)
	c.peersOf(p, depth, func(peer program.Expr) {
		c.fetch(p, s, program.Op{Tile: 1, Src: x.src, SrcOff: x.at, Peer: peer, Bytes: x.wide, Used: &x.bytes})
		p.Add(c.combine(0, 1, x.bytes))
	})
}

// combine is the op that sets tile to op(tile, other).
func (c *Call) combine(tile, other uint8, n program.Expr) program.Op {
	return program.Op{Kind: program.Combine, Tile: tile, Other: other, Bytes: n, Reduce: c.reduce(), DType: c.Elem()}
}

// inPlace makes the window that a builtin reduces in place. The caller has filled it.
func (p *Plan) inPlace(c *Call, n int64) program.Buf {
	if _, there := p.names[windowOf(p.item)+".target"]; there {
		p.err = fmt.Errorf("%s reduces its target in place: it cannot share the window of %s", p.item.Name, windowOf(p.item))
	}
	fill := produced{newNoise(c.Elem()), p.item.Repeat.Same}
	return p.buffer("target", program.Buffer{Window: true, Size: engine.Bytes(max(widened(n), 1)), Fill: fill})
}

// inPlaceCalls repeats a call that reduces a window in place: its owner fills the window
// before each call.
func (p *Plan) inPlaceCalls(target, signal program.Buf, make func(version uint32) program.Task) {
	p.calls(func(k int) []program.Task {
		t := make(uint32(k) + 1)
		t.Before = []program.Rewrite{{Buf: target}}
		return []program.Task{t}
	}, []program.Buf{signal}, func(int) []program.Rewrite { return nil })
}

// zeros is what a sum is seeded with by mistake.
func (p *Plan) zeros(c *Call, n int64) (b program.Buf) {
	if c.Mistake == "seed_zero" {
		b = p.buffer("zeros", program.Buffer{Size: engine.Bytes(n), Fill: program.Zero{}})
	}
	return b
}
