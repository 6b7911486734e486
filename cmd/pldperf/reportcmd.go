package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/reports"
	"pldperf/reports/document"
	html "pldperf/reports/page"
	"pldperf/workloads"
	"pldperf/workloads/explain"
)

const reportLong = `Write results as one HTML file to be read in a browser: verdict, what the time was spent
on, a swimlane of every part over time with the critical path through it, charts with the
machine's roofs, traffic and link use from rank to rank, send queues over time, ranks, and
where every number comes from. The file needs no network and no other file.

RESULT is a result (the JSON of run, sweep, explain, diff, validate or calibrate), or a
workload or sweep, which is run now. Of a workload that is run now everything is recorded
that happens, which its result does not hold; --explain also reruns it with each part of
the machine ideal, as pldperf explain does. Several results become tabs of one page.

The exit code is 1, and the page is there, when what was run now did not end ok: wrong data,
a hazard, a deadlock, an abort.

Examples:
  pldperf report a5-moe-dispatch -o report.html
  pldperf report a5-moe-dispatch --explain --set call.core_num=8 -o report.html
  pldperf report out/a5-core-num/sweep.json -o sweep.html
  pldperf report before.json after.json -o both.html

docs/REPORT.md shows the page and what can be done with it.`

type reportFlags struct {
	sweepFlags
	title   string
	spans   int64
	explain bool
}

func (a *app) reportCommand() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use: "report RESULT...", Short: "write results as an HTML page to explore", Long: reportLong,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes results, workloads or sweeps, got none\nusage: %s", c.CommandPath(), c.UseLine())
			}
			return nil
		},
		ValidArgsFunction: complete(configs.Workloads, configs.Sweeps),
		RunE:              func(c *cobra.Command, args []string) error { return a.report(c.Context(), args, &f) },
	}
	fl := c.Flags()
	f.common(c)
	f.band.add(fl)
	fl.StringVarP(&f.output, "output", "o", "report.html", "file to write; - for standard output")
	fl.StringVar(&f.title, "title", "", "of the page; default: that of the first result")
	fl.Int64Var(&f.spans, "spans", html.DefaultSpans, "keep at most so many spans and values of a run; 0: none. A page that lacks some says so")
	fl.BoolVar(&f.explain, "explain", false, "of a workload: also what each part of the machine costs, and how the time follows each parameter")
	return c
}

func (a *app) report(ctx context.Context, names []string, f *reportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := folderOf(f.output); err != nil {
		return err
	}
	if f.spans < 0 {
		return fmt.Errorf("--spans: %d, must be 0 or more", f.spans)
	}
	if err := distinct(names, f.target()); err != nil {
		return err
	}
	inputs, err := a.reportable(names, f)
	if err != nil {
		return err
	}
	p := &html.Page{Title: f.title, Program: version(), Accuracy: shippedAccuracy()}
	bad := false
	for _, in := range inputs {
		r, err := a.reported(ctx, in, f)
		if err != nil {
			return err
		}
		p.Results, bad = append(p.Results, *r), bad || !in.result() && !a.endedWell(r.Document, f)
	}
	if err := a.output(f.output, p.Write); err != nil {
		return err
	}
	if f.output != "-" {
		fmt.Fprintln(a.out, f.output)
	}
	if bad {
		return failure{exitBad}
	}
	return nil
}

// endedWell reports whether what was run now ended as it should.
func (a *app) endedWell(d *document.Document, f *reportFlags) bool {
	switch {
	case d.Run != nil:
		return d.Run.Result.Status == result.OK
	case d.Explanation != nil:
		return d.Explanation.Run.Result.Status == result.OK
	case d.Sweep != nil:
		return a.ended((*reports.Comparison)(d.Sweep), len(d.Sweep.Points), &f.sweepFlags) == nil
	}
	return true
}

func (f *reportFlags) target() target { return target{"--output", f.output} }

