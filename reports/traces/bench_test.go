package traces_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/timeline"
	"pldperf/reports/traces"
)

// BenchmarkSpan is what a span of a block costs, by what takes it.
func BenchmarkSpan(b *testing.B) {
	for name, sink := range map[string]func() timeline.Sink{
		"none": func() timeline.Sink { return refusing{} }, "pprof": func() timeline.Sink { return traces.NewProfile() },
		"json": func() timeline.Sink { return trace(b, traces.Chrome) }, "pftrace": func() timeline.Sink { return trace(b, traces.Perfetto) },
	} {
		b.Run(name, func(b *testing.B) {
			block := timeline.New(sink()).Launch(0, 0, &timeline.Call{Name: "call", Timed: true}, 0, "launch")
			reasons := [...]string{"mte2", "remote_wait", "vector", "mte3"}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				block.Turn(engine.Time(i)*100_000, reasons[i%4], "put", "push", i%4, i%8)
			}
		})
	}
}

func trace(b *testing.B, f traces.Format) timeline.Sink {
	t, err := traces.New(io.Discard, f, traces.Options{})
	require.NoError(b, err)
	return t
}

// refusing wants nothing.
type refusing struct{ timeline.Sink }

func (refusing) Open(timeline.Track, *timeline.Place) bool { return false }
