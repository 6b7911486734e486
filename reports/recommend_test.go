package reports

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/result"
)

// curve makes the points of one group: core_num -> elapsed.
func curve(axes []KV, times ...KV) []Point {
	var out []Point
	for _, kv := range times {
		p := Point{Axes: append(slices.Clone(axes), KV{Key: "core_num", Value: kv.Key}), Status: result.OK, Size: 65536, BoundBy: "egress", Events: 1000, Digest: "0123"}
		if err := p.Elapsed.UnmarshalText([]byte(kv.Value)); err != nil {
			panic(err)
		}
		p.Bound = 90 * engine.Microsecond
		p.Reasons[result.CQEWait] = p.Elapsed - 10*engine.Microsecond
		p.Reasons[result.Launch] = 10 * engine.Microsecond
		p.Counters[result.WQEBBs], p.Counters[result.NOPs] = 4000, 100
		p.Algbw, _ = over(30_000_000, p.Elapsed)
		p.Busbw, p.Wire = p.Algbw/8*7, p.Algbw/8*7
		p.Limits = limit(&p)
		out = append(out, p)
	}
	return out
}

func TestTheSmallestValueWithinTwoPercentOfTheBestIsRecommended(t *testing.T) {
	points := curve(nil, KV{Key: "1", Value: "200 us"}, KV{Key: "2", Value: "102.000001 us"}, KV{Key: "4", Value: "102 us"}, KV{Key: "8", Value: "100 us"}, KV{Key: "16", Value: "101 us"})
	c := Recommend(points, "core_num", TwoPercent)
	require.Len(t, c, 1)
	assert.Equal(t, "4", c[0].Rows[c[0].Pick].Value, "102 us is 2 %% behind 100 us and so in; a picosecond more is out")
	assert.Equal(t, "8", c[0].Rows[c[0].Best].Value)
	assert.Equal(t, engine.Fraction(20_000), c[0].Rows[2].Behind)
	assert.Equal(t, []int{5, 4, 3, 1, 2}, places(c[0]))
	assert.False(t, c[0].Flat)
	assert.Equal(t, "take core_num 4: 102.000 us, 2.0 % behind the best (core_num 8, 100.000 us) and so within 2 %; it leaves 4 more AIVs a rank for compute", c[0].Text)
}

func places(c Choice) (out []int) {
	for _, r := range c.Rows {
		out = append(out, r.Place)
	}
	return out
}

func TestACurveIsFlatBelowTwoPercentAndNotAtIt(t *testing.T) {
	c := Recommend(curve(nil, KV{Key: "1", Value: "101.999999 us"}, KV{Key: "2", Value: "100 us"}), "core_num", TwoPercent)[0]
	assert.True(t, c.Flat)
	assert.Equal(t, 0, c.Pick)
	assert.Equal(t, "core_num hardly matters here: slowest/quickest = 1.020; take the smallest, 1: 102.000 us", c.Text)

	c = Recommend(curve(nil, KV{Key: "1", Value: "102 us"}, KV{Key: "2", Value: "100 us"}), "core_num", TwoPercent)[0]
	assert.False(t, c.Flat)
	assert.Equal(t, 0, c.Pick)
}

func TestRunsThatDidNotEndOkAreNotRecommended(t *testing.T) {
	points := curve(nil, KV{Key: "1", Value: "1 us"}, KV{Key: "2", Value: "1 us"}, KV{Key: "4", Value: "1 us"}, KV{Key: "8", Value: "100 us"})
	points[0].Status, points[1].Status, points[2].Status = result.Aborted, result.WrongData, result.Hazardous
	c := Recommend(points, "core_num", TwoPercent)[0]
	assert.Equal(t, "8", c.Rows[c.Pick].Value)
	assert.Equal(t, "core_num 8 is the only run that ended ok: 100.000 us", c.Text)
	assert.Equal(t, []int{0, 0, 0, 1}, places(c))

	points[3].Status = result.Deadlock
	c = Recommend(points, "core_num", TwoPercent)[0]
	assert.Equal(t, -1, c.Pick)
	assert.Contains(t, c.Text, "nothing to recommend")
}

