package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/engine"
	"pldperf/hw/result"
)

func TestATGetOfOneStageWaitsForTheWayThereAndBackOfEach(t *testing.T) {
	for _, rate := range []string{"31 GB/s", "137 GB/s"} {
		spec := mesh(t, "aiv.remote.rate="+rate)
		wire := max(spec.AIV.Remote.Rate.Span(4096), spec.Fabric.Mesh.Port.Times(spec.Fabric.Mesh.Efficiency).Span(4096))
		stage := spec.AIV.Remote.Hop + wire + spec.Fabric.Mesh.Latency + spec.UB.Store.Span(4096) + spec.AIV.Clock.Span(spec.UB.StoreLatency)
		for _, stages := range []int{1, 64} {
			c := bench("mte_get", 2, stages*4096)
			c.ChunkCols = 4096
			near(t, engine.Duration(stages)*stage, core(ok(t, spec, compose(t, c))), 0.01, rate)
		}
	}
}

func TestManyAIVsToOnePeerShareTheRateOfThePair(t *testing.T) {
	spec := mesh(t)
	for _, aivs := range []int{8, 24, 64} {
		c := bench("mte_push", 2, 4<<20)
		c.CoreNum, c.ChunkCols = aivs, 16384
		near(t, spec.AIV.Remote.Rate.Span(4<<20), core(ok(t, spec, compose(t, c))), 0.05, "31 GB/s whatever their number")
	}
}

func TestWhatGoesToSeveralPeersAtOnceSharesASecondRateAndALonePairDoesNot(t *testing.T) {
	const n = 1 << 20
	push := func(ranks, aivs int, together string) engine.Duration {
		c := bench("mte_push", ranks, n)
		c.CoreNum, c.ChunkCols = aivs, 16384
		return core(ok(t, mesh(t, "aiv.remote.together="+together), compose(t, c)))
	}
	assert.Equal(t, push(2, 8, "unlimited"), push(2, 8, "10 GB/s"), "one peer")
	assert.Equal(t, push(3, 1, "unlimited"), push(3, 1, "10 GB/s"), "one AIV, one peer at a time")
	near(t, engine.Rate(10e9).Span(2*n), push(3, 8, "10 GB/s"), 0.05, "two peers")
	near(t, engine.Rate(10e9).Span(3*n), push(4, 9, "10 GB/s"), 0.05, "three peers")
}

func TestRowsOfATileLeaveNoFasterThanStoresAreIssued(t *testing.T) {
	for _, store := range []string{"46 ns", "100 ns"} {
		spec := mesh(t, "aiv.remote.store="+store)
		c := bench("mte_rows", 4, 512)
		c.Rows = 256
		res := ok(t, spec, compose(t, c))
		var got engine.Duration
		for i := range res.Blocks {
			if b := &res.Blocks[i]; b.Rank == 0 && b.Call == 0 {
				got = b.Time[result.MTE2] + b.Time[result.MTE3]
			}
		}
		// A quarter of the rows stays, and takes an instruction of MTE3 each.
		near(t, 192*spec.AIV.Remote.Store+64*spec.AIV.Clock.Span(spec.UB.Issue), got, 0.05, store)
		assert.EqualValues(t, 192, res.Totals[result.RemoteStores])
	}
}

func TestATileFromAPeerTakesTheHopTheWireAndTheRateOfThePair(t *testing.T) {
	spec := mesh(t)
	c := bench("mte_load", 4, 6336)
	res := ok(t, spec, compose(t, c))
	want := spec.AIV.Remote.Hop + spec.Fabric.Mesh.Latency + spec.AIV.Remote.Rate.Span(6336)
	assert.InDelta(t, float64(want), float64(res.Blocks[0].Time[result.RemoteWait]), 2000)
}

func TestPostsBoundSmallWritesAndThePortLargeOnes(t *testing.T) {
	spec := mesh(t)
	post := spec.URMA.Build.WQE + spec.URMA.Doorbell.Issue
	c := bench("rdma_write", 2, 64)
	c.WQEs = 500
	got := func() engine.Duration {
		res := ok(t, mesh(t, "urma.cqe.drain=0 us"), compose(t, c))
		assert.EqualValues(t, 1000, res.Totals[result.Puts], "both ranks write")
		return core(res)
	}
	near(t, 500*post, got(), 0.01, "one thread posts all of them")
	c.Software.Put, c.Software.Rate = 300*engine.Nanosecond, 1e9
	near(t, 500*(post+c.Software.Put+64*engine.Nanosecond), got(), 0.01, "its library, and payload in its memory")
	c.Software.Put, c.Software.Rate, c.Size = 0, 0, 1<<20
	near(t, spec.Fabric.Mesh.Port.Times(spec.Fabric.Mesh.Efficiency).Span(500<<20), got(), 0.01, "each direction has the port")
}
