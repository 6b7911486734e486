package symptoms

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/hw/program"
	"pldperf/hw/result"
)

// stuck names the rows of a deadlock: for each kind of wait that will never end, why.
func (s *suspect) stuck() {
	s.deferred()
	for i := range s.res.Stuck.Waits {
		w := &s.res.Stuck.Waits[i]
		x, op, ok := s.waitOf(w)
		if !ok {
			continue
		}
		switch h := s.hazardOf(result.CellsSet); {
		case h != nil:
			s.say("F45", "%s", h.Text)
		case op.Eq && w.Value > w.Expected:
			s.say("F10", "rank %d waits until %s equals %d; it has gone on to %d", w.Rank, w.Cell, w.Expected, w.Value)
		case s.selfish(x), s.narrow(x), s.waitsBeforeNotify(x, w, op), s.eraser(x, w, op):
		case s.deaf(x) != "":
			s.say("F19", "rank %d waits for %s; %s", w.Rank, w.Cell, s.deaf(x))
		default:
			s.strayed(x, w, op)
		}
	}
}

// deferred: tasks that wait for cells without a core, and never start.
func (s *suspect) deferred() {
	for i := range s.job.Tasks {
		t := &s.job.Tasks[i]
		for r := 0; r < s.job.Ranks && s.cells != nil; r++ {
			for _, until := range t.Until {
				cell := int(until.Cell.At(&program.Here{Rank: r}))
				words := s.cells(r, until.Signal)
				if s.over(i, r) || int64(words[cell]) >= until.Value {
					continue
				}
				s.unwritten(s.at(t.Name), r, cell, until.Signal, words)
				return
			}
		}
	}
}

// unwritten: a deferred wait's cell is too low. Either nobody notifies at all, or it is
// another cell that they notify.
func (s *suspect) unwritten(x scene, rank, cell int, signal program.Buf, words []int32) {
	told := false
	s.ops(x, func(_ *program.Task, _ int, o *program.Op) { told = told || o.Notifies() })
	if !told {
		s.say("F6", "%s waits on rank %d for cell %d of %s, and no op notifies it", x.task.Name, rank, cell, s.job.Buffers[signal].Name)
		return
	}
	for k, v := range words {
		if v != 0 && !slices.ContainsFunc(x.task.Until, func(u program.Condition) bool { return int(u.Cell.At(&program.Here{Rank: rank})) == k }) {
			s.say("F13", "%s waits on rank %d for cell %d of %s; cell %d of it is %d, and nobody waits for that", x.task.Name, rank, cell, s.job.Buffers[signal].Name, k, v)
			return
		}
	}
}

// waitOf finds the op in which a block is stuck: its number is in the report, and the
// cell names the signal.
func (s *suspect) waitOf(w *result.Waiting) (x scene, op *program.Op, ok bool) {
	_, rest, _ := strings.Cut(w.Op, "(op ")
	var n int
	if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
		return x, nil, false
	}
	signal, _, _ := strings.Cut(w.Cell, "[")
	for i := range s.job.Tasks {
		t := &s.job.Tasks[i]
		if t.Program == nil || n >= len(t.Program.Ops) || s.over(i, w.Rank) {
			continue
		}
		op = &t.Program.Ops[n]
		if op.Waits() && s.job.Buffers[op.Signal].Name == signal {
			return s.at(t.Name, op.Phase), op, true
		}
	}
	return x, nil, false
}

// over reports whether a task had ended on a rank when the others got stuck.
func (s *suspect) over(task, rank int) bool {
	if task >= len(s.res.Calls) || rank >= len(s.res.Calls[task].Ranks) {
		return false
	}
	end := s.res.Calls[task].Ranks[rank].End
	return end > 0 && end < s.res.Stuck.Time
}

