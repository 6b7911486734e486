package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Benchmarks of remote MTE, which goes through the Unified Buffer of an AIV:
//
// mte_get    one AIV of rank 0 reads N bytes from rank 1 by TGET, in stages of chunk_cols
//
//	elements: with one stage, each waits for the way there and back
//
// mte_load   one AIV of rank 0 loads a tile of N bytes from rank 1
// mte_own    the same from its own memory
// mte_push   core_num AIVs of every rank write N bytes to each peer by TPUT, in stages
// mte_rows   one AIV of rank 0 stores `rows` rows of N bytes of a tile at ranks 1, 2 ...
//
//	in turn, and every P-th at its own; it does not wait until they are there
var (
	_ = register(mteBench("mte_get", "one TGET from a peer through the Unified Buffer", "chunk_cols", "pipeline", "software"))
	_ = register(mteBench("mte_load", "one tile loaded from a peer", "software"))
	_ = register(mteBench("mte_own", "one tile loaded from the own memory", "software"))
	_ = register(mteBench("mte_push", "all AIVs of every rank write to every peer by TPUT", "core_num", "chunk_cols", "pipeline"))
	_ = register(mteBench("mte_rows", "rows of a tile stored at all ranks in turn by one AIV", "rows"))
)

func mteBench(form, doc string, fields ...string) Algorithm {
	a := Algorithm{
		Op: "micro", Form: form, Doc: doc, Columns: form == "mte_push", Fields: append([]string{"dtype", "size", "message"}, fields...),
		Check:   checkMTE,
		Clock:   mteClock(form),
		Record:  recordMTE,
		Formula: func(c *Call, rank, _ int) result.Counters { return c.mteFormula(rank) },
		Bounds:  mteBounds,
		Bytes: func(c *Call, rank, _ int) engine.Bytes {
			out := c.mteFormula(rank)
			return engine.Bytes(out[result.BytesSent])
		},
	}
	switch form {
	case "mte_get":
		a.Formulas = [][2]string{{"gets", "1, of rank 0"}, {"put_stages", "ceil(SIZE/chunk_cols)"}, {"bytes_received", "N, at rank 0"}}
	case "mte_own":
		a.Formulas = [][2]string{{"bytes_received", "0"}}
	case "mte_load":
		a.Formulas = [][2]string{{"remote_loads", "1, of rank 0"}, {"bytes_received", "N, at rank 0"}}
	case "mte_push":
		a.Formulas = [][2]string{{"puts", "core_num a peer"}, {"bytes_sent", "(P-1) * N"}}
	case "mte_rows":
		a.Formulas = [][2]string{{"remote_stores", "rows less floor(rows/P), of rank 0"}, {"bytes_sent", "N of each"}}
		a.Stage = func(c *Call) int64 { return c.Chunk() * rowsInFlight }
	}
	if form == "mte_load" || form == "mte_own" {
		a.Stage = func(c *Call) int64 { return c.Chunk() }
	}
	return a
}

// mteClock is the clock of a benchmark: tiles were timed in traces of their own pipes.
func mteClock(form string) Clock {
	switch form {
	case "mte_own":
		return Clock{Reasons: []result.Reason{result.MTE2, result.Scalar}}
	case "mte_load":
		return Clock{Reasons: []result.Reason{result.RemoteWait, result.Scalar}}
	case "mte_rows":
		return Clock{Reasons: []result.Reason{result.MTE2, result.MTE3}}
	}
	return core
}

// rowsOf is how many rows the call moves.
func (c *Call) rowsOf() int64 { return int64(max(c.Rows, 1)) }

// own is how many rows of mte_rows stay.
func (c *Call) own() int64 { return c.rowsOf() / int64(c.Ranks) }

func checkMTE(c *Call) []error {
	var w refusals
	if c.Form != "mte_push" {
		w.common(c)
	}
	w.payload(c)
	w.tile("size", c, c.Size)
	w.tile("chunk_cols", c, c.ChunkCols)
	if min(c.Software.First, c.Software.Put) < 0 {
		w.add("software: a negative time")
	}
	if c.Software.Put > 0 || c.Software.Rate > 0 {
		w.add("software: %s reads its first alone", c.Form)
	}
	return append(w, c.checkOperands([]operand{{"input", false, false}, {"shared", true, false}, {"target", true, false}, {"output", false, false}}, nil)...)
}

