package collectives

import (
	"math"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// vFormula counts what a rank does (semantics 5.7, 6.5).
func vFormula(c *Call, rank, repeat int) (out result.Counters) {
	out[result.PollsAttempted] = Unknown
	if c.noEffect() {
		return out
	}
	row, blocks, peers := c.Row(), int64(c.Blocks()), int64(c.Ranks-1)
	for d := range c.Ranks {
		n := c.vRows(repeat, rank, d) * row
		if d == rank {
			out[result.BytesSelf] = n
		} else {
			out[result.BytesSent] += n
			out[result.BytesReceived] += c.vRows(repeat, d, rank) * row
		}
		c.putFormula(&out, repeat, rank, d)
	}
	out[result.PipeBarriers] = out[result.PutStages] * int64(c.vBarriers())
	credits := 2 * blocks * peers
	switch {
	case c.published():
		out[result.Notifies], out[result.SelfAdds], out[result.PollsSatisfied] = 2*peers, peers+1, peers
		return out
	case c.wire() == "v2":
		credits = peers
	}
	out[result.CountReads] = peers
	out[result.Notifies], out[result.PollsSatisfied], out[result.SelfAdds] = credits, credits, blocks*peers
	if c.wire() == "v3" {
		out[result.SelfAdds] = 2 * blocks * peers
	}
	return out
}

// putFormula adds the puts from a rank to a destination; those to the own rank are
// copies through the Unified Buffer, whatever carries the others.
func (c *Call) putFormula(out *result.Counters, repeat, rank, d int) {
	count := func(n, bytes int64) {
		if d == rank {
			out[result.Puts] += n
		} else {
			c.carried(out, program.Put, n, bytes)
		}
		if d == rank || c.carrier() == program.MTE {
			out[result.PutStages] += n * ceil(bytes, c.vPiece())
		}
	}
	if c.wire() == "v1" {
		count(c.vRows(repeat, rank, d), c.Row())
		return
	}
	for k := range c.lanes() {
		count(1, int64(c.share(repeat, rank, d, k)))
	}
}

// vBounds: the puts of a block are strictly serial and each of their pieces drains;
// before and behind them are the barriers, and block 0 pulls the counts one by one.
func vBounds(c *Call, l *hw.Limits, repeat int) []Bound {
	launch := l.Launch(c.Blocks())
	if c.noEffect() {
		return []Bound{{"latency", launch, "launch"}}
	}
	rounds := engine.Duration(2)
	if c.old() {
		rounds = 1
	}
	var egress, ingress, serial engine.Duration
	near := engine.Duration(math.MaxInt64)
	for r := range c.Ranks {
		var out, in int64
		pulls := engine.Duration(0)
		for d := range c.Ranks {
			if d == r {
				continue
			}
			near = min(near, l.Hop+l.Latency(d, r))
			pulls += l.Hop + l.Latency(r, d)
			out += c.vRows(repeat, r, d) * c.Row()
			in += c.vRows(repeat, d, r) * c.Row()
		}
		if c.published() {
			pulls = 0
		}
		egress = max(egress, l.Egress(r).Span(engine.Bytes(out)))
		ingress = max(ingress, l.Ingress(r).Span(engine.Bytes(in)))
		for b := range c.Blocks() {
			puts := c.putsTime(l, repeat, r, b)
			if b == 0 {
				puts += pulls
			}
			serial = max(serial, puts)
		}
	}
	fixed := launch + rounds*near
	bounds := []Bound{
		{"latency", fixed, "launch of B blocks and the dependent barrier messages"},
		{"egress", fixed + egress, "remote bytes of the busiest sender at its fabric rate"},
		{"ingress", fixed + ingress, "remote bytes of the busiest receiver at its fabric rate"},
	}
	if c.carrier() == program.MTE {
		bounds = append(bounds, Bound{"remote_mte", fixed + serial, "the serial puts of one block at the remote MTE rate of a peer, each piece drained, and the counts that block 0 pulls"})
	}
	return bounds
}

// putsTime is the least time of the remote puts of a block.
func (c *Call) putsTime(l *hw.Limits, repeat, rank, block int) (t engine.Duration) {
	step, lane := c.Blocks(), 0
	first := block
	if c.Blocks() >= c.Ranks {
		step, first, lane = c.Ranks, block/c.lanes(), block%c.lanes()
	}
	for d := first; d < c.Ranks; d += step {
		if d == rank {
			continue
		}
		n := c.share(repeat, rank, d, lane)
		pieces := ceil(int64(n), c.vPiece())
		if c.wire() == "v1" {
			pieces = c.vRows(repeat, rank, d) * ceil(c.Row(), c.vPiece())
		}
		t += min(l.Remote, l.Pair(rank, d)).Span(n) + engine.Duration(pieces)*(l.Hop+l.Latency(rank, d))
	}
	return t
}
