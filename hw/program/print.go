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
	Depth    int    `json:"depth,omitempty"` // loops around it
	Times    int64  `json:"times"`           // that the block executes it; Often where that depends on what it reads
}

// Lines lists the program for one rank and block: operands are resolved, and what an
// op does to many destinations is spelled out. The body of a loop is listed once, and
// not at all when the block never executes it.
func (p *Program) Lines(rank, block int, bufs []Buffer) []Line {
	out := make([]Line, 0, len(p.Ops))
	times := p.Times(rank, block)
	var ends []int // of the loops around the op
	for i := range p.Ops {
		o := &p.Ops[i]
		for len(ends) > 0 && i >= ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		if times[i] != 0 {
			out = append(out, Line{o.Phase, o.Kind.String(), o.operands(rank, block, bufs), len(ends), times[i]})
		}
		if o.Kind == Loop {
			ends = append(ends, i+1+o.Skip)
		}
	}
	return out
}

func (o *Op) operands(rank, block int, bufs []Buffer) string {
	name := func(b Buf) string { return bufs[b].Name }
	show := func(e Expr) string { return e.Show(rank, block) }
	mine, theirs := name(o.Src)+"+"+show(o.SrcOff), name(o.Dst)+"+"+show(o.DstOff)
	switch o.Kind {
	case Put:
		return fmt.Sprintf("%s of rank %s <- %s, %s", theirs, show(o.Peer), mine, o.extent(rank, block))
	case Get:
		return fmt.Sprintf("%s <- %s of rank %s, %s", theirs, mine, show(o.Peer), o.extent(rank, block))
	case CopyTile:
		return fmt.Sprintf("%s <- %s, %s B", theirs, mine, show(o.Bytes))
	case LoadTile:
		return fmt.Sprintf("tile %d <- %s, %s B", o.Tile, mine, show(o.Bytes))
	case RemoteLoad:
		return fmt.Sprintf("tile %d <- %s of rank %s, %s B%s", o.Tile, mine, show(o.Peer), show(o.Bytes), o.carrier())
	case StoreTile:
		return fmt.Sprintf("%s <- tile %d, %s B", theirs, o.Tile, show(o.Bytes))
	case RemoteStore:
		return fmt.Sprintf("%s of rank %s <- tile %d, %s B%s%s", theirs, show(o.Peer), o.Tile, show(o.Bytes), flag(o.Atomic, ", AtomicAdd"), o.carrier())
	case Combine:
		return fmt.Sprintf("tile %d <- %s(tile %d, tile %d), %s B of %s", o.Tile, o.Reduce, o.Tile, o.Other, show(o.Bytes), o.DType)
	case Convert:
		return fmt.Sprintf("tile %d <- tile %d, %s B of %s as %s", o.Tile, o.Other, show(o.Bytes), o.DType, o.Into)
	case Spend:
		return fmt.Sprintf("%s ps of the scalar unit", show(o.Value))
	case Submit:
		if o.WQEs.Read {
			return fmt.Sprintf("%s <- %s of rank %s, %s", theirs, mine, show(o.Peer), o.requests(rank, block))
		}
		return fmt.Sprintf("%s of rank %s <- %s, %s", theirs, show(o.Peer), mine, o.requests(rank, block))
	case Stream:
		return o.streamOperands(rank, block, bufs)
	case Storm:
		a := o.Atomics
		return fmt.Sprintf("%d lanes add 1 to %d words of %s, %d B apart%s", a.Ops, a.Targets, name(o.Signal), a.Stride, flag(a.Returns, ", and get the old value"))
	case SyncBlocks:
		return "all blocks of the rank"
	case Flush:
		return fmt.Sprintf("CQEs of rank %s, %s", show(o.Peer), o.requests(rank, block))
	case ReadCount:
		return o.countOperands(rank, block, bufs)
	case Loop:
		if n := show(o.Count); n != "0" {
			return fmt.Sprintf("%s times, %s from 0", n, loopNames[o.Depth])
		}
		return "0 times"
	case PullCounts, CheckCounts, SendOwned, PutOwned, CopyRows, DrainRows, PollOwned:
		return o.rowOperands(rank, block, bufs)
	case Notify, Wait, NotifyPeers, WaitPeers, AddPeers:
		return o.signalOperands(rank, block, name(o.Signal))
	}
	return o.Note
}

