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
	"pldperf/reports/document"
)

// drawsOf are draws with such times in microseconds.
func drawsOf(times ...int) (out []Draw) {
	for _, t := range times {
		d := Draw{Status: result.OK, Elapsed: engine.Duration(t) * engine.Microsecond}
		d.Algbw, _ = over(30_000_000, d.Elapsed)
		d.Busbw = d.Algbw / 2
		out = append(out, d)
	}
	return out
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i+1)
	}
	return out
}

func TestLowAndHighAreTheTenthAndNinetiethPercentile(t *testing.T) {
	r, ok := document.Spanned(drawsOf(upTo(11)...), int64(6*engine.Microsecond), document.ElapsedOf)
	require.True(t, ok)
	us := int64(engine.Microsecond)
	assert.Equal(t, []int64{1 * us, 2 * us, 6 * us, 10 * us, 11 * us}, []int64{r.Least, r.Low, r.Median, r.High, r.Most}, "of eleven draws one is below low, one above high")
	r, _ = document.Spanned(drawsOf(4, 2, 1, 3), us, document.ElapsedOf)
	assert.Equal(t, 2*us+us/2, r.Median, "the middle of the two in the middle")
	r, _ = document.Spanned(drawsOf(upTo(11)...), us/2, document.ElapsedOf)
	assert.Equal(t, us/2, r.Low, "the nominal run is never outside")
	r, _ = document.Spanned(drawsOf(upTo(11)...), 20*us, document.ElapsedOf)
	assert.Equal(t, 20*us, r.High)
	_, ok = document.Spanned(nil, us, document.ElapsedOf)
	assert.False(t, ok)
}

func TestARangeHoldsTheNominalValueAndIsAlikeFromBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.IntRange(1, 1000), 1, 60).Draw(t, "times")
		nominal := int64(rapid.IntRange(1, 1000).Draw(t, "nominal"))
		a, b := make([]Draw, len(times)), make([]Draw, len(times))
		for i, v := range times {
			a[i], b[i] = Draw{Status: result.OK, Elapsed: engine.Duration(v)}, Draw{Status: result.OK, Elapsed: engine.Duration(1000 - v)}
		}
		r, _ := document.Spanned(a, nominal, document.ElapsedOf)
		require.True(t, r.Least <= r.Median && r.Median <= r.Most)
		require.True(t, r.Low <= nominal && nominal <= r.High)
		m, _ := document.Spanned(b, 1000-nominal, document.ElapsedOf)
		require.Equal(t, []int64{1000 - r.High, 1000 - r.Low}, []int64{m.Low, m.High})
	})
}

func TestDrawsThatDidNotEndOkAreLeftOutAndNamed(t *testing.T) {
	c := bandedCard()
	c.Band.Draws[3].Status = result.WrongData
	assert.False(t, c.Band.OK())
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{}))
	assert.Contains(t, b.String(), "NOT OK: 1 draw of 32 did not end ok and are left out: draw 3: wrong_data")
}

// bandedCard is a card with a band in which elapsed follows one parameter.
func bandedCard() *Card {
	c := fakeCard()
	b := &Band{Seed: 1}
	follows, not := BandParam{Path: "urma.wqe_gap", Low: "0 us", Value: "0 us", High: "0.8 us"}, BandParam{Path: "aiv.fence", Low: "0.1 us", Value: "0.15 us", High: "0.2 us"}
	for k := range 32 {
		d := drawsOf(110 + (k*7)%32)[0]
		b.Draws = append(b.Draws, d)
		follows.Draws = append(follows.Draws, fmt.Sprintf("%d ns", 25*((k*7)%32)))
		not.Draws = append(not.Draws, fmt.Sprintf("%d ns", 100+3*((k*k)%32)))
	}
	b.Params = []BandParam{not, follows}
	c.Band = b
	return c
}

func TestTheCardSaysWhichParameterMovesElapsedMost(t *testing.T) {
	c := bandedCard()
	l := Levers(c.Band)
	assert.Equal(t, Lever{"urma.wqe_gap", 1}, l[0])
	assert.Less(t, l[1].Correlation*l[1].Correlation, 0.25)
	assert.Equal(t, "What moves elapsed most: urma.wqe_gap (+1.00); in brackets the rank correlation, + is slower when larger", leverText(c.Band))
	c.Band.Params = c.Band.Params[:1]
	assert.Contains(t, leverText(c.Band), "No parameter alone moves elapsed enough to stand out; nearest is aiv.fence")
	c.Band.Params = nil
	assert.Contains(t, leverText(c.Band), "uses no parameter that has a band")
	flat := bandedCard()
	for k := range flat.Band.Draws {
		flat.Band.Draws[k].Elapsed = engine.Microsecond
	}
	assert.Equal(t, "No draw changes elapsed", leverText(flat.Band))
}

func TestTheBandOfACardIsInAllItsForms(t *testing.T) {
	c := bandedCard()
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{}))
	golden(t, "banded.txt", b.Bytes())
	b.Reset()
	require.NoError(t, c.Write(&b, CSV, Options{}))
	assert.Contains(t, b.String(), "band,elapsed_us,low,,,us,113.000000")
	assert.Contains(t, b.String(), "band,urma.wqe_gap,rank_correlation,,,,1.00")
	b.Reset()
	require.NoError(t, c.Write(&b, JSON, Options{}))
	again, err := ReadCard(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, c.Band, again.Band)
	c.Band.Params[0].Draws = nil
	assert.ErrorContains(t, c.Write(&b, JSON, Options{}), "the band has 32 draws, but 0 of aiv.fence")
}

