package symptoms

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pldperf/collectives"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Cells returns the words of a rank's signal at the end of a run.
type Cells func(rank int, signal program.Buf) []int32

// Diagnose compares what a run shows, and the programs that it ran, with the table of
// symptoms, and returns the rows that fit, the likeliest first. A run in which nothing
// is wrong has none. It knows nothing of mistakes made on purpose.
func Diagnose(items []collectives.Item, job *program.Job, res *result.Result, cells Cells) []result.Diagnosis {
	s := &suspect{items: items, job: job, res: res, cells: cells}
	switch res.Status {
	case result.OK:
		return nil
	case result.Aborted:
		s.aborted(res.Abort)
	case result.Deadlock:
		s.stuck()
	}
	s.data(res.Data.Where)
	for i := range res.Hazards {
		s.hazard(&res.Hazards[i])
	}
	if len(s.found) == 0 && res.Data.WrongWords > 0 {
		s.words()
	}
	return s.found
}

// words: cells or counts are wrong, and nothing else is.
func (s *suspect) words() {
	for i := range s.job.Tasks {
		t := &s.job.Tasks[i]
		x := s.at(t.Name)
		if x.call == nil || !slices.ContainsFunc(t.Promises, func(p program.Promise) bool { return p.Words != nil }) {
			continue
		}
		if waits, _ := s.handshake(x); waits == 0 || t.Blocks > 1 {
			s.early(x, s.res.Data.Mismatches[0])
		}
	}
}

// suspect is a run under examination.
type suspect struct {
	items []collectives.Item
	job   *program.Job
	res   *result.Result
	cells Cells
	found []result.Diagnosis
	tasks map[string]*program.Task
	known map[[2]string]scene        // by task and hint
	clear map[*collectives.Call]bool // calls of which the data says enough
}

// say adds a row of the table with what speaks for it; each row once.
func (s *suspect) say(row, format string, args ...any) {
	if slices.ContainsFunc(s.found, func(d result.Diagnosis) bool { return d.Row == row }) {
		return
	}
	t, ok := SymptomOf(row)
	if !ok {
		return
	}
	s.found = append(s.found, result.Diagnosis{Row: row, Symptom: t.Symptom, Cause: t.Cause, Fix: t.Fix, Evidence: fmt.Sprintf(format, args...)})
}

// aborted: the device has refused its data (F48), or two exchanges met on a queue (F50).
func (s *suspect) aborted(a *result.Abort) {
	switch a.What {
	case "count", "index", "sq_capacity":
		s.say("F48", "rank %d: %s", a.Rank, a.Text)
	case "queue_conflict":
		s.say("F50", "rank %d: %s", a.Rank, a.Text)
	}
}

// scene is where something went wrong: a task of a call.
type scene struct {
	call *collectives.Call // nil for a computation, and where nobody knows
	name string
	task *program.Task
}

// at finds a task by its name. The tasks of an item begin with the item's name; in a
// kernel of several, the phase or the buffer in question does.
func (s *suspect) at(task string, hints ...string) scene {
	if s.tasks == nil {
		s.tasks, s.known = map[string]*program.Task{}, map[[2]string]scene{}
		for i := range s.job.Tasks {
			t := &s.job.Tasks[i]
			s.tasks[cmp.Or(t.Name, t.Op)] = t // a call without a name goes by its operation
			s.tasks[t.Name] = t
		}
	}
	for _, hint := range append([]string{task}, hints...) {
		x, ok := s.known[[2]string{task, hint}]
		if !ok {
			x = s.owner(hint)
			x.task = s.tasks[task]
			s.known[[2]string{task, hint}] = x
		}
		if x.call != nil {
			return x
		}
	}
	return scene{task: s.tasks[task]}
}

// owner finds the item whose name a word begins with.
func (s *suspect) owner(word string) (x scene) {
	for i := range s.items {
		it := &s.items[i]
		if rest, ok := strings.CutPrefix(word, it.Name); it.Call != nil && ok && (it.Name == "" || rest == "" || strings.ContainsAny(rest[:1], " :.")) {
			x.call, x.name = it.Call, it.Name
		}
	}
	return x
}

// family is the word that rows of the table go by: the operation, and for allreduce
// the algorithm.
func (x scene) family() string {
	if x.call == nil {
		return ""
	}
	if x.call.Op != "allreduce" {
		return x.call.Op
	}
	for _, f := range []string{"two_phase", "ring"} {
		if strings.Contains(x.call.Form, f) {
			return f
		}
	}
	return "mesh"
}

// ops calls yield for every op of the tasks of a scene's call.
func (s *suspect) ops(x scene, yield func(t *program.Task, i int, o *program.Op)) {
	for k := range s.job.Tasks {
		t := &s.job.Tasks[k]
		if t.Program == nil {
			continue
		}
		for i := range t.Program.Ops {
			if o := &t.Program.Ops[i]; s.at(t.Name, o.Phase).call == x.call {
				yield(t, i, o)
			}
		}
	}
}

func (s *suspect) hazardOf(kind result.HazardKind) *result.Hazard {
	for i := range s.res.Hazards {
		if s.res.Hazards[i].Kind == kind {
			return &s.res.Hazards[i]
		}
	}
	return nil
}

// hazard names the row of something that is right by luck.
func (s *suspect) hazard(h *result.Hazard) {
	x := s.sceneOf(h)
	if s.clear[x.call] && slices.Contains([]result.HazardKind{result.ReadEarly, result.WriteEarly, result.TwoWriters}, h.Kind) {
		return
	}
	switch h.Kind {
	case result.CellsSet:
		s.say("F45", "%s", h.Text)
	case result.CreditsLeft:
		if len(s.found) == 0 && s.res.Status == result.Hazardous {
			s.left(h)
		}
	case result.StaleCredit:
		s.stale(x, h.Text)
	case result.SetAndAdd:
		s.say("F7", "%s", h.Text)
	case result.TwoOpen:
		s.say("F50", "%s", h.Text)
	case result.ReadEarly, result.WriteEarly, result.TwoWriters:
		s.race(x, h)
	}
}

// race: nothing orders two accesses, of which one writes. Where a layout is wrong that
// only follows from it, and nothing else is said.
func (s *suspect) race(x scene, h *result.Hazard) {
	switch {
	case slices.ContainsFunc(s.found, func(d result.Diagnosis) bool { return d.Row == "F8" }):
	case h.Kind != result.ReadEarly:
		s.overwritten(x, h)
	case x.call == nil || !s.aliased(x, h.Text):
		s.early(x, h.Text)
	}
}

// left: credits are left over, because a call has used cells of another of its barriers,
// or from before.
func (s *suspect) left(h *result.Hazard) {
	for i := range s.job.Tasks {
		x := s.at(s.job.Tasks[i].Name)
		if x.call == nil {
			continue
		}
		if text, own := s.reused(x); text != "" && own {
			s.stale(x, h.Text+"; "+text)
			return
		}
	}
	s.say("F45", "%s", h.Text)
}

// sceneOf returns where a hazard is: its second access waits too little. Hazards
// without accesses name a task in their text.
func (s *suspect) sceneOf(h *result.Hazard) scene {
	for _, a := range []*result.Access{h.Second, h.First} {
		if a != nil {
			return s.at(a.Task, a.Phase, a.Buffer)
		}
	}
	best := ""
	for i := range s.job.Tasks {
		if n := s.job.Tasks[i].Name; n != "" && strings.Contains(h.Text, n) && len(n) > len(best) {
			best = n
		}
	}
	return s.at(best)
}
