package traces

import (
	"fmt"
	"math"

	"pldperf/engine"
)

// room reports whether another event that ends at a time fits, and counts it. What is told
// after the first that does not is left out too.
func (t *Trace) room(end engine.Time) bool {
	s := &t.stats
	if s.Dropped == 0 {
		if t.fits() {
			s.Events++
			s.Last = max(s.Last, end)
			return true
		}
		s.Cut = end
	}
	s.Dropped++
	s.Cut = min(s.Cut, end)
	return false
}

// fits reports whether another event keeps the limits, or says which it does not.
func (t *Trace) fits() bool {
	switch s := &t.stats; {
	case s.Events >= t.events:
		s.Limit = fmt.Sprintf("%d events", t.opt.Events)
	case t.written+int64(len(*t.enc.buffer())) >= t.size:
		s.Limit = engine.Bytes(t.opt.Bytes).String()
	default:
		return true
	}
	return false
}

// limit sets the limits, less what is kept for the critical path and for the ends and facts
// at the end of the file.
func (t *Trace) limit(path bool) {
	t.events, t.size = t.opt.Events, t.opt.Bytes-max(t.opt.Bytes/100, 4096)
	if path {
		t.events -= t.events / 50
		t.size -= t.size / 50
	}
	if t.opt.Events == 0 {
		t.events = math.MaxInt64
	}
	if t.opt.Bytes == 0 {
		t.size = math.MaxInt64
	}
}

// CutText says what a trace lacks beyond its limits; "" when it lacks nothing. Events are
// told when what they show is over, and of some parts later, so that behind the first that
// does not fit there may be some that do.
func (s *Stats) CutText() string {
	if s.Dropped == 0 {
		return ""
	}
	return fmt.Sprintf("the trace holds %d of %d events: all that ends before %v, some of what ends up to %v, nothing later: the limit is %s",
		s.Events, s.Events+s.Dropped, s.Cut, s.Last, s.Limit)
}
