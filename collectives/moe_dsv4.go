package collectives

import (
	"encoding/binary"

	"pldperf/engine"
	"pldperf/hw/program"
)

// dsv4Buffers are those of dsv4. The row of a route at its destination is its lane:
// (expert * P + source) * T + slot.
type dsv4Buffers struct {
	signal            program.Buf
	sent, got         program.Buf // counts, a row for each destination and of each source
	aux, index        program.Buf // of each route
	row, rowA, rowI   program.Buf
	back              program.Buf
	lane, countsBytes int64
}

func (b *dsv4Buffers) at(ranks int) func(r route) int64 {
	return func(r route) int64 { return (int64(r.expert)*int64(ranks)+int64(r.src))*b.lane + int64(r.slot) }
}

// moeCounts is the content of the counts that go to each destination: INT32, a row of one
// for each of its experts.
type moeCounts struct {
	all   []*routes
	bytes int64
}

// Generate implements program.Content.
func (x moeCounts) Generate(dst []byte, rank int, version uint32, off int64) {
	all := x.all[min(int(version), len(x.all)-1)]
	raw := make([]byte, int64(len(all.from))*x.bytes)
	for _, r := range all.from[rank] {
		w := raw[int64(r.dst)*x.bytes+4*int64(r.expert):]
		binary.LittleEndian.PutUint32(w, binary.LittleEndian.Uint32(w)+1)
	}
	copy(dst, raw[off:])
}

func (m *layer) dsv4() {
	c, p := m.c, m.p
	b := dsv4Buffers{lane: int64(m.checked(m.most.lane, "slots of a source at an expert")), countsBytes: ceil(4*int64(m.most.local), aside) * aside}
	if p.err != nil {
		return
	}
	rows := m.most.local * c.Ranks * int(b.lane)
	window := func(name string, n int, row int64) program.Buf {
		return p.buffer(name, program.Buffer{Window: true, Size: m.bytes(n, row)})
	}
	b.signal = p.signalWindow(moeBarriers * c.Ranks)
	b.sent = p.buffer("send_counts", program.Buffer{Size: engine.Bytes(int64(c.Ranks) * b.countsBytes), Fill: moeCounts{m.all, b.countsBytes}})
	b.got = window("recv_counts", c.Ranks, b.countsBytes)
	b.aux = p.buffer("aux", program.Buffer{Size: m.bytes(m.most.most, aside)})
	b.index = p.buffer("route", program.Buffer{Size: m.bytes(m.most.most, aside)})
	b.row, b.rowA, b.rowI = window("recv_x", rows, m.in), window("recv_aux", rows, aside), window("recv_route", rows, aside)
	m.results = p.buffer("y", program.Buffer{Size: m.bytes(rows, m.ret), Fill: program.Zero{}})
	b.back = window("combine", m.most.most, m.ret)
	at, number := b.at(c.Ranks), func(r route) int64 { return int64(r.number) }
	room := p.scratch(c, b.countsBytes)
	p.calls(func(k int) []program.Task {
		epoch := int64(k) + 1
		if p.item.Repeat.Between == "reset" {
			epoch = 1
		}
		t := m.dsv4Text(b, room, m.routes(k), epoch)
		first := m.task("dispatch", m.most.local, t[0])
		first.Name, first.Op = p.item.Name, c.Op
		first.Promises = []program.Promise{
			m.landed(k, b.row, m.input, m.in, at, func(r route) int64 { return int64(r.token) }),
			m.landed(k, b.rowA, b.aux, aside, at, number), m.landed(k, b.rowI, b.index, aside, at, number),
			{Buf: b.got, Ranges: func(rank int, yield func(off, n int64, from program.Origin)) {
				for s := range c.Ranks {
					yield(int64(s)*b.countsBytes, b.countsBytes, program.Origin{Rank: s, Buf: b.sent, Version: p.version(k), Off: int64(rank) * b.countsBytes})
				}
			}},
		}
		last := m.task("reduce", m.blocks(), t[3])
		last.Promises = []program.Promise{m.golden(k)}
		return []program.Task{first, m.task("expert", m.blocks(), t[1]), m.task("combine", m.most.local, t[2]), last}
	}, []program.Buf{b.row, b.rowA, b.rowI, b.back, b.signal, b.got, m.output},
		func(int) []program.Rewrite {
			return []program.Rewrite{{Buf: m.input}, {Buf: b.aux}, {Buf: b.index}, {Buf: b.sent}}
		})
}