// streamOperands prints the matrix of a Stream and what becomes of it.
func (o *Op) streamOperands(rank, block int, bufs []Buffer) string {
	t := o.Tiles
	text := fmt.Sprintf("%s+%s%s, %s x %d B in tiles of %d x %d B", bufs[o.Src].Name, o.SrcOff.Show(rank, block),
		flag(t.Two, " and another"), t.Rows.Show(rank, block), t.Width, t.TileRows, t.TileWidth)
	text += flag(t.Passes > 1, fmt.Sprintf(", %d times", t.Passes)) + flag(t.Slices > 1, fmt.Sprintf(", %d slices", t.Slices))
	text += flag(t.Depth > 0, fmt.Sprintf(", %d a buffer", t.Depth)) + flag(t.Work, ", added")
	if t.Store {
		text += " -> " + bufs[o.Dst].Name + "+" + o.DstOff.Show(rank, block) + flag(t.Spread > 0, " of all ranks in turn")
	}
	return text
}

// requests prints the WQEs of a Submit.
func (o *Op) requests(rank, block int) string {
	return fmt.Sprintf("%d WQEs of %s B in %d SGEs, %d a doorbell", o.WQEs.N, o.Bytes.Show(rank, block), o.WQEs.SGEs, o.WQEs.Bells())
}

func flag(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

// extent prints how much a put or get moves and how.
func (o *Op) extent(rank, block int) string {
	how := flag(o.Pipeline, ", two stages") + flag(o.Atomic, ", AtomicAdd") + o.carrier()
	if o.Barriers > 0 && o.Transport == MTE {
		how += fmt.Sprintf(", %d PIPE_ALL behind each", o.Barriers)
	}
	if r := o.Rect; r != nil {
		rows, width := r.chunk()
		return fmt.Sprintf("%d x %d B in pieces of %d x %d B%s", r.Rows, r.Width, rows, width, how)
	}
	if o.Chunk > 0 && o.Transport == MTE {
		how = fmt.Sprintf(" in stages of %d B", o.Chunk) + how
	}
	return o.Bytes.Show(rank, block) + " B" + how
}

func (o *Op) carrier() string { return flag(o.Transport != MTE, ", by "+o.Transport.String()) }

// signalOperands prints cells as [source, column] of a [P,S] signal and as [row,
// source] of a [rows,P] one.
func (o *Op) signalOperands(rank, block int, signal string) string {
	show := func(e Expr) string { return e.Show(rank, block) }
	cell := func(source string) string {
		if o.ByRow {
			return fmt.Sprintf("%s[%s,%s]", signal, show(o.Col), source)
		}
		return fmt.Sprintf("%s[%s,%s]", signal, source, show(o.Col))
	}
	verb, cmp, unit := "AtomicAdd", "Ge", "scalar"
	if o.Set {
		verb = "Set"
	}
	if o.Eq {
		cmp = "Eq"
	}
	if o.SIMT {
		unit = "SIMT"
	}
	value := show(o.Value)
	if !strings.HasPrefix(value, "-") {
		value = "+" + value
	}
	switch o.Kind {
	case Notify:
		return fmt.Sprintf("%s[%s] of rank %s, %s %s, %s", signal, show(o.Cell), show(o.Peer), verb, value, unit)
	case Wait:
		return fmt.Sprintf("%s[%s] %s %s, %s", signal, show(o.Cell), cmp, show(o.Value), unit)
	case NotifyPeers:
		return fmt.Sprintf("%s of every peer, %s %s, %s", cell(fmt.Sprint(rank)), verb, value, unit)
	case WaitPeers:
		return fmt.Sprintf("%s %s %s for every s != %d, %s", cell("s"), cmp, show(o.Value), rank, unit)
	}
	return fmt.Sprintf("%s of self, %s %s for every s != %d, %s", cell("s"), verb, value, rank, unit)
}

func (o *Op) rowOperands(rank, block int, bufs []Buffer) string {
	r := o.Rows
	name := func(b Buf) string { return bufs[b].Name }
	owned := r.Owned(rank, block)
	switch o.Kind {
	case PullCounts:
		return fmt.Sprintf("%s[s] <- %s[%d] of rank s, for s in %s", name(r.RecvCounts), name(r.SendCounts), rank, list(r.sources(block)))
	case CheckCounts:
		return fmt.Sprintf("own %s for %s in [0,%d]%s", name(r.SendCounts), list(owned), r.Capacity, flag(r.SGEs > 0, ", queue capacity"))
	case SendOwned:
		return fmt.Sprintf("%s rows by %s -> %s+%d*C of ranks %s, WRITE SQEs of %d SGEs, %d SQEs a doorbell", name(r.Input), name(r.Index), name(r.Target), rank, list(owned), r.SGEs, r.Segment)
	case PutOwned:
		how := "stages of " + fmt.Sprint(o.Chunk) + " B"
		if o.Transport != MTE {
			how = "SQEs of " + o.Transport.String()
		}
		return fmt.Sprintf("%s rows by %s -> %s+%d*C of ranks %s, a put of each interval of consecutive rows, in %s", name(r.Input), name(r.Index), name(r.Target), rank, list(owned), how)
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
