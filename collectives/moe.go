package collectives

import (
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw/program"
)

// moe is a mixture-of-experts layer end to end (semantics 5.9): tokens go to the ranks of
// their experts, each expert works on what it got, the results come back and each token's
// are added up in FP32. It is no collective call but three protocols around one idea:
//
//	ep_dispatch_combine  counts by AtomicAdd notifies, a put for row, weight and index
//	                     of each route, single-shot barriers (pypto ST)
//	dsv4                 a lane (expert, source, slot) for each route, a block for each
//	                     expert, epochs that only grow (pypto-lib)
//	indexed              indexed_all_to_all_v there and back, expansion by the upper layer
//
// Inputs are small integers and expert e multiplies by 1 + e mod 3, so that the sums are
// exact in any order and the result shows which experts a token has seen.
//
// Cost per rank: routes * (row + 64) bytes there, routes * back row bytes back; indexed:
// rows * row there. Three barriers; indexed: two exchanges of two rounds.
var (
	_ = register(moeForm("dsv4", "lanes by expert, source and slot; a block for each expert; growing epochs"))
	_ = register(moeForm("ep_dispatch_combine", "counts by notifies, three puts a route, single-shot barriers"))
	_ = register(moeForm("indexed", "indexed_all_to_all_v there and back, expansion by the upper layer"))
)

func moeForm(form, doc string) Algorithm {
	a := Algorithm{
		Op: "moe", Form: form, Doc: doc, Default: form == "indexed", Columns: true, Routed: true,
		Fields:   []string{"core_num", "dtype", "hidden", "capacity", "transport", "what_if"},
		Check:    checkMoE,
		Record:   recordMoE,
		Formula:  moeFormula,
		Formulas: moeFormulas,
		Bounds:   moeBounds,
		Stage:    func(c *Call) int64 { return 3 * 4 * int64(c.Hidden) },
		Bytes:    moeBytes,
	}
	if form == "indexed" {
		a.Fields = []string{"core_num", "dtype", "hidden", "signal_columns", "piece", "split", "drain", "transport", "what_if", "queues"}
		a.Formulas = moeIndexedFormulas
	}
	return a
}

// aside is the bytes of a weight or index that goes with a row.
const aside = 32

// returned is the type of the rows on the way back.
func (c *Call) returned() program.DType {
	switch t := c.Elem(); {
	case c.Form == "indexed":
		return program.FP32
	case t == program.INT8:
		return program.BF16
	default:
		return t
	}
}

// backRow is the bytes of a row on the way back.
func (c *Call) backRow() int64 { return int64(c.Hidden) * c.returned().Size() }

func checkMoE(c *Call) (errs []error) {
	w := refusals{}
	legal := map[string][]string{"indexed": {"FP32", "INT8"}, "dsv4": {"INT8", "BF16", "FP16", "FP32"}, "ep_dispatch_combine": {"BF16", "FP16", "FP32"}}[c.Form]
	if !slices.Contains(legal, c.DType) {
		w.add("dtype: %s, must be one of %v in moe/%s", c.DType, legal, c.Form)
	}
	if c.CoreNum < 0 {
		w.add("core_num: %d, must be positive", c.CoreNum)
	}
	if c.Hidden <= 0 {
		w.add("hidden: %d, must be positive", c.Hidden)
	}
	w.tile("hidden", c, c.Hidden)
	if c.Capacity < 0 {
		w.add("capacity: %d, must be positive", c.Capacity)
	}
	if c.Form == "indexed" {
		one := c.there()
		return append(w, checkIndexed(&one)...)
	}
	w = append(w, c.checkTransport("mte")...)
	return append(w, c.checkOperands([]operand{{"input", false, true}, {"signal", true, false}}, nil)...)
}

// there is the call of indexed_all_to_all_v that moves the rows of moe/indexed to their
// experts, and back the one that returns the results.
func (c *Call) there() Call {
	one := *c
	one.Op, one.Form, one.CoreNum, one.Mistake = "indexed_all_to_all_v", "l2", c.Blocks(), ""
	return one
}

func (c *Call) back(all []*routes) Call {
	one := c.there()
	one.DType, one.Traffic = "FP32", nil
	for _, x := range all {
		one.Traffic = append(one.Traffic, newBackwards(x))
	}
	return one
}