// waitsBeforeNotify: every rank is stuck, and the notify stands behind the wait (F6). Of
// the cells in question there are fewer notifies in front of it than waits.
func (s *suspect) waitsBeforeNotify(x scene, w *result.Waiting, wait *program.Op) bool {
	stuck := map[int]bool{}
	for i := range s.res.Stuck.Waits {
		stuck[s.res.Stuck.Waits[i].Rank] = true
	}
	if len(stuck)+s.res.Stuck.More < s.job.Ranks || x.task == nil {
		return false
	}
	waits, notified, at, behind := 0, 0, -1, -1
	for i := range x.task.Program.Ops {
		o := &x.task.Program.Ops[i]
		same := o.Signal == wait.Signal && o.Col.String() == wait.Col.String()
		switch {
		case same && o.Waits() && at < 0:
			if waits++; o == wait {
				at = i
			}
		case same && o.Notifies() && at < 0:
			notified++
		case same && o.Notifies() && behind < 0:
			behind = i
		}
	}
	if notified >= waits || behind < 0 {
		return false
	}
	s.say("F6", "all %d ranks wait, rank %d for %s; op %d waits, and the notify is op %d, behind it", s.job.Ranks, w.Rank, w.Cell, at, behind)
	return true
}

// eraser: somebody sets a cell to which others add, or of which more is expected than
// a Set gives (F7).
func (s *suspect) eraser(x scene, w *result.Waiting, wait *program.Op) bool {
	sets, others := -1, false
	given := int64(0)
	s.ops(x, func(_ *program.Task, i int, o *program.Op) {
		if !o.Signals() || o.Waits() || o.Signal != wait.Signal {
			return
		}
		if o.Set && sets < 0 {
			sets, given = i, o.Value.C
		}
		others = others || !o.Set
	})
	if sets < 0 || !others && given >= w.Expected || w.Value >= w.Expected {
		return false
	}
	row := "F7"
	if x.family() == "barrier" && wait.Kind == program.Wait {
		row = "F10" // a shared cell
	}
	s.say(row, "rank %d waits for %s >= %d, which is %d: op %d sets the cell to %d and erases what was added", w.Rank, w.Cell, w.Expected, w.Value, sets, given)
	return true
}

// strayed: a cell for which nobody at the rank waits has got credits (F4, F13).
func (s *suspect) strayed(x scene, w *result.Waiting, op *program.Op) {
	if s.cells == nil {
		return
	}
	awaited := s.awaited(x, w.Rank, op.Signal)
	for cell, v := range s.cells(w.Rank, op.Signal) {
		if v == 0 || slices.Contains(awaited, cell) {
			continue
		}
		row := "F4"
		if x.call.Op != "all_to_all" {
			row = "F13"
		}
		s.say(row, "rank %d waits for %s, which nobody has written; cell %d of that signal is %d, and nobody waits for it", w.Rank, w.Cell, cell, v)
		return
	}
}

// awaited lists the cells of a signal for which a rank's programs wait.
func (s *suspect) awaited(x scene, rank int, signal program.Buf) (out []int) {
	s.ops(x, func(t *program.Task, i int, o *program.Op) {
		if !o.Waits() || o.Signal != signal {
			return
		}
		for block := range t.Blocks {
			each(t.Program, i, rank, block, func(h *program.Here) {
				if o.Kind == program.Wait {
					out = append(out, int(o.Cell.At(h)))
					return
				}
				for p := range s.job.Ranks {
					if p != rank {
						out = append(out, int(o.CellOf(int64(p), o.Col.At(h))))
					}
				}
			})
		}
	})
	return out
}

// mostIterations bounds how much of a loop is looked at.
const mostIterations = 4096

// each calls yield for every iteration in which a rank's block executes op i.
func each(p *program.Program, i, rank, block int, yield func(*program.Here)) {
	h := &program.Here{Rank: rank, Block: block}
	var loops []int
	for k := range i {
		if o := &p.Ops[k]; o.Kind == program.Loop && k+o.Skip >= i {
			loops = append(loops, k)
		}
	}
	left := mostIterations
	var run func(depth int)
	run = func(depth int) {
		if depth == len(loops) {
			left--
			yield(h)
			return
		}
		o := &p.Ops[loops[depth]]
		for h.Loop[o.Depth] = 0; h.Loop[o.Depth] < o.Count.At(h) && left > 0; h.Loop[o.Depth]++ {
			run(depth + 1)
		}
	}
	run(0)
}
