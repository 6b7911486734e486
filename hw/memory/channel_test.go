package memory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
)

// at is an instant, or a latency, in nanoseconds.
func at(ns int64) engine.Time { return engine.Time(ns) * engine.Time(engine.Nanosecond) }

// HBM moves 1 B/ps; read and write of 1 MB each are over after 2 us, in turn.
func TestReadsAndWritesShareTheRateOfHBM(t *testing.T) {
	s := space(spec(), 2, false)
	id := alloc(t, s, tensor(0, 16*mib))
	r := s.Read(Addr{0, id, 0}, 1e6, 7)
	w := s.Write(Addr{0, id, 0}, 1e6, 8)
	assert.Equal(t, Access{Begin: 0, End: at(1000), Latency: 320 * engine.Nanosecond}, r)
	assert.Equal(t, Access{Begin: at(1000), End: at(2000), Latency: 320 * engine.Nanosecond, Blamed: 7}, w)
	assert.Equal(t, Use{2e6, 2 * engine.Microsecond}, s.HBM(0))
	assert.Equal(t, at(1000), s.Read(Addr{1, id, 0}, 1e6, 9).End, "another rank has its own")
}

func TestEveryAccessTakesTheTimeOfItsOwnBytes(t *testing.T) {
	s := space(spec(), 1, false)
	id := alloc(t, s, tensor(0, 16*mib))
	var sum engine.Time
	for i, n := range []int64{1000, 1000, 3000, 7, 1000, 200_000} {
		sum += engine.Time(n)
		assert.Equal(t, sum, s.Read(Addr{0, id, int64(i) * mib}, n, 0).End, "1 ps a byte")
	}
	assert.Equal(t, engine.Time(1500), s.Read(Addr{0, id, 2 * mib}, 3000, 0).End, "from L2 half of it")
	assert.Equal(t, engine.Time(2000), s.Read(Addr{0, id, 2 * mib}, 1000, 0).End)
}

// N owners that each read n bytes at once end after N n / rate, whoever they are.
func TestManyOwnersGetTheRateInAll(t *testing.T) {
	s := space(spec(), 1, false)
	id := alloc(t, s, tensor(0, 64*mib))
	var end engine.Time
	for i := range int64(64) {
		end = s.Read(Addr{0, id, i * mib}, mib, uint32(i)).End
	}
	assert.Equal(t, s.spec.HBM.Rate.Span(engine.Bytes(64*mib)), end.Sub(0))
	assert.Equal(t, s.HBM(0).Busy, end.Sub(0))
}

func TestAReadOfWhatWasTouchedIsServedByL2(t *testing.T) {
	s := space(spec(), 1, false)
	id := alloc(t, s, tensor(0, 16*mib))
	s.Read(Addr{0, id, 0}, 512e3, 0)
	hit := s.Read(Addr{0, id, 512}, 256e3, 0)
	assert.Equal(t, Access{Begin: 0, End: at(128), Latency: 130 * engine.Nanosecond}, hit, "L2 is free while HBM is busy")
	assert.Equal(t, Use{256e3, 128 * engine.Nanosecond}, s.L2(0))
	assert.EqualValues(t, 512e3, s.HBM(0).Bytes)
}

// What comes in is sectors of 128 B, and a read hits only if all of its own are there.
func TestASectorComesInAsAWhole(t *testing.T) {
	for _, tt := range []struct {
		off, n int64
		hit    bool
	}{
		{1024, 128, true}, {1025, 127, true}, {1151, 1, true}, {1024, 129, false}, {1023, 2, false}, {512, 512, false}, {1152, 1, false},
		{1 << 16, 32768, true}, {1<<16 - 1, 32768, false}, {1<<16 + 1, 32768, false}, {1<<16 + 512, 32768 - 512, true},
	} {
		s := space(spec(), 1, false)
		id := alloc(t, s, tensor(0, mib))
		s.Read(Addr{0, id, 1030}, 10, 0)
		s.Read(Addr{0, id, 1 << 16}, 32768, 0) // 64 lines
		before := s.HBM(0).Bytes
		s.Read(Addr{0, id, tt.off}, tt.n, 0)
		assert.Equal(t, tt.hit, s.HBM(0).Bytes == before, "%d bytes at %d", tt.n, tt.off)
	}
}

// The L2 of 1 MiB holds all of 1 MiB; with one line more, a second pass finds nothing.
func TestAPassOverMoreThanTheL2HoldsLeavesNothingForTheNext(t *testing.T) {
	for _, over := range []int64{0, 1} {
		s := space(spec(), 1, false)
		a, b := alloc(t, s, tensor(0, mib)), alloc(t, s, tensor(1, mib))
		s.Read(Addr{0, a, 0}, mib/2, 0)
		s.Read(Addr{0, b, 0}, mib/2+over, 0)
		s.Read(Addr{0, a, 0}, mib/2, 0)
		assert.Equal(t, over == 0, s.L2(0).Bytes == engine.Bytes(mib/2))
	}
}

