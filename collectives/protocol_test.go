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
	"pldperf/hw/hwtest"
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

func TestReusedWindowsHoldTheNewRowsAndBehindThemTheOldOnes(t *testing.T) {
	spec := mesh(t)
	rapid.Check(t, func(t *rapid.T) {
		ranks, calls := rapid.SampledFrom([]int{2, 4}).Draw(t, "P"), rapid.IntRange(2, 4).Draw(t, "calls")
		c := indexed(rapid.IntRange(1, 3).Draw(t, "B"), 64, "INT8", drawTraffic(t, ranks, 13))
		for range calls - 1 {
			c.Traffic = append(c.Traffic, drawTraffic(t, ranks, 13))
		}
		rp := collectives.Repeat{
			Warmup: rapid.IntRange(0, 1).Draw(t, "warm-up"), Between: rapid.SampledFrom([]string{"none", "barrier", "reset", ""}).Draw(t, "between"),
			Same: rapid.Bool().Draw(t, "same"),
		}
		rp.Count = calls - rp.Warmup
		job, err := collectives.Compose(ranks, []collectives.Item{{Call: c, Repeat: rp}})
		require.NoError(t, err)
		drawSkew(t, job)
		if rp.Same { // the versions are equal, and so must the rows be
			c.Traffic = c.Traffic[:1]
			job, err = collectives.Compose(ranks, []collectives.Item{{Call: c, Repeat: rp}})
			require.NoError(t, err)
		}
		res, err := hw.Run(spec, job, hw.Options{Payload: rapid.SampledFrom([]string{"bytes", "provenance"}).Draw(t, "payload")})
		require.NoError(t, err)
		require.Equal(t, result.OK, res.Status, "%v %v", res.Data.Mismatches, res.Hazards)
		require.Len(t, res.Calls, calls)
	})
}

func TestRowsOfThePreviousInputAreNotTakenForFreshOnes(t *testing.T) {
	for _, a := range collectives.All() {
		c := calls(a, 29)[0]
		job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "reset"}})
		ok(t, mesh(t), job)
		second := len(job.Tasks) / 2
		input := buffer(t, job, "input")
		kept := job.Tasks[second].Before[:0:0]
		for _, w := range job.Tasks[second].Before {
			if w.Buf != input {
				kept = append(kept, w)
			}
		}
		require.Len(t, kept, len(job.Tasks[second].Before)-1)
		job.Tasks[second].Before = kept // the producer has not written: the same rows again
		for _, payload := range []string{"bytes", "provenance"} {
			res := run(t, mesh(t), job, hw.Options{Payload: payload})
			assert.Equal(t, result.WrongData, res.Status, a.Name())
		}
	}
}

func TestOnlyTimedCallsAreCounted(t *testing.T) {
	for _, a := range collectives.All() {
		c := calls(a, 29)[0]
		once := ok(t, mesh(t), compose(t, c))
		for _, rp := range []collectives.Repeat{{Warmup: 3}, {Warmup: 1, Count: 2}, {Count: 4, Between: "reset"}} {
			rp.Between = "reset" // the hand form needs it
			res := ok(t, mesh(t), chain(t, collectives.Item{Call: c, Repeat: rp}))
			n := int64(max(rp.Count, 1))
			for k := range result.NumCounters {
				if k != result.PollsAttempted {
					assert.Equal(t, n*once.Totals[k], res.Totals[k], "%s %v of %+v", a.Name(), k, rp)
				}
			}
			last := res.Calls[len(res.Calls)-1]
			assert.True(t, last.Timed)
			assert.Equal(t, rp.Warmup == 0, res.Calls[0].Timed)
			assert.LessOrEqual(t, res.Elapsed, last.End.Sub(0))
		}
	}
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
			text[k].Value = 1
		case program.AddPeers:
			text[k].Value = -1
		}
	}
	res := run(t, mesh(t), broken, hw.Options{})
	require.Equal(t, result.Hazard, res.Status)
	assert.Contains(t, res.Hazards[0], "writes target of rank 1 before consume has ended there")
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

func TestStoresThatNobodyDrainsAreFoundAndDoNotDisturbLaterCalls(t *testing.T) {
	tab := rows(2, 40, 12, func(_, _ int) int { return 12 })
	c := indexed(2, 4160, "INT8", tab)
	c.Options.Drain = "after_cqe"
	item := collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 3, Between: "none"}}
	slow := mesh(t, "ub.store=0.1 GB/s", "ub.stages=24")
	ok(t, slow, chain(t, item))
	res := run(t, slow, cut(chain(t, item), func(o program.Op) bool { return o.Kind == program.DrainRows }), hw.Options{})
	require.Equal(t, result.WrongData, res.Status)
	assert.Len(t, res.Calls, 3)
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

