package hazard

import "pldperf/hw/program"

// access is what somebody does to a range of memory.
type access struct {
	c      *Checker
	by     *Thread
	m      mark
	buf    program.Buf
	owner  int // rank whose memory it is
	lo, hi int64
}

// after reports whether o is known to be over. What is done in one lane is done in order.
func (a *access) after(o *mark) bool { return o.lane == a.m.lane || a.by.clock.at(o.lane) >= o.count }

// touch compares a write or an add with what has been done to a span, and adds it.
func (a *access) touch(s *span) {
	a.compare(s)
	if a.m.kind() == write {
		s.w, s.r, s.more = a.m, mark{}, nil
	} else {
		s.use(&a.m, a.by.clock)
	}
}

// over compares a write with a read that it replaces.
func (a *access) over(r *reading) {
	if !a.after(&r.m) {
		a.c.conflict(a, &r.m, r.lo, r.hi)
	}
}

// compare compares the access with what has been done to a span.
func (a *access) compare(s *span) {
	if s.w.count != 0 && !a.after(&s.w) {
		a.c.conflict(a, &s.w, s.lo, s.hi)
	}
	if s.r.count != 0 {
		a.since(&s.r, s)
		for i := range s.more {
			a.since(&s.more[i], s)
		}
	}
}

// since compares the access with one of those since the last write: reads do not
// conflict with reads, and atomic adds not with atomic adds.
func (a *access) since(o *mark, s *span) {
	if k := a.m.kind(); (k == write || k != o.kind()) && !a.after(o) {
		a.c.conflict(a, o, s.lo, s.hi)
	}
}

// at does k to n bytes of a rank's buffer in the block's own order.
func (t *Thread) at(k kind, rank int, b program.Buf, off, n int64) {
	t.beside(main, t.clock[t.lane[main]], k, rank, b, off, n)
}

// beside does k in one of the block's lanes.
func (t *Thread) beside(sort int, count uint32, k kind, rank int, b program.Buf, off, n int64) {
	c := t.c
	if n <= 0 || !c.bufs[b].written || uint(rank) >= uint(c.job.Ranks) {
		return
	}
	c.now.by, c.now.buf, c.now.owner, c.now.lo, c.now.hi = t, b, rank, off, off+n
	c.now.m = mark{time: c.eng.Now(), lane: t.lane[sort], count: count, seq: t.seq, op: uint32(t.pc)<<kindBits | uint32(k)}
	s := c.shadow(b, rank)
	if k == read {
		s.read(off, off+n, &c.now.m, c.read)
		return
	}
	s.meet(off, off+n, k == write, c.over)
	s.each(off, off+n, c.touch)
}

// rect does k to the rows of a rectangle.
func (t *Thread) rect(sort int, count uint32, k kind, rank int, b program.Buf, off int64, r *program.Rect, pitch int64) {
	if pitch == r.Width {
		t.beside(sort, count, k, rank, b, off, r.Rows*r.Width)
		return
	}
	for i := range r.Rows {
		t.beside(sort, count, k, rank, b, off+i*pitch, r.Width)
	}
}
