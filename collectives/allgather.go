package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// allgather (semantics 5.3): on every rank row s becomes what rank s gives, for every s.
//
//	hand           stage the own row in the window, barrier, load row p from every rank p
//	incore         put the own row to row `rank` of every rank in ascending order, the own
//	               one included; fence; barrier; -1. Stages have at most 16 KiB
//	runtime_width  the same with ROWS * SIZE elements, of which ROWS is known at run time
//	defer          the same in two tasks: push and notify; then, when all have notified and
//	               without a core that spins for it, the epilogue (PR #2682)
//	host           pushes tiles of 256 elements with PIPE_ALL around each, at most 16 ranks
//
// Each rank sends and receives (P-1)/P * N bytes, N being all that a rank holds at the end.
// Nothing stops a fast rank's next call from overwriting rows that a slow one still reads.
var (
	_ = register(allgather("hand", "row of every rank loaded from its window behind a barrier: single use"))
	_ = register(allgather("incore", "composite: own row put to every rank, self-clearing barrier"))
	_ = register(allgather("runtime_width", "composite whose width is known at run time only: ROWS rows of SIZE elements"))
	_ = register(allgather("defer", "composite in two tasks: push and notify, then a deferred wait and the epilogue"))
	_ = register(allgather("host", "HOST builtin: 256-element tiles, at most 16 ranks"))
)

// mostConditions is how many cells a task can wait for without a core (semantics 3.2).
const mostConditions = 64

func allgather(form, doc string) Algorithm {
	a := Algorithm{
		Op: "allgather", Form: form, Doc: doc, Default: form == "incore",
		Fields:  []string{"dtype", "size", "message", "signal_columns", "transport"},
		Check:   checkAllgather,
		Record:  recordAllgather,
		Formula: func(c *Call, _, _ int) result.Counters { return allgatherFormula(c) },
		Formulas: [][2]string{
			{"bytes_sent", "(P-1)/P * N"},
			{"bytes_received", "(P-1)/P * N"},
			{"bytes_self", "N/P"},
			{"puts", "P"},
			{"notifies", "P-1"},
			{"self_adds", "P-1"},
		},
		Bounds: allgatherBounds,
		Bytes: func(c *Call, _, _ int) engine.Bytes {
			n := int64(c.Ranks) * c.portion()
			switch {
			case c.silent():
				n = 0
			case c.Form == "hand" && c.carrier() == program.MTE:
				n -= c.portion()
			}
			return engine.Bytes(n)
		},
	}
	switch form {
	case "hand":
		a.Fields = append(a.Fields, "chunk_cols")
		a.Stage = func(c *Call) int64 { return c.tileOf() }
		a.Formulas[2][1], a.Formulas[3], a.Formulas[5][1] = "0", [2]string{"remote_loads", "(P-1) * ceil(SIZE/chunk_cols)"}, "0"
		a.Mistakes = []Mistake{
			{"wrong_offset", "stores what peer gives at the offset of the peer behind it", "F36"},
			{"gaps", "stores what peer gives at half its offset and a half row", "F36"},
		}
	case "incore":
		a.Fields = append(a.Fields, "chunk_cols")
	case "runtime_width":
		a.Fields = append(a.Fields, "rows")
	case "host":
		a.Formulas[3][1] = "P * ceil(SIZE/256)"
	case "defer":
		a.Formulas = append(a.Formulas, [2]string{"polls_satisfied", "0: the scheduler looks, not a core"})
	}
	return a
}

// portion is the bytes that a rank gives to each rank.
func (c *Call) portion() int64 {
	if c.Form == "runtime_width" {
		return int64(max(c.Rows, 1)) * c.Chunk()
	}
	return c.Chunk()
}

