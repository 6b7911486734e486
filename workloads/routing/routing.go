// Package routing decides which rows each rank sends to each other rank in an indexed_all_to_all_v call. A Routing holds,
// for every (source, destination) pair of P ranks, the count that the source writes into send_counts and the input rows
// that it writes into index (semantics 7.1, 7.2). It is made once from a Spec by New, from a seed and nothing else, and
// never changes: each source rank draws from a stream of its own, so a routing depends neither on the order of calls nor
// on the machine that it later runs on. MoE routings draw top_k experts for each token and send a token once to each rank
// that holds at least one of them (S-38). Index rows are slices of one compact array for each source (4 bytes a row, the
// size that a counting sort leaves), or of one array shared by all sources where the pattern is regular; nothing of size
// P*P*C is ever made. Values that the device must refuse (a count above C, an index below zero) pass through unchanged.
package routing

import "fmt"

// A Routing answers how many rows each source sends each destination, and which. It is immutable and safe to share
// between simulations that run side by side.
type Routing struct {
	ranks, tokens, capacity int

	counts  []int32   // [source*ranks+destination], as send_counts will hold them, legal or not
	starts  []int32   // [source*ranks+destination], where the pair's index row begins in rows[source]
	lengths []int32   // [source*ranks+destination], index entries there are; below the count only if that is illegal
	rows    [][]int32 // [source]
	pairs   int64     // routed (token, expert) pairs before de-duplication
	load    []int64   // [expert] pairs before de-duplication; nil unless the kind has experts
	topK    int       // experts of each token; 0 unless the kind has experts
	plan    *plan     // which draws them again
}

// Ranks is P, the ranks of the communication domain.
func (r *Routing) Ranks() int { return r.ranks }

// Tokens is Nmax, the rows of each rank's input; legal indices lie below it.
func (r *Routing) Tokens() int { return r.tokens }

// Capacity is C, the columns of index and the rows that one source owns in a destination's target: the configured
// capacity or, without one, the longest explicit index row, else the largest count, and at least 1. It is not rounded.
func (r *Routing) Capacity() int { return r.capacity }

// Count is the value of send_counts[dst] on rank src, in rows. It may be illegal if the spec made it so.
func (r *Routing) Count(src, dst int) int { return int(r.counts[src*r.ranks+dst]) }

// Index is the beginning of row dst of the index operand on rank src: the Count entries that the call reads, or fewer
// where the count is illegal (none for a negative count, at most C for one above C). Entries may be illegal if the spec
// made them so. The slice is shared and must not be modified.
func (r *Routing) Index(src, dst int) []int32 {
	k := src*r.ranks + dst
	begin, n := r.starts[k], r.lengths[k]
	return r.rows[src][begin : begin+n : begin+n]
}

// Matrix is every Count in rows, [source][destination], for reports; illegal counts appear as they are.
func (r *Routing) Matrix() [][]int64 {
	m := make([][]int64, r.ranks)
	for s := range m {
		m[s] = make([]int64, r.ranks)
		for d := range m[s] {
			m[s][d] = int64(r.Count(s, d))
		}
	}
	return m
}

// ExpertLoad is the number of (token, expert) pairs that each expert got before de-duplication, over all ranks, shared
// experts excluded. It is nil for a routing without experts. The slice must not be modified.
func (r *Routing) ExpertLoad() []int64 { return r.load }

// Experts is how many experts there are, expert e on rank floor(e*P/E); 0 for a routing without experts.
func (r *Routing) Experts() int { return len(r.load) }

// TopK is how many experts each token goes to; 0 for a routing without experts.
func (r *Routing) TopK() int { return r.topK }

// Chosen is the TopK experts of each token of rank src, by token. They are not kept but drawn again, which takes as long as
// making the routing did for that rank. It is nil for a routing without experts.
func (r *Routing) Chosen(src int) []int32 {
	if r.plan == nil {
		return nil
	}
	items := r.plan.sampler(len(r.load), r.topK)
	items.restart(stream(r.plan.Seed, src))
	out := make([]int32, 0, r.tokens*r.topK)
	for range r.tokens {
		items.next()
		for range r.topK {
			out = append(out, int32(items.take()))
		}
	}
	return out
}

// Stats sums a routing up for reports. A negative count counts as zero rows.
type Stats struct {
	TotalRows  int64 // all rows, to self included
	RemoteRows int64 // rows that cross the fabric
	SelfRows   int64 // rows that a rank sends itself
	Pairs      int64 // routed (token, expert) pairs before de-duplication; 0 without experts
	MaxOut     int64 // remote rows of the rank that sends most
	MaxIn      int64 // remote rows of the rank that receives most
	MaxPair    int64 // rows of the largest pair, self included

	EgressImbalance  float64 // MaxOut over the mean of the ranks: 1 is balanced; 0 if nothing is remote
	IngressImbalance float64 // MaxIn over the mean of the ranks: 1 is balanced; 0 if nothing is remote
}

// Stats counts rows over the whole routing; it costs P*P steps.
func (r *Routing) Stats() Stats {
	s := Stats{Pairs: r.pairs}
	out, in := make([]int64, r.ranks), make([]int64, r.ranks)
	for k, n := range r.counts {
		src, dst, n := k/r.ranks, k%r.ranks, max(int64(n), 0)
		s.TotalRows += n
		s.MaxPair = max(s.MaxPair, n)
		if src == dst {
			s.SelfRows += n
			continue
		}
		out[src] += n
		in[dst] += n
	}
	s.RemoteRows = s.TotalRows - s.SelfRows
	for i := range out {
		s.MaxOut, s.MaxIn = max(s.MaxOut, out[i]), max(s.MaxIn, in[i])
	}
	if s.RemoteRows > 0 {
		mean := float64(s.RemoteRows) / float64(r.ranks)
		s.EgressImbalance, s.IngressImbalance = float64(s.MaxOut)/mean, float64(s.MaxIn)/mean
	}
	return s
}

// String is a one-line summary, for logs and golden tests.
func (r *Routing) String() string {
	s := r.Stats()
	return fmt.Sprintf("%d ranks, %d tokens, capacity %d: %d rows, %d of them remote; egress %.3f, ingress %.3f of the mean at most",
		r.ranks, r.tokens, r.capacity, s.TotalRows, s.RemoteRows, s.EgressImbalance, s.IngressImbalance)
}

// RowsFor turns a message of n bytes to one peer into rows, for sweeps over the message size with a row of rowBytes: a
// message below one row is one row of n bytes; a larger one is whole rows of rowBytes, rounded up (resolution 16). It
// returns the rows and the bytes of each; zero or negative n is no row.
func RowsFor(n, rowBytes int64) (rows, bytes int64) {
	switch {
	case n <= 0:
		return 0, rowBytes
	case n < rowBytes:
		return 1, n
	default:
		return (n-1)/rowBytes + 1, rowBytes
	}
}
