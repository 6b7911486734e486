package traces_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
	"pldperf/reports/traces"
	"pldperf/workloads/routing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small is a run that fits on a page: a block on each of two ranks.
func small(t testing.TB) (hw.Spec, *collectives.Call) {
	return hwtest.Machine(t, "950dt-64"), &collectives.Call{Op: "allgather", Form: "host", Ranks: 2, DType: "FP32", Size: 64}
}

func run(t testing.TB, spec hw.Spec, c *collectives.Call, sink timeline.Sink) *result.Result {
	t.Helper()
	job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
	require.NoError(t, err)
	res, err := hw.Run(spec, job, hw.Options{Timeline: sink})
	require.NoError(t, err)
	require.Equal(t, result.OK, res.Status)
	return res
}

// written traces a run in one format.
func written(t testing.TB, f traces.Format, o traces.Options, spec hw.Spec, c *collectives.Call) ([]byte, traces.Stats) {
	t.Helper()
	var out bytes.Buffer
	tr, err := traces.New(&out, f, o)
	require.NoError(t, err)
	run(t, spec, c, tr)
	s, err := tr.Close(traces.Fact{Key: "run", Value: `a "run"`})
	require.NoError(t, err)
	require.EqualValues(t, out.Len(), s.Bytes)
	return out.Bytes(), s
}

// busy is a call that uses queues, the ring and signals.
func busy(t testing.TB) (hw.Spec, *collectives.Call) {
	r, err := routing.New(routing.Spec{Kind: "moe_topk", Tokens: 40, Experts: 16, TopK: 4, Seed: 1}, 4, 4160, nil)
	require.NoError(t, err)
	return hwtest.Machine(t, "950dt-64"), &collectives.Call{
		Op: "indexed_all_to_all_v", Form: "l2", Ranks: 4, CoreNum: 3, DType: "INT8", Hidden: 4160, Traffic: []collectives.Traffic{r},
	}
}

func TestASmallTraceIsTheGoldenOne(t *testing.T) {
	spec, c := small(t)
	text, _ := written(t, traces.Chrome, traces.Options{}, spec, c)
	const path = "testdata/small.json"
	if *update {
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(text))
}

func TestBothFormatsSayTheSame(t *testing.T) {
	for _, make := range []func(testing.TB) (hw.Spec, *collectives.Call){small, busy} {
		spec, c := make(t)
		text, a := written(t, traces.Chrome, traces.Options{}, spec, c)
		raw, b := written(t, traces.Perfetto, traces.Options{}, spec, c)
		assert.Equal(t, a.Events, b.Events)
		want, about := chromeEvents(t, text)
		got, same := perfettoEvents(t, raw)
		assert.Equal(t, `a "run"`, about["run"])
		assert.Equal(t, about, same)
		require.NotEmpty(t, got)
		assert.Equal(t, lines(want), lines(got[:len(got)-1]), "the last one tells of the trace")
	}
}

// nested requires of the events of a file, in whole nanoseconds, what viewers need: on each
// track spans follow one another or lie within what is open, and every begin has its end.
func nested(t tb, events []event) (tracks map[string]int) {
	t.Helper()
	tracks = map[string]int{}
	type state struct {
		stack []int64
		end   int64
	}
	at := map[string]*state{}
	for _, e := range events {
		if strings.HasSuffix(e.Track, " SQE") { // lanes have one name
			continue
		}
		tracks[e.Track]++
		s := at[e.Track]
		if s == nil {
			s = &state{}
			at[e.Track] = s
		}
		require.GreaterOrEqual(t, e.At, s.end, "%v", e)
		switch s.end = e.At; e.Kind {
		case "begin":
			s.stack = append(s.stack, e.At)
		case "end":
			require.NotEmpty(t, s.stack, "%v", e)
			s.stack = s.stack[:len(s.stack)-1]
		case "span":
			s.end += e.Dur
		}
	}
	for name, s := range at {
		assert.Empty(t, s.stack, name)
	}
	return tracks
}

