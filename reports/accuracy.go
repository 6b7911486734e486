package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pldperf/reports/document"
)

// Accuracy is what the simulator says of published measurements: what `pldperf validate`
// prints and docs/ACCURACY.md shows.
type Accuracy document.Validation

// AccuracyFile is a file of cases that share fitted parameters.
type AccuracyFile = document.ValidationFile

// AccuracyRow is one measurement beside the simulation and a formula.
type AccuracyRow = document.ValidationRow

// Outside counts the rows that are outside their band.
func (a *Accuracy) Outside() (n int) {
	for _, f := range a.Files {
		for _, r := range f.Rows {
			if !r.Inside {
				n++
			}
		}
	}
	return n
}

// Write writes the table in one of the formats.
func (a *Accuracy) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, a) }

func (a *Accuracy) check() error { return (*document.Validation)(a).Check() }

func (a *Accuracy) document(program string) writable {
	return &document.Document{Head: document.NewHead(document.KindValidation, program), Validation: (*document.Validation)(a)}
}

func (a *Accuracy) page() *page {
	p := &page{title: "Simulated against measured", lead: []string{
		"error: simulated / measured - 1; band: the largest error that is no failure",
		"values: those of the files, or with --from of a fit; shipped ones are rounded, or plain differences of rows, so a fit may come nearer",
		"role: fitted: values come from a fit to the row; not fitted: calibrate would fit to it, but the values are others; held out: nothing is fitted to it",
		"baseline: a straight line through the fitted rows, as each table's notes say; one row, or rows with one x, give no line",
	}}
	for _, f := range a.Files {
		t := p.table(f.Title, "case", "row", ">measured", ">simulated", "unit", ">error %", "role", ">band %", ">baseline", ">its error %")
		for _, r := range f.Rows {
			t.add(accuracyCells(&r)...)
		}
		t.notes = fileNotes(&f)
	}
	if n := a.Outside(); n > 0 {
		p.tail = append(p.tail, plural(n, "row")+" outside the band")
	} else {
		p.tail = append(p.tail, "every row is within its band")
	}
	p.tail = append(p.tail, a.totals()...)
	return p
}

// fileNotes are what stands under a file's table.
func fileNotes(f *AccuracyFile) []string {
	counts := fmt.Sprintf("%s: %s for %s", f.File, plural(f.Params, "fitted parameter"), plural(f.Fitted, "fitted row"))
	if n := len(f.Overrides); n > 0 {
		counts += fmt.Sprintf("; %s of the machine set for its cases", plural(n, "value"))
	}
	out := []string{counts, errorsOf(f)}
	if saturated(f) {
		out = append(out, "warning: no fewer parameters than fitted rows, which they can meet exactly: the errors of those rows show nothing")
	}
	if !slices.ContainsFunc(f.Rows, func(r AccuracyRow) bool { return r.HeldOut }) {
		out = append(out, "warning: no row is held out, so nothing here shows how far other rows would be off")
	}
	for _, k := range f.Kept {
		out = append(out, fmt.Sprintf("not from a fit to these rows: %s, %s", strings.TrimSuffix(k.Label+" = "+k.Value, " = "), k.Why))
	}
	for _, o := range f.Overrides {
		own := "which says nothing of it"
		if o.Own != "" {
			own = "which has " + o.Own
		}
		out = append(out, fmt.Sprintf("set for %s: %s = %s, on %s, %s", strings.Join(o.Cases, ", "), o.Path, o.Value, o.Machine, own))
	}
	for _, b := range f.Baselines {
		out = append(out, fmt.Sprintf("baseline of %s: %s", b.Key, b.Value))
	}
	for _, odd := range f.Odd {
		out = append(out, "the table: "+odd)
	}
	for _, n := range f.Notes {
		out = append(out, n.Key+": "+n.Value)
	}
	return out
}

// saturated reports whether a file has as many parameters as rows to fit them to.
func saturated(f *AccuracyFile) bool { return f.Fitted > 0 && f.Params >= f.Fitted }

