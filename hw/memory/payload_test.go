package memory

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// twins are the two representations and a plain model of one memory.
type twins struct {
	t        *rapid.T
	prov     *Space
	raw      *Space
	bufs     []Buffer
	model    [][][]byte // [buffer][rank]
	versions [][]uint32
	flights  []flight
}

// flight is data captured and not yet landed.
type flight struct {
	prov, raw Data
	model     []byte
}

func newTwins(t *rapid.T, ranks int, bufs ...Buffer) *twins {
	w := &twins{t: t, prov: space(spec(), ranks, false), raw: space(spec(), ranks, true), bufs: bufs}
	for i, b := range bufs {
		require.EqualValues(t, i, alloc(t, w.prov, b))
		require.EqualValues(t, i, alloc(t, w.raw, b))
		w.model = append(w.model, make([][]byte, ranks))
		w.versions = append(w.versions, make([]uint32, ranks))
		for r := range ranks {
			w.model[i][r] = w.initial(r, i, 0)
		}
	}
	return w
}

func (w *twins) initial(rank, buf int, version uint32) []byte {
	b := make([]byte, w.bufs[buf].Size)
	if f := w.bufs[buf].Fill; f != nil {
		f.Generate(b, rank, version, 0)
	}
	return b
}

// place draws a range of at most most bytes, often at a page's edge.
func (w *twins) place(most int64) (Addr, int64) {
	buf := rapid.IntRange(0, len(w.bufs)-1).Draw(w.t, "buffer")
	size := int64(w.bufs[buf].Size)
	off := rapid.Int64Range(0, size-1).Draw(w.t, "off")
	if edge := int64(pageSize); size > edge && rapid.Bool().Draw(w.t, "edge") {
		off = edge - rapid.Int64Range(0, 64).Draw(w.t, "before")
	}
	n := min(rapid.Int64Range(1, most).Draw(w.t, "n"), size-off)
	return Addr{rapid.IntRange(0, w.prov.Ranks()-1).Draw(w.t, "rank"), ID(buf), off}, n
}

func (w *twins) capture() {
	var f flight
	for range rapid.IntRange(1, 3).Draw(w.t, "ranges") {
		a, n := w.place(20 * kib)
		w.prov.Capture(&f.prov, a, n)
		w.raw.Capture(&f.raw, a, n)
		f.model = append(f.model, w.model[a.Buf][a.Rank][a.Off:a.Off+n]...)
	}
	require.EqualValues(w.t, len(f.model), f.prov.Len)
	require.Equal(w.t, f.model, f.raw.Raw)
	require.Equal(w.t, f.model, w.spell(f.prov.Frags, f.prov.Len), "provenance spells the very bytes")
	w.flights = append(w.flights, f)
}

// spell writes out what fragments stand for.
func (w *twins) spell(frags []Frag, n int64) []byte {
	out := make([]byte, n)
	at := int64(0)
	for _, f := range frags {
		require.Equal(w.t, at, f.Off, "fragments tile the data")
		w.prov.initial(out[at:at+f.Len], int(f.From.Rank), f.From.Buf, f.From.Version, f.From.Off)
		at += f.Len
	}
	require.Equal(w.t, n, at)
	return out
}

func (w *twins) land() {
	if len(w.flights) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.flights)-1).Draw(w.t, "flight")
	f := w.flights[i]
	a, _ := w.place(1)
	n := int64(len(f.model))
	if a.Off = min(a.Off, int64(w.bufs[a.Buf].Size)-n); a.Off < 0 {
		return
	}
	w.prov.Land(a, &f.prov)
	w.raw.Land(a, &f.raw)
	copy(w.model[a.Buf][a.Rank][a.Off:], f.model)
	if rapid.Bool().Draw(w.t, "once") {
		w.flights = append(w.flights[:i], w.flights[i+1:]...)
	}
}

func (w *twins) rewrite() {
	a, _ := w.place(1)
	w.prov.Rewrite(a.Rank, a.Buf, nil)
	w.raw.Rewrite(a.Rank, a.Buf, nil)
	w.versions[a.Buf][a.Rank]++
	w.model[a.Buf][a.Rank] = w.initial(a.Rank, int(a.Buf), w.versions[a.Buf][a.Rank])
}

// promise is one expectation of a verdict.
type promise struct {
	off, n int64
	from   Origin
	any    bool
}