func recordMTE(p *Plan, c *Call) {
	text := &program.Program{Name: "micro/" + c.Form}
	switch c.Form {
	case "mte_push":
		c.recordPush(p, text)
	case "mte_rows":
		c.recordRows(p, text)
	default:
		c.recordPull(p, text)
	}
}

// recordPull is mte_get, mte_load and mte_own: what is in a window comes to rank 0. The
// tile is stored behind the clock, in a task of its own, to be looked at.
func (c *Call) recordPull(p *Plan, text *program.Program) {
	n := c.Chunk()
	shared := p.buffer("shared", program.Buffer{Window: true, Size: engine.Bytes(n), Fill: c.ramp(c.Size)})
	output := p.buffer("output", program.Buffer{Size: engine.Bytes(n), Fill: program.Zero{}})
	from := 1
	if c.Form == "mte_own" {
		from = 0
	}
	text.Phase("get").Loop(only(c.Ranks, 0), func() {
		if c.Software.First > 0 {
			text.Add(program.Op{Kind: program.Spend, Value: program.Const(int64(c.Software.First))})
		}
		op := program.Op{Kind: program.Get, Dst: output, Src: shared, Peer: program.Const(1), Bytes: program.Const(n), Chunk: c.stage(), Pipeline: c.Pipeline}
		if c.Form != "mte_get" {
			op = program.Op{Kind: program.RemoteLoad, Src: shared, Peer: program.Const(int64(from)), Bytes: program.Const(n)}
		}
		text.Add(op)
		if c.Form != "mte_get" {
			text.Phase("store").Add(program.Op{Kind: program.StoreTile, Dst: output, Bytes: program.Const(n)})
		}
	})
	c.benchCalls(p, text, output, shared, func(rank int, version uint32, yield func(off, n int64, from program.Origin)) {
		if rank == 0 {
			yield(0, n, program.Origin{Rank: from, Buf: shared, Version: version})
		}
	})
}

// stage is the bytes of a stage.
func (c *Call) stage() int64 {
	if c.ChunkCols > 0 {
		return min(c.Chunk(), int64(c.ChunkCols)*int64(ElemSize(c.DType)))
	}
	return min(c.Chunk(), stageCap)
}

// benchCalls records the calls of one text, whose result is in out and comes from in.
func (c *Call) benchCalls(p *Plan, text *program.Program, out, in program.Buf, golden func(rank int, version uint32, yield func(off, n int64, from program.Origin))) {
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name = p.item.Name
		version := p.version(k)
		t.Promises = []program.Promise{{Buf: out, Ranges: func(rank int, yield func(off, n int64, from program.Origin)) { golden(rank, version, yield) }}}
		return []program.Task{t}
	}, []program.Buf{out}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: in}} })
}

// recordPush is mte_push: block b moves its share to the peers in turn, beginning with
// another one than block b-1.
func (c *Call) recordPush(p *Plan, text *program.Program) {
	n, blocks := c.Chunk(), int64(c.Blocks())
	share := ceil(n, blocks)
	input := p.buffer("input", program.Buffer{Size: engine.Bytes(n)})
	target := p.buffer("target", program.Buffer{Window: true, Size: engine.Bytes(int64(c.Ranks) * n)})
	peers := int64(c.Ranks - 1)
	period := blocks + peers
	to := program.Expr{R: period, B: 1, L: [program.MaxLoops]int64{1}, Of: make([]int64, int64(c.Ranks)*period)}
	for i := range to.Of {
		rank, turn := int64(i)/period, int64(i)%period
		to.Of[i] = (rank + 1 + turn%peers) % int64(c.Ranks)
	}
	at, place := program.Expr{B: share}, program.Expr{R: 1, Of: make([]int64, c.Ranks)}
	for r := range place.Of {
		place.Of[r] = int64(r) * n
	}
	text.Phase("push").Loop(program.Const(peers), func() {
		text.Add(program.Op{
			Kind: program.Put, Dst: target, Src: input, Peer: to, SrcOff: at, DstOff: at.Plus(place),
			Bytes: program.Expr{C: n, B: -share, Cap: share}, Chunk: c.stage(), Pipeline: c.Pipeline,
		})
	})
	c.benchTasks(p, text, target, input, func(rank int, version uint32, yield func(off, n int64, from program.Origin)) {
		for s := range c.Ranks {
			if s != rank {
				yield(int64(s)*n, n, program.Origin{Rank: s, Buf: input, Version: version})
			}
		}
	})
}

