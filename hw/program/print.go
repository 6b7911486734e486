package program

import (
	"fmt"
	"strings"
)

// Line is one op of a program as people and scripts read it.
type Line struct {
	Phase    string `json:"phase"`
	Op       string `json:"op"`
	Operands string `json:"operands"`
}

// Lines lists the program for one rank and block: operands are resolved, and what
// an op does to many destinations is spelled out.
func (p *Program) Lines(rank, block int, bufs []Buffer) []Line {
	out := make([]Line, 0, len(p.Ops))
	for i := range p.Ops {
		o := &p.Ops[i]
		out = append(out, Line{o.Phase, o.Kind.String(), o.operands(rank, block, bufs)})
	}
	return out
}

func (o *Op) operands(rank, block int, bufs []Buffer) string {
	at := func(e Expr) int64 { return e.At(rank, block) }
	name := func(b Buf) string { return bufs[b].Name }
	verb := "AtomicAdd"
	if o.Set {
		verb = "Set"
	}
	unit := "scalar"
	if o.SIMT {
		unit = "SIMT"
	}
	switch o.Kind {
	case Put:
		return fmt.Sprintf("%s+%d of rank %d <- %s+%d, %d B in stages of %d B", name(o.Dst), at(o.DstOff), at(o.Peer), name(o.Src), at(o.SrcOff), o.Bytes, o.Chunk)
	case CopyTile:
		return fmt.Sprintf("%s+%d <- %s+%d, %d B", name(o.Dst), at(o.DstOff), name(o.Src), at(o.SrcOff), o.Bytes)
	case NotifyPeers:
		return fmt.Sprintf("%s[%d,%d] of every peer, %s %+d, %s", name(o.Signal), rank, at(o.Col), verb, o.Value, unit)
	case WaitPeers:
		return fmt.Sprintf("%s[s,%d] Ge %d for every s != %d, %s", name(o.Signal), at(o.Col), o.Value, rank, unit)
	case AddPeers:
		return fmt.Sprintf("%s[s,%d] of self, AtomicAdd %+d for every s != %d, %s", name(o.Signal), at(o.Col), o.Value, rank, unit)
	case PullCounts, CheckCounts, SendOwned, CopyRows, DrainRows, PollOwned:
		return o.rowOperands(rank, block, bufs)
	}
	return o.Note
}

func (o *Op) rowOperands(rank, block int, bufs []Buffer) string {
	r := o.Rows
	name := func(b Buf) string { return bufs[b].Name }
	owned := r.Owned(rank, block)
	switch o.Kind {
	case PullCounts:
		return fmt.Sprintf("%s[s] <- %s[%d] of rank s, for s in %s", name(r.RecvCounts), name(r.SendCounts), rank, list(r.sources(block)))
	case CheckCounts:
		return fmt.Sprintf("own %s for %s in [0,%d], queue capacity", name(r.SendCounts), list(owned), r.Capacity)
	case SendOwned:
		return fmt.Sprintf("%s rows by %s -> %s+%d*C of ranks %s, WRITE SQEs of %d SGEs, %d SQEs a doorbell", name(r.Input), name(r.Index), name(r.Target), rank, list(owned), r.SGEs, r.Segment)
	case CopyRows:
		text := fmt.Sprintf("share %d of %d of the self rows, %d B each, through the stage ring", block, r.Blocks, r.Row)
		if o.NoDrain {
			text += ", without draining it"
		}
		return text
	case PollOwned:
		return fmt.Sprintf("final CQE of ranks %s", list(owned))
	}
	return "last stores of the stage ring"
}

// Owned lists the destinations that a block submits to, ascending.
func (r *Rows) Owned(rank, block int) []int {
	var out []int
	for d := r.Next(rank, block, -1); d < r.Ranks; d = r.Next(rank, block, d) {
		out = append(out, d)
	}
	return out
}

// sources lists the ranks whose counts a block pulls, ascending.
func (r *Rows) sources(block int) []int {
	var out []int
	if step := min(r.Blocks, r.Ranks); block < step {
		for s := block; s < r.Ranks; s += step {
			out = append(out, s)
		}
	}
	return out
}

func list(n []int) string {
	if len(n) == 0 {
		return "none"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ","), "[]")
}
