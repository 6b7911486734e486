package traces

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

const pathName = "critical path"

// Stop is a part that decides how long a run takes, from Begin to End.
type Stop struct {
	Kind        timeline.Kind
	Rank, Index int
	Begin, End  engine.Time
	Name        string // of what decides: a cause
	track       timeline.Track
}

// leave is the last nanosecond of a stop: an arrow leaves from within its span.
func (s *Stop) leave() engine.Time {
	return max(s.Begin, s.End-engine.Time(engine.Nanosecond))
}

// Path writes the critical path: its stops, which follow one another in time, as a track
// of their own, and an arrow from each to the next where that is on another track of the
// trace. Stops that end before they begin, or before the one before, are an error: no arrow
// runs backwards.
func (t *Trace) Path(stops []Stop) error {
	id := timeline.Track(len(t.tracks))
	t.Open(id, &timeline.Place{Kind: timeline.Calls, Rank: -1, Name: pathName})
	var last *Stop
	for i := range stops {
		s := &stops[i]
		if s.End < s.Begin || i > 0 && s.Begin < stops[i-1].End {
			return fmt.Errorf("the critical path runs backwards at stop %d: %v to %v", i, s.Begin, s.End)
		}
		t.Span(id, &timeline.Span{Begin: s.Begin, End: s.End, Name: s.Name, Peer: -1, Seq: -1})
		if s.track = t.find(s); s.track == 0 || s.Begin < t.opt.From || s.End > t.opt.To {
			continue
		}
		if last != nil && last.track != s.track && t.room(s.Begin) {
			t.enc.arrow(int64(i)+1, last, s)
		}
		last = s
	}
	return nil
}

// find returns the track of a stop that the file shows; 0 when there is none.
func (t *Trace) find(s *Stop) timeline.Track {
	for i := range t.tracks {
		if x := &t.tracks[i]; x.shown && x.Kind == s.Kind && x.Rank == s.Rank && x.Index == s.Index {
			return timeline.Track(i)
		}
	}
	return 0
}
