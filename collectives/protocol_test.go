package collectives_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// drawTraffic draws counts in [0, C] and indices with repeats.
func drawTraffic(t *rapid.T, ranks, capacity int) *table {
	seed := rapid.Uint64().Draw(t, "seed")
	return random(rand.New(rand.NewPCG(seed, 1)), ranks, rapid.IntRange(1, 40).Draw(t, "Nmax"), capacity)
}

func drawSkew(t *rapid.T, job *program.Job) {
	if rapid.Bool().Draw(t, "skew") {
		*job = *skewed(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "skew seed"), 2)), job)
	}
}

func TestCase67AnyIndexedCallMovesExactlyItsRowsUnderAnySkew(t *testing.T) {
	spec := mesh(t)
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SampledFrom([]int{2, 4, 8}).Draw(t, "P")
		blocks := rapid.SampledFrom([]int{1, 3, ranks, ranks + 2}).Draw(t, "B")
		tab := drawTraffic(t, ranks, rapid.SampledFrom([]int{1, 7, 13, 64}).Draw(t, "C"))
		c := indexed(blocks, rapid.SampledFrom([]int{1, 8, 33, 3000}).Draw(t, "H"), rapid.SampledFrom([]string{"FP32", "INT8"}).Draw(t, "dtype"), tab)
		c.Options.Drain = rapid.SampledFrom([]string{"before_cqe", "after_cqe"}).Draw(t, "drain")
		c.Options.Piece = rapid.SampledFrom([]string{"bytes", "rows"}).Draw(t, "piece")
		c.Signal = blocks + rapid.IntRange(0, 2).Draw(t, "more columns")
		job, err := collectives.Compose(ranks, []collectives.Item{{Call: c}})
		require.NoError(t, err)
		drawSkew(t, job)
		res, err := hw.Run(spec, job, hw.Options{Payload: rapid.SampledFrom([]string{"bytes", "provenance"}).Draw(t, "payload")})
		require.NoError(t, err)
		require.Equal(t, result.OK, res.Status, "%v %v", res.Data.Mismatches, res.Hazards)
		for r := range ranks {
			var sent, received int64
			for p := range ranks {
				if p != r {
					sent, received = sent+int64(tab.counts[r][p])*c.Row(), received+int64(tab.counts[p][r])*c.Row()
				}
			}
			n := &res.Ranks[r].Counters
			require.Equal(t, []int64{sent, received, int64(tab.counts[r][r]) * c.Row()}, []int64{n[result.BytesSent], n[result.BytesReceived], n[result.BytesSelf]})
		}
	})
}

// cut returns a copy of a job in which every program lacks the ops that drop names.
func cut(job *program.Job, drop func(o program.Op) bool) *program.Job {
	out := *job
	out.Tasks = append([]program.Task{}, job.Tasks...)
	done := map[*program.Program]*program.Program{}
	for i := range out.Tasks {
		p := out.Tasks[i].Program
		if p == nil {
			continue
		}
		if done[p] == nil {
			q := &program.Program{Name: p.Name}
			for _, o := range p.Ops {
				if !drop(o) {
					q.Ops = append(q.Ops, o)
				}
			}
			done[p] = q
		}
		out.Tasks[i].Program = done[p]
	}
	return &out
}

// someSkewShows runs a job under random skews until one run is not ok, and returns it.
func someSkewShows(t *testing.T, spec hw.Spec, job *program.Job) *result.Result {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	for range 60 {
		if res := run(t, spec, skewed(r, job), hw.Options{}); res.Status != result.OK {
			return res
		}
	}
	require.Fail(t, "no skew shows that the protocol is broken")
	return nil
}

// consumed puts a consumer of the target between the two calls of a job.
func consumed(t *testing.T, job *program.Job, d engine.Duration) *program.Job {
	require.Len(t, job.Tasks, 2)
	out := *job
	target := buffer(t, job, "target")
	eats := program.Task{Name: "consume", Op: "compute", Blocks: 1, Compute: d, After: []int{0}, Reads: []program.Buf{target}}
	second := job.Tasks[1]
	second.After = []int{1}
	out.Tasks = []program.Task{job.Tasks[0], eats, second}
	return &out
}

func TestWithoutRoundAAFastRankOverwritesRowsThatASlowOneStillConsumes(t *testing.T) {
	tab := rows(2, 40, 12, func(_, _ int) int { return 12 })
	job := consumed(t, chain(t, collectives.Item{
		Call: indexed(1, 512, "INT8", tab), Repeat: collectives.Repeat{Count: 2, Between: "none"},
	}), 50*engine.Microsecond)
	job.Slow = []engine.Fraction{engine.One, 4 * engine.One}
	ok(t, mesh(t), job)

	broken := cut(job, func(o program.Op) bool { return o.Phase == "ready" })
	text := broken.Tasks[0].Program.Ops
	for k := range text { // one round is left, and with it one credit
		switch text[k].Kind {
		case program.WaitPeers:
			text[k].Value = program.Const(1)
		case program.AddPeers:
			text[k].Value = program.Const(-1)
		}
	}
	res := run(t, mesh(t), broken, hw.Options{})
	require.Equal(t, result.Hazardous, res.Status)
	assert.Contains(t, res.Hazards[0].Text, "rank 0 writes rank 1 target+0 (send_owned of indexed_all_to_all_v #1, phase submit) and does not wait until rank 1 has read it")
}

