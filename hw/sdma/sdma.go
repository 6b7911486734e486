package sdma

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
	"pldperf/hw/timeline"
)

// A Move is what one SQE asks for: N bytes from Local, in the own rank's memory, to
// Remote, in the peer's, or with Get the other way.
type Move struct {
	Local, Remote memory.Addr
	N             int64
	Get           bool
}

// DMA is the system DMA of one rank.
type DMA struct {
	eng      *engine.Engine
	spec     Spec
	mem      *memory.Space
	net      fabric.Fabric
	rank     int
	channels []channel // made at first use
	works    []*work
	unused   []*work
	bytes    int64
	line     *timeline.Recorder // nil: nobody watches
}

type channel struct {
	srv         engine.Server
	outstanding int
	there, back []fabric.Flow // by peer, opened at first use
	line        *timeline.Server
}

// work is one SQE from its doorbell to its completion.
type work struct {
	move Move
	ch   *channel
	id   uint32
	data memory.Data
	end  engine.Time // before which the last byte cannot be there
	h    engine.Handler
	arg  uint64 // h is woken with it at the completion; only the last SQE of a doorbell has one
}

// why names the way between the own rank and the peer as what time is spent on.
func (w *work) why(d *DMA, k cause.Kind) engine.Why { return k.Why(d.rank, w.move.Remote.Rank) }

// New makes the system DMA of a rank.
func New(eng *engine.Engine, spec Spec, mem *memory.Space, net fabric.Fabric, rank int) *DMA {
	return &DMA{eng: eng, spec: spec.normal(), mem: mem, net: net, rank: rank}
}

// Show makes the channels appear in a timeline; call it before the first Submit.
func (d *DMA) Show(line *timeline.Recorder) { d.line = line }

func (d *DMA) show() {
	for i := range d.channels {
		d.channels[i].line = d.line.Server(timeline.Place{Kind: timeline.SDMA, Rank: d.rank, Index: i, Group: "SDMA", Name: fmt.Sprintf("channel %d", i)}, false)
	}
}

// name is what the timeline calls a move.
func (m *Move) name() string {
	if m.Get {
		return "get"
	}
	return "put"
}

// FullError is a doorbell for more SQEs than a ring has room for.
type FullError struct{ Rank, Channel, SQEs, Depth int }

func (e *FullError) Error() string {
	return fmt.Sprintf("SDMA channel %d of rank %d would hold %d SQEs, but its depth is %d", e.Channel, e.Rank, e.SQEs, e.Depth)
}

// Submit rings the doorbell of a channel for moves that have been written into its ring.
// h is woken with arg when the completion record of the last can be seen. Moves name
// places in memory; they panic if they are outside of it. The error is a *FullError.
func (d *DMA) Submit(ch int, moves []Move, h engine.Handler, arg uint64) error {
	if d.channels == nil {
		d.channels = make([]channel, d.spec.Channels)
		d.show()
	}
	c := &d.channels[ch]
	if n := c.outstanding + len(moves); n > d.spec.Depth {
		return &FullError{d.rank, ch, n, d.spec.Depth}
	}
	c.outstanding += len(moves)
	for i := range moves {
		w := d.take()
		w.move, w.ch, w.h = moves[i], c, nil
		if i == len(moves)-1 {
			w.h, w.arg = h, arg
		}
		ready := d.eng.Now().Add(d.startUp(moves[i].Remote.Rank))
		begin, end, _ := c.srv.Reserve(ready, d.span(moves[i].N), uint32(d.rank))
		c.line.Carry(begin, end, moves[i].N, moves[i].name(), moves[i].Remote.Rank)
		d.eng.Through(ready, w.why(d, cause.SDMA))
		d.eng.Because(w.why(d, cause.SDMAQ))
		d.schedule(begin, evBegin, w)
	}
	return nil
}

// span is how long a channel is busy with n bytes.
func (d *DMA) span(n int64) engine.Duration {
	return d.spec.Rate.Span(max(engine.Bytes(n), d.spec.Least))
}

