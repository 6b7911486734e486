package hw_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

const (
	ns = engine.Nanosecond
	us = engine.Microsecond
)

func run(t testing.TB, spec hw.Spec, job *program.Job) *result.Result {
	t.Helper()
	res, err := hw.Run(spec, job, hw.Options{})
	require.NoError(t, err)
	return res
}

func ok(t testing.TB, spec hw.Spec, job *program.Job) *result.Result {
	t.Helper()
	res := run(t, spec, job)
	require.Equal(t, result.OK, res.Status, "%v %+v %+v", res.Hazards, res.Abort, res.Stuck)
	return res
}

// bare is a job of one task with a program written by hand, and a signal of one column
// and one row a rank.
func bare(ranks, blocks int, text func(rank int) []program.Op) *program.Job {
	return &program.Job{
		Ranks:   ranks,
		Buffers: []program.Buffer{{Name: "signal", Window: true, Words: true, Signal: true, Size: engine.Bytes(4 * ranks * blocks)}},
		Tasks: []program.Task{{Name: "bare", Blocks: blocks, Timed: true, Perblock: func(rank, _ int) *program.Program {
			return &program.Program{Ops: text(rank)}
		}}},
	}
}

func TestALaunchIsTheFirstBlockAndARampOfTheOthers(t *testing.T) {
	for _, blocks := range []int{1, 2, 16, 64} {
		res := ok(t, hwtest.Machine(t, "950dt-64"), bare(2, blocks, func(int) []program.Op { return nil }))
		want := 1220*ns + engine.Duration(blocks-1)*14800*engine.Picosecond
		assert.Equal(t, want, res.Elapsed)
		for i := range res.Blocks {
			assert.Equal(t, want, res.Blocks[i].Time[result.Launch], "all blocks start together")
		}
	}
}

// notify and wait are the SIMT ops on column 0 of the bare signal.
func notify(simt bool) program.Op {
	return program.Op{Kind: program.NotifyPeers, Stride: 1, Value: program.Const(1), SIMT: simt}
}

func wait(simt bool) program.Op {
	return program.Op{Kind: program.WaitPeers, Stride: 1, Value: program.Const(1), SIMT: simt}
}

// oneWay is a job in which rank 0 notifies rank 1, which waits.
func oneWay(simt bool) *program.Job {
	return bare(2, 1, func(rank int) []program.Op {
		if rank == 0 {
			return []program.Op{notify(simt)}
		}
		return []program.Op{wait(simt)}
	})
}

func TestALoneNotifyIsSeenAfterItsIssueHopWireAndService(t *testing.T) {
	const launch = 1220 * ns
	arrives := launch + (180+43)*ns + 390*ns + 350*ns // SIMT entry, issue, hop, wire
	visible := arrives + 43*ns
	res := ok(t, hwtest.Machine(t, "950dt-64", "aiv.poll.kind=ideal"), oneWay(true))
	assert.Equal(t, visible, res.Elapsed)
	b := res.Blocks[1]
	assert.Equal(t, launch, b.Time[result.Launch])
	assert.Equal(t, 180*ns, b.Time[result.SignalIssue], "entering the SIMT region")
	assert.Equal(t, visible-launch-180*ns, b.Time[result.SignalWait])
	assert.Zero(t, b.Time[result.PollOvershoot])
	assert.Equal(t, engine.Time(visible), res.Calls[0].Ranks[1].BarrierExit)
	assert.Zero(t, res.Calls[0].Ranks[0].BarrierExit, "rank 0 waits for nobody")
	assert.Equal(t, (180+43)*ns, res.Blocks[0].SIMT)
	assert.Equal(t, 180*ns, b.SIMT)

	// Polls begin 0, 0.29, 0.68 and 1.27 us after entry; the credit is there after 0.826.
	res = ok(t, hwtest.Machine(t, "950dt-64"), oneWay(true))
	b = res.Blocks[1]
	assert.Equal(t, launch+(180+1270+190)*ns, res.Elapsed)
	assert.Equal(t, visible-launch-180*ns, b.Time[result.SignalWait])
	assert.Equal(t, res.Elapsed-visible, b.Time[result.PollOvershoot])
	assert.Equal(t, []int64{1, 4}, []int64{res.Totals[result.PollsSatisfied], res.Totals[result.PollsAttempted]})

	// Scalar: issue 26 ns; TWAITs of 250 ns follow one another from the launch on.
	res = ok(t, hwtest.Machine(t, "950dt-64"), oneWay(false))
	assert.Equal(t, launch+5*250*ns, res.Elapsed, "26+390+350+43 ns are over in the fourth TWAIT, which sampled before")
	assert.Equal(t, int64(5), res.Totals[result.PollsAttempted])
}