func TestWithoutRoundBSomeSkewEndsBeforeTheRowsAreThere(t *testing.T) {
	tab := rows(2, 40, 12, func(_, _ int) int { return 12 })
	job := cut(compose(t, indexed(1, 512, "INT8", tab)), func(o program.Op) bool {
		return o.Phase == "complete" || o.Phase == "clear"
	})
	res := someSkewShows(t, mesh(t), job)
	require.Equal(t, result.WrongData, res.Status)
	assert.Positive(t, res.Data.Wrong)
	assert.NotEmpty(t, res.Data.Mismatches)
}

func TestWithoutTheBarrierSomeSkewReadsBackRowsThatAreNotThere(t *testing.T) {
	for _, form := range a2aForms {
		c := &collectives.Call{Op: "all_to_all", Form: form, Ranks: 4, DType: "FP32", Size: 64}
		job := cut(compose(t, c), func(o program.Op) bool {
			return o.Kind == program.WaitPeers || o.Kind == program.NotifyPeers || o.Kind == program.AddPeers
		})
		res := someSkewShows(t, mesh(t), job)
		assert.Equal(t, result.WrongData, res.Status, form)
	}
}

func TestBytesOutsideThePromiseMustNotChange(t *testing.T) {
	for _, payload := range []string{"bytes", "provenance"} {
		job := compose(t, &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64})
		all := job.Tasks[0].Promises[0].Ranges
		job.Tasks[0].Promises[0].Ranges = func(rank int, yield func(off, n int64, from program.Origin)) {
			all(rank, func(off, n int64, from program.Origin) {
				if off < 3*256 { // the last row of the window is promised to nobody
					yield(off, n, from)
				}
			})
		}
		res := run(t, mesh(t), job, hw.Options{Payload: payload})
		assert.Equal(t, result.WrongData, res.Status)
		assert.Positive(t, res.Data.Wrong)
	}
}

func TestABrokenProtocolGetsTheSameVerdictInBothPayloadModes(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64}
	job := cut(compose(t, c), func(o program.Op) bool { return o.Kind == program.WaitPeers })
	r := rand.New(rand.NewPCG(13, 14))
	wrong := 0
	for range 20 {
		j := skewed(r, job)
		raw, prov := run(t, mesh(t), j, hw.Options{Payload: "bytes"}), run(t, mesh(t), j, hw.Options{Payload: "provenance"})
		assert.Equal(t, raw.Status, prov.Status)
		assert.Equal(t, raw.Data.Wrong == 0, prov.Data.Wrong == 0)
		if raw.Status == result.WrongData {
			wrong++
		}
	}
	assert.Positive(t, wrong)
}

// highest runs a job, in which each rank in turn is far slower than the others, and
// returns the highest value of any cell.
func highest(t *testing.T, job *program.Job) (top int32) {
	for r := range 2 * job.Ranks {
		j := *job
		j.Slow = make([]engine.Fraction, job.Ranks)
		j.Slow[r%job.Ranks] = engine.One * engine.Fraction(10*(1+r/job.Ranks))
		fine(t, run(t, mesh(t), &j, hw.Options{Cells: func(_ int, _ program.Buf, _ int, v int32) {
			assert.GreaterOrEqual(t, v, int32(0))
			top = max(top, v)
		}}))
	}
	return top
}

func TestACellOfTheDoubleRoundReachesThreeAndNeverMore(t *testing.T) {
	tab := rows(2, 4, 2, func(_, _ int) int { return 1 })
	job := chain(t, collectives.Item{Call: indexed(1, 8, "INT8", tab), Repeat: collectives.Repeat{Count: 4, Between: "none"}})
	assert.Equal(t, int32(3), highest(t, job), "step 6 of the trace in semantics 4.5: a fast rank's next credit")
	once := chain(t, collectives.Item{Call: indexed(1, 8, "INT8", tab)})
	assert.Equal(t, int32(2), highest(t, once))
}

func TestACellOfTheCreditBarrierNeverExceedsNPlusOne(t *testing.T) {
	// There is no start barrier, so the calls need windows of their own; one signal serves them.
	var items []collectives.Item
	for _, n := range []string{"a", "b", "c", "d"} {
		c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 3, DType: "FP32", Size: 8}
		items = append(items, collectives.Item{Name: n, Call: c, Signal: "a"})
	}
	assert.Equal(t, int32(2), highest(t, chain(t, items...)))
}
