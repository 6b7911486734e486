package urma

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/memory"
)

// A shelf is a rig with a window of every rank that is full at the start and a plain
// buffer of rows to read into.
type shelf struct {
	*rig
	full, into memory.ID
	read       int // rows read so far
}

const shelfRows = 600

func newShelf(t require.TestingT, o options) *shelf {
	s := &shelf{rig: newRig(t, o)}
	var err error
	s.full, err = s.mem.Alloc(memory.Buffer{Name: "full", Window: true, Size: engine.Bytes(shelfRows * o.row), Fill: memory.Unique{ID: 2}})
	require.NoError(t, err)
	s.into, err = s.mem.Alloc(memory.Buffer{Name: "into", Size: engine.Bytes(shelfRows * o.row)})
	require.NoError(t, err)
	return s
}

// fetch is the READ of the next m rows of rank 1's window, which go to rank 0 in
// descending order: row j to row shelfRows-1-j.
func (s *shelf) fetch(m int, last bool) Write {
	s.sges = s.sges[:0]
	for j := s.read; j < s.read+m; j++ {
		at := memory.Addr{Buf: s.into, Off: int64(shelfRows-1-j) * s.row}
		s.sges = append(s.sges, SGE{Addr: s.mem.Device(at), Len: uint32(s.row)})
	}
	from := memory.Addr{Rank: 1, Buf: s.full, Off: int64(s.read) * s.row}
	s.read += m
	return Write{Remote: s.mem.Device(from), SGEs: s.sges, Last: last, Read: true, Packed: true}
}

// fetched reports whether exactly the first n rows are here.
func (s *shelf) fetched(n int) bool {
	v := s.mem.Verify(0, s.into)
	v.Expect(0, int64(shelfRows-n)*s.row, memory.Origin{Rank: 0, Buf: s.into})
	for j := n - 1; j >= 0; j-- {
		v.Expect(int64(shelfRows-1-j)*s.row, s.row, memory.Origin{Rank: 1, Buf: s.full, Off: int64(j) * s.row})
	}
	return v.Done()
}

// A lone READ: doorbell 0.15, fetch 0.25, engine 0.02 us, the request's wire, the peer's
// gather 0.2 us, the bytes at 53.1 GB/s, the wire back, the own HBM, 0.15 us to the CQE.
func TestALoneReadTakesTheSumOfItsSteps(t *testing.T) {
	for _, m := range []int{1, 4, 6} {
		o := nominal()
		o.row = 1024
		r := newShelf(t, o)
		r.nics[0].Watch(1, 0, 1)
		q := r.queue(0, 1)
		require.NoError(t, q.Claim(1))
		require.NoError(t, q.Post(1, r.fetch(m, true)))
		q.Doorbell(1)
		var end engine.Time
		q.Completed(then(func() { end = r.eng.Now() }), 0)
		assert.Zero(t, r.finish(0, 1).Status)

		bytes := engine.Bytes(int64(m) * o.row)
		asked := engine.Time(0).Add(150*ns + 250*ns + 20*ns)
		back := asked.Add(wire + 200*ns + port(o).Span(bytes) + wire)
		done := back.Add(engine.Duration(m) * o.mem.HBM.Rate.Span(engine.Bytes(o.row)))
		assert.Equal(t, done.Add(150*ns), end)
		s := r.nics[0].Steps(1)[0]
		assert.Equal(t, []engine.Time{asked, back, done, end}, []engine.Time{s.Wire, s.Land, s.Ack, s.CQE})
		assert.True(t, r.fetched(m))
		assert.EqualValues(t, bytes, q.Counters().Bytes)
	}
}

// Requests that do not wait for each other's data fill the wire back; one at a time costs
// a round trip each.
func TestReadsOverlapUpToTheirLimit(t *testing.T) {
	span := func(reads int, row int64, n int) engine.Duration {
		o := nominal()
		o.spec.Reads, o.row = reads, row
		r := newShelf(t, o)
		q := r.queue(0, 1)
		require.NoError(t, q.Claim(1))
		for i := range n {
			require.NoError(t, q.Post(1, r.fetch(1, i == n-1)))
		}
		q.Doorbell(1)
		assert.Zero(t, r.finish(0, 1).Status)
		assert.True(t, r.fetched(n))
		return r.eng.Now().Sub(0)
	}
	o := nominal()
	round := 2*wire + 200*ns
	assertWithin(t, 2, 100*(round+port(o).Span(4096)), span(1, 4096, 100), "one at a time")
	assertWithin(t, 2, 100*(round+port(o).Span(4096)), span(4, 4096, 400), "four at once")
	assertWithin(t, 3, 100*port(o).Span(64<<10), span(8, 64<<10, 100), "the port is full")
}

func TestAReadSamplesThePeerWhenItsRequestIsThere(t *testing.T) {
	for _, early := range []bool{false, true} {
		r := newShelf(t, nominal())
		q := r.queue(0, 1)
		require.NoError(t, q.Claim(1))
		require.NoError(t, q.Post(1, r.fetch(1, true)))
		q.Doorbell(1)
		there := engine.Time(0).Add(150*ns + 250*ns + 20*ns + wire)
		at := there.Add(1)
		if early {
			at = there.Add(-1)
		}
		r.call(at, func() { r.mem.Rewrite(1, r.full, nil) })
		assert.Zero(t, r.finish(0, 1).Status)
		v := r.mem.Verify(0, r.into)
		version := uint32(0)
		if early {
			version = 1
		}
		v.Any(0, int64(shelfRows-1)*r.row)
		v.Expect(int64(shelfRows-1)*r.row, r.row, memory.Origin{Rank: 1, Buf: r.full, Version: version})
		assert.True(t, v.Done())
	}
}

