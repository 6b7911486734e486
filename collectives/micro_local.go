package collectives

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Benchmarks within rank 0, whose core_num AIVs share out the rows of a matrix of `rows`
// rows of N bytes; the other ranks do nothing:
//
// local_load   the matrix comes to the Unified Buffer in tiles of chunk_rows x chunk_cols,
//
//	`passes` times: the whole of it, or each of `slices` parts before the next. Nothing
//	waits for a tile, so MTE2 issues as fast as it can
//
// local_add    two matrices are added tile by tile and stored: with one buffer for each
//
//	operand, or two (pipeline); software.put is what the kernel does for each tile. The
//	addition takes its time, and what is stored is the first operand
//
// atomic_storm the SIMT lanes of each AIV, `ops` of them, add 1 to one of `targets` words
//
//	each, lane by lane; with or without the old value
//
// core_barrier the AIVs wait for each other by flags in memory (SyncAll in software)
var (
	_ = register(localBench("local_load", "a matrix loaded into the Unified Buffer, tile by tile", "rows", "chunk_rows", "chunk_cols", "passes", "slices"))
	_ = register(localBench("local_add", "two matrices added, tile by tile", "rows", "chunk_rows", "chunk_cols", "pipeline", "software"))
	_ = register(localBench("atomic_storm", "SIMT lanes that add to few words", "ops", "targets", "target_bytes", "returns"))
	_ = register(localBench("core_barrier", "a barrier of the AIVs of a rank", "epochs"))
)

func localBench(form, doc string, fields ...string) Algorithm {
	moves := form == "local_load" || form == "local_add"
	if moves {
		fields = append([]string{"dtype", "size", "message"}, fields...)
	}
	a := Algorithm{
		Op: "micro", Form: form, Doc: doc, Columns: true, Fields: append([]string{"core_num"}, fields...),
		Check:    checkLocal,
		Record:   recordLocal,
		Formula:  func(c *Call, rank, _ int) result.Counters { return c.localFormula(rank) },
		Formulas: [][2]string{{"bytes_sent", "0"}},
		Bounds:   localBounds,
		Bytes:    func(*Call, int, int) engine.Bytes { return 0 },
	}
	if form == "local_load" || form == "core_barrier" {
		a.Clock = core
	}
	switch form {
	case "local_load":
		a.Stage = func(c *Call) int64 { rows, width := c.tileShape(); return rows * width }
	case "local_add":
		a.Stage = func(c *Call) int64 { rows, width := c.tileShape(); return 3 * c.buffers() * rows * width }
	case "core_barrier":
		a.Formulas = append(a.Formulas, [2]string{"pipe_barriers", "2 * core_num a barrier"})
	}
	return a
}

// tileShape returns the rows and bytes of a full tile: what is not given is all.
func (c *Call) tileShape() (rows, width int64) {
	rows, width = c.rowsOf(), c.Chunk()
	if c.ChunkRows > 0 {
		rows = min(rows, int64(c.ChunkRows))
	}
	if c.ChunkCols > 0 {
		width = min(width, int64(c.ChunkCols)*int64(ElemSize(c.DType)))
	}
	return rows, width
}

// buffers is how many buffers an operand has.
func (c *Call) buffers() int64 {
	if c.Pipeline {
		return 2
	}
	return 1
}

func checkLocal(c *Call) []error {
	var w refusals
	if c.CoreNum < 0 {
		w.add("core_num: %d, must not be negative", c.CoreNum)
	}
	switch c.Form {
	case "local_load", "local_add":
		w.payload(c)
		w.tile("size", c, c.Size)
		w.tile("chunk_cols", c, c.ChunkCols)
		if min(c.Rows, c.Passes, c.Slices) < 0 {
			w.add("rows: %d rows, %d passes and %d slices; none may be negative", c.Rows, c.Passes, c.Slices)
		}
		if c.Software.First != 0 || c.Software.Put < 0 || c.Software.Rate != 0 {
			w.add("software: %s reads put alone, which is not negative", c.Form)
		}
	case "atomic_storm":
		if c.Ops < 0 || c.Ops > mostLanes {
			w.add("ops: %d, must be at most %d, the lanes of an AIV", c.Ops, mostLanes)
		}
		if c.Targets < 0 {
			w.add("targets: %d, must not be negative", c.Targets)
		}
		if c.TargetBytes != 0 && c.TargetBytes != 4 && c.TargetBytes != 8 {
			w.add("target_bytes: %d, must be 4 or 8", c.TargetBytes)
		}
		if c.Platform == "a2a3" {
			w.add("platform: the AIVs of this machine have no SIMT lanes (a2a3)")
		}
	}
	return append(w, c.checkOperands([]operand{{"input", false, false}, {"other", false, false}, {"output", false, false}, {"words", false, false}}, nil)...)
}

// mostLanes is how many SIMT lanes an AIV has (hardware parameters 1.7).
const mostLanes = 2048

// adders is how many lanes of an AIV add, and words to how many words.
func (c *Call) adders() int { return max(c.Ops, 1) }
func (c *Call) words() int  { return max(c.Targets, 1) }

// spacing is how far the targets of a storm are apart.
func (c *Call) spacing() int64 { return int64(max(c.TargetBytes, 4)) }