// benchTasks is benchCalls for what other ranks write: a task behind all of them looks.
func (c *Call) benchTasks(p *Plan, text *program.Program, out, in program.Buf, golden func(rank int, version uint32, yield func(off, n int64, from program.Origin))) {
	first := len(p.Job.Tasks)
	p.calls(func(k int) []program.Task {
		t, version := c.task(text), p.version(k)
		t.Name = p.item.Name
		look := program.Task{Name: checkName(p.item.Name), Op: "check", Blocks: 1, Barrier: true,
			Promises: []program.Promise{{Buf: out, Ranges: func(rank int, yield func(off, n int64, from program.Origin)) { golden(rank, version, yield) }}}}
		return []program.Task{t, look}
	}, []program.Buf{out}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: in}} })
	p.outside(first)
}

// recordRows is mte_rows: each row is a tile of its own, which comes from the own memory
// and goes to rank 1, 2 ... and at last the own one, in turn.
func (c *Call) recordRows(p *Plan, text *program.Program) {
	n := c.Chunk()
	all := engine.Bytes(c.rowsOf() * n)
	input, target := p.buffer("input", program.Buffer{Size: all}), p.buffer("target", program.Buffer{Window: true, Size: all})
	text.Phase("rows").Loop(only(c.Ranks, 0), func() {
		text.Add(program.Op{Kind: program.Stream, Dst: target, Src: input, Tiles: &program.Tiles{
			Rows: program.Const(c.rowsOf()), Width: n, Pitch: n, TileRows: 1, TileWidth: n, Depth: rowsInFlight, Store: true, Spread: c.Ranks,
		}})
	})
	c.benchTasks(p, text, target, input, func(rank int, version uint32, yield func(off, n int64, from program.Origin)) {
		for i := range c.rowsOf() {
			if int(1+i)%c.Ranks == rank {
				yield(i*n, n, program.Origin{Buf: input, Version: version, Off: i * n})
			}
		}
	})
}

// rowsInFlight are the rows of mte_rows that are in the Unified Buffer at once.
const rowsInFlight = 8

func (c *Call) mteFormula(rank int) (out result.Counters) {
	n := c.Chunk()
	switch c.Form {
	case "mte_own":
		return out
	case "mte_push":
		peers, blocks := int64(c.Ranks-1), int64(c.Blocks())
		out[result.Puts] = peers * blocks
		out[result.BytesSent], out[result.BytesReceived] = peers*n, peers*n
		share := ceil(n, blocks)
		for b := range blocks {
			out[result.PutStages] += peers * ceil(min(max(n-b*share, 0), share), c.stage())
		}
		return out
	case "mte_rows":
		if own := c.own() * n; rank == 0 {
			out[result.BytesSent] = c.rowsOf()*n - own
			out[result.RemoteStores] = c.rowsOf() - c.own()
		} else {
			out[result.BytesReceived] = (c.rowsOf() + int64(c.Ranks-1-rank) + 1) / int64(c.Ranks) * n
		}
		return out
	}
	switch rank {
	case 0:
		out[result.BytesReceived] = n
		if c.Form == "mte_load" {
			out[result.RemoteLoads] = 1
		} else {
			out[result.Gets], out[result.PutStages] = 1, ceil(n, c.stage())
		}
	case 1:
		out[result.BytesSent] = n
	}
	return out
}

// serial is how many messages the busiest AIV cannot have on their way at once.
func (c *Call) serial() int64 {
	switch n := c.Chunk(); c.Form {
	case "mte_get":
		return ceil(n, c.stage())
	case "mte_push":
		return int64(c.Ranks-1) * ceil(ceil(n, int64(c.Blocks())), c.stage())
	}
	return 1
}

// mteBounds: messages that wait for each other; the bytes of a pair at its rate.
func mteBounds(c *Call, l *hw.Limits, _ int) []Bound {
	begin, n := l.Launch(c.Blocks())+c.Software.First, engine.Bytes(c.Chunk())
	if c.Form == "mte_rows" {
		n *= engine.Bytes(c.rowsOf() / int64(c.Ranks))
	}
	_, near := farthest(l)
	what := "launch"
	if c.Form != "mte_push" && c.Form != "mte_rows" { // which read none
		what = "launch, the software's part"
	}
	if c.Form == "mte_own" {
		return []Bound{{"mte2", begin + l.Load.Span(n), what + " and the bytes at the rate of MTE2"}}
	}
	return []Bound{
		{"latency", begin + engine.Duration(c.serial())*near, what + " and messages one after another"},
		{"pair", begin + min(l.Pair(1, 0), l.Remote).Span(n), what + " and the bytes at the pair's rate"},
	}
}
