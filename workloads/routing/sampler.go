package routing

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// stream is the random stream of one source rank, or a shared one for the whole routing if the source is shared. Streams
// of one seed differ in every bit of their state, not only in the source's.
func stream(seed uint64, source int) *rand.PCG {
	return rand.NewPCG(scramble(seed), scramble(scramble(seed)^uint64(source)))
}

// shared is the source number of the stream that decides what all ranks have in common, such as which expert is hot.
const shared = -1

// scramble is the finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection that spreads each bit over all.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below maps 64 random bits to [0, n); the bias is below n/2^64.
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}

// A sampler draws items without replacement, each with probability proportional to its weight among those that are still
// there (successive sampling; the distribution that Efraimidis-Spirakis keys give too). It draws from an alias table and
// rejects what is taken, which conditions the draw on the rest without changing their proportions. Items that outweigh
// many others would be rejected often: once the heaviest ones are taken, a table without them serves. After maxRejects it
// draws from a list of the rest, which has the same distribution, so the choice stays exact and its cost bounded.
type sampler struct {
	pcg    *rand.PCG
	weight []uint64
	tables []alias  // [j] without the first j of heavy
	heavy  []uint32 // the items that have more than 1/heavyShare of the weight of themselves and all lighter ones
	gone   int      // leading ones of heavy that this round has taken
	taken  []uint32 // [item] the last round that took it
	round  uint32
	limit  *limit // nil if every item is open in every round
}

const (
	maxRejects = 16 // beyond, a walk over the items is cheaper
	heavyShare = 8
	mostHeavy  = 16 // each costs a table
)

func newSampler(weight []uint64) *sampler {
	s := &sampler{weight: weight, taken: make([]uint32, len(weight))}
	rest, total := slices.Clone(weight), uint64(0)
	for _, w := range weight {
		total += w
	}
	for {
		s.tables = append(s.tables, newAlias(rest))
		top := slices.Index(rest, slices.Max(rest))
		if rest[top]*heavyShare <= total || rest[top] == total || len(s.heavy) == mostHeavy {
			return s
		}
		s.heavy = append(s.heavy, uint32(top))
		total -= rest[top]
		rest[top] = 0
	}
}

// restart gives every item back and continues with another stream.
func (s *sampler) restart(pcg *rand.PCG) {
	clear(s.taken)
	s.pcg, s.round = pcg, 0
	if s.limit != nil {
		s.limit.groups.restart(pcg)
	}
}

// next begins a round with every item there, if its group is open.
func (s *sampler) next() {
	s.round++
	s.gone = 0
	if s.limit != nil {
		s.limit.next()
	}
}

// take draws one item that is there. The caller takes no more items in a round than there are.
func (s *sampler) take() uint32 {
	i := s.draw()
	for rejects := 0; s.taken[i] == s.round; rejects++ {
		if rejects == maxRejects {
			i = s.walk()
			break
		}
		i = s.draw()
	}
	s.taken[i] = s.round
	for s.gone < len(s.heavy) && s.taken[s.heavy[s.gone]] == s.round {
		s.gone++
	}
	return i
}

func (s *sampler) draw() uint32 {
	if s.limit != nil {
		return s.limit.draw(s.pcg)
	}
	return s.tables[s.gone].draw(s.pcg.Uint64())
}

// walk draws from the list of all items that are there.
func (s *sampler) walk() uint32 {
	there := func(i int) bool { return s.taken[i] != s.round && (s.limit == nil || s.limit.isOpen(i)) }
	var rest uint64
	for i, w := range s.weight {
		if there(i) {
			rest += w
		}
	}
	at := below(s.pcg.Uint64(), rest)
	for i, w := range s.weight {
		if !there(i) {
			continue
		}
		if at < w {
			return uint32(i)
		}
		at -= w
	}
	panic("routing: more items taken than there are")
}
