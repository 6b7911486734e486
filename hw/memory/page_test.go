package memory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// span is a fragment as the tests write it: [off, off+n) of source src, from its byte at.
type span struct{ off, n, src, at int }

func (s span) frag() frag {
	return frag{srcOff: int64(s.at), off: uint32(s.off), len: uint32(s.n), src: uint32(s.src)}
}

func spans(p page) (out []span) {
	for _, f := range p {
		out = append(out, span{int(f.off), int(f.len), int(f.src), int(f.srcOff)})
	}
	return out
}

// Old fragments: [10, 20) of source 1 and [30, 40) of source 2, each from byte 0.
func TestANewFragmentReplacesExactlyWhatItCovers(t *testing.T) {
	for _, tt := range []struct {
		name string
		put  span
		want []span
	}{
		{"before all", span{0, 5, 3, 0}, []span{{0, 5, 3, 0}, {10, 10, 1, 0}, {30, 10, 2, 0}}},
		{"in a gap", span{22, 5, 3, 0}, []span{{10, 10, 1, 0}, {22, 5, 3, 0}, {30, 10, 2, 0}}},
		{"filling a gap", span{20, 10, 3, 0}, []span{{10, 10, 1, 0}, {20, 10, 3, 0}, {30, 10, 2, 0}}},
		{"behind all", span{40, 5, 3, 0}, []span{{10, 10, 1, 0}, {30, 10, 2, 0}, {40, 5, 3, 0}}},
		{"the same range", span{10, 10, 3, 0}, []span{{10, 10, 3, 0}, {30, 10, 2, 0}}},
		{"inside an old one", span{33, 4, 3, 0}, []span{{10, 10, 1, 0}, {30, 3, 2, 0}, {33, 4, 3, 0}, {37, 3, 2, 7}}},
		{"one byte of an old one", span{10, 1, 3, 0}, []span{{10, 1, 3, 0}, {11, 9, 1, 1}, {30, 10, 2, 0}}},
		{"the head of an old one", span{30, 4, 3, 0}, []span{{10, 10, 1, 0}, {30, 4, 3, 0}, {34, 6, 2, 4}}},
		{"the tail of an old one", span{16, 4, 3, 0}, []span{{10, 6, 1, 0}, {16, 4, 3, 0}, {30, 10, 2, 0}}},
		{"over the start of an old one", span{5, 10, 3, 0}, []span{{5, 10, 3, 0}, {15, 5, 1, 5}, {30, 10, 2, 0}}},
		{"over the end of the last", span{35, 10, 3, 0}, []span{{10, 10, 1, 0}, {30, 5, 2, 0}, {35, 10, 3, 0}}},
		{"over both ends", span{15, 20, 3, 0}, []span{{10, 5, 1, 0}, {15, 20, 3, 0}, {35, 5, 2, 5}}},
		{"over several", span{5, 40, 3, 0}, []span{{5, 40, 3, 0}}},
		{"over several, ends flush", span{10, 30, 3, 0}, []span{{10, 30, 3, 0}}},
		{"continuing the one before", span{20, 5, 1, 10}, []span{{10, 15, 1, 0}, {30, 10, 2, 0}}},
		{"continued by the one behind", span{25, 5, 2, -5}, []span{{10, 10, 1, 0}, {25, 15, 2, -5}}},
		{"continuing the last", span{40, 5, 2, 10}, []span{{10, 10, 1, 0}, {30, 15, 2, 0}}},
		{"adjacent, but not continuing", span{40, 5, 2, 11}, []span{{10, 10, 1, 0}, {30, 10, 2, 0}, {40, 5, 2, 11}}},
		{"what was there already", span{12, 4, 1, 2}, []span{{10, 10, 1, 0}, {30, 10, 2, 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s slab
			p := page{}.put(span{10, 10, 1, 0}.frag(), &s).put(span{30, 10, 2, 0}.frag(), &s)
			assert.Equal(t, tt.want, spans(p.put(tt.put.frag(), &s)))
		})
	}
}

func TestAPageHoldsForEachByteTheLastFragmentPutThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size, pages = 600, 3 // pages share a slab and outgrow all its sizes
		var s slab
		var p [pages]page
		var want [pages][size]frag // the origin of each byte
		for range rapid.IntRange(1, 250).Draw(t, "puts") {
			k := rapid.IntRange(0, pages-1).Draw(t, "page")
			off := rapid.IntRange(0, size-1).Draw(t, "off")
			n := min(rapid.SampledFrom([]int{1, 2, 3, 7, 50, 300}).Draw(t, "len"), size-off)
			f := span{off, n, rapid.IntRange(1, 3).Draw(t, "src"), off + rapid.IntRange(0, 1).Draw(t, "shift")}.frag()
			p[k] = p[k].put(f, &s)
			for i := range n {
				want[k][off+i] = frag{srcOff: f.srcOff + int64(i), len: 1, src: f.src}
			}
			if rapid.IntRange(0, 40).Draw(t, "rewrite") == 0 {
				s.give(p[k])
				p[k], want[k] = nil, [size]frag{}
			}
		}
		for k := range p {
			checkPage(t, p[k], want[k][:])
		}
	})
}

func checkPage(t require.TestingT, p page, want []frag) {
	at := uint32(0)
	for _, f := range p {
		require.Positive(t, f.len)
		require.GreaterOrEqual(t, f.off, at, "sorted and disjoint")
		for ; at < f.off; at++ {
			require.Zero(t, want[at], "byte %d is in no fragment", at)
		}
		for ; at < f.end(); at++ {
			require.Equal(t, want[at].src, f.src, "byte %d", at)
			require.Equal(t, want[at].srcOff, f.srcOff+int64(at-f.off), "byte %d", at)
		}
	}
	for ; int(at) < len(want); at++ {
		require.Zero(t, want[at], "byte %d is in no fragment", at)
	}
}

// 36 rows of 7 KiB fill a page; their 36 fragments need 5 steps of 8.
func TestAPageOfRowsWastesLessThanOneStep(t *testing.T) {
	var s slab
	var p page
	for i := range 36 {
		p = p.put(span{i * 7168, 7168, 1 + i%5, 7168 * 100 * i}.frag(), &s)
	}
	require.Len(t, p, 36)
	assert.Equal(t, 40, cap(p))
	for class := 1; class < 5; class++ {
		assert.Len(t, s.unused[class], 1, "what was outgrown serves another page")
	}
}
