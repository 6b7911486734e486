package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"pldperf/engine"
)

// Options are about how a fit is done.
type Options struct {
	Workers     int               // simulations at once
	Machine     string            // instead of the spec's: a preset, or a file such as an earlier overlay
	Start       map[string]string // first guesses by label, instead of those of the spec
	Evaluations int               // simulated points a search; 0 is 60 and 40 for each parameter
	Progress    func(Progress)    // told of each point of the search; nil: nobody
}

// Progress is how far a fit is: the rival explanation that is fitted, from 1, of how many,
// the points of its search so far, how many searches of that many points there usually are
// at most, and the least root mean square error.
type Progress struct {
	Rival, Rivals, Points, Most int
	Error                       float64
}

// Calibration is the outcome of a fit.
type Calibration struct {
	Title        string       `json:"title"`
	File         string       `json:"file"`
	Machine      string       `json:"machine"`
	Data         []string     `json:"data"`
	Params       []Fitted     `json:"parameters"`
	Rows         []Row        `json:"rows"`
	Fit          Errors       `json:"fit_errors"`
	HeldOut      Errors       `json:"held_out_errors"`
	Warnings     []string     `json:"warnings,omitempty"`
	Alternatives []Comparison `json:"alternatives,omitempty"`
	Runs         int          `json:"simulations"`

	spec *Spec
}