// totals say how many parameters there are for how many rows, and how many of the rows
// that were held out are nearer to what was measured than their baseline.
func (a *Accuracy) totals() (out []string) {
	params, fitted, same, none, set := 0, 0, 0, 0, 0
	var lost, ties []string
	held, won := 0, 0
	for _, f := range a.Files {
		params, fitted, set = params+f.Params, fitted+f.Fitted, set+len(f.Overrides)
		if saturated(&f) {
			same++
		}
		for _, r := range f.Rows {
			name := strings.TrimSuffix(fmt.Sprintf("%s, %s (%s %% against %s %%)", r.Case, r.Row, signed(r.Error), signed(r.BaseError)), ", ")
			switch {
			case !r.HeldOut:
			case r.Baseline == 0:
				held, none = held+1, none+1
			case tie(&r):
				held, ties = held+1, append(ties, name)
			case math.Abs(r.Error) < math.Abs(r.BaseError):
				held, won = held+1, won+1
			default:
				held, lost = held+1, append(lost, name)
			}
		}
	}
	out = append(out, fmt.Sprintf("%s for %s, and %s of machines set for cases; files with no fewer parameters than fitted rows: %d of %d",
		plural(params, "fitted parameter"), plural(fitted, "fitted row"), plural(set, "value"), same, len(a.Files)))
	if held == 0 {
		return append(out, "no row is held out")
	}
	out = append(out, fmt.Sprintf("held out: %s, of which %d can have a baseline; nearer than it: %d, as near: %d, farther: %d", plural(held, "row"), held-none, won, len(ties), len(lost)))
	for _, x := range []struct {
		words string
		names []string
	}{{"farther than the baseline", lost}, {"as near as the baseline", ties}} {
		if len(x.names) > 0 {
			out = append(out, x.words+": "+strings.Join(x.names, "; "))
		}
	}
	return out
}

// tie reports whether the errors of a row and its baseline are the same as printed.
func tie(r *AccuracyRow) bool {
	return signed(math.Abs(r.Error)) == signed(math.Abs(r.BaseError))
}

func accuracyCells(r *AccuracyRow) []string {
	role := "not fitted"
	switch {
	case r.HeldOut:
		role = "held out"
	case r.Fitted:
		role = "fitted"
	}
	cells := []string{r.Case, r.Row, sig(r.Measured), sig(r.Simulated), r.Unit, signed(r.Error), role, trim(100 * r.Band), "", ""}
	if r.Baseline > 0 {
		cells[8], cells[9] = sig(r.Baseline), signed(r.BaseError)
	}
	if !r.Inside {
		cells[6] += ", OUTSIDE"
	}
	return cells
}

// errorsOf sums up the rows of a file.
func errorsOf(f *AccuracyFile) string {
	of := func(is func(r *AccuracyRow) bool) (x []float64) {
		for i := range f.Rows {
			if is(&f.Rows[i]) {
				x = append(x, math.Abs(f.Rows[i].Error))
			}
		}
		return x
	}
	text := "largest error of fitted rows " + most(of(func(r *AccuracyRow) bool { return r.Fitted })) +
		", of held-out rows " + most(of(func(r *AccuracyRow) bool { return r.HeldOut }))
	if rest := of(func(r *AccuracyRow) bool { return !r.Fitted && !r.HeldOut }); len(rest) > 0 {
		text += ", of rows that nothing was fitted to " + most(rest)
	}
	var base, beside []float64
	for _, r := range f.Rows {
		if r.HeldOut && r.Baseline > 0 {
			base, beside = append(base, math.Abs(r.BaseError)), append(beside, math.Abs(r.Error))
		}
	}
	if len(base) > 0 {
		text += fmt.Sprintf("; where there is a baseline %s, baseline %s", most(beside), most(base))
	}
	return text
}

func most(x []float64) string {
	if len(x) == 0 {
		return notAvailable
	}
	if x := 100 * slices.Max(x); x >= 1000 {
		return fmt.Sprintf("%.0f %%", x)
	}
	return trim(100*slices.Max(x)) + " %"
}

// sig prints x with five significant digits, signed a share in per cent.
func sig(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

func signed(x float64) string { return strconv.FormatFloat(100*x+0, 'f', 2, 64) }

func trim(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func (a *Accuracy) records() [][]string {
	out := [][]string{{"file", "case", "row", "unit", "measured", "simulated", "error", "held_out", "fitted", "band", "inside", "baseline", "baseline_error"}}
	for _, f := range a.Files {
		for _, r := range f.Rows {
			out = append(out, []string{f.File, r.Case, r.Row, r.Unit, full(r.Measured), full(r.Simulated), full(r.Error), strconv.FormatBool(r.HeldOut), strconv.FormatBool(r.Fitted),
				full(r.Band), strconv.FormatBool(r.Inside), full(r.Baseline), full(r.BaseError)})
		}
	}
	return out
}

func full(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
