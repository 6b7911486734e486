package diff

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

func point(elapsed engine.Duration, axes ...string) document.Point {
	p := document.Point{Status: result.OK, Elapsed: elapsed, Digest: "d", Reasons: result.Times{result.Launch: 10, result.CQEWait: elapsed - 10}, Counters: result.Counters{result.SQEs: 4}}
	for i := 0; i < len(axes); i += 2 {
		p.Axes = append(p.Axes, document.KV{Key: axes[i], Value: axes[i+1]})
	}
	return p
}

func run(p document.Point, config ...document.Leaf) Named {
	return Named{"run", &document.Document{Head: document.NewHead(document.KindRun, "v"), Summary: &p, Run: &document.Run{Title: "t", Config: config}}}
}

func sweep(points ...document.Point) Named {
	return Named{"sweep", &document.Document{Head: document.NewHead(document.KindSweep, "v"), Sweep: &document.Sweep{Title: "s", Points: points}}}
}

func compare(t require.TestingT, a, b Named, tolerances ...string) *document.Diff {
	var tol Tolerances
	for _, x := range tolerances {
		require.NoError(t, tol.Parse(x))
	}
	d, err := Compare(a, b, tol)
	require.NoError(t, err)
	require.NoError(t, d.Check())
	return d
}

func find(t *testing.T, p *document.Pair, name string) document.Figure {
	for _, f := range p.Figures {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no figure %s", name)
	return document.Figure{}
}

func TestARunEqualsItself(t *testing.T) {
	d := compare(t, run(point(100)), run(point(100)))
	assert.True(t, d.Equal)
	assert.Empty(t, d.Inputs)
	assert.Empty(t, d.Largest)
	assert.Zero(t, d.Pairs[0].Change)
}

// A takes 100 ps: 10 of launch and 90 of CQEs. B takes 150 ps, 30 of launch, 100 of CQEs
// and 20 between calls: 20 + 10 + 20 = 50 ps more.
func TestADifferenceInTimeIsTheSumOfWhatItsPartsChanged(t *testing.T) {
	b := point(150)
	b.Reasons, b.Between = result.Times{result.Launch: 30, result.CQEWait: 100}, 20
	d := compare(t, run(point(100)), run(b))
	assert.False(t, d.Equal)
	assert.Equal(t, engine.Duration(50), d.Pairs[0].Change)
	assert.Equal(t, []document.PartPair{
		{Name: "launch", A: 10, B: 30, Change: 20}, {Name: "between_calls", B: 20, Change: 20}, {Name: "cqe_wait", A: 90, B: 100, Change: 10},
	}, d.Pairs[0].Parts)
	assert.Equal(t, d.Pairs[0].Parts, d.Parts)
	assert.Equal(t, "launch grew by 20 ps, from 10 ps to 30 ps: 40 % of the difference", d.Largest)
	f := find(t, &d.Pairs[0], Elapsed)
	assert.Equal(t, engine.Fraction(500_000), *f.Share)
}

// Both runs spent 60 ps on the wire; A waited 40 ps for a poll, B 30 ps, and 15 ps for a
// doorbell.
func TestTheCriticalPathSaysMoreThanOneBlocksAccount(t *testing.T) {
	a, b := point(100), point(105)
	a.Path = []document.Part{{Name: "wire", Time: 60}, {Name: "poll", Time: 40}}
	b.Path = []document.Part{{Name: "wire", Time: 60}, {Name: "doorbell", Time: 15}, {Name: "poll", Time: 30}}
	d := compare(t, run(a), run(b))
	assert.Equal(t, []document.PartPair{{Name: "doorbell", B: 15, Change: 15}, {Name: "poll", A: 40, B: 30, Change: -10}, {Name: "wire", A: 60, B: 60}}, d.Pairs[0].Parts)
	assert.Contains(t, d.Pairs[0].Basis, "critical path")

	b.Path[0].Time = 59 // it does not add up
	d = compare(t, run(a), run(b))
	assert.Contains(t, d.Pairs[0].Basis, "account of the block")
	b.Path = nil
	assert.Contains(t, compare(t, run(a), run(b)).Pairs[0].Basis, "account of the block")
	other := point(7, "n", "1")
	assert.Contains(t, compare(t, sweep(a, other), sweep(a, other)).Pairs[0].Basis, "account of the block", "one way for all pairs")
}

func TestThePartNamedGoesInTheDirectionOfTheWhole(t *testing.T) {
	b := point(90)
	b.Reasons = result.Times{result.Launch: 40, result.CQEWait: 30, result.Idle: 20}
	assert.Equal(t, "cqe_wait shrank by 60 ps, from 90 ps to 30 ps: 600 % of the difference", compare(t, run(point(100)), run(b)).Largest)
	b = point(100)
	b.Reasons = result.Times{result.Launch: 11, result.CQEWait: 89}
	d := compare(t, run(point(100)), run(b), "0 %")
	assert.Equal(t, "launch grew by 1 ps, from 10 ps to 11 ps", d.Largest, "there is nothing to be a share of")
	assert.True(t, d.Equal, "the digest of the test is the same")
}

func TestAToleranceHoldsUpToItsLastPicosecond(t *testing.T) {
	for _, x := range []struct {
		b     engine.Duration
		tol   []string
		equal bool
	}{
		{1000, []string{"0 %"}, true}, {1001, []string{"0"}, false},
		{1010, []string{"1 %"}, true}, // 10 of 1010 is less than 1 %
		{990, []string{"1 %"}, true}, {989, []string{"1 %"}, false},
		{1011, []string{"1 %"}, false}, // 11 of 1011 is more
		{900, []string{"elapsed=10 %"}, true}, {899, []string{"elapsed=10 %"}, false},
		{900, []string{"10 %", "elapsed=1 %"}, false},
		{900, []string{"elapsed=1 %", "elapsed=10 %"}, true}, // the last one counts
	} {
		d := compare(t, run(point(1000)), run(point(x.b)), x.tol...)
		assert.Equal(t, x.equal, d.Equal, "%d %v", x.b, x.tol)
		assert.Equal(t, x.equal, compare(t, run(point(x.b)), run(point(1000)), x.tol...).Equal, "the order does not matter: %d %v", x.b, x.tol)
	}
}

func TestCountersHaveTolerancesAloneAndTogether(t *testing.T) {
	b := point(100)
	b.Counters[result.SQEs] = 5
	for text, equal := range map[string]bool{"20 %": true, "19 %": false, "counters=20 %": true, "sqes=20 %": true, "sges=20 %": false, "elapsed=20 %": false} {
		assert.Equal(t, equal, compare(t, run(point(100)), run(b), text).Equal, text)
	}
}

func TestDigestsCountOnlyWhereNothingMayDiffer(t *testing.T) {
	b := point(100)
	b.Digest = "e"
	assert.False(t, compare(t, run(point(100)), run(b)).Equal)
	assert.True(t, compare(t, run(point(100)), run(b), "1 %").Equal)
	assert.True(t, compare(t, run(point(100)), run(b), "elapsed=1 %").Equal)
}

func TestRunsThatEndedInDifferentWaysAreNotAttributed(t *testing.T) {
	b := point(50)
	b.Status = result.Deadlock
	d := compare(t, run(point(100)), run(b), "100 %")
	assert.False(t, d.Equal)
	assert.Empty(t, d.Pairs[0].Parts)
	assert.Contains(t, d.Pairs[0].Note, "different ways (ok, deadlock)")
	d = compare(t, run(b), run(b))
	assert.True(t, d.Equal)
	assert.Contains(t, d.Pairs[0].Note, "both runs ended as deadlock")
	b.Status = document.NotPossible
	assert.Equal(t, "neither run was possible", compare(t, run(b), run(b)).Pairs[0].Note)
}

func TestTimesOfNothingHaveNoShares(t *testing.T) {
	d := compare(t, run(document.Point{Status: result.OK}), run(point(100)), "100 %")
	assert.Nil(t, find(t, &d.Pairs[0], Elapsed).Share)
	assert.True(t, d.Equal, "a tolerance of 100 %% takes anything of one sign")
	d = compare(t, run(document.Point{Status: result.OK}), run(point(100)), "99 %")
	assert.False(t, d.Equal)
}

func TestPointsAreMatchedByTheirAxesAndTheLargestChangeComesFirst(t *testing.T) {
	a := sweep(point(100, "n", "1", "size", "1 KiB"), point(200, "n", "2", "size", "1 KiB"), point(300, "n", "3", "size", "1 KiB"), point(400, "n", "4", "size", "1 KiB"))
	failed := point(400, "n", "4", "size", "1 KiB")
	failed.Status = result.Aborted
	b := sweep(failed, point(303, "size", "1024 B", "n", "3"), point(240, "n", "2", "size", "1 KiB"), point(7, "n", "9", "size", "1 KiB"))
	d := compare(t, a, b)
	var order []string
	for _, p := range d.Pairs {
		order = append(order, p.Axes[0].Value)
	}
	assert.Equal(t, []string{"4", "2", "3"}, order, "another end, 20 %%, 1 %%")
	assert.Equal(t, [][]document.KV{a.Sweep.Points[0].Axes}, d.OnlyA)
	assert.Equal(t, [][]document.KV{b.Sweep.Points[3].Axes}, d.OnlyB)
	assert.False(t, d.Equal)
	assert.Equal(t, "cqe_wait grew by 43 ps, from 480 ps to 523 ps: 100 % of the difference", d.Largest)

	d = compare(t, a, sweep(a.Sweep.Points[:3]...), "100 %")
	assert.False(t, d.Equal, "a missing point is a difference")
}

func TestPointsAtOnePlaceAreMatchedInOrder(t *testing.T) {
	d := compare(t, sweep(point(100, "n", "1"), point(200, "n", "1")), sweep(point(100, "n", "1"), point(200, "n", "1"), point(300, "n", "1")))
	require.Len(t, d.Pairs, 2)
	assert.Zero(t, d.Pairs[0].Change)
	assert.Zero(t, d.Pairs[1].Change)
	assert.Len(t, d.OnlyB, 1)
}

func TestInputsDifferInWhatTheyMean(t *testing.T) {
	leaf := func(path, value string) document.Leaf {
		return document.Leaf{Path: path, Value: value, Kind: document.Assumed, Text: "a guess", File: "m.yaml", Line: 7}
	}
	wide, unread := leaf("band", "1 us"), leaf("other", "1 us")
	wide.Low, wide.High, unread.Unread = "0 us", "2 us", true
	a := run(point(100), leaf("same", "1 us"), leaf("clock", "1.65 GHz"), leaf("band", "1 us"), leaf("gone", "4"), unread)
	b := run(point(100), leaf("clock", "1.5 GHz"), leaf("same", "1000 ns"), wide, leaf("new", "x"))
	a.Run.Inputs, b.Run.Inputs = []document.KV{{Key: "routing ", Value: "3 rows"}, {Key: "title", Value: "x"}}, []document.KV{{Key: "routing", Value: "4 rows"}, {Key: "title", Value: "y"}}
	const from = "est m.yaml:7: a guess"
	assert.Equal(t, []document.Changed{
		{Path: "clock", A: "1.65 GHz", B: "1.5 GHz", FromA: from, FromB: from},
		{Path: "band", A: "1 us", B: "1 us (0 us to 2 us)", FromA: from, FromB: from},
		{Path: "gone", A: "4", FromA: from},
		{Path: "other", A: "1 us", FromA: from, Unread: true},
		{Path: "new", B: "x", FromB: from},
		{Path: "routing (as the card says it)", A: "3 rows", B: "4 rows"},
	}, compare(t, a, b).Inputs)
	a.Run.Config = nil
	assert.Len(t, compare(t, a, b).Inputs, 4+2, "without a configuration there is what the card says")
}

// The first runs of the two sweeps are on different machines, but points are compared
// with their partners alone.
func TestPointsOfSweepsDifferInWhatTheirOwnRunsReadDifferently(t *testing.T) {
	leaf := func(path, value string) document.Leaf {
		return document.Leaf{Path: path, Value: value, Kind: document.Assumed}
	}
	gone := document.Leaf{Path: "old", Absent: true}
	other := func(n string, config ...document.Leaf) document.Point {
		p := point(100, "n", n)
		p.Config = config
		return p
	}
	a, b := sweep(other("1"), other("2", leaf("hbm", "8 GB"), gone)), sweep(other("2"), other("1", leaf("hbm", "4 GB"), leaf("old", "x")))
	a.Sweep.Config = []document.Leaf{leaf("n", "1"), leaf("clock", "1 GHz"), leaf("hbm", "4 GB"), leaf("old", "x")}
	b.Sweep.Config = []document.Leaf{leaf("n", "2"), leaf("clock", "2 GHz"), leaf("hbm", "8 GB")}
	d := compare(t, a, b)
	assert.Equal(t, []document.Changed{{Path: "clock", A: "1 GHz", B: "2 GHz", FromA: "est", FromB: "est"}}, d.Inputs)
	assert.Empty(t, d.Pairs[0].Inputs)
	assert.Empty(t, d.Pairs[1].Inputs)

	b.Sweep.Points[0].Config = []document.Leaf{leaf("hbm", "9 GB")}
	d = compare(t, a, b)
	assert.Equal(t, []document.Changed{{Path: "hbm", A: "8 GB", B: "9 GB", FromA: "est", FromB: "est"}}, d.Pairs[1].Inputs)
}

func TestOnlyDocumentsOfOneKindCanBeCompared(t *testing.T) {
	_, err := Compare(run(point(1)), sweep(point(1)), Tolerances{})
	assert.EqualError(t, err, "run holds a run and sweep a sweep; both must be of one kind")
	x := Named{"x.json", &document.Document{Head: document.NewHead(document.KindExplanation, "")}}
	_, err = Compare(x, x, Tolerances{})
	assert.EqualError(t, err, "x.json holds an explanation; runs, sweeps, validations and calibrations can be compared")
}

func TestWhoWroteTheDocumentsIsSaid(t *testing.T) {
	a, b := run(point(1)), run(point(1))
	b.Program = "w"
	d := compare(t, a, b)
	assert.Equal(t, []string{"A was written by pldperf v, B by w"}, d.Notes)
	assert.True(t, d.Equal)
}

func TestTolerancesAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"1": "", "-1 %": "", "101 %": "no tolerance, which is 0 % to 100 %", "elapsed=": "", "elapsd=1 %": `"elapsd" is no figure`, "=1 %": `"" is no figure`, "": "",
	} {
		var tol Tolerances
		assert.ErrorContains(t, tol.Parse(text), want, text)
	}
}

