package aiv

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
	"pldperf/hw/timeline"
)

// Links are the remote MTE paths of a machine: what the AIVs move from one rank to
// another, pushed by the one or pulled by the other, shares one rate, whatever their
// number (hardware parameters, section 4). While a rank's data goes to several peers, all
// of it shares a second one.
type Links struct {
	eng   *engine.Engine
	net   fabric.Fabric
	spec  *RemoteSpec
	ranks int
	paths []*path            // [src*ranks+dst], made at first touch
	line  *timeline.Recorder // nil: nobody watches
	outs  []out              // by src
}

// out is what leaves a rank: the path that is busy longest, and of the others the one
// that is, so that a path can tell whether another is busy.
type out struct {
	together    engine.Server
	first, next until
}

type until struct {
	dst  int
	free engine.Time
}

// beside reports whether a path other than that to dst is busy at t.
func (o *out) beside(dst int, t engine.Time) bool {
	if o.first.dst != dst {
		return o.first.free > t
	}
	return o.next.free > t
}

// note says that the path to dst is busy until free, which is no earlier than before.
func (o *out) note(dst int, free engine.Time) {
	switch now := (until{dst, free}); {
	case dst == o.first.dst:
		o.first = now
	case free >= o.first.free:
		o.first, o.next = now, o.first
	case dst == o.next.dst || free >= o.next.free:
		o.next = now
	}
}

type path struct {
	srv  engine.Server
	flow fabric.Flow
	line *timeline.Server
}

// NewLinks returns the remote MTE paths between ranks.
func NewLinks(eng *engine.Engine, net fabric.Fabric, spec *RemoteSpec, ranks int) *Links {
	return &Links{eng: eng, net: net, spec: spec, ranks: ranks, paths: make([]*path, ranks*ranks), outs: make([]out, ranks)}
}

func (l *Links) at(src, dst int) *path {
	p := &l.paths[src*l.ranks+dst]
	if *p == nil {
		*p = &path{flow: l.net.Open(src, dst), line: l.show(src, dst)}
	}
	return *p
}

// Show makes the paths appear in a timeline; call it before the first send.
func (l *Links) Show(line *timeline.Recorder) { l.line = line }

func (l *Links) show(src, dst int) *timeline.Server {
	if l.line == nil {
		return nil
	}
	return l.line.Server(timeline.Place{Kind: timeline.Remote, Rank: src, Index: dst, Group: "remote MTE", Name: fmt.Sprintf("to rank %d", dst)}, false)
}

// send gives n bytes to the path from src to dst now and returns when the last has
// left, and when the path has come to it; event arg tells h when it is there.
func (l *Links) send(src, dst int, n int64, owner uint32, h engine.Handler, arg uint64) (begin, left engine.Time) {
	p, o, now := l.at(src, dst), &l.outs[src], l.eng.Now()
	begin, left, _ = p.srv.Reserve(now, l.spec.Rate.Span(engine.Bytes(n)), owner)
	if o.beside(dst, now) {
		_, all, _ := o.together.Reserve(now, l.spec.Together.Span(engine.Bytes(n)), owner)
		left = max(left, all)
	}
	o.note(dst, left)
	p.line.Carry(begin, left, n, "busy", dst)
	l.net.Send(fabric.Message{Src: src, Dst: dst, Bytes: engine.Bytes(n), Flow: p.flow, Landed: h, LandedArg: arg})
	return begin, left
}

// push stores n bytes at a peer by MTE3 and returns when the first and the last of them
// have left the Unified Buffer.
func (c *Core) push(peer int, n int64, arg uint64) (begin, left engine.Time) {
	begin, left = c.env.Links.send(c.Task.Rank, peer, n, c.Task.ID, c, arg)
	c.pipes.StoreRemote(c.env.Eng.Now(), n, left)
	return begin, left
}

// request is a remote load of a core:
//
//	|-- hop --|---- read at the peer, its path, the fabric ----|
//	       evRead                                        then, at last
type request struct {
	data *memory.Data
	at   memory.Area
	end  engine.Time // before which the load cannot be over
	then uint64      // event when the data is here
}

// fetch loads an area of a peer into d: the request takes the endpoint part of a remote
// access, then the peer's memory is read and sampled, and its bytes come back. A core has
// one remote load at a time.
func (c *Core) fetch(d *memory.Data, a memory.Area, then uint64) {
	c.remote = request{data: d, at: a, then: then}
	c.env.Eng.Because(c.why(cause.Hop))
	c.env.Eng.After(c.env.Spec.Remote.Hop, c, evRead)
}

// read: the request is at the peer.
func (c *Core) read() {
	q, now := &c.remote, c.env.Eng.Now()
	q.data.Reset()
	c.env.Mem.CaptureArea(q.data, &q.at)
	acc := c.env.Mem.ReadArea(&q.at, c.Task.ID)
	_, left := c.env.Links.send(q.at.Rank, c.Task.Rank, q.at.Bytes(), c.Task.ID, c, evArrived)
	q.end = max(left, acc.End).Add(c.env.Net.Latency(q.at.Rank, c.Task.Rank))
	c.pipes.LoadRemote(now, q.at.Bytes(), q.end)
}

// arrived: the fabric has brought the last byte.
func (c *Core) arrived() {
	q := &c.remote
	c.env.Eng.Because(cause.Remote.Why(q.at.Rank, c.Task.Rank))
	c.env.Eng.At(max(q.end, c.env.Eng.Now()), c, q.then)
}
