package traces

import (
	"fmt"
	"strings"

	"pldperf/hw/timeline"
)

// label is the whole name of a track within its rank.
func label(p *timeline.Place) string { return strings.TrimSpace(p.Group + " " + p.Name) }

// own says which part of its own AIV, or who else, a block waits for.
var own = map[string]string{
	"mte2": "own MTE2", "mte3": "own MTE3", "stage_wait": "own MTE3", "pipe_barrier": "own pipes", "vector": "own VECTOR",
	"dependency_wait": "tasks before, or AIVs that are taken",
}

// Holder says in words whom a span waits for; "" when it waits for nobody, or nobody knows.
func Holder(s *timeline.Span) string {
	switch {
	case s.Call == nil:
		return ""
	case s.Holder >= 0:
		return process(s.Holder)
	case s.Holder == timeline.NoRank && s.Name == "signal_wait":
		return "a sector of signal cells"
	case s.Holder == timeline.NoRank:
		return "memory"
	}
	return own[s.Name]
}

// process is the name of what holds the tracks of a rank.
func process(rank int) string {
	if rank < 0 {
		return "machine"
	}
	return fmt.Sprintf("rank %d", rank)
}

// pid is the number of the process that stands for a rank: neither tool likes 0.
func pid(rank int) int64 {
	if rank < 0 {
		return 1 << 20
	}
	return int64(rank) + 1
}

// order is where a track stands among those of its rank: first by what it belongs to, of
// which there are less than 10 sorts of less than 100,000 each, and there by own, below 1000.
func order(p *timeline.Place) (group, own int64) {
	sort, index := int64(0), int64(p.Index)
	switch p.Kind {
	case timeline.Calls:
		own = int64(p.Lane)
	case timeline.Queue:
		sort, own = 2, 1+int64(p.Lane)
	case timeline.Depth:
		sort = 2
	case timeline.SDMA:
		sort = 3
	case timeline.Remote:
		sort = 4
	case timeline.Port, timeline.Memory:
		sort = 5
	case timeline.Rate:
		sort, own = 5, 1
	default:
		sort, own = 1, int64(p.Kind)
	}
	if p.Group == "memory" {
		sort = 6
	}
	return sort*100_000 + index, min(own, 999)
}
