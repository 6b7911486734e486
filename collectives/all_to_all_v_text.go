package collectives

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/program"
)

// vProgram is the text that every block of every rank runs.
func (c *Call) vProgram(b vBuffers) *program.Program {
	p := &program.Program{Name: fmt.Sprintf("%s/%s %s", c.Op, c.Form, c.wire())}
	if c.noEffect() {
		p.Phase("guard").Add(program.Op{Kind: program.Return, Note: fmt.Sprintf(
			"the HOST builtin returned without communicating: it serves at most %d ranks and at least one element (here %d ranks, %d elements)",
			hostRanks, c.Ranks, c.Hidden)})
		return p
	}
	x := vText{c: c, b: b, p: p, row: c.Row(), capacity: int64(c.vCapacity())}
	if c.Mistake == "c_from_signal" {
		x.capacity = max(x.capacity/2, 1) // P*C rows of target over the 2*P of the signal
		if x.capacity == int64(c.vCapacity()) {
			x.capacity = 0
		}
	}
	if c.old() {
		x.oneBarrier()
	} else {
		x.twoBarriers()
	}
	return p
}

// vText records the program of one call.
type vText struct {
	c        *Call
	b        vBuffers
	p        *program.Program
	row      int64
	capacity int64
}

// oneBarrier records v0 to v2.
func (x *vText) oneBarrier() {
	x.p.Phase("push")
	x.each(x.push)
	x.p.Phase("barrier").Add(program.Op{Kind: program.Fence})
	x.round(1)
	if !x.c.published() {
		x.p.Phase("counts").Add(x.pull())
	}
	x.p.Phase("clear").Add(x.credit(program.AddPeers, -1))
}

// twoBarriers records v3 and v4.
func (x *vText) twoBarriers() {
	single, closed := int64(2), x.c.wire() == "v3"
	x.p.Phase("ready").Add(program.Op{Kind: program.Fence})
	x.round(1)
	if closed {
		single = 1
		x.p.Add(x.credit(program.AddPeers, -1))
	}
	x.p.Phase("counts").Add(x.pull())
	x.p.Phase("push")
	x.each(x.push)
	x.p.Phase("complete").Add(program.Op{Kind: program.Fence})
	x.round(single)
	x.p.Phase("clear").Add(x.credit(program.AddPeers, -single))
}

// credit is an op on the block's own column of the signal.
func (x *vText) credit(kind program.Kind, value int64) program.Op {
	return program.Op{
		Kind: kind, Signal: x.b.signal, Col: program.OwnBlock, Stride: int64(max(x.c.Signal, x.c.Blocks())), Value: program.Const(value),
	}
}

// round is one exchange of credits.
func (x *vText) round(expected int64) {
	x.p.Add(x.credit(program.NotifyPeers, 1))
	x.p.Add(x.credit(program.WaitPeers, expected))
}

// pull has block 0 fetch and publish the counts of all sources.
func (x *vText) pull() program.Op {
	return program.Op{Kind: program.PullCounts, Rows: &program.Rows{
		Ranks: x.c.Ranks, Blocks: 1, Row: x.row, Capacity: int(x.capacity), SendCounts: x.b.send, RecvCounts: x.b.recv, Clamp: true,
	}}
}

// each records body for the destinations of the block, whose number times k is d(k):
// every B-th below P blocks, from there on the one that K blocks share.
func (x *vText) each(body func(d func(k int64) program.Expr, depth int)) {
	blocks, ranks := int64(x.c.Blocks()), int64(x.c.Ranks)
	if blocks >= ranks {
		body(func(k int64) program.Expr {
			return table(blocks, func(b int64) int64 { return b / (blocks / ranks) * k })
		}, 0)
		return
	}
	count := table(blocks, func(b int64) int64 { return ceil(ranks-b, blocks) })
	x.p.Loop(count, func() {
		body(func(k int64) program.Expr { return program.Expr{B: k}.Plus(iteration(0, blocks*k)) }, 1)
	})
}

