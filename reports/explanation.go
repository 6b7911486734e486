package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Explanation is where the time of a run goes and what would change it.
type Explanation document.Explanation

// The parts of an explanation.
type (
	Twin         = document.Twin
	TwinPair     = document.TwinPair
	Move         = document.Move
	CoreNumPoint = document.CoreNumPoint
)

// Write writes the explanation.
func (e *Explanation) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, e) }

func (e *Explanation) check() error { return (*document.Explanation)(e).Check() }

func (e *Explanation) document(program string) writable {
	return &document.Document{Head: document.NewHead(document.KindExplanation, program), Explanation: (*document.Explanation)(e)}
}

func (e *Explanation) page() *page {
	c := (*Card)(&e.Run)
	r := c.Result
	p := &page{title: c.Title}
	p.lead = append(append(verdict(r), e.hazardNote()...), e.Sentences()...)
	diagnosisTables(p, r)
	waits(p, r.Stuck)
	hazardTable(p, r)
	m := Measure(c)
	c.inputTable(p, &m)
	pathTable(p, r)
	stepTable(p, r)
	e.slackTable(p)
	e.twinTable(p)
	e.pairTable(p)
	e.moveTable(p)
	e.coreNumTable(p)
	for _, n := range append(append([]string{}, c.Notes...), r.Notes...) {
		p.tail = append(p.tail, "note: "+n)
	}
	if r.Status != result.OK {
		p.tail = append(p.tail, "What is wrong has no time to explain: no other run was made.")
	}
	if len(e.Twins) > 0 {
		p.tail = append(p.tail, "Each line of the tables of ideal parts, pairs, parameters and core_num is one or more runs of their own, with the settings that it names.")
	}
	return p
}

// hazardNote says in so many words that hazards were not looked for.
func (e *Explanation) hazardNote() []string {
	if d := &e.Run.Result.Data; d.Hazards != "" && d.Hazards != "yes" {
		return []string{"Hazards checked: " + d.Hazards}
	}
	return nil
}

// slackTable sets the elapsed time beside what no schedule can beat and beside the longest chain of waits.
func (e *Explanation) slackTable(p *page) {
	r := e.Run.Result
	t := p.table("Bounds and slack", "bound", ">us", ">slack us", ">elapsed is at", "~what it is")
	t.add(marked("elapsed", e.Run.Outside), marked(us(r.Elapsed), e.Run.Outside), "", "", "the run as it is")
	t.note(outsideNote(e.Run.Outside))
	line := func(name string, d engine.Duration, what string) {
		reached := notAvailable
		if f, ok := ratio(int64(r.Elapsed), 100, int64(d)); ok {
			reached = fmt.Sprintf("%d.%02d x", f/100, f%100)
		}
		t.add(name, us(d), us(r.Elapsed-d), reached, what)
	}
	for i := range e.Run.Bound.Parts {
		b := &e.Run.Bound.Parts[i]
		what := b.What
		if b == e.Run.Bound.Binds() {
			what = "BINDS: " + what
		}
		line(b.Name, b.Time, what)
	}
	if x := e.twin("bandwidth"); x != nil && x.Problem == "" {
		line("chain of waits", x.Elapsed, "a run without any limit of a rate: the longest chain of steps that wait for each other")
	}
}

func (e *Explanation) twin(name string) *Twin {
	for i := range e.Twins {
		if e.Twins[i].Name == name {
			return &e.Twins[i]
		}
	}
	return nil
}

func (e *Explanation) twinTable(p *page) {
	if len(e.Twins) == 0 {
		return
	}
	t := p.table("What each part costs: the run with it made ideal", "ideal part", ">us", ">saves us", ">%", "~what is ideal")
	for _, x := range e.Twins {
		if x.Problem != "" {
			t.add(x.Name, notAvailable, "", "", x.Problem)
			continue
		}
		t.add(x.Name, marked(us(x.Elapsed), e.Run.Outside), us(x.Saves), signedPercent(x.Saves, e.Run.Result.Elapsed), x.What)
	}
	t.note(e.variantNote())
	t.notes = append(t.notes, "Savings do not add up: parts hide each other. A negative one is a part whose cost does good, such as a pause after which a poll happens to come in time.")
}

func signedPercent(d, of engine.Duration) string {
	if d < 0 {
		return "-" + percentOf(-d, of)
	}
	return percentOf(d, of)
}

func (e *Explanation) pairTable(p *page) {
	if len(e.Pairs) == 0 {
		return
	}
	t := p.table("Two parts ideal at once", "parts", ">save us", ">%", ">beyond both us", "~")
	for _, x := range e.Pairs {
		if x.Problem != "" {
			t.add(x.A+", "+x.B, notAvailable, "", "", x.Problem)
			continue
		}
		say := "they cost independently"
		if limit := e.Run.Result.Elapsed / 100; x.Beyond > limit {
			say = "each hides the other: only both together save this"
		} else if x.Beyond < -limit {
			say = "either saves some of the same time"
		}
		t.add(x.A+", "+x.B, us(x.Saves), signedPercent(x.Saves, e.Run.Result.Elapsed), us(x.Beyond), say)
	}
}

