package traces

import (
	"sort"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

// Lane is what a track has shown that is one of several for the same thing: an SQE's stages
// are on any of a queue's lanes, so only time tells on which one.
type Lane struct {
	names []string
	known map[string]uint32
	spans []laneSpan // in order of time
}

type laneSpan struct {
	begin, end engine.Time
	name       uint32
}

// HasLanes reports whether several tracks of a kind, of one rank and peer, show one thing.
func HasLanes(k timeline.Kind) bool {
	return k == timeline.Queue || k == timeline.SDMA || k == timeline.Memory || k == timeline.Calls
}

// Add remembers a span; each begins where the one before has ended, or later.
func (l *Lane) Add(begin, end engine.Time, name string) {
	n, ok := l.known[name]
	if !ok {
		if l.known == nil {
			l.known = map[string]uint32{}
		}
		n = uint32(len(l.names))
		l.known[name], l.names = n, append(l.names, name)
	}
	l.spans = append(l.spans, laneSpan{begin, end, n})
}

// stages say which stage of an SQE a cause of the path is in.
var stages = map[string]string{
	"wqe_fetch": "fetch", "nic_engine": "fetch", "sge_gather": "gather", "queue_order": "gather", "wqe_gap": "gather", "ack": "ack", "cqe_write": "cqe",
}

// fit says how well a lane fits a step: 0 not at all, 1 it does something then, 2 all the
// time, 3 the same, 4 the same that ends with the step.
func (l *Lane) fit(s *result.PathStep) int {
	if l == nil {
		return 0
	}
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].end >= s.To })
	if i == len(l.spans) || l.spans[i].begin >= s.To {
		return 0
	}
	switch x := &l.spans[i]; {
	case l.names[x.name] == stages[s.Cause] && x.end == s.To:
		return 4
	case l.names[x.name] == stages[s.Cause]:
		return 3
	case x.begin <= s.From:
		return 2
	}
	return 1
}
