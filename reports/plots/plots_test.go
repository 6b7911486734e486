package plots

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

func TestWhatALogarithmCannotShowIsLeftOut(t *testing.T) {
	good := fake(8, 16, 1<<20)
	zeroSize, zeroTime, aborted, zeroRate := good, good, good, good
	zeroSize.Size, zeroTime.Elapsed, aborted.Status, zeroRate.Busbw = 0, 0, result.Aborted, 0
	assert.Len(t, xy([]reports.Point{zeroSize, good, zeroTime, aborted}, bySize, func(p *reports.Point) float64 { return micros(p.Elapsed) }), 1)

	for _, bad := range [][]reports.Point{nil, {zeroSize}, {aborted}, {zeroSize, aborted}} {
		_, err := Bandwidth(fakeFrame(), Busbw, Split(bad, "size"), roofs)
		assert.ErrorIs(t, err, errNothing)
		_, err = Time(fakeFrame(), Split(bad, "size"))
		assert.ErrorIs(t, err, errNothing)
	}
	_, err := Bandwidth(fakeFrame(), Busbw, []Series{{Points: []reports.Point{zeroRate}}}, nil)
	assert.ErrorIs(t, err, errNothing)
	_, err = CoreNum(fakeFrame(), "core_num", []reports.Point{zeroTime, aborted}, reports.TwoPercent)
	assert.ErrorIs(t, err, errNothing)
	_, err = Reasons(fakeFrame(), "core_num", []reports.Point{aborted})
	assert.ErrorIs(t, err, errNothing)
	_, err = WQEBB(fakeFrame(), "core_num", []reports.Point{{Status: result.OK}})
	assert.ErrorContains(t, err, "wrote a WQEBB")
}

func TestPicturesOfAnyPointsDoNotPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var points []reports.Point
		for range rapid.IntRange(1, 5).Draw(t, "points") {
			p := fake(rapid.IntRange(2, 9).Draw(t, "ranks"), rapid.IntRange(1, 64).Draw(t, "cores"), engine.Bytes(rapid.Int64Range(1, 1<<40).Draw(t, "size")))
			p.Elapsed = engine.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "elapsed"))
			p.Bound = engine.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "bound"))
			p.Busbw = engine.Rate(rapid.Int64Range(0, 1<<50).Draw(t, "busbw"))
			points = append(points, p)
		}
		draw := rapid.SampledFrom([]func() (*Picture, error){
			func() (*Picture, error) { return Bandwidth(Frame{}, Busbw, Split(points, "size"), roofs) },
			func() (*Picture, error) { return Time(Frame{}, Split(points, "size")) },
			func() (*Picture, error) { return CoreNum(Frame{}, "core_num", points, reports.TwoPercent) },
			func() (*Picture, error) { return Reasons(Frame{}, "core_num", points) },
			func() (*Picture, error) { return WQEBB(Frame{}, "size", points) },
		}).Draw(t, "kind")
		p, err := draw()
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := p.SVG(&b); err != nil {
			t.Fatal(err)
		}
		if s := images.ReplaceAllString(b.String(), ""); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Fatal("NaN or Inf in the picture")
		}
	})
}

func labels(ticks []plot.Tick) (out []string) {
	for _, k := range ticks {
		if !k.IsMinor() {
			out = append(out, k.Label)
		}
	}
	return out
}

func TestSizesAreLabelledInPowersOfTwo(t *testing.T) {
	assert.Equal(t, []string{"1 KiB", "2 KiB", "4 KiB", "8 KiB"}, labels(sizeTicks{}.Ticks(1000, 9000)))
	assert.Equal(t, []string{"1 B", "16 B", "256 B", "4 KiB", "64 KiB", "1 MiB", "16 MiB", "256 MiB"}, labels(sizeTicks{}.Ticks(1, 1<<30)))
	assert.Equal(t, []string{"512 MiB", "1 GiB"}, labels(sizeTicks{}.Ticks(1<<29, 1<<30)))
}

func TestAxesHaveLabelsWhateverTheirRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(-20, 30).Draw(t, "log of v"))
		w := v * math.Exp(rapid.Float64Range(0, 20).Draw(t, "log of w/v"))
		lo, hi := logSpan([]float64{v, w}, 1.3)
		check := func(name string, lo, hi float64, ticks []plot.Tick) {
			seen := map[string]bool{}
			for _, l := range labels(ticks) {
				if seen[l] {
					t.Fatalf("%s: %q twice between %g and %g", name, l, lo, hi)
				}
				seen[l] = true
			}
			for _, k := range ticks {
				if k.Value < lo*(1-1e-6) || k.Value > hi*(1+1e-6) {
					t.Fatalf("%s: %g is outside of %g ... %g", name, k.Value, lo, hi)
				}
			}
			if len(seen) < 2 || len(seen) > 30 {
				t.Fatalf("%s: %d labels between %g and %g: %v", name, len(seen), lo, hi, seen)
			}
		}
		check("log", lo, hi, logTicks{}.Ticks(lo, hi))
		check("even", 0, hi, evenTicks{}.Ticks(0, hi))
		if lo > 1 && hi < 1e12 {
			lo, hi = sizeSpan([]float64{v, w})
			check("size", lo, hi, sizeTicks{}.Ticks(lo, hi))
		}
	})
}

func TestNumbersAreLegible(t *testing.T) {
	for want, v := range map[string]float64{"0": 0, "0.3": 3 * 0.1, "53.1": 53.1, "1000": 1000, "32,768": 32768, "1,000,000": 1e6, "1e+09": 1e9, "1e-05": 1e-5} {
		assert.Equal(t, want, number(v))
	}
}

