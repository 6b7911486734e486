package reports

import (
	"fmt"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
)

// page lays the card out: verdict, inputs, results, and then where they come from.
func (c *Card) page() *page {
	r, m, a := c.Result, Measure(c), newAccounts(c.Result)
	p := &page{title: c.Title}
	p.lead = append(verdict(r), problems(c, a)...)
	diagnosisTables(p, r)
	waits(p, r.Stuck)
	hazardTable(p, r)
	c.inputTable(p, &m)
	c.resultTable(p, &m)
	c.bandTable(p, &m)
	spreadTable(p, &m)
	c.boundTable(p)
	pathTable(p, r)
	a.table(p, r)
	c.counterTable(p)
	pipeTable(p, r)
	resourceTable(p, r)
	c.callTable(p)
	c.paramTable(p)
	p.tail = c.tail()
	return p
}

func (c *Card) inputTable(p *page, m *Metrics) {
	t := p.table("Inputs", "input", "~value")
	for _, kv := range c.Inputs {
		t.add(kv.Key, kv.Value)
	}
	skew := "0: all ranks start together"
	if m.Skew != 0 {
		skew = us(m.Skew) + " us between the first and the last rank's start"
	}
	t.add("start skew", skew)
}

func (c *Card) resultTable(p *page, m *Metrics) {
	t := p.table("Results", "figure", ">value", "unit", "~definition")
	t.add(marked("elapsed", c.Outside), exact(m.Elapsed), "us", defElapsed)
	c.callRows(t)
	rate := func(name string, r engine.Rate, what string) {
		text := notAvailable
		if m.Defined {
			text = gbps(r)
		}
		t.add(marked(name, c.Outside), text, "GB/s", what)
	}
	rate("algbw", m.Algbw, DefAlgbw)
	rate("busbw", m.Busbw, DefBusbw)
	rate("wire rate", m.Wire, DefWire)
	if c.Bound.Total > 0 {
		t.add("lower bound", us(c.Bound.Total), "us", defBound+"; bound by "+m.BoundBy)
		reached := notAvailable
		if m.Defined {
			reached = percent(m.Reached)
		}
		t.add("reached", reached, "%", defReached)
	}
	if c.SQDepth > 0 {
		t.add("fullest send queue", count(m.PeakSQ), "WQEBB", fmt.Sprintf("of %s (%s), rank %d", count(c.SQDepth), sharePercent(m.PeakSQ, c.SQDepth), m.PeakAt))
	}
	if note := outsideNote(c.Outside); note != "" {
		t.notes = append(t.notes, note)
	}
}

// callRows are the times of one call where the elapsed time is not that: its mean over
// several, and what a benchmark's clock covers of it.
func (c *Card) callRows(t *table) {
	if mean, n := meanCall(c.Result); n > 1 {
		t.add(marked(fmt.Sprintf("mean of %d calls", n), c.Outside), exact(mean), "us", "a timed call's launch to its last block's end; elapsed has what lies between them, too")
	}
	if k := c.Clock; k != nil {
		what := k.Covers + "; what validate compares"
		if k.Calls > 1 {
			what = fmt.Sprintf("mean of %d calls: ", k.Calls) + what
		}
		t.add(marked("benchmark's clock", c.Outside), exact(k.Time), "us", what)
	}
}

// meanCall is the mean elapsed time of the timed calls, if they are one call again and again.
func meanCall(r *result.Result) (mean engine.Duration, n int) {
	var sum engine.Duration
	first := -1
	for i := range r.Calls {
		switch x := &r.Calls[i]; {
		case !x.Timed || !finished(r.Status):
		case first >= 0 && (x.Op != r.Calls[first].Op || itemOf(x) != itemOf(&r.Calls[first])):
			return 0, 0
		default:
			if first < 0 {
				first = i
			}
			sum, n = sum+x.Elapsed, n+1
		}
	}
	if n == 0 {
		return 0, 0
	}
	return (sum + engine.Duration(n)/2) / engine.Duration(n), n
}

// itemOf is the item of a call, without the number of its repetition.
func itemOf(c *result.Call) string {
	name, _, _ := strings.Cut(c.Name, "#")
	return strings.TrimSpace(name)
}

// callName is how a card names a call: by its operation where its item has no name.
func callName(c *result.Call) string {
	name := strings.TrimSpace(c.Name)
	if name == "" || strings.HasPrefix(name, "#") {
		name = strings.TrimSpace(c.Op + " " + name)
	}
	return name
}

func spreadTable(p *page, m *Metrics) {
	t := p.table("Times over the ranks, us", "time", ">least", ">rank", ">mean", ">most", ">rank", "~definition")
	three := func(name string, s Spread, what string) {
		if s.Values > 0 {
			t.add(name, us(s.Min), fmt.Sprint(s.MinAt), us(s.Mean), us(s.Max), fmt.Sprint(s.MaxAt), what)
		}
	}
	three("rank time", m.PerRank, defRank)
	three("barrier exit", m.Exit, defExit)
}

