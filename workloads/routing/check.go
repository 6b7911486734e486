package routing

import (
	"slices"
	"strconv"
	"strings"
)

// kinds lists what Spec.Kind may be; the enum tag repeats it for the decoder.
var kinds = []string{"uniform", "random", "explicit", "moe_topk", "skewed", "matrix"}

// mostRanks bounds the P*P counts, 12 bytes a pair; well above the 1,024 ranks that the simulator is built for.
const mostRanks = 1 << 13

// readers says which kinds read a field, so that one which nothing reads is found. seed, tokens and capacity are for all.
var readers = []struct {
	path  string
	set   func(*Spec) bool
	kinds string
}{
	{"model", func(s *Spec) bool { return s.Model != "" }, "moe_topk"},
	{"experts", func(s *Spec) bool { return s.Experts != 0 }, "moe_topk"},
	{"top_k", func(s *Spec) bool { return s.TopK != 0 }, "moe_topk"},
	{"n_group", func(s *Spec) bool { return s.NGroup != 0 }, "moe_topk"},
	{"topk_group", func(s *Spec) bool { return s.TopkGroup != 0 }, "moe_topk"},
	{"rows", func(s *Spec) bool { return s.Rows != 0 }, "uniform random"},
	{"self_rows", func(s *Spec) bool { return s.SelfRows != nil }, "uniform random"},
	{"pattern", func(s *Spec) bool { return s.Pattern != "" }, "uniform random explicit matrix"},
	{"stride", func(s *Spec) bool { return s.Stride != 0 }, "uniform random explicit matrix"},
	{"repeat", func(s *Spec) bool { return s.Repeat != 0 }, "uniform random explicit matrix"},
	{"counts", func(s *Spec) bool { return s.Counts != nil }, "explicit"},
	{"index", func(s *Spec) bool { return s.Index != nil }, "explicit"},
	{"skew", func(s *Spec) bool { return s.Skew.isSet() }, "moe_topk skewed"},
	{"csv", func(s *Spec) bool { return s.CSV != "" }, "matrix"},
	{"unit", func(s *Spec) bool { return s.Unit != "" }, "matrix"},
	{"round", func(s *Spec) bool { return s.Round != "" }, "matrix"},
}

func (s *Skew) isSet() bool {
	return s.Kind != "" || s.Exponent != 0 || s.Hot != nil || s.Factor != 0 || s.Order != "" || s.Table != ""
}

// check finds what is wrong with a spec whose model has been filled in, without reading a file.
func (s *Spec) check(ranks int, p *problems) {
	p.within("ranks", ranks, 1, mostRanks)
	if !p.oneOf("kind", s.Kind, kinds...) || ranks < 1 || ranks > mostRanks {
		return // the rest would mean nothing
	}
	for _, f := range readers {
		if f.set(s) && !slices.Contains(strings.Fields(f.kinds), s.Kind) {
			p.add(f.path, "kind %s does not read it; %s would", s.Kind, strings.ReplaceAll(f.kinds, " ", ", "))
		}
	}
	p.within("tokens", s.Tokens, 0, MaxRows)
	p.within("capacity", s.Capacity, 0, MaxRows)
	s.checkPattern(p)
	switch s.Kind {
	case "uniform", "random":
		s.checkPairs(ranks, p)
	case "explicit":
		s.checkExplicit(ranks, p)
	case "moe_topk":
		s.checkExperts(ranks, p)
		s.Skew.check(s.Experts, p)
	case "skewed":
		s.checkTokens(ranks, 1, p)
		s.Skew.check(ranks, p)
	case "matrix":
		s.checkMatrix(p)
	}
}

// oneOf checks a word against the list of those allowed; it says whether the word was good.
func (p *problems) oneOf(path, word string, allowed ...string) bool {
	if slices.Contains(allowed, word) {
		return true
	}
	if word == "" {
		p.add(path, "missing; one of %s", strings.Join(allowed, ", "))
	} else {
		p.add(path, "unknown %q; did you mean %s? one of %s", word, nearest(word, allowed), strings.Join(allowed, ", "))
	}
	return false
}

// within checks both bounds of a whole number.
func (p *problems) within(path string, v, least, most int) {
	p.atLeast(path, v, least)
	p.atMost(path, v, most)
}

func (s *Spec) checkPattern(p *problems) {
	if s.Pattern != "" {
		p.oneOf("pattern", s.Pattern, "sequential", "strided", "repeated", "random")
	}
	p.within("stride", s.Stride, 0, MaxRows)
	p.within("repeat", s.Repeat, 0, MaxRows)
	if s.Stride != 0 && s.Pattern != "strided" {
		p.add("stride", "only pattern strided reads it")
	}
	if s.Repeat != 0 && s.Pattern != "repeated" {
		p.add("repeat", "only pattern repeated reads it")
	}
	if s.Index != nil && s.Pattern != "" {
		p.add("pattern", "not read beside an explicit index")
	}
}

