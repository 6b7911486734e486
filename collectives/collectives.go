// Package collectives writes the programs of collective operations, and what a
// run of them must satisfy: the golden data, the counts that formulas predict and
// the time that no schedule can beat. It knows nothing of how long anything takes;
// the machine executes the programs without learning their names. Each algorithm
// is one file, and registering it puts it under the conformance suite.
package collectives

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Traffic says how many rows each rank sends to each other and which (semantics 7.2).
type Traffic interface {
	Ranks() int
	Tokens() int   // Nmax: rows of input
	Capacity() int // C: rows of one partition of target
	Count(src, dst int) int
	Index(src, dst int) []int32 // the first Count entries; not to be modified
}

// Call is one use of a collective. Which fields mean something depends on the
// algorithm; a zero field has the algorithm's default.
type Call struct {
	Op, Form  string
	Ranks     int
	CoreNum   int    // blocks; 0 where the operation has no such argument
	DType     string // FP32, INT8, ...
	Hidden    int    // H, elements of a row (indexed_all_to_all_v, all_to_all_v, moe)
	Size      int    // SIZE or N, elements: what each algorithm says
	Rows      int    // rows of Size elements (primitives)
	Reduce    string // Sum, Max, Min or Prod
	Root      int    // broadcast
	Capacity  int    // C, rows of a partition (all_to_all_v); 0 is the traffic's
	Epochs    int    // barriers in a row (barrier)
	ChunkRows int    // rows of a put's or get's stage; 0 is all
	ChunkCols int    // elements of a put's stage; 0 is the whole chunk
	Pipeline  bool   // two stages
	Atomic    bool   // add to what is there
	Wire      string // all_to_all_v: v0 ... v4 (semantics 1)
	Mistake   string // one of the algorithm's Mistakes, made on purpose
	Signal    int    // columns of the signal window: S; 0 is as many as blocks
	Traffic   []Traffic
	Platform  string            // of the machine
	Kinds     map[string]string // operand -> window or tensor, where not the default
	Same      map[string]string // operand -> the operand whose buffer it shares
	Software  Software          // of an API (micro)
	WQEs      int               // to one peer (micro wqe_issue); 0 is 1
	WQESGEs   int               // SGEs of each; 0 is 1
	FlushEach int               // WQEs between two flushes (micro hcomm_get); 0 is all
	Commit    string            // "immediate", a doorbell a WQE, or "last", one for all
	Grid      int               // blocks (micro launch); 0 is 1
	Shared    int               // messages of a token to shared experts (micro ep_dispatch, ep_combine)
	Passes    int               // times that a matrix is loaded (micro local_load); 0 is 1
	Slices    int               // parts of it that are loaded in all passes before the next; 0 is 1
	Ops       int               // lanes of an AIV that add (micro atomic_storm)
	Targets   int               // words that they add to
	// TargetBytes is how far these words are apart, 4 or 8; 0 is 4.
	TargetBytes int
	Returns     bool // each gets the old value
	Options     Options
	Depth       int   // WQEBBs of a send queue, for information: the device checks counts against it
	SGEs        int   // rows in an SQE; 0 is 12
	Segment     int   // SQEs a doorbell; 0 is 64
	Block       int64 // bytes of an SDMA SQE at most; 0 is 1 MiB

	found map[Traffic]*routes // moe: of traffics that have been looked at
	dealt *experts            // micro ep_dispatch, ep_combine: of the traffic
}

// Options select documented alternatives where the specification leaves a choice.
type Options struct {
	Piece      string // "bytes" or "rows": where the self path cuts intervals
	Split      string // "floor" or "front": who gets one self row more
	Drain      string // "before_cqe" or "after_cqe": when the stage ring drains
	Transport  string // mte, urma or sdma; empty is the algorithm's own
	WhatIf     bool   // allow a transport that the real operator lacks
	Queues     string // only "per_peer"
	NoReadBack bool   // all_to_all: leave out the caller's read-back
}

// Bound is a time that no schedule can beat, and what it comes from.
type Bound struct {
	Name string          `json:"name"`
	Time engine.Duration `json:"time_ps"`
	Text string          `json:"text"`
}

// Algorithm is one way to do an operation.
type Algorithm struct {
	Op, Form string
	Doc      string // one line
	Default  bool   // the form that is meant when none is named
	Columns  bool   // takes core_num
	Routed   bool   // reads Traffic
	// Fields are those of a call that the algorithm reads, by their names in files; all
	// read op, form, kinds, same and mistake.
	Fields []string
	// Mistakes are what can be done wrong on purpose, to see what the real system shows.
	Mistakes []Mistake
	// Check returns what is wrong with the call, in the compiler's words.
	Check func(c *Call) []error
	// Stage returns the bytes that the call keeps in the Unified Buffer at once, where its
	// operands decide on them; nil where the algorithm cuts them to fit.
	Stage func(c *Call) int64
	// Record adds the call's buffers and programs to a plan.
	Record func(p *Plan, c *Call)
	// Formula predicts the counters of a rank for the call's repeat-th traffic;
	// Unknown where there is no formula.
	Formula func(c *Call, rank, repeat int) result.Counters
	// Formulas explains them.
	Formulas [][2]string
	// Bounds are times that no schedule can beat, of which the largest counts.
	Bounds func(c *Call, l *hw.Limits, repeat int) []Bound
	// Clock is what the clock of a benchmark covers.
	Clock Clock
	// Bytes returns what a rank gives to each rank including itself: the size in algbw.
	Bytes func(c *Call, rank, repeat int) engine.Bytes
}