func (c *Card) boundTable(p *page) {
	if len(c.Bound.Parts) == 0 {
		return
	}
	t := p.table("Lower bound by resource", "resource", ">us", ">% of elapsed", "", "~what it counts")
	binds := c.Bound.Binds()
	for i := range c.Bound.Parts {
		b, mark := &c.Bound.Parts[i], ""
		if b == binds {
			mark = "binds"
		}
		t.add(b.Name, us(b.Time), percentOf(b.Time, c.Result.Elapsed), mark, b.What)
	}
}

func (a *accounts) table(p *page, r *result.Result) {
	if len(a.blocks) == 0 {
		return
	}
	t := p.table("Time by reason, us", "reason", ">slowest block", ">%", ">least rank", ">mean rank", ">most rank", ">mean %")
	for _, row := range a.rows() {
		t.add(row.name, exact(row.slowest), percentOf(row.slowest, r.Elapsed), us(row.min), us(row.mean), us(row.max), percentOf(row.mean, r.Elapsed))
	}
	sum := a.slowest.Sum() + a.between + a.lost
	mean := a.mean()
	t.add("sum", exact(sum), percentOf(sum, r.Elapsed), "", us(mean), "", percentOf(mean, r.Elapsed))
	t.notes = append(t.notes, a.definition(r))
}

func (a *accounts) definition(r *result.Result) string {
	where := place(a.blocks[0])
	if len(a.blocks) > 1 {
		var names []string
		for i, b := range a.blocks {
			if i == 4 && len(a.blocks) > 5 {
				names = append(names, "...")
				break
			}
			names = append(names, fmt.Sprintf("%s: %s", callName(&r.Calls[b.Call]), place(b)))
		}
		where = "in each call of the chain that led to the end; " + strings.Join(names, "; ")
	}
	return "The slowest block is the one that waited least for others (" + where + "), so they waited for it; a rank stands for its own slowest block. A block has one reason at every instant, so a column adds up to the elapsed time; least and most are taken reason by reason."
}

func place(b *result.Block) string { return fmt.Sprintf("rank %d, block %d", b.Rank, b.Block) }

func (c *Card) callTable(p *page) {
	r, outside := c.Result, c.Outside
	if len(r.Calls) < 2 {
		return
	}
	t := p.table("Calls", "call", "op", ">repeat", ">core_num", "timed", ">start us", ">elapsed us", ">least rank us", ">most rank us")
	for i := range r.Calls {
		c := &r.Calls[i]
		var d []engine.Duration
		for _, s := range c.Ranks {
			d = append(d, s.End.Sub(s.Start))
		}
		timed := "no"
		if c.Timed {
			timed = "yes"
		}
		s := spread(d)
		t.add(callName(c), c.Op, fmt.Sprint(c.Repeat), fmt.Sprint(c.Blocks), timed, us(engine.Duration(c.Start)), marked(us(c.Elapsed), outside), us(s.Min), us(s.Max))
	}
}

func (c *Card) paramTable(p *page) {
	k := &c.Params
	t := p.table("How well the parameters are known", ">values", "kind", "~")
	t.add(fmt.Sprint(k.Documented), "documented", "")
	t.add(fmt.Sprint(k.Fitted), "fitted", "to published measurements")
	t.add(fmt.Sprint(k.Assumed), "assumed", assumed(k))
	t.add(fmt.Sprint(k.User), "user", "set by file or flag")
	if len(k.Outside) > 0 {
		t.add(fmt.Sprint(len(k.Outside)), "OUTSIDE", "of the data they were fitted to: "+strings.Join(k.Outside, ", "))
	}
	if len(k.Unread) > 0 {
		t.add(fmt.Sprint(len(k.Unread)), "UNREAD", "set, but this run had no use for: "+strings.Join(k.Unread, ", "))
	}
}

func assumed(k *ParamCount) string {
	switch {
	case len(k.AssumedThatMattered) > 0:
		return "those that mattered here: " + strings.Join(k.AssumedThatMattered, ", ")
	case k.Assumed > 0:
		return "none is known to have mattered here"
	}
	return ""
}

func (c *Card) tail() []string {
	r := c.Result
	var lines []string
	for _, n := range append(append([]string{}, c.Notes...), r.Notes...) {
		lines = append(lines, "note: "+n)
	}
	return append(lines,
		fmt.Sprintf("%s events; digest of events %s, of the result %s", count(int64(r.Events)), r.Digests.Events, r.Digests.Result),
		"1 GB = 10^9 B, 1 GiB = 2^30 B; 1 us = 10^6 ps; all times are simulated")
}