func (s *Spec) checkPairs(ranks int, p *problems) {
	p.within("rows", s.Rows, 0, MaxRows/ranks)
	if s.SelfRows != nil {
		p.within("self_rows", *s.SelfRows, 0, MaxRows/ranks)
	}
	most := max(s.Rows, s.selfRows())
	if s.Kind == "uniform" && s.Capacity > 0 && s.Capacity < most {
		p.add("capacity", "%d is below the %d rows of a pair; an illegal count needs kind explicit", s.Capacity, most)
	}
}

func (s *Spec) selfRows() int {
	if s.SelfRows != nil {
		return *s.SelfRows
	}
	return s.Rows
}

func (s *Spec) checkExperts(ranks int, p *problems) {
	s.checkTokens(ranks, max(s.TopK, 1), p)
	if s.Experts < 1 || s.TopK < 1 {
		if s.Model == "" || s.Experts < 0 || s.TopK < 0 { // else the model's own fault is enough
			p.atLeast("experts", s.Experts, 1)
			p.atLeast("top_k", s.TopK, 1)
		}
		return
	}
	p.atMost("experts", s.Experts, 1<<20)
	if s.TopK > s.Experts {
		p.add("top_k", "%d is above the %d experts", s.TopK, s.Experts)
	}
	if s.Experts < ranks {
		p.add("experts", "%d experts leave some of the %d ranks without one", s.Experts, ranks)
	}
	s.checkGroups(p)
}

func (s *Spec) checkGroups(p *problems) {
	p.atLeast("n_group", s.NGroup, 1)
	p.atLeast("topk_group", s.TopkGroup, 1)
	if s.NGroup < 1 || s.TopkGroup < 1 {
		return
	}
	if s.Experts%s.NGroup != 0 {
		p.add("n_group", "%d groups do not divide %d experts", s.NGroup, s.Experts)
	}
	if s.TopkGroup > s.NGroup {
		p.add("topk_group", "%d is above the %d groups", s.TopkGroup, s.NGroup)
	} else if open := s.Experts / s.NGroup * s.TopkGroup; s.TopK > open && s.TopK <= s.Experts {
		p.add("topk_group", "%d groups hold %d experts, too few for top_k %d", s.TopkGroup, open, s.TopK)
	}
}

// checkTokens bounds the rows of a routing that draws k items for each token.
func (s *Spec) checkTokens(ranks, k int, p *problems) {
	if s.Tokens < 1 {
		p.add("tokens", "%d is below 1; kind %s needs it", s.Tokens, s.Kind)
	} else if most := MaxRows / ranks / min(k, ranks); s.Tokens > most {
		p.add("tokens", "%d is above %d, the most for %d ranks", s.Tokens, most, ranks)
	}
}

func (s *Spec) checkMatrix(p *problems) {
	if s.CSV == "" {
		p.add("csv", "missing; kind matrix needs the file")
	}
	if s.Unit != "" {
		p.oneOf("unit", s.Unit, "rows", "bytes")
	}
	if s.Round != "" {
		p.oneOf("round", s.Round, "error", "up")
		if s.Unit != "bytes" {
			p.add("round", "only unit bytes reads it")
		}
	}
}

// check finds what is wrong with a skew over n items; n below 1 has been reported elsewhere.
func (s *Skew) check(n int, p *problems) {
	kind := orElse(s.Kind, "none")
	if !p.oneOf("skew.kind", kind, "none", "zipf", "hot", "empirical") {
		return
	}
	unread := func(set bool, path, kinds string) {
		if set && !slices.Contains(strings.Fields(kinds), kind) {
			p.add("skew."+path, "skew %s does not read it; %s would", kind, strings.ReplaceAll(kinds, " ", ", "))
		}
	}
	unread(s.Exponent != 0, "exponent", "zipf")
	unread(s.Hot != nil, "hot", "hot")
	unread(s.Factor != 0, "factor", "hot")
	unread(s.Order != "", "order", "zipf empirical")
	unread(s.Table != "", "table", "empirical")
	if !finite(s.Exponent) || s.Exponent < 0 {
		p.add("skew.exponent", "%v is not a number from 0", s.Exponent)
	}
	if s.Order != "" {
		p.oneOf("skew.order", s.Order, "shuffled", "sorted")
	}
	if kind == "hot" {
		s.checkHot(n, p)
	}
}

func (s *Skew) checkHot(n int, p *problems) {
	if !finite(s.Factor) || s.Factor <= 0 {
		p.add("skew.factor", "%v is not a number above 0; skew hot needs it", s.Factor)
	}
	if len(s.Hot) == 0 {
		p.add("skew.hot", "missing; skew hot needs at least one")
	}
	for i, item := range s.Hot {
		path := "skew.hot[" + strconv.Itoa(i) + "]"
		if item < 0 || item >= n && n > 0 {
			p.add(path, "%d is not in [0, %d)", item, n)
		} else if slices.Contains(s.Hot[:i], item) {
			p.add(path, "%d is named twice", item)
		}
	}
}
