package workloads_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/workloads"
)

func perturb(t *testing.T, n int, opt hw.Options, name string, sets ...string) *workloads.Outcome {
	t.Helper()
	w, err := workloads.Load(name, sets)
	require.NoError(t, err)
	out, err := w.Perturb(n, opt)
	require.NoError(t, err)
	require.Len(t, out.Result.Perturbed.Runs, n)
	return out
}

func TestPerturbedRunsOfARightProgramLeaveTheSameData(t *testing.T) {
	for _, payload := range []string{"bytes", "provenance"} {
		out := perturb(t, 5, hw.Options{Payload: payload}, "all-to-all-p4")
		p := out.Result.Perturbed
		assert.True(t, p.OK(), p)
		assert.Contains(t, out.Result.Notes[0], "5 perturbed runs")
		assert.Contains(t, out.Result.Notes[0], "all are ok and leave the same data, digest "+p.Data)
		times := map[int64]bool{}
		for _, r := range p.Runs {
			times[int64(r.Elapsed)] = true
		}
		assert.Greater(t, len(times), 3, "skews differ")
		again := perturb(t, 5, hw.Options{Payload: payload}, "all-to-all-p4")
		assert.Equal(t, p, again.Result.Perturbed, "seeded")
	}
}

func TestPerturbedRunsShowThatDataDependsOnTiming(t *testing.T) {
	out := perturb(t, 4, hw.Options{Hazards: "off"}, "all-to-all-p4", "call.mistake=no_barrier")
	p := out.Result.Perturbed
	require.Equal(t, result.OK, out.Result.Status, "as it is, it is right by luck, and nobody looks for hazards")
	assert.False(t, p.OK())
	assert.Contains(t, p.String(), "leave other data")
	i := slices.IndexFunc(p.Runs, func(r result.PerturbedRun) bool { return !r.Same })
	assert.Contains(t, p.String(), fmt.Sprintf("the first is seed %d, wrong_data, digest %s instead of %s", i+1, p.Runs[i].Data, p.Data))
}

func TestARunThatIsNotOKIsReportedEvenWhenItsDataIsTheSame(t *testing.T) {
	p := result.Perturbed{Spread: 5, Data: "a", Runs: []result.PerturbedRun{
		{Seed: 1, Status: result.OK, Data: "a", Same: true}, {Seed: 2, Status: result.Hazardous, Data: "a", Same: true},
	}}
	assert.False(t, p.OK())
	assert.Contains(t, p.String(), "0 leave other data, 1 are not ok; the first is seed 2, hazard")
	p.Runs = p.Runs[:1]
	assert.True(t, p.OK())
}
