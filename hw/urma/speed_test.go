package urma

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnSQEAllocatesNothing(t *testing.T) {
	for _, asBytes := range []bool{false, true} {
		o := nominal()
		o.ranks, o.row, o.slot, o.bytes = 4, 512, 1200, asBytes
		r := newRig(t, o)
		all := func() {
			for peer := 1; peer < 4; peer++ {
				require.NoError(t, r.submit(0, peer, 1200))
			}
			require.NoError(t, r.eng.Run())
			for peer := 1; peer < 4; peer++ {
				c, ok := r.queue(0, peer).PollCQE()
				if !ok || c.Status != 0 {
					t.Fatal(c, ok)
				}
				r.queue(0, peer).Release(writer(0))
			}
		}
		all()
		assert.Zero(t, testing.AllocsPerRun(3, all), "300 SQEs, as bytes %t", asBytes)
	}
}

// BenchmarkSQE is an SQE of twelve rows of 7 KiB all in: encoded, fetched, decoded,
// captured, sent over the mesh and landed.
func BenchmarkSQE(b *testing.B) {
	for _, tt := range []struct {
		name   string
		change func(*options)
	}{
		{"first use of the window", func(o *options) {}},
		{"window used again", func(o *options) { o.slot = 12 * 100 }},
		{"real bytes of 64 B", func(o *options) { o.slot, o.row, o.bytes = 12*100, 64, true }},
		{"ideal fabric", func(o *options) { o.slot, o.fabric.Kind = 12*100, "ideal" }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			o := nominal()
			o.slot = 12 * max(b.N, 100)
			tt.change(&o)
			r := newRig(b, o)
			n := o.slot / 12
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; left -= n {
				bench(r, min(n, left))
			}
			b.ReportMetric(float64(r.eng.Events())/float64(b.N), "events/op")
		})
	}
}

// bench sends SQEs in segments of 64, and waits after 8,192: the depth of the ring.
func bench(r *rig, sqes int) {
	q, w := r.queue(0, 1), writer(0)
	_ = q.Claim(w)
	for i := range sqes {
		last := i+1 == sqes || (i+1)%8192 == 0
		if err := q.Post(w, r.write(0, 1, 12*i, 12, last)); err != nil {
			panic(err)
		}
		if last || (i+1)%64 == 0 {
			q.Doorbell(w)
		}
		if last {
			if err := r.eng.Run(); err != nil {
				panic(err)
			}
			q.PollCQE()
		}
	}
	q.Release(w)
}