func TestAWaitPassesOnAPicosecondAndNotBefore(t *testing.T) {
	// With a hop of 0.834 us the credit is there exactly when the poll at 1.27 us begins.
	for _, x := range []struct {
		hop  string
		seen engine.Duration
	}{{"833999 ps", 1270 * ns}, {"834000 ps", 1270 * ns}, {"834001 ps", 2260 * ns}} {
		res := ok(t, hwtest.Machine(t, "950dt-64", "aiv.remote.hop="+x.hop), oneWay(true))
		assert.Equal(t, (1220+180)*ns+x.seen+190*ns, res.Elapsed, x.hop)
	}
}

func TestASlowRankPollsMoreSlowly(t *testing.T) {
	job := oneWay(true)
	job.Slow, job.Offsets = []engine.Fraction{engine.One, 2 * engine.One}, []engine.Duration{2 * us, 0}
	// The credit is there at 2 + 1.22 + 0.18 + 0.043 + 0.39 + 0.35 + 0.043 = 4.226 us. Rank 1's polls begin
	// 2*(1.22+0.18) = 2.8 us after the start, then 2*(0.19+0.1), 2*(0.19+0.2) and 2*(0.19+0.4) us later.
	res := ok(t, hwtest.Machine(t, "950dt-64"), job)
	assert.Equal(t, engine.Time(2800*ns+2*(290+390+590)*ns+2*190*ns), res.Calls[0].Ranks[1].End)
}

func TestASectorServesOneAtomicAtATime(t *testing.T) {
	free := []string{"fabric.kind=ideal", "aiv.poll.kind=ideal"}
	// Ranks 1 to 3 notify rank 0 first, so three atomics of three AIVs arrive at once.
	incast := func(sets ...string) engine.Duration {
		res := ok(t, hwtest.Machine(t, "950dt-64", append(sets, free...)...), bare(4, 1, func(rank int) []program.Op {
			if rank == 0 {
				return []program.Op{wait(true)}
			}
			return []program.Op{notify(true)}
		}))
		return res.Calls[0].Ranks[0].End.Sub(0) - (1220+180+43+390)*ns
	}
	assert.Equal(t, 3*43*ns, incast(), "a shared sector")
	assert.Equal(t, 43*ns, incast("aiv.signal.sector=4 B"), "a sector each")
	assert.Equal(t, 3*(43+43)*ns, incast("aiv.signal.poll_occupies=yes"), "each behind a poll")

	// One AIV adds to its own three cells: the sector takes 80 ns for each after the first.
	res := ok(t, hwtest.Machine(t, "950dt-64", free...), bare(4, 1, func(int) []program.Op {
		return []program.Op{{Kind: program.AddPeers, Stride: 1, SIMT: true}}
	}))
	assert.Equal(t, (1220+180+43+150+43+80+80)*ns, res.Elapsed)
}

