package aiv

import (
	"slices"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/hazard"
	"pldperf/hw/memory"
	"pldperf/hw/program"
)

// Signals delivers notifies and wakes the waits on signal cells. A notify is one
// message: it arrives, changes its cell, and can be seen when the 128-byte sector of
// the cell has served it. A NotifyPeers is a chain of arrivals with one pending event,
// and a WaitPeers is one waiter with a count of the cells that are still too low, so
// that a barrier of P ranks costs P events and two ops a block.
type Signals struct {
	eng     *engine.Engine
	mem     *memory.Space
	net     fabric.Fabric
	spec    *Spec
	ranks   int
	bufs    []*signalBuf // by memory.ID
	batches []batch
	unused  []uint32
	drop    []Drop
	probe   func(rank int, buf memory.ID, cell int, value int32)
	landing int // rank whose notify is landing, or -1
	hazards *hazard.Checker
}

// Drop is a notify that a fault loses: the Nth from Src to Dst, counted from 0.
type Drop struct{ Src, Dst, Nth int }

// cells are those of all sources in one group: that of source s is base + s*step.
type cells struct {
	buf        memory.ID
	group      int32 // a column of a [P,S] signal, a row of a [rows,P] one
	base, step int32 // step 0: the one cell base
}

func (x *cells) of(source int) int { return int(x.base) + source*int(x.step) }

type signalBuf struct {
	cells int // in the buffer
	// How the buffer's cells form groups; known from the first op that names one.
	groups int
	byRow  bool
	ranks  []signalRank
}

type signalRank struct {
	cols    []column
	sectors []sector
	lines   []engine.Time // when the bank of each 512-B line is free
	waiters []waiter      // that no column has
}

// waiter is somebody who waits for cells.
type waiter struct {
	who  Waker
	at   cells
	row  int32 // the only source waited for, or -1 for all but the own rank
	want int32
	eq   bool // the very value rather than at least it
}

// A Waker waits for signal cells: a core, or a task's deferred wait.
type Waker interface {
	// Signalled is called when all cells waited for can be seen to be right from ready on.
	Signalled(ready engine.Time)
}

func (w *waiter) right(v int32) bool { return v == w.want || v > w.want && !w.eq }

// column is one group of a rank: the cells of all sources. It knows one waiter and
// how many cells that still lacks.
type column struct {
	waiter
	missing int32
	visible engine.Time // when the last change so far can be seen
}

// sector is the granule in which the L2 serialises atomics.
type sector struct {
	free   engine.Time
	writer uint32 // AIV that wrote last
}

// batch is a chain of notifies to ranks next, next+1 ... or to the own cells of them,
// or one notify to rank next.
type batch struct {
	at      cells
	src     int32 // rank that issues
	self    bool  // to the own cells of source k, else to the cell of src at rank k
	one     bool  // only to next
	set     bool
	next    int32
	value   int32
	writer  uint32          // AIV that issues
	start   engine.Time     // arrival of the first notify
	gap     engine.Duration // between two of them
	latency engine.Duration // not self: only peers this far away
	away    engine.Duration // from issue to arrival
	op      int             // of the writer's program
	served  engine.Time     // when the last one so far can be seen
	done    *Core           // woken when all can be seen, if not nil
	told    *hazard.Release
}

// NewSignals returns a service without signals.
func NewSignals(eng *engine.Engine, mem *memory.Space, net fabric.Fabric, spec *Spec, ranks int, drop []Drop) *Signals {
	return &Signals{eng: eng, mem: mem, net: net, spec: spec, ranks: ranks, drop: drop, landing: -1}
}

// Check makes h see every notify that lands.
func (g *Signals) Check(h *hazard.Checker) { g.hazards = h }

// Probe makes f see every change of a cell.
func (g *Signals) Probe(f func(rank int, buf memory.ID, cell int, value int32)) { g.probe = f }

func (g *Signals) at(buf memory.ID, rank int) *signalRank {
	for int(buf) >= len(g.bufs) {
		g.bufs = append(g.bufs, nil)
	}
	b := g.bufs[buf]
	if b == nil {
		b = &signalBuf{cells: int(g.mem.Buffer(buf).Size / 4), ranks: make([]signalRank, g.ranks)}
		g.bufs[buf] = b
	}
	r := &b.ranks[rank]
	if r.sectors == nil {
		r.sectors = make([]sector, (engine.Bytes(b.cells*4)+g.spec.Signal.Sector-1)/g.spec.Signal.Sector)
	}
	return r
}