func TestSeriesAreNamedByWhatTellsThemApart(t *testing.T) {
	bySize, _ := fakes()
	s := Split(bySize, "size")
	require.Len(t, s, 3)
	assert.Equal(t, "ranks 4", s[1].Name, "core_num is 16 in all, so it tells nothing")
	assert.Len(t, s[1].Points, 14)
	assert.Empty(t, Split(bySize[:14], "size")[0].Name, "there is only one")
}

func TestARecommendationNeedsAnAxisOfNumbers(t *testing.T) {
	p := fake(8, 16, 1<<20)
	p.Axes = []reports.KV{{Key: "form", Value: "hand"}}
	_, err := CoreNum(fakeFrame(), "form", []reports.Point{p}, reports.TwoPercent)
	assert.ErrorIs(t, err, errNothing)
}

func TestBarsAddUpToTheElapsedTime(t *testing.T) {
	_, byCores := fakes()
	b := newBars(&Frame{}, "core_num", byCores)
	require.Equal(t, 20+2, len(b.points), "20 runs ended ok, and two gaps part three groups")
	for i, p := range b.points {
		sum := 0.0
		for _, l := range b.reasons() {
			sum += l.values[i]
		}
		if p == nil {
			assert.Zero(t, sum)
		} else {
			assert.InDelta(t, micros(p.Elapsed), sum, 1e-9)
		}
	}
}

func TestEveryReasonHasItsOwnColour(t *testing.T) {
	seen := map[string]bool{}
	for k, c := range reasonColors {
		assert.Equal(t, uint8(0xff), c.A, result.Reason(k))
		seen[fmt.Sprint(c)] = true
	}
	assert.Len(t, seen, int(result.NumReasons))
}

func TestTrafficThatIsNoMatrixIsAnError(t *testing.T) {
	for want, rows := range map[string][][]int64{
		"is empty":                    {},
		"row 1 has 1 columns":         {{1, 2}, {3}},
		"rank 0 to rank 1 is -1, bel": {{0, -1}, {0, 0}},
	} {
		_, err := Traffic(fakeFrame(), rows, "rows")
		assert.ErrorContains(t, err, want)
	}
	_, err := Traffic(fakeFrame(), [][]int64{{0}}, "rows")
	assert.NoError(t, err, "a rank alone, without traffic")
}

// Rank 0 sends 6 and receives 0, rank 1 sends 0 and receives 3, rank 2 likewise; the
// mean is 2. What a rank keeps does not count.
func TestImbalanceIsOfRemoteTraffic(t *testing.T) {
	assert.Equal(t, "busiest source 3.00 x, busiest destination 1.50 x the mean", Imbalance([][]int64{{100, 3, 3}, {0, 50, 0}, {0, 0, 7}}))
	assert.Equal(t, "no remote traffic", Imbalance([][]int64{{5, 0}, {0, 5}}))
}

func TestTheTopRowOfTheMapIsSourceZero(t *testing.T) {
	g := grid{[][]int64{{1, 2}, {3, 4}}, 3}
	cols, rows := g.Dims()
	assert.Equal(t, 6, cols)
	assert.Equal(t, 2.0, g.Z(5, rows-1), "top right is from rank 0 to rank 1")
	assert.Equal(t, 3.0, g.Z(0, 0), "bottom left is from rank 1 to rank 0")
	assert.InDelta(t, 0, (g.X(0)+g.X(2))/2, 1e-12, "rank 0 is in the middle of its cells")
}

func TestWordsInChineseTakeTheSameValues(t *testing.T) {
	verb := regexp.MustCompile(`%[a-z]`)
	for english, chinese := range words {
		assert.Equal(t, verb.FindAllString(english, -1), verb.FindAllString(chinese, -1), english)
	}
}

func TestWithoutAChineseFontLabelsStayEnglish(t *testing.T) {
	dir := t.TempDir()
	_, err := FindChinese(dir, filepath.Join(dir, "missing"))
	assert.ErrorContains(t, err, "labels stay English")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "wqy-microhei.ttc"), liberationsansregular.TTF, 0o644))
	_, err = FindChinese(dir)
	assert.ErrorContains(t, err, "labels stay English", "a font may be called what it likes: it has no Chinese letters")
	_, err = LoadChinese(filepath.Join(dir, "wqy-microhei.ttc"))
	assert.ErrorContains(t, err, "has no Chinese letters")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "simhei.ttf"), []byte("no font"), 0o644))
	_, err = FindChinese(dir)
	assert.Error(t, err)
	assert.Equal(t, "time (us)", (&Frame{}).tr("time (us)"))
}

func TestLinesAreSplitWhereTheScriptChanges(t *testing.T) {
	var got []string
	m := mixed{Plain: latin}
	for _, r := range m.runs("耗时 us、WQEBB", (&Frame{}).style(12, ink, false).Font) {
		got = append(got, string(r.face.Font.Typeface)+":"+r.text)
	}
	assert.Equal(t, []string{"Chinese:耗时", "Liberation: us", "Chinese:、", "Liberation:WQEBB"}, got)
	assert.Empty(t, m.runs("", font.Font{}))
}

func TestChineseLabelsWhereAFontIsInstalled(t *testing.T) {
	chinese, err := FindChinese()
	if err != nil {
		t.Skip(err)
	}
	f := fakeFrame()
	f.Chinese = chinese
	bySize, _ := fakes()
	p, err := Time(f, Split(bySize, "size"))
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.SVG(&b))
	checkSVG(t, b.String(), []string{"耗时与消息大小", "理论下界"})
}
