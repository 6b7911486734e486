package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/workloads"
)

// defaults are the flags of `pldperf cost` as they are when none is given.
func defaults(sets ...string) *costFlags {
	return &costFlags{sets: sets, machine: "950dt-64", dtype: "FP32", ranks: 8, size: 1024, coreNum: 8, hidden: 1024, row: 64,
		given: pflag.NewFlagSet("", pflag.ContinueOnError)}
}

func TestTheCostOfEveryAlgorithmIsWhatARunCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector it takes minutes, and it has no goroutines of its own")
	}
	for _, x := range collectives.All() {
		for _, ranks := range []string{"ranks=2", "ranks=4", "ranks=8"} {
			t.Run(x.Name()+" "+ranks, func(t *testing.T) {
				w, err := defaults(ranks).workload(x)
				require.NoError(t, err)
				costs, err := w.Costs()
				require.NoError(t, err)
				require.Len(t, costs, 1)
				out, err := w.Run(hw.Options{})
				require.NoError(t, err)
				require.Equal(t, result.OK, out.Result.Status, out.Result)
				counted(t, &costs[0], out.Result)
			})
		}
	}
}

// counted compares a formula card with a run.
func counted(t *testing.T, c *workloads.CallCost, r *result.Result) {
	known := 0
	for rank := range r.Ranks {
		got := &r.Ranks[rank].Counters
		for k := range result.NumCounters {
			if n := c.Ranks[rank][k]; n != collectives.Unknown {
				known++
				assert.Equal(t, n, got[k], "rank %d: %v", rank, k)
			}
		}
		assert.Equal(t, c.Polls[rank], got[result.PollsSatisfied], "rank %d: waits of the program", rank)
	}
	assert.Greater(t, known, 5*len(r.Ranks))
}

func TestTheCostOfAChainIsThatOfItsCalls(t *testing.T) {
	w, err := workloads.Load("a5-dispatch-expert-combine", nil)
	require.NoError(t, err)
	costs, err := w.Costs()
	require.NoError(t, err)
	out, err := w.Run(hw.Options{})
	require.NoError(t, err)
	require.Len(t, costs, 2)
	for rank := range out.Result.Ranks {
		assert.Equal(t, out.Result.Ranks[rank].Counters[result.BytesSent], costs[0].Ranks[rank][result.BytesSent]+costs[1].Ranks[rank][result.BytesSent])
	}
}
