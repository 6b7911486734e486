package fit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Fitted is a parameter with what the rows say of it.
type Fitted struct {
	Label     string `json:"label"`
	Path      string `json:"path"`
	Cause     string `json:"cause"`
	Start     string `json:"start"`
	Value     string `json:"value"`
	Low       string `json:"low"`  // of the 95 % interval, within the bounds
	High      string `json:"high"` // the same
	Known     bool   `json:"identified"`
	RowsMoved int    `json:"rows_moved"` // fitted rows that it changes by more than the noise when it changes by a tenth

	in    []string
	also  []string
	value int64
}

// nudge is by how much of its value a parameter is changed to see what that does.
const nudge = 0.02

// sensitive finds the parameters that the fitted rows react to; the others stay as they
// are, since any value would do.
func (f *search) sensitive(ctx context.Context) error {
	for i := range f.params {
		moved, err := f.moves(ctx, f.start, i)
		if err != nil {
			return err
		}
		if moved {
			f.free = append(f.free, i)
		}
	}
	return nil
}

// moves reports whether any of a parameter's bounds, or a step from x, changes a row.
func (f *search) moves(ctx context.Context, x at, i int) (bool, error) {
	here, err := f.residuals(ctx, x)
	if err != nil {
		return false, err
	}
	for _, v := range []int64{f.params[i].low, f.params[i].high, f.params[i].at0(0.5)} {
		y := slices.Clone(x)
		y[i] = max(v, min(f.params[i].low+1, f.params[i].high))
		there, err := f.residuals(ctx, y)
		if err != nil {
			return false, err
		}
		for k := range here {
			if math.Abs(there[k]-here[k]) > f.noise()/10 {
				return true, nil
			}
		}
	}
	return false, nil
}

func (f *search) noise() float64 { return float64(f.spec.Noise) / 1e6 }

// slopes returns by how much of itself each fitted row changes when a parameter changes
// by all of itself: [row][parameter], by central differences.
func (f *search) slopes(ctx context.Context) (*mat.Dense, []float64, error) {
	here, err := f.residuals(ctx, f.best)
	if err != nil {
		return nil, nil, err
	}
	j := mat.NewDense(len(here), len(f.params), nil)
	for i := range f.params {
		up, down := slices.Clone(f.best), slices.Clone(f.best)
		d := max(int64(nudge*float64(max(f.best[i], f.params[i].high/50))), 1)
		up[i], down[i] = min(f.best[i]+d, max(f.params[i].high, f.best[i])), max(f.best[i]-d, min(f.params[i].low, f.best[i]), 1)
		if f.params[i].low == 0 {
			down[i] = max(f.best[i]-d, 0)
		}
		a, err := f.residuals(ctx, up)
		if err != nil {
			return nil, nil, err
		}
		b, err := f.residuals(ctx, down)
		if err != nil {
			return nil, nil, err
		}
		width := float64(up[i]-down[i]) / float64(max(f.best[i], 1))
		for r := range a {
			j.Set(r, i, (a[r]-b[r])/width)
		}
	}
	return j, here, nil
}

// judge says how well the rows know each parameter. The intervals are those of the
// curvature at the best point: (J'J)^-1 times the variance of the residuals, by Student's
// t for as many rows as are left over, or that of the measurement's noise if it is larger.
func (f *search) judge(ctx context.Context) error {
	j, res, err := f.slopes(ctx)
	if err != nil {
		return err
	}
	rows, n := len(res), len(f.free)
	if rows <= n {
		f.warn("%d of %d parameters move the %d fitted rows, which they can meet exactly: their errors say nothing about other rows", n, len(f.params), rows)
	}
	if f.plateaus, err = f.levels(ctx, j); err != nil {
		return err
	}
	sum := 0.0
	for _, e := range res {
		sum += e * e
	}
	freedom := max(rows-n, 1)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
	spread, bad := f.covariance(j, max(t*math.Sqrt(sum/float64(freedom)), distuv.UnitNormal.Quantile(0.975)*f.noise()))
	for i := range f.params {
		f.fitted = append(f.fitted, f.describe(i, j, spread[i], slices.Contains(bad, i)))
	}
	return nil
}

