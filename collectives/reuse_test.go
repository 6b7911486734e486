package collectives_test

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

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
		if noPayload[a.Op] || noPayload[a.Name()] {
			continue
		}
		c := calls(a, 29)[0]
		job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "reset"}})
		ok(t, mesh(t), job)
		second := len(job.Tasks) / 2
		input := buffer(t, job, cmp.Or(inputs[a.Name()], inputs[a.Op], "input"))
		kept := job.Tasks[second].Before[:0:0]
		for _, w := range job.Tasks[second].Before {
			if w.Buf != input {
				kept = append(kept, w)
			}
		}
		require.Len(t, kept, len(job.Tasks[second].Before)-1)
		job.Tasks[second].Before = kept // the producer has not written: the same rows again
		for _, payload := range []string{"bytes", "provenance"} {
			if payload == "provenance" && job.Computes() {
				continue
			}
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
			if last.Op == "check" { // a benchmark's data is looked at outside its time
				last = res.Calls[len(res.Calls)-2]
			}
			assert.True(t, last.Timed)
			assert.Equal(t, rp.Warmup == 0, res.Calls[0].Timed)
			assert.LessOrEqual(t, res.Elapsed, last.End.Sub(0))
		}
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

func TestAllToAllWithNothingBetweenCallsOverwritesWhatIsStillNeeded(t *testing.T) {
	for _, form := range []string{"incore", "host"} {
		c := &collectives.Call{Op: "all_to_all", Form: form, Ranks: 4, DType: "FP32", Size: 640}
		item := collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 3, Between: "none"}}
		res := someSkewShows(t, mesh(t), chain(t, item))
		assert.Contains(t, []result.Status{result.WrongData, result.Hazardous}, res.Status)
		require.NotEmpty(t, res.Hazards, form)
		assert.Contains(t, res.Hazards[0].Text, "window reuse")
		item.Repeat.Between = "barrier"
		fine(t, run(t, mesh(t), skewed(rand.New(rand.NewPCG(1, 1)), chain(t, item)), hw.Options{}))
	}
}

func TestASetBarrierIsForASingleUse(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 64}
	item := collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "barrier"}}
	res := run(t, mesh(t), chain(t, item), hw.Options{})
	require.Equal(t, result.Hazardous, res.Status, "right by luck")
	assert.Contains(t, res.Hazards[0].Text, "signal reuse")
	item.Repeat.Between = "reset"
	ok(t, mesh(t), chain(t, item))
}
