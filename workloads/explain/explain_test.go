package explain

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/workloads"
)

func explained(t *testing.T, o Options, name string, sets ...string) *Explanation {
	t.Helper()
	file, doc, err := configs.Open(name)
	require.NoError(t, err)
	x, err := Explain(context.Background(), file, doc, sets, o)
	require.NoError(t, err)
	return x
}

// again runs a workload as a user would with the settings that an explanation names.
func again(t *testing.T, name string, sets ...string) engine.Duration {
	t.Helper()
	w, err := workloads.Load(name, sets)
	require.NoError(t, err)
	out, err := w.Run(hw.Options{})
	require.NoError(t, err)
	return out.Result.Elapsed
}

func TestEachIdealPartIsARunThatAUserCanRepeat(t *testing.T) {
	x := explained(t, Options{Quick: true}, "a5-uniform-small")
	base := again(t, "a5-uniform-small")
	require.Equal(t, base, x.Base.Result.Elapsed)
	for _, v := range x.Twins {
		require.Empty(t, v.Problem, v.Name)
		assert.Equal(t, again(t, "a5-uniform-small", v.Sets...), v.Elapsed, v.Name)
		assert.Equal(t, base-v.Elapsed, v.Saves, v.Name)
	}
	assert.True(t, slices.IsSortedFunc(x.Twins, func(a, b Twin) int { return int(b.Saves - a.Saves) }), "the largest first")
	for _, p := range x.Pairs {
		assert.Equal(t, p.Saves-x.twin(p.A).Saves-x.twin(p.B).Saves, p.Beyond, "%s and %s", p.A, p.B)
	}
	assert.NotEmpty(t, x.Pairs)
	assert.Empty(t, x.Moves)
}

// A kernel of one block spends its launch and nothing else: an ideal launch saves all of it, and the time follows it by one
// per cent for each per cent.
func TestALaunchIsAllOfALaunch(t *testing.T) {
	x := explained(t, Options{}, "testdata/launch.yaml")
	assert.Equal(t, x.Base.Result.Elapsed, x.twin("launch").Saves)
	for _, m := range x.Moves {
		want := 0.0
		if m.Path == "aiv.launch.first" {
			want = 1
		}
		assert.InDelta(t, want, m.Elasticity, 1e-6, m.Path)
	}
}

// An exchange that fills a rank's cap goes by the rate of the cap, at nearly minus one per cent for each per cent.
func TestAnExchangeThatFillsTheLinksFollowsTheirRate(t *testing.T) {
	x := explained(t, Options{}, "a5-uniform-large")
	at := func(path string) float64 {
		i := slices.IndexFunc(x.Moves, func(m Move) bool { return m.Path == path })
		require.GreaterOrEqual(t, i, 0, path)
		return x.Moves[i].Elasticity
	}
	egress, ingress := at("fabric.mesh.egress_cap"), at("fabric.mesh.ingress_cap")
	assert.InDelta(t, -1, egress+ingress, 0.35, "either cap limits, each a part of the way")
	assert.Greater(t, share(x.twin("fabric").Saves, x.Base.Result.Elapsed), 0.6)
	assert.NotEmpty(t, x.Blocks)
	assert.Equal(t, 1, x.Blocks[0].CoreNum)
}

func TestSkewCostsWhatItCosts(t *testing.T) {
	const offset = "3 us"
	x := explained(t, Options{Quick: true}, "a5-uniform-small", "skew.offsets=[0 us, "+offset+"]")
	saved := x.twin("skew").Saves
	assert.Equal(t, again(t, "a5-uniform-small"), x.twin("skew").Elapsed)
	assert.Greater(t, saved, engine.Duration(0))
	assert.False(t, slices.ContainsFunc(explained(t, Options{Quick: true}, "a5-uniform-small").Twins, func(v Twin) bool { return v.Name == "skew" }), "where there is none, it has no line")
}

func TestWhatIsWrongHasNoTimeToExplain(t *testing.T) {
	x := explained(t, Options{}, "f05-no-barrier")
	assert.Empty(t, x.Twins)
	assert.NotEqual(t, "ok", string(x.Base.Result.Status))
}

func TestProgressCountsEachRunOnce(t *testing.T) {
	seen := make(chan [2]int, 1000)
	explained(t, Options{Quick: true, Workers: 1, Progress: func(done, total int) { seen <- [2]int{done, total} }}, "a5-uniform-small")
	close(seen)
	n := 0
	for s := range seen {
		n++
		assert.Equal(t, n, s[0])
		assert.LessOrEqual(t, s[0], s[1])
	}
	assert.Positive(t, n)
}

func TestAroundStaysWithinWhatAQuantityCanBe(t *testing.T) {
	for value, want := range map[string][2]string{
		"100 ns": {"95 ns", "105 ns"}, "38 cycles": {"36 cycles", "40 cycles"}, "2 cycles": {"1 cycle", "3 cycles"},
	} {
		below, above, ok := around(value, step)
		require.True(t, ok, value)
		assert.Equal(t, want, [2]string{below, above}, value)
	}
	for _, value := range []string{"0 ns", "1 cycles", "1 ps", "8", "64 KiB", "unlimited", "mesh"} {
		_, _, ok := around(value, step)
		assert.False(t, ok, value)
	}
}

// A hazard is a fault of the program, which an explanation of its time must not hide.
func TestWhatIsRightByLuckIsSaidToBe(t *testing.T) {
	x := explained(t, Options{}, "f05-right-by-luck")
	assert.Equal(t, result.Hazardous, x.Base.Result.Status)
	assert.NotEmpty(t, x.Base.Result.Hazards)
	assert.Empty(t, x.Twins)
}

// SQEs of 31 lanes take one pass more than those of 32: the time makes a step below 100 % and does not follow the
// parameter any further, so that half the change gives twice the elasticity.
func TestAStepIsNoSlope(t *testing.T) {
	x := explained(t, Options{}, "a5-moe-dispatch", "routing.tokens=2048")
	at := func(path string) *Move {
		i := slices.IndexFunc(x.Moves, func(m Move) bool { return m.Path == path })
		require.GreaterOrEqual(t, i, 0, path)
		return &x.Moves[i]
	}
	for _, m := range x.Moves {
		assert.Equal(t, m.Problem == "" && abs(m.Elasticity) >= weighs, m.Half != nil, "%s: only what weighs is run again", m.Path)
		if m.Half != nil {
			assert.Equal(t, abs(*m.Half-m.Elasticity) > steady*max(abs(*m.Half), abs(m.Elasticity)), m.Unsteady, m.Path)
		}
	}
	step := at("urma.build.efficiency")
	require.NotNil(t, step.Half)
	assert.InDelta(t, 2, *step.Half/step.Elasticity, 0.1)
	assert.True(t, step.Unsteady)
	assert.False(t, at("fabric.mesh.egress_cap").Unsteady)
}
