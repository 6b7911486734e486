package hazard

import (
	"fmt"
	"strings"

	"pldperf/hw/program"
	"pldperf/hw/result"
)

// maxListed is how many hazards are described.
const maxListed = 16

// group is what makes two findings the same hazard.
type group struct {
	kind          result.HazardKind
	buf           program.Buf
	first, second place
}

// place is an op in a phase.
type place struct{ op, phase string }

// side is one of the two accesses of a hazard.
type side struct {
	who  *who
	m    mark
	kind string
}

func (c *Checker) side(m *mark, kind string) side {
	return side{&c.whos[c.lanes.who(m.lane, m.count)], *m, kind}
}

// place returns the op of an access. Around the programs there are those who give a task
// its input and those who use its result.
func (s *side) place() place {
	switch pc := s.pc(); pc {
	case produces:
		return place{"produce", "before the call"}
	case awaits:
		return place{"deferred wait", "before the call"}
	case computes:
		return place{"compute", "compute"}
	case consumes:
		return place{"consume", "after the call"}
	default:
		o := &s.who.program.Ops[pc]
		return place{o.Kind.String(), o.Phase}
	}
}

func (s *side) pc() int { return int(s.m.op >> kindBits) }

// does says what a side does, for people.
func (c *Checker) does(s *side) string {
	switch name := c.name(int(s.who.task)); s.pc() {
	case produces:
		return "the producer of the input of " + name
	case awaits:
		return "the deferred wait of " + name
	case computes:
		return "the computation " + name
	case consumes:
		return "the caller's use of the result of " + name
	default:
		p := s.place()
		return fmt.Sprintf("%s of %s, phase %s", p.op, name, p.phase)
	}
}

// name returns what a task is called.
func (c *Checker) name(task int) string {
	t := &c.job.Tasks[task]
	name := strings.TrimSpace(t.Name)
	if name == "" || name[0] == '#' { // the only call
		return strings.TrimSpace(t.Op + " " + name)
	}
	return name
}

// actor is who does it: a rank, and of several blocks the block.
func (c *Checker) actor(s *side) string {
	if s.who.block == caller || c.job.Tasks[s.who.task].Blocks == 1 {
		return fmt.Sprintf("rank %d", s.who.rank)
	}
	return fmt.Sprintf("rank %d block %d", s.who.rank, s.who.block)
}

// access turns a side into what a result holds.
func (c *Checker) access(s *side, b program.Buf, owner int, off, n int64) *result.Access {
	p := s.place()
	return &result.Access{
		Task: c.job.Tasks[s.who.task].Name, Rank: int(s.who.rank), Block: int(s.who.block), Op: p.op, Phase: p.phase, Kind: s.kind,
		Buffer: c.job.Buffers[b].Name, Owner: owner, Off: off, Len: n, Time: s.m.time,
	}
}

// report adds a hazard, or counts it when it is one that is known already. text and
// missing are called for what is new.
func (c *Checker) report(kind result.HazardKind, first, second *side, b program.Buf, owner int, off, n int64, text, missing func() string) {
	g := group{kind, b, first.place(), second.place()}
	if i, ok := c.groups[g]; ok {
		c.found[i].Count++
		return
	}
	if len(c.found) == maxListed {
		return
	}
	c.groups[g] = len(c.found)
	c.found = append(c.found, result.Hazard{
		Kind: kind, Text: text(), Missing: missing(), Count: 1,
		First: c.access(first, b, owner, off, n), Second: c.access(second, b, owner, off, n),
	})
}

// conflict reports that nothing orders an access and an earlier one, where both are part
// of [lo, hi).
func (c *Checker) conflict(a *access, o *mark, lo, hi int64) {
	lo, hi = max(lo, a.lo), min(hi, a.hi)
	first, second := c.side(o, kinds[o.kind()]), c.side(&a.m, kinds[a.m.kind()])
	if c.swapped(&first, &second) {
		first, second = second, first
	}
	kind, say := result.TwoWriters, c.twoWriters
	switch {
	case second.m.kind() == read:
		kind, say = result.ReadEarly, c.readEarly
	case first.m.kind() == read:
		kind, say = result.WriteEarly, c.writeEarly
	}
	c.report(kind, &first, &second, a.buf, a.owner, lo, hi-lo,
		func() string {
			return say(&first, &second, fmt.Sprintf("rank %d %s+%d", a.owner, c.job.Buffers[a.buf].Name, lo))
		}, func() string { return c.missing(&first, &second) })
}

