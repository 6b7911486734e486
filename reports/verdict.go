package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
)

// verdict says how the run ended and whether its data is right; what follows the
// first line are the particulars. Hazards and diagnoses have tables of their own.
func verdict(r *result.Result) []string {
	d := &r.Data
	switch r.Status {
	case result.OK:
		return []string{"OK: data right. " + checked(d) + ", nothing wrong"}
	case result.WrongData:
		lines := []string{fmt.Sprintf("WRONG DATA: %s B and %s wrong. %s", count(d.Wrong), plural(d.WrongWords, "control word"), checked(d))}
		for _, m := range d.Mismatches {
			lines = append(lines, strings.TrimPrefix(m, ": ")) // of a call without a name
		}
		return lines
	case result.Hazardous:
		return []string{hazardous(r)}
	case result.Aborted:
		return aborted(r.Abort)
	case result.Deadlock:
		return deadlocked(r.Stuck)
	}
	return []string{fmt.Sprintf("UNKNOWN STATUS %q", string(r.Status))}
}

// hazardous is the verdict on data that came out right, but need not have.
func hazardous(r *result.Result) string {
	done := slices.ContainsFunc(r.Hazards, func(h result.Hazard) bool { return h.Kind != result.NothingDone })
	if !done && len(r.Hazards) > 0 {
		return "NOTHING DONE: " + r.Hazards[0].Text
	}
	return fmt.Sprintf("HAZARD: the data came out right, but by luck: %s. %s", plural(len(r.Hazards), "hazard"), checked(&r.Data))
}

func checked(d *result.Data) string {
	if d.Checked == 0 && d.Words == 0 {
		return "Nothing was checked: the run promises no data"
	}
	return fmt.Sprintf("%s B of payload checked as %s, %s checked", count(d.Checked), d.Payload, plural(d.Words, "control word"))
}

// maxHazards is how many hazards a page shows; the JSON has all.
const maxHazards = 6

// hazardTable shows each hazard: what it is, both accesses, and what would order them.
func hazardTable(p *page, r *result.Result) {
	if len(r.Hazards) == 0 {
		return
	}
	t := p.table("Hazards: what another timing of the same program does otherwise", ">", "kind", "~what, and the two accesses that nothing orders")
	for i := range r.Hazards {
		if i == maxHazards {
			t.notes = append(t.notes, plural(len(r.Hazards)-i, "further hazard")+" not listed; --json has all")
			break
		}
		h := &r.Hazards[i]
		text := h.Text
		if h.Count > 1 {
			text += fmt.Sprintf(" (%s times)", count(h.Count))
		}
		t.add(fmt.Sprint(i+1), string(h.Kind), text)
		for _, row := range hazardRows(h) {
			t.add("", row.Key, row.Value)
		}
	}
}

// hazardRows are the particulars of a hazard: both accesses, and the missing edge.
func hazardRows(h *result.Hazard) (rows []KV) {
	for _, x := range []struct {
		name string
		a    *result.Access
	}{{"first", h.First}, {"second", h.Second}} {
		if x.a != nil {
			rows = append(rows, KV{Key: x.name, Value: access(x.a)})
		}
	}
	if h.Missing != "" {
		rows = append(rows, KV{Key: "missing", Value: h.Missing})
	}
	return rows
}

// access says in a line who touched what, when.
func access(a *result.Access) string {
	verb := map[string]string{"read": "reads", "write": "writes", "add": "adds to"}[a.Kind]
	who := fmt.Sprintf("rank %d, block %d", a.Rank, a.Block)
	if a.Block < 0 { // the caller, outside all programs
		who = fmt.Sprintf("rank %d", a.Rank)
	}
	if a.Task != "" {
		who = a.Task + ", " + who
	}
	op := a.Op
	if a.Phase != "" {
		op += " (phase " + a.Phase + ")"
	}
	return fmt.Sprintf("%s: %s %s %s+%s, %s B, of rank %d, at %s us", who, op, cmp.Or(verb, a.Kind), a.Buffer, count(a.Off), count(a.Len), a.Owner, us(engine.Duration(a.Time)))
}

// diagnosisTables name the rows of the symptom table that the run shows: what a person
// sees, why, and what to do.
func diagnosisTables(p *page, r *result.Result) {
	for i := range r.Diagnoses {
		d := &r.Diagnoses[i]
		t := p.table("Diagnosis: a row of the symptom table", "row", "~"+d.Row)
		for _, row := range diagnosisRows(d) {
			t.add(row.Key, row.Value)
		}
	}
}

func diagnosisRows(d *result.Diagnosis) (rows []KV) {
	for _, kv := range []KV{{Key: "Symptom", Value: d.Symptom}, {Key: "Cause", Value: d.Cause}, {Key: "Fix", Value: d.Fix}, {Key: "In this run", Value: d.Evidence}} {
		if kv.Value != "" {
			rows = append(rows, kv)
		}
	}
	return rows
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
	if r.Status == result.OK && c.Bound.Total > r.Elapsed { // what waits for nobody has no bound
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