func anyTimes(t *rapid.T, name string) (out result.Times) {
	for k := range out {
		if rapid.Bool().Draw(t, "there") {
			out[k] = engine.Duration(rapid.Int64Range(0, 1<<40).Draw(t, name))
		}
	}
	return out
}

func anyPoint(t *rapid.T, name string) document.Point {
	p := document.Point{Status: result.OK, Reasons: anyTimes(t, name), Between: engine.Duration(rapid.Int64Range(0, 1000).Draw(t, "between"))}
	lost := engine.Duration(rapid.SampledFrom([]int64{0, 0, 0, 5, -5}).Draw(t, "lost"))
	p.Elapsed = max(p.Reasons.Sum()+p.Between+lost, 0)
	if left := p.Elapsed; rapid.Bool().Draw(t, "path") {
		for _, cause := range []string{"wire", "poll", "launch"} {
			x := engine.Duration(rapid.Int64Range(0, int64(left)).Draw(t, cause))
			p.Path, left = append(p.Path, document.Part{Name: cause, Time: x}), left-x
		}
		p.Path = append(p.Path, document.Part{Name: "egress", Time: left})
	}
	p.Algbw = engine.Rate(rapid.Int64Range(0, math.MaxInt64).Draw(t, "algbw"))
	return p
}

