package collectives

import (
	"sync"

	"pldperf/hw/arith"
	"pldperf/hw/program"
)

// golden computes results from what the ranks put in, in the order in which the real
// form combines them. Ranks that combine in one order hold the same: it is computed once.
type golden struct {
	*Call
	content func() program.Content // of the input
	mu      sync.Mutex             // several machines can run one job
	version uint32                 // that the results are of
	results []resultOf             // by order
}

// resultOf is what an order gives from byte src on: just what is promised there or, for
// content that repeats and a longer promise, a period of it and a piece more.
type resultOf struct {
	src   int64
	bytes []byte
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
	all, period := g.result(version, o, src, n)
	for at := int64(0); at < n; at += piece {
		m := min(piece, n-at)
		switch {
		case all == nil:
			yield(dst+at, g.combined(version, o, src+at, m))
		case period > 0:
			begin := (src + at) % period
			yield(dst+at, all[begin:begin+m])
		default:
			yield(dst+at, all[at:at+m])
		}
	}
}

// result returns n bytes of the result from src on or, where that is longer, a period of
// it and a piece more from 0 on; nil for a long result of content that does not repeat.
func (g *golden) result(version uint32, o order, src, n int64) (all []byte, period int64) {
	from, most := src, int64(piece)
	if x, ok := g.content().(interface{ Period() int64 }); ok {
		period = x.Period()
		most += period
	}
	switch {
	case n <= most:
		period = 0
	case period == 0:
		return nil, 0
	default:
		from, n = 0, most
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.results == nil || g.version != version {
		g.results, g.version = make([]resultOf, 2*g.Ranks), version
	}
	r := &g.results[o.key]
	if r.src != from || int64(len(r.bytes)) != n {
		*r = resultOf{from, g.combined(version, o, from, n)}
	}
	return r.bytes, period
}

// combined reduces n bytes from off on over all ranks.
func (g *golden) combined(version uint32, o order, off, n int64) []byte {
	fill, out, next := g.content(), make([]byte, n), make([]byte, n)
	fill.Generate(out, o.rank(0), version, off)
	for k := 1; k < g.Ranks; k++ {
		fill.Generate(next, o.rank(k), version, off)
		arith.Combine(out, next, g.reduce(), g.Elem())
	}
	return out
}

// golden returns the results of what is in a buffer of the plan when the call begins.
func (p *Plan) golden(c *Call, input program.Buf) *golden {
	return &golden{Call: c, content: func() program.Content { return p.Job.Buffers[input].Fill }}
}