// allRoutes returns the routes of each repetition's traffic.
func (c *Call) allRoutes() (out []*routes, err error) {
	if err := c.checkTraffic(); err != nil {
		return nil, err
	}
	for _, t := range c.Traffic {
		x, err := moeRoutes(t)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// routesOf returns the routes of a repetition, which it finds once; what Record has
// refused has none.
func (c *Call) routesOf(repeat int) *routes {
	t := c.traffic(repeat)
	if x := c.found[t]; x != nil {
		return x
	}
	x, err := moeRoutes(t)
	if err != nil {
		panic(err)
	}
	if c.found == nil {
		c.found = map[Traffic]*routes{}
	}
	c.found[t] = x
	return x
}

// layer records one moe call: all sizes hold all repetitions.
type layer struct {
	c    *Call
	p    *Plan
	all  []*routes
	in   int64 // bytes of a row there, back, and of a token's sum
	ret  int64
	sum  int64
	most routes // the largest of each size

	input, weights, results, output program.Buf
}

func recordMoE(p *Plan, c *Call) {
	all, err := c.allRoutes()
	if err != nil {
		p.err = err
		return
	}
	m := &layer{c: c, p: p, all: all, in: c.Row(), ret: c.backRow(), sum: 4 * int64(c.Hidden)}
	tokens := 1
	for i, x := range all {
		m.most.local, m.most.most, m.most.arrived = max(m.most.local, x.local), max(m.most.most, x.most, 1), max(m.most.arrived, x.arrived, 1)
		m.most.lane, m.most.queue = max(m.most.lane, x.lane, 1), max(m.most.queue, x.queue, 1)
		tokens = max(tokens, c.Traffic[i].Tokens())
	}
	m.input = p.buffer("input", program.Buffer{Size: m.bytes(tokens, m.in), Fill: moeInput{int64(c.Hidden), c.Elem()}})
	m.weights = p.buffer("weights", program.Buffer{Size: m.bytes(m.most.local, m.ret), Fill: moeWeights{int64(c.Hidden), c.returned(), all[0].base}})
	m.output = p.buffer("output", program.Buffer{Size: m.bytes(tokens, m.sum), Fill: program.Zero{}})
	switch c.Form {
	case "dsv4":
		m.dsv4()
	case "indexed":
		m.indexed()
	default:
		m.ep()
	}
}

func (m *layer) bytes(n int, row int64) engine.Bytes { return engine.Bytes(int64(n) * row) }

func (m *layer) routes(k int) *routes { return m.all[min(k, len(m.all)-1)] }

// blocks is how many AIVs share the work of the upper layers.
func (m *layer) blocks() int { return m.c.Blocks() }

// task is one of the tasks of a layer.
func (m *layer) task(name string, blocks int, p *program.Program) program.Task {
	return program.Task{Name: m.p.item.Name + " " + name, Op: name, Blocks: blocks, Program: p}
}

// expert works on each row that a rank has got: row from(r) of src times the expert's
// weights is row to(r) of the results.
func (m *layer) expert(x *routes, src program.Buf, from, to func(r route) int64) *program.Program {
	p := (&program.Program{Name: "expert"}).Phase("expert")
	s := newSpread[route](m.c.Ranks, m.blocks())
	for d, list := range x.to {
		for i, r := range list {
			s.add(d, i%m.blocks(), r)
		}
	}
	in, ret := m.c.Elem(), m.c.returned()
	s.loop(p, func() {
		tile := uint8(0)
		p.Add(program.Op{Kind: program.LoadTile, Tile: 0, Src: src, SrcOff: s.of(func(r route) int64 { return from(r) * m.in }), Bytes: program.Const(m.in)})
		if in != ret {
			tile = 1
			p.Add(program.Op{Kind: program.Convert, Tile: 1, Other: 0, Bytes: program.Const(m.in), DType: in, Into: ret})
		}
		p.Add(program.Op{Kind: program.LoadTile, Tile: 2, Src: m.weights, SrcOff: s.of(func(r route) int64 { return int64(r.expert) * m.ret }), Bytes: program.Const(m.ret)})
		p.Add(program.Op{Kind: program.Combine, Tile: tile, Other: 2, Bytes: program.Const(m.ret), Reduce: program.Prod, DType: ret})
		p.Add(program.Op{Kind: program.StoreTile, Tile: tile, Dst: m.results, DstOff: s.of(func(r route) int64 { return to(r) * m.ret }), Bytes: program.Const(m.ret)})
	})
	return p
}

// landed promises rows of n bytes in dst: for each route to the rank row at(r), from row
// of(r) of its source's src; of several repetitions the last one that used a row.
func (m *layer) landed(k int, dst, src program.Buf, n int64, at, of func(r route) int64) program.Promise {
	first := m.p.history(k)
	return program.Promise{Buf: dst, Ranges: func(rank int, yield func(off, n int64, from program.Origin)) {
		done := map[int]program.Origin{}
		for j := first; j <= k; j++ {
			for _, r := range m.routes(j).to[rank] {
				done[int(at(r))] = program.Origin{Rank: r.src, Buf: src, Version: m.p.version(j), Off: of(r) * n}
			}
		}
		for _, row := range sortedInts(done) {
			yield(int64(row)*n, n, done[row])
		}
	}}
}

// textOf keeps one program for all repetitions of the same traffic.
func textOf(n int, make func(k int) []*program.Program) func(k int) []*program.Program {
	texts := map[int][]*program.Program{}
	return func(k int) []*program.Program {
		k = min(k, n-1)
		if texts[k] == nil {
			texts[k] = make(k)
		}
		return texts[k]
	}
}

// put is a put of a row or of what goes with it.
func (m *layer) put(p *program.Program, dst, src program.Buf, peer, to, from program.Expr, n int64) {
	m.c.put(p, program.Op{Dst: dst, Src: src, Peer: peer, DstOff: to, SrcOff: from, Bytes: program.Const(n), Chunk: min(n, stageCap)})
}

// checked reports a capacity that the routes do not fit in.
func (m *layer) checked(need int, what string) int {
	if m.c.Capacity == 0 {
		return need
	}
	if m.c.Capacity < need {
		m.p.err = fmt.Errorf("capacity: %d %s, but the routing needs %d", m.c.Capacity, what, need)
	}
	return max(m.c.Capacity, need)
}
