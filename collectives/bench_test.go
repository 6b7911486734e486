package collectives_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/result"
	"pldperf/workloads/routing"
)

// BenchmarkDispatch is the headline case as a whole run: top-8 of 256 experts, hidden
// 7168 INT8, core_num 16, payload as provenance.
func BenchmarkDispatch(b *testing.B) {
	for _, x := range []struct {
		ranks, tokens int
		machine       string
	}{{8, 4096, "950dt-64"}, {64, 4096, "950dt-64-clos"}, {256, 1024, "950dt-64-clos"}} {
		b.Run(fmt.Sprintf("ranks=%d,tokens=%d", x.ranks, x.tokens), func(b *testing.B) {
			spec := hwtest.Machine(b, x.machine)
			half, _ := dispatch(b, x.ranks, x.tokens/2)
			call, rows := dispatch(b, x.ranks, x.tokens)
			whole(b, spec, call) // the heap has its size
			var total, events, allocated, peak, less float64
			for b.Loop() {
				b.StopTimer()
				less += timed(func() { whole(b, spec, half) }).Seconds()
				runtime.GC()
				stop, before := watchHeap(), totalAlloc()
				b.StartTimer()
				total += timed(func() { events += float64(whole(b, spec, call).Events) }).Seconds()
				b.StopTimer()
				allocated, peak = allocated+totalAlloc()-before, peak+stop()
				b.StartTimer()
			}
			n := float64(b.N) * float64(rows)
			b.ReportMetric(events/float64(b.N), "events")
			b.ReportMetric(float64(rows), "rows")
			b.ReportMetric(total*1e9/events, "ns/event")
			b.ReportMetric(events/total, "events/s")
			b.ReportMetric(total*1e9/n, "ns/row")
			b.ReportMetric(allocated/n, "B/row")
			b.ReportMetric(peak/n, "peakB/row")
			b.ReportMetric(total/less, "doubling")
		})
	}
}

func dispatch(b *testing.B, ranks, tokens int) (*collectives.Call, int64) {
	r, err := routing.New(routing.Spec{Kind: "moe_topk", Tokens: tokens, Experts: 256, TopK: 8, Seed: 1}, ranks, 7168, nil)
	require.NoError(b, err)
	return &collectives.Call{
		Op: "indexed_all_to_all_v", Form: "l2", Ranks: ranks, CoreNum: 16, DType: "INT8", Hidden: 7168, Traffic: []collectives.Traffic{r},
	}, r.Stats().TotalRows
}

func whole(b *testing.B, spec hw.Spec, c *collectives.Call) *result.Result {
	job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
	require.NoError(b, err)
	res, err := hw.Run(spec, job, hw.Options{Payload: "provenance"})
	require.NoError(b, err)
	require.Equal(b, result.OK, res.Status)
	return res
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func totalAlloc() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.TotalAlloc)
}

// watchHeap samples the heap until the function that it returns is called, which says
// how far it grew.
func watchHeap() func() float64 {
	read := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	base, done, top := read(), make(chan struct{}), make(chan uint64)
	go func() {
		peak := base
		for {
			select {
			case <-done:
				top <- max(peak, read())
				return
			case <-time.After(2 * time.Millisecond):
				peak = max(peak, read())
			}
		}
	}()
	return func() float64 {
		close(done)
		return float64(<-top - base)
	}
}

// BenchmarkBarrier is what remains when no row moves: 2*B*P*(P-1) notifies.
func BenchmarkBarrier(b *testing.B) {
	for _, ranks := range []int{64, 512} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			spec := hwtest.Machine(b, "950dt-64-clos")
			call := indexed(16, 64, "INT8", rows(ranks, 1, 1, func(_, _ int) int { return 0 }))
			var events float64
			for b.Loop() {
				events += float64(whole(b, spec, call).Events)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/events, "ns/event")
			b.ReportMetric(events/float64(b.N), "events")
		})
	}
}
