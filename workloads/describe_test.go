package workloads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/hw"
	"pldperf/workloads"
)

// inputOf runs a workload and returns one of its inputs.
func inputOf(t *testing.T, key string, sets ...string) string {
	t.Helper()
	w, err := workloads.Load("all-to-all-p4", sets)
	require.NoError(t, err)
	out, err := w.Run(hw.Options{})
	require.NoError(t, err)
	for _, in := range out.Inputs {
		if in.Key == key {
			return in.Value
		}
	}
	return ""
}

func TestTheInputsNameTheRanksThatAreLateOrSlow(t *testing.T) {
	assert.Equal(t, "none", inputOf(t, "skew"))
	assert.Equal(t, "none", inputOf(t, "skew", "skew.slow=[100 %]"))
	assert.Equal(t, "late: rank 1 5 us; AIV time: rank 2 300 %", inputOf(t, "skew", "skew.offsets=[0 us, 5 us]", "skew.slow=[100 %, 100 %, 300 %]"))
	assert.Regexp(t, "rank 7 1 us, and 4 more$", inputOf(t, "skew", "ranks=12", "skew.offsets=[1 us,1 us,1 us,1 us,1 us,1 us,1 us,1 us,1 us,1 us,1 us,1 us]"))
}

func TestTheInputsSayWhatACallReadsAndNoMore(t *testing.T) {
	assert.Equal(t, "all_to_all hand, FP32, SIZE 64 (256 B)", inputOf(t, "call"))
	assert.Equal(t, "all_to_all hand, FP32, SIZE 64 (256 B), chunk_cols 16, MISTAKE on purpose: wrong_peer", inputOf(t, "call", "call.chunk_cols=16", "call.mistake=wrong_peer"))
	assert.Equal(t, "allreduce ring_hand, FP32, SIZE 64 (256 B), Max", inputOf(t, "call", "call.op=allreduce/ring_hand", "call.reduce=Max"))
}
