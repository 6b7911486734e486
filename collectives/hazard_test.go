package collectives_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/result"
)

// BenchmarkHazards is what the search for hazards costs: the same runs with and without
// it, one after the other.
func BenchmarkHazards(b *testing.B) {
	call, _ := dispatch(b, 8, 4096)
	large := func(op, form string, ranks, cores, size int) collectives.Item {
		return collectives.Item{Call: &collectives.Call{Op: op, Form: form, Ranks: ranks, CoreNum: cores, DType: "FP32", Size: size, Reduce: "Sum"}}
	}
	for _, x := range []struct {
		name    string
		machine string
		item    collectives.Item
	}{
		{"dispatch", "950dt-64", collectives.Item{Call: call}},
		{"dispatch,twice", "950dt-64", collectives.Item{Call: call, Repeat: collectives.Repeat{Count: 2}}},
		{"all_to_all", "950dt-64", large("all_to_all", "host", 8, 0, 1<<18)},
		{"allreduce,mesh", "950dt-64", large("allreduce", "mesh_host", 8, 16, 1<<20)},
		{"allreduce,ring", "950dt-64", large("allreduce", "ring_incore", 8, 0, 1<<20)},
	} {
		b.Run(x.name, func(b *testing.B) {
			spec := hwtest.Machine(b, x.machine)
			job, err := collectives.Compose(x.item.Call.Ranks, []collectives.Item{x.item})
			require.NoError(b, err)
			seconds := map[string]float64{}
			for b.Loop() {
				for _, mode := range []string{"off", "on"} {
					seconds[mode] += timed(func() {
						res, err := hw.Run(spec, job, hw.Options{Hazards: mode})
						require.NoError(b, err)
						require.Equal(b, result.OK, res.Status, fmt.Sprint(res.Hazards))
					}).Seconds()
				}
			}
			b.ReportMetric(1e3*seconds["off"]/float64(b.N), "ms-off")
			b.ReportMetric(1e3*seconds["on"]/float64(b.N), "ms-on")
			b.ReportMetric(seconds["on"]/seconds["off"], "on/off")
		})
	}
}
