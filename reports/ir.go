package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"pldperf/hw/program"
	"pldperf/reports/document"
)

// SideBySide sets two programs beside one another, the hand form and the builtin
// one, say, each resolved for one rank and block.
type SideBySide struct {
	Titles [2]string      `json:"titles"`
	A      []program.Line `json:"a"`
	B      []program.Line `json:"b"`
	All    bool           `json:"-"` // text and markdown show long phases in full too
}

// IRRow is one row of the alignment: a line of A, of B, or one of each.
type IRRow struct {
	Mark IRMark        `json:"mark"`
	A    *program.Line `json:"a,omitempty"`
	B    *program.Line `json:"b,omitempty"`
}

// IRMark says how the two lines of a row differ.
type IRMark string

// The marks.
const (
	Same   IRMark = "="
	Differ IRMark = "~" // same op, other operands or in another loop
	OnlyA  IRMark = "<"
	OnlyB  IRMark = ">"
)

// IRSideBySide aligns a with b and writes the rows in the given format. Lines are
// paired only when they are of the same op; of all alignments that keep the order
// it takes one of the greatest worth, in which a pair counts more when its phases,
// its loops and its operands are equal too.
func IRSideBySide(w io.Writer, f Format, o Options, a, b []program.Line, titles [2]string) error {
	return write(w, f, o, &SideBySide{Titles: titles, A: a, B: b})
}

// Write writes the programs like IRSideBySide.
func (s *SideBySide) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, s) }

func (s *SideBySide) check() error {
	if len(s.A) == 0 && len(s.B) == 0 {
		return errors.New("both programs are empty")
	}
	return nil
}

func (s *SideBySide) document(program string) writable {
	return &listing{Head: document.NewHead(document.KindProgram, program), Programs: s, Rows: s.Rows()}
}

// maxCells bounds the table of the alignment, in memory and in time. Programs that
// differ over more than that are cut into windows of windowLines and aligned piece
// by piece.
const (
	maxCells    = 1 << 22
	windowLines = 1 << 10
)

// Rows aligns the two programs.
func (s *SideBySide) Rows() []IRRow {
	a, b := s.A, s.B
	var rows []IRRow
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		rows, a, b = append(rows, IRRow{Same, &a[0], &b[0]}), a[1:], b[1:]
	}
	for len(a)*len(b) > maxCells {
		m, n := min(windowLines, len(a)), min(windowLines, len(b))
		rows, a, b = append(rows, align(a[:m], b[:n])...), a[m:], b[n:]
	}
	return append(rows, align(a, b)...)
}

// worth of a pair: 8 for the op, without which there is no pair, 4 for an equal phase,
// 2 when both are as deep in loops, and 1 for equal operands.
func worth(a, b *program.Line) int32 {
	if a.Op != b.Op {
		return 0
	}
	w := int32(8)
	if a.Phase == b.Phase {
		w += 4
	}
	if a.Depth == b.Depth {
		w += 2
	}
	if a.Operands == b.Operands {
		w++
	}
	return w
}

// align finds the alignment of greatest worth by dynamic programming from the end.
func align(a, b []program.Line) []IRRow {
	width := len(b) + 1
	best := make([]int32, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			at := i*width + j
			best[at] = max(best[at+width], best[at+1])
			if w := worth(&a[i], &b[j]); w > 0 {
				best[at] = max(best[at], w+best[at+width+1])
			}
		}
	}
	var rows []IRRow
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		at := i*width + j
		w := worth(&a[i], &b[j])
		switch {
		case w > 0 && best[at] == w+best[at+width+1]:
			rows = append(rows, pair(&a[i], &b[j]))
			i, j = i+1, j+1
		case best[at] == best[at+width]:
			rows = append(rows, IRRow{Mark: OnlyA, A: &a[i]})
			i++
		default:
			rows = append(rows, IRRow{Mark: OnlyB, B: &b[j]})
			j++
		}
	}
	for ; i < len(a); i++ {
		rows = append(rows, IRRow{Mark: OnlyA, A: &a[i]})
	}
	for ; j < len(b); j++ {
		rows = append(rows, IRRow{Mark: OnlyB, B: &b[j]})
	}
	return rows
}

func pair(a, b *program.Line) IRRow {
	if a.Operands != b.Operands || a.Depth != b.Depth || a.Times != b.Times {
		return IRRow{Differ, a, b}
	}
	return IRRow{Same, a, b}
}

// single reports whether there is nothing to compare: one program is just listed.
func (s *SideBySide) single() bool { return len(s.B) == 0 && s.Titles[1] == "" }

// list is the page of one program.
func (s *SideBySide) list() *page {
	p := &page{title: s.Titles[0], lead: []string{size(s.A)}}
	t := p.table("Program", "phase", "op", "~operands")
	last := ""
	for i, hidden := range s.shown(len(s.A), func(i int) string { return s.A[i].Phase }) {
		l := &s.A[i]
		if hidden > 0 {
			t.add("", "...", more(hidden))
			continue
		}
		phase := l.Phase
		if phase == last {
			phase = ""
		}
		last = l.Phase
		t.add(phase, strings.Repeat("  ", l.Depth)+l.Op, l.Operands)
	}
	return p
}

