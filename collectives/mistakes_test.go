package collectives_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/collectives/symptoms"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// wrongly returns the call with a mistake in it.
func wrongly(c *collectives.Call, mistake string) *collectives.Call {
	out := *c
	out.Mistake = mistake
	return &out
}

// texts lists what a job's tasks are.
func texts(job *program.Job) (out []any) {
	for _, t := range job.Tasks {
		out = append(out, t.Name, t.Blocks)
		if t.Program != nil {
			out = append(out, t.Program.Ops)
		}
	}
	return out
}

func TestEveryMistakeOfEveryAlgorithmChangesItsProgramOrSaysThatItCannot(t *testing.T) {
	for _, a := range collectives.All() {
		made := 0
		for _, m := range a.MistakeNames() {
			c := calls(a, 64)[2] // 4 ranks
			if errs := a.Check(wrongly(c, m)); len(errs) > 0 {
				continue // the compiler refuses it
			}
			items := []collectives.Item{{Call: wrongly(c, m)}}
			items[0].Repeat.Count = 2
			job, err := collectives.Compose(c.Ranks, items)
			if err != nil {
				assert.ErrorContains(t, err, "mistake: "+m+" changes nothing in "+a.Name(), a.Name())
				continue
			}
			items[0].Call = c
			right, err := collectives.Compose(c.Ranks, items)
			require.NoError(t, err)
			assert.NotEqual(t, texts(right), texts(job), "%s %s", a.Name(), m)
			made++
		}
		if !alone[a.Name()] {
			assert.Positive(t, made, a.Name())
		}
	}
}

func TestMistakesOfAnAlgorithmNameARowOfTheTableAndSayWhatIsDone(t *testing.T) {
	check := func(m collectives.Mistake) {
		_, ok := symptoms.SymptomOf(m.Row)
		assert.True(t, ok, "%s: no row %q", m.Name, m.Row)
		assert.NotEmpty(t, m.Doc, m.Name)
	}
	for _, a := range collectives.All() {
		for _, m := range a.Mistakes {
			check(m)
		}
		names := a.MistakeNames()
		assert.True(t, slices.IsSorted(names))
		assert.Equal(t, slices.Compact(slices.Clone(names)), names)
	}
	for _, m := range collectives.AnyMistakes() {
		check(m)
	}
}

func TestAMistakeThatNobodyCanMakeIsAnError(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 2, DType: "FP32", Size: 8, Mistake: "no_bareer"}
	_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
	assert.ErrorContains(t, err, `all_to_all/hand cannot make "no_bareer"`)
	c.Mistake = "one_row"
	_, err = collectives.Compose(2, []collectives.Item{{Call: c}})
	assert.ErrorContains(t, err, "mistake: one_row changes nothing in all_to_all/hand")
}

func TestAMistakeLeavesTheRightProgramAlone(t *testing.T) {
	right := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64}
	job := chain(t, collectives.Item{Name: "right", Call: right}, collectives.Item{Name: "wrong", Call: wrongly(right, "no_barrier"), After: []string{"right"}})
	assert.Contains(t, kinds(job.Tasks[0].Program), program.WaitPeers)
	assert.NotContains(t, kinds(job.Tasks[1].Program), program.WaitPeers)
}

func kinds(p *program.Program) (out []program.Kind) {
	for i := range p.Ops {
		out = append(out, p.Ops[i].Kind)
	}
	return out
}

// looped has a barrier with its credit in a loop around it, and one in front.
func TestMistakesKeepLoopsWhole(t *testing.T) {
	p := &program.Program{Name: "looped"}
	notify := program.Op{Kind: program.NotifyPeers, Stride: 1, Value: program.Const(1)}
	wait := program.Op{Kind: program.WaitPeers, Stride: 1, Value: program.Const(1)}
	p.Phase("ready").Add(notify)
	p.Add(wait)
	p.Phase("work").Loop(program.Const(3), func() {
		p.Loop(program.Const(2), func() { p.Add(program.Op{Kind: program.Put, Bytes: program.Const(8)}) })
		p.Add(notify)
		each := wait
		each.Value = program.Expr{C: 2, L: [program.MaxLoops]int64{1}}
		p.Add(each)
	})
	p.Add(program.Op{Kind: program.AddPeers, Stride: 1, Value: program.Const(-4)})
	for mistake, want := range map[string]string{
		"no_barrier":      "loop(loop(put))",
		"no_ready":        "loop(loop(put) notify_peers wait_peers=i+1) add_peers=-3",
		"no_closing":      "loop(loop(put) notify_peers wait_peers=i+2) add_peers=-3", // there is one on the top level
		"handshake_early": "notify_peers wait_peers=1 loop(notify_peers loop(put) wait_peers=i+2) add_peers=-4",
		"wait_first":      "wait_peers=1 notify_peers loop(loop(put) wait_peers=i+2 notify_peers) add_peers=-4",
	} {
		got, err := collectives.Spoil(&collectives.Call{Ranks: 2, Mistake: mistake}, p)
		require.NoError(t, err)
		assert.Equal(t, want, shape(got.Ops), mistake)
	}
}

// shape prints a program as nested words.
func shape(ops []program.Op) (out string) {
	for i := 0; i < len(ops); i++ {
		o := &ops[i]
		if out != "" {
			out += " "
		}
		switch {
		case o.Kind == program.Loop:
			out += "loop(" + shape(ops[i+1:i+1+o.Skip]) + ")"
			i += o.Skip
		case o.Kind == program.WaitPeers || o.Kind == program.AddPeers:
			out += o.Kind.String() + "=" + o.Value.String()
		default:
			out += o.Kind.String()
		}
	}
	return out
}

func TestNotifyingRowZeroHangsAllButRankOneOfTwo(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 2, DType: "FP32", Size: 8, Mistake: "mismatched_rows"}
	waits := stuck(t, compose(t, c))
	require.Len(t, waits, 1)
	assert.Equal(t, []any{0, "signal[1,0]"}, []any{waits[0].Rank, waits[0].Cell})
	c.Ranks = 4
	assert.Len(t, stuck(t, compose(t, c)), 4)
}

func TestAMistakeInOneBlockOfSeveralRunsEveryBlock(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 2, DType: "FP32", Size: 8, Mistake: "spmd"}
	res := run(t, mesh(t), compose(t, c), hw.Options{})
	assert.Equal(t, int64(2*2*2), res.Totals[result.Puts], "two ranks, two blocks, two puts each")
}

func TestF31TheBuiltinRingIsSlowerThanTheHandRing(t *testing.T) {
	took := func(form string) int64 {
		c := &collectives.Call{Op: "allreduce", Form: form, Ranks: 8, DType: "FP32", Size: 8 * 1024}
		return int64(ok(t, mesh(t), compose(t, c)).Elapsed)
	}
	hand := took("ring_hand")
	assert.Greater(t, took("ring_incore"), hand, "two full barriers a round")
	assert.Greater(t, took("ring_host"), hand, "a full barrier a round, and PIPE_ALLs")
}