// promises draws expectations for a buffer: mostly the truth, sometimes not.
func (w *twins) promises(rank int, buf ID) (out []promise) {
	var d Data
	w.prov.Capture(&d, Addr{rank, buf, 0}, int64(w.bufs[buf].Size))
	for _, f := range d.Frags {
		p := promise{f.Off, f.Len, f.From, false}
		switch rapid.IntRange(0, 60).Draw(w.t, "lie") {
		case 0:
			p.from.Rank = (p.from.Rank + 1) % int32(w.prov.Ranks())
		case 1:
			p.from.Version++
		case 2:
			p.from.Off ^= 1
		case 3:
			p.any = true
		case 4:
			continue // expect it untouched
		case 5:
			p.n = (p.n + 1) / 2
		}
		out = append(out, p)
	}
	return out
}

func (w *twins) verdict(rank int, buf ID, all []promise) bool {
	got, ok := w.model[buf][rank], true
	next := int64(0)
	initial := w.initial(rank, int(buf), w.versions[buf][rank])
	for _, p := range all {
		ok = ok && bytes.Equal(initial[next:p.off], got[next:p.off])
		want := make([]byte, p.n)
		w.raw.initial(want, int(p.from.Rank), p.from.Buf, p.from.Version, p.from.Off)
		ok = ok && (p.any || bytes.Equal(want, got[p.off:p.off+p.n]))
		next = p.off + p.n
	}
	return ok && bytes.Equal(initial[next:], got[next:])
}

func (w *twins) verify() {
	a, _ := w.place(1)
	all := w.promises(a.Rank, a.Buf)
	want := w.verdict(a.Rank, a.Buf, all)
	for _, s := range []*Space{w.prov, w.raw} {
		v := s.Verify(a.Rank, a.Buf)
		for _, p := range all {
			if p.any {
				v.Any(p.off, p.n)
			} else {
				v.Expect(p.off, p.n, p.from)
			}
		}
		require.Equal(w.t, want, v.Done(), "%v", v.First)
		require.Equal(w.t, want, v.Wrong == 0)
		require.Equal(w.t, want, len(v.First) == 0)
	}
}

func TestBytesProvenanceAndAPlainModelGiveTheSameVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newTwins(t, 2, tensor(0, 40*kib), window(pageSize+30*kib), tensor(2, 70*kib), window(200))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2:
				w.capture()
			case 3, 4, 5, 6:
				w.land()
			case 7:
				w.rewrite()
			default:
				w.verify()
			}
		}
		w.verify()
		assert.Equal(t, w.raw.Landed(), w.prov.Landed())
	})
}

func TestAReadSamplesWhatIsThereWhenItReads(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 2, asBytes)
		in, out := alloc(t, s, tensor(0, 8*kib)), alloc(t, s, window(32*kib))
		src := Addr{0, in, 100}
		var stale, fresh Data
		s.Capture(&stale, src, 1000)
		s.Rewrite(0, in, nil)
		s.Capture(&fresh, src, 1000)
		s.Land(Addr{1, out, 0}, &stale)
		s.Land(Addr{1, out, 1000}, &fresh)

		for _, old := range []uint32{0, 1} {
			v := s.Verify(1, out)
			v.Expect(0, 1000, origin(src, old))
			v.Expect(1000, 1000, origin(src, 1))
			assert.Equal(t, old == 0, v.Done(), "the first row is of version 0, whatever the second is")
		}
	})
}

// Rank 0's rows go to rank 1, part of them on to rank 2, and part of those to rank 0.
func TestOriginsComposeThroughCopies(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 3, asBytes)
		in, win := alloc(t, s, tensor(0, mib)), alloc(t, s, window(mib))
		move(s, Addr{0, in, 5000}, Addr{1, win, 300}, 400*kib)
		move(s, Addr{1, win, 1300}, Addr{2, win, 7}, 300*kib) // in + 6000
		move(s, Addr{2, win, 107}, Addr{0, win, 200*kib + 1}, 200*kib+3)
		for _, shift := range []int64{0, 1} {
			v := s.Verify(0, win)
			v.Expect(200*kib+1, 200*kib+3, Origin{0, in, 0, 6100 + shift})
			assert.Equal(t, shift == 0, v.Done())
		}
	})
}

func TestProvenanceIsExactToTheByte(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 1, asBytes)
		in, win := alloc(t, s, tensor(0, mib)), alloc(t, s, window(mib))
		move(s, Addr{0, in, 0}, Addr{0, win, pageSize - 1000}, 2000)
		move(s, Addr{0, in, 555}, Addr{0, win, pageSize - 1}, 2) // two bytes across the page's edge
		v := s.Verify(0, win)
		v.Expect(pageSize-1000, 999, Origin{0, in, 0, 0})
		v.Expect(pageSize-1, 2, Origin{0, in, 0, 555})
		v.Expect(pageSize+1, 999, Origin{0, in, 0, 1001})
		assert.True(t, v.Done(), "%v", v.First)
		v = s.Verify(0, win)
		v.Expect(pageSize-1000, 2000, Origin{0, in, 0, 0})
		assert.False(t, v.Done())
		if !asBytes {
			assert.EqualValues(t, 2, v.Wrong)
		}
	})
}

