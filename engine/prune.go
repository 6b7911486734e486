package engine

import "math/bits"

// Keep makes what p holds last while others are dropped, whatever is assigned to it from now on.
func (e *Engine) Keep(p *Point) {
	if e.log != nil {
		e.log.kept = append(e.log.kept, p)
	}
}

// due reports whether enough parts are new for it to be worth looking which of them are of use: so many that looking
// at all events to come and all that is kept costs little for each of them.
func (e *Engine) due() bool {
	l := e.log
	return l.n-l.old >= l.young && l.n-l.old >= 4*(e.Pending()+len(l.kept))
}

// prune drops the parts that no path to an event to come, or to what is kept, goes over. Mostly it looks at the new
// ones alone: most parts that are of no use were never, such as those up to the arrival of what was not the last. Old
// ones are looked at when there are twice as many as the last time. If what is left is beyond the limit, all is dropped.
// The event to be handled has said nothing yet.
func (e *Engine) prune() {
	l := e.log
	first := l.old
	if l.n >= l.whole {
		first = 1
	}
	l.marks.reset(first, l.n)
	e.steps(func(s step) step { l.mark(s); return s })
	l.slide()
	e.steps(l.marks.moved)
	l.from = l.at
	if l.old = l.n; first == 1 {
		l.whole = max(l.whole, 2*l.n)
	}
	if l.n > l.limit {
		e.Forget()
	}
}

// steps replaces every step that somebody may follow by what f makes of it.
func (e *Engine) steps(f func(step) step) {
	if e.twin != nil {
		e.twin.steps(f)
	} else {
		e.queue.steps(f)
	}
	for _, p := range e.log.kept {
		p.last = f(p.last)
	}
}

// mark marks the path to s, down to what is marked or not looked at.
func (l *log) mark(s step) {
	for l.marks.set(s) {
		s = l.part(s).prev
	}
}

// slide moves the marked parts together. Nothing is behind what it follows from, so each finds its own moved already.
func (l *log) slide() {
	m := &l.marks
	m.count()
	to := m.first
	for w, word := range m.words {
		for ; word != 0; word &= word - 1 {
			x := *l.part(m.first + step(w<<6+bits.TrailingZeros64(word)))
			x.prev = m.moved(x.prev)
			*l.part(to) = x
			to++
		}
	}
	l.n = int(to)
}

// marks are those of the steps from first on, and where each marked one moves to.
type marks struct {
	first step
	words []uint64
	below []uint32 // how many are marked in the words below each
}

// reset unmarks the steps in [first, end).
func (m *marks) reset(first, end int) {
	m.first = step(first)
	n := (end - first + 63) / 64
	if cap(m.words) < n {
		m.words, m.below = make([]uint64, n), make([]uint32, n)
	}
	m.words, m.below = m.words[:n], m.below[:n]
	clear(m.words)
}

// set marks s and reports whether it was unmarked and is looked at.
func (m *marks) set(s step) bool {
	if s < m.first {
		return false
	}
	w, bit := &m.words[(s-m.first)>>6], uint64(1)<<((s-m.first)%64)
	if *w&bit != 0 {
		return false
	}
	*w |= bit
	return true
}

func (m *marks) count() {
	n := uint32(0)
	for i, w := range m.words {
		m.below[i] = n
		n += uint32(bits.OnesCount64(w))
	}
}

// moved returns what a marked step becomes.
func (m *marks) moved(s step) step {
	if s < m.first {
		return s
	}
	i := s - m.first
	return m.first + step(m.below[i>>6]) + step(bits.OnesCount64(m.words[i>>6]&(1<<(i%64)-1)))
}
