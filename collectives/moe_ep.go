package collectives

import (
	"pldperf/engine"
	"pldperf/hw/program"
)

// barriers of the two hand protocols, each a column of the signal [P,3].
const (
	countsDone = iota // ep_dispatch_combine: counts are there; dsv4: the rank has arrived
	dataDone
	combineDone
	moeBarriers
)

// shoot notifies every peer of a barrier and waits for them to have notified n times.
func (m *layer) shoot(p *program.Program, signal program.Buf, column, n int64) {
	p.Add(program.Op{Kind: program.Fence})
	p.Add(m.cell(program.NotifyPeers, signal, column, 1))
	p.Add(m.cell(program.WaitPeers, signal, column, n))
}

func (m *layer) cell(kind program.Kind, signal program.Buf, column, value int64) program.Op {
	return program.Op{Kind: kind, Signal: signal, Col: program.Const(column), Stride: moeBarriers, Value: program.Const(value)}
}

// count is one non-zero number of routes, to one expert.
type count struct{ cell, n int64 }

// counts lists the non-zero counts of a source; cell is [source, destination, expert].
func (m *layer) counts(x *routes, src int) (out []count) {
	n := map[int]int64{}
	for _, r := range x.from[src] {
		n[(src*m.c.Ranks+r.dst)*m.most.local+r.expert]++
	}
	for _, cell := range sortedInts(n) {
		out = append(out, count{int64(cell), n[cell]})
	}
	return out
}

// epBuffers are those of ep_dispatch_combine. Rows of an expert lie in the order of
// their sources.
type epBuffers struct {
	signal, counts                 program.Buf
	weight, index                  program.Buf // of each route
	row, rowWeight, rowIndex       program.Buf // received, R a local expert
	stage, stageWeight, stageIndex program.Buf
	back                           program.Buf // a row for each route of the rank
	cap                            int64       // R
}

func (m *layer) ep() {
	c, p := m.c, m.p
	b := epBuffers{cap: int64(m.checked(m.most.queue, "rows an expert"))}
	if p.err != nil {
		return
	}
	rows := m.most.local * int(b.cap)
	plain := func(name string, n int, row int64) program.Buf {
		return p.buffer(name, program.Buffer{Size: m.bytes(n, row), Fill: program.Zero{}})
	}
	window := func(name string, n int, row int64) program.Buf {
		return p.buffer(name, program.Buffer{Window: true, Size: m.bytes(n, row)})
	}
	b.signal = p.signalWindow(moeBarriers * c.Ranks)
	b.counts = p.buffer("counts", program.Buffer{Window: true, Words: true, Signal: true, Size: engine.Bytes(4 * c.Ranks * c.Ranks * m.most.local)})
	b.weight = p.buffer("weight", program.Buffer{Size: m.bytes(m.most.most, aside)})
	b.index = p.buffer("index", program.Buffer{Size: m.bytes(m.most.most, aside)})
	b.row, b.rowWeight, b.rowIndex = window("recv_x", rows, m.in), window("recv_w", rows, aside), window("recv_idx", rows, aside)
	b.stage, b.stageWeight, b.stageIndex = plain("x_out", rows, m.in), plain("w_out", rows, aside), plain("idx_out", rows, aside)
	m.results = plain("y", rows, m.ret)
	b.back = window("routed_y", m.most.most, m.ret)
	text := textOf(len(m.all), func(k int) []*program.Program { return m.epText(b, m.routes(k)) })
	at := func(r route) int64 { return int64(r.expert)*b.cap + int64(r.pos) }
	number := func(r route) int64 { return int64(r.number) }
	p.calls(func(k int) []program.Task {
		t := text(k)
		first := m.task("dispatch", 1, t[0])
		first.Name, first.Op = p.item.Name, c.Op
		first.Promises = []program.Promise{
			m.landed(k, b.row, m.input, m.in, at, func(r route) int64 { return int64(r.token) }),
			m.landed(k, b.rowWeight, b.weight, aside, at, number), m.landed(k, b.rowIndex, b.index, aside, at, number),
			{Buf: b.counts, Words: func(int) []int32 { return m.epCounts(m.routes(k)) }},
		}
		last := m.task("combine", 1, t[2])
		last.Promises = []program.Promise{m.golden(k)}
		return []program.Task{first, m.task("expert", m.blocks(), t[1]), last}
	}, []program.Buf{b.row, b.rowWeight, b.rowIndex, b.back, b.signal, b.counts, m.output, b.stage, b.stageWeight, b.stageIndex},
		func(int) []program.Rewrite { return []program.Rewrite{{Buf: m.input}, {Buf: b.weight}, {Buf: b.index}} })
}

// epCounts are all counts, as every rank learns them.
func (m *layer) epCounts(x *routes) []int32 {
	out := make([]int32, m.c.Ranks*m.c.Ranks*m.most.local)
	for s := range m.c.Ranks {
		for _, n := range m.counts(x, s) {
			out[n.cell] = int32(n.n)
		}
	}
	return out
}

