package collectives

import (
	"strings"

	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// allreduce (semantics 5.5): afterwards every rank holds the reduction over all ranks of
// their vectors of N elements. The builtins reduce a window in place, which the caller
// has filled; the hand forms stage their input and store an output.
//
// mesh: each rank reads the whole vector of every peer; ring: each reads P-1 times a
// segment to combine and P-1 times a reduced one; two_phase: each reduces one chunk and
// reads the others reduced.
//
//	form                received bytes   barriers (credits) of a rank
//	hand                (P-1)*N          1
//	mesh_incore         (P-1)*N          1 + ceil(N/chunk)
//	mesh_host           (P-1)*N          1 + tiles of the block, on each of its columns
//	two_phase           2(P-1)/P*N       2
//	ring_incore         2(P-1)/P*N       4(P-1)*subchunks
//	ring_host           2(P-1)/P*N       2(P-1) + 1
//	ring_hand           2(P-1)/P*N       none: 2(P-1) handshakes with the neighbours
//	bidirectional_ring  2(P-1)/P*N       2(P-1) + 1
var (
	_ = register(allreduce("hand", "mesh by hand: a barrier, then every peer's vector: the tutorial's kernel", meshForm{}))
	_ = register(allreduce("mesh_incore", "mesh composite inside one AIV kernel: in place, a barrier for each 16 KiB chunk", meshForm{}))
	_ = register(allreduce("mesh_host", "mesh HOST builtin: core_num blocks, each a column of the signal, 256-element tiles, at most 16 ranks", meshForm{}))
	_ = register(allreduce("two_phase", "reduce a chunk each, then gather the chunks: the tutorial's kernel", twoPhaseForm{}))
	_ = register(allreduce("ring_incore", "ring composite inside one AIV kernel: in place, two barriers for each subchunk of a round", ringForm{}))
	_ = register(allreduce("ring_host", "ring HOST builtin: Sum of FP32, a barrier each round, 256-element tiles, at most 16 ranks", ringForm{}))
	_ = register(allreduce("ring_hand", "ring by hand: handshakes with the neighbours only: the tutorial's kernel", ringForm{}))
	_ = register(allreduce("bidirectional_ring", "two rings in opposite directions, each on half of the vector, a barrier each round", ringForm{}))
)

// allreduceForm is what the forms of allreduce differ in.
type allreduceForm interface {
	check(c *Call, w *refusals)
	record(p *Plan, c *Call)
	formula(c *Call, rank int) result.Counters
	formulas(form string) [][2]string
	work(c *Call) reductionWork
	mistakes(form string) []Mistake
}

func allreduce(form, doc string, f allreduceForm) Algorithm {
	a := Algorithm{
		Op: "allreduce", Form: form, Doc: doc, Default: form == "mesh_incore", Columns: form == "mesh_host",
		Fields:   []string{"dtype", "size", "reduce", "signal_columns", "transport", "what_if"},
		Mistakes: f.mistakes(form),
		Check: func(c *Call) []error {
			var w refusals
			checkAllreduce(c, &w)
			f.check(c, &w)
			return w
		},
		Record:   f.record,
		Formula:  func(c *Call, rank, _ int) result.Counters { return f.formula(c, rank) },
		Formulas: f.formulas(form),
		Bounds:   reductionBounds(f.work),
		Bytes: func(c *Call, _, _ int) engine.Bytes {
			if c.silent() {
				return 0
			}
			return engine.Bytes(c.Chunk())
		},
	}
	if byHand(form) {
		a.Fields = append(a.Fields, "chunk_cols")
	}
	if strings.HasPrefix(form, "ring") || form == "bidirectional_ring" {
		a.Fields = append(a.Fields, "rows")
	}
	if form == "mesh_host" {
		a.Fields = append(a.Fields, "core_num")
	}
	return a
}

// byHand reports whether a form is a kernel that a user writes, with an input to stage
// and an output; the builtins reduce in place.
func byHand(form string) bool {
	return !strings.HasSuffix(form, "incore") && !strings.HasSuffix(form, "host")
}

// checkAllreduce reports what no form takes (semantics 5.5, errors).
func checkAllreduce(c *Call, w *refusals) {
	hand, ring := byHand(c.Form), strings.HasPrefix(c.Form, "ring")
	w.reduction(c)
	if !hand && ElemSize(c.DType) > 0 && c.DType != "FP32" && c.DType != "FP16" {
		w.add("dtype: target dtype must be FP16 or FP32, not %s", c.DType)
	}
	switch {
	case c.CoreNum < 0:
		w.add("core_num: %d, must be positive", c.CoreNum)
	case c.CoreNum > 1 && ring:
		w.add("core_num: %d, must be 1: ring takes no core_num", c.CoreNum)
	case c.CoreNum > 1 && c.Form != "mesh_host":
		w.add("core_num: %d, must be 1: core_num is supported only in a HOST orchestrator", c.CoreNum)
	}
	if c.Form != "mesh_host" && c.Kinds["signal"] == "omitted" {
		w.add("signal: %s requires an explicit signal outside host orchestrator", c.Form)
	}
	ops := []operand{{"target", true, false}, {"signal", true, false}}
	distinct := [][2]string{{"target", "signal"}}
	if hand {
		ops = []operand{{"input", false, true}, {"data", true, false}, {"signal", true, false}, {"output", false, false}}
		distinct = [][2]string{{"data", "signal"}, {"input", "data"}}
	}
	*w = append(*w, c.checkOperands(ops, distinct)...)
}

// handBuffers are the operands of the forms by hand.
type handBuffers struct{ in, data, result, out, signal program.Buf }

// handed makes them for vectors of n bytes, whose result has m.
func (p *Plan) handed(c *Call, n, m int64, cells int) handBuffers {
	return handBuffers{
		in:     p.buffer("input", program.Buffer{Size: engine.Bytes(n), Fill: newNoise(c.Elem())}),
		data:   p.buffer("data", program.Buffer{Window: true, Size: engine.Bytes(n)}),
		out:    p.buffer("output", program.Buffer{Size: engine.Bytes(m), Fill: program.Zero{}}),
		signal: p.signalWindow(cells),
	}
}

// handedCalls repeats a kernel written by hand. Its signal is for a single use.
func (p *Plan) handedCalls(c *Call, b handBuffers, text *program.Program, promise func(k int) program.Promise) {
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name, t.Promises = p.item.Name, []program.Promise{promise(k)}
		return []program.Task{t}
	}, []program.Buf{b.data, b.signal}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.in}} })
}

// stage copies the input to the own window.
func (b handBuffers) stage(p *program.Program, n, chunk int64) {
	p.Phase("stage").Add(copyTile(b.data, b.in, program.Expr{}, program.Expr{}, n, chunk))
}
