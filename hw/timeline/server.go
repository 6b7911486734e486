package timeline

import (
	"math/bits"

	"pldperf/engine"
)

// bin is the span over which rates are means.
const bin = engine.Time(engine.Microsecond)

// Server is what is seen of a part that serves one thing after another, in order of time.
// What follows without a gap, with the same peer, is one span.
type Server struct {
	rec   *Recorder
	place Place
	busy  lane
	rate  lane
	span  Span        // that may go on
	at    engine.Time // begin of the present bin
	moved int64       // in it so far
	shown int64       // the rate that was shown last
	rated bool
}

// Server begins to show a part; rated: also its rate.
func (r *Recorder) Server(p Place, rated bool) *Server {
	if r == nil {
		return nil
	}
	s := &Server{rec: r, place: p, rated: rated}
	r.servers = append(r.servers, s)
	return s
}

func (s *Server) ask() {
	s.rec.open(&s.busy, &s.place)
	if s.rated {
		p := s.place
		p.Kind, p.Unit, p.Name = Rate, "B/s", p.Name+" rate"
		s.rec.open(&s.rate, &p)
	}
}

// Carry shows that n bytes take the part from begin to end.
func (s *Server) Carry(begin, end engine.Time, n int64, name string, peer int) {
	if s == nil || end <= begin {
		return
	}
	if !s.busy.asked {
		s.ask()
	}
	s.rec.settle(begin)
	if s.busy.track != 0 {
		s.carry(begin, end, n, name, peer)
	}
	if s.rate.track != 0 {
		s.spread(begin, end, n)
	}
}

func (s *Server) carry(begin, end engine.Time, n int64, name string, peer int) {
	if p := &s.span; p.End == begin && p.Peer == peer && p.Name == name {
		p.End = end
		p.Bytes += n
		return
	}
	s.rec.put(s.busy.track, &s.span)
	s.span = Span{Begin: begin, End: end, Name: name, Bytes: n, Peer: peer, Seq: -1}
}

// settling is how long a server may go on after a pause before it tells of what it did.
const settling = 20 * bin

// settle lets servers tell of what they did long ago, so that a sink that is full lacks
// nothing old. None goes on where it stopped then.
func (r *Recorder) settle(now engine.Time) {
	if now < r.settled+settling {
		return
	}
	r.settled = now
	for _, s := range r.servers {
		s.settle(now - settling)
	}
}

func (s *Server) settle(before engine.Time) {
	if s.busy.track != 0 && s.span.End < before {
		s.rec.put(s.busy.track, &s.span)
		s.span = Span{}
	}
	if s.rate.track != 0 && s.at+2*bin < before && (s.moved > 0 || s.shown > 0) {
		s.turn(s.at + 2*bin)
	}
}

// spread divides bytes among the bins that their span is in.
func (s *Server) spread(begin, end engine.Time, n int64) {
	for begin < end {
		if at := begin - begin%bin; at > s.at {
			s.turn(at)
		}
		edge := min(end, s.at+bin)
		part := share(n, edge.Sub(begin), end.Sub(begin))
		s.moved += part
		n -= part
		begin = edge
	}
}

// share returns n*a/b.
func share(n int64, a, b engine.Duration) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(a))
	q, _ := bits.Div64(hi, lo, uint64(b))
	return int64(q)
}

// turn shows the rate of the bin that is over and goes on to the one at at. A change of
// less than one in 32 is none: bins do not end where quanta do.
func (s *Server) turn(at engine.Time) {
	s.show(s.at, s.moved*int64(engine.Second/engine.Duration(bin)))
	if s.at+bin < at {
		s.show(s.at+bin, 0)
	}
	s.at, s.moved = at, 0
}

func (s *Server) show(at engine.Time, v int64) {
	if d := max(v-s.shown, s.shown-v); d > 0 && (d > s.shown/32 || v == 0) {
		s.shown = v
		s.rec.sink.Count(s.rate.track, at, v)
	}
}

func (s *Server) close() {
	if s.busy.track != 0 {
		s.rec.put(s.busy.track, &s.span)
		s.span = Span{}
	}
	if s.rate.track != 0 {
		s.turn(s.at + 2*bin)
	}
}
