package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// broadcast (semantics 5.2): every rank's target becomes root's. Root has stored its row
// in its own target before the call; what the others hold there is of no account.
//
//	hand    root stages; barrier; every rank, root too, loads root's row to output
//	incore  root stages; barrier; every rank gets root's target into its own; -1
//	host    the builtin is a task of its own; for each tile of 256 elements root copies its
//	        tile to itself, PIPE_ALL, a barrier with expected t+1, PIPE_ALL, and the others
//	        load root's tile and store it; at the end -tiles
//
// Root serves (P-1)*N bytes and each other rank receives N. There is no closing barrier:
// a root that overwrites its target after the call races with slow readers, so the caller
// has to order the two.
var (
	_ = register(broadcast("hand", "root's row loaded by every rank behind a barrier: single use"))
	_ = register(broadcast("incore", "composite: one get from root behind a self-clearing barrier"))
	_ = register(broadcast("host", "HOST builtin: a credit barrier for each tile of 256 elements, at most 16 ranks"))
)

func broadcast(form, doc string) Algorithm {
	a := Algorithm{
		Op: "broadcast", Form: form, Doc: doc, Default: form == "incore",
		Fields:  []string{"dtype", "size", "message", "root", "signal_columns", "transport"},
		Check:   checkBroadcast,
		Record:  recordBroadcast,
		Formula: func(c *Call, rank, _ int) result.Counters { return broadcastFormula(c, rank) },
		Formulas: [][2]string{
			{"bytes_sent", "(P-1) * N at root, else 0"},
			{"bytes_received", "N, at root 0"},
			{"gets", "1 (N bytes within root)"},
			{"notifies", "P-1"},
			{"self_adds", "P-1"},
		},
		Bounds: broadcastBounds,
		Bytes: func(c *Call, rank, _ int) engine.Bytes {
			if rank != c.Root || c.silent() {
				return 0
			}
			return engine.Bytes(int64(c.Ranks-1)*c.Chunk() + c.kept())
		},
	}
	switch form {
	case "hand":
		a.Fields = append(a.Fields, "chunk_cols")
		a.Stage = func(c *Call) int64 { return c.tileOf() }
		a.Formulas[2], a.Formulas[4][1] = [2]string{"remote_loads", "ceil(SIZE/chunk_cols), at root 0"}, "0"
		a.Mistakes = []Mistake{
			{"read_self", "loads from the own rank instead of from root", "F33"},
			{"not_staged", "stages on every rank but root", "F34"},
		}
	case "incore":
		a.Mistakes = []Mistake{{"not_staged", "stages on every rank but root", "F34"}}
	case "host":
		a.Formulas[2], a.Formulas[3][1] = [2]string{"remote_loads", "ceil(N/256), at root 0"}, "ceil(N/256) * (P-1)"
	}
	return a
}

func checkBroadcast(c *Call) []error {
	var w refusals
	w.common(c)
	w.payload(c)
	w.rootOf(c)
	if c.Form == "hand" {
		w.tile("size", c, c.Size)
		w.tile("chunk_cols", c, c.ChunkCols)
	}
	w = append(w, c.checkTransport("mte")...)
	return append(w, c.checkOperands([]operand{{"target", true, false}, {"signal", true, false}}, [][2]string{{"target", "signal"}})...)
}

// hostTiles are the tiles of a HOST builtin.
func (c *Call) hostTiles(n int64, depth int) tiled {
	return tiled{n: n, tile: hostTile * int64(ElemSize(c.DType)), depth: depth}
}

type broadcastCall struct {
	*Call
	in, target, signal, out program.Buf
	via                     scratch
}