// levels finds the plateaus on which parameters without a slope at the best point are.
func (f *search) levels(ctx context.Context, j *mat.Dense) (map[int]plateau, error) {
	out := map[int]plateau{}
	for _, i := range f.free {
		if norm(j, i) > 0.1*f.noise() {
			continue
		}
		p, err := f.flat(ctx, i)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

func (f *search) warn(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

// covariance returns half of each parameter's interval, relative to its value, where a
// row's error has such a half interval, and the parameters that the rows cannot tell;
// infinite for what no row reacts to.
func (f *search) covariance(j *mat.Dense, half float64) (spread []float64, bad []int) {
	spread = make([]float64, len(f.params))
	for i := range spread {
		spread[i] = math.Inf(1)
	}
	var use []int
	for i := range f.params {
		if slices.Contains(f.free, i) && norm(j, i) > 0.1*f.noise() {
			use = append(use, i)
			continue
		}
		bad = append(bad, i)
		f.warnFlat(i)
	}
	if len(use) == 0 {
		return spread, bad
	}
	values, vectors, ok := f.eigen(j, use)
	if !ok {
		f.warn("the curvature at the best point could not be found; there are no intervals")
		return spread, bad
	}
	for a, i := range use {
		v := 0.0
		for k, l := range values {
			v += vectors.At(a, k) * vectors.At(a, k) / max(l, 1e-12)
		}
		spread[i] = half * math.Sqrt(v) / norm(j, i)
	}
	bad = append(bad, f.ridges(values, vectors, use)...)
	f.correlations(values, vectors, use, bad)
	return spread, bad
}

// warnFlat says that nothing tells a parameter's value near the best point, and whether
// the rows know between what it is.
func (f *search) warnFlat(i int) {
	p, print := &f.params[i], f.params[i].kind.Print
	stays := "stays at "
	if f.best[i] != f.start[i] {
		stays = "was moved to "
	}
	if at, step := f.plateaus[i]; step && (at.low > p.low || at.high < p.high) {
		f.warn("%s: the fitted rows are the same from %s to %s and change beyond, so they know no more of it; it %s%s",
			p.Label(), print(at.low), print(at.high), stays, print(f.best[i]))
		return
	}
	f.warn("%s: the fitted rows do not react to it; it %s%s", p.Label(), stays, print(f.best[i]))
}

func norm(j *mat.Dense, i int) float64 { return mat.Norm(j.ColView(i), 2) }

// eigen returns the directions of J'J with each column of J scaled to length 1.
func (f *search) eigen(j *mat.Dense, use []int) (values []float64, vectors *mat.Dense, ok bool) {
	n := len(use)
	m := mat.NewSymDense(n, nil)
	for a, i := range use {
		for b := a; b < n; b++ {
			m.SetSym(a, b, mat.Dot(j.ColView(i), j.ColView(use[b]))/norm(j, i)/norm(j, use[b]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return nil, nil, false
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, true
}

// ridge is the share of a direction's curvature below which it counts as flat: two
// columns that are alike to within a per cent.
const ridge = 2e-4

// ridges warns of directions in which the objective is flat: only a combination of those
// parameters is known.
func (f *search) ridges(values []float64, vectors *mat.Dense, use []int) (bad []int) {
	for k, l := range values {
		if l > ridge {
			continue
		}
		var names []string
		for a, i := range use {
			if math.Abs(vectors.At(a, k)) > 0.2 {
				names = append(names, f.params[i].Label())
				bad = append(bad, i)
			}
		}
		f.warn("%s: the fitted rows know only a combination of them", strings.Join(names, ", "))
	}
	return bad
}

// strong is the correlation from which two parameters are named together.
const strong = 0.95

func (f *search) correlations(values []float64, vectors *mat.Dense, use, bad []int) {
	cov := func(a, b int) (v float64) {
		for k, l := range values {
			v += vectors.At(a, k) * vectors.At(b, k) / max(l, 1e-12)
		}
		return v
	}
	for a := range use {
		for b := a + 1; b < len(use); b++ {
			r := cov(a, b) / math.Sqrt(cov(a, a)*cov(b, b))
			if math.Abs(r) > strong && !(slices.Contains(bad, use[a]) && slices.Contains(bad, use[b])) {
				f.warn("%s and %s: correlation %.3f; the rows know one by the other", f.params[use[a]].Label(), f.params[use[b]].Label(), r)
			}
		}
	}
}

// describe sums up a parameter; half is half of its interval, relative to its value.
func (f *search) describe(i int, j *mat.Dense, half float64, bad bool) Fitted {
	p, v := &f.params[i], f.best[i]
	out := Fitted{
		Label: p.Label(), Path: p.Path, Cause: p.Cause, in: p.In, also: p.Also, value: v, Known: !bad,
		Start: p.kind.Print(f.start[i]), Value: p.kind.Print(v), Low: p.Low, High: p.High,
	}
	rows, _ := j.Dims()
	for r := range rows {
		if math.Abs(j.At(r, i))*0.1 > f.noise() {
			out.RowsMoved++
		}
	}
	if at, ok := f.plateaus[i]; ok {
		out.Low, out.High = p.kind.Print(at.low), p.kind.Print(at.high)
	}
	if math.IsInf(half, 0) {
		return out
	}
	low, high := float64(v)*math.Exp(-half), float64(v)*math.Exp(half)
	if p.low == 0 {
		low, high = float64(v)*(1-half), float64(v)*(1+half)
	}
	whole := low <= float64(p.low) && high >= float64(p.high)
	low, high = max(low, float64(p.low)), min(high, float64(p.high))
	if low > float64(p.low) {
		out.Low = p.kind.Print(max(round(int64(low)), p.low))
	}
	if high < float64(p.high) {
		out.High = p.kind.Print(min(round(int64(high)), p.high))
	}
	switch {
	case v == p.low || v == p.high:
		f.warn("%s: at the bound %s; the bounds or the model are wrong", p.Label(), out.Value)
	case whole:
		out.Known = false
		f.warn("%s: the rows know no more of it than its bounds, %s to %s", p.Label(), p.Low, p.High)
	case out.Known && half > 0.5 && low > 0:
		f.warn("%s: known to a factor of %.1f only", p.Label(), math.Sqrt(high/low))
	}
	return out
}
