package engine

// A Why says what the time between two events was spent on. The engine does not look into it: a model gives it a
// meaning. The zero Why is none.
type Why uint64

// A Step names one point of the past: an event that has been handled, or a time between two events that a model has
// named with Through. The zero Step is the start of the simulation.
type Step uint32

// log remembers of every event which one scheduled it, and why it did not come at once. Following it back from an
// event gives an unbroken chain to the start of the simulation: the parts of the chain add up to the event's time, to
// the picosecond, whatever the model did. A part costs 24 B, so a log has a limit, at which it is dropped.
type log struct {
	pages []*[1 << pageBits]step
	page  *[1 << pageBits]step // the last one
	n     int
	limit int
	at    Step // the event being handled
	from  Step // where the path of the next event begins
	begin Time // when that was; looking it up would miss the cache
	why   Why  // of the next event's last part
	now   Time // of at
}

type step struct {
	t    Time
	why  Why
	prev Step
}

// pageBits is the logarithm of the steps of a page; growing never copies.
const pageBits = 16

// Record makes the engine remember why each event comes when it comes, up to limit events and named parts between
// them; beyond it forgets all. It must be called before anything is scheduled.
func (e *Engine) Record(limit int) {
	e.log = &log{limit: limit}
	e.log.add(0, 0) // step 0, the start
}

// Recording reports whether there is a record.
func (e *Engine) Recording() bool { return e.log != nil }

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
	if l := e.log; l != nil && t > l.begin {
		l.from, l.begin = l.add(t, w), t
	}
}

// Here returns the event that is being handled.
func (e *Engine) Here() Step {
	if e.log == nil {
		return 0
	}
	return e.log.at
}

// Sofar returns the point that From and Through have set, from which the next event's path goes on: what several events
// have in common need be said only once.
func (e *Engine) Sofar() Step {
	if e.log == nil {
		return 0
	}
	return e.log.from
}

// From says that the event that is scheduled next follows from an earlier one, and not from that which is being handled.
func (e *Engine) From(s Step) {
	if l := e.log; l != nil {
		l.from, l.begin = s, l.step(s).t
	}
}

// Back calls yield for the parts of the path to s, the last one first, until it returns false. A part of no length is
// left out.
func (e *Engine) Back(s Step, yield func(from, to Time, why Why) bool) {
	for l := e.log; l != nil && s != 0; {
		x := l.step(s)
		if from := l.step(x.prev).t; from < x.t && !yield(from, x.t, x.why) {
			return
		}
		s = x.prev
	}
}

// scheduled adds the event that is due at t to the record, and forgets what was said of it.
func (e *Engine) scheduled(t Time) Step {
	l := e.log
	if l.begin > t { // something named lies behind the event: it was none of its causes
		l.from, l.begin = l.at, l.now
	}
	s := l.from
	if l.begin < t {
		s = l.add(t, l.why)
	}
	l.from, l.begin, l.why = l.at, l.now, 0
	if l.n > l.limit {
		e.log = nil
	}
	return s
}

// handling makes s the event from which paths begin.
func (e *Engine) handling(s Step) {
	if l := e.log; l != nil {
		l.at, l.from, l.why = s, s, 0
		l.now, l.begin = e.now, e.now
	}
}

func (l *log) step(s Step) *step { return &l.pages[s>>pageBits][s%(1<<pageBits)] }

func (l *log) add(t Time, w Why) Step {
	if l.n%(1<<pageBits) == 0 {
		l.page = new([1 << pageBits]step)
		l.pages = append(l.pages, l.page)
	}
	s := Step(l.n)
	l.n++
	l.page[s%(1<<pageBits)] = step{t: t, why: w, prev: l.from}
	return s
}
