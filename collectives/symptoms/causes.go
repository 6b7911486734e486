package symptoms

import (
	"pldperf/collectives"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Why accesses lack an order: what let a barrier pass, what is missing, or what two use
// at once.

// unordered are the rows for data that is used before it is there, by family.
var unordered = map[string]string{
	"all_to_all": "F5", "allgather": "F38", "mesh": "F20",
	"put": "F16", "get": "F16", "all_to_all_v": "F16", "indexed_all_to_all_v": "F16", "moe": "F16",
}

// early says why data was used before it was there: what let a barrier pass, or that
// there is none.
func (s *suspect) early(x scene, evidence string) {
	if x.call == nil {
		return
	}
	handshakes, ahead := s.handshake(x)
	again, own := s.reused(x)
	switch h := s.hazardOf(result.StaleCredit); {
	case s.hazardOf(result.CellsSet) != nil:
		s.say("F45", "%s", s.hazardOf(result.CellsSet).Text)
	case s.blocks(x), s.narrow(x):
	case h != nil:
		s.stale(x, h.Text)
	case handshakes > 0 && s.overrun(x) != nil:
		s.say("F49", "%s", s.overrun(x).Text)
	case again != "" && !own:
		s.say("F41", "%s; %s", evidence, again)
	case again != "":
		s.stale(x, evidence+"; "+again)
	case s.deaf(x) != "":
		s.say("F19", "%s; %s", evidence, s.deaf(x))
	case ahead != "":
		s.say("F16", "%s; %s", evidence, ahead)
	case x.family() == "ring" && handshakes > 0 && s.hazardOf(result.ReadEarly) == nil:
		s.say("F29", "%s; every read is behind its handshake", evidence)
	case x.family() == "mesh" && x.call.Ranks == 2:
		s.say("F21", "%s", evidence)
	case handshakes == 0:
		s.say(rowOf(x), "%s; its program has no barrier", evidence)
	default:
		s.say(rowOf(x), "%s", evidence)
	}
}

// overrun is a write by the scene's task, or over what it reads, that waits too little for
// another task.
func (s *suspect) overrun(x scene) *result.Hazard {
	for i := range s.res.Hazards {
		h := &s.res.Hazards[i]
		if h.Kind == result.WriteEarly && h.First != nil && h.Second != nil && h.First.Task != h.Second.Task && (s.at(h.First.Task).task == x.task || s.at(h.Second.Task).task == x.task) {
			return h
		}
	}
	return nil
}

func rowOf(x scene) string {
	if row, ok := unordered[x.family()]; ok {
		return row
	}
	return "F14"
}

// blocks says that a collective which is for one block was launched with several.
func (s *suspect) blocks(x scene) bool {
	a, err := collectives.Lookup(x.call.Op, x.call.Form)
	if err != nil || a.Columns || x.task == nil || x.task.Blocks < 2 {
		return false
	}
	s.say("F46", "%s ran in %d blocks on every rank; each did all of it", x.call.Op+"/"+x.call.Form, x.task.Blocks)
	return true
}

// stale says which use of a signal was satisfied by credits of an earlier one.
func (s *suspect) stale(x scene, evidence string) {
	if x.call == nil {
		return
	}
	row, ok := map[string]string{"two_phase": "F24", "ring": "F28", "barrier": "F11"}[x.family()]
	switch {
	case s.blocks(x), s.narrow(x):
	case s.hazardOf(result.CellsSet) != nil:
		s.say("F45", "%s", s.hazardOf(result.CellsSet).Text)
	case s.mixes(x):
		s.say("F7", "%s", evidence)
	case ok:
		s.say(row, "%s", evidence)
	default:
		s.say("F41", "%s", evidence)
	}
}

// overwritten: a write over what somebody may still read, or over another write.
func (s *suspect) overwritten(x scene, h *result.Hazard) {
	if x.call == nil || s.blocks(x) || s.narrow(x) || s.aliased(x, h.Text) {
		return
	}
	others := h.First == nil || h.Second == nil || h.First.Task != h.Second.Task
	switch stale := s.hazardOf(result.StaleCredit); {
	case s.hazardOf(result.CellsSet) != nil:
		s.say("F45", "%s", s.hazardOf(result.CellsSet).Text)
	case stale != nil:
		s.stale(x, stale.Text)
	case others: // two calls, or a call and its consumer
		s.say("F49", "%s", h.Text)
	default:
		s.early(x, h.Text)
	}
}

// aliased says that a call's moves have one buffer as source and destination.
func (s *suspect) aliased(x scene, evidence string) bool {
	found := false
	s.ops(x, func(_ *program.Task, i int, o *program.Op) {
		if o.Kind == program.Put && o.Src == o.Dst && !found && x.call.Op == "all_to_all" {
			found = true
			s.say("F3", "op %d puts from %s into the peer's %[2]s; %s", i, s.job.Buffers[o.Src].Name, evidence)
		}
	})
	return found
}
