package workloads

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
)

func TestEachStratumOfAParameterIsDrawnFromExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Band{Draws: rapid.IntRange(2, 300).Draw(t, "draws"), Seed: rapid.Uint64().Draw(t, "seed")}
		path := rapid.StringMatching(`[a-z]+(\.[a-z]+){0,3}`).Draw(t, "path")
		places := b.place(path)
		require.Equal(t, places, b.place(path), "the seed and the path alone decide")
		taken := make([]int, b.Draws)
		for _, at := range places {
			require.True(t, at >= 0 && at < 1)
			taken[int(at*float64(b.Draws))]++
		}
		require.Equal(t, slices.Repeat([]int{1}, b.Draws), taken)
	})
}

func TestAnotherSeedOrPathDrawsAnotherOrder(t *testing.T) {
	b := Band{Draws: 32, Seed: 1}
	assert.NotEqual(t, b.place("a"), b.place("b"))
	assert.NotEqual(t, b.place("a"), Band{Draws: 32, Seed: 2}.place("a"))
}

func TestADrawLiesWithinItsBandAndGrowsWithItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(0, 1<<40).Draw(t, "low")
		high := rapid.Int64Range(low, 1<<41).Draw(t, "high")
		at := rapid.Float64Range(0, 1).Draw(t, "at")
		v := between(low, high, at)
		require.True(t, low <= v && v <= high)
		require.GreaterOrEqual(t, between(low, high, math.Min(1, at+0.1)), v)
	})
	assert.EqualValues(t, 1000, between(100, 10_000, 0.5), "halfway in the logarithm is the geometric mean")
	assert.EqualValues(t, 5000, between(0, 10_000, 0.5), "a band from zero has no logarithm")
	assert.EqualValues(t, 100, between(100, 10_000, 0))
	assert.EqualValues(t, 10_000, between(100, 10_000, 1))
	assert.EqualValues(t, 7, between(7, 7, 0.3))
}

func TestAParameterHasTheSameDrawsAtAllPointsOfASweep(t *testing.T) {
	s, err := sweep(t, `{base: a5-uniform-small, axes: {ranks: [2, 8], machine: [950dt-64, 950pr-64, 950dt-64-clos], call.core_num: [1, 8]}}`)
	require.NoError(t, err)
	first, err := s.Points[0].Banded(Band{Draws: 8, Seed: 3})
	require.NoError(t, err)
	require.NotEmpty(t, first)
	for i := range s.Points {
		params, err := s.Points[i].Banded(Band{Draws: 8, Seed: 3})
		require.NoError(t, err)
		same := 0
		for _, p := range params {
			k := slices.IndexFunc(first, func(o Banded) bool { return o.Path == p.Path && o.Low == p.Low && o.High == p.High })
			if k >= 0 {
				same++
				assert.Equal(t, first[k].Draws, p.Draws, "%s at %s", p.Path, s.Name(&s.Points[i]))
			}
		}
		assert.Greater(t, same, 25, s.Name(&s.Points[i]))
	}
}

func TestOnlyParametersOfTheChosenModelsAreDrawn(t *testing.T) {
	paths := func(sets ...string) (out []string) {
		w, err := Load("a5-uniform-small", sets)
		require.NoError(t, err)
		params, err := w.Banded(Band{Draws: 2, Seed: 1})
		require.NoError(t, err)
		for _, p := range params {
			out = append(out, p.Path)
		}
		return out
	}
	assert.Contains(t, paths(), "fabric.mesh.latency")
	assert.NotContains(t, paths(), "fabric.clos.latency")
	assert.NotContains(t, paths(), "sdma.rate")
	assert.Contains(t, paths("call.transport=sdma", "call.what_if=true"), "sdma.rate")
	assert.NotContains(t, paths("machine.fabric.mesh.latency=0.3 us"), "fabric.mesh.latency", "what the user sets has no band")
	assert.Contains(t, paths("machine.aiv.fence={value: 1 ns, low: 0 ns, high: 2 ns}"), "aiv.fence", "unless the user gives one")
}

// settled are settings that leave no parameter of a workload a band.
func settled(t *testing.T, name string, as func(Banded) string) (sets []string) {
	w, err := Load(name, nil)
	require.NoError(t, err)
	params, err := w.Banded(Band{Draws: 2, Seed: 1})
	require.NoError(t, err)
	for _, p := range params {
		sets = append(sets, fmt.Sprintf("machine.%s=%s", p.Path, as(p)))
	}
	return sets
}

func TestADrawOfDegenerateBandsIsTheNominalRun(t *testing.T) {
	nominal, err := Load("a5-uniform-small", nil)
	require.NoError(t, err)
	w, err := Load("a5-uniform-small", settled(t, "a5-uniform-small", func(p Banded) string {
		return fmt.Sprintf("{value: %s, low: %s, high: %s}", p.Value, p.Value, p.Value)
	}))
	require.NoError(t, err)
	b := Band{Draws: 4, Seed: 1}
	params, err := w.Banded(b)
	require.NoError(t, err)
	assert.Empty(t, params)
	want, err := nominal.Run(hw.Options{})
	require.NoError(t, err)
	for k := range b.Draws {
		p, err := w.Point().Drawn(params, k)
		require.NoError(t, err)
		drawn, err := p.Workload()
		require.NoError(t, err)
		got, err := drawn.Run(hw.Options{})
		require.NoError(t, err)
		assert.Equal(t, want.Result.Digests, got.Result.Digests)
		assert.Equal(t, want.Result.Elapsed, got.Result.Elapsed)
	}
}