// startUp is what of the fixed time belongs to nobody else.
func (d *DMA) startUp(peer int) engine.Duration {
	way := d.net.Latency(d.rank, peer) + d.net.Latency(peer, d.rank)
	return max(d.spec.Fixed-d.spec.Issue-d.spec.Poll-way, 0)
}

// Busy returns how long the channels have been busy, together, and what they have moved.
func (d *DMA) Busy() (t engine.Duration, moved engine.Bytes) {
	for i := range d.channels {
		t += d.channels[i].srv.Busy()
	}
	return t, engine.Bytes(d.bytes)
}

// Events of a DMA: the kind in the low bits, then the number of a work.
const (
	evBegin  = iota // the channel has come to it
	evServe         // its request is at the peer (Get)
	evLanded        // its last byte is there
	evDone          // its completion record can be seen

	evBits = 2
)

func (d *DMA) schedule(t engine.Time, ev uint64, w *work) {
	d.eng.At(t, d, uint64(w.id)<<evBits|ev)
}

// Handle implements engine.Handler.
func (d *DMA) Handle(arg uint64) {
	w := d.works[arg>>evBits]
	switch arg % (1 << evBits) {
	case evBegin:
		if w.move.Get {
			d.eng.Because(w.why(d, cause.SDMA))
			d.schedule(d.eng.Now().Add(d.net.Latency(d.rank, w.move.Remote.Rank)), evServe, w)
		} else {
			d.send(w, w.move.Local, w.move.Remote)
		}
	case evServe:
		d.send(w, w.move.Remote, w.move.Local)
	case evLanded:
		d.land(w)
	case evDone:
		d.done(w)
	}
	d.eng.Progress()
}

// send samples the source and gives what it holds to the fabric.
func (d *DMA) send(w *work, src, dst memory.Addr) {
	now, n := d.eng.Now(), w.move.N
	w.data.Reset()
	d.mem.Capture(&w.data, src, n)
	read := d.mem.Read(src, n, owner).End
	w.end = max(now.Add(d.span(n)), read).Add(d.net.Latency(src.Rank, dst.Rank))
	d.net.Send(fabric.Message{
		Src: src.Rank, Dst: dst.Rank, Bytes: engine.Bytes(n), Flow: d.flow(w.ch, src.Rank, dst.Rank),
		Landed: d, LandedArg: uint64(w.id)<<evBits | evLanded,
	})
}

// owner is who the memory accesses of a DMA are accounted to.
const owner = 1<<31 | 1

func (d *DMA) flow(c *channel, src, dst int) fabric.Flow {
	flows, peer := &c.there, dst
	if dst == d.rank {
		flows, peer = &c.back, src
	}
	if *flows == nil {
		*flows = make([]fabric.Flow, d.mem.Ranks())
	}
	f := &(*flows)[peer]
	if *f == 0 {
		*f = d.net.Open(src, dst)
	}
	return *f
}

// land stores what the fabric has brought, not before the channel has moved it.
func (d *DMA) land(w *work) {
	if d.eng.Now() < w.end {
		d.eng.Because(w.why(d, cause.SDMARate))
		d.schedule(w.end, evLanded, w)
		return
	}
	at := w.move.Remote
	if w.move.Get {
		at = w.move.Local
	}
	d.mem.Land(at, &w.data)
	end := max(d.eng.Now(), d.mem.Write(at, w.move.N, owner).End.Add(-d.span(w.move.N))) // it was stored while it came
	d.eng.Through(end, cause.HBM.Why(at.Rank, 0))
	d.eng.Because(w.why(d, cause.Ack))
	if !w.move.Get {
		end = end.Add(d.net.Latency(at.Rank, d.rank))
	}
	d.bytes += w.move.N
	d.schedule(end, evDone, w)
}

func (d *DMA) done(w *work) {
	w.ch.outstanding--
	if w.h != nil {
		d.eng.At(d.eng.Now(), w.h, w.arg)
	}
	w.ch, w.h = nil, nil
	d.unused = append(d.unused, w)
}

func (d *DMA) take() *work {
	if n := len(d.unused); n > 0 {
		w := d.unused[n-1]
		d.unused = d.unused[:n-1]
		return w
	}
	w := &work{id: uint32(len(d.works))}
	d.works = append(d.works, w)
	return w
}
