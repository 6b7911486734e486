package urma

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
)

var update = flag.Bool("update", false, "write golden files")

const (
	ns = engine.Nanosecond
	us = engine.Microsecond
)

// a5 is the nominal queue of Ascend 950.
func a5() Spec {
	return Spec{
		Kind: "real", Depth: 32768, CQDepth: 32768, MaxSGEs: 12, Segment: 64,
		Build:    BuildSpec{Lanes: 64, WQE: 1226 * ns, SGE: 50 * ns, NOP: 10 * ns, Store: 25, Efficiency: engine.One},
		Doorbell: DoorbellSpec{Issue: 906 * ns, Latency: 150 * ns},
		Fetch:    FetchSpec{Latency: 250 * ns, InFlight: 2},
		Engine:   EngineSpec{WQE: 20 * ns, Count: 1},
		Gather:   200 * ns,
		CQE:      CQESpec{Visible: 150 * ns, Drain: 430 * ns},
		Timeout:  512 * us,
	}
}

func hbm() memory.Spec {
	return memory.Spec{
		Kind: "shared",
		HBM:  memory.HBMSpec{Rate: 4e12, Latency: 320},
		L2:   memory.L2Spec{Rate: 5.2e12, Latency: 130, Capacity: 128 << 20, Stores: "bypass"},
	}
}

// A rig is some ranks with their NICs, an input of many rows each and a target with
// a slot of equal size for each source. It does what the kernel does to its queues.
type rig struct {
	t       require.TestingT
	eng     *engine.Engine
	mem     *memory.Space
	net     fabric.Fabric
	nics    []*NIC
	spec    Spec
	in, out memory.ID
	row     int64
	slot    int // rows
	inputs  int // rows
	sges    []SGE
}

type options struct {
	spec   Spec
	mem    memory.Spec
	fabric fabric.Spec
	ranks  int
	row    int64
	slot   int
	faults []Fault
	bytes  bool
}

func nominal() options {
	return options{spec: a5(), mem: hbm(), fabric: fabric.Default(), ranks: 2, row: 7168, slot: 2048}
}

func newRig(t require.TestingT, o options) *rig {
	r := &rig{t: t, eng: engine.New(engine.Options{}), spec: o.spec, row: o.row, slot: o.slot, inputs: 509}
	r.mem = memory.New(r.eng, o.mem, memory.Options{Ranks: o.ranks, Bytes: o.bytes, Clock: 1.65e9})
	var err error
	r.in, err = r.mem.Alloc(memory.Buffer{Name: "input", Size: engine.Bytes(int64(r.inputs) * o.row), Fill: memory.Unique{}})
	require.NoError(t, err)
	r.out, err = r.mem.Alloc(memory.Buffer{Name: "target", Window: true, Size: engine.Bytes(int64(o.ranks*o.slot) * o.row)})
	require.NoError(t, err)
	r.net, err = fabric.New(r.eng, o.fabric, o.ranks)
	require.NoError(t, err)
	for rank := range o.ranks {
		n, err := New(r.eng, o.spec, r.mem, r.net, rank, o.faults)
		require.NoError(t, err)
		r.nics = append(r.nics, n)
	}
	return r
}

func (r *rig) queue(src, dst int) *Queue { return r.nics[src].Queue(dst) }

// index is which input row goes to row j of a slot.
func (r *rig) index(j int) int { return j * 31 % r.inputs }

func (r *rig) source(rank, j int) memory.Addr {
	return memory.Addr{Rank: rank, Buf: r.in, Off: int64(r.index(j)) * r.row}
}

func (r *rig) target(src, dst, j int) memory.Addr {
	return memory.Addr{Rank: dst, Buf: r.out, Off: int64(src*r.slot+j) * r.row}
}

// write is the SQE of rows first ... first+m-1.
func (r *rig) write(src, dst, first, m int, last bool) Write {
	r.sges = r.sges[:0]
	for j := first; j < first+m; j++ {
		r.sges = append(r.sges, SGE{Addr: r.mem.Device(r.source(src, j)), Len: uint32(r.row)})
	}
	return Write{Remote: r.mem.Device(r.target(src, dst, first)), SGEs: r.sges, Last: last}
}

// writer is the AIV that drives the queues of a rank.
func writer(rank int) uint32 { return uint32(rank + 1) }

// submit is the kernel of semantics 7.3: it asserts the capacity, then builds the
// SQEs of n rows, 12 rows each, and rings a doorbell for each segment.
func (r *rig) submit(src, dst, n int) error {
	q, w := r.queue(src, dst), writer(src)
	if n == 0 {
		return nil
	}
	sqes := (n + r.spec.MaxSGEs - 1) / r.spec.MaxSGEs
	if err := q.Room(SQEBBs * sqes); err != nil {
		return err
	}
	if err := q.Claim(w); err != nil {
		return err
	}
	for i := range sqes {
		first := i * r.spec.MaxSGEs
		m := min(r.spec.MaxSGEs, n-first)
		if err := q.Post(w, r.write(src, dst, first, m, first+m == n)); err != nil {
			return err
		}
		if (i+1)%r.spec.Segment == 0 || i+1 == sqes {
			q.Doorbell(w)
		}
	}
	q.CountSend()
	return nil
}

// finish runs to the end and reads the one CQE of a send.
func (r *rig) finish(src, dst int) CQE {
	require.NoError(r.t, r.eng.Run())
	q := r.queue(src, dst)
	require.True(r.t, q.Completed(nil, 0), "nobody waits, so nobody is woken")
	c, ok := q.PollCQE()
	require.True(r.t, ok)
	_, more := q.PollCQE()
	require.False(r.t, more, "one CQE a send")
	q.Release(writer(src))
	return c
}

// send is submit and finish of what must succeed.
func (r *rig) send(src, dst, n int) {
	require.NoError(r.t, r.submit(src, dst, n))
	if n > 0 {
		require.Zero(r.t, r.finish(src, dst).Status)
	}
}

// landed reports whether exactly the first n rows of the slot are there.
func (r *rig) landed(src, dst, n int) bool {
	v := r.mem.Verify(dst, r.out)
	v.Any(0, int64(src*r.slot)*r.row)
	for j := range n {
		a := r.source(src, j)
		v.Expect(r.target(src, dst, j).Off, r.row, memory.Origin{Rank: int32(src), Buf: r.in, Version: r.mem.Version(src, r.in), Off: a.Off})
	}
	v.Expect(r.target(src, dst, n).Off, int64(r.slot-n)*r.row, memory.Origin{Rank: int32(dst), Buf: r.out}) // zeros
	end := int64((src+1)*r.slot) * r.row
	v.Any(end, int64(len(r.nics)*r.slot)*r.row-end)
	return v.Done()
}

// then calls a function at an event; tests only.
type then func()

func (f then) Handle(uint64) { f() }

// call makes an event of f.
func (r *rig) call(t engine.Time, f func()) { r.eng.At(t, then(f), 0) }

// span returns how long a send of n rows takes, from its doorbells to its CQE.
func (r *rig) span(src, dst, n int) engine.Duration {
	begin := r.eng.Now()
	var end engine.Time
	require.NoError(r.t, r.submit(src, dst, n))
	r.queue(src, dst).Completed(then(func() { end = r.eng.Now() }), 0)
	r.finish(src, dst)
	return end.Sub(begin)
}

// assertWithin compares in per cent.
func assertWithin(t *testing.T, percent float64, want, got engine.Duration, what ...any) {
	t.Helper()
	assert.InEpsilon(t, float64(want), float64(got), percent/100, what...)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
