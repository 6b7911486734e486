package reports

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/result"
)

// verdict says how the run ended and whether its data is right; what follows the
// first line are the particulars.
func verdict(r *result.Result) []string {
	d := &r.Data
	switch r.Status {
	case result.OK:
		return []string{"OK: data right. " + checked(d) + ", nothing wrong"}
	case result.WrongData:
		lines := []string{fmt.Sprintf("WRONG DATA: %s B and %s wrong. %s", count(d.Wrong), plural(d.WrongWords, "control word"), checked(d))}
		return append(append(append(lines, d.Mismatches...), hazards(r)...), diagnoses(r)...)
	case result.Hazardous:
		lines := []string{fmt.Sprintf("HAZARD: the data came out right, but by luck: %s. %s", plural(len(r.Hazards), "hazard"), checked(d))}
		return append(append(lines, hazards(r)...), diagnoses(r)...)
	case result.Aborted:
		return append(append(aborted(r.Abort), hazards(r)...), diagnoses(r)...)
	case result.Deadlock:
		return append(append(deadlocked(r.Stuck), hazards(r)...), diagnoses(r)...)
	}
	return []string{fmt.Sprintf("UNKNOWN STATUS %q", string(r.Status))}
}

func checked(d *result.Data) string {
	if d.Checked == 0 && d.Words == 0 {
		return "Nothing was checked: the run promises no data"
	}
	return fmt.Sprintf("%s B of payload checked as %s, %s checked", count(d.Checked), d.Payload, plural(d.Words, "control word"))
}

func hazards(r *result.Result) (lines []string) {
	for i := range r.Hazards {
		h := &r.Hazards[i]
		line := "hazard: " + h.Text
		if h.Missing != "" {
			line += "; missing: " + h.Missing
		}
		lines = append(lines, line)
	}
	return lines
}

// diagnoses name the rows of the symptom table that the run shows.
func diagnoses(r *result.Result) (lines []string) {
	for _, d := range r.Diagnoses {
		lines = append(lines, fmt.Sprintf("%s: %s. Cause: %s. Fix: %s (%s)", d.Row, d.Symptom, d.Cause, d.Fix, d.Evidence))
	}
	return lines
}

func aborted(a *result.Abort) []string {
	if a == nil {
		return []string{"ABORTED: the result does not say by what"}
	}
	lines := []string{
		fmt.Sprintf("ABORTED at %s us by rank %d, block %d, in %s: %s is %s, the limit is %s",
			us(engine.Duration(a.Time)), a.Rank, a.Block, a.Op, a.What, count(a.Value), count(a.Limit)),
	}
	if a.Text != "" {
		lines = append(lines, a.Text)
	}
	return append(lines, "The data is not checked and the rates are not defined: rows already submitted may or may not have landed (S-62)")
}

func deadlocked(s *result.Stuck) []string {
	if s == nil {
		return []string{"DEADLOCK: the result does not say of what"}
	}
	n := len(s.Waits) + s.More
	return []string{fmt.Sprintf("DEADLOCK at %s us: %s can never go on; below is who waits for what", us(engine.Duration(s.Time)), plural(n, "block"))}
}

// waits is the wait-for list of a deadlock.
func waits(p *page, s *result.Stuck) {
	if s == nil || len(s.Waits) == 0 {
		return
	}
	t := p.table("Who waits for what", ">rank", ">block", "op", ">since us", "cell", ">value", ">expected", "~should come from")
	for i := range s.Waits {
		w := &s.Waits[i]
		t.add(fmt.Sprint(w.Rank), fmt.Sprint(w.Block), w.Op, us(engine.Duration(w.Since)), w.Cell, count(w.Value), count(w.Expected), w.Missing)
	}
	if s.More > 0 {
		t.notes = append(t.notes, plural(s.More, "further wait")+" not listed")
	}
}

// problems are contradictions within a card: a fault of the models or of whoever
// filled it in, never of the user.
func problems(c *Card, a *accounts) (lines []string) {
	r := c.Result
	bad := func(format string, args ...any) {
		lines = append(lines, "INCONSISTENT: "+fmt.Sprintf(format, args...))
	}
	if a.lost != 0 && len(a.blocks) > 0 {
		bad("the time of the slowest block leaves %s us of the elapsed time without a reason", exact(a.lost))
	}
	if finished(r.Status) && c.Bound.Total > r.Elapsed {
		bad("the run took %s us, less than its lower bound of %s us", exact(r.Elapsed), exact(c.Bound.Total))
	}
	for _, b := range c.Bound.Parts {
		if b.Time > c.Bound.Total {
			bad("the bound %s, %s us, is above the whole bound", b.Name, exact(b.Time))
		}
	}
	var sum result.Counters
	for i := range r.Ranks {
		sum.Add(&r.Ranks[i].Counters)
	}
	for _, k := range topResources(r) {
		if x := k.busiest; finished(r.Status) && x.Busy > wholeRun(r) {
			bad("%s, %s, was busy for %s us, longer than the run", x.Name, at(x), exact(x.Busy))
		}
	}
	for k := range result.NumCounters {
		if sum[k] != r.Totals[k] {
			bad("%s: the ranks add up to %s, the total is %s", k, count(sum[k]), count(r.Totals[k]))
		}
	}
	return lines
}
