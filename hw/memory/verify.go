package memory

import (
	"bytes"
	"fmt"
)

// Mismatch is a range that does not hold what it should.
type Mismatch struct {
	At        Addr
	Len       int64
	Want, Got Origin // Got is meaningful for provenance only
	Text      string
}

// Verifier compares one rank's buffer with what a collective promises. Expect and
// Any are called for ranges in ascending order; everything between them must have
// the initial content of the buffer's present version. Both ways to keep payload
// give the same verdict, as long as the content of buffers is Unique or zero.
type Verifier struct {
	s     *Space
	at    Addr
	next  int64
	Bytes int64 // checked against a promise
	Wrong int64 // bytes that differ: by value, or by origin
	First []Mismatch
	want  []byte
	got   []byte
	frags []Frag
	base  Origin // what untouched ranges hold
}

// maxMismatches is how many differences a Verifier describes; it counts them all.
const maxMismatches = 8

// Verify starts the comparison of a rank's buffer.
func (s *Space) Verify(rank int, id ID) *Verifier {
	return &Verifier{s: s, at: Addr{rank, id, 0}, base: Origin{int32(rank), id, s.Version(rank, id), 0}}
}

// Expect says that n bytes from off on come from the given origin.
func (v *Verifier) Expect(off, n int64, from Origin) {
	v.skip(off, n)
	v.Bytes += n
	v.compare(off, n, from)
}

// Values says that the bytes from off on are want. The Space must keep bytes.
func (v *Verifier) Values(off int64, want []byte) {
	n := int64(len(want))
	v.skip(off, n)
	v.Bytes += n
	if int64(cap(v.got)) < n {
		v.got = make([]byte, n)
	}
	got := v.got[:n]
	a := v.at
	a.Off = off
	v.s.readRaw(got, a)
	first, wrong := difference(want, got)
	if wrong == 0 {
		return
	}
	a.Off += first
	v.fail(a, wrong, Origin{Rank: -1}, Origin{Rank: -1})
}

// Any accepts whatever n bytes from off on hold.
func (v *Verifier) Any(off, n int64) {
	v.skip(off, n)
}

// skip checks what lies before the next expectation.
func (v *Verifier) skip(off, n int64) {
	v.s.check(Addr{v.at.Rank, v.at.Buf, off}, n)
	if off < v.next {
		panic(fmt.Sprintf("memory: expectations out of order: %d after %d", off, v.next))
	}
	v.untouched(off)
	v.next = off + n
}

// Done checks the rest of the buffer and reports whether all is right.
func (v *Verifier) Done() bool {
	v.untouched(int64(v.s.bufs[v.at.Buf].Size))
	return v.Wrong == 0
}

// untouched checks that [next, end) still has its initial content, page by page:
// most of a large window was never written.
func (v *Verifier) untouched(end int64) {
	in := &v.s.inst[v.at.Buf][v.at.Rank]
	bits, written := uint(pageBits), func(i int64) bool { return in.prov != nil && len(in.prov[i]) > 0 }
	if v.s.opt.Bytes {
		bits, written = rawBits, func(i int64) bool { return in.raw != nil && in.raw[i] != nil }
	}
	for at := v.next; at < end; {
		stop := min(end, (at>>bits+1)<<bits)
		if written(at >> bits) {
			from := v.base
			from.Off = at
			v.compare(at, stop-at, from)
		}
		at = stop
	}
	v.next = max(v.next, end)
}

func (v *Verifier) compare(off, n int64, from Origin) {
	a := v.at
	a.Off = off
	if v.s.opt.Bytes {
		v.compareRaw(a, n, from)
		return
	}
	v.frags = v.s.captureFrags(v.frags[:0], 0, a, n)
	for _, f := range v.frags {
		want := from
		want.Off += f.Off
		if f.From != want && !(v.s.zero(f.From) && v.s.zero(want)) {
			v.fail(Addr{a.Rank, a.Buf, off + f.Off}, f.Len, want, f.From)
		}
	}
}

func (v *Verifier) compareRaw(a Addr, n int64, from Origin) {
	if int64(min(cap(v.want), cap(v.got))) < n {
		v.want, v.got = make([]byte, n), make([]byte, n)
	}
	want, got := v.want[:n], v.got[:n]
	v.s.initial(want, int(from.Rank), from.Buf, from.Version, from.Off)
	v.s.readRaw(got, a)
	first, wrong := difference(want, got)
	if wrong == 0 {
		return
	}
	a.Off += first
	from.Off += first
	v.fail(a, wrong, from, Origin{Rank: -1})
}

// difference returns where two slices of one length first differ, and in how many bytes.
func difference(want, got []byte) (first, wrong int64) {
	if bytes.Equal(want, got) {
		return 0, 0
	}
	for i := range want {
		if want[i] != got[i] {
			if wrong == 0 {
				first = int64(i)
			}
			wrong++
		}
	}
	return first, wrong
}

func (v *Verifier) fail(at Addr, n int64, want, got Origin) {
	v.Wrong += n
	if len(v.First) < maxMismatches {
		v.First = append(v.First, Mismatch{At: at, Len: n, Want: want, Got: got, Text: v.describe(at, n, want, got)})
	}
}

func (v *Verifier) describe(at Addr, n int64, want, got Origin) string {
	where := fmt.Sprintf("rank %d %s+%d (%d bytes)", at.Rank, v.s.bufs[at.Buf].Name, at.Off, n)
	if want.Rank < 0 {
		return fmt.Sprintf("%s: not the values that the inputs give", where)
	}
	if got.Rank < 0 {
		return fmt.Sprintf("%s: not the bytes of %s", where, v.s.name(want))
	}
	return fmt.Sprintf("%s: want %s, got %s", where, v.s.name(want), v.s.name(got))
}

// zero reports whether an origin is zero bytes: those are alike wherever they come from.
func (s *Space) zero(o Origin) bool { return s.bufs[o.Buf].Fill == nil }

func (s *Space) name(o Origin) string {
	return fmt.Sprintf("rank %d %s+%d version %d", o.Rank, s.bufs[o.Buf].Name, o.Off, o.Version)
}