func TestAllToAllOnAnIdealFabricIsTheSumOfItsSerialParts(t *testing.T) {
	spec := hwtest.Machine(t, "950dt-64", append([]string{"aiv.poll.kind=ideal"}, hwtest.Ideal...)...)
	cycles := spec.AIV.Clock.Span
	for _, p := range []int{2, 5, 8} {
		for _, size := range []int{1, 64, 20000} {
			n := engine.Bytes(4 * size)
			peers := engine.Duration(p - 1)
			load, store := max(cycles(38), spec.UB.Load.Span(n)), max(cycles(38), spec.UB.Store.Span(n))
			local := load + store + cycles(130)
			remote := load + spec.AIV.Remote.Rate.Span(n) + 390*ns
			// The last rank gets its P-1 credits at once, when all have notified all before it.
			barrier := peers*26*ns + 390*ns + peers*43*ns
			push := 1220*ns + peers*remote + local + barrier

			c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: p, DType: "FP32", Size: size, Options: collectives.Options{NoReadBack: true}}
			assert.Equal(t, push, one(t, spec, c).Elapsed, "P=%d SIZE=%d", p, size)
			c.Options.NoReadBack = false
			assert.Equal(t, push+engine.Duration(p)*local, one(t, spec, c).Elapsed, "P=%d SIZE=%d with read-back", p, size)
		}
	}
}

func TestEachStageOfAPutDrains(t *testing.T) {
	spec := hwtest.Machine(t, "950dt-64", append([]string{"aiv.poll.kind=ideal"}, hwtest.Ideal...)...)
	c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 2, DType: "FP32", Size: 1000, Options: collectives.Options{NoReadBack: true}}
	c.ChunkCols = 250
	issue := spec.AIV.Clock.Span(38) // more than 1,000 B take at the rate of either pipe
	remote := 4 * (issue + spec.AIV.Remote.Rate.Span(1000) + 390*ns)
	local := 4 * (2*issue + spec.AIV.Clock.Span(130))
	res := one(t, spec, c)
	assert.Equal(t, int64(8), res.Ranks[0].Counters[result.PutStages])
	assert.Equal(t, 1220*ns+remote+local+(26+390+43)*ns, res.Elapsed)
}

// one runs a call that must be right.
func one(t testing.TB, spec hw.Spec, c *collectives.Call) *result.Result {
	t.Helper()
	job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
	require.NoError(t, err)
	return ok(t, spec, job)
}

// rows is the traffic of counts[source][destination] rows, taken in order.
type rows [][]int

func (x rows) Ranks() int             { return len(x) }
func (x rows) Tokens() int            { return x.Capacity() }
func (x rows) Count(src, dst int) int { return x[src][dst] }

func (x rows) Capacity() (n int) {
	for _, row := range x {
		for _, k := range row {
			n = max(n, k)
		}
	}
	return n
}

func (x rows) Index(src, dst int) []int32 {
	out := make([]int32, x[src][dst])
	for j := range out {
		out[j] = int32(j)
	}
	return out
}

func TestDrainingAfterTheCQEHidesTheCQEBehindTheLastStores(t *testing.T) {
	spec := hwtest.Machine(t, "950dt-64", "ub.store=1 GB/s") // stores that outlast the send by far
	c := &collectives.Call{
		Op: "indexed_all_to_all_v", Form: "l2", Ranks: 2, CoreNum: 1, DType: "INT8", Hidden: 8192,
		Traffic: []collectives.Traffic{rows{{8, 1}, {1, 8}}}, Options: collectives.Options{Drain: "before_cqe"},
	}
	before := one(t, spec, c)
	c.Options.Drain = "after_cqe"
	after := one(t, spec, c)
	assert.Equal(t, 430*ns, before.Elapsed-after.Elapsed, "the drain of the one CQE")
	assert.Equal(t, before.Totals, after.Totals)
	assert.Positive(t, after.Blocks[0].Time[result.MTE3])
}

func TestTheStageRingsTimeIsLoadsThenWaitsForStagesThenTheDrain(t *testing.T) {
	spec := hwtest.Machine(t, "950dt-64", "ub.store=1 GB/s", "memory.kind=ideal")
	c := &collectives.Call{
		Op: "indexed_all_to_all_v", Form: "l2", Ranks: 2, CoreNum: 1, DType: "INT8", Hidden: 8192, Traffic: []collectives.Traffic{rows{{10, 0}, {0, 0}}},
	}
	b := one(t, spec, c).Blocks[0]
	load, store, visible := spec.UB.Load.Span(8192), 8192*ns, spec.AIV.Clock.Span(130)
	assert.Equal(t, int64(10), b.Pieces)
	assert.Equal(t, int64(2), b.Waits)
	// Loads 0 to 7 follow one another; 8 waits for store 0, 9 for store 1.
	waits := (load + store + visible - 8*load) + (store - load)
	assert.Equal(t, waits, b.Time[result.StageWait])
	assert.Equal(t, waits, b.WaitTime)
	assert.Equal(t, 10*load, b.Time[result.MTE2])
	assert.Equal(t, load+10*store+visible-10*load-waits, b.Time[result.MTE3], "from the last load's end until all is visible")
}

