package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// The band of a run, which its document has.
type (
	Band      = document.Band
	BandParam = document.BandParam
	Draw      = document.Draw
	Range     = document.Range
)

// NewDraw cuts a point down to what a band keeps of it.
func NewDraw(p *Point) Draw {
	return Draw{Status: p.Status, Elapsed: p.Elapsed, Algbw: p.Algbw, Busbw: p.Busbw}
}

// Lever is a banded parameter with the rank correlation between it and the elapsed time
// over the draws: +1 when a larger value is always slower, 0 when the order says nothing.
type Lever struct {
	Path        string  `json:"path"`
	Correlation float64 `json:"rank_correlation"`
}

// Levers sorts a band's parameters by how closely elapsed follows them, the closest
// first. Draws that did not end ok are left out.
func Levers(b *Band) (out []Lever) {
	var ok []int
	var times []float64
	for k := range b.Draws {
		if d := &b.Draws[k]; d.Status == result.OK {
			ok, times = append(ok, k), append(times, float64(d.Elapsed))
		}
	}
	y := ranks(times)
	for i := range b.Params {
		p := &b.Params[i]
		var x []float64
		for _, k := range ok {
			v, _ := engine.ReadQuantity(p.Draws[k])
			x = append(x, float64(v))
		}
		out = append(out, Lever{p.Path, correlation(ranks(x), y)})
	}
	slices.SortStableFunc(out, func(a, b Lever) int { return cmp.Compare(math.Abs(b.Correlation), math.Abs(a.Correlation)) })
	return out
}

// ranks replaces values by their ranks, equal values by the mean of theirs.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}

// correlation is Pearson's, rounded to hundredths; 0 where one side does not vary.
func correlation(x, y []float64) float64 {
	mean := float64(len(x)-1) / 2
	var xy, xx, yy float64
	for i := range x {
		a, b := x[i]-mean, y[i]-mean
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return math.Round(100*xy/math.Sqrt(xx*yy)) / 100
}

// chance is the rank correlation below which a parameter may owe it to luck: three
// standard deviations of what parameters without any influence show.
func chance(b *Band) float64 {
	return 3 / math.Sqrt(float64(max(len(b.Draws)-1, 1)))
}

// maxLevers is how many parameters a card names.
const maxLevers = 4

// leverText says which parameter moves elapsed most.
func leverText(b *Band) string {
	levers, sure := Levers(b), chance(b)
	if len(levers) == 0 {
		return "This run uses no parameter that has a band: all draws are the nominal run"
	}
	if levers[0].Correlation == 0 {
		return "No draw changes elapsed"
	}
	var named []string
	for _, l := range levers {
		if math.Abs(l.Correlation) >= sure && len(named) < maxLevers {
			named = append(named, fmt.Sprintf("%s (%+.2f)", l.Path, l.Correlation))
		}
	}
	if len(named) == 0 {
		text := fmt.Sprintf("No parameter alone moves elapsed enough to stand out; nearest is %s (rank correlation %+.2f", levers[0].Path, levers[0].Correlation)
		if sure > 1 {
			return text + "; so few draws cannot tell)"
		}
		return text + fmt.Sprintf("; %.2f may be chance)", sure)
	}
	text := "What moves elapsed most: " + strings.Join(named, ", ")
	return text + "; in brackets the rank correlation, + is slower when larger"
}

// bandTable shows the band of a run.
func (c *Card) bandTable(p *page, m *Metrics) {
	b := c.Band
	if b == nil {
		return
	}
	t := p.table(fmt.Sprintf("Band: %s of %s from within their limits, seed %d", plural(len(b.Draws), "draw"), plural(len(b.Params), "parameter"), b.Seed),
		"figure", "unit", ">low", ">nominal", ">high", ">least", ">median", ">most")
	times := func(name string, nominal engine.Duration, figure func(*Draw) int64) {
		if r, ok := document.Spanned(b.Draws, int64(nominal), figure); ok {
			f := func(v int64) string { return us(engine.Duration(v)) }
			t.add(name, "us", f(r.Low), f(int64(nominal)), f(r.High), f(r.Least), f(r.Median), f(r.Most))
		}
	}
	rate := func(name string, nominal engine.Rate, figure func(*Draw) int64) {
		if r, ok := document.Spanned(b.Draws, int64(nominal), figure); ok && m.Defined {
			f := func(v int64) string { return gbps(engine.Rate(v)) }
			t.add(name, "GB/s", f(r.Low), f(int64(nominal)), f(r.High), f(r.Least), f(r.Median), f(r.Most))
		}
	}
	times(marked("elapsed", c.Outside), m.Elapsed, document.ElapsedOf)
	rate(marked("algbw", c.Outside), m.Algbw, document.AlgbwOf)
	rate(marked("busbw", c.Outside), m.Busbw, document.BusbwOf)
	t.notes = append(t.notes, leverText(b), DefBand+lopsided(b, m))
	if bad := document.Failed(b.Draws); len(bad) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("NOT OK: %s of %d did not end ok and are left out: %s", plural(len(bad), "draw"), len(b.Draws), strings.Join(bad[:min(len(bad), 4)], ", ")))
	}
}

