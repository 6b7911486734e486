package collectives_test

import (
	"io"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
	"pldperf/reports/traces"
)

// BenchmarkTimeline is what watching a run costs: each run without and with a trace or a
// profile, one beside the other; the
// least processor time of each counts, as what else the computer does only adds to it.
func BenchmarkTimeline(b *testing.B) {
	spec := mesh(b)
	moe, _ := dispatch(b, 8, 4096)
	reduce := &collectives.Call{Op: "allreduce", Form: "mesh_host", Ranks: 8, DType: "FP32", Size: 1 << 18}
	for _, x := range []struct {
		name string
		call *collectives.Call
	}{{"dispatch", moe}, {"allreduce", reduce}} {
		for _, s := range []struct {
			name string
			sink func() timeline.Sink
		}{
			{"off", func() timeline.Sink { return nil }}, {"block", func() timeline.Sink { return traced(b, traces.Blocks) }},
			{"pipe", func() timeline.Sink { return traced(b, traces.Pipes) }}, {"all", func() timeline.Sink { return traced(b, traces.All) }},
			{"pprof", func() timeline.Sink { return traces.NewProfile() }},
		} {
			b.Run(x.name+"/"+s.name, func(b *testing.B) { sideBySide(b, spec, x.call, s.sink) })
		}
	}
}

func traced(b *testing.B, l traces.Level) timeline.Sink {
	t, err := traces.New(io.Discard, traces.Perfetto, traces.Options{Level: l})
	require.NoError(b, err)
	return t
}

func sideBySide(b *testing.B, spec hw.Spec, c *collectives.Call, sink func() timeline.Sink) {
	job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
	require.NoError(b, err)
	once := func(s timeline.Sink) time.Duration {
		runtime.GC()
		start := spent(b)
		res, err := hw.Run(spec, job, hw.Options{Timeline: s})
		require.NoError(b, err)
		require.Equal(b, result.OK, res.Status)
		return spent(b) - start
	}
	once(nil)
	plain, watched := time.Hour, time.Hour
	for b.Loop() {
		plain = min(plain, once(nil))
		watched = min(watched, once(sink()))
	}
	b.ReportMetric(100*(watched-plain).Seconds()/plain.Seconds(), "%more")
	b.ReportMetric(plain.Seconds()*1000, "ms/plain")
}

// spent is the processor time of this process.
func spent(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