func TestValuesAreOrderedAsTheNumbersTheyAre(t *testing.T) {
	for want, values := range map[string][]string{
		"2 10 64":           {"64", "2", "10"},
		"512 B 1 KiB 1 MiB": {"1 MiB", "512 B", "1 KiB"},
		"350 ns 1.5 us":     {"1.5 us", "350 ns"},
		"b a 2":             {"b", "a", "2"}, // words keep the order of the sweep
	} {
		var points []Point
		for _, v := range values {
			points = append(points, curve(nil, KV{Key: v, Value: "1 us"})...)
		}
		var got []string
		for _, r := range Recommend(points, "core_num", TwoPercent)[0].Rows {
			got = append(got, r.Value)
		}
		assert.Equal(t, want, strings.Join(got, " "))
	}
}

func TestWithoutTheAxisPointsAreRankedButNotRecommended(t *testing.T) {
	c := Recommend(curve(nil, KV{Key: "1", Value: "2 us"}, KV{Key: "2", Value: "1 us"}), "ranks", TwoPercent)
	require.Len(t, c, 1)
	assert.Equal(t, []int{2, 1}, places(c[0]))
	assert.Equal(t, -1, c[0].Pick)
}

func TestRecommendationsHoldOnAnySweep(t *testing.T) {
	statuses := []result.Status{result.OK, result.OK, result.OK, result.Aborted, result.Deadlock, result.WrongData, result.Hazardous}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "points")
		var points []Point
		for range n {
			points = append(points, Point{
				Axes: []KV{
					{Key: "ranks", Value: fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "ranks"))},
					{Key: "core_num", Value: fmt.Sprint(rapid.IntRange(1, 64).Draw(t, "core_num"))},
				},
				Status:  rapid.SampledFrom(statuses).Draw(t, "status"),
				Elapsed: engine.Duration(rapid.Int64Range(0, 300).Draw(t, "elapsed")),
			})
		}
		tolerance := engine.Fraction(rapid.Int64Range(0, 500_000).Draw(t, "tolerance"))
		seen := 0
		for _, c := range Recommend(points, "core_num", tolerance) {
			seen += len(c.Rows)
			invariants(t, points, c, tolerance)
		}
		if seen != n {
			t.Fatalf("%d points in, %d out", n, seen)
		}
	})
}

func invariants(t *rapid.T, points []Point, c Choice, tolerance engine.Fraction) {
	limit := func(best engine.Duration) int64 { return int64(best) * int64(engine.One+tolerance) }
	if (c.Pick < 0) != (c.Best < 0) || (c.Pick < 0) != (c.Runs == 0) {
		t.Fatalf("pick %d, best %d of %d ok runs", c.Pick, c.Best, c.Runs)
	}
	if c.Pick < 0 {
		return
	}
	best := points[c.Rows[c.Best].Point].Elapsed
	last := -1.0
	for i, r := range c.Rows {
		p := points[r.Point]
		v, _ := magnitude(r.Value)
		within := p.Status == result.OK && int64(p.Elapsed)*int64(engine.One) <= limit(best)
		switch {
		case v < last:
			t.Fatal("rows are not in order")
		case (p.Status == result.OK) != (r.Place > 0):
			t.Fatal("exactly the ok runs are ranked")
		case p.Status == result.OK && p.Elapsed < best:
			t.Fatal("a run beats the best")
		case (r.Place == 1) != (p.Status == result.OK && p.Elapsed == best):
			t.Fatal("exactly the quickest are first")
		case i == c.Pick && !within:
			t.Fatal("the pick is not within the tolerance")
		case within && i < c.Pick:
			t.Fatal("a smaller value is within the tolerance")
		case c.Flat && p.Status == result.OK && !within:
			t.Fatal("flat, but a run is outside of the tolerance")
		}
		last = v
	}
}

