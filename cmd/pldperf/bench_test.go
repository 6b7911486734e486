package main

import (
	"testing"
)

// BenchmarkLargeSweep runs core_num 1 to 64 by 20 sizes at 2, 4 and 8 ranks.
func BenchmarkLargeSweep(b *testing.B) {
	for b.Loop() {
		if _, errs, code := pldperf("sweep", "a5-core-num-by-size", "-o", "-", "--no-cache"); code != 0 {
			b.Fatal(errs)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/3840*1e3, "ms/point")
}
