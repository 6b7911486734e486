package aiv

import (
	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Links are the remote MTE paths of a machine: what the AIVs of a rank push to one
// peer shares one rate, whatever their number (hardware parameters, section 4).
type Links struct {
	eng   *engine.Engine
	net   fabric.Fabric
	rate  engine.Rate
	ranks int
	paths []*path // [src*ranks+dst], made at first touch
}

type path struct {
	srv  engine.Server
	flow fabric.Flow
}

// NewLinks returns the remote MTE paths between ranks.
func NewLinks(eng *engine.Engine, net fabric.Fabric, rate engine.Rate, ranks int) *Links {
	return &Links{eng: eng, net: net, rate: rate, ranks: ranks, paths: make([]*path, ranks*ranks)}
}

func (l *Links) at(src, dst int) *path {
	p := &l.paths[src*l.ranks+dst]
	if *p == nil {
		*p = &path{flow: l.net.Open(src, dst)}
	}
	return *p
}

// transfer is the state of a Put or CopyTile: one stage after another.
type transfer struct {
	data     memory.Data
	src, dst memory.Addr
	left     int64       // bytes of later stages
	n        int64       // of this stage
	end      engine.Time // before which the store cannot be over
}

// execPut moves a tile to a peer through the Unified Buffer, stage by stage, and
// drains. A put to the own rank is a local copy.
func (c *Core) execPut(op *program.Op) bool {
	if c.step == 0 {
		peer := int(op.Peer.At(&c.here))
		c.count(result.Puts, 1)
		if peer == c.Task.Rank {
			c.count(result.BytesSelf, op.Bytes.At(&c.here))
		} else {
			c.count(result.BytesSent, op.Bytes.At(&c.here))
		}
		c.aim(op, peer)
	}
	if c.put.left > 0 {
		c.count(result.PutStages, 1)
	}
	return c.stage(op.Chunk)
}

// execCopy loads a tile of the own rank and stores it.
func (c *Core) execCopy(op *program.Op) bool {
	if c.step == 0 {
		c.env.Copied += op.Bytes.At(&c.here)
		c.aim(op, c.Task.Rank)
	}
	return c.stage(op.Chunk)
}

// aim sets up the transfer of an op to a rank.
func (c *Core) aim(op *program.Op, rank int) {
	c.step = 1
	c.put.dst = memory.Addr{Rank: rank, Buf: c.buf(op.Dst), Off: op.DstOff.At(&c.here)}
	c.put.src = memory.Addr{Rank: c.Task.Rank, Buf: c.buf(op.Src), Off: op.SrcOff.At(&c.here)}
	c.put.left = op.Bytes.At(&c.here)
}

// stage starts the next stage of a transfer, or reports that there is none.
func (c *Core) stage(chunk int64) bool {
	t, now := &c.put, c.env.Eng.Now()
	if t.left == 0 {
		return true
	}
	if chunk <= 0 || chunk > t.left {
		chunk = t.left
	}
	t.n = chunk
	t.left -= chunk
	c.turn(result.MTE2)
	t.data.Reset()
	c.env.Mem.Capture(&t.data, t.src, t.n)
	c.env.Eng.At(c.pipes.Load(now, t.src, t.n, c.Task.ID), c, evLoaded)
	return false
}

// loaded stores a stage whose load has ended.
func (c *Core) loaded() {
	t, now := &c.put, c.env.Eng.Now()
	if t.dst.Rank == c.Task.Rank {
		c.turn(result.MTE3)
		t.end = now
		c.env.Eng.At(c.pipes.Store(now, t.dst, t.n, c.Task.ID), c, evLanded)
		return
	}
	c.turn(result.RemoteWait)
	p := c.env.Links.at(c.Task.Rank, t.dst.Rank)
	_, end, _ := p.srv.Reserve(now, c.env.Links.rate.Span(engine.Bytes(t.n)), c.Task.ID)
	c.pipes.StoreRemote(now, t.n, end)
	t.end = end.Add(c.env.Net.Latency(c.Task.Rank, t.dst.Rank))
	c.env.Net.Send(fabric.Message{
		Src: c.Task.Rank, Dst: t.dst.Rank, Bytes: engine.Bytes(t.n), Flow: p.flow, Landed: c, LandedArg: evLanded,
	})
}

// landed ends a stage: the data is at its place and, for a peer, the drain knows.
func (c *Core) landed() {
	t, now := &c.put, c.env.Eng.Now()
	if now < t.end { // the fabric is faster than the remote MTE
		c.env.Eng.At(t.end, c, evLanded)
		return
	}
	c.env.Mem.Land(t.dst, &t.data)
	done := now
	if t.dst.Rank != c.Task.Rank {
		c.env.Report.Received(c.Task.Tag, t.dst.Rank, t.n)
		done = c.env.Mem.Write(t.dst, t.n, c.Task.ID).End.Add(c.env.Spec.Remote.Hop)
	}
	t.src.Off += t.n
	t.dst.Off += t.n
	c.env.Eng.At(done, c, evResume)
}
