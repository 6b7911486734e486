package program

import "pldperf/engine"

// Buffer is a symmetric allocation that a Job asks for.
type Buffer struct {
	Name   string
	Window bool // peers may reach it
	Words  bool // INT32 control data
	Signal bool // its words are signal cells
	Size   engine.Bytes
	Fill   Content // initial payload; nil: unique bytes in a plain tensor, zero in a window
	Table  Table   // initial words; nil is zero
}

// Content generates payload bytes; see the memory model for its meaning.
type Content interface {
	Generate(dst []byte, rank int, version uint32, off int64)
}

// Zero is the content of a tensor that starts empty.
type Zero struct{}

// Generate implements Content.
func (Zero) Generate(dst []byte, _ int, _ uint32, _ int64) { clear(dst) }

// Table supplies the words of a control buffer row by row.
type Table interface {
	Row(rank, row int) []int32
}

// Origin says where promised bytes come from: version Version of a rank's buffer.
type Origin struct {
	Rank    int
	Buf     Buf
	Version uint32
	Off     int64
}

// Promise is what a call owes in one buffer when it is complete on a rank: the
// golden data. Everything that it does not mention is unchanged.
type Promise struct {
	Buf Buf
	// Ranges calls yield for the promised ranges of a rank in ascending order.
	Ranges func(rank int, yield func(off, n int64, from Origin))
	// Words returns the promised control words of a rank; nil for payload.
	Words func(rank int) []int32
	// Values calls yield for the promised ranges of a rank in ascending order with the
	// very bytes that they must hold, instead of Ranges: results of arithmetic come from
	// no place. yield may not keep want. The payload must then be real bytes.
	Values func(rank int, yield func(off int64, want []byte))
}

// Rewrite is fresh content that a producer puts into a buffer before a task.
type Rewrite struct {
	Buf   Buf
	Table Table
	Zero  bool // a reset: back to zero rather than to a new version
}

// Task is one call, or one piece of other work, on every rank. A rank starts it
// when all tasks in After have ended there and, if Barrier is set, when they have
// ended on every rank.
type Task struct {
	Name     string
	Op       string // the collective, or "compute"
	Blocks   int
	Grid     int // blocks to be dispatched, where they are more: the rest does nothing
	Program  *Program
	Perblock func(rank, block int) *Program // instead of Program, when they differ; tests use it
	Compute  engine.Duration                // instead of a program: time on Blocks AIVs
	After    []int
	Barrier  bool
	Until    []Condition // signal cells that must be high enough first: a deferred wait, without a core that spins
	Before   []Rewrite
	Promises []Promise // checked when the task ends on a rank
	Reads    []Buf     // windows that it consumes: they must not be written before it has ended
	Zero     []Buf     // signals that must be zero at the end of the run
	Repeat   int       // number of the repetition, from 0
	Timed    bool      // counts for the reported time; warm-up calls do not
}

// Condition is a deferred wait: a task starts on a rank when the rank's own Cell of
// Signal is at least Value (pld.system.defer_wait; semantics 3.2).
type Condition struct {
	Signal Buf
	Cell   Expr
	Value  int64
}

// Job is everything that a machine runs at once.
type Job struct {
	Ranks   int
	Buffers []Buffer
	Tasks   []Task
	Offsets []engine.Duration // when each rank starts; nil is zero
	Slow    []engine.Fraction // factor on each rank's AIV time; nil is 100 %
	Faults  []Fault
}

// Fault is a failure to inject, for testing how a run ends.
type Fault struct {
	Kind     string // cqe_status, dead_link or drop_notify
	Src, Dst int
	Nth      int   // which CQE or notify of the pair, from 0
	Value    int64 // cqe_status: the status
}

// Computes reports whether the payload must be real bytes: programs combine tiles or add
// to memory, or values are promised.
func (j *Job) Computes() bool {
	for i := range j.Tasks {
		t := &j.Tasks[i]
		for _, p := range t.Promises {
			if p.Values != nil {
				return true
			}
		}
		if t.Program != nil && t.Program.computes() {
			return true
		}
	}
	return false
}

func (p *Program) computes() bool {
	for i := range p.Ops {
		if o := &p.Ops[i]; o.Kind == Combine || o.Kind == Convert || o.Atomic {
			return true
		}
	}
	return false
}
