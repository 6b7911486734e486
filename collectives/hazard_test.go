package collectives_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
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

// processor returns the seconds that the process has had a processor for, which others on
// the machine hardly change.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// beside runs the same jobs in two modes, one after the other, and reports the processor
// time of each and their ratio.
func beside(b *testing.B, off, on hw.Options) {
	call, _ := dispatch(b, 8, 4096)
	wide, _ := dispatch(b, 64, 512)
	large := func(op, form string, ranks, cores, size int) collectives.Item {
		return collectives.Item{Call: &collectives.Call{Op: op, Form: form, Ranks: ranks, CoreNum: cores, DType: "FP32", Size: size, Reduce: "Sum"}}
	}
	for _, x := range []struct {
		name    string
		machine string
		item    collectives.Item
	}{
		{"dispatch", "950dt-64", collectives.Item{Call: call}},
		{"dispatch,twice", "950dt-64", collectives.Item{Call: call, Repeat: collectives.Repeat{Count: 2}}},
		{"dispatch,64 ranks", "950dt-64-clos", collectives.Item{Call: wide}},
		{"all_to_all", "950dt-64", large("all_to_all", "host", 8, 0, 1<<18)},
		{"allreduce,mesh", "950dt-64", large("allreduce", "mesh_host", 8, 16, 1<<20)},
		{"allreduce,ring", "950dt-64", large("allreduce", "ring_incore", 8, 0, 1<<20)},
	} {
		b.Run(x.name, func(b *testing.B) {
			spec := hwtest.Machine(b, x.machine)
			job, err := collectives.Compose(x.item.Call.Ranks, []collectives.Item{x.item})
			require.NoError(b, err)
			least := [2]float64{math.Inf(1), math.Inf(1)}
			for b.Loop() {
				for i, opt := range []hw.Options{off, on} {
					runtime.GC()
					before := processor()
					res, err := hw.Run(spec, job, opt)
					require.NoError(b, err)
					least[i] = min(least[i], processor()-before)
					require.Equal(b, result.OK, res.Status, fmt.Sprint(res.Hazards))
				}
			}
			b.ReportMetric(1e3*least[0], "ms-off")
			b.ReportMetric(1e3*least[1], "ms-on")
			b.ReportMetric(least[1]/least[0], "on/off")
		})
	}
}

// BenchmarkHazards is what the search for hazards costs.
func BenchmarkHazards(b *testing.B) {
	beside(b, hw.Options{Hazards: "off", Path: "off"}, hw.Options{Hazards: "on", Path: "off"})
}

// BenchmarkPath is what it costs to say what the time was spent on, in a run as users run it.
func BenchmarkPath(b *testing.B) { beside(b, hw.Options{Path: "off"}, hw.Options{Path: "on"}) }

// BenchmarkPathAlone is the same in a run that looks for nothing else.
func BenchmarkPathAlone(b *testing.B) {
	beside(b, hw.Options{Hazards: "off", Path: "off"}, hw.Options{Hazards: "off", Path: "on"})
}

// hazards runs a job and returns what the checker found.
func hazards(t testing.TB, spec hw.Spec, job *program.Job) []result.Hazard {
	return run(t, spec, job, hw.Options{Hazards: "on"}).Hazards
}

func TestNoCorrectCollectiveIsAHazardUnderAnySkewOrOrderOfTies(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every algorithm a dozen times")
	}
	spec, free := mesh(t), mesh(t, hwtest.Free...)
	each(t, 29, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
		r := rand.New(rand.NewPCG(11, uint64(c.Ranks)))
		for _, rp := range []collectives.Repeat{{}, {Count: 2, Between: "reset"}} {
			job := chain(t, collectives.Item{Call: c, Repeat: rp})
			for range 3 {
				assert.Empty(t, hazards(t, spec, skewed(r, job)), "%+v", rp)
			}
			for seed := range uint64(2) { // all ranks at the same pace, so that there are ties
				fine(t, run(t, spec, job, hw.Options{Hazards: "on", Ties: seed + 1}))
				fine(t, run(t, free, job, hw.Options{Hazards: "on", Ties: seed + 1}))
			}
		}
	})
}

func TestARunSaysWhetherItWasLookedAtForHazards(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 8}
	for mode, says := range map[string]string{"": "yes", "auto": "yes", "on": "yes", "off": "no: switched off"} {
		assert.Equal(t, says, run(t, mesh(t), compose(t, c), hw.Options{Hazards: mode}).Data.Hazards, mode)
	}
	with, without := run(t, mesh(t), compose(t, c), hw.Options{}), run(t, mesh(t), compose(t, c), hw.Options{Hazards: "off"})
	assert.Equal(t, with.Digests, without.Digests, "it only watches")
	_, err := hw.Run(mesh(t), compose(t, c), hw.Options{Hazards: "maybe"})
	assert.ErrorContains(t, err, "there are on, off and auto")

	wide := indexed(16, 8, "INT8", rows(128, 1, 1, func(_, _ int) int { return 0 }))
	res := run(t, hwtest.Machine(t, "950dt-64-clos"), compose(t, wide), hw.Options{})
	assert.Equal(t, "no: 128 ranks of 16 blocks are too many, --hazards=on does it", res.Data.Hazards)
}

