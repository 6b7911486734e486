package fit

import (
	"context"
	"math"
	"slices"
	"strconv"

	"pldperf/workloads"
)

// Evaluation is a spec's rows beside what the simulator says of them, with the values
// that its files have, or those of an earlier fit.
type Evaluation struct {
	File      string     `json:"file"`
	Title     string     `json:"title"`
	Params    int        `json:"fitted_parameters"`
	Fitted    int        `json:"fitted_rows"`
	Rows      []Row      `json:"rows"`
	Kept      []Kept     `json:"not_fitted,omitempty"`
	Overrides []Override `json:"overrides,omitempty"`
	Lines     []Line     `json:"baselines,omitempty"`
	Odd       []string   `json:"odd,omitempty"` // of the tables
	Notes     []Note     `json:"notes,omitempty"`

	Domains []workloads.Domain     `json:"-"` // what the rows cover; none where nothing is fitted to them
	Ranges  []workloads.Calibrated `json:"-"` // between what parameters are looked for
}

// Note is what a case says to its reader.
type Note struct {
	Case string `json:"case"`
	Text string `json:"text"`
}

// Evaluate simulates all rows of a spec, as its files have the parameters or as an earlier
// fit, of the options, found them.
func (s *Spec) Evaluate(ctx context.Context, opt Options) (*Evaluation, error) {
	b, err := s.open(opt.Machine, opt.Workers)
	if err != nil {
		return nil, err
	}
	b.told = s.Told
	params, x, err := b.found(opt)
	if err != nil {
		return nil, err
	}
	seconds, err := b.seconds(ctx, params, x, func(row) bool { return true })
	if err != nil {
		return nil, err
	}
	e := &Evaluation{File: s.file, Title: s.Title, Odd: b.odd()}
	if e.Rows, err = b.table(seconds); err != nil {
		return nil, err
	}
	e.Lines = b.baselines(e.Rows)
	if err := b.origins(e, params); err != nil {
		return nil, err
	}
	if e.Overrides, err = b.overrides(); err != nil {
		return nil, err
	}
	any := false
	for _, r := range e.Rows {
		any = any || !r.HeldOut
		if r.Fitted {
			e.Fitted++
		}
	}
	for i, c := range s.Cases {
		if c.Note != "" {
			e.Notes = append(e.Notes, Note{c.Name, c.Note})
		}
		if any { // else it is a reference, and no measurement that anything was fitted to
			e.Domains = append(e.Domains, workloads.NewDomains(s.file, c.Name, b.shapes[i])...)
		}
	}
	e.Ranges = b.ranges()
	return e, nil
}

// ranges lists between what the parameters are looked for, by the machines' family and
// by path; where several cases have one of their own, from the least to the largest.
func (b *bench) ranges() (out []workloads.Calibrated) {
	for i := range b.spec.Params {
		p := &b.spec.Params[i]
		for _, family := range b.families(p) {
			for _, path := range append([]string{p.Path}, p.Also...) {
				out = append(out, workloads.Calibrated{Family: family, Path: path, Low: p.Low, High: p.High})
			}
		}
	}
	return out
}

// families lists the families of the machines whose rows a parameter applies to.
func (b *bench) families(p *Param) (out []string) {
	for c := range b.shapes {
		for _, s := range b.shapes[c] {
			if p.applies(&b.spec.Cases[c]) && !slices.Contains(out, s.Family) {
				out = append(out, s.Family)
			}
		}
	}
	return out
}

// table sets what was simulated beside what was measured and what baselines say.
func (b *bench) table(seconds [][]float64) (out []Row, err error) {
	for c := range b.rows {
		k := &b.spec.Cases[c]
		for i, r := range b.rows[c] {
			x := Row{Case: k.Name, Name: k.name(r, b.rows[c]), Unit: k.Measured.Unit, HeldOut: r.held, Band: float64(k.Band) / 1e6}
			if x.Measured, err = b.measured(c, i); err != nil {
				return nil, err
			}
			if x.Simulated, err = b.shown(c, i, seconds[c][i]); err != nil {
				return nil, err
			}
			x.Error = x.Simulated/x.Measured - 1
			x.Takes = seconds[c][i] * 1e6
			if x.Took = x.Takes * x.Measured / x.Simulated; rate(x.Unit) {
				x.Took = x.Takes * x.Simulated / x.Measured
			}
			x.Inside = math.Abs(x.Error) <= x.Band
			if k.Baseline.Column != "" {
				x.X, _ = strconv.ParseFloat(r.fields[k.Baseline.Column], 64)
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// measured returns the measured value of a row in the unit of its column.
func (b *bench) measured(c, i int) (float64, error) {
	m, r := &b.spec.Cases[c].Measured, b.rows[c][i]
	columns := []string{m.Column}
	if m.To != "" {
		columns = append(columns, m.To)
	}
	sum := 0.0
	for _, column := range columns {
		v, err := strconv.ParseFloat(r.fields[column], 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return 0, b.spec.doc.At("cases."+strconv.Itoa(c)+".measured").Fault("line %d of the table: want a number above 0, got %q", r.line, r.fields[column])
		}
		sum += v
	}
	return sum / float64(len(columns)), nil
}

// shown turns a simulated time into the unit of the measurement.
func (b *bench) shown(c, i int, seconds float64) (float64, error) {
	m := &b.spec.Cases[c].Measured
	if !rate(m.Unit) {
		return seconds / scale(m.Unit), nil
	}
	bytes := b.routed[c][i]
	if m.Bytes.text != "routed" {
		var err error
		if bytes, err = m.Bytes.float(b.rows[c][i]); err != nil {
			return 0, err
		}
	}
	times, err := m.Times.float(b.rows[c][i])
	if err != nil {
		return 0, err
	}
	if times > 0 {
		bytes *= times
	}
	return bytes / seconds / scale(m.Unit), nil
}
