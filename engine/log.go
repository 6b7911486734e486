package engine

import "math"

// A Why says what the time between two events was spent on. The engine does not look into it: a model gives it a
// meaning. The zero Why is none.
type Why uint64

// A Point is one of the past: an event that has been handled, or a time between two events that a model has named with
// Through. The zero Point is the start of the simulation. It is good until the next event; Keep makes it last.
type Point struct {
	last step
	t    Time
}

// log remembers of every event which one scheduled it, and why it did not come at once. Following it back from an
// event gives an unbroken chain to the start of the simulation: the parts of the chain add up to the event's time, to
// the picosecond, whatever the model did. Parts that no event to come follows from are dropped now and then, so that long
// runs fit; a log has a limit all the same, at which it is dropped as a whole.
type log struct {
	pages []page
	n     int
	room  int // for which there is a place in pages
	limit int
	old   int // parts below are known to be of use, or were when they were last looked at
	young int // how many parts above old may be there before they are looked at
	whole int // parts at which those below old are looked at again
	kept  []*Point
	marks marks

	at   Point // the event being handled
	from Point // where the path of the next event begins
	why  Why   // of the next event's last part
}

// A part of a path: 16 B.
type part struct {
	why  Why
	span uint32 // ps
	prev step
}

// step numbers the parts of a log in the order in which they were added; 0 is the start.
type step uint32

// youngParts is how many new parts, 64 MiB of them, are worth looking through. Most of them are of use while many chains
// run side by side, so looking more often costs a small run more than the memory that it saves.
const youngParts = 4 << 20

// Record makes the engine remember why each event comes when it comes, up to limit parts of paths to events that are
// still to come or kept; beyond it forgets all. It must be called before anything is scheduled.
func (e *Engine) Record(limit int) {
	e.log = &log{old: 1, young: youngParts, whole: 2 * youngParts, limit: limit}
	e.log.put(part{}) // step 0, the start
	e.Keep(&e.log.at)
}

// Recording reports whether there is a record.
func (e *Engine) Recording() bool { return e.log != nil }

// Forget drops the record and gives its memory back, which the garbage collector may know nothing of.
func (e *Engine) Forget() {
	if e.log != nil {
		e.log.drop()
		e.log = nil
	}
}

// Because says why the event that is scheduled next does not come at once: what the time up to it is spent on, from the
// present, or from what From and Through have set since.
func (e *Engine) Because(w Why) {
	if e.log != nil {
		e.log.why = w
	}
}

// Through says that the event that is scheduled next cannot come before t because of w; what comes behind t has another
// reason. A time that has passed already is no part.
func (e *Engine) Through(t Time, w Why) {
	if l := e.log; l != nil && t > l.from.t {
		l.from = l.add(t, w)
	}
}

// Here returns the event that is being handled.
func (e *Engine) Here() Point {
	if e.log == nil {
		return Point{}
	}
	return e.log.at
}

// Sofar returns the point that From and Through have set, from which the next event's path goes on: what several events
// have in common need be said only once.
func (e *Engine) Sofar() Point {
	if e.log == nil {
		return Point{}
	}
	return e.log.from
}

// From says that the event that is scheduled next follows from an earlier one, and not from that which is being handled.
func (e *Engine) From(p Point) {
	if e.log != nil {
		e.log.from = p
	}
}

// Back calls yield for the parts of the path to p, the last one first, until it returns false. A part of no length is
// left out.
func (e *Engine) Back(p Point, yield func(from, to Time, why Why) bool) {
	for l := e.log; l != nil && p.last != 0; {
		x := l.part(p.last)
		from := p.t.Add(-Duration(x.span))
		if !yield(from, p.t, x.why) {
			return
		}
		p = Point{x.prev, from}
	}
}

// scheduled adds the event that is due at t to the record, and forgets what was said of it.
func (l *log) scheduled(t Time) step {
	if l.from.t > t { // something named lies behind the event: it was none of its causes
		l.from = l.at
	}
	s := l.from.last
	if l.from.t < t {
		s = l.add(t, l.why).last
	}
	l.from, l.why = l.at, 0
	return s
}

// handling makes the event at the end of s, which is due at t, the one from which paths begin.
func (l *log) handling(s step, t Time) {
	l.at = Point{s, t}
	l.from, l.why = l.at, 0
}

func (l *log) part(s step) *part { return &l.pages[s>>pageBits].parts[s%(1<<pageBits)] }

// add adds the part from where the next event's path begins to t. A span of over 4 ms is several.
func (l *log) add(t Time, w Why) Point {
	prev, span := l.from.last, t.Sub(l.from.t)
	for ; span > math.MaxUint32; span -= math.MaxUint32 {
		prev = l.put(part{w, math.MaxUint32, prev})
	}
	return Point{l.put(part{w, uint32(span), prev}), t}
}

func (l *log) put(x part) step {
	if l.n == l.room {
		l.grow()
	}
	s := step(l.n)
	*l.part(s) = x
	l.n++
	return s
}
