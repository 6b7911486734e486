package reports

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"pldperf/hw/program"
)

// SideBySide sets two programs beside one another, the hand form and the builtin
// one, say, each resolved for one rank and block.
type SideBySide struct {
	Titles [2]string      `json:"titles"`
	A      []program.Line `json:"a"`
	B      []program.Line `json:"b"`
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
	Differ IRMark = "~" // same op, other operands
	OnlyA  IRMark = "<"
	OnlyB  IRMark = ">"
)

// IRSideBySide aligns a with b and writes the rows in the given format. Lines are
// paired only when they are of the same op; of all alignments that keep the order
// it takes one of the greatest worth, in which a pair counts more when its phases
// and its operands are equal too.
func IRSideBySide(w io.Writer, f Format, o Options, a, b []program.Line, titles [2]string) error {
	return write(w, f, o, &SideBySide{titles, a, b})
}

func (s *SideBySide) check() error {
	if len(s.A) == 0 && len(s.B) == 0 {
		return errors.New("both programs are empty")
	}
	return nil
}

func (s *SideBySide) document() document { return document{IR: s, Rows: s.Rows()} }

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

// worth of a pair: 4 for the op, without which there is no pair, 2 for an equal
// phase and 1 for equal operands.
func worth(a, b *program.Line) int32 {
	if a.Op != b.Op {
		return 0
	}
	w := int32(4)
	if a.Phase == b.Phase {
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
	if a.Operands != b.Operands {
		return IRRow{Differ, a, b}
	}
	return IRRow{Same, a, b}
}

// single reports whether there is nothing to compare: one program is just listed.
func (s *SideBySide) single() bool { return len(s.B) == 0 && s.Titles[1] == "" }

// list is the page of one program.
func (s *SideBySide) list() *page {
	p := &page{title: s.Titles[0], lead: []string{plural(len(s.A), "op")}}
	t := p.table("Program", "phase", "op", "~operands")
	last := ""
	for i := range s.A {
		l := &s.A[i]
		phase := l.Phase
		if phase == last {
			phase = ""
		}
		last = l.Phase
		t.add(phase, l.Op, l.Operands)
	}
	return p
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
	s.countTable(p)
	t := p.table("Programs", "phase", "op", "~"+s.Titles[0], "", "~"+s.Titles[1])
	last := ""
	for _, r := range rows {
		line, left, right := r.A, "", ""
		if r.A != nil {
			left = body(r.A)
		} else {
			line = r.B
		}
		if r.B != nil {
			right = body(r.B)
		}
		phase := line.Phase
		if r.A != nil && r.B != nil && r.A.Phase != r.B.Phase {
			phase = r.A.Phase + " / " + r.B.Phase
		}
		if phase == last {
			phase = ""
		} else {
			last = phase
		}
		t.add(phase, line.Op, left, string(r.Mark), right)
	}
	return p
}

// body is what a line shows beside its op: something, so that a side that has the
// op is told from one that lacks it.
func body(l *program.Line) string {
	if l.Operands == "" {
		return "."
	}
	return l.Operands
}

// countTable counts the ops of each program.
func (s *SideBySide) countTable(p *page) {
	var ops []string
	count := map[string]*[2]int{}
	for side, lines := range [2][]program.Line{s.A, s.B} {
		for i := range lines {
			op := lines[i].Op
			if count[op] == nil {
				count[op] = new([2]int)
				ops = append(ops, op)
			}
			count[op][side]++
		}
	}
	t := p.table("Ops", "op", ">"+s.Titles[0], ">"+s.Titles[1])
	for _, op := range ops {
		t.add(op, strconv.Itoa(count[op][0]), strconv.Itoa(count[op][1]))
	}
	t.add("all", strconv.Itoa(len(s.A)), strconv.Itoa(len(s.B)))
}

func (s *SideBySide) records() [][]string {
	rows := [][]string{{"mark", "phase_a", "op_a", "operands_a", "phase_b", "op_b", "operands_b"}}
	cells := func(l *program.Line) []string {
		if l == nil {
			return []string{"", "", ""}
		}
		return []string{l.Phase, l.Op, l.Operands}
	}
	for _, r := range s.Rows() {
		rows = append(rows, append(append([]string{string(r.Mark)}, cells(r.A)...), cells(r.B)...))
	}
	return rows
}
