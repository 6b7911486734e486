package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Line is the formula that stands beside rows: a straight line in a column, through the
// fitted rows of a case or of several that share it.
type Line struct {
	Cases  []string `json:"cases"`
	Kind   string   `json:"kind"`             // bytes: a + b*x; log2: a + b*log2(x)
	Column string   `json:"column,omitempty"` // x
	Rows   int      `json:"fitted_rows"`
	Why    string   `json:"why_none,omitempty"` // there is no line
}

// Text says what a line is, for people.
func (l *Line) Text() string {
	x := l.Column
	if l.Kind == "log2" {
		x = "log2 " + x
	}
	switch {
	case l.Why != "":
		return "no line: " + l.Why
	case l.Rows == 2:
		return fmt.Sprintf("a line in %s through 2 fitted rows, which it meets exactly", x)
	}
	return fmt.Sprintf("a line in %s, fitted to %d rows", x, l.Rows)
}

// baselines fits each group's formula to its rows that are fitted, with relative errors
// as the simulator is, fills in what it says, and lists the formulas.
func (b *bench) baselines(rows []Row) (out []Line) {
	var groups []string
	for i := range b.spec.Cases {
		k := &b.spec.Cases[i]
		g := slices.Index(groups, k.group())
		if g < 0 {
			g, groups = len(groups), append(groups, k.group())
			out = append(out, Line{Kind: k.Baseline.Kind, Column: k.Baseline.Column})
		}
		out[g].Cases = append(out[g].Cases, k.Name)
	}
	for i := range out {
		out[i].fit(rows)
	}
	return out
}

// group is the name of the formula that a case shares: of the group, or of a case.
func (k *Case) group() string {
	if k.Baseline.Kind == "none" {
		return "none " + k.Name
	}
	return cmp.Or(k.Baseline.Group, k.Name)
}

// fit fits a line to the fitted rows of its cases, and says it of all of them.
func (l *Line) fit(rows []Row) {
	var xs, ys []float64
	var own []*Row
	for i := range rows {
		if r := &rows[i]; slices.Contains(l.Cases, r.Case) {
			own = append(own, r)
			if !r.HeldOut {
				xs, ys = append(xs, abscissa(l.Kind, r.X)), append(ys, value(l.Kind, *r))
			}
		}
	}
	l.Rows = len(xs)
	f, ok := line(xs, ys)
	switch {
	case len(xs) == 0:
		l.Why = "no row is fitted"
	case len(xs) == 1:
		l.Why = "one row is fitted"
	case l.Kind == "none":
		l.Why = "the fitted rows differ in no number that a line could follow"
	case !ok:
		l.Why = "all fitted rows have one " + l.Column
	default:
		for _, r := range own {
			if y := f(abscissa(l.Kind, r.X)); y > 0 {
				r.Baseline = inUnit(l.Kind, *r, y)
				r.BaseError = r.Baseline/r.Measured - 1
			}
		}
	}
}

// value is what a baseline is fitted to: what was measured, or of a rate over bytes the time.
func value(kind string, r Row) float64 {
	if kind == "bytes" && rate(r.Unit) {
		return r.X / r.Measured
	}
	return r.Measured
}

func inUnit(kind string, r Row, y float64) float64 {
	if kind == "bytes" && rate(r.Unit) {
		return r.X / y
	}
	return y
}

func abscissa(kind string, x float64) float64 {
	if kind == "log2" {
		return math.Log2(x)
	}
	return x
}

// line is the straight line with the least relative errors. Points with one x, or fewer
// than two, give none.
func line(xs, ys []float64) (f func(x float64) float64, ok bool) {
	var sw, sx, sy, sxx, sxy float64
	for i, x := range xs {
		w := 1 / (ys[i] * ys[i])
		sw, sx, sy = sw+w, sx+w*x, sy+w*ys[i]
		sxx, sxy = sxx+w*x*x, sxy+w*x*ys[i]
	}
	d := sw*sxx - sx*sx
	if len(xs) < 2 || d <= 1e-12*sw*sxx {
		return nil, false
	}
	slope := (sw*sxy - sx*sy) / d
	start := (sy - slope*sx) / sw
	return func(x float64) float64 { return start + slope*x }, true
}
