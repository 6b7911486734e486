package reports

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

func text(t *testing.T, c *Card) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{}))
	return b.String()
}

func TestCardsKeepTheirForm(t *testing.T) {
	goldens(t, "card", func(b *bytes.Buffer, f Format) error { return fakeCard().Write(b, f, Options{}) })
}

func TestCardOfAnAbortedRunSaysWhereAndDefinesNoRates(t *testing.T) {
	c := fakeCard()
	c.Result.Status = result.Aborted
	c.Result.Abort = &result.Abort{Time: 5_000_000, Rank: 2, Block: 1, Op: "send_owned", What: "index", Value: 4096, Limit: 4095, Text: "index_2[3,17] = 4096, Nmax is 4096"}
	got := text(t, c)
	assert.Contains(t, got, "ABORTED at 5.000 us by rank 2, block 1, in send_owned: index is 4,096, the limit is 4,095")
	assert.Contains(t, got, "index_2[3,17] = 4096")
	assert.Regexp(t, `algbw +n/a  GB/s`, got)
	assert.Regexp(t, `reached +n/a  %`, got)
	assert.NotContains(t, got, "INCONSISTENT")
	goldens(t, "aborted", func(b *bytes.Buffer, f Format) error { return c.Write(b, f, Options{}) })
}

func TestCardOfADeadlockListsWhoWaitsForWhat(t *testing.T) {
	c := fakeCard()
	c.Result.Status = result.Deadlock
	c.Result.Hazards = []result.Hazard{{Kind: result.CellsSet, Text: "cell signal[1,0] began at 1"}}
	c.Result.Stuck = &result.Stuck{Time: 7_000_000, More: 3, Waits: []result.Waiting{
		{Rank: 1, Block: 0, Op: "wait_peers", Since: 2_500_000, Cell: "signal[0,0]", Value: 0, Expected: 1, Missing: "rank 0, block 0"},
		{Rank: 1, Block: 1, Op: "wait_peers", Since: 2_600_000, Cell: "signal[0,1]", Value: -1, Expected: 1, Missing: "rank 0, block 1, which was not launched: rank 0 runs core_num 1"},
	}}
	got := text(t, c)
	assert.Contains(t, got, "DEADLOCK at 7.000 us: 5 blocks can never go on")
	assert.Regexp(t, `1  cells_not_zero +cell signal\[1,0\] began at 1`, got)
	assert.Contains(t, got, "signal[0,1]")
	assert.Contains(t, got, "3 further waits not listed")
	goldens(t, "deadlock", func(b *bytes.Buffer, f Format) error { return c.Write(b, f, Options{}) })
}

func TestVerdictsOfRunsThatWentWrong(t *testing.T) {
	c := fakeCard()
	c.Result.Status, c.Result.Data.Wrong, c.Result.Data.WrongWords = result.WrongData, 7168, 1
	c.Result.Data.Mismatches = []string{"target of rank 3 at 7168: from rank 0, not rank 1"}
	assert.Contains(t, text(t, c), "WRONG DATA: 7,168 B and 1 control word wrong. 91,750,400 B of payload checked as provenance")
	assert.Contains(t, text(t, c), "target of rank 3 at 7168")

	c = fakeCard()
	c.Result.Status, c.Result.Hazards = result.Hazardous, []result.Hazard{{Text: "rank 0 overwrote rows that rank 1 had not read"}}
	assert.Contains(t, text(t, c), "HAZARD: the data came out right, but by luck: 1 hazard.")
	assert.Contains(t, text(t, c), "rank 0 overwrote rows")

	c = fakeCard()
	c.Result.Data = result.Data{Payload: "bytes"}
	assert.Contains(t, text(t, c), "Nothing was checked")
}

func TestEveryReasonAndCounterShowsUp(t *testing.T) {
	c := fakeCard()
	for k := range result.NumCounters { // what is zero and was predicted to be is not listed as text
		c.Result.Totals[k]++
	}
	got := text(t, c)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, CSV, Options{}))
	for k := range result.NumReasons {
		assert.Contains(t, got, "\n"+k.String()+" ", "text has %s", k)
		assert.Contains(t, b.String(), "time,"+k.String()+"_us,slowest_block", "CSV has %s", k)
	}
	for k := range result.NumCounters {
		assert.Contains(t, got, "\n"+k.String()+" ", "text has %s", k)
		assert.Contains(t, b.String(), "counters,"+k.String()+",counted", "CSV has %s", k)
	}
}

