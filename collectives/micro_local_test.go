package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// loading is a benchmark of so many AIVs that load rows of so many half-precision
// elements in tiles.
func loading(aivs, rows, size, tileRows, tileCols int) *collectives.Call {
	c := bench("local_load", 2, size)
	c.DType, c.CoreNum, c.Rows, c.ChunkRows, c.ChunkCols = "FP16", aivs, rows, tileRows, tileCols
	return c
}

// near asserts that a time is another to within a share.
func near(t *testing.T, want, got engine.Duration, share float64, text string) {
	t.Helper()
	assert.InEpsilon(t, float64(want), float64(got), share, text)
}

func TestSmallTilesAreBoundByTheIssueOfInstructions(t *testing.T) {
	// 64 x 128 tiles of 128 B, an instruction each.
	spec := mesh(t)
	got := core(ok(t, spec, compose(t, loading(1, 64, 8192, 1, 64))))
	near(t, spec.AIV.Clock.Span(64*128*spec.UB.Issue), got, 0.01, "38 cycles an instruction")
	spec = mesh(t, "ub.issue=20 cycles")
	near(t, spec.AIV.Clock.Span(64*128*20), core(ok(t, spec, compose(t, loading(1, 64, 8192, 1, 64)))), 0.01, "20 cycles an instruction")
}

func TestLargeTilesOfOneAIVAreBoundByItsPipeAndOfAllByHBM(t *testing.T) {
	spec := mesh(t, "memory.hbm.rate=1.6 TB/s")
	const n = 256 * 8192 * 2
	near(t, spec.UB.Load.Span(n), core(ok(t, spec, compose(t, loading(1, 256, 8192, 4, 8192)))), 0.02, "one AIV")
	near(t, spec.Memory.HBM.Rate.Span(n), core(ok(t, spec, compose(t, loading(64, 256, 8192, 4, 8192)))), 0.12, "64 AIVs: the last one ends behind its last tile")
}

func TestARowOfARectangleTakesItsLeastTimeOrThatOfItsBytes(t *testing.T) {
	// A tile of 64 rows of 128 B: 0.817 ns for the bytes of a row, 1.35 cycles.
	for cycles, want := range map[string]engine.Duration{"1 cycles": 0, "2 cycles": 2, "20 cycles": 20} {
		spec := mesh(t, "ub.row="+cycles)
		got := core(ok(t, spec, compose(t, loading(1, 256, 8192, 64, 64))))
		bytes := spec.UB.Load.Span(256 * 8192 * 2)
		near(t, max(bytes, spec.AIV.Clock.Span(engine.Cycles(256*128*want))), got, 0.02, cycles)
	}
}

func TestPassesOverSlicesThatFitAreServedByTheL2(t *testing.T) {
	// 8 MiB four times with an L2 of 4 MiB: of slices of 2 MiB three passes hit.
	sets := []string{"memory.l2.capacity=4 MiB", "memory.hbm.rate=0.5 TB/s", "memory.l2.rate=1 TB/s"}
	spec := mesh(t, sets...)
	c := loading(16, 512, 8192, 2, 1024)
	c.Passes = 4
	const n = 512 * 8192 * 2
	near(t, 4*spec.Memory.HBM.Rate.Span(n), core(ok(t, spec, compose(t, c))), 0.02, "the whole of it")
	c.Slices = 4
	near(t, spec.Memory.HBM.Rate.Span(n)+3*spec.Memory.L2.Rate.Span(n), core(ok(t, spec, compose(t, c))), 0.2, "slices: AIVs that are ahead find the other level free")
	c.Slices = 1
	near(t, spec.Memory.HBM.Rate.Span(n)+3*spec.Memory.L2.Rate.Span(n), core(ok(t, mesh(t, append(sets, "memory.l2.capacity=8 MiB")...), compose(t, c))), 0.02, "an L2 that holds all")
}

// adding is the sum of two matrices of n tiles of 8 KiB for each AIV.
func adding(aivs, n int) *collectives.Call {
	c := bench("local_add", 2, 4096*n)
	c.DType, c.CoreNum, c.Rows, c.ChunkCols = "FP16", aivs, aivs, 4096
	return c
}

func TestOneTileInFlightPaysItsLatencyAndTwoOverlap(t *testing.T) {
	spec := mesh(t, "ub.load=100 GB/s", "ub.store=100 GB/s")
	clock := spec.AIV.Clock
	load, vector := spec.UB.Load.Span(8192), spec.AIV.Vector.Time(program.Sum, 8192, clock)
	c := adding(1, 50)
	serial := 2*load + clock.Span(spec.Memory.HBM.Latency) + vector
	near(t, 50*serial, core(ok(t, spec, compose(t, c))), 0.02, "loads, latency, work; stores are beside the next loads")
	c.Software.Put = 200 * engine.Nanosecond
	near(t, 50*(serial+c.Software.Put), core(ok(t, spec, compose(t, c))), 0.02, "and what the kernel does for a tile")
	c.Software.Put, c.Pipeline = 0, true
	near(t, 50*max(2*load, serial/2), core(ok(t, spec, compose(t, c))), 0.05, "two buffers: MTE2, or two tiles in the time of one that has no company")
}

func TestStoresShareHBMWithLoadsOrStayInTheL2(t *testing.T) {
	const n = 32 * 100 * 8192 // of a matrix, 25 MiB
	for stores, want := range map[string]engine.Bytes{"bypass": 3 * n, "allocate": 3 * n, "write_back": 2 * n} {
		spec := mesh(t, "memory.hbm.rate=0.2 TB/s", "memory.l2.stores="+stores)
		c := adding(32, 100)
		c.Pipeline = true
		near(t, spec.Memory.HBM.Rate.Span(want), core(ok(t, spec, compose(t, c))), 0.02, stores)
	}
	spec := mesh(t, "memory.hbm.rate=0.2 TB/s", "memory.l2.stores=write_back", "memory.l2.capacity=10 MiB")
	near(t, spec.Memory.HBM.Rate.Span(3*n-10<<20), core(ok(t, spec, compose(t, adding(32, 100)))), 0.03, "what does not fit leaves")
}

