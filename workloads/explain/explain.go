// Package explain asks of a workload where its time goes and what would change it. It runs the workload once as it is,
// and then again with one part of the machine ideal, with one parameter a little higher and a little lower, and with other
// numbers of blocks. Only the first run looks for hazards; one that has any has no time to explain. Each of these is a run that a user can repeat, by the settings that it names; what they say of the
// time is a difference of two runs and no estimate.
package explain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/workloads"
)

// Options are how to explain. The zero value asks everything.
type Options struct {
	Workers  int                   // simulations at once; 0: as many as processors
	Quick    bool                  // no sensitivities and no other numbers of blocks
	Progress func(done, total int) // told after each run, from any goroutine; may be nil
}

// Explanation is what the runs say.
type Explanation struct {
	Workload *workloads.Workload
	Base     *workloads.Outcome
	Twins    []Twin
	Pairs    []Pair
	Moves    []Move
	Blocks   []Blocks
}

// run is one more simulation and where its time goes to.
type run struct {
	sets []string
	into func(elapsed engine.Duration, err error)

	outside *[]workloads.Outside // if not nil, is told how the run lies beyond what was measured
}

// Explain runs a workload and its variants. An error of the workload itself is returned; one of a variant says in the
// variant that it is not possible.
func Explain(ctx context.Context, file string, doc *configs.Doc, sets []string, o Options) (*Explanation, error) {
	w, err := workloads.LoadDoc(file, doc, sets)
	if err != nil {
		return nil, err
	}
	base, err := w.Run(hw.Options{Path: "on", Hazards: "auto"})
	if err != nil {
		return nil, err
	}
	x := &Explanation{Workload: w, Base: base}
	if base.Result.Status != result.OK || base.Result.Elapsed == 0 {
		return x, nil // what is wrong has no time to explain
	}
	runs := x.twins(w)
	if !o.Quick {
		runs = append(runs, x.moves(w)...)
		runs = append(runs, x.blocks(w)...)
	}
	s := &series{file: file, doc: doc, sets: sets, o: o}
	if err := s.do(ctx, runs); err != nil {
		return nil, err
	}
	if err := s.do(ctx, append(x.pairs(w), x.halves(w)...)); err != nil {
		return nil, err
	}
	x.order()
	return x, nil
}

// series runs variants of one workload side by side.
type series struct {
	file        string
	doc         *configs.Doc
	sets        []string
	o           Options
	done, total atomic.Int64
}

func (s *series) do(ctx context.Context, runs []run) error {
	s.total.Add(int64(len(runs)))
	g, ctx := errgroup.WithContext(ctx)
	workers := s.o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g.SetLimit(workers)
	for _, r := range runs {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			d, outside, err := s.elapsed(r.sets)
			if r.outside != nil {
				*r.outside = outside
			}
			r.into(d, err)
			if n := s.done.Add(1); s.o.Progress != nil {
				s.o.Progress(int(n), int(s.total.Load()))
			}
			return nil
		})
	}
	return g.Wait()
}

// elapsed runs the workload with further settings.
func (s *series) elapsed(sets []string) (engine.Duration, []workloads.Outside, error) {
	w, err := workloads.LoadDoc(s.file, s.doc, append(append([]string{}, s.sets...), sets...))
	if err != nil {
		return 0, nil, err
	}
	out, err := w.Run(hw.Options{Path: "off", Hazards: "off"})
	if err != nil {
		return 0, nil, err
	}
	if st := out.Result.Status; st != result.OK {
		return 0, nil, errors.New(string(st))
	}
	return out.Result.Elapsed, slices.Concat(out.Outside, out.Params.Outside), nil
}

// share is part over whole; 0 of nothing.
func share(part, whole engine.Duration) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func zero(paths ...string) (sets []string) {
	for _, p := range paths {
		sets = append(sets, fmt.Sprintf("machine.%s=0 ps", p))
	}
	return sets
}