func TestReasonsThatTookNoTimeAreLeftOut(t *testing.T) {
	c := fakeCard()
	for i := range c.Result.Blocks {
		b := &c.Result.Blocks[i]
		b.Time[result.CQEWait] += b.Time[result.Compute]
		b.Time[result.Compute] = 0
	}
	assert.NotContains(t, text(t, c), "\ncompute ")
	assert.NotContains(t, text(t, c), "INCONSISTENT")
}

func TestARunFasterThanItsBoundIsAFault(t *testing.T) {
	c := fakeCard()
	c.Bound.Total = c.Result.Elapsed
	assert.NotContains(t, text(t, c), "INCONSISTENT")
	c.Bound.Total++
	assert.Contains(t, text(t, c), "INCONSISTENT: the run took 123.456789 us, less than its lower bound of 123.456790 us")
}

func TestTotalsThatAreNotTheSumOfTheRanksAreAFault(t *testing.T) {
	c := fakeCard()
	c.Result.Totals[result.SQEs]++
	assert.Contains(t, text(t, c), "INCONSISTENT: sqes: the ranks add up to 804, the total is 805")
}

func TestAResourceCannotBeBusyForLongerThanTheRun(t *testing.T) {
	c := fakeCard()
	c.Result.Resources[0].Busy = c.Result.Elapsed + 1
	assert.Contains(t, text(t, c), "INCONSISTENT: port, 0 -> 1, was busy for 123.456790 us")
	c.Result.Calls = append(c.Result.Calls, result.Call{Name: "clean-up", Op: "indexed_all_to_all_v", End: 200_000_000})
	assert.NotContains(t, text(t, c), "INCONSISTENT")
	assert.Contains(t, text(t, c), "Shares are of the whole run, 200.000 us")
}

func TestCountsThatDifferFromTheFormulaSayWhere(t *testing.T) {
	c := fakeCard()
	c.Result.Ranks[2].Counters[result.Doorbells] += 2
	c.Result.Totals[result.Doorbells] += 2
	assert.Regexp(t, `doorbells +26 +24  \+2; rank 2: 8, not 6`, text(t, c))
}

func TestRanksThatCancelOutDoNotHideBehindTheTotal(t *testing.T) {
	c := fakeCard()
	c.Result.Ranks[0].Counters[result.SQEs]--
	c.Result.Ranks[1].Counters[result.SQEs]++
	assert.Regexp(t, `sqes +804 +804  \+0; rank 0: 200, not 201`, text(t, c))
}

// In words: each rank gives 4*800 rows to all, 3*800 of them
// to others.
func TestRatesAreBytesOverElapsed(t *testing.T) {
	c := fakeCard()
	c.Result.Elapsed = 100 * engine.Microsecond
	m := Measure(c)
	assert.Equal(t, engine.Rate(4*800*7168)*10_000, m.Algbw)
	assert.Equal(t, engine.Rate(3*800*7168)*10_000, m.Wire)
	assert.Equal(t, m.Wire, m.Busbw, "all ranks are equally busy")

	c.Result.Ranks[1].Counters[result.BytesReceived] *= 2
	assert.Equal(t, 2*m.Busbw, Measure(c).Busbw, "the busiest rank may be one that receives")
	assert.Equal(t, m.Wire, Measure(c).Wire)
}

func TestARunThatTookNoTimeHasNoRates(t *testing.T) {
	c := &Card{Title: "nothing", Result: &result.Result{Schema: result.Schema, Status: result.OK}}
	got := text(t, c)
	assert.Regexp(t, `algbw +n/a`, got)
	for _, f := range Formats() {
		var b bytes.Buffer
		require.NoError(t, c.Write(&b, f, Options{}))
		assert.NotContains(t, b.String(), "NaN")
		assert.NotContains(t, b.String(), "Inf")
	}
}

func TestACardComesBackFromItsJSON(t *testing.T) {
	for _, f := range Formats() {
		c := fakeCard()
		c.Result.Status = result.Deadlock
		c.Result.Stuck = &result.Stuck{Waits: []result.Waiting{{Op: "wait_peers"}}}
		var first, again, want, got bytes.Buffer
		require.NoError(t, c.Write(&first, JSON, Options{}))
		back, err := ReadCard(bytes.NewReader(first.Bytes()))
		require.NoError(t, err)
		require.NoError(t, back.Write(&again, JSON, Options{}))
		assert.Equal(t, first.String(), again.String())
		require.NoError(t, c.Write(&want, f, Options{}))
		require.NoError(t, back.Write(&got, f, Options{}))
		assert.Equal(t, want.String(), got.String())
	}
}

