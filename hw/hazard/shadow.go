package hazard

import (
	"slices"
	"sort"

	"pldperf/engine"
)

// kind is what an access does.
type kind uint8

const (
	read kind = iota
	write
	add // atomic: adds do not conflict with each other
)

var kinds = [...]string{"read", "write", "add"}

// mark stands for an access: when it was asked for and where in the order of things. It
// is over for whoever knows count of its lane.
type mark struct {
	time  engine.Time
	lane  uint32
	count uint32 // 0: there is no such access
	seq   uint32 // ops that its block had begun, with it
	op    uint32 // number of the op in its program, and the kind in the low bits
}

const kindBits = 2

func (m *mark) kind() kind { return kind(m.op & (1<<kindBits - 1)) }

// same reports whether two marks are of one op in one epoch, such as the pieces of a
// loop.
func (m *mark) same(o *mark) bool { return m.lane == o.lane && m.count == o.count && m.op == o.op }

// span is a range of memory of which all bytes have the same past: the last write, and
// the reads and atomic adds since.
type span struct {
	lo, hi int64
	w      mark
	r      mark // the first of them
	more   []mark
}

// use adds a read or an add; older ones of the same sort that the user knows to be over
// add nothing any more.
func (s *span) use(m *mark, known clock) {
	if s.r.count == 0 || s.r.replacedBy(m, known) {
		s.r = *m
		s.more = without(s.more, m, known)
		return
	}
	s.more = append(without(s.more, m, known), *m)
}

func (m *mark) replacedBy(o *mark, known clock) bool {
	return m.kind() == o.kind() && (m.lane == o.lane || known.at(m.lane) >= m.count)
}

// without returns more without those that m replaces, in place of its own if there are
// any: spans that were one share what they were.
func without(more []mark, m *mark, known clock) []mark {
	for i := range more {
		if !more[i].replacedBy(m, known) {
			continue
		}
		out := slices.Clone(more[:i])
		for k := i + 1; k < len(more); k++ {
			if !more[k].replacedBy(m, known) {
				out = append(out, more[k])
			}
		}
		return out
	}
	return more
}

// alike reports whether two spans have the same past.
func (s *span) alike(o *span) bool {
	return s.w.same(&o.w) && s.r.same(&o.r) && slices.EqualFunc(s.more, o.more, func(a, b mark) bool { return a.same(&b) })
}

// pageSpans is how many spans a page holds at most.
const pageSpans = 32

// shadow is what is known of the past of one buffer of one rank: spans in ascending
// order that do not overlap, in pages. Between them nothing has happened.
type shadow struct {
	pages [][]span
	reads reads
	cut   []span // being made
}

// spot is where a span is: the at-th of a page.
type spot struct{ page, at int }

// find returns the first span that ends behind off.
func (s *shadow) find(off int64) spot {
	p := sort.Search(len(s.pages), func(i int) bool { page := s.pages[i]; return page[len(page)-1].hi > off })
	if p == len(s.pages) {
		return spot{page: p}
	}
	page := s.pages[p]
	return spot{p, sort.Search(len(page), func(i int) bool { return page[i].hi > off })}
}

func (s *shadow) next(p spot) spot {
	if p.at++; p.at == len(s.pages[p.page]) {
		return spot{page: p.page + 1}
	}
	return p
}

// prev returns where the span before p is; there must be one.
func (s *shadow) prev(p spot) spot {
	if p.at > 0 {
		return spot{p.page, p.at - 1}
	}
	return spot{p.page - 1, len(s.pages[p.page-1]) - 1}
}

// each changes [lo, hi): f is called with every span of it, also of what has no past, in
// ascending order, and changes its marks. Neighbours that are alike become one.
func (s *shadow) each(lo, hi int64, f func(*span)) {
	p := s.find(lo)
	x := s.span(p)
	switch {
	case x == nil || x.lo >= hi:
		y := span{lo: lo, hi: hi}
		f(&y)
		s.fill(p, &y)
	case x.lo <= lo && x.hi >= hi:
		y := x.part(lo, hi)
		if f(&y); !y.alike(x) {
			s.carve(p, &y)
		}
	default:
		s.across(p, lo, hi, f)
	}
}

// fill puts y into the gap before p.
func (s *shadow) fill(p spot, y *span) {
	before, after := s.before(p), s.span(p)
	if before != nil && before.hi == y.lo && before.alike(y) && (after == nil || after.lo != y.hi || !after.alike(y)) {
		y.lo = before.lo
		*before = *y
		return
	}
	s.cut = s.cut[:0]
	from, to := s.adjacent(p, y.lo)
	s.put(*y)
	s.close(from, to)
}

