package reports

import (
	"fmt"
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
)

// tidy collects the rows of the card's CSV: one value a row, the unit in the name.
type tidy struct{ rows [][]string }

func (t *tidy) add(section, name, stat string, rank, peer int, unit, value string) {
	where := func(n int) string {
		if n < 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	t.rows = append(t.rows, []string{section, name, stat, where(rank), where(peer), unit, value})
}

func (t *tidy) text(section, name, value string) { t.add(section, name, "", -1, -1, "", value) }

func (t *tidy) us(section, name, stat string, rank int, d engine.Duration) {
	t.add(section, name+"_us", stat, rank, -1, "us", exact(d))
}

func (t *tidy) number(section, name, stat string, rank int, unit string, n int64) {
	t.add(section, name, stat, rank, -1, unit, strconv.FormatInt(n, 10))
}

func (t *tidy) spread(section, name string, s Spread) {
	if s.Values == 0 {
		return
	}
	t.us(section, name, "min", s.MinAt, s.Min)
	t.us(section, name, "mean", -1, s.Mean)
	t.us(section, name, "max", s.MaxAt, s.Max)
}

func (c *Card) records() [][]string {
	r, m, a := c.Result, Measure(c), newAccounts(c.Result)
	t := &tidy{rows: [][]string{{"section", "name", "stat", "rank", "peer", "unit", "value"}}}
	c.verdictRecords(t, a)
	for _, kv := range c.Inputs {
		t.text("inputs", kv.Key, kv.Value)
	}
	c.resultRecords(t, &m)
	c.bandRecords(t, &m)
	for _, b := range c.Bound.Parts {
		t.us("bound", b.Name, "", -1, b.Time)
	}
	pathRecords(t, r)
	for _, row := range a.rows() {
		t.us("time", row.name, "slowest_block", -1, row.slowest)
		t.us("time", row.name, "min", -1, row.min)
		t.us("time", row.name, "mean", -1, row.mean)
		t.us("time", row.name, "max", -1, row.max)
	}
	c.counterRecords(t)
	for _, row := range pipeRows(r) {
		if row.unit == "us" {
			t.us("pipes", row.name, "sum", -1, engine.Duration(row.sum))
			t.us("pipes", row.name, "max", -1, engine.Duration(row.most))
		} else {
			t.number("pipes", row.name, "sum", -1, "", row.sum)
			t.number("pipes", row.name, "max", -1, "", row.most)
		}
	}
	resourceRecords(t, r)
	for i := range r.Calls {
		t.us("calls", callName(&r.Calls[i])+" elapsed", "", -1, r.Calls[i].Elapsed)
	}
	c.paramRecords(t)
	return t.rows
}

func (c *Card) verdictRecords(t *tidy, a *accounts) {
	r := c.Result
	t.text("verdict", "title", c.Title)
	t.text("verdict", "status", string(r.Status))
	for _, l := range append(verdict(r), problems(c, a)...) {
		t.text("verdict", "text", l)
	}
	t.text("verdict", "payload", r.Data.Payload)
	t.number("verdict", "checked_bytes", "", -1, "B", int64(r.Data.Checked))
	t.number("verdict", "wrong_bytes", "", -1, "B", int64(r.Data.Wrong))
	t.number("verdict", "checked_words", "", -1, "", r.Data.Words)
	t.number("verdict", "wrong_words", "", -1, "", r.Data.WrongWords)
	for i := range r.Hazards {
		h := &r.Hazards[i]
		t.text("hazard", string(h.Kind), h.Text)
		for _, kv := range hazardRows(h) {
			t.add("hazard", string(h.Kind), kv.Key, -1, -1, "", kv.Value)
		}
	}
	for i := range r.Diagnoses {
		d := &r.Diagnoses[i]
		for _, kv := range diagnosisRows(d) {
			t.add("diagnosis", d.Row, strings.ToLower(strings.ReplaceAll(kv.Key, " ", "_")), -1, -1, "", kv.Value)
		}
	}
	if r.Stuck != nil {
		for _, w := range r.Stuck.Waits {
			t.add("deadlock", w.Op, "waits", w.Rank, -1, "", fmt.Sprintf("block %d on %s: %d of %d, should come from %s", w.Block, w.Cell, w.Value, w.Expected, w.Missing))
		}
	}
}

func (c *Card) resultRecords(t *tidy, m *Metrics) {
	t.us("results", "elapsed", "", -1, m.Elapsed)
	if mean, n := meanCall(c.Result); n > 1 {
		t.us("results", "mean_call", "", -1, mean)
	}
	if c.Clock != nil {
		t.us("results", "benchmark_clock", "", -1, c.Clock.Time)
	}
	t.us("results", "start_skew", "", -1, m.Skew)
	t.spread("results", "rank_time", m.PerRank)
	t.spread("results", "barrier_exit", m.Exit)
	for _, x := range []struct {
		name string
		rate engine.Rate
	}{{"algbw", m.Algbw}, {"busbw", m.Busbw}, {"wire", m.Wire}} {
		value := notAvailable
		if m.Defined {
			value = fixed(int64(x.rate), 9, 6)
		}
		t.add("results", x.name+"_gb_per_s", "", -1, -1, "GB/s", value)
	}
	t.us("results", "bound", "", -1, m.Bound)
	t.text("results", "bound_by", m.BoundBy)
	reached := notAvailable
	if m.Defined {
		reached = fixed(int64(m.Reached), 4, 4)
	}
	t.add("results", "bound_reached_percent", "", -1, -1, "%", reached)
	t.number("results", "peak_sq_wqebb", "", m.PeakAt, "WQEBB", m.PeakSQ)
	t.number("results", "events", "", -1, "", int64(c.Result.Events))
	for _, o := range c.Outside {
		t.text("results", "outside_fit", o.String())
	}
	t.text("results", "digest_events", c.Result.Digests.Events)
	t.text("results", "digest_result", c.Result.Digests.Result)
}

func (c *Card) counterRecords(t *tidy) {
	for _, row := range c.counterRows() {
		k := row.counter
		t.number("counters", k.String(), "counted", -1, k.Unit(), row.counted)
		if row.known {
			t.number("counters", k.String(), "formula", -1, k.Unit(), row.predicted)
		}
	}
	for i := range c.Result.Ranks {
		r := &c.Result.Ranks[i]
		t.us("ranks", "elapsed", "", i, r.Elapsed)
		t.number("ranks", "peak_sq_wqebb", "", i, "WQEBB", r.PeakSQ)
		for k := range result.NumCounters {
			t.number("ranks", k.String(), "counted", i, k.Unit(), r.Counters[k])
			if len(c.Formula) > 0 && c.Formula[i][k] != Unknown {
				t.number("ranks", k.String(), "formula", i, k.Unit(), c.Formula[i][k])
			}
		}
	}
}

func resourceRecords(t *tidy, r *result.Result) {
	for _, k := range topResources(r) {
		x := k.busiest
		row := func(name, unit, value string) {
			t.add("resources", k.name+" "+name, "busiest", x.Rank, x.Peer, unit, value)
		}
		row("busy_us", "us", exact(x.Busy))
		row("blocked_us", "us", exact(x.Blocked))
		row("idle_us", "us", exact(max(0, wholeRun(r)-x.Busy-x.Blocked)))
		row("carried_bytes", "B", strconv.FormatInt(int64(x.Bytes), 10))
		row("rate_gb_per_s", "GB/s", gbps(x.Rate))
		t.number("resources", k.name+" number", "", -1, "", int64(k.number))
	}
}

func (c *Card) paramRecords(t *tidy) {
	k := &c.Params
	t.number("parameters", "documented", "", -1, "", int64(k.Documented))
	t.number("parameters", "fitted", "", -1, "", int64(k.Fitted))
	t.number("parameters", "assumed", "", -1, "", int64(k.Assumed))
	t.number("parameters", "user", "", -1, "", int64(k.User))
	for _, s := range k.AssumedThatMattered {
		t.text("parameters", "assumed_that_mattered", s)
	}
	for _, s := range k.Outside {
		t.text("parameters", "outside_fitted_range", s)
	}
	for _, s := range k.Unread {
		t.text("parameters", "set_but_not_read", s)
	}
}