func TestReportsOfAnotherSchemaAreRefused(t *testing.T) {
	for in, want := range map[string]string{
		`{"schema":1,"card":{}}`:                       "schema 1, older than pldperf/result version 2",
		`KIND "sweep"}`:                                `needs the field "sweep"`,
		`KIND "run","run":{}}`:                         "needs a result",
		`KIND "run","run":{"titel":""}}`:               "titel",
		`KIND "validation","validation":{"files":[]}}`: "this is a validation and no run",
	} {
		in = strings.Replace(in, "KIND", `{"schema":"pldperf/result","version":2,"kind":`, 1)
		_, err := ReadCard(strings.NewReader(in))
		assert.ErrorContains(t, err, want, in)
	}
}

func TestCardsThatDoNotFitTheirResultAreErrors(t *testing.T) {
	var b bytes.Buffer
	assert.ErrorContains(t, (&Card{}).Write(&b, Text, Options{}), "needs a result")
	c := fakeCard()
	c.Formula = c.Formula[1:]
	assert.ErrorContains(t, c.Write(&b, Text, Options{}), "formulas for 3 ranks, its result has 4")
	c = fakeCard()
	c.Result.Blocks[0].Call = 1
	assert.ErrorContains(t, c.Write(&b, Text, Options{}), "belongs to no call or rank")
	assert.ErrorContains(t, fakeCard().Write(&b, "html", Options{}), "unknown format")
	assert.Zero(t, b.Len(), "nothing is half written")
}

func TestCSVCellsSurviveCommasQuotesAndLines(t *testing.T) {
	c := fakeCard()
	c.Inputs = []KV{{Key: `routing, "hot"`, Value: "a,b\n\"c\""}}
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, CSV, Options{}))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	assert.Contains(t, rows, []string{"inputs", `routing, "hot"`, "", "", "", "", "a,b\n\"c\""})
}

func TestMarkdownEscapesWhatWouldBreakATable(t *testing.T) {
	c := fakeCard()
	c.Title = "# <b>a|b</b> *x*\nsecond"
	c.Inputs = []KV{{Key: "a|b", Value: "c|d `e` [f](g) _h_ \x1b[31m"}}
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Markdown, Options{}))
	assert.Contains(t, b.String(), `# \# &lt;b>a\|b&lt;/b> \*x\* second`)
	assert.Contains(t, b.String(), `| a\|b`)
	assert.Contains(t, b.String(), "c\\|d \\`e\\` [f]\\(g) \\_h\\_")
	assert.NotContains(t, b.String(), "\x1b")
}

func TestTextKeepsToItsWidth(t *testing.T) {
	for _, width := range []int{100, 120, 160} {
		var b bytes.Buffer
		require.NoError(t, fakeCard().Write(&b, Text, Options{Width: width}))
		for _, line := range strings.Split(b.String(), "\n") {
			assert.LessOrEqual(t, len([]rune(line)), width, line)
		}
	}
}

func TestSkewIsSaidEvenWhenThereIsNone(t *testing.T) {
	assert.Regexp(t, `start skew +0: all ranks start together`, text(t, fakeCard()))
	c := fakeCard()
	c.Result.Calls[0].Ranks[3].Start = 2_000_000
	assert.Regexp(t, `start skew +2\.000 us between`, text(t, c))
}

// raced is a run whose data is wrong because of a race.
func raced() *Card {
	c := fakeCard()
	c.Result.Status, c.Result.Data.Wrong = result.WrongData, 188
	c.Result.Data.Mismatches = []string{": rank 0 target+769 (188 bytes): not the bytes of rank 3 input+1 version 0"}
	c.Result.Hazards = []result.Hazard{{
		Kind: result.ReadEarly, Text: "rank 0 reads what rank 3 has not published to it", Count: 12,
		First:   &result.Access{Rank: 3, Op: "put", Phase: "push", Kind: "write", Buffer: "target", Owner: 0, Off: 768, Len: 256, Time: 23_500_000},
		Second:  &result.Access{Task: "first", Rank: 0, Block: 1, Op: "copy", Kind: "read", Buffer: "target", Owner: 0, Off: 0, Len: 1024, Time: 5_000_000},
		Missing: "a notify of rank 3 after its put, and a wait of rank 0 before its copy",
	}}
	c.Result.Diagnoses = []result.Diagnosis{{Row: "F5", Symptom: "wrong values only at P=4", Cause: "there is no barrier", Fix: "insert one", Evidence: "rank 0 target+769 still holds what was there before"}}
	return c
}

