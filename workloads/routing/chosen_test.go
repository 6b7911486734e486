package routing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/workloads/routing"
)

func TestTheChosenExpertsAreThoseThatMadeTheRows(t *testing.T) {
	for _, spec := range []routing.Spec{
		{Kind: "moe_topk", Tokens: 50, Experts: 32, TopK: 4, Seed: 3},
		{Kind: "moe_topk", Tokens: 50, Experts: 30, TopK: 6, NGroup: 5, TopkGroup: 2, Seed: 4},
		{Kind: "moe_topk", Tokens: 50, Experts: 32, TopK: 4, Seed: 5, Skew: routing.Skew{Kind: "zipf", Exponent: 1}},
	} {
		const ranks = 4
		r, err := routing.New(spec, ranks, 64, nil)
		require.NoError(t, err)
		require.Equal(t, []int{spec.Experts, spec.TopK}, []int{r.Experts(), r.TopK()})
		load := make([]int64, spec.Experts)
		for s := range ranks {
			var rows [ranks][]int32
			chosen := r.Chosen(s)
			require.Len(t, chosen, spec.Tokens*spec.TopK)
			for i, e := range chosen {
				token, dst := int32(i/spec.TopK), int(e)*ranks/spec.Experts
				load[e]++
				if n := len(rows[dst]); n == 0 || rows[dst][n-1] != token {
					rows[dst] = append(rows[dst], token)
				}
			}
			for d := range rows {
				assert.Equal(t, r.Index(s, d), rows[d], "source %d destination %d", s, d)
			}
		}
		assert.Equal(t, r.ExpertLoad(), load)
	}
	plain, err := routing.New(routing.Spec{Kind: "uniform", Rows: 3}, 2, 64, nil)
	require.NoError(t, err)
	assert.Nil(t, plain.Chosen(0))
	assert.Zero(t, plain.Experts())
}
