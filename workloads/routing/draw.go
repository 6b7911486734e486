package routing

import "math/rand/v2"

// drawn makes a routing by drawing topK of the sampler's items (experts, or destinations themselves) for each token of
// each source. home is the rank that holds an item. A token goes once to each rank that holds one of its items (S-38),
// and index rows list tokens in ascending order.
func drawn(seed uint64, ranks, tokens, topK int, items *sampler, home []uint32) *Routing {
	r := &Routing{
		ranks: ranks, tokens: tokens,
		counts: make([]int32, ranks*ranks), starts: make([]int32, ranks*ranks),
		rows: make([][]int32, ranks), load: make([]int64, len(home)),
		pairs: int64(ranks) * int64(tokens) * int64(topK),
	}
	scratch := make([]visit, tokens*min(topK, ranks)+1)
	seen := make([]uint32, ranks)
	for s := range ranks {
		visits := r.visit(stream(seed, s), s, topK, items, home, seen, scratch)
		r.sort(s, visits)
	}
	r.lengths = r.counts
	return r
}

// A visit is one row: a token that goes to a rank.
type visit struct{ token, dst uint32 }

// visit draws the experts of every token of source s, and counts and returns the rows that they make. seen is scratch,
// one cell a rank: the last token, counted from 1, that visits it.
func (r *Routing) visit(pcg *rand.PCG, s, topK int, items *sampler, home, seen []uint32, scratch []visit) []visit {
	counts := r.counts[s*r.ranks : (s+1)*r.ranks]
	items.restart(pcg)
	clear(seen)
	n := 0
	for t := range uint32(r.tokens) {
		items.next()
		for range topK {
			e := items.take()
			r.load[e]++
			dst := home[e]
			scratch[n] = visit{t, dst} // kept only if it is new: no branch that half the draws would mispredict
			fresh := 0
			if seen[dst] != t+1 {
				fresh = 1
			}
			seen[dst] = t + 1
			counts[dst] += int32(fresh)
			n += fresh
		}
	}
	return scratch[:n]
}

// sort puts the rows of source s in order of destination, by counting.
func (r *Routing) sort(s int, visits []visit) {
	counts, starts := r.counts[s*r.ranks:(s+1)*r.ranks], r.starts[s*r.ranks:(s+1)*r.ranks]
	var total int32
	for d, n := range counts {
		starts[d] = total
		total += n
	}
	rows := make([]int32, total)
	for _, v := range visits {
		rows[starts[v.dst]] = int32(v.token)
		starts[v.dst]++
	}
	for d, n := range counts { // filling moved each start to its end
		starts[d] -= n
	}
	r.rows[s] = rows
}

// homes places items on ranks in contiguous blocks whose sizes differ by at most one: item i of n on rank floor(i*P/n).
func homes(n, ranks int) []uint32 {
	h := make([]uint32, n)
	for i := range h {
		h[i] = uint32(i * ranks / n)
	}
	return h
}