// Mistake is an error that a programmer of the real system can make.
type Mistake struct {
	Name string // as in files: no_barrier, wrong_peer ...
	Doc  string // one line: what the program does instead
	Row  string // of the symptom table: F1 ... F50 (semantics 8)
}

// Unknown is the value of a counter that a formula does not predict.
const Unknown = -1

var algorithms []*Algorithm

func register(a Algorithm) *Algorithm {
	algorithms = append(algorithms, &a)
	slices.SortFunc(algorithms, func(a, b *Algorithm) int { return strings.Compare(a.Name(), b.Name()) })
	return &a
}

// Name returns "op/form".
func (a *Algorithm) Name() string { return a.Op + "/" + a.Form }

// All returns every algorithm, by name.
func All() []*Algorithm { return algorithms }

// Ops returns the names of the operations, and Forms those of one.
func Ops() []string {
	var out []string
	for _, a := range algorithms {
		if !slices.Contains(out, a.Op) {
			out = append(out, a.Op)
		}
	}
	return out
}

// Forms returns the forms of an operation.
func Forms(op string) []string {
	var out []string
	for _, a := range algorithms {
		if a.Op == op {
			out = append(out, a.Form)
		}
	}
	return out
}

// Lookup finds an algorithm; without a form the default one.
func Lookup(op, form string) (*Algorithm, error) {
	for _, a := range algorithms {
		if a.Op == op && (a.Form == form || form == "" && (a.Default || len(Forms(op)) == 1)) {
			return a, nil
		}
	}
	if forms := Forms(op); len(forms) > 0 {
		return nil, fmt.Errorf("%s has no form %q; there are %s", op, form, strings.Join(forms, ", "))
	}
	return nil, fmt.Errorf("no operation %q; there are %s", op, strings.Join(Ops(), ", "))
}

// ElemSize returns the bytes of an element, 0 when the type is unknown.
func ElemSize(dtype string) int {
	d, err := program.ParseDType(dtype)
	if err != nil {
		return 0
	}
	return int(d.Size())
}

// DTypes returns the element types, sorted.
func DTypes() []string { return program.DTypes() }

// Row returns the bytes of one row of the indexed exchange.
func (c *Call) Row() int64 { return int64(c.Hidden) * int64(ElemSize(c.DType)) }

// Chunk returns the bytes of one chunk of all_to_all.
func (c *Call) Chunk() int64 { return int64(c.Size) * int64(ElemSize(c.DType)) }

// Blocks returns how many AIVs the call launches on a rank.
func (c *Call) Blocks() int {
	if c.Op == "all_to_all_v" {
		return folded(c.CoreNum, c.Ranks)
	}
	return max(c.CoreNum, 1)
}

// operand is one argument of a collective and what the type system asks of it.
type operand struct {
	name   string
	window bool // by default
	either bool // a plain tensor and a window are both legal
}

// checkOperands applies kind and aliasing rules: what must be a window, and which
// operands must be different buffers (semantics 6.1, 6.3).
func (c *Call) checkOperands(operands []operand, distinct [][2]string) (errs []error) {
	known := func(name string) bool {
		return slices.ContainsFunc(operands, func(o operand) bool { return o.name == name })
	}
	for _, name := range sortedKeys(c.Kinds, c.Same) {
		if !known(name) {
			errs = append(errs, fmt.Errorf("%s has no operand %q", c.Op, name))
		}
	}
	for _, o := range operands {
		if k := c.Kinds[o.name]; !slices.Contains([]string{"", "window", "tensor", "omitted"}, k) {
			errs = append(errs, fmt.Errorf("kinds: %s is no %q; an operand is a window or a tensor", o.name, k))
		}
		if k := c.Kinds[o.name]; k == "tensor" && o.window && !o.either {
			errs = append(errs, fmt.Errorf("%s must be a window (DistributedTensor): peers access it", o.name))
		} else if k == "window" && !o.window && !o.either {
			errs = append(errs, fmt.Errorf("%s must be a plain tensor in the %s form", o.name, c.Form))
		}
	}
	for _, d := range distinct {
		if c.buffer(d[0]) == c.buffer(d[1]) {
			errs = append(errs, fmt.Errorf("%s and %s must be different windows: they are the same allocation", d[0], d[1]))
		}
	}
	return errs
}

// buffer returns the name of the buffer that an operand uses.
func (c *Call) buffer(operand string) string {
	if s, ok := c.Same[operand]; ok {
		return s
	}
	return operand
}

func sortedKeys(maps ...map[string]string) []string {
	var out []string
	for _, m := range maps {
		for k := range m {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unknown returns counters without any prediction.
func unknown() (c result.Counters) {
	for i := range c {
		c[i] = Unknown
	}
	return c
}

// task is the frame of a call's main task.
func (c *Call) task(p *program.Program) program.Task {
	return program.Task{Op: c.Op, Blocks: c.Blocks(), Program: p}
}
