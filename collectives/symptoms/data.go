package symptoms

import (
	"fmt"
	"strings"

	"pldperf/collectives"
	"pldperf/hw/result"
)

// data names the rows of wrong data. Where something lies across the rows of its window,
// nothing else that is wrong there says more.
func (s *suspect) data(wrong []result.Mismatch) {
	defer func() {
		s.clear = map[*collectives.Call]bool{}
		for i := range wrong {
			s.clear[s.at(wrong[i].Task, wrong[i].Buffer).call] = len(s.found) > 0
		}
	}()
	for i := range wrong {
		if m := &wrong[i]; s.across(m) {
			s.say("F8", "%s", moved(m))
			return
		}
	}
	for i := range wrong {
		if m := &wrong[i]; s.ofCounts(m) || s.spread(m) {
			return
		}
	}
	for i := range wrong {
		s.wrong(&wrong[i])
	}
}

// ofCounts names the rows of all_to_all_v about what counts and capacity say: rows in
// a partition of another size, and a consumer that goes by the wrong counts.
func (s *suspect) ofCounts(m *result.Mismatch) bool {
	x := s.at(m.Task, m.Buffer)
	if x.family() != "all_to_all_v" || m.Want == nil || m.Got == nil {
		return false
	}
	want, got := role(m.Want.Buffer), role(m.Got.Buffer)
	switch consumer := role(m.Buffer) == "output"; {
	case consumer && want == "output":
		s.say("F42", "%s was to be left alone: it lies behind the rows that were received", at(m))
	case consumer && want == "input" && got == "output":
		s.say("F43", "%s lacks rows of rank %d that are in target", at(m), m.Want.Rank)
	case !consumer && got == "input" && (want != "input" || m.Want.Version == m.Got.Version):
		s.say("F44", "%s", moved(m))
	default:
		return false
	}
	return true
}

// spread names the rows of broadcast and allgather in which data is there, but somebody
// else's, or at another place.
func (s *suspect) spread(m *result.Mismatch) bool {
	x := s.at(m.Task, m.Buffer)
	if m.Want == nil || m.Got == nil || x.call == nil {
		return false
	}
	here := role(m.Want.Buffer) == "input" && role(m.Got.Buffer) == "input" && m.Want.Version == m.Got.Version
	switch {
	case x.call.Op == "allgather" && here:
		s.say("F36", "%s", moved(m))
	case x.call.Op != "broadcast":
		return false
	case here && m.Got.Rank == m.Rank:
		s.say("F33", "%s", moved(m))
	case here:
		s.say("F34", "%s", moved(m))
	case m.Rank == x.call.Root && role(m.Buffer) == "target":
		s.say("F34", "%s, root's own, does not hold what root gives", at(m))
	default:
		return false
	}
	return true
}

// across reports whether the bytes are of the right rank and round, but from between two
// of the chunks of which the window consists.
func (s *suspect) across(m *result.Mismatch) bool {
	x := s.at(m.Task, m.Buffer)
	if x.call == nil || m.Want == nil || m.Got == nil || role(m.Got.Buffer) != role(m.Want.Buffer) || m.Got.Version != m.Want.Version {
		return false
	}
	unit := unit(x.call)
	return unit > 0 && (m.Got.Off-m.Want.Off)%unit != 0
}

// unit is the bytes in which a call's data moves as a whole, 0 where that is not fixed.
func unit(c *collectives.Call) int64 {
	switch c.Op {
	case "all_to_all":
		return c.Chunk()
	case "put", "get":
		return c.Chunk()
	case "indexed_all_to_all_v", "all_to_all_v":
		return c.Row()
	}
	return 0
}

// moved says where bytes are, where they come from and what should be there.
func moved(m *result.Mismatch) string {
	return fmt.Sprintf("%s holds what rank %d has at %s+%d, not what rank %d has at +%d",
		at(m), m.Got.Rank, m.Got.Buffer, m.Got.Off, m.Want.Rank, m.Want.Off)
}

// wrong names the row of a range that does not hold what it should, by where its bytes
// come from.
func (s *suspect) wrong(m *result.Mismatch) {
	x := s.at(m.Task, m.Buffer)
	if x.call == nil || s.aliased(x, at(m)+" is wrong") {
		return
	}
	switch {
	case m.Want == nil:
		s.value(x, m)
	case m.Got == nil:
		s.early(x, at(m)+" holds what no rank has written as a whole")
	case role(m.Got.Buffer) != role(m.Want.Buffer):
		s.early(x, at(m)+" still holds what was there before")
	case m.Got.Version != m.Want.Version:
		s.round(x, m)
	default:
		s.place(x, m)
	}
}

func at(m *result.Mismatch) string { return fmt.Sprintf("rank %d %s+%d", m.Rank, m.Buffer, m.Off) }

// role is the operand that a buffer is: its name without the item's.
func role(buffer string) string { return buffer[strings.LastIndexByte(buffer, '.')+1:] }

// round: the bytes are of another round. Newer ones overran a consumer, older ones have
// not been replaced in time.
func (s *suspect) round(x scene, m *result.Mismatch) {
	text := fmt.Sprintf("%s holds round %d of rank %d, not round %d", at(m), m.Got.Version, m.Got.Rank, m.Want.Version)
	if m.Got.Version > m.Want.Version {
		s.say("F49", "%s", text)
		return
	}
	s.early(x, text)
}

// place: the bytes are of this round and from a wrong place.
func (s *suspect) place(x scene, m *result.Mismatch) {
	switch x.family() {
	case "all_to_all":
		if m.Got.Rank == m.Rank && m.Got.Rank != m.Want.Rank {
			s.say("F2", "%s", moved(m))
			return
		}
		s.say("F1", "%s", moved(m))
	case "put", "get", "remote_load", "remote_store":
		if m.Got.Rank != m.Want.Rank {
			s.say("F15", "%s", moved(m))
			return
		}
		s.say("F8", "%s", moved(m))
	}
}
