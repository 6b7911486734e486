package reports

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/result"
)

// ran is a point of a race that took so many microseconds; 0 is not possible.
func ran(op, size string, us int64) Point {
	p := Point{Axes: []KV{{Key: "call.op", Value: op}, {Key: "call.size", Value: size}}, Status: result.OK, Elapsed: engine.Duration(us) * engine.Microsecond}
	if us == 0 {
		return Impossible(p.Axes, "size: "+size+" is not divisible by 8")
	}
	return p
}

// meshAndRing are two algorithms whose lines cross between 16 and 64: 10 and 20 us, then 40 and 20.
func meshAndRing() *Comparison {
	return &Comparison{Title: "t", Compare: "call.op", Along: "call.size", Axis: "call.op", Points: []Point{
		ran("allreduce/mesh", "4", 5), ran("allreduce/mesh", "16", 10), ran("allreduce/mesh", "64", 40),
		ran("allreduce/ring", "4", 20), ran("allreduce/ring", "16", 20), ran("allreduce/ring", "64", 20),
		ran("allreduce/two", "4", 0), ran("allreduce/two", "16", 0), ran("allreduce/two", "64", 30),
	}}
}

func TestASwitchOverIsWhereTheLinesOfThePlotCross(t *testing.T) {
	races := meshAndRing().Races()
	require.Len(t, races, 1)
	r := &races[0]
	assert.Equal(t, []string{"4", "16", "64"}, r.Values)
	assert.Equal(t, []int{0, 0, 1}, r.Fastest)
	require.Len(t, r.Crossings, 1)
	x := r.Crossings[0]
	us := engine.Microsecond
	assert.Equal(t, []string{"16", "64", "allreduce/mesh", "allreduce/ring"}, []string{x.Low, x.High, x.Before, x.After})
	assert.Equal(t, []engine.Duration{10 * us, 20 * us, 40 * us, 20 * us}, []engine.Duration{x.BeforeLow, x.AfterLow, x.BeforeHigh, x.AfterHigh})
	// The lead of mesh is a factor of 2 at 16, that of ring 2 at 64: equal at the geometric mean.
	assert.Equal(t, "32", x.At)
	assert.InDelta(t, 32, x.X, 1e-9)
	assert.InDelta(t, 20, x.Y, 1e-9)
}

func TestASwitchOverToWhatWasNotPossibleBeforeHasNoPlaceBetween(t *testing.T) {
	c := &Comparison{Title: "t", Compare: "call.op", Along: "call.size", Points: []Point{
		ran("x/a", "1 KiB", 5), ran("x/a", "2 KiB", 10), ran("x/b", "1 KiB", 0), ran("x/b", "2 KiB", 4),
	}}
	x := c.Races()[0].Crossings
	require.Len(t, x, 1)
	assert.Empty(t, x[0].At)
	assert.Zero(t, x[0].AfterLow)
}

func TestAComparisonOfAlgorithmsShowsTimesSwitchOversAndWhatIsNotPossible(t *testing.T) {
	goldens(t, "race", func(b *bytes.Buffer, f Format) error { return meshAndRing().Write(b, f, Options{}) })
	var b strings.Builder
	require.NoError(t, meshAndRing().Write(&b, Text, Options{}))
	assert.Contains(t, b.String(), "9 points, 7 of them ok, 2 not possible")
	assert.Regexp(t, `two is not possible at 4 to 16: size: 4 is not divisible by 8`, b.String())
}

func TestTheFastestIsRecommendedWhateverTheTolerance(t *testing.T) {
	c := meshAndRing()
	c.Points = []Point{c.Points[2], c.Points[5], c.Points[8]}
	c.Tolerance = 99 * engine.One / 100
	choice := c.Choices()[0]
	assert.Equal(t, "take allreduce/ring: 20.000 us, the fastest; next is allreduce/two, 50.0 % behind: 30.000 us", choice.Text)
	assert.Equal(t, choice.Best, choice.Pick)
}

func TestACrossingLiesBetweenItsValuesAndItsTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int64 { return rapid.Int64Range(1, 1_000_000).Draw(t, name) }
		low := n("low")
		a0, a1 := n("a0"), n("a1")
		c := Crossing{Low: "8", High: "1024", BeforeLow: engine.Duration(low), AfterLow: engine.Duration(low + a0), BeforeHigh: engine.Duration(low + a1), AfterHigh: engine.Duration(low)}
		interpolate(&c)
		assert.GreaterOrEqual(t, c.X, 8.0)
		assert.LessOrEqual(t, c.X, 1024.0)
		assert.GreaterOrEqual(t, c.Y*1e6, float64(low)*(1-1e-9))
	})
}

func TestBetweenTwoValuesAThirdAlgorithmCanBeTheFastest(t *testing.T) {
	c := &Comparison{Title: "t", Compare: "call.op", Along: "call.size", Points: []Point{
		ran("x/steep", "1", 10), ran("x/steep", "16", 160), ran("x/middle", "1", 14), ran("x/middle", "16", 28), ran("x/flat", "1", 25), ran("x/flat", "16", 25),
	}}
	r := c.Races()[0]
	require.Len(t, r.Crossings, 2)
	assert.Equal(t, []string{"x/steep", "x/middle", "x/middle", "x/flat"}, []string{r.Crossings[0].Before, r.Crossings[0].After, r.Crossings[1].Before, r.Crossings[1].After})
	assert.Less(t, r.Crossings[0].X, r.Crossings[1].X)
	// 10 * x = 14 * 2^(log16 x): x = 1.4^(4/3), from where steep is above middle.
	assert.InDelta(t, 1.566, r.Crossings[0].X, 0.001)
}

func TestATieAtTheBeginningIsNoSwitchOver(t *testing.T) {
	c := &Comparison{Title: "t", Compare: "call.op", Along: "ranks", Points: []Point{}}
	for _, p := range []Point{ran("x/a", "2", 5), ran("x/a", "4", 9), ran("x/b", "2", 5), ran("x/b", "4", 6)} {
		p.Axes[1].Key = "ranks"
		c.Points = append(c.Points, p)
	}
	r := c.Races()[0]
	assert.Empty(t, r.Crossings)
	assert.Equal(t, []int{1, 1}, r.Fastest)
}

func TestTheFastestLineIsWhatCrossingsFollow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var points []Point
		n := rapid.IntRange(2, 6).Draw(t, "algorithms")
		for a := range n {
			for _, size := range []string{"1", "16", "256"} {
				points = append(points, ran(fmt.Sprintf("x/%d", a), size, rapid.Int64Range(0, 100).Draw(t, "us")))
			}
		}
		r := &Races(points, "call.op", "call.size")[0]
		for i, x := range r.Crossings {
			if i > 0 {
				assert.Equal(t, r.Crossings[i-1].After, x.Before, "one takes over from the other")
			}
			if x.At == "" {
				continue
			}
			low := slices.Index(r.Values, x.Low)
			for a := range r.Algorithms { // nobody is below where two lines cross
				from, to := float64(r.time(points, low, a))/1e6, float64(r.time(points, low+1, a))/1e6
				if from > 0 && to > 0 && low+1 < len(r.Values) && r.Values[low+1] == x.High {
					assert.GreaterOrEqual(t, from*math.Pow(to/from, x.Share), x.Y*(1-1e-9))
				}
			}
		}
	})
}
