package reports

import (
	"math"
	"slices"
	"strconv"

	"pldperf/reports/document"
)

// ofRows reports whether measurements are compared, as validations or calibrations simulate them, and not runs.
func (d *Difference) ofRows() bool {
	return d.A.Kind == document.KindValidation || d.A.Kind == document.KindCalibration
}

func (d *Difference) rowTables(p *page) {
	onlyTable(p, "Rows only in A", d.OnlyA)
	onlyTable(p, "Rows only in B", d.OnlyB)
	if !slices.ContainsFunc(d.Rows, func(r document.RowPair) bool { return !r.Equal }) {
		return
	}
	t := p.table("Rows that differ, the largest change first", "case", "row", ">A", ">B", "unit", ">B - A %", ">error of A %", ">error of B %", "band")
	more := 0
	for i := range d.Rows {
		r := &d.Rows[i]
		switch {
		case r.Equal:
		case len(t.rows) == listedPairs:
			more++
		default:
			t.add(r.Case, r.Row, sig(r.A), sig(r.B), r.Unit, plusSign(r.Share), signed(r.ErrorA), signed(r.ErrorB), crossed(r))
		}
	}
	if more > 0 {
		t.notes = append(t.notes, plural(more, "further row")+" with smaller changes; JSON and CSV have all")
	}
}

func plusSign(x float64) string {
	if x > 0 {
		return "+" + signed(x)
	}
	return signed(math.Min(x, 0))
}

// crossed says how a row stands to its band, and whether it was measured anew.
func crossed(r *document.RowPair) string {
	s := ""
	switch {
	case r.InsideA && !r.InsideB:
		s = "LEFT by B"
	case !r.InsideA && r.InsideB:
		s = "B is within"
	case !r.InsideA:
		s = "both OUTSIDE"
	}
	if r.MeasuredA != r.MeasuredB {
		if s != "" {
			s += "; "
		}
		s += "measured " + sig(r.MeasuredA) + ", then " + sig(r.MeasuredB)
	}
	return s
}

func (d *Difference) rowRecords() [][]string {
	out := [][]string{{"file", "case", "row", "unit", "measured_a", "measured_b", "simulated_a", "simulated_b", "change", "error_a", "error_b", "inside_a", "inside_b", "equal", "only_in"}}
	for _, r := range d.Rows {
		out = append(out, []string{r.File, r.Case, r.Row, r.Unit, full(r.MeasuredA), full(r.MeasuredB), full(r.A), full(r.B), full(r.Share),
			full(r.ErrorA), full(r.ErrorB), strconv.FormatBool(r.InsideA), strconv.FormatBool(r.InsideB), strconv.FormatBool(r.Equal), ""})
	}
	for _, only := range []struct {
		in   string
		rows [][]KV
	}{{"a", d.OnlyA}, {"b", d.OnlyB}} {
		for _, at := range only.rows {
			row := make([]string, len(out[0]))
			for i := range at {
				row[i] = at[i].Value
			}
			row[len(row)-2], row[len(row)-1] = "false", only.in
			out = append(out, row)
		}
	}
	return out
}
