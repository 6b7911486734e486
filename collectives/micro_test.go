package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/result"
)

func bench(form string, ranks, size int) *collectives.Call {
	return &collectives.Call{Op: "micro", Form: form, Ranks: ranks, DType: "INT8", Size: size}
}

// core is the time of the slowest block without its launch.
func core(res *result.Result) (d engine.Duration) {
	for i := range res.Blocks {
		b := &res.Blocks[i]
		d = max(d, b.End.Sub(b.Start)-b.Time[result.Launch])
	}
	return d
}

// way is what a WRITE of n bytes takes from its doorbell to its CQE: doorbell, fetch,
// engine, gather, wire, the last bytes' store, acknowledgement, CQE.
func way(spec *hw.Spec, n int) engine.Duration {
	u, port := &spec.URMA, spec.Fabric.Mesh.Port.Times(spec.Fabric.Mesh.Efficiency)
	stored := spec.Memory.HBM.Rate.Span(engine.Bytes(n)) * engine.Duration(min(n, 16<<10)) / engine.Duration(n)
	return u.Doorbell.Latency + u.Fetch.Latency + u.Engine.WQE + u.Gather + port.Span(engine.Bytes(n)) +
		2*spec.Fabric.Mesh.Latency + stored + u.CQE.Visible
}

func TestAPutThroughAnAPITakesTheSumOfItsSteps(t *testing.T) {
	spec := mesh(t)
	for _, n := range []int{64, 16 << 10, 1 << 20, 64 << 20} {
		c := bench("hcomm_put", 2, n)
		c.Software = collectives.Software{First: 5 * engine.Microsecond, Put: 7 * engine.Microsecond}
		res := ok(t, spec, compose(t, c))
		want := 12*engine.Microsecond + spec.URMA.Build.WQE + spec.URMA.Doorbell.Issue + way(&spec, n) + spec.URMA.CQE.Drain
		assert.InDelta(t, float64(want), float64(core(res)), 400, "%d B: the fabric may round each quantum up", n)
	}
}

func TestPutsAreIssuedOneAfterAnotherAndMoveMeanwhile(t *testing.T) {
	spec := mesh(t)
	c := bench("hcomm_all_to_all", 8, 64) // nothing to speak of on the wire
	c.Software = collectives.Software{First: 5 * engine.Microsecond, Put: 7 * engine.Microsecond}
	one := spec.URMA.Build.WQE + spec.URMA.Doorbell.Issue + c.Software.Put
	// The first six CQEs are drained while the last WQE is on its way: one drain a queue.
	want := c.Software.First + 7*one + max(6*spec.URMA.CQE.Drain, way(&spec, 64)) + spec.URMA.CQE.Drain
	assert.InDelta(t, float64(want), float64(core(ok(t, spec, compose(t, c)))), 400)
}

func TestDoorbellsOfWQEsDecideWhetherTransferOverlapsIssue(t *testing.T) {
	spec := mesh(t)
	c := bench("wqe_issue", 2, 1024)
	c.WQEs = 100
	build, bell, drain := spec.URMA.Build.WQE, spec.URMA.Doorbell.Issue, spec.URMA.CQE.Drain
	immediate := core(ok(t, spec, compose(t, c)))
	// A hundred CQEs are drained one after another; the first waits for nothing by then.
	assert.InDelta(t, float64(100*(build+bell)+100*drain), float64(immediate), 400)

	c.Commit = "last"
	res := ok(t, spec, compose(t, c))
	assert.InDelta(t, float64(100*build+bell+way(&spec, 1024)+100*drain), float64(core(res)), 400, "the drain is slower than the queue")
	assert.Equal(t, int64(1), res.Totals[result.Doorbells])
	assert.Equal(t, int64(100), res.Totals[result.CQEs])
}

func TestAWindowLetsWhatFitsGoAtOnceAndAlwaysOne(t *testing.T) {
	const n, size = 10, 64 << 10
	last := func(window string) engine.Duration {
		spec := mesh(t, "urma.window="+window, "urma.cqe.drain=0 us")
		c := bench("wqe_issue", 2, size)
		c.WQEs, c.Commit = n, "last"
		return core(ok(t, spec, compose(t, c)))
	}
	spec := mesh(t)
	gap := 2*spec.Fabric.Mesh.Latency + spec.URMA.CQE.Visible // wire, acknowledgement, CQE: then the next may go
	free := last("0 B")
	assert.InDelta(t, float64(free+(n-1)*gap), float64(last("64 KiB")), float64(n*5*engine.Nanosecond), "one at a time")
	assert.Equal(t, last("64 KiB"), last("1 KiB"), "one goes even if it is larger than the window")
	assert.Equal(t, last("64 KiB"), last("127 KiB"), "a second one does not fit")
	assert.Equal(t, free, last("256 KiB"), "four of them cover the way there and back")
}

func TestALaunchTakesTheGridAndNothingElse(t *testing.T) {
	spec := mesh(t)
	for _, grid := range []int{1, 64, 1024} {
		c := bench("launch", 2, 0)
		c.Grid = grid
		res := ok(t, spec, compose(t, c))
		assert.Equal(t, spec.AIV.LaunchTime(grid), res.Elapsed)
	}
}

