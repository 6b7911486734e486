package hazard

import (
	"slices"

	"pldperf/hw/program"
	"pldperf/hw/result"
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
	debt     int32  // below zero: what lands pays it first
	set, add *Release
	seen     []seen
}

// credit is a notify that has landed. A Set that changes nothing keeps the one before:
// who waits cannot tell them apart.
type credit struct {
	delta  int32
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
			cells[i].credits = []credit{{delta: v}}
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
		x.credits = append(x.credits, credit{delta: value - pay, of: r})
	}
}

// mixed reports Set and AtomicAdd on one cell.
func (c *Checker) mixed(x *cell, rank int, b program.Buf, cell int, set bool, r *Release) {
	own, other := &x.add, x.set
	if set {
		own, other = &x.set, x.add
	}
	if *own == nil && other != nil {
		c.signal(result.SetAndAdd, other, r, rank, b, cell)
	}
	if *own == nil {
		*own = r
	}
}

// replace makes a Set the only credit.
func (x *cell) replace(value int32, r *Release) {
	now := credit{delta: value, set: true, of: r}
	if n := len(x.credits); n == 1 && x.credits[0].set && x.credits[0].delta == value && value != 0 {
		now.before = x.credits[0].of
	}
	x.base += uint32(len(x.credits))
	x.credits, x.debt = append(x.credits[:0], now), 0
}

// consume takes n from the oldest credits.
func (x *cell) consume(n int32) {
	k := 0
	for ; k < len(x.credits) && n >= x.credits[k].delta; k++ {
		n -= x.credits[k].delta
	}
	x.base += uint32(k)
	x.credits = slices.Delete(x.credits, 0, k)
	if n > 0 && len(x.credits) > 0 {
		x.credits[0].delta -= n
	} else {
		x.debt += n
	}
}

// acquire tells a block what the credits say that satisfy its wait for want, and reports
// a wait that stale ones satisfy.
func (t *Thread) acquire(b program.Buf, i int, want int32, eq bool) {
	if want <= 0 && !eq {
		return // it says nothing
	}
	x := t.c.cell(b, t.rank, i)
	k, sum := 0, int32(0)
	for ; k < len(x.credits) && (eq || sum < want); k++ {
		sum += x.credits[k].delta
		if r := x.credits[k].of; r != nil {
			t.clock.join(r.clock)
		}
	}
	if want > 0 {
		t.stale(x, b, i, k)
	}
	t.saw(x, x.base+uint32(k))
}

// saw remembers up to which credit the block has waited.
func (t *Thread) saw(x *cell, upto uint32) {
	now := seen{int32(t.block), int32(t.task), upto, t.seq}
	for k := range x.seen {
		if x.seen[k].block == now.block {
			x.seen[k] = now
			return
		}
	}
	x.seen = append(x.seen, now)
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
	case last.before != nil:
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
			return slices.ContainsFunc(t.told, func(o told) bool { return o.signal == b && o.seq > s.seq })
		}
	}
	return false
}

// newer reports whether one of the first k credits is of a task, or of a later one.
func (x *cell) newer(k, task int) bool {
	return slices.ContainsFunc(x.credits[:k], func(c credit) bool { return c.of != nil && c.of.task >= task })
}
