package hazard

// reads are those of one buffer that its spans do not have yet. Most buffers are read
// piece by piece by many and written as a whole by one, or not at all: then no span is
// ever cut for what has been read.
type reads struct {
	list   []reading
	lo, hi int64 // what they cover at most
}

// reading is a read of a range.
type reading struct {
	lo, hi int64
	m      mark
}

// maxReads is how many a buffer keeps, 48 bytes each.
const maxReads = 16 << 10

// add keeps a read; the next piece of the last one makes that longer.
func (r *reads) add(lo, hi int64, m *mark) {
	if n := len(r.list); n > 0 {
		if last := &r.list[n-1]; last.hi == lo && last.m.same(m) {
			last.hi, last.m, r.hi = hi, *m, max(r.hi, hi)
			return
		}
		r.lo, r.hi = min(r.lo, lo), max(r.hi, hi)
	} else {
		r.lo, r.hi = lo, hi
	}
	r.list = append(r.list, reading{lo, hi, *m})
}

// read adds a read of [lo, hi), and calls f with every span of it that has a past.
func (s *shadow) read(lo, hi int64, m *mark, f func(*span)) {
	p := s.find(lo)
	for x := s.span(p); x != nil && x.lo < hi; x = s.span(p) {
		f(x)
		p = s.next(p)
	}
	if len(s.reads.list) == maxReads {
		s.settle()
	}
	s.reads.add(lo, hi, m)
}

// settle gives the spans all reads that they do not have yet.
func (s *shadow) settle() {
	for i := range s.reads.list {
		s.give(&s.reads.list[i])
	}
	s.reads.list = s.reads.list[:0]
}

func (s *shadow) give(r *reading) {
	s.each(r.lo, r.hi, func(x *span) { x.use(&r.m, nil) })
}

// few is how many reads are looked at one by one when something is written.
const few = 256

// meet is called before something is stored in [lo, hi), which replaces what was there
// or adds to it: f is called with the reads that it replaces as a whole, and the spans
// are given the others that it concerns.
func (s *shadow) meet(lo, hi int64, replaces bool, f func(*reading)) {
	r := &s.reads
	switch {
	case len(r.list) == 0 || hi <= r.lo || lo >= r.hi:
		return
	case replaces && lo <= r.lo && hi >= r.hi:
		for i := range r.list {
			f(&r.list[i])
		}
		r.list = r.list[:0]
		return
	case len(r.list) > few:
		s.settle()
		return
	}
	kept := r.list[:0]
	for i := range r.list {
		switch x := &r.list[i]; {
		case x.hi <= lo || x.lo >= hi:
			kept = append(kept, *x)
		case replaces && lo <= x.lo && hi >= x.hi:
			f(x)
		default:
			s.give(x)
		}
	}
	r.list = kept
}