func TestAFenceWaitsUntilTheCountsCanBeSeen(t *testing.T) {
	job := func() *program.Job {
		c := &collectives.Call{
			Op: "indexed_all_to_all_v", Form: "l2", Ranks: 2, CoreNum: 1, DType: "INT8", Hidden: 64, Traffic: []collectives.Traffic{rows{{0, 0}, {0, 0}}},
		}
		job, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		require.NoError(t, err)
		text := &program.Program{}
		for _, o := range job.Tasks[0].Program.Ops {
			if o.Kind == program.PullCounts || o.Kind == program.Fence {
				text.Ops = append(text.Ops, o)
			}
		}
		job.Tasks[0].Program = text
		return job
	}
	pulls := (1220 + 300 + 26 + 300 + 390 + 350 + 26) * ns // own count, then that of the peer
	assert.Equal(t, pulls+150*ns, ok(t, hwtest.Machine(t, "950dt-64"), job()).Elapsed)
	assert.Equal(t, pulls+150*ns, ok(t, hwtest.Machine(t, "950dt-64", "aiv.scalar.visible=0.1 us"), job()).Elapsed)
	assert.Equal(t, pulls+900*ns, ok(t, hwtest.Machine(t, "950dt-64", "aiv.scalar.visible=0.9 us"), job()).Elapsed)
}

func TestALoneSendTakesEachStepInTurn(t *testing.T) {
	spec := hwtest.Machine(t, "950dt-64", "aiv.poll.kind=ideal", "memory.kind=ideal")
	c := &collectives.Call{
		Op: "indexed_all_to_all_v", Form: "l2", Ranks: 2, CoreNum: 1, DType: "INT8", Hidden: 5310, Traffic: []collectives.Traffic{rows{{0, 10}, {0, 0}}},
	}
	job, err := collectives.Compose(2, []collectives.Item{{Call: c}})
	require.NoError(t, err)
	res, err := hw.Run(spec, job, hw.Options{Watch: []hw.Watch{{Rank: 0, Peer: 1, N: 1}}})
	require.NoError(t, err)
	b := res.Blocks[0]
	assert.Equal(t, 180*ns+1226*ns+9*50*ns, b.Time[result.SIMTBuild], "an SQE of 10 SGEs fills its four WQEBBs")
	assert.Equal(t, 906*ns, b.Time[result.Doorbell])
	require.Len(t, res.Steps, 1)
	s := res.Steps[0]
	wire := spec.Fabric.Mesh.Port.Times(spec.Fabric.Mesh.Efficiency).Span(53100)
	assert.InDelta(t, float64(1*us), float64(wire), 1e3, "53,100 B at 53.1 GB/s")
	for _, x := range []struct {
		name     string
		from, to engine.Time
		want     engine.Duration
	}{
		{"doorbell to fetch", s.Doorbell, s.Fetch, 150 * ns},
		{"fetch and engine", s.Fetch, s.Gather, (250 + 20) * ns},
		{"gather", s.Gather, s.Wire, 200 * ns},
		{"acknowledgement", s.Land, s.Ack, 350 * ns},
		{"CQE", s.Ack, s.CQE, 150 * ns},
	} {
		assert.Equal(t, x.want, x.to.Sub(x.from), x.name)
	}
	assert.InDelta(t, float64(wire+350*ns), float64(s.Land.Sub(s.Wire)), 10, "four quanta, each rounded up")
}