// shownMoves is how many parameters a page lists.
const shownMoves = 15

func (e *Explanation) moveTable(p *page) {
	if len(e.Moves) == 0 {
		return
	}
	t := p.table("Sensitivity of the time to each parameter", "parameter", ">value", "known", ">% per %", "between", ">half the change", "~")
	hidden := 0
	for i, x := range e.Moves {
		if i >= shownMoves || x.Problem != "" || small(x.Elasticity) {
			hidden++
			continue
		}
		half, say := "", ""
		if x.Half != nil {
			half = fmt.Sprintf("%+.3f", *x.Half)
		}
		if x.Unsteady {
			say = "no slope"
		}
		t.add(x.Path, x.Value, string(x.Kind), fmt.Sprintf("%+.3f", x.Elasticity), x.Below+" and "+x.Above, half, say)
	}
	if slices.ContainsFunc(e.Moves, func(m Move) bool { return m.Unsteady }) {
		t.notes = append(t.notes, "No slope: half the change gives another figure, so the time makes a step there, meets another limit, or only polls come in time or not.")
	}
	if hidden > 0 {
		t.notes = append(t.notes, plural(hidden, "parameter")+" of less weight not listed; the JSON form has all")
	}
}

// small reports whether an elasticity is none for a person.
func small(x float64) bool { return x < 0.0005 && x > -0.0005 }

func (e *Explanation) coreNumTable(p *page) {
	if len(e.Blocks) == 0 {
		return
	}
	t := p.table("The run with another core_num", ">core_num", ">us", ">against the best", "~")
	best := e.best()
	var outside [][]document.Outside
	for _, b := range e.Blocks {
		if b.Problem != "" {
			t.add(fmt.Sprint(b.CoreNum), notAvailable, "", b.Problem)
			continue
		}
		note := ""
		if best != nil && b.CoreNum == best.CoreNum {
			note = "best"
		}
		t.add(fmt.Sprint(b.CoreNum), marked(us(b.Elapsed), b.Outside), behind(b.Elapsed, best.Elapsed), note)
		outside = append(outside, b.Outside)
	}
	t.note(outsideNote(outside...))
}

// variantNote says of the marks of variants of a run that they are the run's.
func (e *Explanation) variantNote() string {
	if len(e.Run.Outside) == 0 {
		return ""
	}
	return outsideMark + " as the run itself"
}

func behind(d, best engine.Duration) string { return "+" + percentOf(d-best, best) + " %" }

// best is the quickest core_num, of equals the smallest.
func (e *Explanation) best() (best *CoreNumPoint) {
	for i := range e.Blocks {
		b := &e.Blocks[i]
		if b.Problem == "" && b.Elapsed > 0 && (best == nil || b.Elapsed < best.Elapsed) {
			best = b
		}
	}
	return best
}

func (e *Explanation) records() [][]string {
	t := &tidy{rows: [][]string{{"section", "name", "stat", "rank", "peer", "unit", "value"}}}
	r := e.Run.Result
	t.text("verdict", "status", string(r.Status))
	for _, l := range append(verdict(r), e.hazardNote()...) {
		t.text("verdict", "text", l)
	}
	for _, kv := range e.Run.Inputs {
		t.text("inputs", kv.Key, kv.Value)
	}
	t.us("results", "elapsed", "", -1, r.Elapsed)
	for _, o := range e.Run.Outside {
		t.text("results", "outside_fit", o.String())
	}
	for _, s := range e.Sentences() {
		t.text("explanation", "text", s)
	}
	pathRecords(t, r)
	for _, b := range e.Run.Bound.Parts {
		t.us("bound", b.Name, "", -1, b.Time)
	}
	for _, x := range e.Twins {
		if x.Problem == "" {
			t.us("ideal", x.Name, "elapsed", -1, x.Elapsed)
			t.us("ideal", x.Name, "saves", -1, x.Saves)
			t.text("ideal", x.Name+"_settings", strings.Join(x.Sets, " "))
		}
	}
	for _, x := range e.Pairs {
		if x.Problem == "" {
			t.us("ideal_pair", x.A+"+"+x.B, "saves", -1, x.Saves)
			t.us("ideal_pair", x.A+"+"+x.B, "beyond_both", -1, x.Beyond)
		}
	}
	for _, x := range e.Moves {
		if x.Problem == "" {
			t.add("sensitivity", x.Path, "percent_per_percent", -1, -1, "", fmt.Sprintf("%.6f", x.Elasticity))
			if x.Half != nil {
				t.add("sensitivity", x.Path, "percent_per_percent_half_step", -1, -1, "", fmt.Sprintf("%.6f", *x.Half))
			}
		}
	}
	for _, b := range e.Blocks {
		if b.Problem == "" {
			t.us("core_num", fmt.Sprint(b.CoreNum), "elapsed", -1, b.Elapsed)
			if len(b.Outside) > 0 {
				t.add("core_num", fmt.Sprint(b.CoreNum), "outside_fit", -1, -1, "", document.OutsideText(b.Outside))
			}
		}
	}
	return t.rows
}
