package diff

import (
	"fmt"
	"testing"

	"pldperf/reports/document"
)

// BenchmarkLargeSweeps compares two sweeps of 4,320 points with 200 values of a machine.
func BenchmarkLargeSweeps(b *testing.B) {
	s := sweep()
	for i := range 4320 {
		s.Sweep.Points = append(s.Sweep.Points, point(100, "n", fmt.Sprint(i), "size", "64 KiB"))
	}
	for i := range 200 {
		s.Sweep.Config = append(s.Sweep.Config, document.Leaf{Path: fmt.Sprint("machine.", i), Value: "1.5 GB/s", Low: "1 GB/s", High: "2 GB/s"})
	}
	for b.Loop() {
		compare(b, s, s)
	}
}