func TestComputeTakesItsLaunchAndItsTimeOnTheRanksClock(t *testing.T) {
	job := &program.Job{Ranks: 2, Slow: []engine.Fraction{engine.One, 3 * engine.One}, Tasks: []program.Task{
		{Name: "work", Op: "compute", Blocks: 2, Compute: 10 * us, Timed: true},
		{Name: "more", Op: "compute", Blocks: 1, Compute: us, Timed: true, After: []int{0}},
	}}
	res := ok(t, hwtest.Machine(t, "950dt-64"), job)
	launch := 1220*ns + 14800*engine.Picosecond
	assert.Equal(t, []engine.Duration{launch + 10*us, 3 * (launch + 10*us)}, []engine.Duration{res.Ranks[0].Elapsed - 2220*ns, res.Ranks[1].Elapsed - 3*2220*ns})
	for i := range res.Blocks {
		b := &res.Blocks[i]
		assert.Equal(t, res.Calls[b.Call].Elapsed, b.Time.Sum())
		k := engine.Duration(1 + 2*b.Rank)
		if b.Call == 0 {
			assert.Equal(t, []engine.Duration{k * launch, k * 10 * us}, []engine.Duration{b.Time[result.Launch], b.Time[result.Compute]})
		} else if b.Rank == 1 {
			assert.Equal(t, 2*(launch+10*us), b.Time[result.DependencyWait], "rank 0 had begun so much earlier")
		}
	}
}

func TestARankThatArrivesLateIsIdleUntilThen(t *testing.T) {
	job := bare(2, 1, func(int) []program.Op { return []program.Op{notify(true), wait(true)} })
	job.Offsets = []engine.Duration{0, 7 * us}
	res := ok(t, hwtest.Machine(t, "950dt-64"), job)
	first, late := res.Blocks[0], res.Blocks[1]
	assert.Equal(t, 7*us+res.Calls[0].End.Sub(late.End), late.Time[result.Idle], "and after it has ended")
	assert.Zero(t, late.Time[result.DependencyWait])
	assert.Greater(t, first.Time[result.SignalWait], 6*us)
	assert.Equal(t, res.Elapsed, first.Time.Sum())
	assert.Equal(t, res.Elapsed, late.Time.Sum())
}

func TestTasksShareTheAIVsOfARankInTurn(t *testing.T) {
	work := func(name string, blocks int, after ...int) program.Task {
		return program.Task{Name: name, Op: "compute", Blocks: blocks, Compute: 10 * us, Timed: true, After: after}
	}
	starts := func(tasks ...program.Task) (out []string) {
		res := ok(t, hwtest.Machine(t, "950dt-64"), &program.Job{Ranks: 1, Tasks: tasks})
		for _, c := range res.Calls {
			out = append(out, fmt.Sprintf("%s %v", c.Name, c.Start.Sub(0) >= 10*us))
		}
		return out
	}
	assert.Equal(t, []string{"a false", "b false"}, starts(work("a", 32), work("b", 32)), "64 AIVs hold both")
	assert.Equal(t, []string{"a false", "b true"}, starts(work("a", 40), work("b", 40)))
	assert.Equal(t, []string{"a false", "b true", "c true"}, starts(work("a", 40), work("b", 40), work("c", 8)), "nobody overtakes")
	assert.Equal(t, []string{"a false", "b true"}, starts(work("a", 1), work("b", 1, 0)))
}

func TestABarrierTaskStartsWhenTheLastRankHasEnded(t *testing.T) {
	job := &program.Job{Ranks: 3, Slow: []engine.Fraction{engine.One, 5 * engine.One, engine.One}, Tasks: []program.Task{
		{Name: "work", Op: "compute", Blocks: 1, Compute: 10 * us, Timed: true},
		{Name: "next", Op: "compute", Blocks: 1, Compute: us, Timed: true, After: []int{0}, Barrier: true},
	}}
	res := ok(t, hwtest.Machine(t, "950dt-64"), job)
	for r := range 3 {
		assert.Equal(t, res.Calls[0].Ranks[1].End, res.Calls[1].Ranks[r].Start)
	}
}