func TestATraceShowsEachPartOfTheMachine(t *testing.T) {
	spec, c := busy(t)
	text, _ := written(t, traces.Chrome, traces.Options{}, spec, c)
	events, _ := chromeEvents(t, text)
	tracks := nested(t, events)
	for _, want := range []string{
		"rank 0: calls", "rank 3: AIV 2 SCALAR", "rank 0: AIV 0 SIMT", "rank 0: AIV 1 MTE2", "rank 0: AIV 1 MTE3", "rank 0: AIV 1 stage ring in stages",
		"rank 1: URMA to rank 2 SQ depth in WQEBB", "rank 0: fabric port to rank 3", "rank 0: fabric egress cap", "rank 0: fabric ingress cap rate in B/s",
		"rank 0: memory HBM", "rank 0: memory L2", "rank 0: memory HBM rate in B/s",
	} {
		assert.Contains(t, tracks, want)
	}
	assert.True(t, slices.ContainsFunc(events, func(e event) bool { return e.Track == "rank 1: URMA to rank 2 SQE" && e.Name == "wire" }))
}

func TestLevelsRanksAndTimesChoose(t *testing.T) {
	spec, c := busy(t)
	all, _ := written(t, traces.Chrome, traces.Options{}, spec, c)
	whole, _ := chromeEvents(t, all)
	counts := map[traces.Level]int{}
	for _, l := range traces.Levels {
		text, _ := written(t, traces.Chrome, traces.Options{Level: l}, spec, c)
		events, about := chromeEvents(t, text)
		counts[l] = len(events)
		assert.Equal(t, string(l), about["level"])
		for _, e := range events {
			if l == traces.Blocks {
				assert.Regexp(t, `: (calls|AIV \d SCALAR)$`, e.Track)
			}
			assert.False(t, l != traces.All && (strings.Contains(e.Track, "fabric") || strings.Contains(e.Track, "memory")), e.Track)
		}
	}
	assert.Less(t, 2*counts[traces.Blocks], counts[traces.Pipes])
	assert.Less(t, counts[traces.Pipes], counts[traces.All])

	text, _ := written(t, traces.Chrome, traces.Options{Ranks: []int{1, 3}}, spec, c)
	some, _ := chromeEvents(t, text)
	assert.Equal(t, slices.DeleteFunc(lines(whole), func(s string) bool { return strings.Contains(s, " rank 0: ") || strings.Contains(s, " rank 2: ") }), lines(some))

	const from, to = 5_000, 9_000 // ns
	text, _ = written(t, traces.Chrome, traces.Options{From: from * 1000, To: to * 1000}, spec, c)
	some, _ = chromeEvents(t, text)
	nested(t, some)
	assert.Less(t, len(some), len(whole))
	for _, e := range some {
		assert.True(t, e.At >= from && e.At+e.Dur <= to, "%v", e)
	}
	inside := slices.DeleteFunc(slices.Clone(whole), func(e event) bool { return e.Kind != "span" || e.At <= from || e.At+e.Dur >= to })
	assert.Subset(t, lines(some), lines(inside))
}

func TestATraceStaysWithinItsLimitsAndSaysWhatItLacks(t *testing.T) {
	spec, c := busy(t)
	all, full := written(t, traces.Chrome, traces.Options{}, spec, c)
	assert.Empty(t, full.CutText())
	whole, about := chromeEvents(t, all)
	assert.NotContains(t, about, "cut")
	for _, f := range []traces.Format{traces.Chrome, traces.Perfetto} {
		raw, s := written(t, f, traces.Options{Events: 500}, spec, c)
		assert.EqualValues(t, 500, s.Events)
		assert.EqualValues(t, full.Events, s.Events+s.Dropped)
		read := chromeEvents
		if f == traces.Perfetto {
			read = perfettoEvents
		}
		some, about := read(t, raw)
		assert.Equal(t, s.CutText(), about["cut"])
		assert.Regexp(t, `^the trace holds 500 of \d+ events: all that ends before [\d.]+ us, some of what ends up to [\d.]+ us, nothing later: the limit is 500 events$`, about["cut"])
		for _, e := range some {
			if e.Kind == "span" || e.Kind == "count" {
				assert.LessOrEqual(t, e.At+e.Dur, int64(s.Last)/1000, "nothing later")
			}
		}
		cut := int64(s.Cut) / 1000
		if f == traces.Chrome {
			nested(t, some)
			before := slices.DeleteFunc(slices.Clone(whole), func(e event) bool { return e.Kind != "span" || e.At+e.Dur >= cut })
			require.NotEmpty(t, before)
			assert.Subset(t, lines(some), lines(before), "whole up to there")
		}

		const limit = 60_000
		raw, s = written(t, f, traces.Options{Bytes: limit}, spec, c)
		assert.LessOrEqual(t, len(raw), limit)
		assert.Greater(t, len(raw), limit*8/10)
		assert.Contains(t, s.CutText(), "the limit is 60 kB")
		read(t, raw)
	}
}

