package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pldperf/configs"
	"pldperf/workloads"
)

// Verify reports all that is wrong with a spec's tables, with what its cases set and with
// the bounds of its parameters, where it stands, without a simulation; and what is odd
// but no fault.
func (s *Spec) Verify() (odd []string, err error) {
	b, err := s.open("", 1)
	if err != nil {
		return nil, err
	}
	return b.odd(), nil
}

// verify builds every row as the files have it, and the first row that each parameter
// belongs to at both of its bounds.
func (b *bench) verify() error {
	var all configs.Problems
	for c := range b.rows {
		for r := range b.rows[c] {
			if err := b.try(c, r, nil, nil, ""); err != nil {
				all = append(all, b.ofLine(c, r, problems(err))...)
				break // the next rows say the same
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, g := range b.spec.groups() {
		b.set = g.set
		for i := range g.params {
			all = append(all, b.bounds(&g.params[i], fmt.Sprintf("%s.%d", g.path, i))...)
		}
	}
	b.set = nil
	if len(all) > 0 {
		return all
	}
	return nil
}

// ofLine says which line of the table a problem with the workload comes from, where
// another row has no such problem.
func (b *bench) ofLine(c, r int, found configs.Problems) configs.Problems {
	other := 0
	if r == 0 {
		other = len(b.rows[c]) - 1
	}
	if other == r {
		return found
	}
	also := problems(b.try(c, other, nil, nil, ""))
	for i := range found {
		if line := linesOf([]int{b.rows[c][r].line}); !slices.Contains(also, found[i]) && !strings.Contains(found[i].Message, line+" of") {
			found[i].Message += fmt.Sprintf(" (%s of %s)", line, b.spec.Cases[c].Data)
		}
	}
	return found
}

// bounds builds a row with a parameter at both of its bounds. What is wrong with both is
// wrong with its path.
func (b *bench) bounds(p *Param, path string) configs.Problems {
	c := slices.IndexFunc(b.spec.Cases, func(k Case) bool { return p.applies(&k) })
	try := func(value int64, field string) configs.Problems {
		return problems(b.try(c, 0, []Param{*p}, at{value}, path+"."+field))
	}
	low, high := try(p.low, "low"), try(p.high, "high")
	switch {
	case len(low) > 0 && len(high) > 0 && low[0].Message == high[0].Message:
		return try(p.low, "path")
	case len(low) > 0:
		return low
	}
	return high
}

// paramGroup are parameters that stand together in a file.
type paramGroup struct {
	path   string // of the list
	params []Param
	set    *Values
}

func (s *Spec) groups() []paramGroup {
	out := []paramGroup{{"params", s.Params, nil}}
	for i := range s.Alternatives {
		a := &s.Alternatives[i]
		out = append(out, paramGroup{fmt.Sprintf("alternatives.%d.params", i), a.Params, &a.Set})
	}
	return out
}

// try decodes the workload of a row and says what is wrong with it where that stands:
// what a case sets at its place, with the line of the table, a parameter at a bound.
func (b *bench) try(c, r int, params []Param, x at, bound string) error {
	doc, err := b.doc(c, r, params, x)
	if err == nil {
		_, err = workloads.CheckDoc(b.files[c], doc, nil)
	}
	var found configs.Problems
	if !errors.As(err, &found) {
		return err
	}
	out := slices.Clone(found)
	for i, p := range found {
		origin, path, _ := strings.Cut(p.File, " ")
		switch {
		case p.Line > 0:
		case origin == "machine" && b.machine == b.spec.Machine:
			out[i] = b.spec.doc.At("machine").Fault("%s", p.Message)[0]
		case origin == setting:
			out[i] = b.placed(c, r, path, p)
		case origin == parameter && bound != "":
			out[i] = b.spec.doc.At(bound).Fault("%s", strings.TrimPrefix(path+": "+p.Message, ": "))[0]
		}
	}
	return out
}

// placed is a problem with what a case, or a rival explanation, sets.
func (b *bench) placed(c, r int, path string, p configs.Problem) configs.Problem {
	for _, v := range []*Values{&b.spec.Cases[c].Set, b.set} {
		if v == nil {
			continue
		}
		if i := slices.Index(v.paths, path); i >= 0 {
			where := ""
			if v.values[i].Column != "" {
				where = fmt.Sprintf("line %d of %s: ", b.rows[c][r].line, b.spec.Cases[c].Data)
			}
			return v.values[i].at.Fault("%s%s", where, p.Message)[0]
		}
	}
	return p
}

// problems are an error as such.
func problems(err error) configs.Problems {
	var out configs.Problems
	if err == nil || errors.As(err, &out) {
		return out
	}
	return configs.Problems{{Message: err.Error()}}
}

// odd says what a reader of the results should know of the tables: lines without a
// measurement, and fitted rows that are one to the simulation and differ.
func (b *bench) odd() (out []string) {
	for c := range b.rows {
		k := &b.spec.Cases[c]
		if lines := b.skipped[c]; len(lines) > 0 {
			out = append(out, fmt.Sprintf("%s: %s of %s left out: nothing in column %q", k.Name, linesOf(lines), k.Data, k.Measured.Column))
		}
		out = append(out, b.contradictions(c)...)
	}
	return out
}

func linesOf(lines []int) string {
	var parts []string
	for _, n := range lines {
		parts = append(parts, strconv.Itoa(n))
	}
	if len(parts) == 1 {
		return "line " + parts[0]
	}
	return "lines " + strings.Join(parts, ", ")
}

// contradictions names fitted rows of a case for which the simulation must say one number
// and the table says several.
func (b *bench) contradictions(c int) (out []string) {
	k := &b.spec.Cases[c]
	first := map[string]int{}
	for i, r := range b.rows[c] {
		if r.held {
			continue
		}
		key := k.key(r)
		j, twice := first[key]
		if !twice {
			first[key] = i
			continue
		}
		x, errX := b.measured(c, j)
		y, errY := b.measured(c, i)
		if errX != nil || errY != nil {
			continue
		}
		if apart := max(x, y)/min(x, y) - 1; apart > float64(b.spec.Noise)/1e6 {
			out = append(out, fmt.Sprintf("%s: lines %d and %d of %s are one point to the simulation, and measured %.5g and %.5g %s: no fit is nearer to both than %.2g %%",
				k.Name, b.rows[c][j].line, r.line, k.Data, x, y, k.Measured.Unit, 100*(math.Sqrt(1+apart)-1)))
		}
	}
	return out
}

// key is all of a row that the simulation and what is made of its time depend on.
func (k *Case) key(r row) string {
	text := ""
	values := slices.Concat(k.Set.values, []Value{k.Measured.Bytes, k.Measured.Times, k.Clock.Per})
	for i := range values {
		one, _ := values[i].of(r)
		text += strconv.Quote(one)
	}
	return text
}