func TestAHazardShowsBothAccessesAndWhatWouldOrderThem(t *testing.T) {
	goldens(t, "raced", func(b *bytes.Buffer, f Format) error { return raced().Write(b, f, Options{}) })
	got := text(t, raced())
	assert.Regexp(t, `first +rank 3, block 0: put \(phase push\) writes target\+768, 256 B, of rank 0,\s+at 23\.500 us`, got)
	assert.Regexp(t, `second +first, rank 0, block 1: copy reads target\+0, 1,024 B, of rank 0,\s+at\s+5\.000 us`, got)
	assert.Regexp(t, `missing +a notify of rank 3 after its put`, got)
	assert.Contains(t, got, "\nrank 0 target+769 (188 bytes)", "a call without a name leaves no colon")
	for _, word := range []string{"Symptom +wrong values", "Cause +there is no barrier", "Fix +insert one", "In this run +rank 0"} {
		assert.Regexp(t, word, got)
	}
	p := NewPoint(nil, 0, raced())
	assert.Contains(t, p.Problem, "; F5: there is no barrier")
}

func TestACardListsFewHazardsAndItsJSONAll(t *testing.T) {
	c := raced()
	for len(c.Result.Hazards) < 20 {
		c.Result.Hazards = append(c.Result.Hazards, c.Result.Hazards[0])
	}
	assert.Contains(t, text(t, c), "14 further hazards not listed")
}

func TestARunThatDidNothingIsNoRightDataByLuck(t *testing.T) {
	c := fakeCard()
	c.Result.Status = result.Hazardous
	c.Result.Hazards = []result.Hazard{{Kind: result.NothingDone, Text: "it serves at most 16 ranks"}}
	assert.Contains(t, text(t, c), "NOTHING DONE: it serves at most 16 ranks")
	p := NewPoint(nil, 0, c)
	assert.Equal(t, NotPossible, p.Status)
	assert.Equal(t, "it serves at most 16 ranks", p.Problem)
}

func TestCountersOfWhatDidNotHappenAreLeftOutUnlessPredicted(t *testing.T) {
	c := fakeCard()
	assert.NotContains(t, text(t, c), "remote_loads")
	c.Formula[1][result.RemoteLoads] = 3
	assert.Regexp(t, `remote_loads +0 +3  -3; rank 1: 0, not 3`, text(t, c))
}

func TestACardShowsTheClockOfABenchmarkBesideTheElapsedTime(t *testing.T) {
	c := fakeCard()
	c.Clock = &document.BenchClock{Time: 120 * engine.Microsecond, Calls: 1, Covers: "first to last op of the slowest AIV"}
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{Width: 160}))
	assert.Regexp(t, `(?m)^benchmark's clock +120\.000000 +us +first to last op of the slowest AIV; what validate compares`, b.String())
	assert.NotContains(t, b.String(), "mean of")
	c.Outside = tooSmall("4 KiB")
	b.Reset()
	require.NoError(t, c.Write(&b, Text, Options{Width: 160}))
	assert.Contains(t, b.String(), "benchmark's clock*")
	b.Reset()
	require.NoError(t, c.Write(&b, CSV, Options{}))
	assert.Contains(t, b.String(), "results,benchmark_clock_us,,,,us,120.000000")
	b.Reset()
	require.NoError(t, c.Write(&b, JSON, Options{}))
	again, err := ReadCard(&b)
	require.NoError(t, err)
	assert.Equal(t, c.Clock, again.Clock)
}

func TestTheMeanOfCallsIsOfOneCallAgainAndAgain(t *testing.T) {
	calls := func(x ...result.Call) *result.Result { return &result.Result{Status: result.OK, Calls: x} }
	put := func(name string, timed bool, us engine.Duration) result.Call {
		return result.Call{Name: name, Op: "micro", Timed: timed, Elapsed: us * engine.Microsecond}
	}
	mean, n := meanCall(calls(put(" #0", false, 9), put("check #0", false, 1), put(" #1", true, 4), put(" #2", true, 5)))
	assert.Equal(t, 2, n)
	assert.Equal(t, 4500*engine.Nanosecond, mean)
	_, n = meanCall(calls(put("a #0", true, 4), put("b #0", true, 5)))
	assert.Zero(t, n, "of two items there is no mean")
	_, n = meanCall(calls(put("", true, 4)))
	assert.Equal(t, 1, n)

	for name, want := range map[string]string{"": "micro", " #2": "micro #2", "a #2": "a #2"} {
		c := put(name, true, 1)
		assert.Equal(t, want, callName(&c))
	}
}