func TestTheNumberOfEventsDecidesWhetherATraceIsCut(t *testing.T) {
	spec, c := small(t)
	_, full := written(t, traces.Chrome, traces.Options{}, spec, c)
	_, s := written(t, traces.Chrome, traces.Options{Events: full.Events}, spec, c)
	assert.Empty(t, s.CutText())
	_, s = written(t, traces.Chrome, traces.Options{Events: full.Events - 1}, spec, c)
	assert.NotEmpty(t, s.CutText())
	assert.EqualValues(t, 1, s.Dropped)
}

// broken fails at its second write.
type broken struct{ writes int }

var errFull = errors.New("disk full")

func (b *broken) Write(p []byte) (int, error) {
	if b.writes++; b.writes > 1 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAFileThatCannotBeWrittenIsAnError(t *testing.T) {
	spec, c := busy(t)
	tr, err := traces.New(&broken{}, traces.Chrome, traces.Options{})
	require.NoError(t, err)
	run(t, spec, c, tr)
	_, err = tr.Close()
	require.ErrorIs(t, err, errFull)
	_, err = traces.New(nil, "xml", traces.Options{})
	require.ErrorContains(t, err, `no trace format "xml"`)
}

func TestTheCriticalPathIsATrackAndArrowsThatRunForwards(t *testing.T) {
	for _, make := range []func(testing.TB) (hw.Spec, *collectives.Call){small, busy} {
		spec, c := make(t)
		for _, f := range []traces.Format{traces.Chrome, traces.Perfetto} {
			var out bytes.Buffer
			tr, err := traces.New(&out, f, traces.Options{Path: true})
			require.NoError(t, err)
			res := run(t, spec, c, tr)
			require.NotEmpty(t, res.Path.Steps)
			require.NoError(t, tr.Path(res.Path))
			_, err = tr.Close()
			require.NoError(t, err)
			events := read(t, f, out.Bytes())
			var length int64
			var from []event
			arrows, tracks, spent := 0, map[string]bool{}, map[string]int64{}
			for _, e := range events {
				switch {
				case e.Track == "machine: critical path":
					require.Equal(t, "span", e.Kind)
					assert.NotEmpty(t, e.Args["of"])
					length += e.Dur
					spent[e.Name] += e.Dur
					if strings.HasSuffix(e.Name, "_queue") {
						assert.Regexp(t, `^(\d+ -> \d+|rank \d+|others)$`, e.Args["holder"], "who has what the step waits for")
					}
				case e.Kind == "leave":
					from = append(from, e)
				case e.Kind == "arrive":
					arrows++
					require.Equal(t, e.Value, from[len(from)-1].Value, "the two ends stand together")
					assert.GreaterOrEqual(t, e.At, from[len(from)-1].At)
					assert.NotEqual(t, e.Track, from[len(from)-1].Track)
					tracks[e.Track] = true
				}
			}
			assert.InDelta(t, float64(res.Elapsed)/1000, float64(length), float64(len(res.Path.Steps)), "it tiles the run")
			for _, p := range res.Path.Parts {
				assert.InDelta(t, float64(p.Time)/1000, float64(spent[p.Cause]), float64(len(res.Path.Steps)), "%s: as the card has it", p.Cause)
			}
			assert.Equal(t, len(from), arrows)
			assert.Greater(t, arrows, 3)
			assert.Greater(t, len(tracks), 1)
			assert.Contains(t, strings.Join(slices.Collect(maps.Keys(tracks)), "\n"), "SCALAR")
		}
	}
}

// crowded is a call whose flows wait for each other, with several SQEs under way on a queue.
func crowded(t testing.TB) (hw.Spec, *collectives.Call) {
	spec, c := busy(t)
	r, err := routing.New(routing.Spec{Kind: "moe_topk", Tokens: 400, Experts: 16, TopK: 4, Seed: 1}, 4, 4160, nil)
	require.NoError(t, err)
	c.Traffic = []collectives.Traffic{r}
	return spec, c
}

// pathOf traces a run with its path as Chrome JSON.
func pathOf(t testing.TB, spec hw.Spec, c *collectives.Call) (*result.Result, []byte) {
	var out bytes.Buffer
	tr, err := traces.New(&out, traces.Chrome, traces.Options{Path: true})
	require.NoError(t, err)
	res := run(t, spec, c, tr)
	require.NoError(t, tr.Path(res.Path))
	_, err = tr.Close()
	require.NoError(t, err)
	return res, out.Bytes()
}

func TestWaitsOfThePathNameWhoHeldWhatTheyWaitFor(t *testing.T) {
	spec, c := crowded(t)
	res, text := pathOf(t, spec, c)
	events, _ := chromeEvents(t, text)
	named := map[string]int{}
	for _, e := range events {
		if e.Track == "machine: critical path" && strings.HasSuffix(e.Name, "_queue") {
			named[e.Args["holder"].(string)]++
		}
	}
	held := 0
	for i := range res.Path.Steps {
		if s := &res.Path.Steps[i]; s.Queued > 0 && s.Holder != nil {
			held++
			assert.Contains(t, named, fmt.Sprintf("%d -> %d", s.Holder.Rank, s.Holder.Peer))
		}
	}
	assert.Positive(t, held)
}

// chromeEvent is an event as the file has it.
type chromeEvent struct {
	Ph, Name string
	Tid      int64
	Ts, Dur  float64
	ID       int64
}

// SQEs overlap, each on a lane of its own: an arrow must lead to the one that is at the stage.
func TestArrowsLeadToTheLaneOfTheirSQE(t *testing.T) {
	spec, c := crowded(t)
	res, text := pathOf(t, spec, c)
	var file struct{ TraceEvents []chromeEvent }
	require.NoError(t, json.Unmarshal(text, &file))
	arrives := map[int64]int64{} // step -> track
	for _, e := range file.TraceEvents {
		if e.Ph == "f" {
			arrives[e.ID-1] = e.Tid
		}
	}
	stages := map[string]string{"sge_gather": "gather", "ack": "ack", "cqe_write": "cqe"}
	seen, lanes := map[string]int{}, map[int64]bool{}
	for i := range res.Path.Steps {
		s, tid := &res.Path.Steps[i], arrives[int64(i)]
		stage, ok := stages[s.Cause]
		if !ok || tid == 0 {
			continue
		}
		seen[stage]++
		lanes[tid] = true
		end := float64(int64(s.To)/1000) / 1000
		assert.True(t, slices.ContainsFunc(file.TraceEvents, func(e chromeEvent) bool {
			return e.Tid == tid && e.Name == stage && math.Abs(e.Ts+e.Dur-end) < 0.0015
		}), "step %d, %s, ends at %v us; on track %d nothing does", i, s.Cause, end, tid)
	}
	t.Logf("%v on %d lanes", seen, len(lanes))
	assert.Positive(t, seen["ack"])
}

// What a block spends on waiting for others is, rank by rank, what its spans say.
func TestBlockedSpansNameTheirHolder(t *testing.T) {
	spec, c := crowded(t)
	res, text := pathOf(t, spec, c)
	events, _ := chromeEvents(t, text)
	type key struct{ track, reason, holder string }
	shown, want, times := map[key]int64{}, map[key]int64{}, map[key]int64{}
	for _, e := range events {
		if e.Kind == "span" && (e.Name == "signal_wait" || e.Name == "cqe_wait" || e.Name == "remote_wait") {
			holder, ok := e.Args["holder"].(string)
			assert.True(t, ok, "%v", e)
			k := key{e.Track, e.Name, holder}
			shown[k] += e.Dur
			times[k]++
		}
	}
	for i := range res.Blocks {
		b := &res.Blocks[i]
		for _, h := range b.Held {
			holder := "memory"
			if h.Reason == "signal_wait" {
				holder = "a sector of signal cells"
			}
			if h.Peer >= 0 {
				holder = fmt.Sprintf("rank %d", h.Peer)
			}
			want[key{fmt.Sprintf("rank %d: AIV %d SCALAR", b.Rank, b.Block), h.Reason, holder}] += int64(h.Time)
		}
	}
	require.NotEmpty(t, want)
	for k, d := range want {
		assert.InDelta(t, float64(d)/1000, float64(shown[k]), float64(times[k]+1), "%v", k)
	}
	assert.Len(t, shown, len(want))
}

func read(t testing.TB, f traces.Format, b []byte) (events []event) {
	t.Helper()
	if f == traces.Perfetto {
		events, _ = perfettoEvents(t, b)
	} else {
		events, _ = chromeEvents(t, b)
	}
	return events
}

func TestAPathThatRunsBackwardsIsAnError(t *testing.T) {
	tr, err := traces.New(&bytes.Buffer{}, traces.Chrome, traces.Options{})
	require.NoError(t, err)
	require.NoError(t, tr.Path(nil))
	require.NoError(t, tr.Path(&result.Path{Steps: []result.PathStep{{From: 1, To: 2}, {From: 2, To: 3}}}))
	require.ErrorContains(t, tr.Path(&result.Path{Steps: []result.PathStep{{From: 1, To: 2}, {From: 1, To: 3}}}), "runs backwards at step 1")
	require.ErrorContains(t, tr.Path(&result.Path{Steps: []result.PathStep{{From: 2, To: 1}}}), "runs backwards at step 0")
}

func TestACutTraceStillShowsThePath(t *testing.T) {
	spec, c := busy(t)
	var out bytes.Buffer
	tr, err := traces.New(&out, traces.Chrome, traces.Options{Events: 1000, Path: true})
	require.NoError(t, err)
	res := run(t, spec, c, tr)
	require.NoError(t, tr.Path(res.Path))
	s, err := tr.Close()
	require.NoError(t, err)
	assert.NotEmpty(t, s.CutText())
	assert.LessOrEqual(t, s.Events, int64(1000))
	events, about := chromeEvents(t, out.Bytes())
	assert.Len(t, events, int(s.Events)+strings.Count(out.String(), `"ph":"E"`)+strings.Count(out.String(), `"ph":"f"`))
	steps := strings.Count(out.String(), `"of":"`)
	assert.Greater(t, steps, 5)
	assert.LessOrEqual(t, steps, 20)
	assert.Regexp(t, `^up to [\d.]+ us: what follows exceeds the limits$`, about["critical path"])
}

// A trace of anything that a Sink may be told, in any window, nests in whole nanoseconds.
func TestWhateverIsToldNests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := traces.Options{
			From: engine.Time(rapid.IntRange(0, 5000).Draw(t, "from")), Events: int64(rapid.IntRange(0, 40).Draw(t, "events")),
		}
		o.To = o.From + engine.Time(rapid.IntRange(1, 20000).Draw(t, "length"))
		var out bytes.Buffer
		tr, err := traces.New(&out, traces.Chrome, o)
		require.NoError(t, err)
		require.True(t, tr.Open(1, &timeline.Place{Kind: timeline.Scalar, Name: "SCALAR", Group: "AIV 0"}))
		require.True(t, tr.Open(2, &timeline.Place{Kind: timeline.Stages, Name: "ring", Group: "AIV 0", Unit: "stages"}))
		at, depth := engine.Time(0), 0
		step := func() engine.Time {
			at += engine.Time(rapid.IntRange(0, 1500).Draw(t, "step"))
			return at
		}
		for range rapid.IntRange(0, 60).Draw(t, "told") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				tr.Begin(1, step(), "begin")
				depth++
			case 1:
				if depth > 0 {
					tr.End(1, step())
					depth--
				}
			case 2:
				tr.Count(2, step(), int64(rapid.IntRange(0, 8).Draw(t, "value")))
			case 3:
				tr.Instant(1, step(), "instant")
			default:
				tr.Span(1, &timeline.Span{Begin: step(), End: step() + 1, Name: "span", Peer: -1, Seq: -1})
				at++
			}
		}
		for ; depth > 0; depth-- {
			tr.End(1, step())
		}
		s, err := tr.Close()
		require.NoError(t, err)
		events, _ := chromeEvents(t, out.Bytes())
		nested(t, events)
		if o.Events > 0 {
			assert.LessOrEqual(t, s.Events, o.Events)
		}
		for _, e := range events {
			assert.True(t, e.At >= int64(o.From)/1000 && e.At+e.Dur <= int64(o.To)/1000, "%v", e)
		}
	})
}