func storm(aivs, lanes, targets int, returns bool) *collectives.Call {
	c := bench("atomic_storm", 2, 0)
	c.CoreNum, c.Ops, c.Targets, c.Returns = aivs, lanes, targets, returns
	return c
}

func TestAtomicsOnOneSectorAreServedOneByOne(t *testing.T) {
	spec := mesh(t)
	s := &spec.AIV.Signal
	fixed := spec.AIV.SIMT.Entry + s.Local
	for _, x := range []struct {
		c    *collectives.Call
		want engine.Duration
		text string
	}{
		{storm(1, 1024, 1, false), 1024 * s.Single, "one AIV on one word"},
		{storm(8, 1024, 1, false), 8192 * s.Shared, "eight of them take turns"},
		{storm(1, 1024, 1024, false), 32 * s.Shared / 32, "32 words of a sector by a warp are one access, and sectors are served beside each other"},
		{storm(1, 64, 32, false), s.Shared + s.Single, "two warps on one sector are two accesses"},
		{storm(1, 32, 16, false), s.Shared + s.Single, "each word twice: two accesses"},
		{storm(4, 256, 1, true), 1024*s.Returned + s.Local, "with the old value, nothing is joined"},
		{storm(4, 256, 32, true), 1024*s.Returned + s.Local, "nor on words of one sector"},
		{storm(4, 256, 64, true), 512*s.Returned + s.Local, "two sectors are served beside each other"},
		{storm(4, 256, 128, true), 1024*s.Line + s.Local, "but four of a line by one bank"},
		{storm(4, 256, 256, true), 512*s.Line + s.Local, "two lines"},
	} {
		assert.InDelta(t, float64(fixed+x.want), float64(core(ok(t, spec, compose(t, x.c)))), float64(8*(s.Single-s.Shared)), x.text)
	}
	wide := storm(4, 256, 32, true)
	wide.TargetBytes = 8
	assert.Equal(t, core(ok(t, spec, compose(t, storm(4, 256, 64, true)))), core(ok(t, spec, compose(t, wide))), "words of 8 B take twice the sectors")
}

func TestABarrierOfAIVsIsThePathOfTheLastOneAndALookAtAllFlags(t *testing.T) {
	spec := mesh(t)
	clock := spec.AIV.Clock
	flags := func(n engine.Duration) engine.Duration {
		return max(clock.Span(spec.UB.Issue), spec.UB.Load.Span(32*engine.Bytes(n))) + clock.Span(spec.Memory.L2.Latency)
	}
	for _, n := range []int{1, 8, 56} {
		c := bench("core_barrier", 2, 0)
		c.CoreNum = n
		want := 2*spec.AIV.PipeBarrier + flags(1) + clock.Span(spec.UB.Issue+spec.UB.StoreLatency) + flags(engine.Duration(n)) + engine.Duration(n)*spec.AIV.Scalar.Flag
		assert.InDelta(t, float64(want), float64(core(ok(t, spec, compose(t, c)))), 1000, "%d AIVs", n)
	}
}

func TestNoAIVLeavesABarrierBeforeTheLastOneIsThere(t *testing.T) {
	spec := mesh(t)
	c := bench("core_barrier", 2, 0)
	c.CoreNum, c.Epochs = 8, 3
	job := compose(t, c)
	sync := job.Tasks[0].Program
	job.Tasks[0].Program = nil
	job.Tasks[0].Perblock = func(_, block int) *program.Program {
		late := &program.Program{Name: "late"}
		late.Add(program.Op{Kind: program.Spend, Value: program.Const(int64(engine.Duration(block) * engine.Microsecond))})
		late.Ops = append(late.Ops, sync.Ops...)
		return late
	}
	res := ok(t, spec, job)
	first, last := engine.Time(1<<62), engine.Time(0)
	for i := range res.Blocks {
		if b := &res.Blocks[i]; b.Rank == 0 {
			first, last = min(first, b.End), max(last, b.End)
			assert.Greater(t, b.End.Sub(b.Start)-b.Time[result.Launch], 7*engine.Microsecond, "block %d", b.Block)
		}
	}
	assert.Less(t, last.Sub(first), engine.Microsecond, "they leave within one look at the flags")
}

func TestALocalBenchmarkThatCannotBeIsRefused(t *testing.T) {
	for want, c := range map[string]*collectives.Call{
		"ops: 4096":       storm(1, 4096, 1, false),
		"targets: -1":     storm(1, 1, -1, false),
		"target_bytes: 6": {Op: "micro", Form: "atomic_storm", Ranks: 2, Ops: 1, Targets: 1, TargetBytes: 6},
		"rows: -1":        {Op: "micro", Form: "local_load", Ranks: 2, DType: "FP16", Size: 64, Rows: -1},
		"size: 0":         {Op: "micro", Form: "local_add", Ranks: 2, DType: "FP16"},
		"software":        {Op: "micro", Form: "local_add", Ranks: 2, DType: "FP16", Size: 64, Software: collectives.Software{First: 1}},
		"SIMT lanes":      {Op: "micro", Form: "atomic_storm", Ranks: 2, Ops: 1, Targets: 1, Platform: "a2a3"},
	} {
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		require.ErrorContains(t, err, want)
	}
}
