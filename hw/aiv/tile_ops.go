package aiv

import (
	"pldperf/engine"
	"pldperf/hw/arith"
	"pldperf/hw/cause"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

// execLoad loads a tile from the own memory. No bytes are no tile and take no time.
func (c *Core) execLoad(op *program.Op) bool {
	n := op.Bytes.At(&c.here)
	if c.step > 0 || n <= 0 {
		return true
	}
	a := memory.Addr{Rank: c.Task.Rank, Buf: c.buf(op.Src), Off: op.SrcOff.At(&c.here)}
	if !c.inside(memory.Flat(a, n)) {
		return false
	}
	c.step = 1
	c.turn(result.MTE2)
	d := &c.tiles[op.Tile]
	d.Reset()
	c.env.Mem.Capture(d, a, n)
	c.env.Eng.At(c.pipes.Load(c.env.Eng.Now(), a, n, c.Task.ID), c, evResume)
	return false
}

// execRemoteLoad loads a tile from a peer's memory.
func (c *Core) execRemoteLoad(op *program.Op) bool {
	peer, n := int(op.Peer.At(&c.here)), op.Bytes.At(&c.here)
	if peer == c.Task.Rank {
		return c.execLoad(op)
	}
	if c.step > 0 || n <= 0 {
		return true
	}
	at := memory.Flat(memory.Addr{Rank: peer, Buf: c.buf(op.Src), Off: op.SrcOff.At(&c.here)}, n)
	if !c.inside(at) {
		return false
	}
	c.step = 1
	c.count(result.RemoteLoads, 1)
	c.count(result.BytesReceived, n)
	c.env.Report.Served(c.Task.Tag, peer, n)
	c.env.Tiled += n
	c.turn(result.RemoteWait)
	c.fetch(&c.tiles[op.Tile], at, evResume)
	return false
}

// execStore stores a tile in the own memory.
func (c *Core) execStore(op *program.Op) bool {
	n := op.Bytes.At(&c.here)
	if n <= 0 {
		return true
	}
	a := memory.Flat(memory.Addr{Rank: c.Task.Rank, Buf: c.buf(op.Dst), Off: op.DstOff.At(&c.here)}, n)
	if c.step == 0 {
		if !c.inside(a) {
			return false
		}
		c.step = 1
		c.turn(result.MTE3)
		c.env.Eng.At(c.pipes.Store(c.env.Eng.Now(), a.Addr, n, c.Task.ID), c, evResume)
		return false
	}
	d := &c.tiles[op.Tile]
	d.Trim(n)
	c.land(&a, d, op)
	c.env.Copied += n
	return true
}

// flight is a remote store on its way. The block goes on as soon as the bytes have
// left its Unified Buffer; a fence waits for what is in flight.
type flight struct {
	data memory.Data
	at   memory.Area
	op   *program.Op
	end  engine.Time
	used bool
}

// execRemoteStore stores a tile at a peer.
func (c *Core) execRemoteStore(op *program.Op) bool {
	peer, n := int(op.Peer.At(&c.here)), op.Bytes.At(&c.here)
	if peer == c.Task.Rank {
		return c.execStore(op)
	}
	if c.step > 0 || n <= 0 {
		return true
	}
	at := memory.Flat(memory.Addr{Rank: peer, Buf: c.buf(op.Dst), Off: op.DstOff.At(&c.here)}, n)
	if !c.inside(at) {
		return false
	}
	c.step = 1
	c.count(result.RemoteStores, 1)
	c.count(result.BytesSent, n)
	c.turn(result.MTE3)
	i := c.slot()
	f := c.flights[i]
	c.tiles[op.Tile].Trim(n)
	f.data.Set(&c.tiles[op.Tile])
	f.op = op
	f.at = at
	begin, left := c.push(peer, n, evFlight|uint64(i)<<evBits)
	f.end = left.Add(c.env.Net.Latency(c.Task.Rank, peer))
	c.flying++
	c.env.Eng.Through(begin, cause.RemoteQ.Why(c.Task.Rank, peer))
	c.env.Eng.Because(cause.Remote.Why(c.Task.Rank, peer))
	c.env.Eng.At(max(left, c.env.Eng.Now().Add(c.env.Spec.Remote.Store.Scale(c.Task.Slow))), c, evResume)
	return false
}

// slot returns the number of a flight that is not used.
func (c *Core) slot() int {
	for i, f := range c.flights {
		if !f.used {
			f.used = true
			return i
		}
	}
	c.flights = append(c.flights, &flight{used: true})
	return len(c.flights) - 1
}

// flown: the last byte of a remote store is at the peer, or all that is left is that
// the own rank learns of it.
func (c *Core) flown(i int) {
	f, now := c.flights[i], c.env.Eng.Now()
	switch {
	case f.op == nil: // it has learnt
		c.last = f.at.Rank
		f.used = false
		if c.flying--; c.flying == 0 && c.fenced {
			c.fenced = false
			c.run()
		}
	case now < f.end:
		c.env.Eng.Because(cause.Remote.Why(c.Task.Rank, f.at.Rank))
		c.env.Eng.At(f.end, c, evFlight|uint64(i)<<evBits)
	default:
		c.land(&f.at, &f.data, f.op)
		f.op = nil
		c.env.Eng.At(c.receive(&f.at), c, evFlight|uint64(i)<<evBits)
	}
}

// drainedStores waits until no remote store is in flight; true when none is.
func (c *Core) drainedStores() bool {
	if c.flying == 0 {
		return true
	}
	c.fenced = true
	c.turn(result.RemoteWait)
	return false
}

// execCombine combines two tiles in the vector unit.
func (c *Core) execCombine(op *program.Op) bool {
	n := op.Bytes.At(&c.here)
	if n <= 0 {
		return true
	}
	if c.step == 0 {
		c.step = 1
		d := c.env.Spec.Vector.Time(op.Reduce, n, c.env.Spec.Clock)
		c.work(timeline.Vector, op.Kind.String(), d.Scale(c.Task.Slow))
		return c.spend(result.Vector, d) && c.combine(op, n)
	}
	return c.combine(op, n)
}

func (c *Core) combine(op *program.Op, n int64) bool {
	c.count(result.Combined, n)
	dst, src := &c.tiles[op.Tile], &c.tiles[op.Other]
	arith.Combine(dst.Raw[:n], src.Raw[:n], op.Reduce, op.DType)
	return true
}
