package collectives_test

import (
	"fmt"
	"testing"

	"pldperf/collectives"
	"pldperf/hw/hwtest"
)

// BenchmarkAllToAllV is v4 at 64 ranks with 4,096 rows a rank in all, INT8 of 4160: 66,560
// pieces of 256 B a rank, each drained.
func BenchmarkAllToAllV(b *testing.B) {
	for _, x := range []struct{ ranks, rows, cores int }{{64, 2048, 1}, {64, 4096, 1}, {64, 4096, 64}} {
		b.Run(fmt.Sprintf("ranks=%d,rows=%d,cores=%d", x.ranks, x.rows, x.cores), func(b *testing.B) {
			spec := hwtest.Machine(b, "950dt-64-clos")
			each := x.rows / x.ranks
			tab := &table{tokens: x.rows, capacity: each, counts: make([][]int, x.ranks), index: make([][][]int32, x.ranks)}
			for s := range tab.counts {
				tab.counts[s], tab.index[s] = make([]int, x.ranks), make([][]int32, x.ranks)
				for d := range x.ranks {
					tab.counts[s][d] = each
				}
			}
			c := &collectives.Call{
				Op: "all_to_all_v", Form: "l2", Ranks: x.ranks, CoreNum: x.cores, DType: "INT8", Hidden: 4160,
				Traffic: []collectives.Traffic{tab},
			}
			var events, bytes float64
			for b.Loop() {
				events += float64(whole(b, spec, c).Events)
				bytes += float64(x.ranks) * float64(x.rows) * 4160
			}
			b.ReportMetric(events/float64(b.N), "events")
			b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(b.Elapsed().Seconds()*1e9/bytes*256, "ns/piece")
		})
	}
}