func fakeComparison() *Comparison {
	var points []Point
	points = append(points, curve([]KV{{Key: "ranks", Value: "4"}}, KV{Key: "1", Value: "160 us"}, KV{Key: "4", Value: "112 us"}, KV{Key: "8", Value: "110.9 us"}, KV{Key: "16", Value: "110 us"})...)
	points = append(points, curve([]KV{{Key: "ranks", Value: "8"}}, KV{Key: "1", Value: "200 us"}, KV{Key: "4", Value: "199 us"}, KV{Key: "8", Value: "198.5 us"}, KV{Key: "16", Value: "201 us"})...)
	bad := &points[3]
	bad.Status, bad.Problem = result.Aborted, "ABORTED at 5.000 us by rank 2, block 1"
	return &Comparison{
		Title: "core_num of indexed_all_to_all_v on Ascend 950DT", Axis: "core_num", Points: points,
		Inputs: []KV{{Key: "machine", Value: "a5-950dt-64"}, {Key: "routing", Value: `top-8 of 256, "uniform"`}}, Notes: []string{"seed 1 for every point"},
	}
}

func TestComparisonsKeepTheirForm(t *testing.T) {
	goldens(t, "sweep", func(b *bytes.Buffer, f Format) error { return fakeComparison().Write(b, f, Options{}) })
}

func TestABriefComparisonShowsOneRowAGroup(t *testing.T) {
	c := fakeComparison()
	c.Brief = true
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{}))
	golden(t, "brief.txt", b.Bytes())
}

func TestComparisonCSVHasUnitsAndEveryPoint(t *testing.T) {
	c := fakeComparison()
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, CSV, Options{}))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err, "all rows have the same cells")
	require.Len(t, rows, 1+len(c.Points))
	assert.Equal(t, []string{"ranks", "core_num", "status"}, rows[0][:3])
	for k := range result.NumReasons {
		assert.Contains(t, rows[0], k.String()+"_us")
	}
	for k := range result.NumCounters {
		assert.Contains(t, rows[0], counterColumn(k))
	}
	assert.Contains(t, rows[0], "combined_bytes")
	assert.Contains(t, rows[0], "between_calls_us")
	assert.Contains(t, rows[0], "sqes", "a number of things needs no unit")
	at := slices.Index(rows[0], "elapsed_us")
	assert.Equal(t, "112.000000", rows[2][at])
	at = slices.Index(rows[0], "recommended")
	var picked []string
	for _, r := range rows[1:] {
		if r[at] == "true" {
			picked = append(picked, r[0]+":"+r[1])
		}
	}
	assert.Equal(t, []string{"4:4", "8:1"}, picked)
}

func TestAComparisonComesBackFromItsJSON(t *testing.T) {
	var first, again bytes.Buffer
	require.NoError(t, fakeComparison().Write(&first, JSON, Options{}))
	back, err := ReadComparison(bytes.NewReader(first.Bytes()))
	require.NoError(t, err)
	require.NoError(t, back.Write(&again, JSON, Options{}))
	assert.Equal(t, first.String(), again.String())
	_, err = ReadComparison(strings.NewReader(`{"schema":"pldperf/result","version":2,"kind":"validation","validation":{"files":[]}}`))
	assert.ErrorContains(t, err, "this is a validation and no sweep")
	assert.ErrorContains(t, (&Comparison{}).Write(&again, Text, Options{}), "at least one point")
}

func TestAPointIsItsCardCutDown(t *testing.T) {
	c := fakeCard()
	p := NewPoint([]KV{{Key: "core_num", Value: "2"}}, 5_734_400, c)
	assert.Equal(t, c.Result.Elapsed, p.Elapsed)
	assert.Equal(t, c.Result.Elapsed, p.Reasons.Sum(), "the slowest block's time is the elapsed time")
	assert.Equal(t, "pair (bound)", p.Limits, "91.5 %% of the bound")
	assert.Empty(t, p.Problem)

	c.Bound.Total /= 2
	assert.Equal(t, "cqe_wait, 55.3 %", NewPoint(nil, 0, c).Limits)
	c.Result.Status = result.Aborted
	p = NewPoint(nil, 0, c)
	assert.Contains(t, p.Problem, "ABORTED")
	assert.Zero(t, p.Algbw)
}