// Whatever two runs did: their parts add up to each time, the changes to the difference,
// and comparing the other way round only turns the signs.
func TestPartsOfAnyTwoRunsAddUpExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyPoint(t, "a"), anyPoint(t, "b")
		tol := rapid.SampledFrom([]string{"0", "1 %", "50 %"}).Draw(t, "tolerance")
		d, back := compare(t, run(a), run(b), tol), compare(t, run(b), run(a), tol)
		var sum document.PartPair
		for _, p := range d.Pairs[0].Parts {
			sum.A, sum.B, sum.Change = sum.A+p.A, sum.B+p.B, sum.Change+p.Change
		}
		assert.Equal(t, document.PartPair{A: a.Elapsed, B: b.Elapsed, Change: b.Elapsed - a.Elapsed}, sum)
		assert.Equal(t, d.Equal, back.Equal)
		assert.Equal(t, -d.Pairs[0].Change, back.Pairs[0].Change)
		assert.True(t, compare(t, run(a), run(a), tol).Equal)
	})
}

// within and share are exact: they agree with rational numbers of any size.
func TestSharesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		tol := engine.Fraction(rapid.Int64Range(0, 1_000_000).Draw(t, "tolerance"))
		if (a < 0) == (b < 0) && a != b {
			gap, most := new(big.Int).Abs(new(big.Int).Sub(big.NewInt(a), big.NewInt(b))), new(big.Int).SetUint64(max(size(a), size(b)))
			want := gap.Mul(gap, big.NewInt(1_000_000)).Cmp(most.Mul(most, big.NewInt(int64(tol)))) <= 0
			assert.Equal(t, want, within(a, b, tol))
		}
		if s, ok := share(a, b); ok {
			// |share - a/b * 10^6| <= 1/2
			gap := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(s)), new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(a), big.NewInt(1_000_000)), big.NewInt(b)))
			assert.LessOrEqual(t, gap.Abs(gap).Cmp(big.NewRat(1, 2)), 0)
		}
	})
}
