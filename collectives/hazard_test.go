package collectives_test

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/result"
)

// processor returns the seconds that the process has had a processor for, which others on
// the machine hardly change.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkHazards is what the search for hazards costs: the same runs with and without
// it, one after the other.
func BenchmarkHazards(b *testing.B) {
	call, _ := dispatch(b, 8, 4096)
	wide, _ := dispatch(b, 64, 512)
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
		{"dispatch,64 ranks", "950dt-64-clos", collectives.Item{Call: wide}},
		{"all_to_all", "950dt-64", large("all_to_all", "host", 8, 0, 1<<18)},
		{"allreduce,mesh", "950dt-64", large("allreduce", "mesh_host", 8, 16, 1<<20)},
		{"allreduce,ring", "950dt-64", large("allreduce", "ring_incore", 8, 0, 1<<20)},
	} {
		b.Run(x.name, func(b *testing.B) {
			spec := hwtest.Machine(b, x.machine)
			job, err := collectives.Compose(x.item.Call.Ranks, []collectives.Item{x.item})
			require.NoError(b, err)
			least := map[string]float64{"off": math.Inf(1), "on": math.Inf(1)}
			for b.Loop() {
				for _, mode := range []string{"off", "on"} {
					runtime.GC()
					before := processor()
					res, err := hw.Run(spec, job, hw.Options{Hazards: mode})
					require.NoError(b, err)
					least[mode] = min(least[mode], processor()-before)
					require.Equal(b, result.OK, res.Status, fmt.Sprint(res.Hazards))
				}
			}
			b.ReportMetric(1e3*least["off"], "ms-off")
			b.ReportMetric(1e3*least["on"], "ms-on")
			b.ReportMetric(least["on"]/least["off"], "on/off")
		})
	}
}
