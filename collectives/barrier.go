package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// barrier (semantics 4, 5.1): after it every rank has entered the call, and sees what a
// peer published before its own call. It moves no data. Since a builtin leaves no tally
// in its signal, `size` proves the order with data: every rank stages a row of its own
// before the barrier and reads that of rank r+1 behind it.
//
//	stage     row of input to the own window
//	barrier   notify every peer, wait for every peer
//	epilogue  take the credits back
//	read      row of rank r+1 to output
//
//	hand_set  Set/Ge(1), one writer a cell: single use (4.1)
//	hand_add  AtomicAdd/Ge(1): single use (4.2)
//	shared    every rank adds to one cell of each peer, which waits for P-1 (4.3)
//	root      every rank adds to one cell of root, which waits for P and tells all (4.3)
//	epoch     AtomicAdd, expected raised by one a round, never cleared (4.2)
//	incore    the composite: credits, then -1 on the own cells (4.4)
//	host      the same as a task of its own, at most 16 ranks
var (
	_ = register(barrier("hand_set", "Set/Ge(1) on cells of one writer: single use"))
	_ = register(barrier("hand_add", "AtomicAdd/Ge(1) on cells of one writer: single use"))
	_ = register(barrier("shared", "one cell on each rank that all peers add to: single use"))
	_ = register(barrier("root", "one cell on root that all ranks add to, then root tells all: single use"))
	_ = register(barrier("epoch", "AtomicAdd, expected raised by one a round; cells are never cleared"))
	_ = register(barrier("incore", "composite inside one AIV kernel: self-clearing credit barrier"))
	_ = register(barrier("host", "HOST builtin: self-clearing credit barrier in a task of its own, at most 16 ranks"))
)

func barrier(form, doc string) Algorithm {
	a := Algorithm{
		Op: "barrier", Form: form, Doc: doc, Default: form == "hand_add",
		Fields:  []string{"dtype", "size", "signal_columns", "transport"},
		Check:   checkBarrier,
		Record:  recordBarrier,
		Formula: func(c *Call, rank, _ int) result.Counters { return barrierFormula(c, rank) },
		Formulas: [][2]string{
			{"notifies", "P-1 a barrier"},
			{"polls_satisfied", "P-1 a barrier"},
			{"self_adds", "0"},
			{"bytes_received", "0; with a SIZE that proves the order SIZE a barrier"},
		},
		Bounds: barrierBounds,
		Bytes: func(c *Call, _, _ int) engine.Bytes {
			if c.silent() {
				return 0
			}
			return engine.Bytes(c.Chunk() * c.epochs())
		},
	}
	switch form {
	case "hand_set", "hand_add":
		a.Mistakes = []Mistake{
			{"wait_rows", "waits for rows 1 to P-1 whichever rank it is", "F13"},
			{"second_round", "has a second barrier on the same cells, with the same expected value", "F11"},
		}
	case "shared":
		a.Mistakes = []Mistake{{"set_shared", "sets the shared cell instead of adding to it", "F10"}}
		a.Formulas[1][1] = "1"
	case "root":
		a.Mistakes = []Mistake{{"set_shared", "sets root's shared cell instead of adding to it", "F10"}}
		a.Fields = append(a.Fields, "root")
		a.Formulas[0][1], a.Formulas[1][1], a.Formulas[2][1] = "1; root: P-1", "1", "0; root: 1"
	case "epoch":
		a.Mistakes = []Mistake{{"same_expected", "expects 1 in every round", "F11"}}
		a.Fields = append(a.Fields, "epochs")
	case "incore", "host":
		a.Formulas[2][1] = "P-1 a barrier"
		if form == "incore" {
			a.Fields = append(a.Fields, "epochs")
		}
	}
	return a
}

// epochs is how many barriers the call has, one after another.
func (c *Call) epochs() int64 {
	if c.Mistake == "second_round" {
		return 2
	}
	return int64(max(c.Epochs, 1))
}

func checkBarrier(c *Call) []error {
	var w refusals
	w.common(c)
	if c.Size < 0 {
		w.add("size: %d, must not be negative", c.Size)
	}
	if c.Size > 0 {
		w.payload(c)
		w.tile("size", c, c.Size)
	}
	if c.Form == "root" {
		w.rootOf(c)
	}
	w = append(w, c.checkOperands([]operand{{"signal", true, false}}, nil)...)
	return append(w, c.checkTransport("mte")...)
}

// barrierCall is a barrier with what it is recorded with.
type barrierCall struct {
	*Call
	signal       program.Buf
	in, row, out program.Buf // where the order is proved
	depth        int         // of the loops inside that over the barriers
	tile         scratch
}

