package routing

import (
	"math"
	"math/bits"
)

// quantise turns relative weights into integers up to 2^32, so that draws do not depend on a processor's rounding. None
// becomes zero: every item can be drawn, if only once all heavier ones are taken.
func quantise(weights []float64) []uint64 {
	top := 0.0
	for _, w := range weights {
		top = max(top, w)
	}
	if top == 0 {
		top = 1 // all alike
	}
	q := make([]uint64, len(weights))
	for i, w := range weights {
		q[i] = max(1, uint64(math.Round(w/top*(1<<32))))
	}
	return q
}

// An alias table (Walker 1977, Vose 1991) draws item i with probability weight[i]/sum(weight) in one multiplication: the
// high word picks a column, the low word decides between the column's item and its alias. Weights are integers up to 2^32
// and items fewer than 2^30, so the table is exact to 2^-64.
type alias []column

type column struct {
	cut   uint64 // the item keeps low words below this
	other uint32 // the item that gets the rest
}

func newAlias(weight []uint64) alias {
	var total uint64
	for _, w := range weight {
		total += w
	}
	a, n := make(alias, len(weight)), uint64(len(weight))
	mass := make([]uint64, n) // of the item, in units of which a column holds `total`
	var small, large []uint32
	for i, w := range weight {
		mass[i] = w * n
		if mass[i] < total {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 {
		i, j := small[len(small)-1], large[len(large)-1] // the mean mass is total, so something is large
		small = small[:len(small)-1]
		a[i].cut, _ = bits.Div64(mass[i], 0, total)
		a[i].other = j
		mass[j] -= total - mass[i]
		if mass[j] < total {
			large = large[:len(large)-1]
			small = append(small, j)
		}
	}
	for _, i := range large { // exactly full
		a[i] = column{math.MaxUint64, i}
	}
	return a
}

func (a alias) draw(x uint64) uint32 {
	i, low := bits.Mul64(x, uint64(len(a)))
	c := &a[i]
	_, keep := bits.Sub64(low, c.cut, 0) // 1 if low < cut: no branch, which random data would mispredict
	return c.other ^ (c.other^uint32(i))&-uint32(keep)
}
