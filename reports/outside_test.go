package reports

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/reports/document"
)

// tooSmall is a message that is smaller than any that was measured.
func tooSmall(value string) []document.Outside {
	return []document.Outside{{What: "bytes a peer", Value: value, Known: "measured: 1 MiB to 64 MiB, URMA writes"}}
}

func TestACardMarksItsFiguresOutsideWhatWasMeasured(t *testing.T) {
	c := fakeCard()
	c.Outside = append(tooSmall("4 KiB"), document.Outside{What: "remote MTE", Known: "no case measures it"})
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{Width: 200}))
	assert.Regexp(t, `(?m)^elapsed\* +123\.456789`, b.String())
	assert.Regexp(t, `(?m)^busbw\* `, b.String())
	assert.Contains(t, b.String(), "* outside what was measured: bytes a peer 4 KiB (measured: 1 MiB to 64 MiB, URMA writes); remote MTE (no case measures it)\n")

	b.Reset()
	require.NoError(t, c.Write(&b, CSV, Options{}))
	assert.Contains(t, b.String(), `results,outside_fit,,,,,"bytes a peer 4 KiB (measured: 1 MiB to 64 MiB, URMA writes)"`)
	b.Reset()
	require.NoError(t, c.Write(&b, JSON, Options{}))
	again, err := ReadCard(&b)
	require.NoError(t, err)
	assert.Equal(t, c.Outside, again.Outside)
	assert.Equal(t, c.Outside, NewPoint(nil, 0, c).Outside, "a point of a sweep keeps it")

	b.Reset()
	require.NoError(t, fakeCard().Write(&b, Text, Options{}))
	assert.NotContains(t, b.String(), "outside what was measured")
	assert.NotContains(t, b.String(), "elapsed*")
}

func TestTheFootnoteOfATablePutsTogetherWhatLiesBeyondTheSame(t *testing.T) {
	points := curve(nil, KV{Key: "1", Value: "4 us"}, KV{Key: "2", Value: "3 us"}, KV{Key: "4", Value: "2 us"})
	points[0].Outside, points[1].Outside = tooSmall("4 KiB"), tooSmall("512 KiB")
	c := &Comparison{Title: "sizes", Axis: "core_num", Points: points}
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{Width: 140}))
	assert.Contains(t, b.String(), "* outside what was measured: bytes a peer 4 KiB to 512 KiB (measured: 1 MiB to 64 MiB, URMA writes)\n")
	assert.Contains(t, b.String(), "4.000*")
	assert.Regexp(t, `4 +take +1 +2\.000 +0\.0`, b.String(), "the last point is not marked")

	b.Reset()
	require.NoError(t, c.Write(&b, CSV, Options{}))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	at := slices.Index(rows[0], "outside_fit")
	assert.Equal(t, []string{"bytes a peer 4 KiB (measured: 1 MiB to 64 MiB, URMA writes)", "bytes a peer 512 KiB (measured: 1 MiB to 64 MiB, URMA writes)", ""},
		[]string{rows[1][at], rows[2][at], rows[3][at]})
}

func TestValuesThatAreNoAmountsAreListed(t *testing.T) {
	assert.Equal(t, "2 to 64", spanned([]string{"64", "2", "8"}))
	assert.Equal(t, "over ideal, over clos", spanned([]string{"over ideal", "over clos"}))
	assert.Equal(t, "", spanned([]string{""}))
}

func TestAnExplanationMarksItsTimesOutsideWhatWasMeasured(t *testing.T) {
	e := fakeExplanation()
	e.Run.Outside = tooSmall("4 KiB")
	e.Blocks[1].Outside = tooSmall("4 KiB")
	var b bytes.Buffer
	require.NoError(t, e.Write(&b, Text, Options{Width: 200}))
	assert.Regexp(t, `(?m)^elapsed\* +123\.457\* `, b.String())
	assert.Regexp(t, `(?m)^fabric +50\.000\* `, b.String(), "what a part costs is a difference of two predictions")
	assert.Regexp(t, `(?m)^ +2 +125\.000\* `, b.String())
	assert.Regexp(t, `(?m)^ +4 +124\.000 `, b.String(), "each core_num by itself")
	assert.Contains(t, b.String(), "* outside what was measured: bytes a peer 4 KiB (measured: 1 MiB to 64 MiB, URMA writes)\n")
	b.Reset()
	require.NoError(t, e.Write(&b, CSV, Options{}))
	assert.Contains(t, b.String(), `results,outside_fit,,,,,"bytes a peer 4 KiB`)
	assert.Contains(t, b.String(), `core_num,2,outside_fit,,,,"bytes a peer 4 KiB`)

	b.Reset()
	require.NoError(t, fakeExplanation().Write(&b, Text, Options{Width: 200}))
	assert.NotContains(t, b.String(), "*")
}

func TestADifferenceMarksTheSideThatIsOutsideWhatWasMeasured(t *testing.T) {
	d := fakeDifference(t)
	d.Pairs[0].OutsideB = tooSmall("4 KiB")
	var b bytes.Buffer
	require.NoError(t, d.Write(&b, Text, Options{Width: 200}))
	assert.Regexp(t, `(?m)^elapsed +[0-9.]+ +[0-9.]+\* `, b.String(), "B alone")
	assert.Regexp(t, `(?m)^busbw +[0-9.]+ +[0-9.]+\* `, b.String())
	assert.Regexp(t, `(?m)^bound +[0-9.]+ +[0-9.]+ `, b.String(), "a bound is no prediction")
	assert.Contains(t, b.String(), "* outside what was measured: bytes a peer 4 KiB (measured: 1 MiB to 64 MiB, URMA writes)\n")
	b.Reset()
	require.NoError(t, d.Write(&b, CSV, Options{}))
	assert.Contains(t, b.String(), `,mark,outside_fit,,"bytes a peer 4 KiB`)
	b.Reset()
	require.NoError(t, d.Write(&b, JSON, Options{}))
	assert.Contains(t, b.String(), `"outside_fit_b": [`)
	assert.NotContains(t, b.String(), `"outside_fit_a"`)
}

func TestARecommendationMarksTheTimesThatItNames(t *testing.T) {
	points := curve(nil, KV{Key: "1", Value: "4 us"}, KV{Key: "2", Value: "3 us"})
	points[1].Outside = tooSmall("4 KiB")
	c := Recommend(points, "core_num", TwoPercent)
	assert.Contains(t, c[0].Text, "3.000* us")
}
