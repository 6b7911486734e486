package routing

import "slices"

// patterned makes a routing from counts, reading input rows in the spec's pattern. The index row of each destination
// begins where that of the destination before it ended, as in a packed send buffer, and starts over at the end of the
// input if there are more rows to send than rows of input.
func (s *Spec) patterned(ranks int, counts []int32) *Routing {
	r := blank(ranks)
	r.counts = counts
	r.capacity = orElse(s.Capacity, max(1, int(slices.Max(counts))))
	r.lengths = make([]int32, len(counts))
	for k, n := range counts {
		r.lengths[k] = min(max(n, 0), int32(r.capacity))
	}
	r.tokens = orElse(s.Tokens, s.mostRead(r))
	if s.Pattern == "random" {
		s.anyRows(r)
	} else {
		s.regularRows(r)
	}
	return r
}

// repeats is how often each row is sent in a row.
func (s *Spec) repeats() int {
	if s.Pattern == "repeated" {
		return orElse(s.Repeat, 2)
	}
	return 1
}

// mostRead is the most input rows that a source needs to give each destination rows of its own, at least 1.
func (s *Spec) mostRead(r *Routing) int {
	most, repeats := 1, s.repeats()
	for src := range r.ranks {
		sum := 0
		for _, n := range r.lengths[src*r.ranks : (src+1)*r.ranks] {
			sum += (int(n) + repeats - 1) / repeats
		}
		most = max(most, sum)
	}
	return most
}

// regularRows lays one period of the pattern and the longest index row after it into one array that all sources share;
// each index row is a piece of it.
func (s *Spec) regularRows(r *Routing) {
	period := s.period(r.tokens)
	length := len(period) + int(slices.Max(r.lengths))
	for len(period) < length {
		period = append(period, period[:min(len(period), length-len(period))]...)
	}
	cycle, repeats := r.tokens*s.repeats(), s.repeats()
	for src := range r.ranks {
		r.rows[src] = period
		at := 0
		for k := src * r.ranks; k < (src+1)*r.ranks; k++ {
			r.starts[k] = int32(at)
			begun := (int(r.lengths[k]) + repeats - 1) / repeats
			at = (at + begun*repeats) % cycle
		}
	}
}

// period lists every input row once, or repeat times; strided goes through the input as one reads a matrix of stride
// columns by columns.
func (s *Spec) period(tokens int) []int32 {
	stride, repeats := 1, s.repeats()
	if s.Pattern == "strided" {
		stride = orElse(s.Stride, 2)
	}
	list := make([]int32, 0, tokens*repeats)
	for first := range min(stride, tokens) {
		for row := first; row < tokens; row += stride {
			for range repeats {
				list = append(list, int32(row))
			}
		}
	}
	return list
}

// anyRows draws each index from the whole input, each source from its own stream.
func (s *Spec) anyRows(r *Routing) {
	for src := range r.ranks {
		pcg, total := stream(s.Seed, src), int32(0)
		for k := src * r.ranks; k < (src+1)*r.ranks; k++ {
			r.starts[k] = total
			total += r.lengths[k]
		}
		r.rows[src] = make([]int32, total)
		for i := range r.rows[src] {
			r.rows[src][i] = int32(below(pcg.Uint64(), uint64(r.tokens)))
		}
	}
}

// pairCounts is the counts of kinds uniform and random.
func (s *Spec) pairCounts(ranks int) []int32 {
	counts := make([]int32, ranks*ranks)
	for src := range ranks {
		pcg := stream(s.Seed, src+ranks) // not the stream of the index
		for dst := range ranks {
			n := s.Rows
			if src == dst {
				n = s.selfRows()
			}
			if s.Kind == "random" {
				n = int(below(pcg.Uint64(), uint64(n)+1))
			}
			counts[src*ranks+dst] = int32(n)
		}
	}
	return counts
}
