package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// How firm a choice is, which its document has.
type (
	Stability = document.Stability
	Win       = document.Win
)

// stableFrom is the share of the draws that a recommendation must win to be called
// stable: four in five.
const stableFrom = 800_000

// decideBand repeats the choice with each draw: the same rule, the times of the draw.
func decideBand(c *Choice, points []Point, axis string, tolerance engine.Fraction) {
	if c.Pick < 0 || c.Runs < 2 {
		return
	}
	s := Stability{}
	wins := map[string]int{}
	for k := range drawsIn(c, points) {
		times := make([]engine.Duration, len(c.Rows))
		whole := true
		for i, r := range c.Rows {
			if r.Place == 0 {
				continue
			}
			d := &points[r.Point].Draws[k]
			times[i], whole = d.Elapsed, whole && d.Status == result.OK
		}
		if !whole {
			continue
		}
		best := quickest(times)
		pick := best
		if !named(axis) {
			pick = slices.IndexFunc(times, func(t engine.Duration) bool { return t > 0 && exceeds(times[best], tolerance, t) >= 0 })
		}
		s.Draws++
		wins[c.Rows[pick].Value]++
		behind, _ := share(times[c.Pick]-times[best], times[best])
		s.Behind = max(s.Behind, behind)
	}
	if s.Draws == 0 {
		return
	}
	for _, r := range c.Rows {
		if n := wins[r.Value]; n > 0 {
			s.Wins = append(s.Wins, Win{Value: r.Value, Draws: n})
		}
	}
	slices.SortStableFunc(s.Wins, func(a, b Win) int { return cmp.Compare(b.Draws, a.Draws) })
	part, _ := ratio(int64(wins[c.Rows[c.Pick].Value]), int64(engine.One), int64(s.Draws))
	s.Stable = part >= stableFrom
	c.Band = &s
	c.Text += "; " + stabilityText(&s, c.Rows[c.Pick].Value)
}

// drawsIn returns how many draws all ranked points have.
func drawsIn(c *Choice, points []Point) int {
	n := -1
	for _, r := range c.Rows {
		if d := len(points[r.Point].Draws); r.Place > 0 && (n < 0 || d < n) {
			n = d
		}
	}
	return max(n, 0)
}

// quickest returns the row with the least time; 0 is none.
func quickest(times []engine.Duration) int {
	best := -1
	for i, t := range times {
		if t > 0 && (best < 0 || t < times[best]) {
			best = i
		}
	}
	return best
}

// maxWins is how many winners a sentence names.
const maxWins = 3

// stabilityText says how often what is taken wins: "across the band 32 wins in 27 of 32 draws, 16 in 5".
func stabilityText(s *Stability, pick string) string {
	parts := []string{fmt.Sprintf("%s wins in %d of %d draws", pick, s.Of(pick), s.Draws)}
	others := 0
	for _, w := range s.Wins {
		switch {
		case w.Value == pick:
		case len(parts) <= maxWins:
			parts = append(parts, fmt.Sprintf("%s in %d", w.Value, w.Draws))
		default:
			others += w.Draws
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("others in %d", others))
	}
	text := "across the band " + strings.Join(parts, ", ")
	switch {
	case !s.Stable && s.Behind <= TwoPercent:
		text += fmt.Sprintf(": UNSTABLE, but never more than %s %% behind the best of a draw", percent(s.Behind))
	case !s.Stable:
		text += fmt.Sprintf(": UNSTABLE: it is up to %s %% behind the best of a draw", percent(s.Behind))
	}
	return text
}

// winShare prints how often a value wins, "27/32".
func winShare(s *Stability, value string) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Of(value), s.Draws)
}

// drawsOf returns how many draws the points of a comparison have: those that ended ok
// all have as many.
func (c *Comparison) drawsOf() int {
	for i := range c.Points {
		if n := len(c.Points[i].Draws); n > 0 {
			return n
		}
	}
	return 0
}

// withDraw returns the points with what draw k gives instead of the nominal run.
func withDraw(points []Point, k int) []Point {
	out := slices.Clone(points)
	for i := range out {
		if p := &out[i]; k < len(p.Draws) {
			d := p.Draws[k]
			p.Status, p.Elapsed, p.Algbw, p.Busbw = d.Status, d.Elapsed, d.Algbw, d.Busbw
		}
	}
	return out
}

// raceBands are the same races once for each draw, by draw; nil without a band.
func (c *Comparison) raceBands() (out [][]Race) {
	if c.Band == nil {
		return nil
	}
	for k := range c.drawsOf() {
		out = append(out, Races(withDraw(c.Points, k), c.Compare, c.Along))
	}
	return out
}

// winsAt returns in how many of the draws an algorithm is the fastest at a value.
func winsAt(bands [][]Race, race, value, algorithm int) string {
	n := 0
	for _, races := range bands {
		if races[race].Fastest[value] == algorithm {
			n++
		}
	}
	return fmt.Sprintf("%d/%d", n, len(bands))
}

// crossingSpan returns between which places a switch-over lies over the draws that have
// it, and how many do.
func crossingSpan(bands [][]Race, race int, x *Crossing) string {
	lo, hi, n := Crossing{}, Crossing{}, 0
	for _, races := range bands {
		i := slices.IndexFunc(races[race].Crossings, func(o Crossing) bool { return o.Before == x.Before && o.After == x.After && o.At != "" })
		if i < 0 {
			continue
		}
		o := races[race].Crossings[i]
		if n == 0 || o.X < lo.X {
			lo = o
		}
		if n == 0 || o.X > hi.X {
			hi = o
		}
		n++
	}
	if n == 0 {
		return fmt.Sprintf("in 0/%d draws", len(bands))
	}
	return fmt.Sprintf("%s to %s, in %d/%d draws", lo.At, hi.At, n, len(bands))
}
