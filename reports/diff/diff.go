// Package diff compares two documents: the inputs that differ, the results side by
// side, and the difference in time attributed to its causes. A time is taken apart into
// named parts that add up to it; of two runs, the parts' changes then add up to the
// change of the time, to the picosecond, whatever the parts are. Points of sweeps are
// compared in pairs that stand at the same place of all axes.
package diff

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Named is a document and what people call it.
type Named struct {
	Name string
	*document.Document
}

// Compare compares two documents of one kind: runs, sweeps, or what was measured beside what is simulated, in validations
// or calibrations.
func Compare(a, b Named, t Tolerances) (*document.Diff, error) {
	for _, d := range []Named{a, b} {
		if !slices.Contains(comparable, d.Kind) {
			return nil, fmt.Errorf("%s holds %s; runs, sweeps, validations and calibrations can be compared", d.Name, d.Kind.One())
		}
	}
	if a.Kind != b.Kind && !(measured(a.Kind) && measured(b.Kind)) {
		return nil, fmt.Errorf("%s holds %s and %s %s; both must be of one kind", a.Name, a.Kind.One(), b.Name, b.Kind.One())
	}
	d := &document.Diff{A: side(a), B: side(b), Tolerances: t.list()}
	if measured(a.Kind) {
		compareRows(d, a.Document, b.Document, t.of("elapsed"))
		d.Notes = programs(a, b)
		return d, nil
	}
	pairs, onlyA, onlyB := match(a.Points(), b.Points())
	by := basisOf(pairs)
	for _, p := range pairs {
		d.Pairs = append(d.Pairs, pair(p[0], p[1], t, by))
	}
	d.Inputs = inputs(a.Document, b.Document, pairs, d.Pairs)
	slices.SortStableFunc(d.Pairs, largest)
	d.OnlyA, d.OnlyB = onlyA, onlyB
	d.Parts = total(d.Pairs)
	d.Equal = len(onlyA)+len(onlyB) == 0 && !slices.ContainsFunc(d.Pairs, func(p document.Pair) bool { return !p.Equal })
	d.Largest = sentence(d)
	d.Notes = append(d.Notes, programs(a, b)...)
	return d, nil
}

// measured reports whether documents of a kind hold rows of measurements.
func measured(k document.Kind) bool {
	return k == document.KindValidation || k == document.KindCalibration
}

// comparable are the kinds of documents that Compare compares.
var comparable = []document.Kind{document.KindRun, document.KindSweep, document.KindValidation, document.KindCalibration}

// programs says so if two documents were written by different programs.
func programs(a, b Named) []string {
	if a.Program == b.Program {
		return nil
	}
	return []string{fmt.Sprintf("A was written by pldperf %s, B by %s", cmp.Or(a.Program, "?"), cmp.Or(b.Program, "?"))}
}

func side(d Named) document.Side {
	s := document.Side{Name: d.Name, Kind: d.Kind, Program: d.Program, Points: len(d.Points())}
	switch {
	case d.Run != nil:
		s.Title = d.Run.Title
	case d.Sweep != nil:
		s.Title = d.Sweep.Title
	case d.Calibration != nil:
		s.Title, s.Points = d.Calibration.Title, len(d.Calibration.Rows)
	default:
		s.Points = len(placedRows(d.Document))
	}
	return s
}

// match finds for each point of A the one of B with the same values on all axes; of
// several, the next one.
func match(a, b []document.Point) (pairs [][2]*document.Point, onlyA, onlyB [][]document.KV) {
	at, place := map[string][]int{}, places()
	for i := range b {
		k := place(&b[i])
		at[k] = append(at[k], i)
	}
	taken := make([]bool, len(b))
	for i := range a {
		k := place(&a[i])
		if len(at[k]) == 0 {
			onlyA = append(onlyA, a[i].Axes)
			continue
		}
		j := at[k][0]
		at[k], taken[j] = at[k][1:], true
		pairs = append(pairs, [2]*document.Point{&a[i], &b[j]})
	}
	for j := range b {
		if !taken[j] {
			onlyB = append(onlyB, b[j].Axes)
		}
	}
	return pairs, onlyA, onlyB
}