// table is the operand that f gives for each of n blocks.
func table(n int64, f func(b int64) int64) program.Expr {
	of := make([]int64, n)
	for b := range of {
		of[b] = f(int64(b))
	}
	return program.Expr{B: 1, Of: of}
}

// variable is the operand k times what the block has read last: 0 the count of rows, 1
// the first byte and 2 the bytes of the block's share.
func variable(i int, k int64) program.Expr {
	var e program.Expr
	e.V[i] = k
	return e
}

// push records what goes to destination d: the count, where the sender publishes it, and
// the rows.
func (x *vText) push(d func(k int64) program.Expr, depth int) {
	lanes := int64(x.c.lanes())
	x.p.Add(program.Op{Kind: program.ReadCount, Counted: &program.Counted{
		Counts: x.b.send, Word: d(1), Row: x.row, Capacity: int(x.capacity), Negative: x.c.wire() == "v0",
		Lanes: int(lanes), Lane: table(lanes, func(b int64) int64 { return b }),
	}})
	if x.c.published() {
		x.p.Add(program.Op{Kind: program.Notify, Signal: x.b.recv, Peer: d(1), Cell: program.Own, Value: variable(0, 1), Set: true})
	}
	put := program.Op{
		Dst: x.b.target, Src: x.b.input, Peer: d(1), DstOff: program.PerRank(x.capacity * x.row), SrcOff: d(x.capacity * x.row),
		Chunk: x.c.vPiece(), Barriers: x.c.vBarriers(),
	}
	switch x.c.wire() {
	case "v0":
		put.Bytes = program.Const(x.capacity * x.row)
		x.c.put(x.p, put)
	case "v1":
		put.Bytes = program.Const(x.row)
		put.DstOff, put.SrcOff = put.DstOff.Plus(iteration(depth, x.row)), put.SrcOff.Plus(iteration(depth, x.row))
		x.p.Loop(variable(0, 1), func() { x.c.put(x.p, put) })
	default:
		put.Bytes = variable(2, 1)
		put.DstOff, put.SrcOff = put.DstOff.Plus(variable(1, 1)), put.SrcOff.Plus(variable(1, 1))
		x.c.put(x.p, put)
	}
}

// vPiece is the most bytes that a put stages at a time: 256 elements, and in the
// composite a row, up to the cap of composites.
func (c *Call) vPiece() int64 {
	if c.Form == "incore" {
		return min(c.Row(), stageCap)
	}
	return vPiece * int64(ElemSize(c.DType))
}

// vBarriers is how many PIPE_ALLs stand behind a piece.
func (c *Call) vBarriers() int {
	switch {
	case c.Form == "incore":
		return 0
	case c.Form == "host" && c.wire() != "v4":
		return 2
	}
	return 1
}

// vConsumer is a consumer on the receiver, with the mistake of the call: it copies the
// rows of each partition that recv_counts tells it of.
func (c *Call) vConsumer(b vBuffers) *program.Program {
	p := (&program.Program{Name: "consumer"}).Phase("consume")
	part := int64(c.vCapacity()) * c.Row()
	p.Loop(program.Const(int64(c.Ranks)), func() {
		p.Add(program.Op{Kind: program.ReadCount, Counted: &program.Counted{
			Counts: b.recv, Word: iteration(0, 1), Row: c.Row(), Capacity: c.vCapacity(), Stale: c.Mistake == "stale_counts",
		}})
		rows := program.Op{
			Kind: program.CopyTile, Dst: b.out, Src: b.target, DstOff: iteration(0, part), SrcOff: iteration(0, part), Bytes: variable(2, 1),
			Chunk: min(part, stageCap),
		}
		if c.Mistake == "read_tail" {
			rows.Bytes = program.Const(part)
		}
		p.Add(rows)
	})
	return p
}

// share is the block's part of the bytes that go from src to dst.
func (c *Call) share(repeat, src, dst, lane int) engine.Bytes {
	k := program.Counted{Row: c.Row(), Lanes: c.lanes()}
	_, n := k.Share(lane, c.vRows(repeat, src, dst))
	return engine.Bytes(n)
}
