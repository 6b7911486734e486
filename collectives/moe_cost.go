package collectives

import (
	"math"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

var moeFormulas = [][2]string{
	{"bytes_sent", "routes from here * (row + 64) + routes to here * back row, remote ones (dsv4: and (P-1) * 32*ceil(L/8))"},
	{"bytes_received", "the same, of the other direction"},
	{"bytes_self", "routes within the rank * (row + 64 + back row)"},
	{"puts", "3 a route from here, 1 a route to here"},
	{"combined", "routes to here * back row + (routes from here - tokens with any) * H*4"},
	{"notifies", "(P-1) * (3 + non-zero counts); dsv4: (P-1) * (2 + L)"},
}

var moeIndexedFormulas = [][2]string{
	{"bytes_sent", "sum over remote d of rows(r->d) * row + routes(d->r) * H*4"},
	{"bytes_received", "sum over remote s of rows(s->r) * row + routes(r->s) * H*4"},
	{"bytes_self", "rows(r->r) * row + routes(r->r) * H*4"},
	{"sqes", "sum over remote d of ceil(rows/12) + ceil(routes/12)"},
	{"combined", "routes to here * H*4 + (routes from here - tokens with any) * H*4"},
	{"notifies", "4 * B * (P-1)"},
}

// moved is what a hand protocol moves from a rank: bytes to others and within the rank.
func (c *Call) moved(x *routes, rank int) (remote, self int64) {
	for _, r := range x.from[rank] {
		if r.dst == rank {
			self += c.Row() + 2*aside
		} else {
			remote += c.Row() + 2*aside
		}
	}
	for _, r := range x.to[rank] {
		if r.src == rank {
			self += c.backRow()
		} else {
			remote += c.backRow()
		}
	}
	if c.Form == "dsv4" {
		remote += int64(c.Ranks-1) * c.countsRow(x)
	}
	return remote, self
}

// countsRow is the bytes of the counts for one destination.
func (c *Call) countsRow(x *routes) int64 { return ceil(4*int64(x.local), aside) * aside }

func moeBytes(c *Call, rank, repeat int) engine.Bytes {
	if c.Form != "indexed" {
		remote, self := c.moved(c.routesOf(repeat), rank)
		return engine.Bytes(remote + self)
	}
	n := int64(len(c.routesOf(repeat).to[rank])) * c.backRow()
	for d := range c.Ranks {
		n += int64(c.traffic(repeat).Count(rank, d)) * c.Row()
	}
	return engine.Bytes(n)
}

// combined is what the vector units of a rank combine.
func (c *Call) combined(x *routes, rank int) int64 {
	return int64(len(x.to[rank]))*c.backRow() + int64(len(x.from[rank])-len(x.sums(rank)))*4*int64(c.Hidden)
}

func moeFormula(c *Call, rank, repeat int) (out result.Counters) {
	x := c.routesOf(repeat)
	if c.Form == "indexed" {
		there, back := c.there(), c.back([]*routes{x})
		out = indexedFormula(&there, c.traffic(repeat), rank)
		more := indexedFormula(&back, back.Traffic[0], rank)
		for k := range out {
			if out[k] != Unknown && more[k] != Unknown {
				out[k] += more[k]
			}
		}
		out[result.Combined] = c.combined(x, rank)
		return out
	}
	out[result.PollsAttempted] = Unknown
	out[result.BytesSent], out[result.BytesSelf] = c.moved(x, rank)
	out[result.Combined] = c.combined(x, rank)
	puts := func(self bool, n int64) {
		if self {
			out[result.Puts]++
		} else {
			c.carried(&out, program.Put, 1, n)
		}
		if self || c.carrier() == program.MTE {
			out[result.PutStages] += ceil(n, stageCap)
		}
	}
	for _, r := range x.from[rank] {
		for _, n := range []int64{c.Row(), aside, aside} {
			puts(r.dst == rank, n)
		}
		if r.dst != rank {
			out[result.BytesReceived] += c.backRow()
		}
	}
	for _, r := range x.to[rank] {
		puts(r.src == rank, c.backRow())
		if r.src != rank {
			out[result.BytesReceived] += c.Row() + 2*aside
		}
	}
	c.moeSignals(&out, x, rank)
	return out
}

// moeSignals adds the counts and the signals of the hand protocols.
func (c *Call) moeSignals(out *result.Counters, x *routes, rank int) {
	peers, local := int64(c.Ranks-1), int64(x.local)
	if c.Form == "dsv4" {
		out[result.BytesReceived] += peers * c.countsRow(x)
		c.carried(out, program.RemoteStore, peers, c.countsRow(x))
		if c.carrier() == program.MTE {
			out[result.RemoteStores] = peers
		}
		out[result.Notifies] = peers * (2 + local)
		out[result.PollsSatisfied] = peers * (2*local + int64(c.Blocks()))
		return
	}
	counts := map[[2]int]bool{}
	for _, r := range x.from[rank] {
		counts[[2]int{r.dst, r.expert}] = true
	}
	out[result.Notifies] = peers * (moeBarriers + int64(len(counts)))
	out[result.SelfAdds] = int64(len(counts))
	out[result.PollsSatisfied] = peers * moeBarriers
}

// moeBounds: a block's puts are serial and each drains; between the phases all ranks wait
// for each other, so the slowest of each phase count.
func moeBounds(c *Call, l *hw.Limits, repeat int) []Bound {
	x := c.routesOf(repeat)
	if c.Form == "indexed" {
		return c.moeIndexedBounds(l, x, repeat)
	}
	first, launch := 1, 2*l.Launch(1)+l.Launch(c.Blocks())
	if c.Form == "dsv4" {
		first, launch = x.local, 2*l.Launch(x.local)+2*l.Launch(c.Blocks())
	}
	near := engine.Duration(math.MaxInt64)
	var egress, there, back engine.Duration
	for r := range c.Ranks {
		for d := range c.Ranks {
			if d != r {
				near = min(near, l.Hop+l.Latency(r, d))
			}
		}
		out, _ := c.moved(x, r)
		egress = max(egress, l.Egress(r).Span(engine.Bytes(out)))
		one, two := make([]engine.Duration, first), make([]engine.Duration, first)
		for _, y := range x.from[r] {
			one[y.expert%first] += 2*c.drained(l, r, y.dst, aside) + c.drained(l, r, y.dst, c.Row())
		}
		for _, y := range x.to[r] {
			two[y.expert%first] += c.drained(l, r, y.src, c.backRow())
		}
		for b := range first {
			there, back = max(there, one[b]), max(back, two[b])
		}
	}
	fixed := launch + moeBarriers*near
	if c.Form == "dsv4" && c.carrier() == program.MTE {
		fixed += near // the counts are there before the rank says that it has arrived
	}
	bounds := []Bound{
		{"latency", fixed, "launch of the tasks and three dependent barrier messages"},
	}
	fixed -= near // the rank that is slowest in both directions waits for nobody between them
	bounds = append(bounds, Bound{"egress", fixed + egress, "remote bytes of the busiest sender at its fabric rate"})
	if c.carrier() == program.MTE {
		bounds = append(bounds, Bound{"remote_mte", fixed + there + back, "the serial puts of the busiest block there, and of the busiest one back, each drained"})
	}
	return bounds
}

// drained is the least time of a put.
func (c *Call) drained(l *hw.Limits, src, dst int, n int64) engine.Duration {
	if src == dst {
		return 0
	}
	return min(l.Remote, l.Pair(src, dst)).Span(engine.Bytes(n)) + engine.Duration(ceil(n, stageCap))*(l.Hop+l.Latency(src, dst))
}

// moeIndexedBounds are those of the two exchanges, one behind the other, and the launches
// of the tasks between them.
func (c *Call) moeIndexedBounds(l *hw.Limits, x *routes, repeat int) []Bound {
	there, back := c.there(), c.back([]*routes{x})
	out, more := indexedBounds(&there, l, repeat), indexedBounds(&back, l, 0)
	for i := range out {
		out[i].Time += more[i].Time + 3*l.Launch(c.Blocks())
		out[i].Text = "of the two exchanges together: " + out[i].Text
	}
	return out
}