// A line leaves when as many have come in behind it as the L2 holds, 2,048: not before.
func TestTheLineThatCameInFirstLeavesFirst(t *testing.T) {
	for _, tt := range []struct {
		behind int64
		hit    bool
	}{{2047, true}, {2048, false}} {
		s := space(spec(), 1, false)
		a, b := alloc(t, s, tensor(0, mib)), alloc(t, s, tensor(1, 2*mib))
		s.Read(Addr{0, a, 0}, 512, 0)
		s.Read(Addr{0, b, 0}, tt.behind*512, 0)
		s.Read(Addr{0, a, 0}, 512, 0)
		assert.Equal(t, tt.hit, s.L2(0).Bytes == 512, "%d lines behind it", tt.behind)
	}
	// Slices that fit are hit in their second pass, however much went before them.
	s := space(spec(), 1, false)
	id := alloc(t, s, tensor(0, 8*mib))
	for slice := range int64(8) {
		for range 2 {
			s.Read(Addr{0, id, slice * mib}, mib, 0)
		}
	}
	assert.Equal(t, []engine.Bytes{8 << 20, 8 << 20}, []engine.Bytes{s.HBM(0).Bytes, s.L2(0).Bytes})
}

func TestPayloadStoresGoPastL2OrBringInLines(t *testing.T) {
	m := spec()
	s := space(m, 1, false)
	id := alloc(t, s, tensor(0, 16*mib))
	assert.Equal(t, at(128), s.Write(Addr{0, id, 0}, 128e3, 0).End)
	assert.Equal(t, at(256), s.Read(Addr{0, id, 0}, 128e3, 0).End, "a store that bypasses leaves nothing in L2")

	m.L2.Stores = "allocate"
	s = space(m, 1, false)
	alloc(t, s, tensor(0, 16*mib))
	assert.Equal(t, at(128), s.Write(Addr{0, id, 0}, 128e3, 0).End, "whole sectors need not be read")
	assert.Equal(t, at(64), s.Read(Addr{0, id, 0}, 128e3, 0).End, "what was allocated hits")
	for _, x := range []struct{ off, n, extra int64 }{{0, 128, 0}, {0, 127, 128}, {1, 126, 128}, {1, 127, 128}, {1, 255, 128}, {1, 128, 256}, {100, 56, 256}} {
		before := s.HBM(0).Bytes
		s.Write(Addr{0, id, x.off}, x.n, 0)
		assert.EqualValues(t, x.n+x.extra, s.HBM(0).Bytes-before, "%d B at %d", x.n, x.off)
	}
}

// Stores of 1 MiB fit in the L2 and take nothing of HBM, again and again; of what goes
// beyond, a line leaves for each that comes.
func TestStoresThatAreWrittenBackStayWhileAllOfThemFit(t *testing.T) {
	m := spec()
	m.L2.Stores = "write_back"
	s := space(m, 1, false)
	id := alloc(t, s, tensor(0, 16*mib))
	for range 3 {
		s.Write(Addr{0, id, 0}, mib, 0)
	}
	assert.Zero(t, s.HBM(0).Bytes)
	assert.Equal(t, m.L2.Rate.Span(3<<20), s.L2(0).Busy)
	s.Write(Addr{0, id, 2 * mib}, 1024, 0)
	assert.EqualValues(t, 1024, s.HBM(0).Bytes)

	s.Read(Addr{0, id, 8 * mib}, mib, 0)
	s.Read(Addr{0, id, 8 * mib}, mib, 0)
	assert.EqualValues(t, 1024+2*mib, s.HBM(0).Bytes, "reads bring in nothing")
	s.Read(Addr{0, id, 2 * mib}, 1024, 0)
	assert.EqualValues(t, 1024+2*mib, s.HBM(0).Bytes, "but find what was stored")
}

func TestIdealMemoryCostsNothing(t *testing.T) {
	m := spec()
	m.Kind = "ideal"
	s := space(m, 1, false)
	id := alloc(t, s, tensor(0, 16*mib))
	assert.Equal(t, Access{}, s.Read(Addr{0, id, 0}, 16*mib, 1))
	assert.Equal(t, Access{}, s.Write(Addr{0, id, 0}, 16*mib, 1))
	assert.Zero(t, s.HBM(0))
	assert.Zero(t, s.L2(0))
}

// What the L2 knows takes as much memory as what it can hold, however much passes through.
func TestTheL2ForgetsWhatHasLeftIt(t *testing.T) {
	s := space(spec(), 1, false)
	id := alloc(t, s, tensor(0, 256*mib))
	for at := int64(0); at < 256*mib; at += 64 << 10 {
		s.Read(Addr{0, id, at}, 64<<10, 0)
	}
	c := &s.chans[0]
	held := 2 * mib >> lineBits / pageLines // one L2 before it looks, and one that it keeps
	assert.LessOrEqual(t, len(c.pages)+len(c.spare), int(held)+2, "of %d pages that were touched", 256*mib>>lineBits/pageLines)
	s.Read(Addr{0, id, 255 * mib}, mib, 0)
	assert.Equal(t, engine.Bytes(mib), s.L2(0).Bytes, "the last MiB is there")
}

// Forgetting changes nothing: reads hit as they do with a list of all lines ever read.
func TestReadsHitWhetherOrNotTheL2Forgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := spec()
		m.L2.Capacity = 64 << 10 // 128 lines
		s := space(m, 1, false)
		id := alloc(t, s, tensor(0, 4*mib))
		came, order := map[int64]int{}, 0
		var hits engine.Bytes
		for range rapid.IntRange(1, 200).Draw(t, "reads") {
			first, n := rapid.Int64Range(0, 8000).Draw(t, "line"), rapid.Int64Range(1, 150).Draw(t, "lines")
			fresh := 0
			for line := first; line < first+n; line++ {
				if at, ok := came[line]; !ok || order-at > 128 {
					came[line] = order
					order++
					fresh++
				}
			}
			if fresh == 0 {
				hits += engine.Bytes(n * 512)
			}
			s.Read(Addr{0, id, first * 512}, n*512, 0)
			require.Equal(t, hits, s.L2(0).Bytes)
		}
	})
}