// banded makes a curve in which each value has the times of its draws.
func banded(nominal []KV, draws map[string][]int) []Point {
	points := curve(nil, nominal...)
	for i := range points {
		v, _ := points[i].Axis("core_num")
		points[i].Draws = drawsOf(draws[v]...)
	}
	return points
}

func TestARecommendationSaysHowOftenItWins(t *testing.T) {
	points := banded([]KV{{Key: "16", Value: "110 us"}, {Key: "32", Value: "100 us"}}, map[string][]int{"16": {110, 110, 110, 110, 100}, "32": {100, 100, 100, 100, 100}})
	c := Recommend(points, "core_num", TwoPercent)[0]
	assert.Equal(t, &Stability{Draws: 5, Wins: []Win{{Value: "32", Draws: 4}, {Value: "16", Draws: 1}}, Stable: true}, c.Band, "16 is as fast and smaller in one")
	assert.Equal(t, "take core_num 32: 100.000 us, the best; across the band 32 wins in 4 of 5 draws, 16 in 1", c.Text)

	points = banded([]KV{{Key: "16", Value: "110 us"}, {Key: "32", Value: "100 us"}}, map[string][]int{"16": {100, 110, 110, 110, 80}, "32": {100, 100, 100, 100, 100}})
	c = Recommend(points, "core_num", TwoPercent)[0]
	assert.False(t, c.Band.Stable, "three of five")
	assert.Equal(t, engine.Fraction(250_000), c.Band.Behind)
	assert.Contains(t, c.Text, "32 wins in 3 of 5 draws, 16 in 2: UNSTABLE: it is up to 25.0 % behind the best of a draw")
	assert.Nil(t, Recommend(curve(nil, KV{Key: "1", Value: "2 us"}, KV{Key: "2", Value: "1 us"}), "core_num", TwoPercent)[0].Band)
}

func TestTheWinsOfAGroupAddUpToItsDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "draws")
		draws := map[string][]int{}
		var nominal []KV
		for _, v := range []string{"1", "2", "4", "8"} {
			draws[v] = rapid.SliceOfN(rapid.IntRange(1, 50), n, n).Draw(t, v)
			nominal = append(nominal, KV{Key: v, Value: fmt.Sprintf("%d us", rapid.IntRange(1, 50).Draw(t, "nominal "+v))})
		}
		c := Recommend(banded(nominal, draws), "core_num", TwoPercent)[0]
		sum := 0
		for _, w := range c.Band.Wins {
			sum += w.Draws
		}
		require.Equal(t, n, sum)
		require.Equal(t, n, c.Band.Draws)
	})
}

func TestAComparisonWithABandHasItsColumns(t *testing.T) {
	points := banded([]KV{{Key: "16", Value: "110 us"}, {Key: "32", Value: "100 us"}}, map[string][]int{"16": {100, 110, 110, 110, 80}, "32": {100, 101, 102, 103, 104}})
	c := &Comparison{Title: "a sweep", Axis: "core_num", Points: points, Band: &Band{Seed: 9, Params: []BandParam{{Path: "aiv.fence"}}}}
	goldens(t, "bandsweep", func(b *bytes.Buffer, f Format) error { return c.Write(b, f, Options{}) })
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, CSV, Options{}))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	at := func(row int, column string) string { return rows[row][slices.Index(rows[0], column)] }
	assert.Equal(t, "100.000000", at(2, "elapsed_low_us"), "nominal, which is below all draws but one")
	assert.Equal(t, "104.000000", at(2, "elapsed_high_us"))
	assert.Equal(t, "5", at(1, "band_draws_ok"))
	assert.Equal(t, "2", at(1, "band_wins"))
	assert.Equal(t, len(rows[0]), len(rows[1]))
	assert.True(t, strings.HasPrefix(at(1, "busbw_low_gb_per_s"), "136.3"), at(1, "busbw_low_gb_per_s"))
}

func TestARaceWithABandSaysHowOftenTheFastestWins(t *testing.T) {
	var points []Point
	for _, x := range []struct {
		size, op string
		nominal  int
		draws    []int
	}{{"1", "x/a", 10, []int{10, 10}}, {"1", "x/b", 20, []int{20, 5}}, {"4", "x/a", 40, []int{40, 40}}, {"4", "x/b", 20, []int{20, 20}}} {
		p := curve(nil, KV{Key: "-", Value: fmt.Sprintf("%d us", x.nominal)})[0]
		p.Axes, p.Draws = []KV{{Key: "call.op", Value: x.op}, {Key: "call.size", Value: x.size}}, drawsOf(x.draws...)
		points = append(points, p)
	}
	c := &Comparison{Title: "race", Axis: "call.op", Compare: "call.op", Along: "call.size", Points: points, Band: &Band{}}
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{Width: 140}))
	assert.Regexp(t, `1 +10\.000 < +20\.000 +10\.000 +10\.000 +1/2`, b.String())
	assert.Regexp(t, `4 +40\.000 +20\.000 < +20\.000 +20\.000 +2/2`, b.String())
	assert.Contains(t, b.String(), "in 1/2 draws", "in the second draw b is the fastest from the beginning")
}
