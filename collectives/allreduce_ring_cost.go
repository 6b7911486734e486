package collectives

import (
	"math"

	"pldperf/hw/result"
)

func (ringForm) formula(c *Call, rank int) result.Counters {
	out := counted()
	rounds := c.ringRounds()
	for _, x := range c.circles() {
		x.loads(rank, func(g int, gather bool) {
			c.pulled(&out, 1, x.wide[g], x.tile)
			c.empty(&out, x.tiles-ceil(x.wide[g], x.tile))
			if !gather {
				out[result.Combined] += x.lens[g]
			}
		})
		reader := rank + 1 // who reads this rank
		if x.down {
			reader = rank - 1
		}
		x.loads((reader+c.Ranks)%c.Ranks, func(g int, _ bool) { out[result.BytesSent] += x.wide[g] })
	}
	switch c.Form {
	case "ring_incore":
		c.barriers(&out, 4*rounds*c.circle().tiles)
		out[result.SelfAdds] = 2 * rounds * rounds
	case "ring_host":
		c.barriers(&out, 2*rounds+1)
		out[result.SelfAdds] = (2*rounds + 1) * rounds
		out[result.PipeBarriers] = 2*(2*rounds+1) + 2*rounds
	case "ring_hand":
		out[result.Notifies], out[result.PollsSatisfied] = 2*rounds, 2*rounds
	default:
		c.barriers(&out, 2*rounds+1)
	}
	return out
}

func (ringForm) formulas(form string) [][2]string {
	out := [][2]string{
		{"bytes_received", "2(P-1)/P * N"}, {"bytes_sent", "2(P-1)/P * N"}, {"combined", "(P-1)/P * N"},
		{"remote_loads", "2(P-1) * ceil(N/P/tile), tile 16 KiB or chunk_cols"}, {"notifies", "(2(P-1)+1)(P-1)"}, {"self_adds", "0"},
	}
	switch form {
	case "ring_incore":
		out[0][1] = "about 2(P-1)/P * N: segments differ by an element, in FP16 by up to 16; FP16: each rounded up to 32 B"
		out[1][1], out[2][1] = out[0][1], "about (P-1)/P * N"
		out[3][1] = "2(P-1) * subchunks, but for empty ones; subchunks = ceil(max_seg/16 KiB)"
		out[4][1], out[5][1] = "4(P-1)^2 * subchunks", "2(P-1)^2"
	case "ring_host":
		out[3][1], out[5][1] = "2(P-1) * ceil(N/P/256)", "(2(P-1)+1)(P-1)"
		out = append(out, [2]string{"pipe_barriers", "2(2(P-1)+1) + 2(P-1)"})
	case "ring_hand":
		out[4][1] = "2(P-1)"
	case "bidirectional_ring":
		out[3][1] = "4(P-1) * ceil(N/2P/tile), tile 16 KiB or chunk_cols"
	}
	return out
}

func (ringForm) work(c *Call) (w reductionWork) {
	rounds := c.ringRounds()
	switch c.Form {
	case "ring_incore":
		w.meets = 4 * rounds * c.circle().tiles
	case "ring_hand":
		w.meets = 2 * rounds
	default:
		w.meets = 2*rounds + 1
	}
	for i, x := range c.circles() {
		least := reductionWork{loads: math.MaxInt64, bytes: math.MaxInt64}
		for r := range c.Ranks {
			var all reductionWork
			x.loads(r, func(g int, _ bool) {
				all.loads, all.bytes = all.loads+ceil(x.wide[g], x.tile), all.bytes+x.wide[g]
			})
			least.loads, least.bytes = min(least.loads, all.loads), min(least.bytes, all.bytes)
		}
		w.loads, w.bytes, w.received = w.loads+least.loads, w.bytes+least.bytes, w.received+least.bytes
		if i == 0 {
			w.pair = least.bytes
		}
	}
	return w
}
