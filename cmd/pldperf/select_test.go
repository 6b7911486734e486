package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

// contest is n algorithms at two sizes, of which number i takes n-i, and the first is the
// fastest at the second size.
func contest(n int) *reports.Comparison {
	c := &reports.Comparison{Axis: "call.op"}
	for i := range n {
		for s, size := range []string{"1 KiB", "1 MiB"} {
			took := engine.Duration(n-i) * engine.Microsecond
			if s == 1 && i == 0 {
				took = 1
			}
			c.Points = append(c.Points, reports.Point{
				Axes: []reports.KV{{Key: "call.op", Value: fmt.Sprintf("op/form%d", i)}, {Key: "call.message", Value: size}}, Status: result.OK, Elapsed: took,
			})
		}
	}
	return c
}

func TestAPlotShowsAllNamesThatItHasColoursFor(t *testing.T) {
	assert.Len(t, values(few(contest(9), "call.message"), "call.op"), 9)
	assert.Len(t, values(few(contest(11), "call.message"), "call.op"), 11)
}

func TestOfMoreNamesAPlotShowsTheQuickest(t *testing.T) {
	shown := values(few(contest(13), "call.message"), "call.op")
	assert.Len(t, shown, 11)
	assert.Contains(t, shown, "op/form0", "the fastest at one size")
	assert.Contains(t, shown, "op/form12")
	assert.NotContains(t, shown, "op/form1")
	assert.NotContains(t, shown, "op/form2")
	assert.Equal(t, "; 2 curves of others are not drawn", left(2))
	assert.Empty(t, left(0))
}

func TestFootnotesSpeakOfBandsOnlyWhereTheyAreDrawn(t *testing.T) {
	c := contest(2)
	c.Band = &reports.Band{Seed: 7}
	assert.Contains(t, footnote(c, "bandwidth"), "band: 10 to 90 %")
	assert.NotContains(t, footnote(c, "reasons"), "band")
	assert.NotContains(t, footnote(c, "wqebb"), "band")
}
