package reports

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// TwoPercent is the tolerance within which a smaller value counts as good enough.
const TwoPercent engine.Fraction = 20_000

// Choice compares the points of a sweep that differ on one axis only.
type Choice = document.Choice

// ChoiceRow is one point of a Choice.
type ChoiceRow = document.ChoiceRow

// Recommend groups the points by all axes but one and recommends in each group the
// smallest value of that axis whose time is within the tolerance of the best: fewer
// AIVs are then taken from compute. Only runs that ended ok are ranked. Values that
// are no numbers count in order of appearance. Without the axis there is one group,
// ranked, with no recommendation.
func Recommend(points []Point, axis string, tolerance engine.Fraction) []Choice {
	var choices []Choice
	place := map[string]int{} // common axes -> index in choices
	for i := range points {
		value, ok := points[i].Axis(axis)
		var others []KV
		if ok {
			others = without(points[i].Axes, axis)
		}
		key := fmt.Sprintf("%t %q", ok, others)
		k, known := place[key]
		if !known {
			k = len(choices)
			place[key] = k
			choices = append(choices, Choice{Axes: others, Best: -1, Pick: -1})
		}
		choices[k].Rows = append(choices[k].Rows, ChoiceRow{Point: i, Value: value})
	}
	for i := range choices {
		decide(&choices[i], points, axis, tolerance)
		decideBand(&choices[i], points, axis, tolerance)
	}
	return choices
}

func without(axes []KV, axis string) []KV {
	return slices.DeleteFunc(slices.Clone(axes), func(kv KV) bool { return kv.Key == axis })
}

func decide(c *Choice, points []Point, axis string, tolerance engine.Fraction) {
	byValue(c.Rows)
	time := func(row int) engine.Duration { return points[c.Rows[row].Point].Elapsed }
	var ranked []int
	for i := range c.Rows {
		if points[c.Rows[i].Point].Status == result.OK {
			ranked = append(ranked, i)
		}
	}
	c.Runs = len(ranked)
	if c.Runs == 0 {
		c.Text = "no run of this group ended ok: there is nothing to recommend"
		return
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(time(a), time(b)) })
	c.Best = ranked[0]
	best, worst := time(ranked[0]), time(ranked[len(ranked)-1])
	for n, row := range ranked {
		r := &c.Rows[row]
		r.Place = n + 1
		if n > 0 && time(row) == time(ranked[n-1]) {
			r.Place = c.Rows[ranked[n-1]].Place
		}
		r.Behind, _ = share(time(row)-best, best)
	}
	if c.Runs > 1 {
		c.Range = over3(worst, best)
		c.Flat = worst == best || exceeds(best, tolerance, worst) > 0
	}
	if c.Rows[0].Value == "" {
		return
	}
	if named(axis) { // there is no smaller algorithm
		c.Pick = c.Best
		c.Text = winner(c, points, ranked)
		return
	}
	c.Pick = slices.IndexFunc(c.Rows, func(r ChoiceRow) bool {
		return r.Place > 0 && exceeds(best, tolerance, points[r.Point].Elapsed) >= 0
	})
	c.Text = sentence(c, points, axis, tolerance)
}

// named reports whether an axis has names rather than amounts: the fastest counts.
func named(axis string) bool {
	return axis == "op" || strings.HasSuffix(axis, ".op") || strings.HasSuffix(axis, ".form")
}

// winner names the fastest, and how far behind the next one is.
func winner(c *Choice, points []Point, ranked []int) string {
	best := &c.Rows[ranked[0]]
	text := fmt.Sprintf("take %s: %s us, the fastest", best.Value, timeOf(&points[best.Point]))
	if len(ranked) > 1 {
		next := &c.Rows[ranked[1]]
		text += fmt.Sprintf("; next is %s, %s %% behind: %s us", next.Value, percent(next.Behind), timeOf(&points[next.Point]))
	}
	return text
}

// exceeds compares best*(1+tolerance) with d, exactly.
func exceeds(best engine.Duration, tolerance engine.Fraction, d engine.Duration) int {
	hi, lo := bits.Mul64(uint64(best), uint64(engine.One+tolerance))
	hi2, lo2 := bits.Mul64(uint64(d), uint64(engine.One))
	return cmp.Or(cmp.Compare(hi, hi2), cmp.Compare(lo, lo2))
}

func over3(a, b engine.Duration) string {
	if n, ok := ratio(int64(a), 1000, int64(b)); ok {
		return fixed(n, 3, 3)
	}
	return notAvailable
}

func sentence(c *Choice, points []Point, axis string, tolerance engine.Fraction) string {
	pick, best := &c.Rows[c.Pick], &c.Rows[c.Best]
	p, b := &points[pick.Point], &points[best.Point]
	take := fmt.Sprintf("take %s %s: %s us", axis, pick.Value, timeOf(p))
	switch {
	case c.Runs == 1:
		return fmt.Sprintf("%s %s is the only run that ended ok: %s us", axis, pick.Value, timeOf(p))
	case c.Flat:
		return fmt.Sprintf("%s hardly matters here: slowest/quickest = %s; take the smallest, %s: %s us", axis, c.Range, pick.Value, timeOf(p))
	case pick == best:
		return take + ", the best"
	}
	text := fmt.Sprintf("%s, %s %% behind the best (%s %s, %s us) and so within %s", take, percent(pick.Behind), axis, best.Value, timeOf(b), tolerance)
	if m, err1 := strconv.Atoi(best.Value); strings.HasSuffix(axis, "core_num") && err1 == nil {
		if n, err := strconv.Atoi(pick.Value); err == nil && m > n {
			text += fmt.Sprintf("; it leaves %s a rank for compute", plural(m-n, "more AIV"))
		}
	}
	return text
}

// byValue orders rows by the numbers that their values are; if some is no number,
// the rows keep the order of the sweep.
func byValue(rows []ChoiceRow) {
	n := make(map[string]float64, len(rows))
	for i := range rows {
		v, ok := magnitude(rows[i].Value)
		if !ok {
			return
		}
		n[rows[i].Value] = v
	}
	slices.SortStableFunc(rows, func(a, b ChoiceRow) int { return cmp.Compare(n[a.Value], n[b.Value]) })
}

// magnitude reads "16", "64 KiB", "50 GB/s", "0.35 us", "94.8 %" and the like.
func magnitude(s string) (float64, bool) {
	if v, err := strconv.ParseFloat(s, 64); err == nil && v-v == 0 {
		return v, true
	}
	var size engine.Bytes
	var span engine.Duration
	var rate engine.Rate
	var clock engine.Hertz
	var part engine.Fraction
	var cycles engine.Cycles
	switch text := []byte(s); {
	case size.UnmarshalText(text) == nil:
		return float64(size), true
	case span.UnmarshalText(text) == nil:
		return float64(span), true
	case rate.UnmarshalText(text) == nil:
		return float64(rate), true
	case clock.UnmarshalText(text) == nil:
		return float64(clock), true
	case part.UnmarshalText(text) == nil:
		return float64(part), true
	case cycles.UnmarshalText(text) == nil:
		return float64(cycles), true
	}
	return 0, false
}
