package aiv

import (
	"pldperf/engine"
	"pldperf/hw/arith"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

// execCount reads a count from the own memory as it is now, and keeps it with the
// block's share of the rows.
func (c *Core) execCount(x *program.Counted) bool {
	if c.step == 0 {
		c.step = 1
		if !c.spend(result.CountRead, c.env.Spec.Scalar.Read) {
			return false
		}
	}
	n := int64(0)
	if !x.Stale {
		n = c.word(c.Task.Rank, x.Counts, int(x.Word.At(&c.here)))
	}
	v := &c.here.Var
	end := v[1] + v[2]
	v[0] = x.Clamp(n)
	v[1], v[2] = x.Share(int(x.Lane.At(&c.here)), v[0])
	if x.Append {
		v[1] += end
	}
	return true
}

// between charges the PIPE_ALLs behind a piece, which is known to be stored, up to now.
func (c *Core) between(d engine.Duration) {
	if d > 0 {
		c.turnAt(c.env.Eng.Now().Add(-d), result.PipeBarrier)
	}
}

// execConvert changes the type of a tile's elements, at the price of an addition over the
// wider of the two.
func (c *Core) execConvert(op *program.Op) bool {
	n := op.Bytes.At(&c.here)
	if n <= 0 {
		return true
	}
	wide := n / op.DType.Size() * max(op.DType.Size(), op.Into.Size())
	if c.step == 0 {
		c.step = 1
		d := c.env.Spec.Vector.Time(program.Sum, wide, c.env.Spec.Clock)
		c.work(timeline.Vector, op.Kind.String(), d.Scale(c.Task.Slow))
		if !c.spend(result.Vector, d) {
			return false
		}
	}
	from, to := &c.tiles[op.Other], &c.tiles[op.Tile]
	to.Raw, to.Frags, to.Len = arith.Convert(to.Raw[:0], from.Raw[:n], op.DType, op.Into), to.Frags[:0], n/op.DType.Size()*op.Into.Size()
	return true
}
