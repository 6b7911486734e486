package aiv

import (
	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/sdma"
	"pldperf/hw/urma"
)

// carriage is the state of a put or a get that URMA or SDMA carries: requests of one
// range each, a range being a row of the rectangle or, where rows follow one another at
// both ends, all of it. What is longer than the mechanism's most takes several requests.
// Requests are submitted in batches, a doorbell and a completion each; the op is over
// when the last has completed.
//
//	build | doorbell | build | doorbell ... wait for the CQE, drain it ...
type carriage struct {
	op            *program.Op
	get           bool
	peer          int
	local, remote memory.Addr
	rect          program.Rect // SrcPitch at the own rank, DstPitch at the peer
	most          int64        // bytes of a request
	next, total   int64        // requests
	batch         int          // of the present doorbell
	pending       int          // completions that have not been seen
	polls         engine.Time  // when polling for the present one began
}

// carry sets up an op for a mechanism that moves at most so many bytes a request, and
// returns its bytes.
func (c *Core) carry(op *program.Op, most int64) int64 {
	n := op.Bytes.At(&c.here)
	src := memory.Addr{Buf: c.buf(op.Src), Off: op.SrcOff.At(&c.here)}
	dst := memory.Addr{Buf: c.buf(op.Dst), Off: op.DstOff.At(&c.here)}
	t := carriage{op: op, get: op.Kind == program.Get, peer: int(op.Peer.At(&c.here)), local: src, remote: dst, most: most}
	t.rect = program.Rect{Rows: 1, Width: n}
	if op.Rect != nil {
		t.rect = *op.Rect
		n = t.rect.Rows * t.rect.Width
	}
	if t.get {
		t.local, t.remote = dst, src
		t.rect.SrcPitch, t.rect.DstPitch = t.rect.DstPitch, t.rect.SrcPitch
	}
	t.local.Rank, t.remote.Rank = c.Task.Rank, t.peer
	if r := &t.rect; r.SrcPitch == r.Width && r.DstPitch == r.Width {
		r.Rows, r.Width = 1, n
	}
	if n > 0 {
		t.total = t.rect.Rows * t.parts()
	}
	c.carried = t
	return n
}

// parts is how many requests a range takes.
func (t *carriage) parts() int64 { return (t.rect.Width + t.most - 1) / t.most }

// request returns the places and the bytes of a request.
func (t *carriage) request(i int64) (local, remote memory.Addr, n int64) {
	row, off := i/t.parts(), i%t.parts()*t.most
	local, remote = t.local, t.remote
	local.Off += row*t.rect.SrcPitch + off
	remote.Off += row*t.rect.DstPitch + off
	return local, remote, min(t.most, t.rect.Width-off)
}

// execCarried moves payload by URMA or SDMA.
func (c *Core) execCarried(op *program.Op) bool {
	if op.Transport == program.SDMA {
		return c.execSDMA(op)
	}
	return c.execURMA(op)
}

// begin counts the op and its bytes, which move as soon as anything does; false when
// they reach beyond a buffer.
func (c *Core) begin(op *program.Op, most int64) bool {
	n := c.carry(op, most)
	t := &c.carried
	if !c.inside(
		memory.Area{Addr: t.local, Rows: t.rect.Rows, Width: t.rect.Width, Pitch: t.rect.SrcPitch},
		memory.Area{Addr: t.remote, Rows: t.rect.Rows, Width: t.rect.Width, Pitch: t.rect.DstPitch},
	) {
		return false
	}
	if !t.get {
		c.count(result.Puts, 1)
		c.count(result.BytesSent, n)
		return true
	}
	c.count(result.Gets, 1)
	c.count(result.BytesReceived, n)
	c.env.Report.Served(c.Task.Tag, c.carried.peer, n)
	return true
}

// over reports the bytes of a put: all have landed.
func (c *Core) over() bool {
	t := &c.carried
	if n := t.rect.Rows * t.rect.Width; !t.get && n > 0 {
		c.env.Report.Received(c.Task.Tag, t.peer, n)
	}
	return true
}

// Steps of a put or get by URMA.
const (
	wqeEnter   = iota
	wqeClaim   // the queue, of which another block of the rank may have an exchange
	wqeBuild   // the next batch, if there is room for it
	wqePost    // its SQEs have been written
	wqeRung    // the doorbell store is out
	wqeVisible // a CQE can be read
	wqeSeen    // a poll has seen it
	wqeDrained
)

