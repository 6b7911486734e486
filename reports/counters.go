package reports

import (
	"fmt"

	"pldperf/hw/result"
)

// counterRow compares what was counted with what the formula predicts.
type counterRow struct {
	counter   result.Counter
	counted   int64
	predicted int64
	known     bool // there is a formula
	min, max  int64
	rank      int   // the first that differs from its formula; -1 when none does
	rankWant  int64 // what the formula says for it
	rankGot   int64
}

func (c *Card) counterRows() []counterRow {
	r := c.Result
	rows := make([]counterRow, 0, result.NumCounters)
	for k := range result.NumCounters {
		row := counterRow{counter: k, counted: r.Totals[k], rank: -1}
		row.predicted, row.known = c.predicted(k)
		for i := range r.Ranks {
			n := r.Ranks[i].Counters[k]
			if i == 0 {
				row.min, row.max = n, n
			}
			row.min, row.max = min(row.min, n), max(row.max, n)
			if row.known && row.rank < 0 && n != c.Formula[i][k] {
				row.rank, row.rankGot, row.rankWant = i, n, c.Formula[i][k]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// nothing reports whether nothing was counted and nothing was predicted.
func (r *counterRow) nothing() bool { return r.counted == 0 && r.predicted == 0 && r.rank < 0 }

// verdict is a tick, or how far the count is from the formula and where.
func (r *counterRow) verdict() string {
	switch {
	case !r.known:
		return ""
	case r.rank >= 0:
		return fmt.Sprintf("%+d; rank %d: %s, not %s", r.counted-r.predicted, r.rank, count(r.rankGot), count(r.rankWant))
	case r.counted != r.predicted:
		return fmt.Sprintf("%+d", r.counted-r.predicted)
	}
	return "✓"
}

// each is what every rank counted, or the least and the most.
func (r *counterRow) each() string {
	if r.min == r.max {
		return count(r.min)
	}
	return count(r.min) + ".." + count(r.max)
}

func (c *Card) counterTable(p *page) {
	t := p.table("Counted, beside what the formulas predict, over all ranks",
		"counter", ">counted", ">formula", "check", ">each rank", "~formula of a rank")
	zero := 0
	for _, row := range c.counterRows() {
		if row.nothing() {
			zero++
			continue
		}
		predicted := "-"
		if row.known {
			predicted = count(row.predicted)
		}
		name := row.counter.String()
		if u := row.counter.Unit(); u != "" {
			name += " (" + u + ")"
		}
		t.add(name, count(row.counted), predicted, row.verdict(), row.each(), c.formulaText(row.counter))
	}
	if zero > 0 {
		t.notes = append(t.notes, plural(zero, "further counter")+" of what did not happen, as predicted; --json has all")
	}
	if n := c.Result.Totals[result.WQEBBs]; n > 0 {
		t.notes = append(t.notes, fmt.Sprintf("NOPs fill %s of the WQEBBs", sharePercent(c.Result.Totals[result.NOPs], n)))
	}
}