func checkAllgather(c *Call) []error {
	var w refusals
	w.common(c)
	w.payload(c)
	switch {
	case c.Form == "hand":
		w.tile("size", c, c.Size)
		w.tile("chunk_cols", c, c.ChunkCols)
	case c.Form == "runtime_width" && c.Rows < 0:
		w.add("rows: %d, must not be negative", c.Rows)
	case c.Form == "defer" && c.Ranks-1 > mostConditions:
		w.add("ranks: a deferred wait for %d cells; a task takes at most %d conditions", c.Ranks-1, mostConditions)
	}
	w = append(w, c.checkTransport("mte")...)
	return append(w, c.checkOperands([]operand{{"input", c.Form == "host", c.Form == "hand"}, {"target", true, false}, {"signal", true, false}},
		[][2]string{{"input", "target"}, {"target", "signal"}, {"input", "signal"}})...)
}

type allgatherCall struct {
	*Call
	in, target, signal, out program.Buf
	via                     scratch
}

func recordAllgather(p *Plan, c *Call) {
	row, all := engine.Bytes(max(c.portion(), 1)), engine.Bytes(max(int64(c.Ranks)*c.portion(), 1))
	b := allgatherCall{
		Call:   c,
		in:     p.buffer("input", program.Buffer{Window: c.Form == "host", Size: row, Fill: c.ramp(int(c.portion() / c.Elem().Size()))}),
		target: p.buffer("target", program.Buffer{Window: true, Size: all}),
		signal: p.signalWindow(c.Ranks),
	}
	text, rest := &program.Program{Name: "allgather/" + c.Form}, &program.Program{Name: "allgather/epilogue"}
	if c.Form == "hand" {
		b.out = p.buffer("output", program.Buffer{Size: all, Fill: program.Zero{}})
		b.via = p.scratch(c, c.tileOf())
		b.pull(text)
	} else if !c.silently(text) {
		b.push(text, rest)
	}
	p.calls(func(k int) []program.Task { return b.tasks(p, text, rest, k) },
		[]program.Buf{b.target, b.signal}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.in}} })
}

// golden: row s comes from rank s.
func (b allgatherCall) golden(p *Plan, k int) ranges {
	return func(_ int, yield func(off, n int64, from program.Origin)) {
		for s := range b.Ranks {
			yield(int64(s)*b.portion(), b.portion(), program.Origin{Rank: s, Buf: b.in, Version: p.version(k)})
		}
	}
}

func (b allgatherCall) tasks(p *Plan, text, rest *program.Program, k int) []program.Task {
	t := b.task(text)
	t.Name = p.item.Name
	result := program.Promise{Buf: b.target, Ranges: b.golden(p, k)}
	switch {
	case b.Form == "hand":
		result.Buf = b.out
	case b.silent():
		return []program.Task{t}
	default:
		t.Zero = []program.Buf{b.signal}
	}
	if b.Form != "defer" {
		t.Promises = []program.Promise{result}
		return []program.Task{t}
	}
	e := b.task(rest)
	e.Name, e.Op, e.Promises = p.item.Name+" completion", "deferred", []program.Promise{result}
	for s := 1; s < b.Ranks; s++ {
		e.Until = append(e.Until, program.Condition{Signal: b.signal, Cell: peerAhead(b.Ranks, s), Value: 1})
	}
	return []program.Task{t, e}
}

// pull is the hand form.
func (b allgatherCall) pull(p *program.Program) {
	row := b.portion()
	p.Phase("stage").Add(copyTile(b.target, b.in, program.PerRank(row), program.Expr{}, row, stageCap))
	p.Phase("barrier").Add(program.Op{Kind: program.Fence})
	p.Add(notifyAll(b.signal, false))
	p.Add(waitAll(b.signal, program.Const(1)))
	peer := iteration(0, 1)
	t := tiled{n: row, tile: b.tileOf(), depth: 1}
	p.Phase("load").Loop(program.Const(int64(b.Ranks)), func() {
		t.loop(p, func() {
			b.fetch(p, b.via, program.Op{Src: b.target, SrcOff: times(peer, row).Plus(t.at()), Peer: peer, Bytes: t.bytes()})
			p.Add(program.Op{Kind: program.StoreTile, Dst: b.out, DstOff: b.place().Plus(t.at()), Bytes: t.bytes()})
		})
	})
}

