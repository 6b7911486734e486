package fit

import (
	"context"
	"math"
	"slices"
)

// plateau is a range of a parameter in which the fitted rows stay as they are.
type plateau struct{ low, high int64 }

// stay takes parameters back to their first guess where the fitted rows are then the same:
// a search moves also over what is flat, and a value that has moved looks like a finding.
func (f *search) stay(ctx context.Context) error {
	for _, i := range f.free {
		changed, err := f.changes(ctx, i, f.start[i])
		if err != nil {
			return err
		}
		if !changed {
			f.best = slices.Clone(f.best)
			f.best[i] = f.start[i]
		}
	}
	return nil
}

// changes reports whether a fitted row differs, by more than a tenth of the noise, when a
// parameter has another value than at the best point.
func (f *search) changes(ctx context.Context, i int, v int64) (bool, error) {
	if v == f.best[i] {
		return false, nil
	}
	here, err := f.residuals(ctx, f.best)
	if err != nil {
		return false, err
	}
	y := slices.Clone(f.best)
	y[i] = v
	there, err := f.residuals(ctx, y)
	if err != nil {
		return false, err
	}
	for k := range here {
		if math.Abs(there[k]-here[k]) > f.noise()/10 {
			return true, nil
		}
	}
	return false, nil
}

// flat finds how far the fitted rows stay as they are on both sides of a parameter's best
// value: a row may react by a step, of which no slope at the best point knows.
func (f *search) flat(ctx context.Context, i int) (p plateau, err error) {
	if p.low, err = f.edge(ctx, i, f.params[i].low); err != nil {
		return p, err
	}
	p.high, err = f.edge(ctx, i, f.params[i].high)
	return p, err
}

// halvings is how often the way to an edge is halved.
const halvings = 7

// edge looks for the last value towards a bound at which the rows are as at the best one.
func (f *search) edge(ctx context.Context, i int, bound int64) (int64, error) {
	changed, err := f.changes(ctx, i, bound)
	if err != nil || !changed {
		return bound, err
	}
	p := &f.params[i]
	same, other := p.share(max(f.best[i], p.low)), p.share(bound)
	for range halvings {
		middle := (same + other) / 2
		if changed, err = f.changes(ctx, i, p.rounded(middle)); err != nil {
			return 0, err
		}
		if changed {
			other = middle
		} else {
			same = middle
		}
	}
	return p.rounded(same), nil
}
