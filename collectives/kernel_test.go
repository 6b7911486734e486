package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// incore is an item of a chain: an InCore collective of 64 FP32 elements on 4 ranks.
func incore(name, op, kernel, signal string) collectives.Item {
	c := &collectives.Call{Op: op, Form: "incore", Ranks: 4, DType: "FP32", Size: 64, Reduce: "Sum", Rows: 1}
	return collectives.Item{Name: name, Call: c, Kernel: kernel, Signal: signal}
}

// Tutorial, step 21: several collectives in one kernel share one self-clearing signal.
func TestSeveralCollectivesInOneKernelShareOneSignal(t *testing.T) {
	for _, ops := range [][]string{
		{"all_to_all", "all_to_all"}, {"barrier", "all_to_all", "barrier"},
	} {
		var items []collectives.Item
		for i, op := range ops {
			it := incore(string(rune('a'+i)), op, "k", "")
			if i > 0 {
				it.Signal = "a"
			}
			items = append(items, it)
		}
		job := chain(t, items...)
		require.Len(t, job.Tasks, 1, "%v", ops)
		res := ok(t, mesh(t), job)
		assert.Len(t, res.Calls, 1)
		var apart int64
		for i := range items {
			items[i].Kernel = ""
		}
		for _, c := range ok(t, mesh(t), chain(t, items...)).Calls {
			apart += int64(c.Elapsed)
		}
		assert.Less(t, int64(res.Elapsed), apart, "%v: one launch instead of %d", ops, len(ops))
	}
}

// With one window for two calls, a barrier between them protects the rows of the first.
func TestAWindowInOneKernelNeedsABarrierBetweenItsUses(t *testing.T) {
	job := func(protected bool) *program.Job {
		items := []collectives.Item{incore("first", "all_to_all", "k", ""), incore("second", "all_to_all", "k", "first")}
		items[1].Window = "first"
		if protected {
			items = []collectives.Item{items[0], incore("between", "barrier", "k", "first"), items[1]}
		}
		return chain(t, items...)
	}
	slow := func(j *program.Job) *program.Job {
		j.Slow = append(j.Slow, 100*engine.One) // rank 0 takes long to read its rows back
		return j
	}
	ok(t, mesh(t), job(true))
	ok(t, mesh(t), slow(job(true)))
	res := run(t, mesh(t), slow(job(false)), hw.Options{Payload: "provenance"}) // both inputs hold the same values
	require.Equal(t, result.WrongData, res.Status, "rank 0 reads back rows of the second call")
}

func TestWhatCannotShareAKernelIsSaidByItem(t *testing.T) {
	errs := func(change func(items []collectives.Item)) string {
		items := []collectives.Item{incore("a", "all_to_all", "k", ""), incore("b", "all_to_all", "k", ""), incore("c", "all_to_all", "", "")}
		change(items)
		_, err := collectives.Compose(4, items)
		require.Error(t, err)
		return err.Error()
	}
	assert.Contains(t, errs(func(x []collectives.Item) { x[2].Kernel, x[1].Kernel = "k", "" }), `"c" does not stand next to`)
	assert.Contains(t, errs(func(x []collectives.Item) { x[1].Call.Form = "host" }), `"b" is a task of its own in its host form`)
	assert.Contains(t, errs(func(x []collectives.Item) { x[1].After = []string{"c"} }), `"b" waits for "c"`)
	assert.Contains(t, errs(func(x []collectives.Item) { x[1].Repeat.Count = 2 }), `"b" is repeated`)
	assert.Contains(t, errs(func(x []collectives.Item) { x[1].Window = "d" }), `names "d"`)
}