func TestABenchmarkOfAMatrixSendsItsBytes(t *testing.T) {
	spec := mesh(t)
	c := bench("hcomm_matrix", 3, 0)
	c.Hidden = 1000
	c.Traffic = []collectives.Traffic{rows(3, 40, 40, func(s, d int) int { return [][]int{{9, 3, 0}, {0, 9, 5}, {2, 2, 9}}[s][d] })}
	res := ok(t, spec, compose(t, c))
	for r, want := range []int64{3000, 5000, 4000} {
		assert.Equal(t, want, res.Ranks[r].Counters[result.BytesSent], "what stays is no put")
	}
	assert.Equal(t, int64(4), res.Totals[result.Puts], "nothing to send is no put")
}

func TestABenchmarkThatCannotBeIsRefused(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"size: 0":                     func(c *collectives.Call) { c.Size = 0 },
		"size: a put of 512 MiB":      func(c *collectives.Call) { c.Size = 512 << 20 },
		"wqe_sges: 20":                func(c *collectives.Call) { c.SGEs, c.WQESGEs = 12, 20 },
		"wqes: 100 WQEs of 2 WQEBBs ": func(c *collectives.Call) { c.Depth, c.WQEs, c.WQESGEs = 128, 100, 2 },
		"platform":                    func(c *collectives.Call) { c.Platform = "a2a3" },
	} {
		c := bench("wqe_issue", 2, 1024)
		change(c)
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		require.ErrorContains(t, err, want)
	}
}

func TestABoundOfABenchmarkNamesTheSoftwareThatItCounts(t *testing.T) {
	spec := mesh(t)
	limits, err := spec.Limits(8)
	require.NoError(t, err)
	bound := func(c *collectives.Call, name string) collectives.Bound {
		a, err := collectives.Lookup("micro", c.Form)
		require.NoError(t, err)
		for _, b := range a.Bounds(c, &limits, 0) {
			if b.Name == name {
				return b
			}
		}
		t.Fatalf("%s has no bound %s", c.Form, name)
		return collectives.Bound{}
	}
	c := bench("hcomm_all_to_all", 8, 1<<20)
	assert.Equal(t, "launch and bytes of the busiest sender at its fabric rate", bound(c, "egress").Text)
	without := bound(c, "egress").Time
	c.Software = collectives.Software{First: 5 * engine.Microsecond, Put: 7 * engine.Microsecond}
	assert.Equal(t, "launch, the software's part of the first put and bytes of the busiest sender at its fabric rate", bound(c, "egress").Text)
	assert.Equal(t, without+12*engine.Microsecond, bound(c, "egress").Time)
	assert.Contains(t, bound(c, "latency").Text, "of 7 puts and")
	assert.Contains(t, bound(bench("hcomm_put", 8, 64), "latency").Text, "of 1 put and")
	assert.NotContains(t, bound(bench("mte_push", 8, 64), "pair").Text, "software", "which it does not read")
}

// Seven ranks send to one: nothing but what that one takes in bounds them.
func TestWhatOneRankTakesInBoundsABenchmark(t *testing.T) {
	spec := mesh(t)
	limits, err := spec.Limits(8)
	require.NoError(t, err)
	c := bench("hcomm_matrix", 8, 0)
	c.Hidden = 1 << 20
	c.Traffic = []collectives.Traffic{rows(8, 70, 70, func(s, d int) int {
		if d == 0 && s != 0 {
			return 10
		}
		return 0
	})}
	a, err := collectives.Lookup("micro", c.Form)
	require.NoError(t, err)
	var ingress, most engine.Duration
	for _, b := range a.Bounds(c, &limits, 0) {
		if most = max(most, b.Time); b.Name == "ingress" {
			ingress = b.Time
		}
	}
	assert.Equal(t, spec.AIV.LaunchTime(1)+limits.Ingress(0).Span(70<<20), ingress)
	assert.Equal(t, most, ingress)
	assert.GreaterOrEqual(t, ok(t, spec, compose(t, c)).Elapsed, ingress)
}

// What each rank gives and takes is found without listing what all others do: with P ranks
// that would be P times P times P steps.
func TestWhatABenchmarkGivesIsWhatItTakes(t *testing.T) {
	for _, form := range []string{"hcomm_put", "hcomm_ring", "hcomm_all_to_all", "wqe_issue", "rdma_write"} {
		c := bench(form, 5, 1000)
		c.WQEs = 3
		a, err := collectives.Lookup("micro", form)
		require.NoError(t, err)
		var sent, got int64
		for r := range 5 {
			f := a.Formula(c, r, 0)
			sent, got = sent+f[result.BytesSent], got+f[result.BytesReceived]
		}
		assert.Positive(t, sent, form)
		assert.Equal(t, sent, got, form)
	}
	c := bench("hcomm_all_to_all", 4096, 1)
	a, err := collectives.Lookup("micro", c.Form)
	require.NoError(t, err)
	assert.LessOrEqual(t, testing.AllocsPerRun(1, func() { a.Formula(c, 7, 0) }), 4.0, "nor does it take memory for each peer")
}
