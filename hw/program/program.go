// Package program holds what a collective asks of the machine before anything
// runs: ops, the programs that blocks execute, the buffers that they name, and the
// tasks that they form. It is plain data, so a program can be printed, counted,
// compared and shared; what an op costs is the machine's business. One program
// serves all ranks and blocks that run the same text: operands are expressions in
// the rank and block that execute them.
package program

import (
	"fmt"
	"strings"
)

// Expr is the operand C + R*rank + B*block, evaluated by whoever executes the op.
type Expr struct{ C, R, B int64 }

// Const returns the operand that is c everywhere.
func Const(c int64) Expr { return Expr{C: c} }

// PerRank returns the operand c*rank.
func PerRank(c int64) Expr { return Expr{R: c} }

// OwnBlock is the operand that is the executing block's number.
var OwnBlock = Expr{B: 1}

// At evaluates e.
func (e Expr) At(rank, block int) int64 { return e.C + e.R*int64(rank) + e.B*int64(block) }

// String prints e as a person would write it.
func (e Expr) String() string {
	var terms []string
	term := func(k int64, name string) {
		switch k {
		case 0:
		case 1:
			terms = append(terms, name)
		default:
			terms = append(terms, fmt.Sprintf("%d*%s", k, name))
		}
	}
	term(e.R, "rank")
	term(e.B, "block")
	if e.C != 0 || len(terms) == 0 {
		terms = append(terms, fmt.Sprint(e.C))
	}
	return strings.Join(terms, "+")
}

// Buf is the number of a buffer in a Job.
type Buf int32

// Kind is what an op does.
type Kind uint8

// The ops. Scalar signals are the pl primitives TNOTIFY and TWAIT; the SIMT forms
// are the global atomics of the indexed collective (S-84).
const (
	// Put moves Bytes from Src+SrcOff to Dst+DstOff of Peer through the Unified
	// Buffer, in stages of Chunk bytes, and drains (TPUT, semantics 3.3).
	Put Kind = iota
	// CopyTile loads Bytes from Src+SrcOff into the Unified Buffer and stores them
	// at Dst+DstOff of the own rank (pl.load, pl.store).
	CopyTile
	// NotifyPeers adds or sets Value in cell [rank, Col] of every other rank.
	NotifyPeers
	// WaitPeers waits until cell [s, Col] of the own rank is at least Value for
	// every other rank s.
	WaitPeers
	// AddPeers adds Value to cell [s, Col] of the own rank for every other rank s:
	// the self-clearing epilogue (S-23).
	AddPeers
	// PullCounts reads send_counts[rank] of each source s with s mod Blocks = block,
	// checks it and publishes it in recv_counts[s] (S-43, S-86).
	PullCounts
	// CheckCounts reads and checks the own counts that the block uses and asserts
	// the capacity of every owned queue before anything is submitted (S-60, S-66).
	CheckCounts
	// SendOwned builds and submits the sends to the owned destinations, segment by
	// segment (S-63 ... S-72).
	SendOwned
	// CopyRows moves the block's share of the self rows through the stage ring (S-73 ... S-77).
	CopyRows
	// DrainRows waits for the stage ring's last store, where CopyRows did not.
	DrainRows
	// PollOwned waits for the final CQE of every owned non-empty send (S-69).
	PollOwned
	// Fence orders everything before it for all ranks.
	Fence
	// PipeBarrier waits for all pipes of the core (PIPE_ALL).
	PipeBarrier
	// Return ends the program early, with Note as the reason.
	Return
	numKinds
)

var kindNames = [numKinds]string{
	"put", "copy", "notify_peers", "wait_peers", "add_peers", "pull_counts", "check_counts",
	"send_owned", "copy_rows", "drain_rows", "poll_owned", "fence", "pipe_barrier", "return",
}

// String returns the op's name as `pldperf ir` prints it.
func (k Kind) String() string { return kindNames[k] }

// Op is one step of a program. Which fields mean something depends on Kind.
type Op struct {
	Kind           Kind
	Phase          string // of the collective, for people
	Dst, Src       Buf
	DstOff, SrcOff Expr // bytes
	Peer           Expr
	Bytes, Chunk   int64
	Signal         Buf
	Col            Expr  // signal column
	Stride         int64 // signal cells in a row: S
	Value          int64
	Set            bool // Set rather than AtomicAdd
	SIMT           bool // SIMT atomics with back-off rather than scalar TNOTIFY and TWAIT
	NoDrain        bool // CopyRows leaves its last stores in flight
	Rows           *Rows
	Note           string
}

// Rows are the operands of the indexed exchange, shared by its ops.
type Rows struct {
	Ranks, Blocks                                int
	Row                                          int64 // bytes of one row: H times the element size
	Capacity                                     int   // C
	Nmax                                         int
	Input, Target, SendCounts, RecvCounts, Index Buf
	SGEs                                         int    // rows in an SQE, at most 12 (S-64)
	Segment                                      int    // SQEs a doorbell, at most 64 (S-67)
	Piece                                        string // "bytes" or "rows": how the self path cuts (semantics 7.6)
	Split                                        string // "floor" or "front": how self rows are shared (semantics 7.5)
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