func recordBarrier(p *Plan, c *Call) {
	b := barrierCall{Call: c, signal: p.signalWindow(c.cells())}
	if c.Size > 0 {
		size := engine.Bytes(c.Chunk() * c.epochs())
		b.in = p.buffer("input", program.Buffer{Size: size, Fill: c.ramp(c.Size * int(c.epochs()))})
		b.row = p.buffer("data", program.Buffer{Window: true, Size: size})
		b.out = p.buffer("output", program.Buffer{Size: size, Fill: program.Zero{}})
		b.tile = p.scratch(c, stageCap)
	}
	if c.epochs() > 1 {
		b.depth = 1
	}
	refill := func(int) []program.Rewrite { return nil }
	if c.Size > 0 {
		refill = func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.in}} }
	}
	p.calls(func(k int) []program.Task { return b.tasks(p, k) }, []program.Buf{b.signal}, refill)
}

// cells is how many cells the signal has.
func (c *Call) cells() int {
	if c.Form == "shared" {
		return 1
	}
	return c.Ranks
}

func (b barrierCall) tasks(p *Plan, k int) []program.Task {
	first := (k - p.history(k)) * int(b.epochs()) // barriers that the cells have seen
	if b.Form == "host" {
		return b.hostTasks(p, k)
	}
	text := &program.Program{Name: "barrier/" + b.Form}
	round := func() {
		b.stage(text)
		b.meet(text, int64(first))
		b.read(text)
	}
	if b.depth > 0 {
		text.Loop(program.Const(b.epochs()), round)
	} else {
		round()
	}
	t := b.task(text)
	t.Name = p.item.Name
	if b.Size > 0 {
		t.Promises = []program.Promise{{Buf: b.out, Ranges: b.golden(p, k)}}
	}
	switch b.Form {
	case "incore":
		t.Zero = []program.Buf{b.signal}
	case "epoch":
		t.Promises = append(t.Promises, program.Promise{Buf: b.signal, Words: func(rank int) []int32 {
			return b.everywhere(rank, int32(first)+int32(b.epochs()))
		}})
	}
	return []program.Task{t}
}

// hostTasks are the builtin's task and, where the order is proved, those of the kernels
// before and behind it.
func (b barrierCall) hostTasks(p *Plan, k int) []program.Task {
	text := &program.Program{Name: "barrier/host"}
	if !b.silently(text) {
		b.meet(text, 0)
	}
	t := b.task(text)
	t.Name, t.Zero = p.item.Name, []program.Buf{b.signal}
	if b.Size == 0 {
		return []program.Task{t}
	}
	stage, read := &program.Program{Name: "stage"}, &program.Program{Name: "read"}
	b.stage(stage)
	before, behind := b.task(stage), b.task(read)
	before.Name, before.Op = p.item.Name+" stage", "stage"
	behind.Name, behind.Op = p.item.Name+" read", "read"
	if !b.silent() {
		b.read(read)
		behind.Promises = []program.Promise{{Buf: b.out, Ranges: b.golden(p, k)}}
	}
	return []program.Task{before, t, behind}
}

// golden: row e of output is row e of rank r+1.
func (b barrierCall) golden(p *Plan, k int) ranges {
	return func(rank int, yield func(off, n int64, from program.Origin)) {
		yield(0, b.Chunk()*b.epochs(), program.Origin{Rank: (rank + 1) % b.Ranks, Buf: b.in, Version: p.version(k)})
	}
}

// everywhere is n in the cell of every peer.
func (c *Call) everywhere(rank int, n int32) []int32 {
	out := make([]int32, c.Ranks)
	for s := range out {
		if s != rank {
			out[s] = n
		}
	}
	return out
}

// rowAt is where the row of the present barrier begins.
func (b barrierCall) rowAt() program.Expr {
	if b.depth == 0 {
		return program.Expr{}
	}
	return iteration(0, b.Chunk())
}

func (b barrierCall) stage(p *program.Program) {
	if b.Size == 0 {
		return
	}
	p.Phase("stage").Add(copyTile(b.row, b.in, b.rowAt(), b.rowAt(), b.Chunk(), stageCap))
}

func (b barrierCall) read(p *program.Program) {
	if b.Size == 0 {
		return
	}
	p.Phase("read")
	t := tiled{n: b.Chunk(), tile: stageCap, depth: b.depth}
	t.loop(p, func() {
		at := b.rowAt().Plus(t.at())
		b.fetch(p, b.tile, program.Op{Src: b.row, SrcOff: at, Peer: peerAhead(b.Ranks, 1), Bytes: t.bytes()})
		p.Add(program.Op{Kind: program.StoreTile, Dst: b.out, DstOff: at, Bytes: t.bytes()})
	})
}

