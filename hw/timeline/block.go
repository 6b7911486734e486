package timeline

import (
	"fmt"

	"pldperf/engine"
)

// rank is what a Recorder knows of a rank: its AIVs, which tasks take one after another,
// and its calls, which may run side by side.
type rank struct {
	units []*unit
	calls []callLane
}

type callLane struct {
	lane
	end engine.Time
}

// unit is an AIV. A task takes those with the lowest numbers that are free, so that with one
// task at a time AIV b executes block b.
type unit struct {
	rank, number int
	block        *Block // that it executes
	taken        bool
	lanes        [Stages - Scalar + 1]lane
}

var unitNames = [...]string{"SCALAR", "SIMT", "VECTOR", "MTE2", "MTE3", "stage ring"}

// Block is what is seen of one block while an AIV executes it.
type Block struct {
	rec   *Recorder
	unit  *unit
	since engine.Time // from which reason holds
	span  Span        // of the present reason, without its time
	phase string      // that is open
	state uint8       // what is open: nothing, the call, or a phase of it
	held  engine.Time // up to when it is known whom it waited for
}

func (r *Recorder) rank(n int) *rank {
	for n >= len(r.ranks) {
		r.ranks = append(r.ranks, nil)
	}
	if r.ranks[n] == nil {
		r.ranks[n] = new(rank)
	}
	return r.ranks[n]
}

// take finds an AIV of a rank.
func (r *Recorder) take(n int) *unit {
	k := r.rank(n)
	for _, u := range k.units {
		if !u.taken {
			return u
		}
	}
	u := &unit{rank: n, number: len(k.units)}
	k.units = append(k.units, u)
	return u
}

// Launch begins to show a block of a call: from now on it waits for its launch.
func (r *Recorder) Launch(rank, block int, c *Call, now engine.Time, reason string) *Block {
	if r == nil {
		return nil
	}
	u := r.take(rank)
	b := &Block{rec: r, unit: u, since: now, span: Span{Name: reason, Peer: -1, Seq: -1, Spent: Spent{Call: c, Block: block, PC: -1, Holder: NoHolder}}}
	u.block, u.taken = b, true
	return b
}

// track returns that of a kind.
func (b *Block) track(k Kind) Track {
	u := b.unit
	l := &u.lanes[k-Scalar]
	if l.asked {
		return l.track
	}
	p := Place{Kind: k, Rank: u.rank, Index: u.number, Group: fmt.Sprintf("AIV %d", u.number), Name: unitNames[k-Scalar]}
	if k == Stages {
		p.Unit = "stages"
	}
	return b.rec.open(l, &p)
}

// Turn charges the time up to t to what the block has spent it on, and begins the next.
// Nothing that takes no time is shown, and what goes on is one span.
func (b *Block) Turn(t engine.Time, reason, op, phase string, pc, peer int) {
	s := &b.span
	if s.PC == pc && s.Peer == peer && s.Name == reason {
		return
	}
	b.charge(t)
	s.Name, s.Op, s.Phase, s.PC, s.Peer, s.Holder = reason, op, phase, pc, peer, NoHolder
}

// Held says which rank the block has waited for up to t, since the last turn or since it was last said: a wait knows it
// when it is over.
func (b *Block) Held(t engine.Time, rank int) {
	if b == nil {
		return
	}
	if s := &b.span; s.Holder != rank {
		if s.Holder != NoHolder {
			b.charge(b.held)
		}
		s.Holder = rank
	}
	b.held = t
}

// charge shows the time up to t.
func (b *Block) charge(t engine.Time) {
	if t <= b.since {
		return
	}
	if k := b.track(Scalar); k != 0 {
		b.enter(k)
		b.span.Begin, b.span.End = b.since, t
		b.rec.put(k, &b.span)
	}
	b.since = t
}

// enter opens the call and the phase that the next span is in.
func (b *Block) enter(k Track) {
	if b.state > 0 && b.phase == b.span.Phase {
		return
	}
	s := b.rec.sink
	if b.state == 0 {
		s.Begin(k, b.since, fmt.Sprintf("%s, block %d", b.span.Call.Name, b.span.Block))
		b.state = 1
	}
	b.leave(k)
	if b.phase = b.span.Phase; b.phase != "" {
		s.Begin(k, b.since, b.phase)
		b.state = 2
	}
}

// leave closes the phase that is open.
func (b *Block) leave(k Track) {
	if b.state == 2 {
		b.rec.sink.End(k, b.since)
		b.state = 1
	}
}

// Carve says that from from to to, which is over and is part of the present time, the block
// was blocked on something else than the rest of it.
func (b *Block) Carve(from, to engine.Time, reason string) {
	if b == nil {
		return
	}
	b.charge(from)
	was, holder := b.span.Name, b.span.Holder
	b.span.Name, b.span.Holder = reason, NoHolder
	b.charge(to)
	b.span.Name, b.span.Holder = was, holder
}

// Done ends the block; unless its AIV still stores for it, the next one may have that.
func (b *Block) Done(t engine.Time, free bool) {
	if b == nil || b.unit.block != b {
		return
	}
	b.charge(t)
	if k := b.unit.lanes[0].track; k != 0 && b.state > 0 {
		b.leave(k)
		b.rec.sink.End(k, b.since)
	}
	b.unit.block, b.unit.taken = nil, !free
}

// Work shows that a unit of the AIV other than the scalar one is at work. A span of a lane
// begins where the one before has ended.
func (b *Block) Work(k Kind, begin, end engine.Time, name string, bytes int64, peer int) {
	if b == nil {
		return
	}
	if t := b.track(k); t != 0 {
		s := &b.rec.span
		*s = Span{Begin: begin, End: end, Name: name, Bytes: bytes, Peer: peer, Seq: -1}
		b.rec.put(t, s)
	}
}

// Remote is Work with the peer that the block's op has to do with.
func (b *Block) Remote(k Kind, begin, end engine.Time, name string, bytes int64) {
	if b != nil {
		b.Work(k, begin, end, name, bytes, b.span.Peer)
	}
}

// Stages shows how many stages of the ring hold a piece.
func (b *Block) Stages(now engine.Time, n int64) {
	if b == nil {
		return
	}
	if t := b.track(Stages); t != 0 {
		b.rec.sink.Count(t, now, n)
	}
}

// Instant marks the block's track.
func (b *Block) Instant(now engine.Time, name string) {
	if b == nil {
		return
	}
	if t := b.track(Scalar); t != 0 {
		b.rec.sink.Instant(t, now, name)
	}
}

// Called shows a task of a rank that is over.
func (r *Recorder) Called(rank int, c *Call, begin, end engine.Time) {
	if r == nil || end <= begin {
		return
	}
	k := r.rank(rank)
	i := 0
	for i < len(k.calls) && k.calls[i].end > begin {
		i++
	}
	if i == len(k.calls) {
		k.calls = append(k.calls, callLane{})
	}
	l := &k.calls[i]
	if l.end = end; !l.asked {
		r.open(&l.lane, &Place{Kind: Calls, Rank: rank, Lane: i, Name: "calls"})
	}
	r.put(l.track, &Span{Begin: begin, End: end, Name: c.Name, Peer: -1, Seq: -1})
}
