package routing

import "testing"

// The sizes of the headline runs: see ns/row, and B/row of what is allocated in all.
func BenchmarkMoe(b *testing.B) {
	moe := Spec{Kind: "moe_topk", Experts: 256, TopK: 8}
	for _, c := range []struct {
		name          string
		ranks, tokens int
		change        func(*Spec)
	}{
		{"8x4096", 8, 4096, nil},
		{"64x4096", 64, 4096, nil},
		{"256x1024", 256, 1024, nil},
		{"64x4096/deepseek-v3", 64, 4096, func(s *Spec) { s.Model = "deepseek-v3" }},
		{"64x4096/zipf", 64, 4096, func(s *Spec) { s.Skew = Skew{Kind: "zipf", Exponent: 1} }},
		{"64x4096/hot", 64, 4096, func(s *Spec) { s.Skew = Skew{Kind: "hot", Hot: []int{3, 200}, Factor: 1000} }},
		{"64x4096/empirical", 64, 4096, func(s *Spec) { s.Skew = Skew{Kind: "empirical"} }},
	} {
		spec := moe
		spec.Tokens = c.tokens
		if c.change != nil {
			c.change(&spec)
		}
		b.Run(c.name, func(b *testing.B) { benchmark(b, spec, c.ranks) })
	}
}

func BenchmarkUniform(b *testing.B) {
	for _, pattern := range []string{"sequential", "random"} {
		b.Run(pattern, func(b *testing.B) { benchmark(b, Spec{Kind: "uniform", Rows: 512, Pattern: pattern}, 64) })
	}
}

func benchmark(b *testing.B, spec Spec, ranks int) {
	var rows int64
	b.ReportAllocs()
	for b.Loop() {
		rows = must(b, spec, ranks).Stats().TotalRows
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
	b.ReportMetric(float64(rows), "rows")
}