// meet records one barrier, the present one of the loop; first is how many there have
// been on the same cells before the call.
func (b barrierCall) meet(p *program.Program, first int64) {
	p.Phase("barrier")
	if b.Size > 0 || b.Form == "incore" || b.Form == "host" {
		p.Add(program.Op{Kind: program.Fence})
	}
	switch b.Form {
	case "shared":
		b.meetShared(p)
	case "root":
		b.meetRoot(p)
	default:
		p.Add(notifyAll(b.signal, b.Form == "hand_set"))
		b.await(p, first)
	}
	if b.Form == "incore" || b.Form == "host" {
		p.Phase("epilogue").Add(clearAll(b.signal, 1))
	}
}

func (b barrierCall) await(p *program.Program, first int64) {
	expected := program.Const(1)
	if b.Form == "epoch" && b.Mistake != "same_expected" {
		expected = program.Const(first + 1)
		if b.depth > 0 {
			expected = expected.Plus(iteration(0, 1))
		}
	}
	if b.Mistake != "wait_rows" {
		p.Add(waitAll(b.signal, expected))
		return
	}
	p.Loop(program.Const(int64(b.Ranks-1)), func() {
		cell := iteration(b.depth, 1)
		cell.C = 1
		p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Cell: cell, Value: expected})
	})
}

// meetShared: everybody adds to cell 0 of every peer.
func (b barrierCall) meetShared(p *program.Program) {
	p.Loop(program.Const(int64(b.Ranks-1)), func() {
		peer := peerAhead(b.Ranks, 1)
		peer.L[0] = 1
		p.Add(program.Op{Kind: program.Notify, Signal: b.signal, Peer: peer, Value: program.Const(1), Set: b.Mistake == "set_shared"})
	})
	p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Value: program.Const(int64(b.Ranks - 1))})
}

// meetRoot: everybody adds to cell root of root, which then tells everybody in the cell
// of the same number.
func (b barrierCall) meetRoot(p *program.Program) {
	root := program.Const(int64(b.Root))
	p.Add(program.Op{Kind: program.Notify, Signal: b.signal, Peer: root, Cell: root, Value: program.Const(1), Set: b.Mistake == "set_shared"})
	p.Loop(only(b.Ranks, b.Root), func() {
		p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Cell: root, Value: program.Const(int64(b.Ranks))})
		p.Add(notifyAll(b.signal, false))
	})
	p.Loop(allBut(b.Ranks, b.Root), func() {
		p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Cell: root, Value: program.Const(1)})
	})
}

func barrierFormula(c *Call, rank int) result.Counters {
	out := counted()
	if c.silent() {
		return out
	}
	n, peers := c.epochs(), int64(c.Ranks-1)
	c.barriers(&out, n)
	switch c.Form {
	case "incore", "host":
		out[result.SelfAdds] = n * peers
	case "shared":
		out[result.PollsSatisfied] = 1
	case "root":
		out[result.PollsSatisfied], out[result.Notifies] = 1, 1
		if rank == c.Root {
			out[result.Notifies], out[result.SelfAdds] = peers, 1
		}
	}
	if c.Size > 0 {
		out[result.BytesSent], out[result.BytesReceived] = n*c.Chunk(), n*c.Chunk()
		c.carriedTiles(&out, program.RemoteLoad, n, c.Chunk(), stageCap)
	}
	return out
}

// barrierBounds: one message after another between the two ranks that are farthest
// apart and, where the order is proved, the row that is read behind it.
func barrierBounds(c *Call, l *hw.Limits, _ int) []Bound {
	launch := l.Launch(1)
	if c.Form == "host" && c.Size > 0 {
		launch *= 3
	}
	if c.silent() {
		return []Bound{{"latency", launch, "launch"}}
	}
	far, near := farthest(l)
	messages := far
	if c.Form == "root" {
		messages = 2 * near
	}
	if c.Size > 0 {
		messages += c.trips(1, near) + slowestRing(c, l, 1, c.Chunk())
	}
	return []Bound{{"latency", launch + messages*engine.Duration(c.epochs()), "launch and, for each barrier, its messages and the row that is read"}}
}

// slowestRing is the longest time that n bytes take from rank r+k to rank r.
func slowestRing(c *Call, l *hw.Limits, k int, n int64) (d engine.Duration) {
	for r := range c.Ranks {
		src := ((r+k)%c.Ranks + c.Ranks) % c.Ranks
		d = max(d, c.link(l, src, r).Span(engine.Bytes(n)))
	}
	return d
}