// Two halves of a row meet again, but the second is that of another rank, buffer or
// version, or is not the one that follows.
func TestOnlyWhatContinuesIsOne(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		for _, second := range []struct {
			rank    int
			buf     ID
			version uint32
			off     int64
			same    bool
		}{{0, 0, 1, 500, true}, {1, 0, 1, 500, false}, {0, 1, 1, 500, false}, {0, 0, 2, 500, false}, {0, 0, 1, 501, false}} {
			for _, together := range []bool{true, false} { // in one Data, or in two that land side by side
				s := space(spec(), 2, asBytes)
				alloc(t, s, tensor(0, 8*kib))
				alloc(t, s, tensor(1, 8*kib))
				win := alloc(t, s, window(8*kib))
				var d Data
				for rank := range 2 {
					s.Rewrite(rank, 0, nil)
					s.Rewrite(rank, 1, nil)
				}
				s.Capture(&d, Addr{0, 0, 0}, 500)
				if !together {
					s.Land(Addr{1, win, 100}, &d)
					d.Reset()
				}
				if second.version == 2 {
					s.Rewrite(second.rank, second.buf, nil)
				}
				s.Capture(&d, Addr{second.rank, second.buf, second.off}, 500)
				if together {
					s.Land(Addr{1, win, 100}, &d)
				} else {
					s.Land(Addr{1, win, 600}, &d)
				}
				v := s.Verify(1, win)
				v.Expect(100, 1000, Origin{0, 0, 1, 0})
				assert.Equal(t, second.same, v.Done(), "%+v, together %t", second, together)
				v = s.Verify(1, win)
				v.Expect(100, 500, Origin{0, 0, 1, 0})
				v.Expect(600, 500, Origin{int32(second.rank), second.buf, second.version, second.off})
				assert.True(t, v.Done(), "%+v, together %t: %v", second, together, v.First)
			}
		}
	})
}

// Data that was read from a window goes out again as it was, however the window changes.
func TestDataInFlightIsACopy(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 1, asBytes)
		in, win := alloc(t, s, tensor(0, 64*kib)), alloc(t, s, window(64*kib))
		move(s, Addr{0, in, 0}, Addr{0, win, 0}, kib)
		var d Data
		s.Capture(&d, Addr{0, win, 0}, kib)
		move(s, Addr{0, in, 9 * kib}, Addr{0, win, 0}, kib)
		s.Land(Addr{0, win, kib}, &d)
		v := s.Verify(0, win)
		v.Expect(0, kib, Origin{0, in, 0, 9 * kib})
		v.Expect(kib, kib, Origin{0, in, 0, 0})
		assert.True(t, v.Done(), "%v", v.First)
	})
}

func TestARewrittenWindowHasItsInitialContentAgain(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 2, asBytes)
		in, win := alloc(t, s, tensor(0, 64*kib)), alloc(t, s, window(mib))
		move(s, Addr{0, in, 0}, Addr{0, win, 300 * kib}, kib)
		assert.False(t, s.Verify(0, win).Done())
		s.Rewrite(0, win, nil)
		assert.True(t, s.Verify(0, win).Done())

		// Its zeros are those of any window at any time.
		move(s, Addr{0, win, 300 * kib}, Addr{1, win, 8}, kib)
		v := s.Verify(1, win)
		v.Expect(8, kib, Origin{0, win, 0, 5})
		assert.True(t, v.Done(), "%v", v.First)
		v = s.Verify(1, win)
		v.Expect(8, kib, Origin{0, in, 0, 0})
		assert.False(t, v.Done())
	})
}

func TestABufferBeyondFourGiBKeepsItsOffsets(t *testing.T) {
	const far = int64(5)<<30 + 12345
	s := space(spec(), 2, false)
	in, win := alloc(t, s, tensor(0, 6<<30)), alloc(t, s, window(9<<30))
	dst := Addr{1, win, far + 3<<30}
	got, ok := s.Resolve(s.Device(dst), 100*kib)
	require.True(t, ok)
	assert.Equal(t, dst, got)
	move(s, Addr{0, in, far}, dst, 700*kib)
	for _, wrong := range []int64{0, 1 << 32} {
		v := s.Verify(1, win)
		v.Expect(dst.Off, 700*kib, Origin{0, in, 0, far - wrong})
		assert.Equal(t, wrong == 0, v.Done(), "%v", v.First)
	}
}