func TestAllToAllWithNothingBetweenCallsOverwritesWhatIsStillNeeded(t *testing.T) {
	for _, form := range []string{"incore", "host"} {
		c := &collectives.Call{Op: "all_to_all", Form: form, Ranks: 4, DType: "FP32", Size: 640}
		item := collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 3, Between: "none"}}
		res := someSkewShows(t, mesh(t), chain(t, item))
		assert.Contains(t, []result.Status{result.WrongData, result.Hazard}, res.Status)
		require.NotEmpty(t, res.Hazards, form)
		assert.Contains(t, res.Hazards[0], "window reuse")
		item.Repeat.Between = "barrier"
		fine(t, run(t, mesh(t), skewed(rand.New(rand.NewPCG(1, 1)), chain(t, item)), hw.Options{}))
	}
}

func TestASetBarrierIsForASingleUse(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 64}
	item := collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "barrier"}}
	res := run(t, mesh(t), chain(t, item), hw.Options{})
	require.Equal(t, result.Hazard, res.Status, "right by luck")
	assert.Contains(t, res.Hazards[0], "signal reuse")
	item.Repeat.Between = "reset"
	ok(t, mesh(t), chain(t, item))
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

// stuck runs a job that must hang and returns who waits.
func stuck(t *testing.T, job *program.Job) []result.Waiting {
	t.Helper()
	res := run(t, mesh(t), job, hw.Options{})
	require.Equal(t, result.Deadlock, res.Status)
	require.NotEmpty(t, res.Stuck.Waits)
	for i := range res.Blocks {
		b := &res.Blocks[i]
		assert.Equal(t, res.Calls[b.Call].Elapsed, b.Time.Sum())
	}
	return res.Stuck.Waits
}

// cells are the initial words of one rank's signal.
type cells struct {
	rank  int
	words []int32
}

func (c cells) Row(rank, _ int) []int32 {
	if rank == c.rank {
		return c.words
	}
	return nil
}

func TestACellThatOwesACreditHangsItsBlock(t *testing.T) {
	tab := rows(4, 8, 3, func(_, _ int) int { return 2 })
	job := compose(t, indexed(2, 8, "INT8", tab))
	words := make([]int32, 8)
	words[3*2+1] = -1 // source 3, column 1
	job.Buffers[buffer(t, job, "signal")].Table = cells{2, words}
	for _, w := range stuck(t, job) {
		if w.Rank == 2 {
			// Rank 3's credit of round B has made up for the debt in round A; then one is missing.
			assert.Equal(t, result.Waiting{
				Rank: 2, Block: 1, Since: w.Since, Op: "wait_peers (op 9, phase complete)", Cell: "signal[3,1]", Value: 1, Expected: 2,
				Missing: "a notify from rank 3 to column 1",
			}, w)
			assert.Positive(t, w.Since)
			res := run(t, mesh(t), job, hw.Options{})
			b := res.Blocks[2*2+1]
			assert.Equal(t, []int{2, 1}, []int{b.Rank, b.Block})
			assert.Equal(t, (4*180+6*43)*engine.Nanosecond, b.Time[result.SignalIssue], "four SIMT regions and two notifies to each peer; the rest is waiting")
			assert.Positive(t, b.Time[result.SignalWait])
			return
		}
	}
	require.Fail(t, "rank 2 does not wait")
}

func TestADroppedNotifyHangsAndTheReportNamesWhoShouldHaveWritten(t *testing.T) {
	for _, a := range collectives.All() {
		c := calls(a, 29)[0]
		job := compose(t, c)
		job.Faults = []program.Fault{{Kind: "drop_notify", Src: 1, Dst: 0}}
		found := false
		for _, w := range stuck(t, job) {
			if w.Rank == 0 && w.Missing == "a notify from rank 1 to column 0" {
				found = true
				assert.Equal(t, w.Expected-1, w.Value, "one credit too few")
				assert.Contains(t, w.Cell, "signal[1,0]")
			}
		}
		assert.True(t, found, a.Name())
	}
}

func TestRanksThatDisagreeOnTheWidthHang(t *testing.T) {
	tab := rows(2, 8, 3, func(_, _ int) int { return 2 })
	wide, narrow := compose(t, indexed(3, 8, "INT8", tab)), compose(t, func() *collectives.Call {
		c := indexed(2, 8, "INT8", tab)
		c.Signal = 3
		return c
	}())
	job := *wide
	job.Tasks = append([]program.Task{}, wide.Tasks...)
	job.Tasks[0].Perblock = func(rank, block int) *program.Program {
		switch {
		case rank == 1:
			return wide.Tasks[0].Program
		case block < 2:
			return narrow.Tasks[0].Program
		}
		return &program.Program{}
	}
	job.Tasks[0].Program = nil
	waits := stuck(t, &job)
	require.Len(t, waits, 1)
	assert.Equal(t, []any{1, 2, "signal[0,2]", int64(0), int64(1)}, []any{waits[0].Rank, waits[0].Block, waits[0].Cell, waits[0].Value, waits[0].Expected})
}

