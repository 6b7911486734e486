package routing

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// kinds lists what Spec.Kind may be; the enum tag repeats it for the decoder.
var kinds = []string{"uniform", "random", "explicit", "moe_topk", "skewed", "matrix"}

// mostRanks bounds the P*P counts, 12 bytes a pair; well above the 1,024 ranks that the simulator is built for.
const mostRanks = 1 << 13

// readers returns which kinds read a field, from its `when` tag; empty if all do.
func readers(f reflect.StructField) []string {
	for _, word := range strings.Fields(f.Tag.Get("when")) {
		if kinds, ok := strings.CutPrefix(word, "kind="); ok {
			return strings.Split(kinds, "|")
		}
	}
	return nil
}

// unread reports the fields of a struct that are set though its kind does not read them.
func (p *problems) unread(spec any, path, noun, kind string) {
	v := reflect.ValueOf(spec).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if by := readers(f); by != nil && !v.Field(i).IsZero() && !slices.Contains(by, kind) {
			p.add(path+f.Tag.Get("yaml"), "%s %s does not read it; %s would", noun, kind, strings.Join(by, ", "))
		}
	}
}

// check finds what is wrong with a spec whose model has been filled in, without reading a file.
func (s *Spec) check(ranks int, p *problems) {
	p.within("ranks", ranks, 1, mostRanks)
	if !p.oneOf("kind", s.Kind, kinds...) || ranks < 1 || ranks > mostRanks {
		return // the rest would mean nothing
	}
	p.unread(s, "", "kind", s.Kind)
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
	p.unread(s, "skew.", "skew", kind)
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
