package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"runtime"

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
	p := &html.Page{Title: f.title, Program: version(), Accuracy: shippedAccuracy()}
	bad := false
	for _, name := range names {
		r, ran, err := a.reported(ctx, name, f)
		if err != nil {
			return err
		}
		p.Results, bad = append(p.Results, *r), bad || ran && !a.endedWell(r.Document, f)
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

// reported is one result of a page: read, or run now, which ran says.
func (a *app) reported(ctx context.Context, name string, f *reportFlags) (r *html.Result, ran bool, err error) {
	data, isResult, err := a.resultFile(name)
	if err != nil {
		return nil, false, err
	}
	if isResult {
		d, err := document.Read(bytes.NewReader(data))
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", nameOf(name), err)
		}
		return &html.Result{Name: nameOf(name), Document: d}, false, nil
	}
	file, doc := name, (*configs.Doc)(nil)
	if data != nil {
		file = stdin
		doc, err = configs.Load(file, data)
	} else {
		file, doc, err = a.document(name)
	}
	switch {
	case err != nil:
		return nil, false, err
	case doc.Has("axes"):
		d, err := a.sweepNow(ctx, file, doc, f.sets, &diffFlags{sweepFlags: f.sweepFlags})
		return &html.Result{Name: file, Document: d}, true, err
	case isMachine(doc):
		return nil, false, doc.At("name").Fault("this is a machine, which a workload names; see: pldperf show %s", file)
	}
	r, err = a.recorded(ctx, file, doc, f)
	return r, true, err
}

// recorded runs a workload and keeps what happens over time.
func (a *app) recorded(ctx context.Context, file string, doc *configs.Doc, f *reportFlags) (*html.Result, error) {
	m := working(a.errs, "running "+file)
	defer m.stop()
	return await(ctx, func() (*html.Result, error) {
		w, err := workloads.LoadDoc(file, doc, f.sets)
		if err != nil {
			return nil, err
		}
		if err := a.unread(w.Unread(), f.strict, false); err != nil {
			return nil, err
		}
		r := &html.Result{Name: file, Unit: "rows"}
		opt := hw.Options{Hazards: "auto", Path: "auto"}
		if f.spans > 0 {
			r.Timeline = &html.Timeline{Limit: f.spans}
			opt.Timeline = r.Timeline
		}
		out, err := w.Run(opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
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
			return r, f.explained(ctx, file, doc, r, m)
		}
		return r, nil
	})
}

// explained adds to a run what explain finds.
func (f *reportFlags) explained(ctx context.Context, file string, doc *configs.Doc, r *html.Result, m *meter) error {
	x, err := explain.Explain(ctx, file, doc, f.sets, explain.Options{Workers: runtime.GOMAXPROCS(0), Progress: m.count})
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