// DefBand defines low and high.
const DefBand = "low, high: of ten draws one is below low and one above high; where the nominal run lies beyond, it is the end itself"

// lopsided says that the nominal run lies at an end of the band, as it does when the
// nominal values of parameters that matter are at an end of theirs.
func lopsided(b *Band, m *Metrics) string {
	r, ok := document.Spanned(b.Draws, int64(m.Elapsed), document.ElapsedOf)
	switch {
	case ok && int64(m.Elapsed) < r.Tenth:
		return ", as here: it is faster than nine in ten draws, since parameters that matter are nominally at the fast end of their bands"
	case ok && int64(m.Elapsed) > r.Ninetieth:
		return ", as here: it is slower than nine in ten draws, since parameters that matter are nominally at the slow end of their bands"
	}
	return ""
}

// bandRecords are the band's rows of the card's CSV.
func (c *Card) bandRecords(t *tidy, m *Metrics) {
	b := c.Band
	if b == nil {
		return
	}
	add := func(name, unit string, nominal int64, figure func(*Draw) int64, print func(int64) string) {
		r, ok := document.Spanned(b.Draws, nominal, figure)
		if !ok {
			return
		}
		for _, x := range []struct {
			stat string
			v    int64
		}{{"least", r.Least}, {"low", r.Low}, {"nominal", nominal}, {"median", r.Median}, {"high", r.High}, {"most", r.Most}} {
			t.add("band", name, x.stat, -1, -1, unit, print(x.v))
		}
	}
	rate := func(v int64) string { return fixed(v, 9, 6) }
	add("elapsed_us", "us", int64(m.Elapsed), document.ElapsedOf, func(v int64) string { return exact(engine.Duration(v)) })
	if m.Defined {
		add("algbw_gb_per_s", "GB/s", int64(m.Algbw), document.AlgbwOf, rate)
		add("busbw_gb_per_s", "GB/s", int64(m.Busbw), document.BusbwOf, rate)
	}
	t.number("band", "draws", "", -1, "", int64(len(b.Draws)))
	t.number("band", "seed", "", -1, "", int64(b.Seed))
	t.number("band", "draws_not_ok", "", -1, "", int64(len(document.Failed(b.Draws))))
	for _, l := range Levers(b) {
		t.add("band", l.Path, "rank_correlation", -1, -1, "", fmt.Sprintf("%.2f", l.Correlation))
	}
	for i := range b.Params {
		p := &b.Params[i]
		for _, kv := range []KV{{Key: "low", Value: p.Low}, {Key: "nominal", Value: p.Value}, {Key: "high", Value: p.High}} {
			t.add("band", p.Path, kv.Key, -1, -1, "", kv.Value)
		}
	}
}

// spanText prints low and high of the point's elapsed time; empty without a band.
func spanText(p *Point) (low, high string) {
	r, ok := p.Span()
	if !ok {
		return "", ""
	}
	return us(engine.Duration(r.Low)), us(engine.Duration(r.High))
}

// bandRecord are the columns of a point's band.
func bandRecord(p *Point, wins string) []string {
	span, ok := p.Span()
	if !ok {
		return []string{"", "", "", "", "", "", "0", wins}
	}
	algbw, _ := p.AlgbwSpan()
	busbw, _ := p.BusbwSpan()
	out := []string{exact(engine.Duration(span.Low)), exact(engine.Duration(span.High))}
	for _, v := range []int64{algbw.Low, algbw.High, busbw.Low, busbw.High} {
		out = append(out, fixed(v, 9, 6))
	}
	return append(out, strconv.Itoa(span.Draws), wins)
}

// bandNotes say what the band's columns are, and what is unstable.
func (c *Comparison) bandNotes(choices []Choice) (out []string) {
	if c.Band == nil {
		return nil
	}
	out = append(out, fmt.Sprintf("band: every point again with %s of %s from within their limits, seed %d, the same at all points; wins: in how many draws that value is the one to take",
		plural(c.drawsOf(), "draw"), plural(len(c.Band.Params), "parameter"), c.Band.Seed), DefBand)
	if n := c.NotOK(); n > 0 {
		out = append(out, fmt.Sprintf("NOT OK: %s did not end ok and are left out", plural(n, "draw")))
	}
	unstable := 0
	for i := range choices {
		if s := choices[i].Band; s != nil && !s.Stable {
			unstable++
		}
	}
	if unstable > 0 && len(c.Races()) == 0 {
		out = append(out, fmt.Sprintf("UNSTABLE: %s does not win in four of five draws: what is uncertain about the machine decides", plural(unstable, "recommendation")))
	}
	return out
}

// NotOK counts the draws of all points that did not end ok.
func (c *Comparison) NotOK() (n int) {
	for i := range c.Points {
		n += len(document.Failed(c.Points[i].Draws))
	}
	return n
}
