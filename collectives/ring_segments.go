package collectives

import (
	"slices"

	"pldperf/hw/program"
)

// circle is how a call's vector is cut and which way it goes round.
type circle struct {
	*Call
	starts, lens, wide []int64 // of each segment, in bytes; wide is what is read of it
	tile               int64
	tiles              int64 // a round has on every rank
	lead               int64
	down               bool
}

func (c *Call) circle() circle {
	x := circle{Call: c, tile: c.stageTile(), lead: 1}
	switch c.Form {
	case "ring_incore":
		x.lead, x.tile = 2, stageCap
		x.cut(0, c.boundaries())
		x.tile = min(x.tile, widened(x.longest()))
		x.tiles = ceil(x.longest(), x.tile)
		return x
	case "ring_host":
		x.tile = hostTile * int64(ElemSize(c.DType))
	}
	n := c.Chunk()
	if c.Form == "bidirectional_ring" {
		n /= 2
	}
	x.cut(0, multiples(c.Ranks+1, n/int64(c.Ranks)))
	x.tiles = ceil(x.lens[0], x.tile)
	return x
}

// other is the second ring of bidirectional_ring.
func (x circle) other() circle {
	first := x.Chunk() / 2
	x.down = true
	x.cut(first, multiples(x.Ranks+1, first/int64(x.Ranks)))
	return x
}

// circles are the rings of the call.
func (c *Call) circles() []circle {
	x := c.circle()
	if c.Form == "bidirectional_ring" {
		return []circle{x, x.other()}
	}
	return []circle{x}
}

// cut sets the segments between boundaries in bytes, behind first.
func (x *circle) cut(first int64, at []int64) {
	x.starts, x.lens, x.wide = nil, nil, nil
	for g := range x.Ranks {
		n := at[g+1] - at[g]
		x.starts, x.lens, x.wide = append(x.starts, first+at[g]), append(x.lens, n), append(x.wide, n)
		if x.Form == "ring_incore" && x.DType == "FP16" {
			x.wide[g] = widened(n)
		}
	}
}

// boundaries are those of the composite's segments, in bytes.
func (c *Call) boundaries() []int64 {
	n, e, align := int64(c.Size), int64(ElemSize(c.DType)), int64(1)
	if c.DType == "FP16" {
		align = 16
	}
	out := make([]int64, c.Ranks+1)
	for i := range out {
		out[i] = min(ceil(int64(i)*n/int64(c.Ranks), align)*align, n) * e // i*N/P is rounded down
	}
	return out
}

// longest is max_seg, for which all ranks loop: the longest that a segment can be.
func (x *circle) longest() int64 {
	n, e := int64(x.Size), int64(ElemSize(x.DType))
	if most := ceil(n, int64(x.Ranks)); x.DType == "FP16" {
		return min(n, most+15) * e
	} else {
		return most * e
	}
}

// ringRounds is how many rounds a phase has.
func (c *Call) ringRounds() int64 { return int64(c.Ranks - 1) }

// rowsOfRing is how many rows of the signal a form uses.
func (c *Call) rowsOfRing() int {
	n := 2 * (c.Ranks - 1)
	if c.Form == "ring_host" || c.Form == "bidirectional_ring" {
		n++
	}
	return n
}

// neighbour is the rank that one reads from.
func (x *circle) neighbour() program.Expr {
	if x.down {
		return peerAhead(x.Ranks, 1)
	}
	left := peerAhead(x.Ranks, -1)
	if x.Mistake == "bad_modulo" {
		left.Of = append([]int64{0}, left.Of[:x.Ranks-1]...)
		left.C = 0
	}
	return left
}

// pick is entry r-i-lead+gather of a table of segments in round i of the outermost loop,
// or, with a constant last, in that round.
func (x *circle) pick(of []int64, gather int64, last int64) program.Expr {
	e := program.Expr{R: 1, C: -x.lead + gather, Of: of}
	e.L[0] = -1
	if last >= 0 {
		e.C, e.L[0] = e.C-last, 0
	}
	if x.down {
		e.C, e.L[0] = -e.C, -e.L[0]
	}
	return e
}

// part is the present tile of a round: of all segments the one that pick tells, in tiles
// of the loop inside that over rounds.
func (x *circle) part(gather, last int64) (at, bytes, wide program.Expr) {
	tile := iteration(1, 0)
	cut := func(of []int64) program.Expr {
		e := x.pick(of, gather, last)
		if slices.Max(of) == slices.Min(of) {
			e = program.Const(of[0])
		}
		if x.tiles == 1 {
			return e
		}
		back := iteration(1, -x.tile)
		e = e.Plus(back)
		e.Cap = x.tile
		return e
	}
	at = x.pick(x.starts, gather, last)
	if x.tiles > 1 {
		tile.L[1] = x.tile
		at = at.Plus(tile)
	}
	return at, cut(x.lens), cut(x.wide)
}

// ringRow is the signal's row in round i of a phase.
func (c *Call) ringRow(gather bool) program.Expr {
	e := iteration(0, 1)
	if gather && c.Mistake != "rows_reused" {
		e.C = c.ringRounds()
	}
	return e
}

// loads calls yield for each round of rank r with the segment that it loads.
func (x *circle) loads(r int, yield func(segment int, gather bool)) {
	for i := range int(x.ringRounds()) {
		for gather := range 2 {
			g := r - i - int(x.lead) + gather
			if x.down {
				g = r + i + int(x.lead) - gather
			}
			yield((g%x.Ranks+2*x.Ranks)%x.Ranks, gather == 1)
		}
	}
}
