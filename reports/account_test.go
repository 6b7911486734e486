package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
)

// column adds up what the text shows of a reason table's column, in picoseconds.
func column(t *testing.T, text string) (sum, shown int64) {
	t.Helper()
	in := false
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Time by reason"):
			in = true
		case !in || len(f) < 3 || strings.HasPrefix(line, "reason") || strings.HasPrefix(line, "---"):
		default:
			var whole, part int64
			_, err := fmt.Sscanf(f[1], "%d.%06d", &whole, &part)
			require.NoError(t, err, line)
			if f[0] == "sum" {
				return sum, whole*1e6 + part
			}
			sum += whole*1e6 + part
		}
	}
	t.Fatal("no sum")
	return 0, 0
}

func TestShownReasonsAddUpToTheElapsedTimeExactly(t *testing.T) {
	c := fakeCard()
	sum, shown := column(t, text(t, c))
	assert.Equal(t, int64(c.Result.Elapsed), sum)
	assert.Equal(t, int64(c.Result.Elapsed), shown)
}

func TestAPicosecondWithoutReasonIsShown(t *testing.T) {
	c := fakeCard()
	for i := range c.Result.Blocks {
		c.Result.Blocks[i].Time[result.Scalar]--
	}
	got := text(t, c)
	assert.Contains(t, got, "INCONSISTENT: the time of the slowest block leaves 0.000001 us")
	assert.Regexp(t, `UNACCOUNTED +0\.000001`, got)
	sum, shown := column(t, got)
	assert.Equal(t, sum, shown)
}

// Two calls and a gap: 40 us, 10 us of nothing, 60 us. A third call runs beside the
// second and ends earlier, so it is not of the chain.
func TestSeveralCallsFormAChainThatTilesTheRun(t *testing.T) {
	r := &result.Result{Schema: result.Schema, Status: result.OK, Elapsed: 110_000_000, Ranks: make([]result.Rank, 1)}
	for i, c := range []struct{ start, end engine.Time }{{5_000_000, 45_000_000}, {55_000_000, 115_000_000}, {56_000_000, 100_000_000}} {
		d := c.end.Sub(c.start)
		r.Calls = append(r.Calls, result.Call{Name: "c", Repeat: i, Timed: true, Start: c.start, End: c.end, Elapsed: d, Ranks: []result.Span{{Start: c.start, End: c.end}}})
		b := result.Block{Call: i, End: c.end}
		b.Time[result.Launch], b.Time[result.MTE2] = 1_000_000, d-1_000_000
		r.Blocks = append(r.Blocks, b)
	}
	c := &Card{Title: "chain", Result: r}
	a := newAccounts(r)
	assert.Equal(t, []int{0, 1}, a.chain)
	assert.Equal(t, engine.Duration(10_000_000), a.between)
	assert.Zero(t, a.lost)
	got := text(t, c)
	assert.Regexp(t, `launch +2\.000000`, got)
	assert.Regexp(t, `mte2 +98\.000000`, got)
	assert.Regexp(t, `between_calls +10\.000000`, got)
	sum, _ := column(t, got)
	assert.Equal(t, int64(r.Elapsed), sum)
	assert.Contains(t, got, "\nCalls\n")
}

// Rank 1 begins 30 us late; rank 0 waits for its signal. Both end together.
func TestTheSlowestBlockIsTheOneThatTheOthersWaitedFor(t *testing.T) {
	r := &result.Result{Schema: result.Schema, Status: result.OK, Elapsed: 100_000_000, Ranks: make([]result.Rank, 2)}
	r.Calls = []result.Call{{Name: "c", Timed: true, End: 100_000_000, Elapsed: 100_000_000}}
	for rank, start := range []engine.Time{0, 30_000_000} {
		for block := range 2 {
			b := result.Block{Rank: rank, Block: block, Start: start, End: 100_000_000}
			b.Time[result.Idle] = start.Sub(0)
			b.Time[result.SignalWait] = engine.Duration(45_000_000-start) + 20_000_000*engine.Duration(1-block)
			b.Time[result.CQEWait] = 100_000_000 - b.Time.Sum()
			r.Blocks = append(r.Blocks, b)
		}
	}
	a := newAccounts(r)
	require.Len(t, a.blocks, 1)
	assert.Equal(t, "rank 1, block 1", place(a.blocks[0]))
	assert.Equal(t, engine.Duration(45_000_000), a.ranks[0][result.SignalWait], "of rank 0's blocks, 1 waited less")
	assert.Equal(t, r.Elapsed, a.slowest.Sum())
}
