package reports

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

func fakeExplanation() *Explanation {
	const us = engine.Microsecond
	half, twice := 0.045, -0.26
	return &Explanation{
		Run: document.Run(*fakeCard()),
		Twins: []Twin{
			{Name: "bandwidth", What: "nothing is shared", Sets: []string{"machine.fabric.kind=ideal"}, Elapsed: 40 * us, Saves: 83_456_789},
			{Name: "fabric", What: "no limit", Sets: []string{"machine.fabric.kind=ideal"}, Elapsed: 50 * us, Saves: 73_456_789},
			{Name: "polls", What: "seen at once", Sets: []string{"machine.aiv.poll.kind=ideal"}, Elapsed: 110 * us, Saves: 13_456_789},
			{Name: "memory", What: "no latency", Sets: []string{"machine.memory.kind=ideal"}, Elapsed: 124 * us, Saves: -543_211},
			{Name: "urma", What: "queues", Sets: []string{"machine.urma.kind=ideal"}, Problem: "machine.urma: there is none"},
		},
		Pairs: []TwinPair{{A: "fabric", B: "polls", Saves: 90 * us, Beyond: 3_086_422}},
		Moves: []Move{
			{Path: "fabric.mesh.port", Value: "56 GB/s", Kind: document.Documented, Below: "53.2 GB/s", Above: "58.8 GB/s", Elasticity: -0.91},
			{Path: "aiv.poll.max", Value: "1.6 us", Kind: document.Assumed, Below: "1.52 us", Above: "1.68 us", Elasticity: 0.05, Half: &half},
			{Path: "urma.build.efficiency", Value: "100 %", Kind: document.Assumed, Below: "95 %", Above: "100 %", Elasticity: -0.13, Half: &twice, Unsteady: true},
			{Path: "aiv.fence", Value: "0.15 us", Kind: document.Assumed, Below: "142.5 ns", Above: "157.5 ns", Elasticity: 0},
		},
		Blocks: []CoreNumPoint{{CoreNum: 1, Elapsed: 300 * us}, {CoreNum: 2, Elapsed: 125 * us}, {CoreNum: 4, Elapsed: 124 * us}, {CoreNum: 8, Elapsed: 123_500_000}, {CoreNum: 64, Problem: "more than there are"}},
	}
}

func TestExplanationsKeepTheirForm(t *testing.T) {
	goldens(t, "explanation", func(b *bytes.Buffer, f Format) error { return fakeExplanation().Write(b, f, Options{Width: 110}) })
}

func TestSentencesSayWhatHelpsAndWhatDoesNot(t *testing.T) {
	all := strings.Join(fakeExplanation().Sentences(), "\n")
	assert.Contains(t, all, "91.5 % of what pair allows: only less traffic or more of that")
	assert.Contains(t, all, "Made ideal alone, most would be saved by fabric (59.5 %) and polls (10.9 %). Less than 1 % each: memory.")
	assert.Contains(t, all, "it would still take 40.000 us")
	assert.Contains(t, all, "core_num beyond 2 does not help (2 %)")
	assert.Contains(t, all, "the port of 3 -> 0 is busy 87.5 % of the time")
	assert.Contains(t, all, "The time follows most: fabric.mesh.port (-0.91 % per %) and aiv.poll.max (+0.05 % per %).")
	assert.Contains(t, all, "Assumed parameters that weigh: aiv.poll.max (+0.05 % per %).")
	assert.Contains(t, all, "No slope, as half the change gives another one (a step, another limit, or the phase of polls): urma.build.efficiency (-0.13 % per %).")

	far := fakeExplanation()
	far.Run.Bound.Parts[2].Time = 10 * engine.Microsecond
	assert.Contains(t, far.Sentences()[0], "No resource is near its limit: the nearest, egress")
	far.Twins, far.Moves, far.Blocks = nil, nil, nil
	all = strings.Join(far.Sentences(), "\n")
	assert.Contains(t, all, "No single ideal part would save 5 %")
	assert.NotContains(t, all, "core_num")
}

// A bound that is nearly as high as the one that binds limits the run as well: more of one alone is not enough.
func TestABoundBesideTheOneThatBindsIsNamed(t *testing.T) {
	e := fakeExplanation()
	binds := e.Run.Bound.Binds()
	e.Run.Bound.Parts = append(e.Run.Bound.Parts, BoundPart{Name: "hbm", Time: binds.Time * 95 / 100}, BoundPart{Name: "self", Time: binds.Time * 85 / 100})
	assert.Contains(t, e.Sentences()[0], "of what pair allows, and hbm would allow hardly more: only less traffic or more of all of these")
}

// A run that is wrong says how, as its card does, and that nothing else was run.
func TestAnExplanationOfWhatIsWrongShowsWhatIsWrong(t *testing.T) {
	e := fakeExplanation()
	r := *e.Run.Result
	e.Run.Result, e.Twins, e.Pairs, e.Moves, e.Blocks = &r, nil, nil, nil, nil
	r.Status, r.Stuck = result.Deadlock, &result.Stuck{Waits: []result.Waiting{{Rank: 3, Op: "wait_peers", Cell: "signal[1,0]", Missing: "a notify from rank 1"}}}
	r.Diagnoses = []result.Diagnosis{{Row: "F6", Symptom: "every rank hangs"}}
	r.Hazards = []result.Hazard{{Kind: "read_before_publication", Text: "by luck"}}
	r.Data.Hazards = "no: too many blocks"
	r.Notes = []string{"a word of warning"}
	var b bytes.Buffer
	require.NoError(t, e.Write(&b, Text, Options{Width: 110}))
	for _, want := range []string{"Who waits for what", "a notify from rank 1", "every rank hangs", "by luck", "Hazards checked: no: too many blocks", "note: a word of warning", "no other run was made"} {
		assert.Contains(t, b.String(), want)
	}
}

func TestEveryWordOfACardIsExplained(t *testing.T) {
	for _, w := range Words() {
		assert.NotEmpty(t, w.What, w.Name)
	}
}

func TestMoreBlocksThatHelpToTheLimitAreSaidToHelp(t *testing.T) {
	e := fakeExplanation()
	e.Blocks = []CoreNumPoint{{CoreNum: 1, Elapsed: 300}, {CoreNum: 2, Elapsed: 150}}
	assert.Contains(t, strings.Join(e.Sentences(), "\n"), "More blocks help up to the limit of 2.")
}

func TestARunThatIsWrongIsNotExplained(t *testing.T) {
	e := fakeExplanation()
	e.Run.Result.Status = result.WrongData
	assert.Empty(t, e.Sentences())
}

func TestASensitivityThatIsNoNumberIsAnError(t *testing.T) {
	e := fakeExplanation()
	e.Moves[1].Elasticity = math.NaN()
	assert.ErrorContains(t, e.Write(&bytes.Buffer{}, Text, Options{}), "aiv.poll.max")
}

func TestAnExplanationReadsBack(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, fakeExplanation().Write(&b, JSON, Options{}))
	d, err := document.Read(&b)
	require.NoError(t, err)
	assert.Equal(t, fakeExplanation(), (*Explanation)(d.Explanation))
}

func TestACardWithoutAPathSaysWhy(t *testing.T) {
	c := fakeCard()
	c.Result.Path = &result.Path{Note: "not recorded: the run has too many events"}
	assert.Contains(t, text(t, c), "not recorded: the run has too many events")
	c.Result.Path = nil
	assert.NotContains(t, text(t, c), "spent on")
}