func recordBroadcast(p *Plan, c *Call) {
	size := engine.Bytes(max(c.Chunk(), 1))
	b := broadcastCall{
		Call:   c,
		in:     p.buffer("input", program.Buffer{Size: size, Fill: c.ramp(c.Size)}),
		target: p.buffer("target", program.Buffer{Window: true, Size: size}),
		signal: p.signalWindow(c.Ranks),
	}
	var text, before *program.Program
	switch c.Form {
	case "hand":
		b.out = p.buffer("output", program.Buffer{Size: size, Fill: program.Zero{}})
		b.via = p.scratch(c, c.tileOf())
		text = b.hand()
	case "incore":
		text = b.incore()
	default:
		b.via = p.scratch(c, hostTile*int64(ElemSize(c.DType)))
		before = &program.Program{Name: "stage"}
		b.stage(before)
		text = b.host()
	}
	p.calls(func(k int) []program.Task { return b.tasks(p, text, before, k) },
		[]program.Buf{b.target, b.signal}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.in}} })
}

func (b broadcastCall) tasks(p *Plan, text, before *program.Program, k int) []program.Task {
	root := func(all bool) ranges {
		return func(rank int, yield func(off, n int64, from program.Origin)) {
			if rank == b.Root || all {
				yield(0, b.Chunk(), program.Origin{Rank: b.Root, Buf: b.in, Version: p.version(k)})
			}
		}
	}
	t := b.task(text)
	t.Name = p.item.Name
	t.Promises = []program.Promise{{Buf: b.target, Ranges: root(b.Form != "hand" && !b.silent())}}
	if b.Form == "hand" {
		t.Promises = append(t.Promises, program.Promise{Buf: b.out, Ranges: root(true)})
		return []program.Task{t}
	}
	t.Zero = []program.Buf{b.signal}
	if before == nil {
		return []program.Task{t}
	}
	s := b.task(before)
	s.Name, s.Op = p.item.Name+" stage", "stage"
	if b.silent() {
		t.Promises = nil
		return []program.Task{t}
	}
	return []program.Task{s, t}
}

// stage: root stores its row in its own target.
func (b broadcastCall) stage(p *program.Program) {
	p.Phase("stage")
	store := func() { p.Add(copyTile(b.target, b.in, program.Expr{}, program.Expr{}, b.Chunk(), stageCap)) }
	switch b.Mistake {
	case "read_self":
		store()
	case "not_staged":
		p.Loop(allBut(b.Ranks, b.Root), store)
	default:
		p.Loop(only(b.Ranks, b.Root), store)
	}
}

func (b broadcastCall) meet(p *program.Program) {
	p.Phase("barrier").Add(program.Op{Kind: program.Fence})
	p.Add(notifyAll(b.signal, false))
	p.Add(waitAll(b.signal, program.Const(1)))
}

func (b broadcastCall) hand() *program.Program {
	p := &program.Program{Name: "broadcast/hand"}
	b.stage(p)
	b.meet(p)
	root := program.Const(int64(b.Root))
	if b.Mistake == "read_self" {
		root = program.Own
	}
	t := tiled{n: b.Chunk(), tile: b.tileOf()}
	p.Phase("load")
	t.loop(p, func() {
		b.fetch(p, b.via, program.Op{Src: b.target, SrcOff: t.at(), Peer: root, Bytes: t.bytes()})
		p.Add(program.Op{Kind: program.StoreTile, Dst: b.out, DstOff: t.at(), Bytes: t.bytes()})
	})
	return p
}

func (b broadcastCall) incore() *program.Program {
	p := &program.Program{Name: "broadcast/incore"}
	b.stage(p)
	b.meet(p)
	p.Phase("get")
	b.get(p, program.Op{Dst: b.target, Src: b.target, Peer: program.Const(int64(b.Root)), Bytes: program.Const(b.Chunk()), Chunk: min(b.Chunk(), stageCap)})
	p.Phase("epilogue").Add(clearAll(b.signal, 1))
	return p
}