// carve makes y of a part of the span at p.
func (s *shadow) carve(p spot, y *span) {
	x, before := s.span(p), s.before(p)
	joins := before != nil && before.hi == y.lo && before.alike(y)
	switch {
	case joins && x.hi > y.hi: // the border moves
		x.lo, y.lo = y.hi, before.lo
		*before = *y
		return
	case x.lo == y.lo && x.hi == y.hi && !joins:
		if after := s.span(s.next(p)); after == nil || after.lo != y.hi || !after.alike(y) {
			*x = *y
			return
		}
	}
	s.cut = s.cut[:0]
	from, to := p, p
	if x.lo == y.lo {
		from, to = s.adjacent(p, y.lo)
	} else {
		s.put(x.part(x.lo, y.lo))
	}
	s.put(*y)
	if x.hi > y.hi {
		s.put(x.part(y.hi, x.hi))
	}
	s.close(from, s.next(to))
}

// across is each for what is no part of one span or gap.
func (s *shadow) across(p spot, lo, hi int64, f func(*span)) {
	s.cut = s.cut[:0]
	from, to := s.adjacent(p, lo)
	at := lo
	for x := s.span(to); x != nil && x.lo < hi; x = s.span(to) {
		if x.lo < lo {
			s.put(x.part(x.lo, lo))
		}
		if at < x.lo {
			s.change(span{lo: at, hi: x.lo}, f)
		}
		at = min(x.hi, hi)
		s.change(x.part(max(x.lo, lo), at), f)
		if x.hi > hi {
			s.put(x.part(hi, x.hi))
		}
		to = s.next(to)
	}
	if at < hi {
		s.change(span{lo: at, hi: hi}, f)
	}
	s.close(from, to)
}

// adjacent begins to make new spans in place of those from p on, and of the one before
// if it ends at lo: it may turn out alike.
func (s *shadow) adjacent(p spot, lo int64) (from, to spot) {
	if before := s.before(p); before != nil && before.hi == lo {
		s.put(*before)
		return s.prev(p), p
	}
	return p, p
}

// close replaces the spans [from, to) by those that have been made, with the one behind
// them if it touches: it may be alike too.
func (s *shadow) close(from, to spot) {
	if x := s.span(to); x != nil && x.lo == s.cut[len(s.cut)-1].hi {
		s.put(*x)
		to = s.next(to)
	}
	s.splice(from, to)
}

// span returns what is at p, nil behind the last.
func (s *shadow) span(p spot) *span {
	if p.page == len(s.pages) {
		return nil
	}
	return &s.pages[p.page][p.at]
}

// before returns the span before p, nil when there is none.
func (s *shadow) before(p spot) *span {
	switch {
	case p.at > 0:
		return &s.pages[p.page][p.at-1]
	case p.page > 0:
		page := s.pages[p.page-1]
		return &page[len(page)-1]
	}
	return nil
}

// part returns a part of x, which does not grow into what x has.
func (x *span) part(lo, hi int64) span {
	y := *x
	y.lo, y.hi, y.more = lo, hi, x.more[:len(x.more):len(x.more)]
	return y
}

func (s *shadow) change(x span, f func(*span)) {
	f(&x)
	s.put(x)
}

// put appends a span to those that are being made.
func (s *shadow) put(x span) {
	if n := len(s.cut); n > 0 && s.cut[n-1].hi == x.lo && s.cut[n-1].alike(&x) {
		lo := s.cut[n-1].lo
		s.cut[n-1] = x
		s.cut[n-1].lo = lo
		return
	}
	s.cut = append(s.cut, x)
}

// splice replaces the spans [from, to) by those that have been made.
func (s *shadow) splice(from, to spot) {
	if to.page == from.page+1 && to.at == 0 {
		to = spot{from.page, len(s.pages[from.page])}
	}
	switch {
	case len(s.pages) == 0:
		s.pages = [][]span{slices.Clone(s.cut)}
	case from.page == len(s.pages): // behind the last
		from.page--
		s.pages[from.page] = append(s.pages[from.page], s.cut...)
	case to.page == from.page:
		s.pages[from.page] = slices.Replace(s.pages[from.page], from.at, to.at, s.cut...)
	default:
		page := append(s.pages[from.page][:from.at:from.at], s.cut...)
		last := to.page
		if to.page < len(s.pages) && to.at > 0 {
			page = append(page, s.pages[to.page][to.at:]...)
			last++
		}
		s.pages = slices.Replace(s.pages, from.page, last, page)
	}
	s.split(from.page)
}

// split cuts a page that has become too long.
func (s *shadow) split(p int) {
	for len(s.pages[p]) > pageSpans {
		page := s.pages[p]
		half := max(len(page)/2, len(page)-pageSpans)
		rest := append(make([]span, 0, pageSpans+2), page[half:]...)
		clear(page[half:])
		s.pages[p] = page[:half]
		s.pages = slices.Insert(s.pages, p+1, rest)
	}
}
