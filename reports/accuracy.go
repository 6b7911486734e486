package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

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
		"error: simulated / measured - 1; role: the row was fitted to, or held out; band: the largest error that is no failure",
		"baseline: a straight line in bytes (or in log2 P), fitted to the same fitted rows; where those are no more than two, it meets them exactly and only held-out rows compare; one row gives no line",
	}}
	for _, f := range a.Files {
		t := p.table(f.Title, "case", "row", ">measured", ">simulated", "unit", ">error %", "role", ">band %", ">baseline", ">its error %")
		for _, r := range f.Rows {
			t.add(accuracyCells(&r)...)
		}
		t.notes = append(t.notes, fmt.Sprintf("%s: %s for %s", f.File, plural(f.Params, "fitted parameter"), plural(f.Fitted, "fitted row")), errorsOf(&f))
		for _, n := range f.Notes {
			t.notes = append(t.notes, n.Key+": "+n.Value)
		}
	}
	if n := a.Outside(); n > 0 {
		p.tail = append(p.tail, plural(n, "row")+" outside the band")
	} else {
		p.tail = append(p.tail, "every row is within its band")
	}
	return p
}

func accuracyCells(r *AccuracyRow) []string {
	role := "fitted"
	if r.HeldOut {
		role = "held out"
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
	var fit, held, base []float64
	for _, r := range f.Rows {
		switch {
		case !r.HeldOut:
			fit = append(fit, math.Abs(r.Error))
		default:
			held = append(held, math.Abs(r.Error))
			if r.Baseline > 0 {
				base = append(base, math.Abs(r.BaseError))
			}
		}
	}
	text := "largest error of fitted rows " + most(fit) + ", of held-out rows " + most(held)
	if len(base) > 0 {
		text += " (baseline " + most(base) + ")"
	}
	return text
}

func most(x []float64) string {
	if len(x) == 0 {
		return notAvailable
	}
	return trim(100*slices.Max(x)) + " %"
}

// sig prints x with five significant digits, signed a share in per cent.
func sig(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

func signed(x float64) string { return strconv.FormatFloat(100*x+0, 'f', 2, 64) }

func trim(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func (a *Accuracy) records() [][]string {
	out := [][]string{{"file", "case", "row", "unit", "measured", "simulated", "error", "held_out", "band", "inside", "baseline", "baseline_error"}}
	for _, f := range a.Files {
		for _, r := range f.Rows {
			out = append(out, []string{f.File, r.Case, r.Row, r.Unit, full(r.Measured), full(r.Simulated), full(r.Error), strconv.FormatBool(r.HeldOut),
				full(r.Band), strconv.FormatBool(r.Inside), full(r.Baseline), full(r.BaseError)})
		}
	}
	return out
}

func full(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
