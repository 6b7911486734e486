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

// BenchmarkAllreduce is whole runs with real values, all of which are verified: events
// and their cost, how much longer twice the bytes take, which should be twice, and how
// much longer a run takes that is looked at for hazards.
func BenchmarkAllreduce(b *testing.B) {
	for _, x := range []struct {
		form, machine string
		ranks, blocks int
		mib           int
	}{
		{"mesh_host", "950dt-64", 8, 36, 64},
		{"ring_host", "950dt-64-clos", 16, 0, 64},
		{"ring_hand", "950dt-64-clos", 64, 0, 16},
	} {
		b.Run(fmt.Sprintf("%s/ranks=%d,MiB=%d", x.form, x.ranks, x.mib), func(b *testing.B) {
			spec := hwtest.Machine(b, x.machine)
			call := func(bytes int) *collectives.Call {
				return &collectives.Call{Op: "allreduce", Form: x.form, Ranks: x.ranks, CoreNum: x.blocks, DType: "FP32", Size: bytes / 4}
			}
			half, all := call(x.mib<<19), call(x.mib<<20)
			var total, events, less, checked float64
			for b.Loop() {
				b.StopTimer()
				less += timed(func() { reduced(b, spec, half, "off") }).Seconds()
				checked += timed(func() { reduced(b, spec, half, "on") }).Seconds()
				b.StartTimer()
				total += timed(func() { events += float64(reduced(b, spec, all, "off").Events) }).Seconds()
			}
			b.ReportMetric(events/float64(b.N), "events")
			b.ReportMetric(total*1e9/events, "ns/event")
			b.ReportMetric(events/total, "events/s")
			b.ReportMetric(total/less, "doubling")
			b.ReportMetric(checked/less, "hazards")
		})
	}
}

func reduced(b *testing.B, spec hw.Spec, c *collectives.Call, hazards string) *result.Result {
	res, err := hw.Run(spec, compose(b, c), hw.Options{Hazards: hazards})
	require.NoError(b, err)
	require.Equal(b, result.OK, res.Status)
	return res
}
