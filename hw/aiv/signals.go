package aiv

import (
	"slices"

	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
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
}

// Drop is a notify that a fault loses: the Nth from Src to Dst, counted from 0.
type Drop struct{ Src, Dst, Nth int }

type signalBuf struct {
	stride int
	ranks  []signalRank
}

type signalRank struct {
	cols    []column
	sectors []sector
}

// column is one signal column of a rank: the cells of all sources.
type column struct {
	core    *Core // who waits
	want    int32
	missing int32       // cells below want
	row     int32       // the only cell waited for, or -1
	visible engine.Time // when the last change so far can be seen
}

// sector is the granule in which the L2 serialises atomics.
type sector struct {
	free   engine.Time
	writer uint32 // AIV that wrote last
}

// batch is a chain of notifies to ranks next, next+1 ... or to the own cells of them.
type batch struct {
	buf     memory.ID
	src     int32 // rank that issues
	self    bool  // to the own cells [k, col], else to cell [src, col] of rank k
	next    int32
	col     int32
	stride  int32
	value   int32
	set     bool
	writer  uint32          // AIV that issues
	start   engine.Time     // arrival of the first notify
	gap     engine.Duration // between two of them
	latency engine.Duration // not self: only peers this far away
	served  engine.Time     // when the last one so far can be seen
	done    *Core           // woken when all can be seen, if not nil
}

// NewSignals returns a service without signals.
func NewSignals(eng *engine.Engine, mem *memory.Space, net fabric.Fabric, spec *Spec, ranks int, drop []Drop) *Signals {
	return &Signals{eng: eng, mem: mem, net: net, spec: spec, ranks: ranks, drop: drop}
}

// Probe makes f see every change of a cell.
func (g *Signals) Probe(f func(rank int, buf memory.ID, cell int, value int32)) { g.probe = f }

func (g *Signals) at(buf memory.ID, rank int, stride int) *signalRank {
	for int(buf) >= len(g.bufs) {
		g.bufs = append(g.bufs, nil)
	}
	b := g.bufs[buf]
	if b == nil {
		b = &signalBuf{stride: stride, ranks: make([]signalRank, g.ranks)}
		g.bufs[buf] = b
	}
	r := &b.ranks[rank]
	if r.cols == nil {
		r.cols = make([]column, stride)
		cells := engine.Bytes(g.ranks * stride * 4)
		r.sectors = make([]sector, (cells+g.spec.Signal.Sector-1)/g.spec.Signal.Sector)
	}
	return r
}

// send starts a chain; one for each distance, because the arrivals of a chain must be
// in order.
func (g *Signals) send(b batch) {
	if b.self {
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
			c.start = b.start.Add(lat)
			g.start(c)
		}
	}
}

func (g *Signals) start(b batch) {
	if b.next == b.src {
		b.next++
	}
	if int(b.next) >= g.ranks { // there are no peers
		if b.done != nil {
			g.eng.At(g.eng.Now(), b.done, evResume)
		}
		return
	}
	i := g.keep(b)
	g.eng.At(b.arrival(), g, uint64(i))
}

// arrival returns when the notify that is next reaches its target: ranks are served
// in ascending order, and the own one takes no turn.
func (b *batch) arrival() engine.Time {
	turn := int64(b.next)
	if b.next > b.src {
		turn--
	}
	return b.start.Add(engine.Duration(turn) * b.gap)
}

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
		g.eng.At(b.arrival(), g, arg)
		return
	}
	if b.done != nil {
		g.eng.At(max(b.served, g.eng.Now()), b.done, evResume)
	}
	g.unused = append(g.unused, uint32(arg))
}

// step moves a chain to its next target; false at its end.
func (g *Signals) step(b *batch) bool {
	for b.next++; int(b.next) < g.ranks; b.next++ {
		if b.next != b.src && (b.self || g.net.Latency(int(b.src), int(b.next)) == b.latency) {
			return true
		}
	}
	return false
}

// land changes one cell and wakes who waited for that.
func (g *Signals) land(b *batch, target, row int) {
	if !b.self && g.dropped(int(b.src), target) {
		return
	}
	r := g.at(b.buf, target, int(b.stride))
	c := &r.cols[b.col]
	cell := row*int(b.stride) + int(b.col)
	b.served = g.serve(r, cell, b.writer, c.core != nil)
	c.visible = max(c.visible, b.served)
	old, now := g.change(b, target, cell)
	if g.probe != nil {
		g.probe(target, b.buf, cell, now)
	}
	if c.core != nil && row != target && (c.row < 0 || int(c.row) == row) {
		c.changed(old, now)
	}
}

// change applies a notify to its cell and returns the values before and after.
func (g *Signals) change(b *batch, target, cell int) (old, now int32) {
	if !b.set {
		now = g.mem.AddWord(target, b.buf, cell, b.value)
		return now - b.value, now
	}
	old = g.mem.Word(target, b.buf, cell)
	g.mem.SetWord(target, b.buf, cell, b.value)
	return old, b.value
}

// changed counts the cells that are still too low and wakes the core behind the last.
func (c *column) changed(old, now int32) {
	if old < c.want && now >= c.want {
		c.missing--
	} else if old >= c.want && now < c.want {
		c.missing++
	}
	if c.missing == 0 {
		core := c.core
		c.core = nil
		core.signalled(c.visible)
	}
}

// serve queues an atomic for its sector and returns when it has changed the cell.
// Where polls occupy the sector, one of the core that polls the column is in front.
func (g *Signals) serve(r *signalRank, cell int, writer uint32, polled bool) engine.Time {
	s := &r.sectors[int64(cell)*4/int64(g.spec.Signal.Sector)]
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

// wait makes core wait until its column's cells (or only that of row) are at least
// want. If they are already, it returns true and the time from which that can be seen.
func (g *Signals) wait(core *Core, buf memory.ID, col, stride, row int, want int32) (bool, engine.Time) {
	rank := core.Task.Rank
	c := &g.at(buf, rank, stride).cols[col]
	missing := int32(0)
	for s := range g.ranks {
		if s != rank && (row < 0 || row == s) && g.mem.Word(rank, buf, s*stride+col) < want {
			missing++
		}
	}
	if missing == 0 {
		return true, c.visible
	}
	if c.core != nil {
		panic("aiv: two blocks wait on one signal column")
	}
	*c = column{core: core, want: want, missing: missing, row: int32(row), visible: c.visible}
	return false, 0
}

// short returns the first cell of a waiting column that is too low.
func (g *Signals) short(rank int, buf memory.ID, col int) (row int, value, want int32) {
	b := g.bufs[buf]
	c := &b.ranks[rank].cols[col]
	for s := range g.ranks {
		if s == rank || c.row >= 0 && int(c.row) != s {
			continue
		}
		if v := g.mem.Word(rank, buf, s*b.stride+col); v < c.want {
			return s, v, c.want
		}
	}
	return -1, 0, c.want
}
