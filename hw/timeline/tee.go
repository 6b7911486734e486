package timeline

import "pldperf/engine"

// Tee gives what is seen to several sinks; none of them, or nil ones alone, are nil.
func Tee(sinks ...Sink) Sink {
	var t tee
	for _, s := range sinks {
		if s != nil {
			t.sinks = append(t.sinks, s)
		}
	}
	switch len(t.sinks) {
	case 0:
		return nil
	case 1:
		return t.sinks[0]
	}
	return &t
}

// tee knows for each track, as a bit a sink, who wants it.
type tee struct {
	sinks []Sink
	wants []uint8
}

func (x *tee) Open(t Track, p *Place) bool {
	for int(t) >= len(x.wants) {
		x.wants = append(x.wants, 0)
	}
	for i, s := range x.sinks {
		if s.Open(t, p) {
			x.wants[t] |= 1 << i
		}
	}
	return x.wants[t] != 0
}

func (x *tee) each(t Track, f func(Sink)) {
	for i, s := range x.sinks {
		if x.wants[t]>>i&1 != 0 {
			f(s)
		}
	}
}

func (x *tee) Begin(t Track, at engine.Time, name string) {
	x.each(t, func(s Sink) { s.Begin(t, at, name) })
}

func (x *tee) End(t Track, at engine.Time) { x.each(t, func(s Sink) { s.End(t, at) }) }

func (x *tee) Span(t Track, v *Span) { x.each(t, func(s Sink) { s.Span(t, v) }) }

func (x *tee) Count(t Track, at engine.Time, v int64) {
	x.each(t, func(s Sink) { s.Count(t, at, v) })
}

func (x *tee) Instant(t Track, at engine.Time, name string) {
	x.each(t, func(s Sink) { s.Instant(t, at, name) })
}
