package routing

import (
	"math"
	"slices"
)

// weights is the relative weight of each of n items, of which a token draws k.
func (s *Skew) weights(seed uint64, n, k int, table []quantile) []uint64 {
	w := make([]float64, n)
	switch s.Kind {
	case "zipf":
		for i := range w {
			w[i] = math.Pow(float64(i+1), -s.Exponent)
		}
	case "empirical":
		w = drawWeights(loads(table, n), k)
	case "hot":
		for i := range w {
			w[i] = 1
		}
		for _, i := range s.Hot {
			w[i] = s.Factor
		}
	default:
		for i := range w {
			w[i] = 1
		}
	}
	if s.Order != "sorted" && (s.Kind == "zipf" || s.Kind == "empirical") {
		shuffle(seed, w)
	}
	return quantise(w)
}

// shuffle permutes weights by the seed (Fisher-Yates), alike for all ranks.
func shuffle(seed uint64, w []float64) {
	pcg := stream(seed, shared)
	for i := len(w) - 1; i > 0; i-- {
		j := below(pcg.Uint64(), uint64(i)+1)
		w[i], w[j] = w[j], w[i]
	}
}

// loads spreads n items over the quantiles of a measured distribution, heaviest first: item i takes the value in the
// middle of its 1/n of the distribution.
func loads(table []quantile, n int) []float64 {
	l := make([]float64, n)
	for i := range l {
		l[n-1-i] = valueAt(table, (float64(i)+0.5)/float64(n))
	}
	return l
}

// mostShare is the largest share of all tokens that one item can be made to get: a load that asks for more cannot be had,
// as a token draws an item once, and a share of 1 would need an infinite weight.
const mostShare = 0.99

// drawWeights finds weights under which drawing k items without replacement gives loads in the given proportions. An item
// that is to be in a share p of the draws arrives before the k-th arrival if arrivals are exponential with rate
// -ln(1-p), so that is its weight (Rosen 1997, order sampling; close for k above a few, exact in the sum). A single draw
// needs no correction.
func drawWeights(load []float64, k int) []float64 {
	sum := 0.0
	for _, l := range load {
		sum += l
	}
	if k == 1 || sum == 0 {
		return load
	}
	w := make([]float64, len(load))
	for i, l := range load {
		w[i] = -math.Log1p(-min(float64(k)*l/sum, mostShare))
	}
	return w
}

// A quantile says that a share of all items has at most this load over the mean.
type quantile struct{ share, load float64 }

// valueAt interpolates a table of rising shares from 0 to 1.
func valueAt(table []quantile, share float64) float64 {
	i, _ := slices.BinarySearchFunc(table, share, func(q quantile, x float64) int {
		if q.share < x {
			return -1
		}
		return 1
	})
	if i == 0 {
		return table[0].load
	}
	a, b := table[i-1], table[i]
	return a.load + (b.load-a.load)*(share-a.share)/(b.share-a.share)
}

// parseQuantiles reads columns quantile and hotness_over_mean: shares that rise from 0 to 1, loads that do not fall.
func parseQuantiles(name string, data []byte) ([]quantile, error) {
	t, err := readTable(name, data)
	if err != nil {
		return nil, err
	}
	var p problems
	share, load := t.column("quantile", &p), t.column("hotness_over_mean", &p)
	if len(p) > 0 {
		return nil, p.join()
	}
	var list []quantile
	for _, row := range t.rows {
		q := quantile{row[share].number(&p), row[load].number(&p)}
		if n := len(list); n > 0 && (q.share <= list[n-1].share || q.load < list[n-1].load) {
			p = append(p, row[share].fault("quantiles must rise and their values not fall"))
		}
		list = append(list, q)
	}
	if n := len(list); len(p) == 0 && (n < 2 || list[0].share != 0 || list[n-1].share != 1 || list[n-1].load <= 0) {
		p = append(p, t.fault("quantiles must run from 0 to 1, to a value above 0"))
	}
	return list, p.join()
}