// execURMA has the scalar unit, or for several SQEs the SIMT lanes, write SQEs of one SGE
// into the queue to the peer, rings the doorbell and waits for the CQE. A queue has one
// writer at a time: blocks with the same peer take turns, an op each.
func (c *Core) execURMA(op *program.Op) bool {
	t := &c.carried
	for {
		switch c.step {
		case wqeEnter:
			if !c.begin(op, urma.MaxBytes) {
				return false
			}
			if t.total == 0 {
				return true
			}
			c.sq, c.step = c.queue(t.peer), wqeClaim
		case wqeClaim:
			if c.sq.Held() {
				c.turn(result.CQEWait)
				c.sq.Await(c, evResume)
				return false
			}
			if err := c.sq.Claim(c.Task.ID); err != nil {
				return c.violate("queue_conflict", int64(t.peer), 1, "%v", err)
			}
			c.step = wqeBuild
		case wqeBuild:
			if !c.buildWQEs() {
				return false
			}
		case wqePost:
			if !c.postWQEs() {
				return false
			}
			c.step = wqeRung
			if !c.spend(result.Doorbell, c.env.URMA.DoorbellIssue()) {
				return false
			}
		case wqeRung:
			c.sq.Doorbell(c.Task.ID)
			c.count(result.Doorbells, 1)
			t.pending++
			c.step = wqeBuild
		case wqeVisible:
			if !c.seeCompletion(c.env.Spec.Signal.TWait, wqeSeen) {
				return false
			}
		case wqeSeen:
			c.step = wqeDrained
			if !c.spend(result.CQEWait, c.env.URMA.DrainTime()) {
				return false
			}
		case wqeDrained:
			if !c.drainCQE() {
				return false
			}
			if c.step = wqeBuild; t.next == t.total && t.pending == 0 {
				c.sq.CountSend()
				c.count(result.Sends, 1)
				c.sq.Release(c.Task.ID)
				return c.over()
			}
		}
	}
}

// buildWQEs begins to write the next batch, or to wait for a CQE when there is none or
// no room for it.
func (c *Core) buildWQEs() bool {
	t, spec := &c.carried, c.env.URMA
	t.batch = int(min(int64(spec.Segment), int64(spec.Depth), t.total-t.next))
	room := int64(spec.Depth) - int64(c.sq.Head()-c.sq.Tail())
	if t.batch == 0 || int64(t.batch) > room || t.pending == spec.CQDepth {
		c.turn(result.CQEWait)
		t.polls, c.step = c.env.Eng.Now(), wqeVisible
		return c.sq.Completed(c, evResume)
	}
	c.step = wqePost
	d := spec.PackedSpan(t.batch, c.env.Spec.Clock)
	if t.batch > 1 {
		d += c.env.Spec.SIMT.Entry
		c.lanes("build", d.Scale(c.Task.Slow))
	}
	return c.spend(result.SIMTBuild, d)
}

// postWQEs writes the batch into the ring.
func (c *Core) postWQEs() bool {
	t := &c.carried
	before := c.sq.Counters()
	for i := range t.batch {
		local, remote, n := t.request(t.next)
		t.next++
		c.sges = append(c.sges[:0], urma.SGE{Addr: c.env.Mem.Device(local), Len: uint32(n)})
		w := urma.Write{Remote: c.env.Mem.Device(remote), SGEs: c.sges, Last: i == t.batch-1, Read: t.get, Packed: true}
		if err := c.sq.Post(c.Task.ID, w); err != nil {
			return c.violate("sq_ring", int64(t.peer), int64(c.env.URMA.Depth), "%v", err)
		}
	}
	c.posted(&before, c.sq.Counters())
	return true
}

// seeCompletion: a completion can be read; scalar polls of a period see it a moment
// later, and the op goes on with step then.
func (c *Core) seeCompletion(period engine.Duration, then int) bool {
	c.step = then
	now := c.env.Eng.Now()
	seen, _ := c.env.Spec.Poll.spin(c.carried.polls, now, period.Scale(c.Task.Slow))
	return c.pause(result.PollOvershoot, seen.Sub(now))
}

// drainCQE reads a CQE: its batch has moved.
func (c *Core) drainCQE() bool {
	cqe, ok := c.sq.PollCQE()
	if !ok {
		panic("aiv: a completion was announced, but the CQ is empty")
	}
	c.count(result.CQEs, 1)
	c.carried.pending--
	if cqe.Status != 0 {
		return c.violate("cqe_status", int64(cqe.Status), 0, "the CQE of the %s with rank %d has status %d", c.carried.op.Kind, c.carried.peer, cqe.Status)
	}
	return true
}

// moves is the batch as the SDMA takes it.
func (t *carriage) moves(out []sdma.Move) []sdma.Move {
	for i := range t.batch {
		local, remote, n := t.request(t.next + int64(i))
		out = append(out, sdma.Move{Local: local, Remote: remote, N: n, Get: t.get})
	}
	return out
}