// reportable reads all names, and refuses flags that none of them has a use for.
func (a *app) reportable(names []string, f *reportFlags) (all []*input, err error) {
	for _, name := range names {
		in, err := a.input(name)
		if err != nil {
			return nil, err
		}
		all = append(all, in)
	}
	runs, sweeps := slices.ContainsFunc(all, (*input).workload), slices.ContainsFunc(all, (*input).sweep)
	if !runs && !sweeps {
		return all, refuse(f.given, onlyResults, slices.Concat(runNames, []string{"explain", "spans"})...)
	}
	if !runs {
		return all, refuse(f.given, "of a workload, which is none of these", "explain", "spans")
	}
	if !sweeps && f.band.draws == 0 {
		err = refuse(f.given, "of the points of a sweep, or the draws of --band", "cache", "no-cache")
		if err == nil && !f.explain {
			err = refuse(f.given, "of the points of a sweep, the draws of --band, or --explain", "jobs")
		}
	}
	return all, err
}

// reported is one result of a page: read, or run now.
func (a *app) reported(ctx context.Context, in *input, f *reportFlags) (r *html.Result, err error) {
	r = &html.Result{Name: in.name}
	switch {
	case in.result():
		r.Document, err = in.read()
	case in.sweep():
		r.Document, err = a.sweepNow(ctx, in, f.sets, &f.sweepFlags)
	default:
		return a.recorded(ctx, in, f)
	}
	return r, err
}

// recorded runs a workload and keeps what happens over time.
func (a *app) recorded(ctx context.Context, in *input, f *reportFlags) (*html.Result, error) {
	band, err := f.band.band(nil)
	if err != nil {
		return nil, err
	}
	r, err := a.record(ctx, in, f)
	if err != nil || band == nil {
		return r, err
	}
	w, err := workloads.LoadDoc(in.name, in.doc, f.sets)
	if err != nil {
		return nil, err
	}
	run := r.Document.Run
	if r.Document.Explanation != nil {
		run = &r.Document.Explanation.Run
	}
	run.Band, err = a.drawAll(ctx, w, band, &f.cacheFlags)
	return r, err
}

func (a *app) record(ctx context.Context, in *input, f *reportFlags) (*html.Result, error) {
	m := working(a.errs, "running "+in.name)
	defer m.stop()
	return await(ctx, func() (*html.Result, error) {
		w, err := workloads.LoadDoc(in.name, in.doc, f.sets)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(distinct(w.Files(), f.target()), a.unread(w.Unread(), f.strict, false)); err != nil {
			return nil, err
		}
		r := &html.Result{Name: in.name, Unit: "rows"}
		opt := hw.Options{Hazards: "auto", Path: "auto"}
		if f.spans > 0 {
			r.Timeline = &html.Timeline{Limit: f.spans}
			opt.Timeline = r.Timeline
		}
		out, err := w.Run(opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
		c := card(out)
		c.Config = leaves(w)
		for _, p := range w.Unread() {
			c.Notes = append(c.Notes, p.Error())
		}
		if r.Document, r.Traffic = c.Document(version()), w.Traffic(); r.Traffic == nil && r.Timeline != nil {
			r.Traffic, r.Unit = r.Timeline.Traffic(len(c.Result.Ranks)), "B"
		}
		if f.explain {
			return r, f.explained(ctx, in, r, m)
		}
		return r, nil
	})
}

// explained adds to a run what explain finds.
func (f *reportFlags) explained(ctx context.Context, in *input, r *html.Result, m *meter) error {
	x, err := explain.Explain(ctx, in.name, in.doc, f.sets, explain.Options{Workers: f.workers, Progress: m.count})
	if err != nil {
		return err
	}
	e := explanation(x)
	e.Run = *r.Document.Run
	r.Document = &document.Document{Head: document.NewHead(document.KindExplanation, version()), Explanation: (*document.Explanation)(e)}
	return nil
}

//go:embed accuracy.json
var accuracyText []byte

// shippedAccuracy is what validate finds of all shipped cases, as a test keeps it.
func shippedAccuracy() *document.Validation {
	d, err := document.Read(bytes.NewReader(accuracyText))
	if err != nil {
		panic(fmt.Sprintf("the accuracy in this program: %v", err))
	}
	return d.Validation
}