// epText returns the programs of the three tasks.
func (m *layer) epText(b epBuffers, x *routes) []*program.Program {
	d := &program.Program{Name: "moe/" + m.c.Form}
	m.epExchange(d, b, x)
	m.epDispatch(d, b, x)
	m.epStageOut(d, b)
	at := func(r route) int64 { return int64(r.expert)*b.cap + int64(r.pos) }
	e := m.expert(x, b.stage, at, at)
	c := (&program.Program{Name: "combine"}).Phase("combine")
	s := newSpread[route](m.c.Ranks, 1)
	for r, list := range x.to {
		for _, y := range list {
			s.add(r, 0, y)
		}
	}
	m.giveBack(c, s, b.back, at)
	m.shoot(c, b.signal, combineDone, 1)
	c.Phase("reduce")
	m.reduce(c, x, 1, b.back, func(r route) int64 { return int64(r.number) })
	return []*program.Program{d, e, c}
}

// giveBack puts each result to its source's row for the route.
func (m *layer) giveBack(p *program.Program, s *spread[route], back program.Buf, at func(r route) int64) {
	s.loop(p, func() {
		m.put(p, back, m.results, s.of(func(r route) int64 { return int64(r.src) }),
			s.of(func(r route) int64 { return int64(r.number) * m.ret }), s.of(func(r route) int64 { return at(r) * m.ret }), m.ret)
	})
}

// epExchange tells everybody, the own rank too, every count that is not zero.
func (m *layer) epExchange(p *program.Program, b epBuffers, x *routes) {
	s := newSpread[count](m.c.Ranks, 1)
	for r := range m.c.Ranks {
		for _, n := range m.counts(x, r) {
			s.add(r, 0, n)
		}
	}
	p.Phase("counts")
	s.loop(p, func() {
		p.Loop(program.Const(int64(m.c.Ranks)), func() {
			p.Add(program.Op{
				Kind: program.Notify, Signal: b.counts, Peer: iteration(1, 1),
				Cell: s.of(func(n count) int64 { return n.cell }), Value: s.of(func(n count) int64 { return n.n }),
			})
		})
	})
	m.shoot(p, b.signal, countsDone, 1)
}

// epDispatch puts row, weight and index of each route.
func (m *layer) epDispatch(p *program.Program, b epBuffers, x *routes) {
	s := newSpread[route](m.c.Ranks, 1)
	for r, list := range x.from {
		for _, y := range list {
			s.add(r, 0, y)
		}
	}
	p.Phase("dispatch")
	s.loop(p, func() {
		m.three(p, s, b.row, b.rowWeight, b.rowIndex, b.weight, b.index, func(r route) int64 { return int64(r.expert)*b.cap + int64(r.pos) })
	})
	m.shoot(p, b.signal, dataDone, 1)
}

// three puts a route's row and what goes with it to row at(r) of the destination.
func (m *layer) three(p *program.Program, s *spread[route], row, rowW, rowI, w, i program.Buf, at func(r route) int64) {
	peer := s.of(func(r route) int64 { return int64(r.dst) })
	to := func(n int64) program.Expr { return s.of(func(r route) int64 { return at(r) * n }) }
	number := s.of(func(r route) int64 { return int64(r.number) * aside })
	m.put(p, row, m.input, peer, to(m.in), s.of(func(r route) int64 { return int64(r.token) * m.in }), m.in)
	m.put(p, rowW, w, peer, to(aside), number, aside)
	m.put(p, rowI, i, peer, to(aside), number, aside)
}

// epStageOut copies what each expert got out of the windows. How much that is, the rank
// has learnt: rows of a source lie behind those of the sources before it.
func (m *layer) epStageOut(p *program.Program, b epBuffers) {
	ranks, local := int64(m.c.Ranks), int64(m.most.local)
	read := func(source program.Expr, add bool) {
		word := source.Plus(program.PerRank(local)).Plus(iteration(0, 1)) // [source, rank, expert]
		p.Add(program.Op{Kind: program.ReadCount, Counted: &program.Counted{Counts: b.counts, Word: word, Row: 1, Capacity: int(b.cap), Append: add}})
		for _, x := range []struct {
			dst, src program.Buf
			row      int64
		}{{b.stage, b.row, m.in}, {b.stageWeight, b.rowWeight, aside}, {b.stageIndex, b.rowIndex, aside}} {
			off := iteration(0, b.cap*x.row).Plus(variable(1, x.row))
			p.Add(program.Op{
				Kind: program.CopyTile, Dst: x.dst, Src: x.src, DstOff: off, SrcOff: off, Bytes: variable(2, x.row), Chunk: stageCap,
			})
		}
	}
	p.Phase("stage_out")
	p.Loop(program.Const(local), func() {
		read(program.Const(0), false)
		p.Loop(program.Const(ranks-1), func() {
			next := iteration(1, ranks*local)
			next.C = ranks * local
			read(next, true)
		})
	})
}
