package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
)

// shownParts is how many causes a card lists before the rest is one line.
const shownParts = 10

// pathTable says what the elapsed time was spent on, along the chain of events that led to its end.
func pathTable(p *page, r *result.Result) {
	switch {
	case r.Path == nil:
		return
	case r.Path.Note != "":
		p.table("Critical path", "~").notes = []string{r.Path.Note}
		return
	}
	t := p.table("What the elapsed time was spent on, us", "cause", "part", ">time", ">%", ">times", "~")
	parts := byTime(r.Path.Parts)
	rest, more := engine.Duration(0), 0
	for i, x := range parts {
		if i < shownParts || len(parts) == shownParts+1 {
			t.add(x.Cause, x.Group, exact(x.Time), percentOf(x.Time, r.Elapsed), count(x.Count), x.What)
			continue
		}
		rest, more = rest+x.Time, more+1
	}
	if more > 0 {
		t.add(plural(more, "more cause"), "", exact(rest), percentOf(rest, r.Elapsed), "", "")
	}
	t.add("sum", "", exact(r.Path.Total), percentOf(r.Path.Total, r.Elapsed), "", "")
	t.notes = append(t.notes, "Back from the last block's end, each event had to wait for the one before it; what they waited for adds up to the elapsed time.")
}

func byTime(parts []result.PathPart) []result.PathPart {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b result.PathPart) int { return cmp.Compare(b.Time, a.Time) })
	return parts
}

func pathRecords(t *tidy, r *result.Result) {
	if r.Path == nil {
		return
	}
	for _, x := range r.Path.Parts {
		t.us("path", x.Cause, x.Group, -1, x.Time)
	}
}

// groups sums up a path by part of the machine, the largest first.
func groups(path *result.Path) (out []result.PathPart) {
	for _, x := range path.Parts {
		i := slices.IndexFunc(out, func(g result.PathPart) bool { return g.Group == x.Group })
		if i < 0 {
			i, out = len(out), append(out, result.PathPart{Group: x.Group})
		}
		out[i].Time += x.Time
	}
	return byTime(out)
}

// queued is the time of a path in which others held what was needed.
func queued(path *result.Path) (d engine.Duration) {
	for _, x := range path.Parts {
		if strings.HasSuffix(x.Cause, "_queue") {
			d += x.Time
		}
	}
	return d
}

// stepTable lists the steps of a path that are long.
func stepTable(p *page, r *result.Result) {
	if r.Path == nil || len(r.Path.Steps) == 0 {
		return
	}
	t := p.table("Longest steps of the path, in order", ">from us", ">us", ">%", "cause", "where", "op", "~while")
	steps := slices.Clone(r.Path.Steps)
	slices.SortStableFunc(steps, func(a, b result.PathStep) int { return cmp.Compare(b.To.Sub(b.From), a.To.Sub(a.From)) })
	steps = steps[:min(len(steps), 16)]
	slices.SortFunc(steps, func(a, b result.PathStep) int { return cmp.Compare(a.From, b.From) })
	for i := range steps {
		s := &steps[i]
		d := s.To.Sub(s.From)
		t.add(us(engine.Duration(s.From)), us(d), percentOf(d, r.Elapsed), s.Cause, stepPlace(s), s.Op, held(s))
	}
	if n := int64(len(r.Path.Steps)-len(steps)) + r.Path.Omitted; n > 0 {
		t.notes = append(t.notes, plural(n, "shorter step")+" not listed; the JSON form lists up to 10,000")
	}
}

func stepPlace(s *result.PathStep) string {
	switch {
	case s.Block >= 0:
		return fmt.Sprintf("rank %d, block %d", s.Rank, s.Block)
	case s.Peer >= 0:
		return fmt.Sprintf("%d -> %d", s.Rank, s.Peer)
	case s.Rank >= 0:
		return fmt.Sprintf("rank %d", s.Rank)
	}
	return ""
}

// held says who held what a step needed.
func held(s *result.PathStep) string {
	if s.Queued == 0 {
		return ""
	}
	text := "others held the link for " + us(s.Queued) + " us"
	if s.Holder != nil {
		text += fmt.Sprintf(", the last of them %d -> %d", s.Holder.Rank, s.Holder.Peer)
	}
	return text
}
