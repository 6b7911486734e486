package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"pldperf/reports/document"
)

// Calibration is the outcome of a fit: what `pldperf calibrate` prints.
type Calibration document.Calibration

// The parts of a calibration.
type (
	FittedValue = document.FittedValue
	RowErrors   = document.RowErrors
	RivalFit    = document.RivalFit
)

// Write writes the outcome in one of the formats; CSV has the rows.
func (c *Calibration) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, c) }

func (c *Calibration) check() error { return (*document.Calibration)(c).Check() }

func (c *Calibration) document(program string) writable {
	return &document.Document{Head: document.NewHead(document.KindCalibration, program), Calibration: (*document.Calibration)(c)}
}

func (c *Calibration) records() [][]string {
	return (&Accuracy{Files: []AccuracyFile{{File: c.File, Rows: c.Rows}}}).records()
}

func (c *Calibration) page() *page {
	p := &page{title: "Fit: " + c.Title, lead: []string{
		fmt.Sprintf("%s, based on %s; data: %s", c.File, c.Machine, strings.Join(c.Data, ", ")),
		fmt.Sprintf("%s fitted to %s; %s held out", plural(len(c.Params), "parameter"), plural(c.Fit.N, "row"), plural(c.HeldOut.N, "row")),
	}}
	t := p.table("Parameters", "parameter", ">start", ">value", ">from", ">to", ">rows moved", "~stands for")
	for _, x := range c.Params {
		label := x.Label
		if !x.Known {
			label += " (not identified)"
		}
		t.add(label, x.Start, x.Value, x.Low, x.High, strconv.Itoa(x.RowsMoved), x.Cause)
	}
	t.notes = []string{"from, to: 95 % interval by the curvature at the best point, within the bounds; rows moved: fitted rows that a tenth more of it changes by more than the noise"}
	rows := p.table("Rows", "case", "row", ">measured", ">simulated", "unit", ">error %", "role", ">band %", ">baseline", ">its error %")
	for i := range c.Rows {
		rows.add(accuracyCells(&c.Rows[i])...)
	}
	rows.notes = []string{"band: the largest error that is no failure of pldperf validate; baseline: a straight line through the fitted rows, where they give one"}
	e := p.table("Errors without their signs, %", "rows", ">count", ">P50", ">P90", ">max", ">rms")
	e.add(errorCells("fitted", c.Fit)...)
	e.add(errorCells("held out", c.HeldOut)...)
	if len(c.Alternatives) > 0 {
		a := p.table("Rival explanations; the first one is written", "explanation", ">fitted: rms %", ">held out: rms %", ">max %", "~its own parameters")
		for i, x := range c.Alternatives {
			var own []string
			for _, v := range x.Params {
				if !shared(c.Alternatives, i, v.Label) {
					own = append(own, v.Label+" = "+v.Value)
				}
			}
			a.add(x.Name, signed(x.Fit.RMS), signed(x.HeldOut.RMS), signed(x.HeldOut.Max), strings.Join(own, ", "))
		}
	}
	for _, w := range c.Warnings {
		p.tail = append(p.tail, "warning: "+w)
	}
	if n := (&Accuracy{Files: []AccuracyFile{{Rows: c.Rows}}}).Outside(); n > 0 {
		p.tail = append(p.tail, "warning: "+plural(n, "row")+" outside the band")
	}
	if len(c.Wrote) > 0 {
		p.tail = append(p.tail, "wrote "+strings.Join(c.Wrote, ", "))
	}
	return p
}

// shared reports whether another explanation has a parameter, too.
func shared(all []RivalFit, but int, label string) bool {
	for i, x := range all {
		for _, v := range x.Params {
			if i != but && v.Label == label {
				return true
			}
		}
	}
	return false
}

func errorCells(name string, e RowErrors) []string {
	if e.N == 0 {
		return []string{name, "0", notAvailable, notAvailable, notAvailable, notAvailable}
	}
	return []string{name, strconv.Itoa(e.N), signed(e.P50), signed(e.P90), signed(e.Max), signed(e.RMS)}
}