func TestACellThatStartsAtOnePassesEarlyAndIsAHazard(t *testing.T) {
	for _, a := range collectives.All() {
		c := calls(a, 29)[0]
		job := compose(t, c)
		words := make([]int32, c.Ranks*max(c.CoreNum, 1))
		words[max(c.CoreNum, 1)] = 1 // source 1, column 0
		job.Buffers[buffer(t, job, "signal")].Table = cells{0, words}
		res := run(t, mesh(t), job, hw.Options{})
		require.Contains(t, []result.Status{result.Hazard, result.WrongData}, res.Status)
		assert.Contains(t, res.Hazards[0], "rank 0: cell")
		assert.Contains(t, res.Hazards[0], "is 1, not 0, before the first call")
		if len(job.Tasks[0].Zero) > 0 {
			assert.Contains(t, res.Hazards[1], "after the last call")
		}
		// Rank 1 far behind: rank 0 trusts rows that have not been sent.
		late := *job
		late.Offsets = []engine.Duration{0, 100 * engine.Microsecond}
		assert.Equal(t, result.WrongData, run(t, mesh(t), &late, hw.Options{}).Status, a.Name())
	}
}

func TestTwoExchangesOnOneQueueAreAConflictUnlessTheSignalSerialisesThem(t *testing.T) {
	tab := rows(4, 40, 12, func(_, _ int) int { return 12 })
	item := func(name, signal string, after ...string) collectives.Item {
		return collectives.Item{Name: name, Call: indexed(2, 512, "INT8", tab), Signal: signal, After: after}
	}
	res := run(t, mesh(t), chain(t, item("a", ""), item("b", "")), hw.Options{})
	require.Equal(t, result.Aborted, res.Status)
	a := res.Abort
	assert.Equal(t, []any{"queue_conflict", "send_owned", int64(1)}, []any{a.What, a.Op, a.Limit})
	assert.Contains(t, a.Text, "two writers on the queue")
	tiles(t, res)

	for _, job := range []*program.Job{chain(t, item("a", ""), item("b", "a")), chain(t, item("a", ""), item("b", "", "a"))} {
		res := ok(t, mesh(t), job)
		for r := range 4 {
			assert.GreaterOrEqual(t, res.Calls[1].Ranks[r].Start, res.Calls[0].Ranks[r].End)
		}
	}
}

func TestACQEStatusAndADeadLinkAbort(t *testing.T) {
	tab := rows(4, 40, 12, func(_, _ int) int { return 12 })
	for _, x := range []struct {
		fault program.Fault
		value int64
	}{{program.Fault{Kind: "cqe_status", Src: 1, Dst: 2, Value: 9}, 9}, {program.Fault{Kind: "dead_link", Src: 1, Dst: 2}, 4}} {
		job := compose(t, indexed(2, 512, "INT8", tab))
		job.Faults = []program.Fault{x.fault}
		res := run(t, mesh(t), job, hw.Options{})
		require.Equal(t, result.Aborted, res.Status)
		a := res.Abort
		assert.Equal(t, []any{1, 0, "poll_owned", "cqe_status", x.value, int64(0)}, []any{a.Rank, a.Block, a.Op, a.What, a.Value, a.Limit})
		assert.Contains(t, a.Text, "rank 2")
		tiles(t, res)
	}
}

func TestMoreBlocksThanAIVsAreRefused(t *testing.T) {
	tab := rows(2, 8, 3, func(_, _ int) int { return 2 })
	for preset, limit := range map[string]int{"950dt-64": 64, "950pr-56": 56, "950dt-72": 72} {
		spec := hwtest.Machine(t, preset)
		ok(t, spec, compose(t, indexed(limit, 8, "INT8", tab)))
		_, err := hw.Run(spec, compose(t, indexed(limit+1, 8, "INT8", tab)), hw.Options{})
		assert.ErrorContains(t, err, "exceeds the")
	}
	capped := mesh(t, "aiv.block_cap=36")
	ok(t, capped, compose(t, indexed(36, 8, "INT8", tab)))
	_, err := hw.Run(capped, compose(t, indexed(37, 8, "INT8", tab)), hw.Options{})
	assert.ErrorContains(t, err, "core_num 37 exceeds the 36 AIVs")
}