func TestADrawIsAPointOfItsOwnInTheCache(t *testing.T) {
	w, err := Load("a5-uniform-small", nil)
	require.NoError(t, err)
	params, err := w.Banded(Band{Draws: 4, Seed: 1})
	require.NoError(t, err)
	seen := map[string]bool{}
	_, nominal, err := w.Point().Open()
	require.NoError(t, err)
	seen[string(nominal)] = true
	for k := range 4 {
		p, err := w.Point().Drawn(params, k)
		require.NoError(t, err)
		_, key, err := p.Open()
		require.NoError(t, err)
		seen[string(key)] = true
	}
	assert.Len(t, seen, 5)
	_, again, err := w.Point().Open()
	require.NoError(t, err)
	assert.Equal(t, nominal, again, "drawing changes nothing of the workload")
}

func TestABandOverNoQuantityIsAnErrorWhereItStands(t *testing.T) {
	for _, set := range []string{"machine.fabric.mesh.egress_cap={value: 352 GB/s, low: 300 GB/s, high: unlimited}", "machine.memory.l2.stores={value: bypass, low: bypass, high: allocate}"} {
		w, err := Load("a5-uniform-small", []string{set})
		require.NoError(t, err)
		_, err = w.Banded(Band{Draws: 2, Seed: 1})
		require.ErrorContains(t, err, "is no band that can be drawn from")
		assert.ErrorContains(t, err, "--set machine.")
	}
}

func TestEveryBandOfAMachineHoldsItsValue(t *testing.T) {
	for _, name := range configs.Names(configs.Machines) {
		doc, err := Machine(name)
		require.NoError(t, err)
		bands := 0
		for _, p := range doc.Params() {
			if p.Low == "" {
				continue
			}
			bands++
			v, kind := engine.ReadQuantity(p.Value)
			low, lowKind := engine.ReadQuantity(p.Low)
			high, highKind := engine.ReadQuantity(p.High)
			require.True(t, kind != nil && kind == lowKind && kind == highKind, "%s: %s: one kind of quantity", name, p.Path)
			assert.True(t, low <= v && v <= high, "%s: %s: %s <= %s <= %s", name, p.Path, p.Low, p.Value, p.High)
			assert.Less(t, low, high, "%s: %s", name, p.Path)
		}
		assert.Greater(t, bands, 20, name)
	}
}

// errorBars are parameters for which the notes on the hardware give an error bar or a range.
var errorBars = []string{
	"aiv.clock", "aiv.launch.first", "aiv.launch.block", "aiv.launch.notice", "aiv.scalar.read", "aiv.scalar.write", "aiv.scalar.visible", "aiv.scalar.coalesce",
	"aiv.simt.entry", "aiv.signal.shared", "aiv.signal.single", "aiv.signal.read", "aiv.signal.tnotify", "aiv.signal.twait", "aiv.remote.hop", "aiv.remote.rate",
	"ub.issue", "ub.load", "ub.store", "ub.store_latency", "urma.build.sge", "urma.build.lanes", "urma.doorbell.issue", "urma.doorbell.latency", "urma.fetch.in_flight",
	"urma.engine.wqe", "urma.wqe_gap", "sdma.rate", "sdma.fixed", "memory.hbm.rate", "memory.hbm.latency", "memory.l2.rate", "memory.l2.latency",
	"fabric.mesh.egress_cap", "fabric.mesh.latency", "fabric.clos.latency",
}

func TestEveryParameterWithAnErrorBarIsABand(t *testing.T) {
	for _, name := range []string{"950dt-64", "950dt-72", "950dt-64-clos", "950pr-64", "950pr-56"} {
		doc, err := Machine(name)
		require.NoError(t, err)
		for _, path := range errorBars {
			params := doc.Params(path)
			require.Len(t, params, 1, path)
			assert.NotEmpty(t, params[0].Low, "%s: %s", name, path)
		}
	}
	for _, name := range []string{"910b", "910c"} { // whose rates of the Unified Buffer are single figures of a cost model
		doc, err := Machine(name)
		require.NoError(t, err)
		for _, path := range errorBars {
			if path != "ub.load" && path != "ub.store" && path != "fabric.mesh.egress_cap" {
				assert.NotEmpty(t, doc.Params(path)[0].Low, "%s: %s", name, path)
			}
		}
	}
}

func TestEveryMachineRunsAtTheEndsOfItsBands(t *testing.T) {
	for _, name := range configs.Names(configs.Machines) {
		doc, err := configs.Load("w.yaml", []byte("machine: "+name+"\nranks: 2\ncall: {op: all_to_all, size: 64}\n"))
		require.NoError(t, err)
		w, err := LoadDoc("w.yaml", doc, nil)
		require.NoError(t, err)
		params, err := w.Banded(Band{Draws: 4, Seed: 7})
		require.NoError(t, err)
		for i := range params {
			params[i].Draws = append(params[i].Draws, params[i].Low, params[i].High)
		}
		for k := range 6 {
			p, err := w.Point().Drawn(params, k)
			require.NoError(t, err)
			drawn, err := p.Workload()
			require.NoError(t, err, name)
			out, err := drawn.Run(hw.Options{})
			require.NoError(t, err, name)
			assert.Equal(t, "ok", string(out.Result.Status), name)
		}
	}
}
