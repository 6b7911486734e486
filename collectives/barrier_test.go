package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

var barrierForms = []string{"hand_set", "hand_add", "shared", "root", "epoch", "incore", "host"}

func barrierCall(form string, ranks, size int) *collectives.Call {
	return &collectives.Call{Op: "barrier", Form: form, Ranks: ranks, DType: "FP32", Size: size}
}

// endWords runs a job and returns a control buffer of each rank at the end.
func endWords(t *testing.T, job *program.Job, name string) ([][]int32, *result.Result) {
	out := make([][]int32, job.Ranks)
	res := run(t, mesh(t), job, hw.Options{Inspect: func(s *memory.Space) {
		for r := range out {
			out[r] = append(out[r], s.Words(r, memory.ID(buffer(t, job, name)))...)
		}
	}})
	return out, res
}

func TestCase3ABarrierLetsEveryRankReadWhatItsNeighbourHasStaged(t *testing.T) {
	for _, form := range barrierForms {
		for _, ranks := range []int{2, 4} {
			c := barrierCall(form, ranks, 64)
			out, _ := output(t, c, "output") // cells0: a credit left over would be a hazard
			for r := range ranks {
				for j := range 64 {
					require.Equal(t, float32(100*((r+1)%ranks)+j), out[r][j], form)
				}
			}
		}
	}
}

func TestCase11AnEpochBarrierExpectsOneMoreEachRoundAndLeavesItsCells(t *testing.T) {
	c := barrierCall("epoch", 4, 0)
	c.Epochs = 3
	words, res := endWords(t, compose(t, c), "signal")
	fine(t, res)
	for r := range words {
		for s, v := range words[r] {
			want := int32(3)
			if s == r {
				want = 0
			}
			assert.Equal(t, want, v, "rank %d cell %d", r, s)
		}
	}
	assert.Equal(t, int64(4*3*3), res.Totals[result.Notifies])
}

func TestEpochsGoOnCountingFromCallToCall(t *testing.T) {
	c := barrierCall("epoch", 3, 8)
	c.Epochs = 2
	for between, want := range map[string]int32{"none": 6, "barrier": 6, "reset": 2} {
		job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 3, Between: between, Same: true}})
		words, res := endWords(t, job, "signal")
		assert.Equal(t, result.OK, res.Status, between)
		assert.Equal(t, []int32{want, 0, want}, words[1])
	}
}

func TestABuiltinBarrierCanBeRepeatedOnItsSignal(t *testing.T) {
	for _, form := range []string{"incore", "host"} {
		res := ok(t, mesh(t), chain(t, collectives.Item{Call: barrierCall(form, 4, 0), Repeat: collectives.Repeat{Count: 5, Between: "none"}}))
		n := &res.Totals
		assert.Equal(t, []int64{60, 60, 60, 0}, []int64{n[result.Notifies], n[result.PollsSatisfied], n[result.SelfAdds], n[result.BytesSent]})
	}
}

func TestHostBarrierBeyondSixteenRanksDoesNothing(t *testing.T) {
	res := run(t, mesh(t, "fabric.kind=clos"), compose(t, barrierCall("host", 17, 0)), hw.Options{})
	assert.Equal(t, result.Hazardous, res.Status)
	assert.Contains(t, res.Hazards[0].Text, "returned without communicating")
	assert.Zero(t, res.Totals[result.Notifies])
}

// With rank 1 late, rank 0 sees whether the barrier holds.
func lateRank(job *program.Job) *program.Job {
	job.Offsets = []engine.Duration{0, 100 * engine.Microsecond}
	return job
}

func TestMistakesOfABarrierShowWhatTheyDoOnHardware(t *testing.T) {
	for _, x := range []struct {
		form, mistake string
		ranks         int
		want          result.Status
	}{
		{"hand_set", "wait_rows", 2, result.Deadlock},
		{"hand_add", "wait_rows", 2, result.Deadlock},
		{"hand_set", "second_round", 4, result.WrongData},
		{"hand_add", "second_round", 4, result.WrongData},
		{"shared", "set_shared", 4, result.Deadlock},
		{"root", "set_shared", 4, result.Deadlock},
		{"epoch", "same_expected", 4, result.WrongData},
	} {
		c := barrierCall(x.form, x.ranks, 16)
		c.Mistake = x.mistake
		if x.form == "epoch" {
			c.Epochs = 2
		}
		job := compose(t, c)
		if x.want == result.WrongData {
			job.Slow = []engine.Fraction{engine.One, 100 * engine.One}
		}
		res := run(t, mesh(t), job, hw.Options{})
		assert.Equal(t, x.want, res.Status, "%s %s %v", x.form, x.mistake, res.Hazards)
		if x.mistake == "wait_rows" { // F13: one rank waits forever
			require.Len(t, res.Stuck.Waits, 1)
			assert.Equal(t, 1, res.Stuck.Waits[0].Rank)
		}
	}
}

func TestWhatTheCompilerRefusesOfABarrier(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"core_num: barrier takes no core_num":   func(c *collectives.Call) { c.CoreNum = 2 },
		"signal_columns: the signal of barrier": func(c *collectives.Call) { c.Signal = 2 },
		"size: -1, must not be negative":        func(c *collectives.Call) { c.Size = -1 },
		"size: a tile load of 28 B":             func(c *collectives.Call) { c.Size = 7 },
		"root: 4, must be a valid rank in [0,4)": func(c *collectives.Call) {
			c.Form, c.Root = "root", 4
		},
		"signal must be a window": func(c *collectives.Call) { c.Kinds = map[string]string{"signal": "tensor"} },
	} {
		c := barrierCall("hand_add", 4, 0)
		change(c)
		_, err := collectives.Compose(4, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
}