// Two instances of a buffer, two buffers, two versions and any two places differ.
func TestUniqueBytesDiffer(t *testing.T) {
	seen := map[string]bool{}
	words := 0
	for rank := range 3 {
		for _, id := range []ID{0, 1, 255, 256} {
			for _, version := range []uint32{0, 1, 255, 256, 300} {
				b := make([]byte, 800)
				Unique{id}.Generate(b, rank, version, 0)
				for i := 0; i < len(b); i += 8 {
					seen[string(b[i:i+8])] = true
					words++
				}
			}
		}
	}
	assert.Len(t, seen, words)
}

func TestContentDoesNotDependOnHowItIsCut(t *testing.T) {
	whole := make([]byte, 200)
	Unique{3}.Generate(whole, 1, 2, 0)
	for off := range len(whole) {
		part := make([]byte, min(21, len(whole)-off))
		Unique{3}.Generate(part, 1, 2, int64(off))
		require.Equal(t, whole[off:off+len(part)], part)
	}
}

func TestOutsideItsBufferNothingIsReadOrWritten(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 1, asBytes)
		id := alloc(t, s, tensor(0, 1000)) // 4 KiB are taken, but 1000 B are its own
		var d Data
		s.Capture(&d, Addr{0, id, 0}, 1000)
		assert.Panics(t, func() { s.Capture(&d, Addr{0, id, 1}, 1000) })
		assert.Panics(t, func() { s.Capture(&d, Addr{0, id, -1}, 10) })
		assert.Panics(t, func() { s.Capture(&d, Addr{0, id, 10}, -1) })
		assert.Panics(t, func() { s.Land(Addr{0, id, 1}, &d) })
		assert.Panics(t, func() { s.Read(Addr{0, id, 1}, 1000, 0) })
		assert.Panics(t, func() { s.Write(Addr{0, id, 1}, 1000, 0) })
	})
}

// rows is the traffic of the benchmarks: scattered rows in, ascending rows out.
type rows struct {
	s       *Space
	in, out ID
	n       int
	d       Data
}

const rowSize = 7168

func newRows(t testing.TB, n int) *rows {
	r := &rows{s: space(spec(), 2, false), n: n}
	r.in, r.out = alloc(t, r.s, tensor(0, 4096*rowSize)), alloc(t, r.s, window(int64(n)*rowSize))
	r.d.Frags = make([]Frag, 0, 16)
	return r
}

func (r *rows) source(i int) int64 { return int64(i*2654435761%4096) * rowSize }

// move takes twelve rows at a time.
func (r *rows) move() {
	for i := 0; i < r.n; i += 12 {
		r.d.Reset()
		for k := i; k < min(i+12, r.n); k++ {
			r.s.Capture(&r.d, Addr{0, r.in, r.source(k)}, rowSize)
		}
		r.s.Land(Addr{1, r.out, int64(i) * rowSize}, &r.d)
	}
}

func (r *rows) verify(t testing.TB) {
	v := r.s.Verify(1, r.out)
	for i := range r.n {
		v.Expect(int64(i)*rowSize, rowSize, Origin{0, r.in, 0, r.source(i)})
	}
	require.True(t, v.Done(), "%v", v.First)
}

func TestAWindowUsedAgainAllocatesNothing(t *testing.T) {
	r := newRows(t, 12*200)
	r.move()
	assert.Zero(t, testing.AllocsPerRun(5, r.move), "over what is there")
	assert.LessOrEqual(t, testing.AllocsPerRun(5, func() {
		r.s.Rewrite(1, r.out, nil)
		r.move()
	}), 1.0, "the list of pages; their fragments are recycled")
	r.verify(t)
}

func BenchmarkRow(b *testing.B) {
	b.Run("first landing", func(b *testing.B) {
		b.ReportAllocs()
		r := newRows(b, max(12, b.N))
		r.move()
	})
	b.Run("landing again", func(b *testing.B) {
		r := newRows(b, 12*1000)
		r.move()
		b.ReportAllocs()
		b.ResetTimer()
		for i := 0; i < b.N; i += r.n {
			r.move()
		}
	})
	b.Run("verify", func(b *testing.B) {
		r := newRows(b, 12*1000)
		r.move()
		b.ReportAllocs()
		b.ResetTimer()
		for i := 0; i < b.N; i += r.n {
			r.verify(b)
		}
	})
}
