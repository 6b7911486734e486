package engine

// A page holds 1<<pageBits parts of a log; the first one fewer, as long as a log is small. A log is written once from
// one end to the other and mostly never read again, so that much of its price is that the system provides its memory:
// large pages come from the system by themselves, in as large pieces as it has, and the garbage collector neither counts
// nor clears them.
type page struct {
	parts  []part
	mapped []byte // the same, if it is not from the heap
}

const (
	pageBits   = 18
	firstParts = 4 << 10
)

// grow makes room for at least one more part.
func (l *log) grow() {
	last := len(l.pages) - 1
	switch {
	case last < 0:
		l.pages = append(l.pages, page{parts: make([]part, firstParts)})
	case last == 0 && l.room < firstParts<<2: // a second size that is still small; it is copied once more
		x := page{parts: make([]part, firstParts<<2)}
		copy(x.parts, l.pages[0].parts)
		l.pages[0] = x
	case last == 0 && l.room < 1<<pageBits:
		x := newPage()
		copy(x.parts, l.pages[0].parts)
		l.pages[0] = x
	default:
		l.pages = append(l.pages, newPage())
	}
	last = len(l.pages) - 1
	l.room = last<<pageBits + len(l.pages[last].parts)
}

// drop gives the pages back.
func (l *log) drop() {
	for i := range l.pages {
		l.pages[i].free()
	}
	l.pages = nil
}
