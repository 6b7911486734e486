package routing

import (
	"math/bits"
	"math/rand/v2"
)

// A limit cuts a sampler's items into groups of equal size, neighbours together, of which a round opens only some, drawn
// in proportion to the sums of their weights. (DeepSeek-V3 opens the groups whose two best router scores sum to most; there
// are no scores here, so weights stand for them.) An item is then drawn in two steps, group and member, so that nothing is
// drawn from a closed group only to be rejected.
type limit struct {
	groups *sampler
	tables []alias  // [group] of its members
	open   []uint32 // the groups of this round
	ends   []uint64 // where each but the last of them ends, their weights laid end to end
	weight uint64   // the sum of their weights
	size   int      // members of a group
}

// newLimit makes n groups, which must divide the items, of which a round opens `open`.
func newLimit(weight []uint64, n, open int) *limit {
	l := &limit{size: len(weight) / n, open: make([]uint32, open)}
	sums := make([]uint64, n)
	for g := range n {
		members := weight[g*l.size : (g+1)*l.size]
		for _, w := range members {
			sums[g] += w
		}
		l.tables = append(l.tables, newAlias(members))
	}
	l.groups = newSampler(sums)
	return l
}

func (l *limit) next() {
	l.groups.next()
	l.weight, l.ends = 0, l.ends[:0]
	for i := range l.open {
		l.open[i] = l.groups.take()
		l.weight += l.groups.weight[l.open[i]]
		l.ends = append(l.ends, l.weight)
	}
	l.ends = l.ends[:len(l.open)-1]
}

func (l *limit) isOpen(item int) bool { return l.groups.taken[item/l.size] == l.groups.round }

func (l *limit) draw(pcg *rand.PCG) uint32 {
	at, i := below(pcg.Uint64(), l.weight), 0
	for _, end := range l.ends { // counts the ends at or below at, without a branch, which random data would mispredict
		_, before := bits.Sub64(at, end, 0)
		i += 1 - int(before)
	}
	g := l.open[i]
	return g*uint32(l.size) + l.tables[g].draw(pcg.Uint64())
}