// column returns the group of a rank that cells are in, nil when they are in none. It
// makes the rank's columns at first touch.
func (g *Signals) column(rank int, x *cells) *column {
	r := g.at(x.buf, rank)
	b := g.bufs[x.buf]
	if x.step > 0 && b.groups == 0 {
		b.groups, b.byRow = b.cells/g.ranks, x.step == 1 && b.cells > g.ranks
	}
	if r.cols == nil && b.groups > 0 {
		r.cols = make([]column, b.groups)
	}
	if x.step == 0 || int(x.group) >= len(r.cols) {
		return nil
	}
	return &r.cols[x.group]
}

// place returns the column and the source of a cell; nil when nobody has used the
// signal by columns.
func (b *signalBuf) place(r *signalRank, cell int) (c *column, source int) {
	if len(r.cols) == 0 {
		return nil, 0
	}
	group, source := cell%b.groups, cell/b.groups
	if b.byRow {
		n := b.cells / b.groups
		group, source = cell/n, cell%n
	}
	if group >= len(r.cols) {
		return nil, 0
	}
	return &r.cols[group], source
}

// send starts a chain; one for each distance, because the arrivals of a chain must be
// in order.
func (g *Signals) send(b batch) {
	if b.self || b.one {
		g.start(b)
		return
	}
	var room [4]engine.Duration
	seen := room[:0]
	for p := range g.ranks {
		if p == int(b.src) {
			continue
		}
		if lat := g.net.Latency(int(b.src), p); !slices.Contains(seen, lat) {
			seen = append(seen, lat)
			c := b
			c.latency, c.next = lat, int32(p)
			c.start, c.away = b.start.Add(lat), b.away+lat
			g.start(c)
		}
	}
}

func (g *Signals) start(b batch) {
	if b.next == b.src && !b.one {
		b.next++
	}
	if int(b.next) >= g.ranks { // there are no peers
		if b.done != nil {
			g.eng.At(g.eng.Now(), b.done, evResume)
		}
		return
	}
	i := g.keep(b)
	g.eng.Through(b.arrival().Add(-b.away), b.why(cause.Issue))
	g.eng.Because(b.why(cause.SignalWire))
	g.eng.At(b.arrival(), g, uint64(i))
}

// arrival returns when the notify that is next reaches its target: ranks are served
// in ascending order, and the own one takes no turn.
func (b *batch) arrival() engine.Time {
	if b.one {
		return b.start
	}
	turn := int64(b.next)
	if b.next > b.src {
		turn--
	}
	return b.start.Add(engine.Duration(turn) * b.gap)
}

// why names the op that issued a chain as what time is spent on.
func (b *batch) why(k cause.Kind) engine.Why { return k.Why(int(b.writer), b.op) }

func (g *Signals) keep(b batch) uint32 {
	if n := len(g.unused); n > 0 {
		i := g.unused[n-1]
		g.unused = g.unused[:n-1]
		g.batches[i] = b
		return i
	}
	g.batches = append(g.batches, b)
	return uint32(len(g.batches) - 1)
}

// Handle lands the next notify of a chain.
func (g *Signals) Handle(arg uint64) {
	g.eng.Progress()
	b := &g.batches[arg]
	target, row := int(b.next), int(b.src)
	if b.self {
		target, row = int(b.src), int(b.next)
	}
	g.land(b, target, row)
	if g.step(b) {
		g.eng.Because(b.why(cause.Issue))
		g.eng.At(b.arrival(), g, arg)
		return
	}
	if b.done != nil {
		g.eng.Because(b.why(cause.Sector))
		g.eng.At(max(b.served, g.eng.Now()), b.done, evResume)
	}
	g.unused = append(g.unused, uint32(arg))
}

// step moves a chain to its next target; false at its end.
func (g *Signals) step(b *batch) bool {
	if b.one {
		return false
	}
	for b.next++; int(b.next) < g.ranks; b.next++ {
		if b.next != b.src && (b.self || g.net.Latency(int(b.src), int(b.next)) == b.latency) {
			return true
		}
	}
	return false
}

// land changes one cell and wakes who waited for that.
func (g *Signals) land(b *batch, target, row int) {
	if target != int(b.src) && g.dropped(int(b.src), target) {
		return
	}
	r := g.at(b.at.buf, target)
	cell := b.at.of(row)
	c, source := g.bufs[b.at.buf].place(r, cell)
	g.landing = int(b.src)
	b.served = g.serve(r, cell, b.writer, c != nil && c.who != nil)
	old, now := g.change(b, target, cell)
	g.hazards.Land(target, program.Buf(b.at.buf), cell, b.value, b.set, b.told)
	if g.probe != nil {
		g.probe(target, b.at.buf, cell, now)
	}
	if c != nil {
		c.visible = max(c.visible, b.served)
		if c.who != nil && source != target && (c.row < 0 || int(c.row) == source) {
			c.changed(old, now)
		}
	}
	if len(r.waiters) > 0 {
		g.retry(r, target, b.at.buf, cell, b.served)
	}
	g.landing = -1
}