func (c *Checker) readEarly(first, second *side, where string) string {
	return fmt.Sprintf("%s reads %s (%s) and does not wait until %s has written it (%s): what it reads is right by luck",
		c.actor(second), where, c.does(second), c.actor(first), c.does(first))
}

func (c *Checker) writeEarly(first, second *side, where string) string {
	text := fmt.Sprintf("%s writes %s (%s) and does not wait until %s has read it (%s)",
		c.actor(second), where, c.does(second), c.actor(first), c.does(first))
	switch {
	case first.who.task == second.who.task:
		return text
	case first.who.rank == second.who.rank:
		return "window reuse: " + text + "; make the one wait for the other"
	}
	return "window reuse: " + text + "; put a barrier between the calls"
}

func (c *Checker) twoWriters(first, second *side, where string) string {
	return fmt.Sprintf("two writers: %s (%s) and %s (%s) both write %s, and nothing says who is last",
		c.actor(first), c.does(first), c.actor(second), c.does(second), where)
}

// swapped reports whether the second of two accesses is the one that is meant to come
// first: ranks run the same tasks and ops, so who is further in them is meant to be
// later, whatever happened to come first. Of two tasks of which none waits for the other
// a read is meant to see what was there before.
func (c *Checker) swapped(first, second *side) bool {
	a, b := int(first.who.task), int(second.who.task)
	switch {
	case a == b:
		return first.m.seq > second.m.seq
	case c.waits(b, a):
		return false
	case c.waits(a, b):
		return true
	case second.m.kind() == read:
		return true
	case first.m.kind() == read:
		return false
	}
	return a > b
}

// waits reports whether a task waits for another, or for one that does.
func (c *Checker) waits(task, other int) bool {
	if other >= task {
		return false // tasks follow those that they wait for
	}
	seen := make([]bool, task+1)
	open := []int{task}
	for len(open) > 0 {
		t := open[len(open)-1]
		open = open[:len(open)-1]
		for _, d := range c.job.Tasks[t].After {
			if d == other {
				return true
			}
			if d > other && !seen[d] {
				seen[d] = true
				open = append(open, d)
			}
		}
	}
	return false
}

// missing says what would order two accesses.
func (c *Checker) missing(first, second *side) string {
	f, s := first.place(), second.place()
	tasks, ranks := first.who.task != second.who.task, first.who.rank != second.who.rank
	handshake := fmt.Sprintf("a notify by %s %s and a wait for it by %s %s", c.actor(first), first.after(), c.actor(second), second.before())
	switch {
	case first.who == second.who:
		return fmt.Sprintf("a wait of %s for its %s (a fence, a drain or the CQE) %s", c.actor(first), f.op, second.before())
	case tasks && ranks:
		return fmt.Sprintf("a barrier between %s and %s: %s", c.name(int(first.who.task)), c.name(int(second.who.task)), handshake)
	case tasks:
		return fmt.Sprintf("a dependency: %s must start after %s has ended on rank %d", c.name(int(second.who.task)), c.name(int(first.who.task)), first.who.rank)
	case second.pc() == consumes:
		handshake += fmt.Sprintf(" (a barrier behind %s)", f.phase)
	case f.phase != s.phase && first.pc() < produces:
		handshake += fmt.Sprintf(" (a barrier between %s and %s)", f.phase, s.phase)
	}
	if async := asyncWord(first); async != "" {
		handshake += "; the notify must follow " + async
	}
	return handshake
}

// after is when the first access of two is over, and before when the second begins.
func (s *side) after() string {
	switch s.pc() {
	case produces:
		return "when its input is written"
	case computes, consumes:
		return "when it is through with the result"
	}
	return "after its " + s.place().op
}

func (s *side) before() string {
	switch s.pc() {
	case produces:
		return "before its input is written"
	case computes:
		return "before the computation"
	case consumes:
		return "before the call ends"
	}
	return "before its " + s.place().op
}

// asyncWord names what ends an access that goes on beside its block.
func asyncWord(s *side) string {
	switch s.place().op {
	case program.RemoteStore.String():
		return "a fence"
	case program.SendOwned.String(), program.Submit.String():
		return "the CQE"
	}
	return ""
}