// places returns what names points by their axes, whose order does not matter. Points
// share values, so that each is read once.
func places() func(*document.Point) string {
	known := map[string]string{}
	return func(p *document.Point) string {
		axes := slices.Clone(p.Axes)
		slices.SortFunc(axes, func(a, b document.KV) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
		for i := range axes {
			v, ok := known[axes[i].Value]
			if !ok {
				v = plain(axes[i].Value)
				known[axes[i].Value] = v
			}
			axes[i].Value = v
		}
		return fmt.Sprintf("%q", axes)
	}
}

// pair compares two runs.
func pair(a, b *document.Point, t Tolerances, by *basis) document.Pair {
	p := document.Pair{Axes: a.Axes, Change: b.Elapsed - a.Elapsed, Words: words(a, b, t), Figures: figures(a, b, t), Equal: true, OutsideA: a.Outside, OutsideB: b.Outside}
	for _, w := range p.Words {
		p.Equal = p.Equal && (w.A == w.B || !w.Counts)
	}
	for _, f := range p.Figures {
		p.Equal = p.Equal && f.Equal
	}
	switch {
	case a.Status != b.Status:
		p.Note = fmt.Sprintf("the runs ended in different ways (%s, %s), so that their times say nothing of each other", a.Status, b.Status)
		return p
	case a.Status == document.NotPossible:
		p.Note = "neither run was possible"
		return p
	case a.Status != result.OK:
		p.Note = fmt.Sprintf("both runs ended as %s: their times end there", a.Status)
	}
	p.Basis = by.text
	p.Parts = Attribute(by.parts(a), by.parts(b))
	return p
}

// basis is a way to take a time apart.
type basis struct {
	text  string
	parts func(*document.Point) []document.Part
}

var (
	path = basis{"causes along the critical path, from the first launch to the last block's end", func(p *document.Point) []document.Part { return p.Path }}
	// account is of one block: that of the cost card.
	account = basis{"account of the block that waited least for others, and the time between calls", (*document.Point).Parts}
)

// basisOf returns the critical path if all runs that are attributed have it, else the
// account, which all have: parts of different kinds cannot be compared.
func basisOf(pairs [][2]*document.Point) *basis {
	for _, p := range pairs {
		_, a := p[0].PathParts()
		_, b := p[1].PathParts()
		if (!a || !b) && p[0].Status == p[1].Status && p[0].Status != document.NotPossible {
			return &account
		}
	}
	return &path
}

// Attribute sets two lists of parts side by side, those that changed most first. Where a
// list adds up to a time, the changes add up to the difference of the two times.
func Attribute(a, b []document.Part) (out []document.PartPair) {
	at := map[string]int{}
	find := func(name string) *document.PartPair {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, document.PartPair{Name: name})
		}
		return &out[i]
	}
	for _, p := range a {
		find(p.Name).A += p.Time
	}
	for _, p := range b {
		find(p.Name).B += p.Time
	}
	for i := range out {
		out[i].Change = out[i].B - out[i].A
	}
	slices.SortStableFunc(out, func(x, y document.PartPair) int { return cmp.Compare(size(y.Change), size(x.Change)) })
	return out
}

// size is a change without its sign; what has no positive counterpart counts as largest.
func size[T ~int64](d T) uint64 {
	if d < 0 {
		return -uint64(d)
	}
	return uint64(d)
}

// total adds up the parts of all pairs.
func total(pairs []document.Pair) []document.PartPair {
	var a, b []document.Part
	for _, p := range pairs {
		for _, x := range p.Parts {
			a, b = append(a, document.Part{Name: x.Name, Time: x.A}), append(b, document.Part{Name: x.Name, Time: x.B})
		}
	}
	return Attribute(a, b)
}

// largest orders pairs: those that ended in different ways, then by the share of A's
// time by which they differ.
func largest(x, y document.Pair) int {
	other := func(p *document.Pair) bool {
		return slices.ContainsFunc(p.Words, func(w document.Word) bool { return w.Name == "status" && w.A != w.B })
	}
	ratio := func(p *document.Pair) *big.Rat {
		a := big.NewInt(1)
		for _, f := range p.Figures {
			if f.Name == Elapsed {
				a.SetInt64(max(f.A, 1))
			}
		}
		return new(big.Rat).SetFrac(new(big.Int).SetUint64(size(p.Change)), a)
	}
	switch ox, oy := other(&x), other(&y); {
	case ox && !oy:
		return -1
	case oy && !ox:
		return 1
	}
	if c := ratio(&y).Cmp(ratio(&x)); c != 0 {
		return c
	}
	switch {
	case !x.Equal && y.Equal:
		return -1
	case x.Equal && !y.Equal:
		return 1
	}
	return 0
}

// sentence names the part that changed most in the direction of the whole.
func sentence(d *document.Diff) string {
	var whole engine.Duration
	for _, p := range d.Parts {
		whole += p.Change
	}
	for _, p := range d.Parts {
		if p.Change == 0 || (p.Change < 0) != (whole < 0) && whole != 0 {
			continue
		}
		verb := "grew"
		if p.Change < 0 {
			verb = "shrank"
		}
		text := fmt.Sprintf("%s %s by %v, from %v to %v", p.Name, verb, engine.Duration(size(p.Change)), p.A, p.B)
		if s, ok := share(int64(p.Change), int64(whole)); ok {
			text += fmt.Sprintf(": %v of the difference", (s+500)/1000*1000)
		}
		return text
	}
	return ""
}

// share returns n/of in millionths, rounded; false when there is no such number.
func share(n, of int64) (engine.Fraction, bool) {
	if of == 0 {
		return 0, false
	}
	x := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(engine.One)))
	half := new(big.Int).SetUint64(size(of) / 2)
	if n < 0 {
		half.Neg(half)
	}
	x.Add(x, half).Quo(x, big.NewInt(of))
	return engine.Fraction(x.Int64()), x.IsInt64()
}
