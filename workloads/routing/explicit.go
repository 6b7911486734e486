package routing

import (
	"fmt"
	"math"
	"slices"
)

// checkExplicit checks the shape of what a user wrote, and only the shape: values are the device's to judge.
func (s *Spec) checkExplicit(ranks int, p *problems) {
	if s.Counts == nil {
		p.add("counts", "missing; kind explicit needs them")
		return
	}
	if !square(p, "counts", s.Counts, ranks) {
		return
	}
	for i, row := range s.Counts {
		for j, n := range row {
			if n < math.MinInt32 || n > math.MaxInt32 {
				p.add(pair("counts", i, j), "%d does not fit INT32", n)
			} else if s.Capacity == 0 && s.Index == nil {
				p.atMost(pair("counts", i, j), n, MaxRows/ranks)
			}
		}
	}
	if s.Index != nil && square(p, "index", s.Index, ranks) {
		s.checkIndex(p)
	}
}

func pair(field string, src, dst int) string { return fmt.Sprintf("%s[%d][%d]", field, src, dst) }

// square checks that a table has one row a source and one entry a destination.
func square[T any](p *problems, path string, table [][]T, ranks int) bool {
	if len(table) != ranks {
		p.add(path, "%d sources for %d ranks", len(table), ranks)
		return false
	}
	ok := true
	for i, row := range table {
		if len(row) != ranks {
			p.add(fmt.Sprintf("%s[%d]", path, i), "%d destinations for %d ranks", len(row), ranks)
			ok = false
		}
	}
	return ok
}

func (s *Spec) checkIndex(p *problems) {
	if s.Tokens == 0 {
		p.add("tokens", "0 is below 1; an explicit index needs it, to tell which indices are legal")
	}
	capacity := s.explicitCapacity()
	for i, row := range s.Index {
		for j, index := range row {
			path := pair("index", i, j)
			if len(index) > capacity {
				p.add(path, "%d entries are above capacity %d", len(index), capacity)
			}
			if need := min(s.Counts[i][j], capacity); len(index) < need {
				p.add(path, "%d entries are fewer than the %d that its count reads", len(index), need)
			}
			if slices.ContainsFunc(index, func(v int) bool { return v < math.MinInt32 || v > math.MaxInt32 }) {
				p.add(path, "an entry does not fit INT32")
			}
		}
	}
}

// explicitCapacity is C for an explicit index: as configured, else the longest row, and at least 1.
func (s *Spec) explicitCapacity() int {
	c := 1
	for _, row := range s.Index {
		for _, index := range row {
			c = max(c, len(index))
		}
	}
	return orElse(s.Capacity, c)
}

// explicit keeps counts and index as they are written; only an index beyond the capacity or the count is left out.
func (s *Spec) explicit(ranks int) *Routing {
	r := blank(ranks)
	r.tokens, r.capacity = s.Tokens, s.explicitCapacity()
	r.lengths = make([]int32, ranks*ranks)
	for src, row := range s.Index {
		for dst, index := range row {
			k := src*ranks + dst
			n := min(max(s.Counts[src][dst], 0), r.capacity)
			r.counts[k] = int32(s.Counts[src][dst])
			r.starts[k], r.lengths[k] = int32(len(r.rows[src])), int32(n)
			for _, i := range index[:n] {
				r.rows[src] = append(r.rows[src], int32(i))
			}
		}
	}
	return r
}

// blank is a routing of no rows.
func blank(ranks int) *Routing {
	return &Routing{
		ranks: ranks, counts: make([]int32, ranks*ranks), starts: make([]int32, ranks*ranks), rows: make([][]int32, ranks),
	}
}
