package collectives

import (
	"pldperf/engine"
	"pldperf/hw/program"
)

// exchange is one of the two indexed exchanges.
type exchange struct {
	c    *Call
	rows *program.Rows
	text *program.Program
}

func (m *layer) exchange(c *Call, name string, input, target, signal program.Buf, columns int) exchange {
	words := func(n int) engine.Bytes { return engine.Bytes(4 * n) }
	rows, err := c.operands()
	if err != nil {
		m.p.err = err
		return exchange{}
	}
	t := c.traffic(0)
	rows.Input, rows.Target = input, target
	rows.SendCounts = m.p.buffer(name+"_send_counts", program.Buffer{Window: true, Words: true, Size: words(c.Ranks), Table: countTable{t, c.Ranks}})
	rows.RecvCounts = m.p.buffer(name+"_recv_counts", program.Buffer{Words: true, Size: words(c.Ranks)})
	rows.Index = m.p.buffer(name+"_index", program.Buffer{Words: true, Size: words(c.Ranks * rows.Capacity), Table: indexTable{t}})
	if c.carrier() != program.URMA {
		rows.SGEs = 0 // no queue
	}
	return exchange{c, rows, c.indexedProgram(rows, signal, int64(columns))}
}

// rewrites are the routing of a repetition.
func (e *exchange) rewrites(k int) []program.Rewrite {
	return []program.Rewrite{
		{Buf: e.rows.SendCounts, Table: countTable{e.c.traffic(k), e.c.Ranks}}, {Buf: e.rows.Index, Table: indexTable{e.c.traffic(k)}},
	}
}

// largest is the largest capacity of a call's traffics.
func (c *Call) largest() (n int) {
	for _, t := range c.Traffic {
		n = max(n, t.Capacity())
	}
	return max(n, 1)
}

func (m *layer) indexed() {
	c, p := m.c, m.p
	there, back := c.there(), c.back(m.all)
	window := func(name string, n int, row int64) program.Buf {
		return p.buffer(name, program.Buffer{Window: true, Size: m.bytes(n, row)})
	}
	plain := func(name string, n int, row int64) program.Buf {
		return p.buffer(name, program.Buffer{Size: m.bytes(n, row), Fill: program.Zero{}})
	}
	columns := max(c.Signal, c.Blocks())
	signal := p.signalWindow(c.Ranks * columns)
	got := window("target", c.Ranks*there.largest(), m.in)
	expanded := plain("expanded", m.most.arrived, m.in)
	m.results = plain("y", m.most.arrived, m.ret)
	home := window("combined", c.Ranks*back.largest(), m.ret)
	out := m.exchange(&there, "dispatch", m.input, got, signal, columns)
	in := m.exchange(&back, "combine", m.results, home, signal, columns)
	if p.err != nil {
		return
	}
	text := textOf(len(m.all), func(k int) []*program.Program {
		x := m.routes(k)
		at := func(r route) int64 { return int64(r.at) }
		e := m.expand(x, got, expanded, int64(out.rows.Capacity))
		s := (&program.Program{Name: "reduce"}).Phase("reduce")
		m.reduce(s, x, m.blocks(), home, func(r route) int64 { return int64(r.dst*in.rows.Capacity + r.back) })
		return []*program.Program{e, m.expert(x, expanded, at, at), s}
	})
	p.calls(func(k int) []program.Task {
		t := text(k)
		one := m.task("dispatch", m.blocks(), out.text)
		one.Name, one.Op, one.Zero = p.item.Name, c.Op, []program.Buf{signal}
		one.Promises = []program.Promise{
			{Buf: got, Ranges: p.indexedGolden(&there, out.rows, k)},
			{Buf: out.rows.RecvCounts, Words: func(rank int) []int32 { return there.received(k, rank) }},
		}
		expand := m.task("expand", m.blocks(), t[0])
		expand.Reads = []program.Buf{got}
		two := m.task("combine", m.blocks(), in.text)
		two.Zero = []program.Buf{signal}
		two.Promises = []program.Promise{{Buf: in.rows.RecvCounts, Words: func(rank int) []int32 { return back.received(k, rank) }}}
		last := m.task("reduce", m.blocks(), t[2])
		last.Reads, last.Promises = []program.Buf{home}, []program.Promise{m.golden(k)}
		return []program.Task{one, expand, m.task("expert", m.blocks(), t[1]), two, last}
	}, []program.Buf{got, home, signal, m.output}, func(k int) []program.Rewrite {
		return append(append([]program.Rewrite{{Buf: m.input}}, out.rewrites(k)...), in.rewrites(k)...)
	})
}

// expand copies each received row once for every expert of the rank that its token goes
// to (S-38).
func (m *layer) expand(x *routes, got, expanded program.Buf, capacity int64) *program.Program {
	p := (&program.Program{Name: "expand"}).Phase("expand")
	s := newSpread[route](m.c.Ranks, m.blocks())
	for d, list := range x.to {
		for i, r := range list {
			s.add(d, i%m.blocks(), r)
		}
	}
	s.loop(p, func() {
		p.Add(program.Op{
			Kind: program.CopyTile, Dst: expanded, Src: got, DstOff: s.of(func(r route) int64 { return int64(r.at) * m.in }),
			SrcOff: s.of(func(r route) int64 { return (int64(r.src)*capacity + int64(r.row)) * m.in }), Bytes: program.Const(m.in), Chunk: min(m.in, stageCap),
		})
	})
	return p
}