// retry wakes the waiters without a column of their own that the change of a cell
// has satisfied, in the order in which they began to wait.
func (g *Signals) retry(r *signalRank, rank int, buf memory.ID, cell int, visible engine.Time) {
	kept := r.waiters[:0]
	var woken []Waker
	for _, w := range r.waiters {
		if g.missing(rank, &w) == 0 {
			woken = append(woken, w.who)
		} else {
			kept = append(kept, w)
		}
	}
	r.waiters = kept
	for _, w := range woken {
		w.Signalled(visible)
	}
}

// change applies a notify to its cell and returns the values before and after.
func (g *Signals) change(b *batch, target, cell int) (old, now int32) {
	if !b.set {
		now = g.mem.AddWord(target, b.at.buf, cell, b.value)
		return now - b.value, now
	}
	old = g.mem.Word(target, b.at.buf, cell)
	g.mem.SetWord(target, b.at.buf, cell, b.value)
	return old, b.value
}

// changed counts the cells that are not right yet and wakes who waits behind the last.
func (c *column) changed(old, now int32) {
	if was, is := c.right(old), c.right(now); is && !was {
		c.missing--
	} else if was && !is {
		c.missing++
	}
	if c.missing == 0 {
		who := c.who
		c.who = nil
		who.Signalled(c.visible)
	}
}

// serve queues an atomic for its sector and returns when it has changed the cell.
// Where polls occupy the sector, one of the core that polls the column is in front.
func (g *Signals) serve(r *signalRank, cell int, writer uint32, polled bool) engine.Time {
	s := &r.sectors[g.sector(cell)]
	cost := g.spec.Signal.Shared
	if s.writer == writer {
		cost = g.spec.Signal.Single
	}
	if polled && g.spec.Signal.PollHits == "yes" {
		cost += g.spec.Signal.Shared
	}
	s.writer = writer
	s.free = max(s.free, g.eng.Now()).Add(cost)
	return s.free
}

func (g *Signals) sector(cell int) int { return int(int64(cell) * 4 / int64(g.spec.Signal.Sector)) }

func (g *Signals) dropped(src, dst int) bool {
	for i := range g.drop {
		if d := &g.drop[i]; d.Src == src && d.Dst == dst {
			if d.Nth--; d.Nth == -1 {
				return true
			}
		}
	}
	return false
}

// wait makes somebody wait at a rank. If the cells are right already, it returns true
// and the time from which that can be seen.
func (g *Signals) wait(rank int, w waiter) (bool, engine.Time) {
	r, c := g.at(w.at.buf, rank), g.column(rank, &w.at)
	missing := g.missing(rank, &w)
	switch {
	case missing == 0 && c != nil:
		return true, c.visible
	case missing == 0:
		return true, r.sectors[g.sector(int(w.at.base))].free
	case c == nil || c.who != nil:
		r.waiters = append(r.waiters, w)
	default:
		c.waiter, c.missing = w, missing
	}
	return false, 0
}

// missing counts the cells that are not right for a waiter.
func (g *Signals) missing(rank int, w *waiter) (n int32) {
	g.wrong(rank, w, func(int, int32) bool { n++; return true })
	return n
}

// wrong calls yield for the cells that a waiter still lacks, by source, until it
// returns false.
func (g *Signals) wrong(rank int, w *waiter, yield func(source int, value int32) bool) {
	words := g.mem.Words(rank, w.at.buf)
	if w.at.step == 0 || w.row >= 0 {
		if v := words[w.at.of(int(max(w.row, 0)))]; !w.right(v) {
			yield(int(w.row), v)
		}
		return
	}
	for s := range g.ranks {
		if s == rank {
			continue
		}
		if v := words[w.at.of(s)]; !w.right(v) && !yield(s, v) {
			return
		}
	}
}

// Await makes w wait until a cell of a rank is at least want, without a core; w is told
// at once when it is already.
func (g *Signals) Await(rank int, buf memory.ID, cell int, want int32, w Waker) {
	if ok, visible := g.wait(rank, waiter{who: w, at: cells{buf: buf, base: int32(cell)}, want: want}); ok {
		w.Signalled(max(visible, g.eng.Now()))
	}
}
