package hazard

import (
	"fmt"

	"pldperf/hw/program"
	"pldperf/hw/result"
)

// mixedSignal reports Set and AtomicAdd on one cell.
func (c *Checker) mixedSignal(first, second *mark, rank int, b program.Buf, i int) {
	f, s := c.side(first, "set"), c.side(second, "add")
	if c.sets(&s) {
		f.kind, s.kind = s.kind, f.kind
	}
	where := fmt.Sprintf("rank %d %s[%d]", rank, c.job.Buffers[b].Name, i)
	c.report(result.SetAndAdd, &f, &s, b, rank, 4*int64(i), 4, func() string {
		return fmt.Sprintf("Set and AtomicAdd on one cell: %s (%s, %s) and %s (%s, %s) both notify %s; a Set wipes out credits that have landed before it",
			c.actor(&f), f.kind, c.does(&f), c.actor(&s), s.kind, c.does(&s), where)
	}, func() string { return "AtomicAdd in every notify to " + where })
}

func (c *Checker) sets(s *side) bool {
	return s.pc() < produces && s.who.program.Ops[s.pc()].Set
}

// staleWait reports a wait that a credit has satisfied which was not meant for it: of is
// nil when the cell held it before the first call.
func (c *Checker) staleWait(t *Thread, of *Release, b program.Buf, i int) {
	m := t.mark()
	second := c.side(&m, "wait")
	first, kind := second, result.CellsSet
	origin := "what the cell held before the first call"
	if of != nil {
		kind = result.StaleCredit
		first = c.side(&of.mark, "notify")
		origin = fmt.Sprintf("a credit of %s that was meant for an earlier wait (%s)", c.actor(&first), c.does(&first))
	}
	where := fmt.Sprintf("rank %d %s[%d]", t.rank, c.job.Buffers[b].Name, i)
	c.report(kind, &first, &second, b, t.rank, 4*int64(i), 4, func() string {
		return fmt.Sprintf("stale credit: the wait of %s for %s (%s) is satisfied by %s; its barrier passes early", c.actor(&second), where, c.does(&second), origin)
	}, func() string {
		return fmt.Sprintf("a reset of %s before it is used again, or an expected value that rises by one each time", where)
	})
}

// twoOpen reports an exchange that a block opens on a queue without knowing that the last
// one is closed.
func (c *Checker) twoOpen(t *Thread, last *mark, peer int) {
	m := t.mark()
	first, second := c.side(last, "queue"), c.side(&m, "queue")
	b := t.program.Ops[t.pc].Dst
	if r := t.program.Ops[t.pc].Rows; r != nil {
		b = r.Target
	}
	c.report(result.TwoOpen, &first, &second, b, peer, 0, 0, func() string {
		return fmt.Sprintf("two open exchanges: %s (%s) and %s (%s) both submit to the queue of rank %d to rank %d, and nothing but timing keeps them apart",
			c.actor(&first), c.does(&first), c.actor(&second), c.does(&second), t.rank, peer)
	}, func() string {
		return fmt.Sprintf("a dependency: %s must start after %s has ended on rank %d (one signal for both makes it)", c.name(t.task), c.name(int(first.who.task)), t.rank)
	})
}
