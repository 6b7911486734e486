package plots

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
	"pldperf/reports/document"
)

// drawn is a picture's SVG, in which words are text.
func drawn(t *testing.T, p *Picture, err error) string {
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.SVG(&b))
	return b.String()
}

// forms are nine runs that differ in a name, which takes more room than a bar has.
func forms() (out []reports.Point) {
	for i := range 9 {
		p := onlySIMT()
		p.Axes = []reports.KV{{Key: "call.op", Value: fmt.Sprintf("allreduce/a_long_name_of_form_%d", i)}}
		p.Reasons[result.SIMTBuild] = engine.Duration(i+1) * engine.Microsecond
		out = append(out, p)
	}
	return out
}

func TestEveryBarWithANameIsNamed(t *testing.T) {
	p, err := Reasons(fakeFrame(), "call.op", forms())
	text := drawn(t, p, err)
	for i := range 9 {
		assert.Contains(t, text, fmt.Sprintf(">a_long_name_of_form_%d<", i))
	}
	assert.Contains(t, text, "call.op (allreduce/...)", "what is common to all is said once")
	assert.NotContains(t, text, "outside what was measured")
}

func TestBarsOfTurnedNamesKeepTheNamesOfTheirGroups(t *testing.T) {
	var points []reports.Point
	for _, ranks := range []string{"2", "4"} {
		for _, p := range forms() {
			p.Axes = append([]reports.KV{{Key: "ranks", Value: ranks}}, p.Axes...)
			points = append(points, p)
		}
	}
	p, err := Reasons(fakeFrame(), "call.op", points)
	text := drawn(t, p, err)
	assert.Contains(t, text, ">ranks 2<")
	assert.Contains(t, text, ">ranks 4<")
}

func TestBarsOutsideWhatWasMeasuredHaveAMark(t *testing.T) {
	points := forms()
	points[3].Outside = []document.Outside{{What: "ranks", Value: "9", Known: "measured: 2"}}
	p, err := Reasons(fakeFrame(), "call.op", points)
	text := drawn(t, p, err)
	assert.Contains(t, text, ">* outside what was measured<")
	assert.Equal(t, 1, bytes.Count([]byte(text), []byte(">*<")), "on that bar alone")
}

func TestTheLegendShowsBandsInTheColoursOfTheCurves(t *testing.T) {
	var points []reports.Point
	for _, x := range forms()[:2] {
		for _, size := range []engine.Bytes{1 << 10, 1 << 20} {
			p := x
			p.Size, p.Axes = size, append([]reports.KV{{Key: "size", Value: size.String()}}, x.Axes...)
			p.Draws = []reports.Draw{{Status: result.OK, Elapsed: p.Elapsed / 2}, {Status: result.OK, Elapsed: p.Elapsed * 2}}
			points = append(points, p)
		}
	}
	p, err := Time(fakeFrame(), Split(points, "size"))
	text := drawn(t, p, err)
	assert.Contains(t, text, "band, 10-90 % of draws")
	count := map[string]int{}
	for _, fill := range regexp.MustCompile(`fill:#[0-9A-F]{6};fill-opacity`).FindAllString(text, -1) {
		count[fill]++
	}
	require.Len(t, count, 2, "of two curves, and no other")
	for fill, n := range count {
		assert.Equal(t, 2, n, "%s: the band and its stripe in the legend", fill)
	}
}