func recordLocal(p *Plan, c *Call) {
	text := &program.Program{Name: "micro/" + c.Form}
	switch c.Form {
	case "local_load":
		input := p.buffer("input", program.Buffer{Size: engine.Bytes(c.rowsOf() * c.Chunk())})
		text.Phase("load").Loop(only(c.Ranks, 0), func() { text.Add(c.streamed(input, input, input)) })
		c.quietly(p, text, input)
	case "local_add":
		c.recordAdd(p, text)
	case "atomic_storm":
		c.recordStorm(p, text)
	case "core_barrier":
		text.Phase("barrier").Loop(only(c.Ranks, 0), func() {
			text.Loop(program.Const(c.epochs()), func() { text.Add(program.Op{Kind: program.SyncBlocks}) })
		})
		c.quietly(p, text)
	}
}

// quietly records the calls of a text that leaves nothing behind.
func (c *Call) quietly(p *Plan, text *program.Program, inputs ...program.Buf) {
	quiet := p.buffer("quiet", program.Buffer{Words: true, Size: 4})
	p.calls(func(int) []program.Task {
		t := c.task(text)
		t.Name = p.item.Name
		t.Promises = []program.Promise{{Buf: quiet, Words: func(int) []int32 { return []int32{0} }}}
		return []program.Task{t}
	}, nil, func(int) (out []program.Rewrite) {
		for _, b := range inputs {
			out = append(out, program.Rewrite{Buf: b})
		}
		return out
	})
}

// streamed is the op that takes a block's rows through the Unified Buffer.
func (c *Call) streamed(output, input, other program.Buf) program.Op {
	share, n := ceil(c.rowsOf(), int64(c.Blocks())), c.Chunk()
	rows, width := c.tileShape()
	t := &program.Tiles{
		Rows: program.Expr{C: c.rowsOf(), B: -share, Cap: share}, Width: n, Pitch: n, TileRows: rows, TileWidth: width,
		Slices: int64(c.Slices), Passes: int64(c.Passes),
	}
	if c.Form == "local_add" {
		t.Two, t.Other, t.Work, t.Store, t.Depth, t.Each = true, other, true, true, c.buffers(), c.Software.Put
	}
	at := program.Expr{B: share * n}
	return program.Op{Kind: program.Stream, Dst: output, Src: input, SrcOff: at, DstOff: at, Tiles: t, Reduce: program.Sum, DType: c.Elem()}
}

func (c *Call) recordAdd(p *Plan, text *program.Program) {
	all := engine.Bytes(c.rowsOf() * c.Chunk())
	input, other := p.buffer("input", program.Buffer{Size: all}), p.buffer("other", program.Buffer{Size: all})
	output := p.buffer("output", program.Buffer{Size: all, Fill: program.Zero{}})
	text.Phase("add").Loop(only(c.Ranks, 0), func() { text.Add(c.streamed(output, input, other)) })
	c.benchTasks(p, text, output, input, func(rank int, version uint32, yield func(off, n int64, from program.Origin)) {
		if rank == 0 {
			yield(0, int64(all), program.Origin{Buf: input, Version: version})
		}
	})
}

func (c *Call) recordStorm(p *Plan, text *program.Program) {
	words := p.buffer("words", program.Buffer{Words: true, Size: engine.Bytes(int64(c.words()) * c.spacing())})
	text.Phase("storm").Loop(only(c.Ranks, 0), func() {
		text.Add(program.Op{Kind: program.Storm, Signal: words, Atomics: &program.Atomics{Ops: int64(c.adders()), Targets: int64(c.words()), Stride: c.spacing(), Returns: c.Returns}})
	})
	first := len(p.Job.Tasks)
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name = p.item.Name
		look := program.Task{Name: checkName(p.item.Name), Op: "check", Blocks: 1, Barrier: true,
			Promises: []program.Promise{{Buf: words, Words: func(rank int) []int32 { return c.added(rank, k+1) }}}}
		return []program.Task{t, look}
	}, nil, func(int) []program.Rewrite { return nil })
	p.outside(first)
}

// added is what so many storms leave in the words of a rank.
func (c *Call) added(rank, storms int) []int32 {
	out := make([]int32, int64(c.words())*c.spacing()/4)
	if rank == 0 {
		for i := range c.Blocks() * c.adders() {
			out[int64(i%c.words())*c.spacing()/4] += int32(storms)
		}
	}
	return out
}

func (c *Call) localFormula(rank int) (out result.Counters) {
	if c.Form == "core_barrier" && rank == 0 {
		out[result.PipeBarriers] = 2 * int64(c.Blocks()) * c.epochs()
	}
	return out
}

// localBounds: what is loaded at the rate of MTE2 of all AIVs; HBM gives a matrix at least
// once, whatever the L2 keeps.
func localBounds(c *Call, l *hw.Limits, _ int) []Bound {
	begin := l.Launch(c.Blocks())
	out := []Bound{{"latency", begin, "launch of all blocks"}}
	if c.Form != "local_load" && c.Form != "local_add" {
		return out
	}
	once := engine.Bytes(c.rowsOf() * c.Chunk())
	operands := engine.Bytes(1)
	if c.Form == "local_add" {
		operands = 2
	}
	largest := engine.Bytes(ceil(c.rowsOf(), int64(c.Blocks())) * c.Chunk())
	return append(out,
		Bound{"mte2", begin + l.Load.Span(operands*engine.Bytes(max(c.Passes, 1))*largest), "launch and what one AIV loads at the rate of its MTE2"},
		Bound{"hbm", begin + l.HBM.Span(operands*once), fmt.Sprintf("launch and %v once from HBM", operands*once)})
}