// dsv4Text returns the programs of the four tasks.
func (m *layer) dsv4Text(b dsv4Buffers, room scratch, x *routes, epoch int64) []*program.Program {
	at, locals := b.at(m.c.Ranks), m.most.local
	d := &program.Program{Name: "moe/" + m.c.Form}
	m.dsv4Counts(d, b, room, locals)
	d.Phase("arrived").Add(m.cell(program.WaitPeers, b.signal, countsDone, epoch))
	there, back := newSpread[route](m.c.Ranks, locals), newSpread[route](m.c.Ranks, locals)
	for r := range m.c.Ranks {
		for _, y := range x.from[r] {
			there.add(r, y.expert, y)
		}
		for _, y := range x.to[r] {
			back.add(r, y.expert, y)
		}
	}
	d.Phase("dispatch")
	there.loop(d, func() { m.three(d, there, b.row, b.rowA, b.rowI, b.aux, b.index, at) })
	d.Phase("data_arrived")
	m.shoot(d, b.signal, dataDone, epoch*int64(locals))
	e := m.expert(x, b.row, at, at)
	c := (&program.Program{Name: "combine"}).Phase("combine")
	m.giveBack(c, back, b.back, at)
	c.Add(program.Op{Kind: program.Fence})
	r := (&program.Program{Name: "reduce"}).Phase("combine_arrived")
	r.Loop(table(int64(m.blocks()), first), func() { r.Add(m.cell(program.NotifyPeers, b.signal, combineDone, 1)) })
	r.Add(m.cell(program.WaitPeers, b.signal, combineDone, epoch))
	r.Phase("reduce")
	m.reduce(r, x, m.blocks(), b.back, func(r route) int64 { return int64(r.number) })
	return []*program.Program{d, e, c, r}
}

// first is the count of a loop that block 0 alone goes through.
func first(b int64) int64 { return max(1-b, 0) }

// dsv4Counts has block 0 store the counts at every destination and say that the rank has
// arrived.
func (m *layer) dsv4Counts(p *program.Program, b dsv4Buffers, room scratch, blocks int) {
	ranks, n := int64(m.c.Ranks), b.countsBytes
	p.Phase("counts")
	p.Loop(table(int64(blocks), first), func() {
		p.Add(copyTile(b.got, b.sent, program.PerRank(n), program.PerRank(n), n, n))
		p.Loop(program.Const(ranks-1), func() {
			ahead := peersAhead(ranks, 1)
			p.Add(program.Op{Kind: program.LoadTile, Tile: 0, Src: b.sent, SrcOff: peersAhead(ranks, n), Bytes: program.Const(n)})
			m.c.deliver(p, room, program.Op{Tile: 0, Dst: b.got, Peer: ahead, DstOff: program.PerRank(n), Bytes: program.Const(n)})
		})
		p.Add(program.Op{Kind: program.Fence})
		p.Add(m.cell(program.NotifyPeers, b.signal, countsDone, 1))
	})
}

// peersAhead is k times the operand (rank + 1 + j) mod ranks, j the inner loop.
func peersAhead(ranks, k int64) program.Expr {
	of := make([]int64, ranks)
	for r := range of {
		of[r] = int64(r) * k
	}
	e := program.Expr{C: 1, R: 1, Of: of}
	e.L[1] = 1
	return e
}
