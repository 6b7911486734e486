package reports_test

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

// Four AIVs are 1 % slower than eight, so four are enough.
func ExampleRecommend() {
	var points []reports.Point
	for _, run := range []struct {
		cores string
		took  engine.Duration
	}{{"2", 130 * engine.Microsecond}, {"4", 101 * engine.Microsecond}, {"8", 100 * engine.Microsecond}} {
		points = append(points, reports.Point{
			Axes: []reports.KV{{Key: "core_num", Value: run.cores}}, Status: result.OK, Elapsed: run.took,
		})
	}
	for _, choice := range reports.Recommend(points, "core_num", reports.TwoPercent) {
		fmt.Println(choice.Text)
	}
	// Output: take core_num 4: 101.000 us, 1.0 % behind the best (core_num 8, 100.000 us) and so within 2 %; it leaves 4 more AIVs a rank for compute
}
