package configs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

// large is a file of about 200 lines with a source on each leaf.
func large() []byte {
	var b strings.Builder
	b.WriteString("name: large # src: none\naivs: 64 # src: none\nsteps:\n")
	for i := range 100 {
		fmt.Fprintf(&b, "  - op: call # src: table %d\n    x: %d # est: the row number\n", i, i)
	}
	return []byte(b.String())
}

// BenchmarkLoadAndDecode200Lines is what `check` pays for a file.
func BenchmarkLoadAndDecode200Lines(b *testing.B) {
	data := large()
	b.ReportAllocs()
	for b.Loop() {
		d, err := configs.Load("a.yaml", data)
		require.NoError(b, err)
		require.NoError(b, d.Decode(&spec{}))
	}
}

// BenchmarkSetAndDecode is what a sweep pays for a point.
func BenchmarkSetAndDecode(b *testing.B) {
	d, err := configs.Load("a.yaml", []byte(good))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		c := *d
		require.NoError(b, c.SetFrom("axis", "aivs", "32"))
		require.NoError(b, c.Decode(&spec{}))
	}
}

// BenchmarkLoadLargestFile bounds what a file at the size limit costs.
func BenchmarkLoadLargestFile(b *testing.B) {
	data := []byte(strings.Repeat("- 1\n", 1<<18))
	for b.Loop() {
		_, err := configs.Load("a.yaml", data)
		require.NoError(b, err)
	}
}