// READs and packed WRITEs have one to four WQEBBs, so they begin anywhere on a page of
// the ring and may lie on two.
func TestPackedSQEsTakeTheWQEBBsThatTheyUse(t *testing.T) {
	for m, want := range map[int]int64{1: 1, 2: 2, 5: 2, 6: 3, 9: 3, 10: 4, 12: 4} {
		o := nominal()
		o.row = 64
		r := newRig(t, o)
		q := r.queue(0, 1)
		require.NoError(t, q.Claim(1))
		w := r.write(0, 1, 0, m, true)
		w.Packed = true
		require.NoError(t, q.Post(1, w))
		q.Doorbell(1)
		assert.Zero(t, r.finish(0, 1).Status)
		c := q.Counters()
		assert.Equal(t, []int64{1, int64(m), want, 0}, []int64{c.SQEs, c.SGEs, c.WQEBBs, c.NOPs}, "%d SGEs", m)
		assert.True(t, r.landed(0, 1, m))
		assert.EqualValues(t, want, q.Tail())
	}
}

func TestSendsOfAnyMixtureOfReadsOrWritesArriveOnAnyRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := nominal()
		o.row, o.slot = 64, shelfRows
		o.spec.Depth = 1 << rapid.IntRange(4, 8).Draw(t, "depth")
		o.spec.Fetch.InFlight, o.spec.Reads = rapid.IntRange(1, 4).Draw(t, "in flight"), rapid.IntRange(0, 4).Draw(t, "reads")
		r := newShelf(t, o)
		q, written := r.queue(0, 1), 0
		for range rapid.IntRange(1, 12).Draw(t, "sends") {
			require.NoError(t, q.Claim(1))
			read := rapid.Bool().Draw(t, "read")
			n := rapid.IntRange(1, 4).Draw(t, "SQEs")
			for i := range n {
				m := rapid.IntRange(1, MaxReads).Draw(t, "SGEs")
				var w Write
				if read {
					w = r.fetch(m, i == n-1)
				} else {
					w = r.write(0, 1, written, m, i == n-1)
					w.Packed = rapid.Bool().Draw(t, "packed")
					written += m
				}
				require.NoError(t, q.Post(1, w))
			}
			q.Doorbell(1)
			require.Zero(t, r.finish(0, 1).Status)
			require.Equal(t, q.Head(), q.Tail())
			require.True(t, r.fetched(r.read))
			require.True(t, r.landed(0, 1, written))
		}
		require.EqualValues(t, int64(r.read+written)*o.row, q.Counters().Bytes)
		assertIdle(t, r.nics[0])
	})
}

func TestWhatNoReadCanBeIsRefused(t *testing.T) {
	r := newShelf(t, nominal())
	q := r.queue(0, 1)
	require.NoError(t, q.Claim(1))
	assert.ErrorContains(t, q.Post(1, r.fetch(7, true)), "7 SGEs, must be 1 to 6")
	require.NoError(t, q.Post(1, r.fetch(6, false)))
	assert.ErrorContains(t, q.Post(1, r.write(0, 1, 0, 1, true)), "READs and WRITEs to rank 1 under way at once")
}

func TestABadReadCompletesWithAnErrorAndMovesNothing(t *testing.T) {
	for name, spoil := range map[string]func(r *shelf, w *Write){
		"place of the peer":       func(r *shelf, w *Write) { w.SGEs[1].Addr = r.mem.Device(r.source(1, 0)) },
		"place that nobody holds": func(r *shelf, w *Write) { w.SGEs[0].Addr = 0 },
		"source of a third rank":  func(r *shelf, w *Write) { w.Remote = r.mem.Device(memory.Addr{Rank: 2, Buf: r.full}) },
		"source that no window":   func(r *shelf, w *Write) { w.Remote = r.mem.Device(memory.Addr{Rank: 1, Buf: r.into}) },
	} {
		t.Run(name, func(t *testing.T) {
			o := nominal()
			o.ranks = 3
			r := newShelf(t, o)
			q := r.queue(0, 1)
			require.NoError(t, q.Claim(1))
			w := r.fetch(2, true)
			spoil(r, &w)
			require.NoError(t, q.Post(1, w))
			q.Doorbell(1)
			assert.EqualValues(t, StatusAccess, r.finish(0, 1).Status)
			assert.True(t, r.fetched(0))
			assert.Zero(t, q.Counters().Bytes)
			assertIdle(t, r.nics[0])
		})
	}
}

func TestAReadOverADeadLinkTimesOut(t *testing.T) {
	o := nominal()
	o.faults = []Fault{{Kind: "dead_link", Src: 0, Dst: 1}}
	r := newShelf(t, o)
	q := r.queue(0, 1)
	require.NoError(t, q.Claim(1))
	require.NoError(t, q.Post(1, r.fetch(2, true)))
	q.Doorbell(1)
	assert.EqualValues(t, StatusTimeout, r.finish(0, 1).Status)
	assert.True(t, r.fetched(0))
	assertIdle(t, r.nics[0])
}

func TestPackedBuildingHasNoNOPs(t *testing.T) {
	s := a5()
	assert.Equal(t, 1226*ns, s.PackedSpan(1, 1.65e9))
	assert.Equal(t, 1226*ns, s.PackedSpan(64, 1.65e9))
	assert.Equal(t, 2*1226*ns, s.PackedSpan(65, 1.65e9))
	assert.Zero(t, s.PackedSpan(0, 1.65e9))
	s.Build.WQE = 0
	assert.Equal(t, engine.Hertz(1.65e9).Span(64*64/25+1), s.PackedSpan(64, 1.65e9), "64 B each at 25 B a cycle")
	s.Kind = "ideal"
	assert.Zero(t, s.PackedSpan(64, 1.65e9))
}