// size says how long a program is, and how many ops it executes where it has loops.
func size(lines []program.Line) string {
	sum, known, loops := int64(0), true, false
	for i := range lines {
		sum += max(lines[i].Times, 0)
		known, loops = known && lines[i].Times != program.Often, loops || lines[i].Depth > 0
	}
	switch text := plural(len(lines), "op"); {
	case !known:
		return text + "; how often loops run depends on what the block reads"
	case loops:
		return text + ", " + count(sum) + " executed"
	default:
		return text
	}
}

func (s *SideBySide) page() *page {
	if s.single() {
		return s.list()
	}
	p := &page{title: s.Titles[0] + " beside " + s.Titles[1]}
	rows := s.Rows()
	n := map[IRMark]int{}
	for _, r := range rows {
		n[r.Mark]++
	}
	p.lead = []string{fmt.Sprintf("%d lines equal (=), %d with other operands (~), %d only left (<), %d only right (>)", n[Same], n[Differ], n[OnlyA], n[OnlyB])}
	if s.loops() {
		p.lead = append(p.lead, "A dot before the operands is a loop around the op.")
	}
	s.countTable(p)
	t := p.table("Programs", "phase", "op", "~"+s.Titles[0], "", "~"+s.Titles[1])
	last := ""
	for i, hidden := range s.shown(len(rows), func(i int) string { return rows[i].phase() }) {
		r := &rows[i]
		if hidden > 0 {
			left, right := 0, 0
			for _, h := range rows[i : i+hidden] {
				if h.A != nil {
					left++
				}
				if h.B != nil {
					right++
				}
			}
			t.add("", "...", more(left), "", more(right))
			continue
		}
		line, left, right := r.A, "", ""
		if r.A != nil {
			left = body(r.A)
		} else {
			line = r.B
		}
		if r.B != nil {
			right = body(r.B)
		}
		phase := r.phase()
		if phase == last {
			phase = ""
		} else {
			last = phase
		}
		t.add(phase, line.Op, left, string(r.Mark), right)
	}
	return p
}

// phase names the phase of a row, or both where they differ.
func (r *IRRow) phase() string {
	switch {
	case r.A == nil:
		return r.B.Phase
	case r.B == nil || r.A.Phase == r.B.Phase:
		return r.A.Phase
	}
	return r.A.Phase + " / " + r.B.Phase
}

// Of a phase of more than longPhase rows the first and the last few are shown.
const (
	longPhase  = 40
	phaseStart = 12
	phaseEnd   = 4
)

// shown yields the rows to show, of n; where rows are left out it yields the first of
// them with how many they are.
func (s *SideBySide) shown(n int, phase func(int) string) iter.Seq2[int, int] {
	return func(yield func(i, hidden int) bool) {
		for from := 0; from < n; {
			to := from + 1
			for to < n && phase(to) == phase(from) {
				to++
			}
			for i := from; i < to; i++ {
				hidden := 0
				if !s.All && to-from > longPhase && i == from+phaseStart {
					hidden = to - phaseEnd - i
				}
				if !yield(i, hidden) {
					return
				}
				i += max(hidden-1, 0)
			}
			from = to
		}
	}
}

func more(n int) string { return count(n) + " more (--all)" }

// loops reports whether a program has a loop.
func (s *SideBySide) loops() bool {
	deep := func(l program.Line) bool { return l.Depth > 0 }
	return slices.ContainsFunc(s.A, deep) || slices.ContainsFunc(s.B, deep)
}

// body is what a line shows beside its op: something, so that a side that has the
// op is told from one that lacks it; with a dot for each loop around it.
func body(l *program.Line) string {
	return strings.Repeat(loopSign+" ", l.Depth) + cmp.Or(l.Operands, ".")
}

const loopSign = "·"

// countTable counts the ops that each program executes.
func (s *SideBySide) countTable(p *page) {
	var ops []string
	counts := map[string]*[2]string{}
	var all [2]string
	for side, lines := range [2][]program.Line{s.A, s.B} {
		sums := map[string]int64{}
		total, known := int64(0), true
		for i := range lines {
			op, n := lines[i].Op, lines[i].Times
			if counts[op] == nil {
				counts[op] = &[2]string{"0", "0"}
				ops = append(ops, op)
			}
			if n == program.Often || sums[op] == program.Often {
				sums[op], known = program.Often, false
				counts[op][side] = "?"
				continue
			}
			sums[op], total = sums[op]+n, total+n
			counts[op][side] = count(sums[op])
		}
		if all[side] = count(total); !known {
			all[side] = "?"
		}
	}
	t := p.table("Ops that are executed", "op", ">"+s.Titles[0], ">"+s.Titles[1])
	for _, op := range ops {
		t.add(op, counts[op][0], counts[op][1])
	}
	t.add("all", all[0], all[1])
	if slices.Contains(all[:], "?") {
		t.notes = append(t.notes, "?: depends on what the block reads as it runs")
	}
}

func (s *SideBySide) records() [][]string {
	rows := [][]string{{"mark", "phase_a", "op_a", "operands_a", "depth_a", "times_a", "phase_b", "op_b", "operands_b", "depth_b", "times_b"}}
	cells := func(l *program.Line) []string {
		if l == nil {
			return []string{"", "", "", "", ""}
		}
		return []string{l.Phase, l.Op, l.Operands, strconv.Itoa(l.Depth), strconv.FormatInt(l.Times, 10)}
	}
	for _, r := range s.Rows() {
		rows = append(rows, append(append([]string{string(r.Mark)}, cells(r.A)...), cells(r.B)...))
	}
	return rows
}
