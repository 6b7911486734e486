package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// notify, wait and defer_wait (semantics 3.2) as small kernels on a ring. What the cells
// hold at the end is promised.
//
//	notify ring      add r+1 to the one cell of rank r+1, wait for >= 1: the cell is r, or P
//	notify set       set cell r of rank r+1 to r+1, wait for cell r-1 >= 1
//	notify self      add 1 four times to rank r+1, wait for >= 4, add -4 to the own cell: 0
//	wait ge          add 1 three times to rank r+1, wait for >= 1, then for >= 3
//	wait eq          add 1 to rank r+1, wait for == 1: right where a cell takes one credit only
//	defer_wait task  put a row to rank r+1 and notify it; no core spins: a second task starts
//	                 when the cell of rank r-1 is >= 1, copies the row and takes the credit back
var (
	_ = register(signaller("notify", "ring", "AtomicAdd of r+1 to rank r+1"))
	_ = register(signaller("notify", "set", "Set of r+1 in a cell of one writer at rank r+1"))
	_ = register(signaller("notify", "self", "four credits to rank r+1, taken back by a notify to the own rank"))
	_ = register(signaller("wait", "ge", "waits for at least 1, then at least 3, of three credits"))
	_ = register(signaller("wait", "eq", "waits for the very value of a cell that takes one credit"))
	_ = register(deferWait())
)

func signaller(op, form, doc string) Algorithm {
	a := Algorithm{
		Op: op, Form: form, Doc: doc, Default: form == "ring" || form == "ge",
		Fields:  []string{"signal_columns"},
		Check:   checkSignaller,
		Record:  recordSignaller,
		Formula: func(c *Call, _, _ int) result.Counters { return signallerFormula(c) },
		Formulas: [][2]string{
			{"bytes_sent", "0"},
			{"notifies", "1"},
			{"polls_satisfied", "1"},
			{"self_adds", "0"},
		},
		Bounds: func(c *Call, l *hw.Limits, _ int) []Bound {
			_, near := farthest(l)
			return []Bound{{"latency", l.Launch(1) + near, "launch and a message to the neighbour"}}
		},
		Bytes: func(*Call, int, int) engine.Bytes { return 0 },
	}
	switch form {
	case "self":
		a.Formulas[1][1], a.Formulas[3][1] = "4", "1"
	case "ge":
		a.Formulas[1][1], a.Formulas[2][1] = "3", "2"
	}
	return a
}

func checkSignaller(c *Call) []error {
	var w refusals
	w.common(c)
	return append(w, c.checkOperands([]operand{{"signal", true, false}}, nil)...)
}

func recordSignaller(p *Plan, c *Call) {
	cells := 1
	if c.Form == "set" {
		cells = c.Ranks
	}
	signal := p.signalWindow(cells)
	text := &program.Program{Name: c.Op + "/" + c.Form}
	c.exchange(text, signal)
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name = p.item.Name
		if c.Form == "self" {
			t.Zero = []program.Buf{signal}
		}
		if c.Form != "self" || p.item.Repeat.Between != "none" { // the neighbour may have begun its next call
			t.Promises = []program.Promise{{Buf: signal, Words: func(rank int) []int32 { return c.cellsAfter(rank) }}}
		}
		return []program.Task{t}
	}, []program.Buf{signal}, func(int) []program.Rewrite { return nil })
}

// exchange records what a rank tells its neighbour and what it waits for.
func (c *Call) exchange(p *program.Program, signal program.Buf) {
	tell := program.Op{Kind: program.Notify, Signal: signal, Peer: peerAhead(c.Ranks, 1), Value: program.Const(1)}
	wait := program.Op{Kind: program.Wait, Signal: signal, Value: program.Const(1)}
	times := int64(1)
	switch c.Form {
	case "ring":
		tell.Value = program.Expr{C: 1, R: 1}
	case "set":
		tell.Value, tell.Set, tell.Cell, wait.Cell = program.Expr{C: 1, R: 1}, true, program.Own, peerAhead(c.Ranks, -1)
	case "self":
		times, wait.Value = 4, program.Const(4)
	case "ge":
		times = 3
	case "eq":
		wait.Eq = true
	}
	p.Phase("notify")
	if times > 1 {
		p.Loop(program.Const(times), func() { p.Add(tell) })
	} else {
		p.Add(tell)
	}
	p.Phase("wait").Add(wait)
	switch c.Form {
	case "ge":
		wait.Value = program.Const(3)
		p.Add(wait)
	case "self":
		p.Phase("reset").Add(program.Op{Kind: program.Notify, Signal: signal, Peer: program.Own, Value: program.Const(-4)})
	}
}