// found requires the same hazard under many skews, and nothing wrong without what spoils
// the job; first and second are what the two accesses must be.
func found(t *testing.T, kind result.HazardKind, first, second string, right, wrong *program.Job) {
	t.Helper()
	r, spec, lucky := rand.New(rand.NewPCG(1, 2)), mesh(t), 0
	for range 24 {
		assert.Empty(t, hazards(t, spec, skewed(r, right)))
		res := run(t, spec, skewed(r, wrong), hw.Options{})
		i := slices.IndexFunc(res.Hazards, func(h result.Hazard) bool {
			return h.Kind == kind && h.First != nil && h.First.Op+" "+h.First.Phase == first && h.Second.Op+" "+h.Second.Phase == second
		})
		require.GreaterOrEqual(t, i, 0, "%+v", res.Hazards)
		h := res.Hazards[i]
		assert.NotEmpty(t, h.Missing)
		assert.NotEmpty(t, h.Text)
		assert.Positive(t, h.Count)
		if res.Status == result.Hazardous {
			lucky++
		}
	}
	t.Logf("%d of 24 runs were right by luck", lucky)
}

func TestAMissingBarrierIsARaceEvenWhenTheValuesAreRight(t *testing.T) {
	right := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 64}
	found(t, result.ReadEarly, "put push", "copy read_back", compose(t, right), compose(t, wrongly(right, "no_barrier")))

	res := run(t, mesh(t), compose(t, wrongly(right, "no_barrier")), hw.Options{})
	require.Equal(t, result.Hazardous, res.Status, "all ranks at the same pace: right by luck")
	h := res.Hazards[0]
	assert.Equal(t, []string{"write", "read"}, []string{h.First.Kind, h.Second.Kind})
	assert.Equal(t, h.First.Owner, h.Second.Rank, "everybody reads the own window")
	assert.NotEqual(t, h.First.Rank, h.Second.Rank)
	assert.Equal(t, int64(256), h.First.Len)
	assert.Equal(t, int64(256*h.First.Rank), h.First.Off)
	assert.Contains(t, h.Missing, "(a barrier between push and read_back)")
	assert.Contains(t, h.Missing, "a notify by rank")
}

func TestANotifyBeforeThePutHasMovedIsARace(t *testing.T) {
	right := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64}
	found(t, result.ReadEarly, "put push", "copy read_back", compose(t, right), compose(t, wrongly(right, "handshake_early")))
}

func TestReuseOfAWindowWithoutABarrierIsFoundWithAndWithoutAConsumer(t *testing.T) {
	for _, readBack := range []bool{true, false} {
		c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64}
		c.Options.NoReadBack = !readBack
		item := collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "barrier"}}
		right := chain(t, item)
		item.Repeat.Between = "none"
		found(t, result.WriteEarly, "consume after the call", "put push", right, chain(t, item))
	}
}

func TestAConsumerThatNothingWaitsForIsOverwritten(t *testing.T) {
	tab := rows(4, 40, 12, func(_, _ int) int { return 12 })
	item := collectives.Item{Call: indexed(2, 512, "INT8", tab), Repeat: collectives.Repeat{Count: 2, Between: "none"}}
	right := chain(t, item)
	item.Call = wrongly(item.Call, "unordered_consumer")
	found(t, result.WriteEarly, "copy consume", "send_owned submit", right, chain(t, item))
}

// without returns the job's program without the ops of a kind.
func without(job *program.Job, kind program.Kind) *program.Job {
	return cut(job, func(o program.Op) bool { return o.Kind == kind })
}

func TestARemoteStoreIsOnlyThereBehindAFence(t *testing.T) {
	job := stores(t, 4)
	found(t, result.ReadEarly, "remote_store store", "load read", job, without(job, program.Fence))
	missing := hazards(t, mesh(t), without(job, program.Fence))[0].Missing
	assert.Contains(t, missing, "the notify must follow a fence")
}

// stores is a job in which each rank stores a tile at the next one, fences, notifies it
// and reads what it has got.
func stores(t *testing.T, ranks int) *program.Job {
	p := &program.Program{Name: "stores"}
	next := make([]int64, ranks)
	for r := range next {
		next[r] = int64(r+1) % int64(ranks)
	}
	peer := program.Expr{R: 1, Of: next}
	n := program.Const(256)
	p.Phase("store").Add(program.Op{Kind: program.LoadTile, Src: 0, Bytes: n})
	p.Add(program.Op{Kind: program.RemoteStore, Dst: 1, Peer: peer, Bytes: n})
	p.Add(program.Op{Kind: program.Fence})
	p.Phase("handshake").Add(program.Op{Kind: program.Notify, Signal: 2, Peer: peer, Value: program.Const(1)})
	p.Add(program.Op{Kind: program.Wait, Signal: 2, Value: program.Const(1)})
	p.Phase("read").Add(program.Op{Kind: program.LoadTile, Src: 1, Bytes: n})
	p.Add(program.Op{Kind: program.StoreTile, Dst: 3, Bytes: n})
	return &program.Job{
		Ranks: ranks,
		Buffers: []program.Buffer{
			{Name: "x", Size: 256}, {Name: "window", Window: true, Size: 256}, {Name: "signal", Window: true, Words: true, Signal: true, Size: 4}, {Name: "y", Size: 256},
		},
		Tasks: []program.Task{{Name: "stores", Op: "stores", Blocks: 1, Program: p, Timed: true}},
	}
}

