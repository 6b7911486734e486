package aiv

import (
	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
)

// Signals delivers notifies and wakes the waits on signal cells. A notify is one
// message: it arrives, queues for the 128-byte sector of its cell, and changes the
// cell. A NotifyPeers is a chain of arrivals with one pending event, and a
// WaitPeers is one waiter with a count of the cells that are still too low, so that
// a barrier of P ranks costs P events and two ops a block.
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
}

// Drop is a notify that a fault loses: the Nth from Src to Dst.
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
	writer int32 // who wrote last, plus one
}

// batch is a chain of notifies: Value to cell [row(k), col] for k = next ... last.
type batch struct {
	buf     memory.ID
	src     int32 // rank that issues
	self    bool  // to the own cells [k, col], else to cell [src, col] of rank k
	next    int32
	single  bool // only next
	col     int32
	stride  int32
	value   int32
	set     bool
	writer  int32
	start   engine.Time // arrival of a notify to rank 0
	step    engine.Duration
	latency engine.Duration // only peers this far away
	done    *Core           // woken at the last arrival, when not nil
}

// NewSignals returns a service without signals.
func NewSignals(eng *engine.Engine, mem *memory.Space, net fabric.Fabric, spec *Spec, ranks int, drop []Drop) *Signals {
	return &Signals{eng: eng, mem: mem, net: net, spec: spec, ranks: ranks, drop: drop}
}

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

// send starts a chain; one for each distance, because arrivals must be in order.
func (g *Signals) send(b batch) {
	if b.self || b.single {
		b.latency = -1
		g.start(b)
		return
	}
	var done [4]engine.Duration
	seen := done[:0]
peers:
	for p := range g.ranks {
		if p == int(b.src) {
			continue
		}
		lat := g.net.Latency(int(b.src), p)
		for _, l := range seen {
			if l == lat {
				continue peers
			}
		}
		seen = append(seen, lat)
		c := b
		c.latency, c.next = lat, int32(p)
		c.start = b.start.Add(lat)
		g.start(c)
	}
}

func (g *Signals) start(b batch) {
	if !b.single && b.self && b.next == b.src {
		b.next++
	}
	if int(b.next) >= g.ranks {
		if b.done != nil {
			g.eng.At(g.eng.Now(), b.done, evResume)
		}
		return
	}
	i := g.keep(b)
	g.eng.At(g.arrival(&g.batches[i]), g, uint64(i))
}

// arrival returns when the notify that is next reaches its target: peers are
// served in ascending order, the own rank taking no turn.
func (g *Signals) arrival(b *batch) engine.Time {
	if b.single {
		return b.start
	}
	turn := int64(b.next)
	if b.next > b.src {
		turn--
	}
	return b.start.Add(engine.Duration(turn) * b.step)
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
	b := &g.batches[arg]
	target, row := int(b.next), int(b.src)
	if b.self {
		target, row = int(b.src), int(b.next)
	}
	g.land(b, target, row)
	if g.step(b) {
		g.eng.At(g.arrival(b), g, arg)
		return
	}
	if b.done != nil {
		end := g.bufs[b.buf].ranks[b.src].cols[b.col].visible
		g.eng.At(max(end, g.eng.Now()), b.done, evResume)
	}
	g.batches[arg] = batch{}
	g.unused = append(g.unused, uint32(arg))
}

// step moves a chain to its next target; false at its end.
func (g *Signals) step(b *batch) bool {
	if b.single {
		return false
	}
	for b.next++; int(b.next) < g.ranks; b.next++ {
		if b.next != b.src && (b.self || g.net.Latency(int(b.src), int(b.next)) == b.latency) {
			return true
		}
	}
	return false
}

// land changes one cell, when its sector gets to it, and wakes who waited for that.
func (g *Signals) land(b *batch, target, row int) {
	if !b.self && g.dropped(int(b.src), target) {
		return
	}
	r := g.at(b.buf, target, int(b.stride))
	cell := row*int(b.stride) + int(b.col)
	end := g.serve(r, cell, b.writer, r.cols[b.col].core != nil)
	old := g.mem.Word(target, b.buf, cell)
	now := b.value
	if !b.set {
		now += old
	}
	g.mem.SetWord(target, b.buf, cell, now)
	c := &r.cols[b.col]
	c.visible = max(c.visible, end)
	if c.core == nil || row == target || c.row >= 0 && int(c.row) != row {
		return
	}
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
func (g *Signals) serve(r *signalRank, cell int, writer int32, polled bool) engine.Time {
	s := &r.sectors[int64(cell)*4/int64(g.spec.Signal.Sector)]
	cost := g.spec.Signal.Shared
	if s.writer == writer+1 {
		cost = g.spec.Signal.Single
	}
	if polled && g.spec.Signal.PollHits == "yes" {
		cost += g.spec.Signal.Shared
	}
	s.writer = writer + 1
	s.free = max(s.free, g.eng.Now()).Add(cost)
	return s.free
}

func (g *Signals) dropped(src, dst int) bool {
	for i := range g.drop {
		d := &g.drop[i]
		if d.Src == src && d.Dst == dst {
			if d.Nth == 0 {
				d.Nth = -1
				return true
			}
			d.Nth--
		}
	}
	return false
}

// wait makes core wait until its column's cells (or only that of row) are at least
// want. If they are already, it returns true and the time from which that can be seen.
func (g *Signals) wait(core *Core, buf memory.ID, col, stride, row int, want int32) (bool, engine.Time) {
	r := g.at(buf, core.rank, stride)
	c := &r.cols[col]
	missing := int32(0)
	for s := range g.ranks {
		if s != core.rank && (row < 0 || row == s) && g.mem.Word(core.rank, buf, s*stride+col) < want {
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
