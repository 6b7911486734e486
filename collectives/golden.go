package collectives

import (
	"pldperf/hw/arith"
	"pldperf/hw/program"
)

// golden computes results from what the ranks put in, in the order in which the real
// form combines them.
type golden struct {
	*Call
	content func() program.Content // of the input
	version uint32                 // that the tables are of
	tables  [][]byte               // by order: a period of results, for content that repeats
}

// piece is the bytes that are compared at once.
const piece = 64 << 10

// order names the ranks in the order in which their parts are combined; key is below 2P
// and tells it from other orders.
type order struct {
	key  int
	rank func(k int) int
}

// meshOrder is rank r's order: its own part, then the others ascending.
func meshOrder(r int) order {
	return order{r, func(k int) int {
		switch {
		case k == 0:
			return r
		case k <= r:
			return k - 1
		}
		return k
	}}
}

// ringOrder goes up, or down, the ring from a rank on.
func (c *Call) ringOrder(from int, down bool) order {
	n := c.Ranks
	if down {
		return order{n + from, func(k int) int { return ((from-k)%n + n) % n }}
	}
	return order{from, func(k int) int { return (from + k) % n }}
}

// yield gives n bytes of the result: at dst what the inputs give at src.
func (g *golden) yield(version uint32, o order, src, dst, n int64, yield func(off int64, want []byte)) {
	all := g.table(version, o, n)
	for at := int64(0); at < n; at += piece {
		m := min(piece, n-at)
		if all != nil {
			begin := (src + at) % g.period()
			yield(dst+at, all[begin:begin+m])
			continue
		}
		yield(dst+at, g.combined(version, o, src+at, m))
	}
}

// period is after how many bytes inputs and so results repeat; 0 is never.
func (g *golden) period() int64 {
	if x, ok := g.content().(interface{ Period() int64 }); ok {
		return x.Period()
	}
	return 0
}

// table returns a period of results and a piece more, nil where the content does not
// repeat or less is needed.
func (g *golden) table(version uint32, o order, n int64) []byte {
	all := g.period() + piece
	if all == piece || n*int64(g.Ranks) <= all {
		return nil
	}
	if g.tables == nil || g.version != version {
		g.tables, g.version = make([][]byte, 2*g.Ranks), version
	}
	if g.tables[o.key] == nil {
		g.tables[o.key] = g.combined(version, o, 0, all)
	}
	return g.tables[o.key]
}

// combined reduces n bytes from off on over all ranks.
func (g *golden) combined(version uint32, o order, off, n int64) []byte {
	fill, out, next := g.content(), make([]byte, n), make([]byte, n)
	fill.Generate(out, o.rank(0), version, off)
	for k := 1; k < g.Ranks; k++ {
		fill.Generate(next, o.rank(k), version, off)
		arith.Combine(out, next, g.reduce(), g.elem())
	}
	return out
}

// golden returns the results of what is in a buffer of the plan when the call begins.
func (p *Plan) golden(c *Call, input program.Buf) *golden {
	return &golden{Call: c, content: func() program.Content { return p.Job.Buffers[input].Fill }}
}
