package hazard

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// past is the naive model: the marks of one byte.
type past struct {
	w    mark
	uses []mark
}

// drawn is an access by one of a few lanes; who makes it knows some of the others.
func drawn(t *rapid.T, counts []uint32, pc int) (m mark, known clock) {
	l := rapid.IntRange(0, len(counts)-1).Draw(t, "lane")
	if rapid.Bool().Draw(t, "new epoch") {
		counts[l]++
	}
	for i := range counts {
		known.set(uint32(i), uint32(rapid.IntRange(0, int(counts[i])).Draw(t, "known")))
	}
	known.set(uint32(l), counts[l])
	k := rapid.SampledFrom([]kind{read, write, add}).Draw(t, "kind")
	return mark{lane: uint32(l), count: counts[l], op: uint32(pc)<<kindBits | uint32(k)}, known
}

func (p *past) use(m *mark, known clock) {
	if m.kind() == write {
		*p = past{w: *m}
		return
	}
	p.uses = slices.DeleteFunc(slices.Clone(p.uses), func(o mark) bool {
		return o.kind() == m.kind() && (o.lane == m.lane || known.at(o.lane) >= o.count)
	})
	p.uses = append(p.uses, *m)
}

func (s *span) uses() (out []mark) {
	if s.r.count != 0 {
		out = append([]mark{s.r}, s.more...)
	}
	return out
}

func TestAShadowKnowsOfEachByteWhatANaiveModelKnows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 64
		var s shadow
		model, counts := make([]past, size), []uint32{1, 1, 1, 1}
		for range rapid.IntRange(1, 60).Draw(t, "accesses") {
			lo := rapid.IntRange(0, size-1).Draw(t, "lo")
			hi := rapid.IntRange(lo+1, size).Draw(t, "hi")
			m, known := drawn(t, counts, rapid.IntRange(0, 2).Draw(t, "pc"))
			at := int64(lo)
			s.each(int64(lo), int64(hi), func(x *span) {
				require.Equal(t, at, x.lo, "in order, without gaps")
				at = x.hi
				if m.kind() == write {
					x.w, x.r, x.more = m, mark{}, nil
				} else {
					x.use(&m, known)
				}
			})
			require.Equal(t, int64(hi), at)
			for i := lo; i < hi; i++ {
				model[i].use(&m, known)
			}
			agrees(t, &s, model)
		}
	})
}

func agrees(t *rapid.T, s *shadow, model []past) {
	last := int64(0)
	seen := make([]bool, len(model))
	var before *span
	for _, page := range s.pages {
		require.NotEmpty(t, page)
		require.LessOrEqual(t, len(page), pageSpans)
		for i := range page {
			x := &page[i]
			require.Less(t, x.lo, x.hi)
			require.GreaterOrEqual(t, x.lo, last)
			if before != nil && before.hi == x.lo {
				require.False(t, before.alike(x), "neighbours that are alike are one")
			}
			last, before = x.hi, x
			for b := x.lo; b < x.hi; b++ {
				seen[b] = true
				require.True(t, model[b].w.same(&x.w), "byte %d", b)
				require.ElementsMatch(t, model[b].uses, x.uses(), "byte %d", b)
			}
		}
	}
	for b := range model {
		require.Equal(t, seen[b], model[b].w.count != 0 || model[b].uses != nil, "byte %d", b)
	}
}

func TestAShadowOfManySpansIsCutIntoPages(t *testing.T) {
	var s shadow
	for i := range 5000 { // every other one, backwards
		lo := int64(2 * (4999 - i))
		s.each(lo, lo+1, func(x *span) { x.w = mark{lane: 1, count: uint32(lo + 1)} })
	}
	n := 0
	for _, p := range s.pages {
		require.LessOrEqual(t, len(p), pageSpans)
		n += len(p)
	}
	require.Equal(t, 5000, n)
	s.each(0, 10000, func(x *span) { x.w = mark{lane: 2, count: 1} })
	require.Len(t, s.pages, 1)
	require.Len(t, s.pages[0], 1)
}
