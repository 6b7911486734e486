package routing

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPatternsReadTheInputAsDescribed(t *testing.T) {
	two := 2
	for _, c := range []struct {
		spec Spec
		want [][]int32 // the index rows of source 1 of 3
	}{
		{Spec{Kind: "uniform", Rows: 2}, [][]int32{{0, 1}, {2, 3}, {4, 5}}},
		{Spec{Kind: "uniform", Rows: 1, SelfRows: &two}, [][]int32{{0}, {1, 2}, {3}}},
		{Spec{Kind: "uniform", Rows: 2, Tokens: 5}, [][]int32{{0, 1}, {2, 3}, {4, 0}}},
		{Spec{Kind: "uniform", Rows: 3, Tokens: 2}, [][]int32{{0, 1, 0}, {1, 0, 1}, {0, 1, 0}}},
		{Spec{Kind: "uniform", Rows: 2, Pattern: "strided"}, [][]int32{{0, 2}, {4, 1}, {3, 5}}},
		{Spec{Kind: "uniform", Rows: 2, Pattern: "strided", Stride: 4}, [][]int32{{0, 4}, {1, 5}, {2, 3}}},
		{Spec{Kind: "uniform", Rows: 2, Pattern: "strided", Stride: 100}, [][]int32{{0, 1}, {2, 3}, {4, 5}}},
		{Spec{Kind: "uniform", Rows: 3, Pattern: "repeated"}, [][]int32{{0, 0, 1}, {2, 2, 3}, {4, 4, 5}}},
		{Spec{Kind: "uniform", Rows: 3, Pattern: "repeated", Repeat: 3}, [][]int32{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}},
		{Spec{Kind: "uniform", Rows: 3, Pattern: "repeated", Tokens: 1}, [][]int32{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
		{Spec{Kind: "uniform"}, [][]int32{{}, {}, {}}},
	} {
		_, index := contents(must(t, c.spec, 3))
		assert.Equal(t, c.want, index[1], "%+v", c.spec)
	}
}

func TestWithEnoughInputEveryRowOfAUniformSendIsAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks, rows := rapid.IntRange(1, 6).Draw(t, "ranks"), rapid.IntRange(0, 20).Draw(t, "rows")
		spec := Spec{Kind: "uniform", Rows: rows, Pattern: "strided", Stride: rapid.IntRange(1, 30).Draw(t, "stride")}
		_, index := contents(must(t, spec, ranks))
		all := slices.Concat(index[0]...)
		slices.Sort(all)
		require.Len(t, slices.Compact(all), ranks*rows)
	})
}

func TestRandomIndicesCoverTheInputEvenly(t *testing.T) {
	r := must(t, Spec{Kind: "uniform", Rows: 10_000, Tokens: 5, Pattern: "random"}, 2)
	seen := make([]int, 5)
	for d := range 2 {
		for _, i := range r.Index(0, d) {
			seen[i]++
		}
	}
	for i, n := range seen {
		near(t, n, 20_000, 0.2, "row %d", i)
	}
}

func TestRandomCountsCoverZeroToRowsEvenly(t *testing.T) {
	r := must(t, Spec{Kind: "random", Rows: 3}, 200)
	seen := make([]int, 4)
	for _, row := range r.Matrix() {
		for _, n := range row {
			seen[n]++
		}
	}
	for n, times := range seen {
		near(t, times, 200*200, 0.25, "count %d", n)
	}
}

func TestARegularPatternCostsNoMemoryForEachPair(t *testing.T) {
	r := must(t, Spec{Kind: "uniform", Rows: 1000}, 16)
	assert.Len(t, r.rows[0], 16*1000+1000, "one period and one row, shared by all sources")
	assert.Same(t, &r.rows[0][0], &r.rows[15][0])
}