// place is where output holds what the present peer gives.
func (b allgatherCall) place() program.Expr {
	row := b.portion()
	switch e := int64(ElemSize(b.DType)); b.Mistake {
	case "wrong_offset":
		at := peerAhead(b.Ranks, 1)
		at.R, at.L[0], at.Of = 0, 1, scaled(at.Of, row)
		return at
	case "gaps":
		half := row / e / 2 * e
		at := iteration(0, half)
		at.C = half
		return at
	}
	return iteration(0, row)
}

// push is what the other forms do, up to and with the barrier, and in rest what the defer
// form does behind the deferred wait.
func (b allgatherCall) push(p, rest *program.Program) {
	row := b.portion()
	put := program.Op{
		Kind: program.Put, Dst: b.target, Src: b.in, Peer: iteration(0, 1), DstOff: program.PerRank(row),
		Bytes: program.Const(row), Chunk: b.stageBytes(), Transport: b.carrier(),
	}
	p.Phase("push")
	if b.Form == "host" {
		b.pushTiles(p, put)
	} else {
		p.Loop(program.Const(int64(b.Ranks)), func() { p.Add(put) })
	}
	p.Phase("barrier").Add(program.Op{Kind: program.Fence})
	p.Add(notifyAll(b.signal, false))
	if b.Form != "defer" {
		p.Add(waitAll(b.signal, program.Const(1)))
		rest = p
	}
	rest.Phase("epilogue").Add(clearAll(b.signal, 1))
}

func allgatherFormula(c *Call) result.Counters {
	out, peers := counted(), int64(c.Ranks-1)
	if c.silent() {
		return out
	}
	c.barriers(&out, 1)
	if c.Form == "hand" {
		c.carriedTiles(&out, program.RemoteLoad, peers, c.portion(), c.tileOf())
		out[result.BytesSent], out[result.BytesReceived] = peers*c.portion(), peers*c.portion()
		if c.carrier() != program.MTE { // the own row is a get, too
			n := ceil(c.portion(), c.tileOf())
			out[result.Gets] += n
			out[result.PutStages], out[result.BytesSelf] = n, c.portion()
		}
		return out
	}
	c.pushed(&out)
	out[result.SelfAdds] = peers
	if c.Form == "defer" {
		out[result.PollsSatisfied] = 0
	}
	return out
}

func allgatherBounds(c *Call, l *hw.Limits, repeat int) []Bound {
	if c.Form == "hand" {
		return gatherBounds(c, l)
	}
	bounds := pushBounds(c, l, repeat)
	if c.Form == "defer" {
		for i := range bounds {
			bounds[i].Time += l.Launch(1)
		}
	}
	return bounds
}

// gatherBounds: a barrier, then a rank's loads from all peers, one after another.
func gatherBounds(c *Call, l *hw.Limits) []Bound {
	launch := l.Launch(1)
	far, near := farthest(l)
	peers := int64(c.Ranks - 1)
	fixed := launch + far + c.trips(peers*ceil(c.portion(), c.tileOf()), near)
	var serial, ingress engine.Duration
	for r := range c.Ranks {
		var d engine.Duration
		for s := range c.Ranks {
			if s != r {
				d += c.link(l, s, r).Span(engine.Bytes(c.portion()))
			}
		}
		serial, ingress = max(serial, d), max(ingress, l.Ingress(r).Span(engine.Bytes(peers*c.portion())))
	}
	return []Bound{
		{"latency", fixed, "launch, a barrier message and the serial loads of a rank"},
		{c.linkName(), fixed + serial, "the same and the rows at the rate of one peer after another"},
		{"ingress", launch + far + ingress, "remote bytes of a receiver at its fabric rate"},
	}
}
