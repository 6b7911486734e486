package collectives_test

import (
	"slices"
	"strings"
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
		if a.Op == "micro" || losesCounts[a.Name()] { // benchmarks have no signals
			continue
		}
		c := calls(a, 29)[0]
		job := compose(t, c)
		job.Faults = []program.Fault{{Kind: "drop_notify", Src: 1, Dst: 0}}
		found := false
		for _, w := range stuck(t, job) {
			switch {
			case w.Rank == 0 && w.Missing == "a notify from rank 1 to column 0":
				assert.Contains(t, w.Cell, "signal[1,0]")
			case w.Rank == 0 && w.Missing == "a notify from rank 1 to row 0":
				assert.Contains(t, w.Cell, "signal[0,1]")
			case w.Rank == 0 && strings.HasPrefix(w.Missing, "notifies to cell"):
				assert.Contains(t, w.Cell, "signal[")
			default:
				continue
			}
			found = true
			assert.Equal(t, w.Expected-1, w.Value, "one credit too few")
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
		signals := slices.ContainsFunc(job.Buffers, func(b program.Buffer) bool { return b.Name == "signal" })
		if trustsNobody[a.Name()] || !signals && a.Op == "micro" { // benchmarks may have signals of another kind
			continue
		}
		words := make([]int32, c.Ranks*max(c.CoreNum, 1))
		words[max(c.CoreNum, 1)] = 1 // source 1, column 0
		if a.Name() == "barrier/shared" {
			words[0] = 1
		}
		job.Buffers[buffer(t, job, "signal")].Table = cells{0, words}
		res := run(t, mesh(t), job, hw.Options{})
		require.Contains(t, []result.Status{result.Hazardous, result.WrongData}, res.Status)
		assert.Contains(t, res.Hazards[0].Text, "rank 0: cell")
		assert.Contains(t, res.Hazards[0].Text, "is 1, not 0, before the first call")
		if len(job.Tasks[0].Zero) > 0 {
			assert.Contains(t, res.Hazards[1].Text, "after the last call")
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