func (b broadcastCall) host() *program.Program {
	p := &program.Program{Name: "broadcast/host"}
	if b.silently(p) {
		return p
	}
	t := b.hostTiles(b.Chunk(), 0)
	t.loop(p, func() {
		own := program.Op{Kind: program.LoadTile, Src: b.target, SrcOff: t.at(), Bytes: t.bytes()}
		store := program.Op{Kind: program.StoreTile, Dst: b.target, DstOff: t.at(), Bytes: t.bytes()}
		p.Phase("publish").Loop(only(b.Ranks, b.Root), func() {
			p.Add(own)
			p.Add(store)
		})
		p.Phase("barrier").Add(program.Op{Kind: program.PipeBarrier})
		p.Add(notifyAll(b.signal, false))
		p.Add(waitAll(b.signal, t.number()))
		p.Add(program.Op{Kind: program.PipeBarrier})
		p.Phase("load").Loop(allBut(b.Ranks, b.Root), func() {
			b.fetch(p, b.via, program.Op{Src: b.target, SrcOff: t.at(), Peer: program.Const(int64(b.Root)), Bytes: t.bytes()})
			p.Add(store)
		})
	})
	p.Phase("epilogue").Add(clearAll(b.signal, t.count()))
	return p
}

// kept is what root moves within itself as a put or get.
func (c *Call) kept() int64 {
	if c.Form == "incore" || c.Form == "hand" && c.carrier() != program.MTE {
		return c.Chunk()
	}
	return 0
}

func broadcastFormula(c *Call, rank int) result.Counters {
	out, peers := counted(), int64(c.Ranks-1)
	if c.silent() {
		return out
	}
	barriers, tile := int64(1), c.tileOf()
	if c.Form == "host" {
		t := c.hostTiles(c.Chunk(), 0)
		barriers, tile = t.count(), t.tile
		out[result.PipeBarriers] = 2 * barriers
	}
	c.barriers(&out, barriers)
	if c.Form != "hand" {
		out[result.SelfAdds] = peers
	}
	trips := ceil(c.Chunk(), tile)
	if c.Form == "incore" {
		trips = ceil(c.Chunk(), stageCap)
	}
	if rank == c.Root {
		if out[result.BytesSent], out[result.BytesSelf] = peers*c.Chunk(), c.kept(); c.kept() > 0 {
			out[result.Gets], out[result.PutStages] = trips, trips
		}
		if c.Form == "incore" {
			out[result.Gets] = 1
		}
		return out
	}
	out[result.BytesReceived] = c.Chunk()
	if c.Form != "incore" {
		c.carriedTiles(&out, program.RemoteLoad, 1, c.Chunk(), tile)
		return out
	}
	c.carried(&out, program.Get, 1, c.Chunk())
	if c.carrier() == program.MTE {
		out[result.PutStages] = trips
	}
	return out
}

// broadcastBounds: barriers one after another, behind each of them what a rank loads from
// root; and all of it leaves root.
func broadcastBounds(c *Call, l *hw.Limits, _ int) []Bound {
	launch := l.Launch(1)
	if c.silent() {
		return []Bound{{"latency", launch, "launch"}}
	}
	barriers, trips := int64(1), ceil(c.Chunk(), c.tileOf())
	switch c.Form {
	case "incore":
		trips = ceil(c.Chunk(), stageCap)
	case "host":
		launch *= 2
		trips = c.hostTiles(c.Chunk(), 0).count()
		barriers = trips
	}
	far, near := farthest(l)
	loads := c.trips(trips, near)
	between := loads
	if c.Form == "host" { // root goes on to the next barrier while the others load
		between /= 2
	}
	var wire engine.Duration
	for r := range c.Ranks {
		if r != c.Root {
			wire = max(wire, c.link(l, c.Root, r).Span(engine.Bytes(c.Chunk())))
		}
	}
	return []Bound{
		{"latency", launch + engine.Duration(barriers)*far + between, "launch, the barriers and what a rank loads between them"},
		{c.linkName(), launch + far + loads + wire, "launch, a barrier and the serial loads of a rank at its rate from root"},
		{"egress", launch + far + l.Egress(c.Root).Span(engine.Bytes(int64(c.Ranks-1)*c.Chunk())), "what root serves at its fabric rate"},
	}
}
