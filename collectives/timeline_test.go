package collectives_test

import (
	"math/rand/v2"
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

// watched runs a job with and without a timeline, requires the same result, and that the
// timeline agrees with the accounts to the picosecond.
func watched(t *testing.T, spec hw.Spec, job *program.Job) *hwtest.Watcher {
	t.Helper()
	w := hwtest.Watch(t)
	res := run(t, spec, job, hw.Options{Timeline: w, Path: "off", Hazards: "off"})
	w.Closed()
	plain := run(t, spec, job, hw.Options{Path: "off", Hazards: "off"})
	require.Equal(t, plain.Digests, res.Digests, "who watches changes nothing")
	spends(t, w, res)
	return w
}

// spends requires that the blocks' accounts are the sums of their spans. What is before the
// start and after the end of a block is in no span.
func spends(t *testing.T, w *hwtest.Watcher, res *result.Result) {
	t.Helper()
	want, timed := map[hwtest.Spending]engine.Duration{}, map[int]bool{}
	for i := range res.Blocks {
		b := &res.Blocks[i]
		timed[b.Call] = true
		for r, d := range b.Time {
			if r := result.Reason(r); d > 0 && r != result.Idle && r != result.DependencyWait {
				want[hwtest.Spending{Call: b.Call, Rank: b.Rank, Block: b.Block, Reason: r.String()}] = d
			}
		}
	}
	for s := range w.Spent {
		if !timed[s.Call] {
			delete(w.Spent, s)
		}
	}
	assert.Equal(t, want, w.Spent)
}

func TestTheTimelineOfEveryAlgorithmAddsUpToItsAccounts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for i, set := range [][]string{nil, {"fabric.kind=clos", "urma.window=64 KiB"}, {"ub.stages=2"}, hwtest.Free} {
		spec := mesh(t, set...)
		each(t, 29, func(t *testing.T, _ *collectives.Algorithm, c *collectives.Call) {
			if i == 0 || c.Ranks <= 2 { // the other machines differ in parts, not in numbers
				watched(t, spec, skewed(r, compose(t, c)))
			}
		})
	}
}

// The CQE of one rank aborts the run while others still copy rows and wait for stages.
func TestTheTimelineOfARunThatIsCutAddsUpToItsAccounts(t *testing.T) {
	spec := mesh(t, "ub.stages=2")
	tab := rows(4, 400, 400, func(s, d int) int {
		if s == 0 && d == 0 {
			return 400
		}
		return 2
	})
	cut, ring := map[result.Status]int{}, 0
	for i := range 24 {
		job := compose(t, indexed(2, 7168, "INT8", tab))
		job.Faults = []program.Fault{{Kind: "cqe_status", Src: 1 + i%3, Dst: 0, Value: 1}}
		if i%4 == 0 {
			job.Faults = []program.Fault{{Kind: "drop_notify", Src: 1 + i%3, Dst: 0}}
		}
		job.Offsets = []engine.Duration{engine.Duration(i) * 100 * engine.Nanosecond, 0, 0, 0}
		w := hwtest.Watch(t)
		res := run(t, spec, job, hw.Options{Timeline: w})
		w.Closed()
		spends(t, w, res)
		cut[res.Status]++
		for s := range w.Spent {
			if res.Status == result.Aborted && s.Reason == "stage_wait" {
				ring++
			}
		}
	}
	assert.Positive(t, cut[result.Aborted])
	assert.Positive(t, cut[result.Deadlock])
	assert.Positive(t, ring)
}
