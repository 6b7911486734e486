package diff

import (
	"cmp"
	"math"
	"slices"

	"pldperf/engine"
	"pldperf/reports/document"
)

// rowsOf returns the rows of measurements that a validation or a calibration holds, by file.
func rowsOf(d *document.Document) []document.ValidationFile {
	if c := d.Calibration; c != nil {
		return []document.ValidationFile{{File: c.File, Title: c.Title, Rows: c.Rows}}
	}
	return d.Validation.Files
}

// placed is a row with what names it.
type placed struct {
	at  [3]string // file, case, row
	row *document.ValidationRow
}

func (p *placed) axes() []document.KV {
	return []document.KV{{Key: "file", Value: p.at[0]}, {Key: "case", Value: p.at[1]}, {Key: "row", Value: p.at[2]}}
}

func placedRows(d *document.Document) (out []placed) {
	for _, f := range rowsOf(d) {
		for i := range f.Rows {
			out = append(out, placed{[3]string{f.File, f.Rows[i].Case, f.Rows[i].Row}, &f.Rows[i]})
		}
	}
	return out
}

// compareRows fills in a difference of validations or calibrations: rows are matched by file, case and name, of several
// the next one. What is fitted is an input of theirs.
func compareRows(d *document.Diff, a, b *document.Document, tolerance engine.Fraction) {
	d.Inputs = fittedValues(a.Calibration, b.Calibration)
	at := map[[3]string][]placed{}
	rows := placedRows(b)
	for _, p := range rows {
		at[p.at] = append(at[p.at], p)
	}
	taken := map[*document.ValidationRow]bool{}
	for _, x := range placedRows(a) {
		if len(at[x.at]) == 0 {
			d.OnlyA = append(d.OnlyA, x.axes())
			continue
		}
		y := at[x.at][0]
		at[x.at], taken[y.row] = at[x.at][1:], true
		d.Rows = append(d.Rows, rowPair(&x, y.row, tolerance))
	}
	for _, y := range rows {
		if !taken[y.row] {
			d.OnlyB = append(d.OnlyB, y.axes())
		}
	}
	slices.SortStableFunc(d.Rows, func(x, y document.RowPair) int { return cmp.Compare(math.Abs(y.Share), math.Abs(x.Share)) })
	d.Equal = len(d.OnlyA)+len(d.OnlyB) == 0 && !slices.ContainsFunc(d.Rows, func(r document.RowPair) bool { return !r.Equal })
}

// rowPair compares two rows. Other measurements are never equal, and neither is a row that has crossed its band.
func rowPair(x *placed, b *document.ValidationRow, tolerance engine.Fraction) document.RowPair {
	a := x.row
	r := document.RowPair{
		File: x.at[0], Case: a.Case, Row: a.Row, Unit: b.Unit, MeasuredA: a.Measured, MeasuredB: b.Measured, A: a.Simulated, B: b.Simulated,
		ErrorA: a.Error, ErrorB: b.Error, InsideA: a.Inside, InsideB: b.Inside,
	}
	if a.Simulated != 0 {
		r.Share = b.Simulated/a.Simulated - 1
	}
	apart := math.Abs(a.Simulated - b.Simulated)
	share := float64(tolerance) / float64(engine.One)
	r.Equal = a.Unit == b.Unit && a.Measured == b.Measured && a.Inside == b.Inside &&
		apart <= share*max(math.Abs(a.Simulated), math.Abs(b.Simulated))
	return r
}

// fittedValues lists the parameters to which two calibrations give other values.
func fittedValues(a, b *document.Calibration) (out []document.Changed) {
	if a == nil || b == nil {
		return nil
	}
	of := map[string]string{}
	for _, p := range b.Params {
		of[p.Label] = p.Value
	}
	for _, p := range a.Params {
		if v := of[p.Label]; v != p.Value {
			out = append(out, document.Changed{Path: p.Label, A: p.Value, B: v, FromA: "fit"})
			if v != "" {
				out[len(out)-1].FromB = "fit"
			}
		}
		delete(of, p.Label)
	}
	for _, p := range b.Params {
		if v, left := of[p.Label]; left {
			out = append(out, document.Changed{Path: p.Label, B: v, FromB: "fit"})
		}
	}
	return out
}