func TestAtomicAddsToOnePlaceAreNoRaceAndStoresAre(t *testing.T) {
	all := func(atomic bool) *program.Job {
		job := stores(t, 3)
		ops := slices.DeleteFunc(slices.Clone(job.Tasks[0].Program.Ops), func(o program.Op) bool { return o.Phase != "store" })
		for i := range ops {
			ops[i].Peer, ops[i].Atomic = program.Const(0), atomic && ops[i].Kind == program.RemoteStore
		}
		job.Tasks[0].Program = &program.Program{Ops: ops}
		return job
	}
	found(t, result.TwoWriters, "remote_store store", "remote_store store", all(true), all(false))
}

func TestInputThatIsWrittenBeforeItsSendIsOverIsAHazard(t *testing.T) {
	tab := rows(4, 40, 12, func(_, _ int) int { return 12 })
	job := chain(t, collectives.Item{Call: indexed(2, 512, "INT8", tab), Repeat: collectives.Repeat{Count: 2, Between: "barrier"}})
	found(t, result.WriteEarly, "send_owned submit", "produce before the call", job, without(job, program.PollOwned))
}

func TestRowsThatNobodyDrainsAreNotPublished(t *testing.T) {
	c := indexed(2, 512, "INT8", rows(4, 40, 12, func(_, _ int) int { return 12 }))
	c.Options.Drain = "after_cqe"
	found(t, result.ReadEarly, "copy_rows local", "consume after the call", compose(t, c), without(compose(t, c), program.DrainRows))
}

func TestACreditOfAnEarlierCallIsStaleForTheNext(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64}
	job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "barrier"}})
	found(t, result.StaleCredit, "notify_peers barrier", "wait_peers barrier", job, without(job, program.AddPeers))
}

func TestTheSecondUseOfAHandBarrierInOneKernelIsStale(t *testing.T) {
	spec, r := mesh(t), rand.New(rand.NewPCG(5, 6))
	for _, set := range []bool{true, false} {
		p := &program.Program{Name: "twice"}
		for _, phase := range []string{"first", "second"} {
			p.Phase(phase).Add(program.Op{Kind: program.NotifyPeers, Signal: 2, Stride: 1, Value: program.Const(1), Set: set})
			p.Add(program.Op{Kind: program.WaitPeers, Signal: 2, Stride: 1, Value: program.Const(1)})
		}
		job := stores(t, 4)
		job.Buffers[2].Size = 16
		job.Tasks[0].Program = p
		for range 24 {
			all := hazards(t, spec, skewed(r, job))
			require.NotEmpty(t, all)
			assert.Equal(t, []any{result.StaleCredit, "first", "second"}, []any{all[0].Kind, all[0].First.Phase, all[0].Second.Phase}, "set %t", set)
		}
		p.Ops[3].Value = program.Const(2) // an expected value that rises
		if !set {
			assert.Empty(t, hazards(t, spec, job))
		}
	}
}

func TestSetAndAddOnOneCellIsAHazard(t *testing.T) {
	right := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64}
	found(t, result.SetAndAdd, "notify_peers barrier", "add_peers epilogue", compose(t, right), compose(t, wrongly(right, "reset_by_set")))
}

func TestTwoExchangesThatOnlyTimingKeepsApartAreAHazard(t *testing.T) {
	tab := rows(4, 40, 12, func(_, _ int) int { return 12 })
	items := func(after ...string) *program.Job {
		return chain(t,
			collectives.Item{Name: "a", Call: indexed(2, 512, "INT8", tab)},
			collectives.Item{Name: "pause", Compute: &collectives.Compute{Time: 10 * engine.Millisecond, Blocks: 1}},
			collectives.Item{Name: "b", Call: indexed(2, 512, "INT8", tab), After: append(after, "pause")})
	}
	found(t, result.TwoOpen, "poll_owned wait", "send_owned submit", items("a"), items())
}

func TestAComputationThatNothingWaitsForIsOverwritten(t *testing.T) {
	tab := rows(4, 40, 12, func(_, _ int) int { return 12 })
	items := func(after ...string) *program.Job {
		return chain(t,
			collectives.Item{Name: "a", Call: indexed(2, 512, "INT8", tab)},
			collectives.Item{Name: "eat", Compute: &collectives.Compute{Time: engine.Microsecond, Reads: []string{"a"}}},
			collectives.Item{Name: "b", Call: indexed(2, 512, "INT8", tab), Signal: "a", Window: "a", After: after})
	}
	found(t, result.WriteEarly, "compute compute", "send_owned submit", items("eat"), items())
}
