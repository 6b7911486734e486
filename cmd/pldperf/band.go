package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/pflag"

	"pldperf/reports"
	"pldperf/workloads"
)

const bandHelp = `--band runs everything again with the machine's uncertain parameters, those of the form
{value, low, high}, drawn from within their limits, all at once: a Latin hypercube of 32
draws, or --band=N, decided by --band-seed. A parameter has the same draws at every point
of a sweep. Draws are cached as points are; the nominal run is the same as without.`

// bandFlags ask for a band.
type bandFlags struct {
	draws int
	seed  uint64
	flags *pflag.FlagSet
}

const (
	defaultDraws = 32
	maxDraws     = 10_000
)

func (b *bandFlags) add(fl *pflag.FlagSet) {
	b.flags = fl
	fl.IntVar(&b.draws, "band", 0, "draw uncertain parameters from their bands so many times and show low and high; without a number 32, 0 is none")
	fl.Lookup("band").NoOptDefVal = strconv.Itoa(defaultDraws)
	fl.Uint64Var(&b.seed, "band-seed", 1, "of the draws")
}

// band returns the band that is asked for, by flags or else by a file; nil is none.
func (b *bandFlags) band(file *workloads.Band) (*workloads.Band, error) {
	out := workloads.Band{Draws: b.draws, Seed: b.seed}
	if b.flags == nil || !b.flags.Changed("band") {
		out.Draws = 0
		if file != nil {
			out.Draws = file.Draws
		}
	}
	if file != nil && (b.flags == nil || !b.flags.Changed("band-seed")) {
		out.Seed = file.Seed
	}
	switch {
	case out.Draws < 0 || out.Draws == 1 || out.Draws > maxDraws:
		return nil, fmt.Errorf("--band: %d draws, must be 2 to %d, or 0 for none", out.Draws, maxDraws)
	case out.Draws == 0 && b.flags != nil && b.flags.Changed("band-seed"):
		return nil, fmt.Errorf("--band-seed goes with --band")
	case out.Draws == 0:
		return nil, nil
	}
	return &out, nil
}

// cacheFlags say where results of points and draws are kept.
type cacheFlags struct {
	cache   string
	noCache bool
	workers int
}

func (f *cacheFlags) add(fl *pflag.FlagSet, what string) {
	fl.IntVarP(&f.workers, "jobs", "j", runtime.GOMAXPROCS(0), what+" that run at once")
	fl.StringVar(&f.cache, "cache", "", "folder of cached "+what+"; default: pldperf in the user's cache folder")
	fl.BoolVar(&f.noCache, "no-cache", false, "run all "+what+" anew")
}

func (f *cacheFlags) check() error { return atLeastOne(f.workers) }

// draws are those of one point.
type draws struct {
	point   *workloads.Point
	band    workloads.Band
	results []*reports.Draw // nil: has not run
	once    sync.Once
	params  []workloads.Banded
	err     error
}

// draw returns draw k as a point.
func (d *draws) draw(k int) (*workloads.Point, error) {
	if d.once.Do(func() { d.params, d.err = d.point.Banded(d.band) }); d.err != nil {
		return nil, d.err
	}
	return d.point.Drawn(d.params, k)
}

// whole reports whether every draw has run.
func (d *draws) whole() bool { return !slices.Contains(d.results, nil) }

func (d *draws) all() (out []reports.Draw) {
	for _, r := range d.results {
		out = append(out, *r)
	}
	return out
}

// bandOf lists what a sweep draws: the parameters of all its points.
func bandOf(s *workloads.Sweep, b *workloads.Band) (*reports.Band, error) {
	if b == nil {
		return nil, nil
	}
	out := &reports.Band{Seed: b.Seed}
	for i := range s.Points {
		if s.Points[i].Impossible != "" {
			continue
		}
		params, err := s.Points[i].Banded(*b)
		if err != nil {
			return nil, err
		}
		for _, p := range bandParams(params) {
			if !slices.ContainsFunc(out.Params, func(o reports.BandParam) bool { return o.Path == p.Path }) {
				p.Draws = nil
				out.Params = append(out.Params, p)
			}
		}
	}
	return out, nil
}

// bandParams turns parameters into those of a report.
func bandParams(params []workloads.Banded) (out []reports.BandParam) {
	for _, p := range params {
		out = append(out, reports.BandParam(p))
	}
	return out
}

// drawAll runs a workload's band, so many at once, and returns nothing half done: all of
// it, or context.Canceled when the user interrupts.
func (a *app) drawAll(ctx context.Context, w *workloads.Workload, b *workloads.Band, f *cacheFlags) (*reports.Band, error) {
	d := draws{point: w.Point(), band: *b, results: make([]*reports.Draw, b.Draws)}
	if _, err := d.draw(0); err != nil {
		return nil, err
	}
	r := runner{app: a}
	var err error
	if r.cache, err = f.open(); err != nil {
		return nil, err
	}
	bar := newProgress(a.errs, b.Draws, "draws")
	defer context.AfterFunc(ctx, func() { bar.say("finishing the draws that run; Ctrl-C again ends at once") })()
	err = workloads.Each(ctx, b.Draws, f.workers, func(k int) error {
		p, err := guard(func() (*reports.Point, error) { return r.draw(&d, k) })
		if err != nil {
			return fmt.Errorf("%s: %w", w.File, err)
		}
		one := reports.NewDraw(p)
		d.results[k] = &one
		bar.step()
		return nil
	})
	bar.stop()
	if err == nil && !d.whole() {
		err = context.Canceled
	}
	if err != nil {
		return nil, err
	}
	return &reports.Band{Seed: b.Seed, Params: bandParams(d.params), Draws: d.all()}, nil
}

// draw runs draw k of a point.
func (r *runner) draw(d *draws, k int) (*reports.Point, error) {
	p, err := d.draw(k)
	if err != nil {
		return nil, err
	}
	out, err := r.simulate(p, nil)
	if err != nil {
		err = fmt.Errorf("draw %d: %w", k, err)
	}
	return out, err
}