// Errors sums up the relative errors of rows, without their signs.
type Errors struct {
	N   int     `json:"rows"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	Max float64 `json:"max"`
	RMS float64 `json:"rms"`
}

// Comparison is how well a rival explanation fits.
type Comparison struct {
	Name    string   `json:"name"`
	Params  []Fitted `json:"parameters"`
	Fit     Errors   `json:"fit_errors"`
	HeldOut Errors   `json:"held_out_errors"`
}

// Calibrate fits the parameters of a spec to the rows that are not held out.
func (s *Spec) Calibrate(ctx context.Context, opt Options) (*Calibration, error) {
	if len(s.written()) == 0 {
		return nil, s.doc.At("params").Fault("there is nothing to fit")
	}
	if err := s.labels(opt.Start); err != nil {
		return nil, err
	}
	rivals := s.Alternatives
	if len(rivals) == 0 {
		rivals = []Alternative{{}}
	}
	var all []*search
	for i := range rivals {
		f := &search{spec: s, opt: opt, rival: &rivals[i], nth: i + 1, of: len(rivals), params: slices.Concat(s.Params, rivals[i].Params)}
		if err := f.run(ctx); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return s.outcome(all)
}

func (s *Spec) outcome(all []*search) (*Calibration, error) {
	best := all[0]
	c := &Calibration{Title: s.Title, File: s.file, Machine: best.bench.machine, Params: best.fitted, Rows: best.rows, Warnings: best.warnings, spec: s}
	c.Fit, c.HeldOut = summary(best.rows)
	for _, f := range all {
		c.Runs += f.bench.runs
		if len(all) > 1 {
			x := Comparison{Name: f.rival.Name, Params: f.fitted}
			x.Fit, x.HeldOut = summary(f.rows)
			c.Alternatives = append(c.Alternatives, x)
		}
	}
	for _, k := range s.Cases {
		if !slices.Contains(c.Data, k.Data) {
			c.Data = append(c.Data, k.Data)
		}
	}
	c.Warnings = append(c.Warnings, best.bench.odd()...)
	c.undecided(float64(s.Noise) / 1e6)
	return c, nil
}

// undecided warns of rivals that explain the fitted rows about as well: the data cannot
// tell which cause is real.
func (c *Calibration) undecided(noise float64) {
	for i := 1; i < len(c.Alternatives); i++ {
		a, b := &c.Alternatives[0], &c.Alternatives[i]
		if math.Abs(a.Fit.RMS-b.Fit.RMS) <= max(noise, 0.1*a.Fit.RMS) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("the fitted rows cannot tell %q from %q: errors of %.2f %% and %.2f %% (root mean square)",
				a.Name, b.Name, 100*a.Fit.RMS, 100*b.Fit.RMS))
		}
	}
}

// summary returns the errors of the fitted rows and of those that were held out.
func summary(rows []Row) (fit, held Errors) {
	var f, h []float64
	for _, r := range rows {
		if r.HeldOut {
			h = append(h, math.Abs(r.Error))
		} else {
			f = append(f, math.Abs(r.Error))
		}
	}
	return errorsOf(f), errorsOf(h)
}

// errorsOf sums up errors; a quantile is the least error that so many rows do not exceed.
func errorsOf(e []float64) (out Errors) {
	if out.N = len(e); out.N == 0 {
		return out
	}
	slices.Sort(e)
	at := func(q float64) float64 { return e[max(int(math.Ceil(q*float64(len(e))))-1, 0)] }
	for _, x := range e {
		out.RMS += x * x / float64(len(e))
	}
	out.P50, out.P90, out.Max, out.RMS = at(0.5), at(0.9), e[len(e)-1], math.Sqrt(out.RMS)
	return out
}

// search is the fit of one explanation.
type search struct {
	spec   *Spec
	opt    Options
	rival  *Alternative
	nth    int // of the rivals, from 1
	of     int
	params []Param
	bench  *bench
	free   []int // parameters that the rows react to
	start  at
	best   at
	points int
	cut    bool // the last descent ended at its budget
	err    error

	fitted   []Fitted
	rows     []Row
	warnings []string
	plateaus map[int]plateau // of parameters without a slope at the best point
}

// least is a mean square error from which nothing is gained: a twentieth of the noise.
func (f *search) least() float64 { return f.noise() * f.noise() / 400 }

func (f *search) run(ctx context.Context) (err error) {
	if f.bench, err = f.spec.open(f.opt.Machine, f.opt.Workers); err != nil {
		return err
	}
	if !slices.ContainsFunc(slices.Concat(f.bench.rows...), func(r row) bool { return !r.held }) {
		return f.spec.doc.At("cases").Fault("every row is held out, so there is nothing to fit to")
	}
	f.bench.set = &f.rival.Set
	if f.start, err = f.first(); err != nil {
		return err
	}
	if err := f.sensitive(ctx); err != nil {
		return err
	}
	if f.best, err = f.look(ctx); err != nil {
		return err
	}
	if f.cut {
		f.warn("the search ended after %d points, before it settled: more may fit better (--evaluations)", f.points)
	}
	if err := f.stay(ctx); err != nil {
		return err
	}
	if err := f.judge(ctx); err != nil {
		return err
	}
	seconds, err := f.bench.seconds(ctx, f.params, f.best, func(row) bool { return true })
	if err != nil {
		return err
	}
	if f.rows, err = f.bench.table(seconds); err != nil {
		return err
	}
	for i := range f.rows {
		f.rows[i].Fitted = !f.rows[i].HeldOut
	}
	f.bench.baselines(f.rows)
	return nil
}

// first returns the first guess: of the options, of the parameter, or what the machine or
// the first case to which it applies says; else the middle of its bounds.
func (f *search) first() (at, error) {
	var x at
	for i := range f.params {
		p := &f.params[i]
		text := cmp.Or(f.opt.Start[p.Label()], p.Start)
		if text == "" {
			text = f.present(p)
		}
		v, k := engine.ReadQuantity(text)
		if k != p.kind {
			v = p.at0(0.5)
		}
		x = append(x, min(max(v, p.low), p.high))
	}
	return x, nil
}

// present is what the files say of a parameter in the first case to which it applies.
func (f *search) present(p *Param) string {
	if text := f.earlier(p); text != "" {
		return text
	}
	for c := range f.spec.Cases {
		if !p.applies(&f.spec.Cases[c]) {
			continue
		}
		w, err := f.bench.build(c, 0, nil, nil)
		if err != nil || !w.Doc.Has(p.Path) {
			return ""
		}
		if d := w.Doc.At(p.Path); d.Has("value") {
			return d.At("value").Text()
		}
		return w.Doc.At(p.Path).Text()
	}
	return ""
}

// earlier is what an earlier overlay, at which the fit begins, says of a parameter of which
// the first case has a machine of its own.
func (f *search) earlier(p *Param) string {
	c := slices.IndexFunc(f.spec.Cases, func(k Case) bool { return p.applies(&k) })
	if c < 0 || !f.bench.docs[c].Has("machine") {
		return ""
	}
	return overlaid(f.opt.Machine, p)
}

// at0 returns the value at a share of the way from low to high.
func (p *Param) at0(share float64) int64 {
	if p.low > 0 {
		return int64(math.Round(float64(p.low) * math.Pow(float64(p.high)/float64(p.low), share)))
	}
	return p.low + int64(math.Round(share*float64(p.high-p.low)))
}

// share is at0 backwards.
func (p *Param) share(v int64) float64 {
	if p.low > 0 {
		return math.Log(float64(v)/float64(p.low)) / math.Log(float64(p.high)/float64(p.low))
	}
	return float64(v-p.low) / float64(p.high-p.low)
}

// residuals returns the relative errors of the fitted rows, in order.
func (f *search) residuals(ctx context.Context, x at) ([]float64, error) {
	seconds, err := f.bench.seconds(ctx, f.params, x, func(r row) bool { return !r.held })
	if err != nil {
		return nil, err
	}
	var out []float64
	for c := range f.bench.rows {
		for i, r := range f.bench.rows[c] {
			if r.held {
				continue
			}
			want, err := f.bench.measured(c, i)
			if err != nil {
				return nil, err
			}
			got, err := f.bench.shown(c, i, seconds[c][i])
			if err != nil {
				return nil, err
			}
			out = append(out, got/want-1)
		}
	}
	return out, nil
}

// objective is the mean square of the residuals.
func (f *search) objective(ctx context.Context, x at) (float64, error) {
	e, err := f.residuals(ctx, x)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, r := range e {
		sum += r * r
	}
	return sum / float64(max(len(e), 1)), nil
}

// look searches from the first guess and from the best of fixed points spread over the
// bounds. Only what is better by more than a hundredth replaces the first guess, so that
// a fit that begins at its own outcome ends there.
func (f *search) look(ctx context.Context) (at, error) {
	start, err := f.objective(ctx, f.start)
	if err != nil || len(f.free) == 0 || start <= f.least() {
		return f.start, err
	}
	best, value, err := f.settle(ctx, f.start, start)
	if err != nil || value <= f.least() {
		return best, err
	}
	far, v, err := f.spread(ctx)
	if err != nil {
		return nil, err
	}
	near := f.cut
	if far, v, err = f.settle(ctx, far, v); err != nil {
		return nil, err
	}
	if v < better*value {
		return far, nil
	}
	f.cut = near
	return best, nil
}

// better is what a point's objective must be of another's to replace it.
const better = 0.99

// settle descends again and again until that changes nothing: a simplex can shrink onto a
// ridge.
func (f *search) settle(ctx context.Context, best at, value float64) (at, float64, error) {
	for value > f.least() {
		again, v, err := f.descend(ctx, best, value, 0.05)
		if err != nil {
			return nil, 0, err
		}
		if v >= better*value {
			break
		}
		best, value = again, v
	}
	return best, value, nil
}

// spread evaluates points of a Halton sequence in the bounds and returns the best.
func (f *search) spread(ctx context.Context) (best at, value float64, err error) {
	value = math.Inf(1)
	for n := 1; n <= 4*len(f.free); n++ {
		x := slices.Clone(f.start)
		for k, i := range f.free {
			x[i] = f.params[i].at0(halton(n, primes[k%len(primes)]))
		}
		v, err := f.objective(ctx, x)
		if err != nil {
			return nil, 0, err
		}
		if v < value {
			best, value = x, v
		}
	}
	return best, value, nil
}

var primes = []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}

func halton(n, base int) (x float64) {
	for f := 1 / float64(base); n > 0; n, f = n/base, f/float64(base) {
		x += f * float64(n%base)
	}
	return x
}

// descend runs a Nelder-Mead search in shares of the bounds and returns the best point,
// with its values rounded; step is the size of the first simplex.
func (f *search) descend(ctx context.Context, from at, value, step float64) (at, float64, error) {
	decode := func(y []float64) (x at, outside float64) {
		x = slices.Clone(from)
		for k, i := range f.free {
			in := min(max(y[k], 0), 1)
			outside += (y[k] - in) * (y[k] - in)
			x[i] = f.params[i].rounded(in)
		}
		return x, outside
	}
	best := from
	p := optimize.Problem{Func: func(y []float64) float64 {
		if f.err != nil {
			return math.Inf(1)
		}
		x, outside := decode(y)
		v, err := f.objective(ctx, x)
		if err != nil {
			f.err = err
			return math.Inf(1)
		}
		f.points++
		if outside == 0 && v < value {
			best, value = x, v
		}
		if f.opt.Progress != nil {
			f.opt.Progress(Progress{f.nth, f.of, f.points, searches * f.budget(), math.Sqrt(value)})
		}
		return v + outside
	}}
	y := make([]float64, len(f.free))
	for k, i := range f.free {
		y[k] = f.params[i].share(max(from[i], 1))
	}
	end, err := optimize.Minimize(p, y, &optimize.Settings{
		FuncEvaluations: f.budget(),
		Converger:       &enough{optimize.FunctionConverge{Absolute: f.least() / 10, Relative: 1e-3, Iterations: 15 + 5*len(f.free)}, f.least()},
	}, &optimize.NelderMead{SimplexSize: step})
	if f.err != nil {
		return nil, 0, f.err
	}
	if err != nil && best == nil {
		return nil, 0, err
	}
	f.cut = end != nil && end.Status == optimize.FunctionEvaluationLimit
	return best, value, nil
}

// searches is how many there are of an explanation: from the first guess and from the best
// point of the bounds, each again until nothing changes.
const searches = 4

// budget is how many points a search has at most.
func (f *search) budget() int { return cmp.Or(f.opt.Evaluations, 60+40*len(f.free)) }

// enough ends a search also where its objective is as small as anyone asks.
type enough struct {
	optimize.FunctionConverge
	least float64
}

// Converged implements optimize.Converger.
func (e *enough) Converged(at *optimize.Location) optimize.Status {
	if at.F <= e.least {
		return optimize.FunctionThreshold
	}
	return e.FunctionConverge.Converged(at)
}

// rounded returns the value at a share of the bounds, with as many digits as are kept.
func (p *Param) rounded(share float64) int64 {
	return min(max(round(p.at0(share)), p.low), p.high)
}
