package routing

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ingress is the rows that each rank receives, its own included.
func ingress(r *Routing) []int {
	in := make([]int, r.Ranks())
	for s := range in {
		for d := range in {
			in[d] += r.Count(s, d)
		}
	}
	return in
}

func TestZipfDestinationsFollowTheLaw(t *testing.T) {
	const tokens = 20_000
	r := must(t, Spec{Kind: "skewed", Tokens: tokens, Skew: Skew{Kind: "zipf", Exponent: 1, Order: "sorted"}}, 8)
	sum := 0.0
	for i := range 8 {
		sum += 1 / float64(i+1)
	}
	for d, n := range ingress(r) {
		near(t, n, 8*tokens, 1/float64(d+1)/sum, "destination %d", d)
	}
	assert.Zero(t, r.Stats().Pairs)
	assert.Nil(t, r.ExpertLoad())
}

func TestZipfWithExponentZeroIsAllAlike(t *testing.T) {
	for d, n := range ingress(must(t, Spec{Kind: "skewed", Tokens: 10_000, Skew: Skew{Kind: "zipf"}}, 8)) {
		near(t, n, 80_000, 1.0/8, "destination %d", d)
	}
}

func TestAShuffledSkewHasTheSameWeightsInAnotherOrder(t *testing.T) {
	sorted := (&Skew{Kind: "zipf", Exponent: 1, Order: "sorted"}).weights(4, 50, 2, nil)
	shuffled := (&Skew{Kind: "zipf", Exponent: 1}).weights(4, 50, 2, nil)
	other := (&Skew{Kind: "zipf", Exponent: 1}).weights(5, 50, 2, nil)
	assert.NotEqual(t, sorted, shuffled)
	assert.NotEqual(t, other, shuffled)
	assert.ElementsMatch(t, sorted, shuffled)
	assert.True(t, slices.IsSortedFunc(sorted, func(a, b uint64) int { return int(b) - int(a) }))
}

func TestHotDestinationsWeighTheirFactor(t *testing.T) {
	const tokens = 20_000
	r := must(t, Spec{Kind: "skewed", Tokens: tokens, Skew: Skew{Kind: "hot", Hot: []int{5, 2}, Factor: 4}}, 8)
	for d, n := range ingress(r) {
		p := 1.0 / 14
		if d == 5 || d == 2 {
			p = 4.0 / 14
		}
		near(t, n, 8*tokens, p, "destination %d", d)
	}
}

func TestHotExpertsGetTheirShare(t *testing.T) {
	r := must(t, Spec{Kind: "moe_topk", Tokens: 10_000, Experts: 8, TopK: 2, Skew: Skew{Kind: "hot", Hot: []int{7}, Factor: 10}}, 4)
	p := inclusion([]uint64{1, 1, 1, 1, 1, 1, 1, 10}, 2)
	for e, n := range r.ExpertLoad() {
		near(t, int(n), 40_000, p[e], "expert %d", e)
	}
}

func TestEmpiricalLoadsComeOutAsMeasured(t *testing.T) {
	r := must(t, Spec{Kind: "moe_topk", Tokens: 20_000, Experts: 256, TopK: 8, Skew: Skew{Kind: "empirical", Order: "sorted"}}, 8)
	data, err := measured(HotnessFile)
	require.NoError(t, err)
	table, err := parseQuantiles(HotnessFile, data)
	require.NoError(t, err)
	want := loads(table, 256)
	sum := 0.0
	for _, l := range want {
		sum += l
	}
	mean := float64(r.Stats().Pairs) / 256
	off := 0.0
	for e, n := range r.ExpertLoad() {
		load, wanted := float64(n)/mean, want[e]*256/sum
		off += math.Abs(load-wanted) / 256
		assert.InDelta(t, wanted, load, 0.05*wanted+0.02, "expert %d", e)
	}
	assert.Less(t, off, 0.03, "mean distance from the measured loads")
	assert.Greater(t, want[0], 12.0, "the table's heavy tail is there")
}

func TestASingleDrawFollowsTheMeasuredLoadsExactly(t *testing.T) {
	const tokens = 20_000
	table := []quantile{{0, 0}, {0.5, 1}, {1, 2}}
	want := loads(table, 4) // at 7/8, 5/8, 3/8, 1/8
	assert.Equal(t, []float64{1.75, 1.25, 0.75, 0.25}, want)
	s := newSampler((&Skew{Kind: "empirical", Order: "sorted"}).weights(0, 4, 1, table))
	r := drawn(0, 4, tokens, 1, s, homes(4, 4))
	for d, n := range ingress(r) {
		near(t, n, 4*tokens, want[d]/4, "destination %d", d)
	}
}

func TestInterpolationHitsTheTableAtItsPoints(t *testing.T) {
	table := []quantile{{0, 1}, {0.25, 3}, {1, 6}}
	for _, c := range [][2]float64{{0, 1}, {0.125, 2}, {0.25, 3}, {0.5, 4}, {1, 6}} {
		assert.Equal(t, c[1], valueAt(table, c[0]), "at %v", c[0])
	}
}

func TestABadQuantileTableSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "q.csv:1:1: no header line",
		"quantile,x\n0,1\n1,2\n": `q.csv:1:1: no column "hotness_over_mean"`,
		"quantile,hotness_over_mean\n0,1\n0.5\n1,2\n":    "q.csv:3:1: 1 fields for 2 columns",
		"quantile,hotness_over_mean\n0,1\n0.5,-2\n1,2\n": `q.csv:3:5: "-2" is not a number from 0`,
		"quantile,hotness_over_mean\n0,1\n0.5,3\n1,2\n":  "q.csv:4:1: quantiles must rise and their values not fall",
		"quantile,hotness_over_mean\n0,1\n0,1\n1,2\n":    "q.csv:3:1: quantiles must rise and their values not fall",
		"quantile,hotness_over_mean\n0,1\n0.9,2\n":       "q.csv:1:1: quantiles must run from 0 to 1, to a value above 0",
		"quantile,hotness_over_mean\n0,0\n1,0\n":         "q.csv:1:1: quantiles must run from 0 to 1, to a value above 0",
	} {
		_, err := parseQuantiles("q.csv", []byte(text))
		assert.ErrorContains(t, err, want, "%q", text)
	}
}

func TestQuantisedWeightsKeepTheirProportionsAndAreNeverZero(t *testing.T) {
	assert.Equal(t, []uint64{1 << 32, 1 << 31, 1, 1}, quantise([]float64{8, 4, 1e-30, 0}))
	assert.Equal(t, []uint64{1, 1}, quantise([]float64{0, 0}))
}
