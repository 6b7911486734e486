package collectives_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/result"
)

// A supernode: 1,024 ranks that give 1 KiB to each, a million messages. Aim: under 10 s and
// 1 GiB; heap-MiB is what the heap has taken from the system.
func BenchmarkAllToAllOf1024Ranks(b *testing.B) {
	spec := hwtest.Machine(b, "950dt-64-supernode")
	for name, c := range map[string]collectives.Call{
		"hand":   {Form: "hand"},
		"incore": {Form: "incore"},
		"urma":   {Form: "hand", Options: collectives.Options{Transport: "urma", WhatIf: true}},
	} {
		b.Run(name, func(b *testing.B) {
			c.Op, c.Ranks, c.DType, c.Size = "all_to_all", 1024, "INT8", 1024
			job := compose(b, &c)
			b.ReportAllocs()
			for b.Loop() {
				res, err := hw.Run(spec, job, hw.Options{Payload: "provenance"})
				require.NoError(b, err)
				require.Equal(b, result.OK, res.Status)
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MiB")
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(1024*1023), "ns/message")
			}
		})
	}
}
