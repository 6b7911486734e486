package plots

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

// race is two algorithms that cross between 16 and 64, at sizes in the given unit.
func race(op, unit string) (*reports.Race, []reports.Point) {
	var points []reports.Point
	add := func(name string, us ...int64) {
		for i, d := range us {
			points = append(points, reports.Point{
				Axes: []reports.KV{{Key: "call.op", Value: op + name}, {Key: "size", Value: []string{"4", "16", "64"}[i] + unit}}, Status: result.OK, Elapsed: engine.Duration(d) * engine.Microsecond,
			})
		}
	}
	add("mesh", 5, 10, 40)
	add("ring", 20, 20, 20)
	points = append(points, reports.Impossible([]reports.KV{{Key: "call.op", Value: op + "host"}, {Key: "size", Value: "4" + unit}}, "no"))
	return &reports.Races(points, "call.op", "size")[0], points
}

func TestAlgorithmsAreCurvesWithTheirSwitchOversMarked(t *testing.T) {
	for _, unit := range []string{"", " KiB"} {
		r, points := race("allreduce/", unit)
		p, err := Algorithms(Frame{}, r, points)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, p.SVG(&b))
		for _, word := range []string{"allreduce: algorithms against size", ">mesh<", ">ring<", "switch-over", ">32" + unit + "<"} {
			assert.Contains(t, b.String(), word)
		}
		assert.NotContains(t, b.String(), ">host<", "it ended ok nowhere")
	}
}

func TestAlgorithmsThatAllFailedAreNoPicture(t *testing.T) {
	r, points := race("x/", "")
	for i := range points {
		points[i].Status = result.Aborted
	}
	_, err := Algorithms(Frame{}, r, points)
	assert.ErrorIs(t, err, errNothing)
}
