package collectives

import (
	"math"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// pulled adds what it counts to load times n bytes in tiles from a peer.
func (c *Call) pulled(out *result.Counters, times, n, tile int64) {
	c.carriedTiles(out, program.RemoteLoad, times, n, tile)
	out[result.BytesReceived] += times * n
}

// empty adds tiles that turn out to have no bytes: a get is called, and moves nothing.
func (c *Call) empty(out *result.Counters, n int64) {
	if c.carrier() != program.MTE {
		out[result.Gets] += n
	}
}

// reductionWork is what one block, of those that have most to do, cannot do faster: meets
// barriers or handshakes one after another and, between them, loads one after another of
// bytes in all. All blocks of a rank together load received bytes, at most pair of them
// from one peer.
type reductionWork struct{ meets, loads, bytes, pair, received int64 }

// reductionBounds are the bounds of operations whose ranks load from their peers.
func reductionBounds(work func(c *Call) reductionWork) func(c *Call, l *hw.Limits, repeat int) []Bound {
	return func(c *Call, l *hw.Limits, _ int) []Bound {
		launch := l.Launch(c.Blocks())
		if c.silent() {
			return []Bound{{"latency", launch, "launch"}}
		}
		w := work(c)
		_, near := farthest(l)
		hop, rate := c.fastest(l)
		latency := launch + engine.Duration(w.meets)*near + engine.Duration(w.loads)*hop
		ingress := engine.Duration(math.MaxInt64)
		for r := range c.Ranks {
			ingress = min(ingress, l.Ingress(r).Span(engine.Bytes(w.received)))
		}
		return []Bound{
			{"latency", latency, "launch, and one after another the signals and the loads of a block"},
			{"serial", latency + rate.Span(engine.Bytes(w.bytes)), "the same with the bytes of its loads at the rate from a peer"},
			{"pair", launch + hop + rate.Span(engine.Bytes(w.pair)), "what a rank loads from one peer at that rate"},
			{"ingress", launch + hop + ingress, "what a rank loads at its fabric rate"},
		}
	}
}

// fastest is the least time before the first byte of a load from a peer, and the highest
// rate.
func (c *Call) fastest(l *hw.Limits) (hop engine.Duration, rate engine.Rate) {
	hop = math.MaxInt64
	for r := range l.Ranks {
		for d := range l.Ranks {
			if d == r {
				continue
			}
			first := l.Latency(d, r)
			if c.carrier() == program.MTE {
				first += l.Hop
			}
			hop, rate = min(hop, first), max(rate, c.link(l, d, r))
		}
	}
	return hop, rate
}
