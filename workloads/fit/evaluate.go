package fit

import (
	"context"
	"math"
	"slices"
	"strconv"

	"pldperf/workloads"
)

// Evaluation is a spec's rows beside what the simulator says of them, with the values
// that its files have.
type Evaluation struct {
	File   string `json:"file"`
	Title  string `json:"title"`
	Params int    `json:"fitted_parameters"`
	Fitted int    `json:"fitted_rows"`
	Rows   []Row  `json:"rows"`
	Notes  []Note `json:"notes,omitempty"`

	Domains []workloads.Domain     `json:"-"` // what the rows cover; none where nothing is fitted to them
	Ranges  []workloads.Calibrated `json:"-"` // between what parameters are looked for
}

// Note is what a case says to its reader.
type Note struct {
	Case string `json:"case"`
	Text string `json:"text"`
}

// Evaluate simulates all rows of a spec as its files have the parameters, so many at once.
func (s *Spec) Evaluate(ctx context.Context, workers int) (*Evaluation, error) {
	b, err := s.open("", workers)
	if err != nil {
		return nil, err
	}
	b.told = s.Told
	seconds, err := b.seconds(ctx, nil, nil, func(row) bool { return true })
	if err != nil {
		return nil, err
	}
	e := &Evaluation{File: s.file, Title: s.Title, Params: len(s.Params)}
	if len(s.Alternatives) > 0 {
		e.Params += len(s.Alternatives[0].Params)
	}
	if e.Rows, err = b.table(seconds); err != nil {
		return nil, err
	}
	for _, r := range e.Rows {
		if !r.HeldOut {
			e.Fitted++
		}
	}
	for i, c := range s.Cases {
		if c.Note != "" {
			e.Notes = append(e.Notes, Note{c.Name, c.Note})
		}
		if e.Fitted > 0 { // else it is a reference, and no measurement that anything was fitted to
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
	b.baselines(out)
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
		if err != nil || v <= 0 {
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

// baselines fits each group's formula to its rows that are fitted, with relative errors
// as the simulator is, and fills in what it says.
func (b *bench) baselines(rows []Row) {
	kinds, groups := map[string]string{}, []string{}
	of := func(name string) string {
		for i := range b.spec.Cases {
			if k := &b.spec.Cases[i]; k.Name == name && k.Baseline.Kind != "none" {
				g := name
				if k.Baseline.Group != "" {
					g = k.Baseline.Group
				}
				kinds[g] = k.Baseline.Kind
				return g
			}
		}
		return ""
	}
	for _, r := range rows {
		if g := of(r.Case); g != "" && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		var xs, ys []float64
		for _, r := range rows {
			if of(r.Case) == g && !r.HeldOut {
				xs, ys = append(xs, abscissa(kinds[g], r.X)), append(ys, value(kinds[g], r))
			}
		}
		f, ok := line(xs, ys)
		if !ok {
			continue
		}
		for i := range rows {
			if r := &rows[i]; of(r.Case) == g {
				if y := f(abscissa(kinds[g], r.X)); y > 0 {
					r.Baseline = inUnit(kinds[g], *r, y)
					r.BaseError = r.Baseline/r.Measured - 1
				}
			}
		}
	}
}

// value is what a baseline is fitted to: what was measured, or of a rate over bytes the time.
func value(kind string, r Row) float64 {
	if kind == "bytes" && rate(r.Unit) {
		return r.X / r.Measured
	}
	return r.Measured
}

func inUnit(kind string, r Row, y float64) float64 {
	if kind == "bytes" && rate(r.Unit) {
		return r.X / y
	}
	return y
}

func abscissa(kind string, x float64) float64 {
	if kind == "log2" {
		return math.Log2(x)
	}
	return x
}

// line is the straight line with the least relative errors. Points with one x give no
// line: it is their mean there and nothing, 0, elsewhere. Without points there is none.
func line(xs, ys []float64) (func(x float64) float64, bool) {
	if len(xs) == 0 {
		return nil, false
	}
	var sw, sx, sy, sxx, sxy float64
	for i, x := range xs {
		w := 1 / (ys[i] * ys[i])
		sw, sx, sy = sw+w, sx+w*x, sy+w*ys[i]
		sxx, sxy = sxx+w*x*x, sxy+w*x*ys[i]
	}
	d := sw*sxx - sx*sx
	if d <= 1e-12*sw*sxx {
		return func(x float64) float64 {
			if math.Abs(x-xs[0]) > 1e-6*math.Abs(xs[0]) {
				return 0
			}
			return sy / sw
		}, true
	}
	slope := (sw*sxy - sx*sy) / d
	start := (sy - slope*sx) / sw
	return func(x float64) float64 { return start + slope*x }, true
}
