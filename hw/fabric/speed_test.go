package fabric

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
)

// nobody is a handler that counts.
type nobody int

func (n *nobody) Handle(uint64) { *n++ }

// allToAll sends n bytes in every pair's flow.
type allToAll struct {
	eng   *engine.Engine
	net   Fabric
	ranks int
	flows []Flow
	done  nobody
}

func newAllToAll(t testing.TB, spec Spec, ranks int) *allToAll {
	a := &allToAll{eng: engine.New(engine.Options{}), ranks: ranks}
	var err error
	a.net, err = New(a.eng, spec, ranks)
	require.NoError(t, err)
	for src := range ranks {
		for step := 1; step < ranks; step++ {
			a.flows = append(a.flows, a.net.Open(src, (src+step)%ranks))
		}
	}
	return a
}

func (a *allToAll) run(t testing.TB, n engine.Bytes) {
	i := 0
	for src := range a.ranks {
		for step := 1; step < a.ranks; step++ {
			a.net.Send(Message{Src: src, Dst: (src + step) % a.ranks, Bytes: n, Flow: a.flows[i], Landed: &a.done})
			i++
		}
	}
	require.NoError(t, a.eng.Run())
}

func TestAQuantumAllocatesNothing(t *testing.T) {
	for _, kind := range Kinds() {
		for name, spec := range variants(kind) {
			a := newAllToAll(t, spec, 8)
			allocs := testing.AllocsPerRun(3, func() { a.run(t, 256*kib) })
			assert.Zero(t, allocs, "%s, %s", kind, name)
		}
	}
}

// A message of k quanta is k arrivals, k-1 offers and one landing.
func TestAQuantumIsTwoEvents(t *testing.T) {
	for _, kind := range []string{"mesh", "clos"} {
		a := newAllToAll(t, with(kind, nil), 2)
		a.run(t, 160*kib)
		assert.EqualValues(t, 2*(10+9+1), a.eng.Events(), kind)
		assert.EqualValues(t, 2, a.done)
	}
}

// State is made when first touched: a large fabric costs its ranks, not its pairs.
func TestALargeFabricIsCheapUntilItIsUsed(t *testing.T) {
	spec := with("mesh", func(s *Spec) { s.Mesh.Ports = 4095 })
	for _, kind := range Kinds() {
		spec.Kind = kind
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := New(engine.New(engine.Options{}), spec, 4096)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), kind)
	}
}

func benchmark(b *testing.B, spec Spec, ranks int, n engine.Bytes) {
	a := newAllToAll(b, spec, ranks)
	a.run(b, n)
	start := a.eng.Events()
	b.ReportAllocs()
	for b.Loop() {
		a.run(b, n)
	}
	total := float64(b.N) * float64(len(a.flows)) * float64(quanta(spec, n))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/quantum")
	b.ReportMetric(float64(a.eng.Events()-start)/total, "events/quantum")
}

func BenchmarkMesh8(b *testing.B)  { benchmark(b, with("mesh", nil), 8, 4*mib) }
func BenchmarkClos8(b *testing.B)  { benchmark(b, with("clos", nil), 8, 4*mib) }
func BenchmarkClos64(b *testing.B) { benchmark(b, with("clos", nil), 64, 256*kib) }
func BenchmarkHash64(b *testing.B) {
	benchmark(b, with("clos", func(s *Spec) { s.Clos.Spread = "hash" }), 64, 256*kib)
}
func BenchmarkClos256(b *testing.B) { benchmark(b, with("clos", nil), 256, 64*kib) }
func BenchmarkUplinks256(b *testing.B) {
	benchmark(b, with("clos", func(s *Spec) { s.Clos.Uplink = 500_000 }), 256, 64*kib)
}
func BenchmarkIdeal64(b *testing.B) {
	benchmark(b, with("ideal", func(s *Spec) { s.Ideal.Latency = us }), 64, 256*kib)
}

func BenchmarkOpen256(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newAllToAll(b, with("clos", nil), 256)
	}
}
