package hazard

import (
	"slices"
	"sort"

	"pldperf/hw/program"
)

// cell is a signal cell as credits that nobody has consumed, in the order in which they
// landed. Who waits for n is told by the first of them whose sum reaches n, not by all
// that happen to be there:
//
//	credits   +1 (rank 2, round A)   +1 (rank 2, round B)   ...
//	Ge 1      told by the first
//	Ge 2      told by both
//	add -2    consumes both
//	Set       replaces all
type cell struct {
	credits  []credit
	base     uint32 // number of the first of them
	landed   int64  // the sum of all credits that have landed
	consumed int64  // of them
	debt     int32  // below zero: what lands pays it first
	set, add mark   // the first of each
	seen     []seen
}

// credit is a notify that has landed. A Set that changes nothing keeps the one before:
// who waits cannot tell them apart.
type credit struct {
	upto   int64 // the sum of all that have landed, with it
	set    bool
	of     *Release // nil: the cell's initial value
	before *Release
}

// seen is up to which credit a block of the rank has waited, and when.
type seen struct {
	block int32
	task  int32
	upto  uint32
	seq   uint32
}

// cell returns a cell of a rank's signal.
func (c *Checker) cell(b program.Buf, rank, i int) *cell {
	x := &c.bufs[b]
	if x.cells == nil {
		x.cells = make([][]cell, c.job.Ranks)
	}
	if x.cells[rank] == nil {
		c.preset(b, rank, c.job.Buffers[b].Table)
	}
	return &x.cells[rank][i]
}

// preset makes the cells of a rank's signal, with what they hold before anybody notifies.
func (c *Checker) preset(b program.Buf, rank int, values program.Table) {
	cells := make([]cell, c.job.Buffers[b].Size/4)
	c.bufs[b].cells[rank] = cells
	if values == nil {
		return
	}
	row := values.Row(rank, 0)
	for i, v := range row[:min(len(row), len(cells))] {
		if v > 0 {
			cells[i].land(credit{}, v)
		}
		cells[i].debt = max(-v, 0)
	}
}

// Land is called when a notify that r was released for has changed a cell of a rank.
func (c *Checker) Land(rank int, b program.Buf, cell int, value int32, set bool, r *Release) {
	if c == nil {
		return
	}
	x := c.cell(b, rank, cell)
	c.mixed(x, rank, b, cell, set, r)
	switch {
	case set:
		x.replace(value, r)
	case value < 0:
		x.consume(-value)
	default:
		pay := min(x.debt, value)
		x.debt -= pay
		x.land(credit{of: r}, value-pay)
	}
}

// land adds a credit of n.
func (x *cell) land(c credit, n int32) {
	x.landed += int64(n)
	c.upto = x.landed
	x.credits = append(x.credits, c)
}

// mixed reports Set and AtomicAdd on one cell.
func (c *Checker) mixed(x *cell, rank int, b program.Buf, cell int, set bool, r *Release) {
	own, other := &x.add, &x.set
	if set {
		own, other = &x.set, &x.add
	}
	if own.count > 0 {
		return
	}
	*own = r.mark
	if other.count > 0 {
		c.mixedSignal(other, own, rank, b, cell)
	}
}

// replace makes a Set the only credit.
func (x *cell) replace(value int32, r *Release) {
	now := credit{set: true, of: r}
	if n := len(x.credits); n == 1 && x.credits[0].set && x.landed-x.consumed == int64(value) && value != 0 {
		now.before = x.credits[0].of
	}
	x.base += uint32(len(x.credits))
	x.credits, x.debt, x.consumed = x.credits[:0], 0, x.landed
	x.land(now, value)
}

// consume takes n from the oldest credits.
func (x *cell) consume(n int32) {
	have := int32(x.landed - x.consumed)
	x.debt += max(n-have, 0)
	x.consumed += int64(min(n, have))
	k := 0
	for k < len(x.credits) && x.credits[k].upto <= x.consumed {
		k++
	}
	x.base += uint32(k)
	x.credits = slices.Delete(x.credits, 0, k)
}

// first returns how many of the oldest credits it takes to reach n, all if they do not.
// Mostly it is one more than are known.
func (x *cell) first(n int32, known int) int {
	enough := func(i int) bool { return x.credits[i].upto-x.consumed >= int64(n) }
	if known > 0 && known < len(x.credits) && !enough(known-1) && enough(known) {
		return known + 1
	}
	k := sort.Search(len(x.credits), enough)
	return min(k+1, len(x.credits))
}

// acquire tells a block what the credits say that satisfy its wait for want, and reports
// a wait that stale ones satisfy.
func (t *Thread) acquire(b program.Buf, i int, want int32, eq bool) {
	if want <= 0 && !eq {
		return // it says nothing
	}
	x := t.c.cell(b, t.rank, i)
	k, known := len(x.credits), t.known(x)
	if !eq {
		k = x.first(want, known)
	}
	for _, c := range x.credits[min(known, k):k] {
		if c.of != nil {
			t.clock.join(c.of.clock)
		}
	}
	if want > 0 {
		t.stale(x, b, i, k)
	}
	t.saw(x, x.base+uint32(k))
}

// known returns how many of the oldest credits the block has been told of.
func (t *Thread) known(x *cell) int {
	for _, s := range x.seen {
		if s.block == int32(t.block) && s.task == int32(t.task) && s.upto > x.base {
			return int(s.upto - x.base)
		}
	}
	return 0
}

// saw remembers up to which credit the block has waited. Where only one block waits for
// a cell, those before its last are not needed any more: they were told in that one's
// order.
func (t *Thread) saw(x *cell, upto uint32) {
	now := seen{int32(t.block), int32(t.task), upto, t.seq}
	switch {
	case len(x.seen) == 0:
		x.seen = []seen{now}
	case len(x.seen) == 1 && x.seen[0].block == now.block:
		x.seen[0] = now
		if k := int(upto-x.base) - 1; upto > x.base && k > 0 {
			x.base += uint32(k)
			x.credits = slices.Delete(x.credits, 0, k)
		}
	default:
		for k := range x.seen {
			if x.seen[k].block == now.block {
				x.seen[k] = now
				return
			}
		}
		x.seen = append(x.seen, now)
	}
}

// stale reports a wait that the first k credits of a cell satisfy, if they are not those
// that it is meant for.
func (t *Thread) stale(x *cell, b program.Buf, i, k int) {
	if k == 0 {
		return
	}
	last := x.credits[k-1]
	switch {
	case last.of == nil:
		t.c.staleWait(t, nil, b, i)
	case last.before != nil && t.waitedBefore(x, b, x.base): // for the Set before
		t.c.staleWait(t, last.before, b, i)
	case t.waitedBefore(x, b, x.base+uint32(k)):
		t.c.staleWait(t, last.of, b, i)
	case slices.Contains(t.c.tasks[t.task].signals, b) && !x.newer(k, t.task):
		t.c.staleWait(t, last.of, b, i)
	}
}

// waitedBefore reports whether the block has waited for the same credits already, and
// has begun another round since.
func (t *Thread) waitedBefore(x *cell, b program.Buf, upto uint32) bool {
	for _, s := range x.seen {
		if s.block == int32(t.block) && s.task == int32(t.task) && s.upto >= upto {
			return slices.ContainsFunc(t.rounds, func(o round) bool { return o.signal == b && o.seq > s.seq })
		}
	}
	return false
}

// newer reports whether one of the first k credits is of a task, or of a later one.
func (x *cell) newer(k, task int) bool {
	for k--; k >= 0; k-- {
		if r := x.credits[k].of; r != nil && r.task >= task {
			return true
		}
	}
	return false
}