// cellsAfter is what the cells of a rank hold when the call is over.
func (c *Call) cellsAfter(rank int) []int32 {
	left := (rank - 1 + c.Ranks) % c.Ranks
	switch c.Form {
	case "ring":
		return []int32{int32(left + 1)}
	case "set":
		out := make([]int32, c.Ranks)
		out[left] = int32(left + 1)
		return out
	case "self":
		return []int32{0}
	case "ge":
		return []int32{3}
	}
	return []int32{1}
}

func signallerFormula(c *Call) result.Counters {
	out := counted()
	out[result.Notifies], out[result.PollsSatisfied] = 1, 1
	switch c.Form {
	case "self":
		out[result.Notifies], out[result.SelfAdds] = 4, 1
	case "ge":
		out[result.Notifies], out[result.PollsSatisfied] = 3, 2
	}
	return out
}

func deferWait() Algorithm {
	return Algorithm{
		Op: "defer_wait", Form: "task", Doc: "a task that starts when a signal cell is high enough, without a core that spins",
		Fields:  []string{"dtype", "size", "message", "chunk_cols", "signal_columns", "transport"},
		Check:   checkTileMover,
		Record:  recordDeferWait,
		Formula: func(c *Call, _, _ int) result.Counters { return deferWaitFormula(c) },
		Formulas: [][2]string{
			{"bytes_sent", "N"},
			{"bytes_received", "N"},
			{"puts", "1"},
			{"notifies", "1"},
			{"polls_satisfied", "0: the scheduler looks, not a core"},
			{"self_adds", "1"},
		},
		Bounds: func(c *Call, l *hw.Limits, _ int) []Bound {
			bounds := c.ringBounds(l, ceil(c.Chunk(), c.tileOf()), c.Chunk())
			for i := range bounds {
				bounds[i].Time += l.Launch(1)
			}
			return bounds
		},
		Bytes: func(c *Call, _, _ int) engine.Bytes { return engine.Bytes(c.Chunk()) },
		Stage: func(c *Call) int64 { return c.tileOf() },
	}
}

func recordDeferWait(p *Plan, c *Call) {
	b := c.rowRing(p)
	push, rest := &program.Program{Name: "defer_wait/push"}, &program.Program{Name: "defer_wait/task"}
	push.Phase("put")
	c.put(push, program.Op{Dst: b.window, Src: b.local, Peer: peerAhead(c.Ranks, 1), Bytes: program.Const(c.Chunk()), Chunk: c.tileOf()})
	push.Phase("notify").Add(program.Op{Kind: program.Notify, Signal: b.signal, Peer: peerAhead(c.Ranks, 1), Cell: program.Own, Value: program.Const(1)})
	rest.Phase("read_back").Add(copyTile(b.out, b.window, program.Expr{}, program.Expr{}, c.Chunk(), stageCap))
	rest.Phase("epilogue").Add(program.Op{Kind: program.Notify, Signal: b.signal, Peer: program.Own, Cell: peerAhead(c.Ranks, -1), Value: program.Const(-1)})
	p.calls(func(k int) []program.Task {
		first, then := c.task(push), c.task(rest)
		first.Name, first.Zero = p.item.Name, []program.Buf{b.signal}
		then.Name, then.Op = p.item.Name+" deferred", "deferred"
		then.Reads = []program.Buf{b.window}
		then.Until = []program.Condition{{Signal: b.signal, Cell: peerAhead(c.Ranks, -1), Value: 1}}
		golden := p.from(c, b.local, -1, k, 0, 0, c.Chunk())
		then.Promises = []program.Promise{{Buf: b.window, Ranges: golden}, {Buf: b.out, Ranges: golden}}
		return []program.Task{first, then}
	}, []program.Buf{b.window, b.signal}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.local}} })
}

func deferWaitFormula(c *Call) result.Counters {
	out := counted()
	c.carried(&out, program.Put, 1, c.Chunk())
	if c.carrier() == program.MTE {
		out[result.PutStages] = ceil(c.Chunk(), c.tileOf())
	}
	out[result.BytesSent], out[result.BytesReceived] = c.Chunk(), c.Chunk()
	out[result.Notifies], out[result.SelfAdds] = 1, 1
	return out
}
