// Package program holds what a collective asks of the machine before anything
// runs: ops, the programs that blocks execute, the buffers that they name, and the
// tasks that they form. It is plain data, so a program can be printed, counted,
// compared and shared; what an op costs is the machine's business. One program
// serves all ranks and blocks that run the same text: operands are expressions in
// the rank and block that execute them.
package program

// Rows are the operands of the indexed exchange, shared by its ops.
type Rows struct {
	Ranks, Blocks                                int
	Row                                          int64 // bytes of one row: H times the element size
	Capacity                                     int   // C
	Nmax                                         int
	Input, Target, SendCounts, RecvCounts, Index Buf
	SGEs                                         int    // rows in an SQE, at most 12 (S-64); 0 when no queue is used
	Segment                                      int    // SQEs a doorbell, at most 64 (S-67)
	Piece                                        string // "bytes" or "rows": how the self path cuts (semantics 7.6)
	Split                                        string // "floor" or "front": how self rows are shared (semantics 7.5)
	Clamp                                        bool   // PullCounts keeps counts in [0, Capacity] instead of refusing others
}

// Next returns the first destination after d that a block of rank submits to, or Ranks
// when there is none; start with d = -1. Destinations go round the blocks when there
// are at most as many blocks as ranks (S-49), else only the first Ranks blocks submit,
// each for one destination (S-50). The own rank is never among them (S-79).
func (r *Rows) Next(rank, block, d int) int {
	step := min(r.Blocks, r.Ranks)
	if block >= step {
		return r.Ranks
	}
	if d < 0 {
		d = block - step
	}
	for d += step; d == rank; d += step {
	}
	return min(d, r.Ranks)
}

// Share returns the self rows [lo, hi) of n that block b moves: sizes differ by at
// most one and no row is split (S-52, S-54).
func (r *Rows) Share(block, n int) (lo, hi int) {
	if r.Split == "front" {
		each, extra := n/r.Blocks, n%r.Blocks
		lo = block*each + min(block, extra)
		hi = lo + each
		if block < extra {
			hi++
		}
		return lo, hi
	}
	return block * n / r.Blocks, (block + 1) * n / r.Blocks
}

// SQEs returns how many SQEs a send of n rows takes.
func (r *Rows) SQEs(n int) int { return (n + r.SGEs - 1) / r.SGEs }

// A Program is what a block does from its launch to its end. Its methods record;
// they cost no simulated time.
type Program struct {
	Name  string
	Ops   []Op
	phase string
	depth int
}

// Phase names the phase to which the ops that follow belong.
func (p *Program) Phase(name string) *Program {
	p.phase = name
	return p
}

// Add records an op.
func (p *Program) Add(op Op) {
	op.Phase = p.phase
	p.Ops = append(p.Ops, op)
}

// Loop records what body records as the body of a loop of count iterations; operands
// in it can depend on iteration L[0] of the outermost loop, L[1] of the next. It panics
// when loops nest deeper than MaxLoops.
func (p *Program) Loop(count Expr, body func()) {
	if p.depth == MaxLoops {
		panic("program: loops nest too deep")
	}
	at := len(p.Ops)
	p.Add(Op{Kind: Loop, Count: count, Depth: p.depth})
	p.depth++
	body()
	p.depth--
	p.Ops[at].Skip = len(p.Ops) - at - 1
}
