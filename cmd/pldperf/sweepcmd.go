package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pldperf/configs"
	"pldperf/hw/result"
	"pldperf/reports"
	"pldperf/reports/plots"
	"pldperf/workloads"
)

const sweepLong = `Run a workload over all combinations of the values of its axes, compare the points, and
recommend the smallest core_num that is within 2 % of the best: fewer AIVs are then taken
from compute. The table goes to standard output; CSV, JSON, markdown and plots go to a
folder. All points are checked before the first one runs. Points are cached by content,
so an interrupted sweep goes on where it stopped. Ctrl-C shows the points that are there
and exits with 130; a second one ends the program at once.

An axis over operations compares algorithms: op: allreduce/* stands for all forms, and
call.op: [allreduce/ring_host, allreduce/mesh_host core_num=16] names them, with fields of
the call that hold for that form only. Along an axis of sizes or ranks
the table then shows the switch-over points: where another algorithm becomes the fastest.
A point that an algorithm cannot do is shown as not possible, with the reason.

` + bandHelp + ` The
recommendation then says how often it wins.

A sweep file has title, base (a workload), set (path: value for all points), axes (path:
a list, {from, to, step} or {from, to, times}), recommend (an axis; default
call.core_num), tolerance (default 2 %), band ({draws, seed}) and plots (default: all that
the axes give).

Examples:
  pldperf sweep a5-core-num
  pldperf sweep a5-core-num --band
  pldperf sweep a5-core-num --set routing.tokens=1024 -o out/small
  pldperf sweep a5-allreduce-algorithms --set ranks=4
  pldperf sweep my-sweep.yaml --format csv -o - > points.csv`

// sweepFlags are those of sweep and plot.
type sweepFlags struct {
	cacheFlags
	band   bandFlags
	sets   []string
	format string
	output string
	lang   string
	kinds  []string
	json   bool
	strict bool
	given  *pflag.FlagSet
}

func (a *app) sweepCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use: "sweep FILE", Short: "compare values of fields, or algorithms, and recommend one", Long: sweepLong, Args: oneFile,
		ValidArgsFunction: complete(configs.Sweeps),
		RunE:              func(c *cobra.Command, args []string) error { return a.sweep(c.Context(), args[0], &f) },
	}
	fl := c.Flags()
	f.common(c)
	f.band.add(fl)
	f.pictured(c)
	fl.StringVar(&f.format, "format", "text", "of the table on standard output: text, md, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.StringVarP(&f.output, "output", "o", "", "folder for CSV, JSON, markdown and plots; default out/NAME, - for none")
	return c
}

// common adds the flags of all that can run a sweep.
func (f *sweepFlags) common(c *cobra.Command) {
	fl := c.Flags()
	f.given, f.lang = fl, "en"
	fl.StringArrayVar(&f.sets, "set", nil, "override a field of the workload: path=value (repeatable)")
	f.cacheFlags.add(fl, "points")
	fl.BoolVar(&f.strict, "strict", false, strictHelp)
}

// pictured adds what only plots have.
func (f *sweepFlags) pictured(c *cobra.Command) {
	c.Flags().StringVar(&f.lang, "lang", "en", "words in plots: en, or zh where a Chinese font is installed")
}

// check checks what can be checked before anything runs.
func (f *sweepFlags) check() error {
	if err := f.cacheFlags.check(); err != nil {
		return err
	}
	if f.lang != "en" && f.lang != "zh" {
		return fmt.Errorf("--lang: %q; there are en and zh", f.lang)
	}
	return nil
}

func (a *app) sweep(ctx context.Context, name string, f *sweepFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.output == "-" {
		if err := refuse(f.given, "goes with plots, of which -o - makes none", "lang"); err != nil {
			return err
		}
	}
	if err := folderName(f.output); err != nil {
		return err
	}
	s, err := a.loadSweep(ctx, name, f.sets)
	if err != nil {
		return err
	}
	if err := a.unread(s.Unread, f.strict, format == reports.Text); err != nil {
		return err
	}
	dir := f.output
	if dir == "" {
		dir = filepath.Join("out", stem(s.File))
	}
	if dir != "-" {
		if err := makeDir(dir); err != nil {
			return err
		}
	}
	cmp, err := a.points(ctx, s, f)
	if err != nil {
		return err
	}
	if dir != "-" { // first: whoever reads the table may close the pipe
		if err := a.artefacts(s, cmp, dir, f); err != nil {
			return err
		}
	}
	if err := cmp.Write(a.out, format, a.shown(0)); err != nil {
		return err
	}
	return a.ended(cmp, len(s.Points), f)
}

// ended turns the points' verdicts into the command's.
func (a *app) ended(cmp *reports.Comparison, all int, f *sweepFlags) error {
	if n := len(cmp.Points); n < all {
		more := "; the same command goes on from there"
		if f.noCache {
			more = ""
		}
		fmt.Fprintf(a.errs, "pldperf: %s%s\n", partial(n, all), more)
		return failure{exitStopped}
	}
	ok := false
	for i := range cmp.Points {
		switch cmp.Points[i].Status {
		case result.OK:
			ok = true
		case reports.NotPossible:
			if cmp.Compare == "" { // only a comparison expects it
				return failure{exitBad}
			}
		default:
			return failure{exitBad}
		}
	}
	if !ok || cmp.NotOK() > 0 { // nothing has been done, or some draw went wrong
		return failure{exitBad}
	}
	return nil
}

// artefacts writes all files of a sweep.
func (a *app) artefacts(s *workloads.Sweep, cmp *reports.Comparison, dir string, f *sweepFlags) error {
	for _, format := range []reports.Format{reports.CSV, reports.JSON, reports.Markdown} {
		path := filepath.Join(dir, "sweep"+format.Extension())
		if err := reports.WriteFile(path, func(w writer) error { return cmp.Write(w, format, reports.Options{Program: version()}) }); err != nil {
			return err
		}
	}
	drawn, err := a.pictures(cmp, f.lang, s.Config.Plots, func(kind string, p *plots.Picture) error {
		return both(p, filepath.Join(dir, kind))
	})
	if err == nil && terminal(a.errs) {
		fmt.Fprintf(a.errs, "pldperf: CSV, JSON, markdown and %d plots are in %s\n", drawn, dir)
	}
	return err
}

func (a *app) loadSweep(ctx context.Context, name string, sets []string) (*workloads.Sweep, error) {
	file, doc, err := a.document(name)
	if err != nil {
		return nil, err
	}
	return a.sweepOf(ctx, &input{name: file, doc: doc}, sets)
}

// sweepOf checks all points of a sweep.
func (a *app) sweepOf(ctx context.Context, in *input, sets []string) (*workloads.Sweep, error) {
	if err := noSweep(in.doc, in.name); err != nil {
		return nil, err
	}
	defer working(a.errs, "checking all points").stop()
	return await(ctx, func() (*workloads.Sweep, error) { return workloads.SweepFromDoc(in.name, in.doc, sets) })
}

// noSweep says of files of other kinds that they are no sweep, and what reads them.
func noSweep(doc *configs.Doc, name string) error {
	if !doc.Has("axes") && doc.Has("ranks") {
		return doc.At("ranks").Fault("this is a workload; run it with: pldperf run %s", name)
	}
	return noRun(doc, name)
}

func stem(file string) string {
	base := filepath.Base(file)
	return strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), " ", "-")
}
