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
	stale := func(o *mark) bool { return o.kind() == m.kind() && (o.lane == m.lane || known.at(o.lane) >= o.count) }
	if s.r.count == 0 || stale(&s.r) {
		s.r = *m
		if len(s.more) == 0 || !slices.ContainsFunc(s.more, func(o mark) bool { return stale(&o) }) {
			return
		}
	} else if len(s.more) == 0 {
		s.more = []mark{*m}
		return
	}
	more := make([]mark, 0, len(s.more)+1) // spans that were one share what was
	for i := range s.more {
		if !stale(&s.more[i]) {
			more = append(more, s.more[i])
		}
	}
	if s.r != *m {
		more = append(more, *m)
	}
	s.more = more
}

// alike reports whether two spans have the same past.
func (s *span) alike(o *span) bool {
	return s.w.same(&o.w) && s.r.same(&o.r) && slices.EqualFunc(s.more, o.more, func(a, b mark) bool { return a.same(&b) })
}

// pageSpans is how many spans a page holds at most.
const pageSpans = 128

// shadow is what is known of the past of one buffer of one rank: spans in ascending
// order that do not overlap, in pages. Between them nothing has happened.
type shadow struct {
	pages [][]span
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

func (s *shadow) prev(p spot) (spot, bool) {
	switch {
	case p.at > 0:
		return spot{p.page, p.at - 1}, true
	case p.page > 0:
		return spot{p.page - 1, len(s.pages[p.page-1]) - 1}, true
	}
	return p, false
}

// each changes [lo, hi): f is called with every span of it, also of what has no past, in
// ascending order, and changes its marks. Neighbours that are alike become one.
func (s *shadow) each(lo, hi int64, f func(*span)) {
	s.cut = s.cut[:0]
	from := s.find(lo)
	to := from
	if before, ok := s.prev(from); ok && s.span(before).hi == lo { // it may turn out alike
		s.cut, from = append(s.cut, *s.span(before)), before
	}
	at := lo
	for to.page < len(s.pages) {
		x := *s.span(to)
		if x.lo >= hi {
			break
		}
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
	if to.page < len(s.pages) && s.span(to).lo == s.cut[len(s.cut)-1].hi {
		s.put(*s.span(to))
		to = s.next(to)
	}
	s.splice(from, to)
}

func (s *shadow) span(p spot) *span { return &s.pages[p.page][p.at] }

func (x span) part(lo, hi int64) span {
	x.lo, x.hi = lo, hi
	return x
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
		last := from.page + 1
		if to.page < len(s.pages) && to.at > 0 {
			page = append(page, s.pages[to.page][to.at:]...)
			last = to.page + 1
		} else {
			last = to.page
		}
		s.pages = slices.Replace(s.pages, from.page, last, page)
	}
	s.split(from.page)
}

// split cuts a page that has become too long.
func (s *shadow) split(p int) {
	page := s.pages[p]
	if len(page) <= pageSpans {
		return
	}
	var parts [][]span
	for part := range slices.Chunk(page, pageSpans/2) {
		parts = append(parts, append(make([]span, 0, pageSpans), part...))
	}
	s.pages = slices.Replace(s.pages, p, p+1, parts...)
}
