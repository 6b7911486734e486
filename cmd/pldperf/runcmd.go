package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/reports"
	"pldperf/reports/plots"
	"pldperf/workloads"
)

const runLong = `Run a workload: check that every byte arrives where it should, and print the cost card.

` + bandHelp + `

Examples:
  pldperf run a5-moe-dispatch
  pldperf run a5-moe-dispatch --set call.core_num=8 --set machine.fabric.kind=ideal
  pldperf run my.yaml --format json -o card.json
  pldperf run a5-moe-decode --band                   # how sure is the time?
  pldperf run a5-moe-dispatch --perturb 8            # the same data whatever the skew?
  pldperf run a5-moe-dispatch --wqe 0:3:0+4          # the steps of four WQEs of the queue 0 -> 3
  pldperf run a5-moe-dispatch-hot --matrix traffic.png
  pldperf run a5-moe-dispatch --trace out.pftrace    # for ui.perfetto.dev; out.json for others
  pldperf run a5-moe-dispatch --pprof out.pb.gz      # go tool pprof -top out.pb.gz

docs/TRACES.md tells what a trace and a profile show.`

type runFlags struct {
	sets           []string
	format, file   string
	queue, payload string
	wqe, matrix    string
	json, strict   bool
	hazards        string
	path           string
	perturb        int
	cacheFlags
	band  bandFlags
	trace traceFlags
	given *pflag.FlagSet
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run FILE", Short: "run a workload and print its cost card", Long: runLong, Args: oneFile,
		ValidArgsFunction: complete(configs.Workloads, configs.Mistakes),
		RunE:              func(c *cobra.Command, args []string) error { return a.run(c.Context(), args[0], &f) },
	}
	fl := c.Flags()
	f.given = fl
	fl.StringArrayVar(&f.sets, "set", nil, "override a field: path=value (repeatable)")
	fl.StringVar(&f.format, "format", "text", "text, md, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.StringVarP(&f.file, "output", "o", "", "file to write instead of standard output")
	fl.StringVar(&f.queue, "event-queue", engine.Radix, "radix, or reference: the plain twin, same events and result")
	fl.StringVar(&f.payload, "payload", "", "auto, bytes or provenance; default: the workload's payload_as")
	fl.StringVar(&f.hazards, "hazards", "auto", "look for accesses that only timing orders: on, off, or auto: unless ranks * ranks * blocks exceed 65,536")
	fl.Lookup("hazards").NoOptDefVal = "on"
	fl.StringVar(&f.path, "path", "auto", "say what the elapsed time was spent on: on, off, or auto: unless that takes more than 25 million parts at a time")
	fl.Lookup("path").NoOptDefVal = "on"
	fl.IntVar(&f.perturb, "perturb", 0, "run again so many times with other starts, speeds and orders at one instant, and compare the data")
	f.band.add(fl)
	f.cacheFlags.add(fl, "draws")
	fl.BoolVar(&f.strict, "strict", false, strictHelp)
	fl.StringVar(&f.wqe, "wqe", "", "list the steps of WQEs: SRC:DST[:FIRST[+COUNT]]; as CSV, instead of the card")
	fl.StringVar(&f.matrix, "matrix", "", "write the traffic between ranks as a picture (.png or .svg)")
	f.trace.add(fl)
	return c
}

// oneFile asks for the file argument in words.
func oneFile(c *cobra.Command, args []string) error {
	if len(args) == 2 {
		if err := detached(c.Flags(), args[1]); err != nil {
			return err
		}
	}
	if len(args) != 1 {
		return fmt.Errorf("%s takes one file, got %d arguments\nusage: %s", c.CommandPath(), len(args), c.UseLine())
	}
	return nil
}

func (a *app) run(ctx context.Context, name string, f *runFlags) error {
	format, err := f.parse()
	if err != nil {
		return err
	}
	opt, err := f.options()
	if err != nil {
		return err
	}
	type ran struct {
		w   *workloads.Workload
		out *workloads.Outcome
	}
	band, err := f.band.band(nil)
	if err != nil {
		return err
	}
	if band == nil {
		if err := refuse(f.given, "of the draws of --band, which is not given", cacheNames...); err != nil {
			return err
		}
	}
	if err := distinct([]string{name}, f.targets()...); err != nil {
		return err
	}
	watch, err := f.trace.open()
	if err != nil {
		return err
	}
	defer watch.discard()
	opt.Timeline = watch.sink()
	m := working(a.errs, "running")
	r, err := await(ctx, func() (r ran, err error) {
		if r.w, err = a.workload(name, f.sets); err != nil {
			return r, err
		}
		if err := distinct(r.w.Files(), f.targets()...); err != nil {
			return r, err
		}
		unread := r.w.Unread()
		if err := a.unread(unread, f.strict, f.file == "" && format == reports.Text); err != nil {
			return r, err
		}
		if err := errors.Join(queueExists(opt.Watch, r.w.Config.Ranks), f.trace.ranksExist(r.w.Config.Ranks)); err != nil {
			return r, err
		}
		if m != nil {
			m.watch(&opt, f.perturb+1, r.w.Promised())
		}
		if r.out, err = f.execute(r.w, opt); err != nil {
			return r, fmt.Errorf("%s: %w", r.w.File, err)
		}
		for _, p := range unread {
			r.out.Warnings = append(r.out.Warnings, p.Error())
		}
		return r, nil
	})
	m.stop()
	if err != nil {
		return err
	}
	if err := watch.finish(a.errs, r.out); err != nil {
		return err
	}
	empty := watch.empty(r.out) // said last: the run itself is good
	c := card(r.out)
	c.Config = leaves(r.w)
	if band != nil {
		if c.Band, err = a.drawAll(ctx, r.w, band, &f.cacheFlags); err != nil {
			return err
		}
	}
	if err := a.writeRun(r.w, r.out, c, f, format); err != nil {
		return err
	}
	if c.Band != nil && !c.Band.OK() {
		return failure{exitBad}
	}
	if p := r.out.Result.Perturbed; p != nil && !p.OK() {
		return failure{exitBad}
	}
	return cmp.Or(verdict(r.out.Result.Status), empty)
}

// targets are the files that a run writes.
func (f *runFlags) targets() []target {
	return []target{{"--output", f.file}, {"--matrix", f.matrix}, {"--trace", f.trace.file}, {"--pprof", f.trace.profile}}
}

// maxPerturb bounds --perturb: each is a whole run.
const maxPerturb = 10_000

func (f *runFlags) execute(w *workloads.Workload, opt hw.Options) (*workloads.Outcome, error) {
	if f.perturb > 0 {
		return w.Perturb(f.perturb, opt)
	}
	return w.Run(opt)
}

// parse checks what can be checked before the run.
func (f *runFlags) parse() (reports.Format, error) {
	if f.matrix != "" {
		if err := pictureName(f.matrix); err != nil {
			return "", fmt.Errorf("--matrix: %w", err)
		}
	}
	if err := f.cacheFlags.check(); err != nil {
		return "", err
	}
	for _, path := range []string{f.file, f.matrix} {
		if err := folderOf(path); err != nil {
			return "", err
		}
	}
	if err := f.trace.check(); err != nil {
		return "", err
	}
	return parseFormat(f.format, f.json)
}

// options are those of the machine.
func (f *runFlags) options() (opt hw.Options, err error) {
	opt = hw.Options{EventQueue: f.queue, Payload: f.payload, Hazards: f.hazards, Path: f.path}
	if err := (engine.Options{Queue: f.queue}).Check(); err != nil {
		return opt, fmt.Errorf("--event-queue: %w", err)
	}
	if !slices.Contains([]string{"", "auto", "bytes", "provenance"}, f.payload) {
		return opt, fmt.Errorf("--payload: %q; there are auto, bytes and provenance", f.payload)
	}
	if !slices.Contains([]string{"auto", "on", "off"}, f.path) {
		return opt, fmt.Errorf("--path: %q; there are on, off and auto", f.path)
	}
	if !slices.Contains([]string{"auto", "on", "off"}, f.hazards) {
		return opt, fmt.Errorf("--hazards: %q; there are on, off and auto", f.hazards)
	}
	if f.perturb < 0 || f.perturb > maxPerturb {
		return opt, fmt.Errorf("--perturb: %d runs, must be 0 to %d", f.perturb, maxPerturb)
	}
	if f.wqe != "" {
		w, err := parseWatch(f.wqe)
		if err != nil {
			return opt, err
		}
		opt.Watch = []hw.Watch{w}
	}
	return opt, nil
}

func (a *app) writeRun(w *workloads.Workload, out *workloads.Outcome, c *reports.Card, f *runFlags, format reports.Format) error {
	if f.matrix != "" {
		if err := a.matrix(w, f.matrix); err != nil {
			return err
		}
	}
	opt := a.shown(0)
	return a.output(f.file, func(dst io.Writer) error {
		steps := &reports.StepList{Title: "Steps of WQEs " + f.wqe, Steps: out.Result.Steps}
		if f.wqe != "" && format == reports.CSV { // a CSV file holds one table
			return steps.Write(dst, format, opt)
		}
		if err := c.Write(dst, format, opt); err != nil || f.wqe == "" || format == reports.JSON {
			return err // the JSON of the card holds the steps
		}
		if len(steps.Steps) == 0 {
			return fmt.Errorf("--wqe %s: no such WQE was submitted; numbers begin at 0 on each queue", f.wqe)
		}
		fmt.Fprintln(dst)
		return steps.Write(dst, format, opt)
	})
}

func (a *app) matrix(w *workloads.Workload, path string) error {
	rows := w.Traffic()
	if rows == nil {
		return fmt.Errorf("--matrix: %s has no call with a routing", w.File)
	}
	p, err := plots.Traffic(plots.Frame{Subtitle: w.Config.Title}, rows, "rows")
	if err != nil {
		return fmt.Errorf("--matrix: %w", err)
	}
	return writePicture(p, path)
}

// pictureName checks the ending of a picture's name.
func pictureName(path string) error {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".png" && ext != ".svg" {
		return fmt.Errorf("%s: a picture's name ends in .png or .svg", path)
	}
	return nil
}

// writePicture writes a picture in the form that the file's name asks for.
func writePicture(p *plots.Picture, path string) error {
	if strings.ToLower(filepath.Ext(path)) == ".png" {
		return reports.WriteFile(path, p.PNG)
	}
	return reports.WriteFile(path, p.SVG)
}

// parseWatch reads SRC:DST[:FIRST[+COUNT]].
func parseWatch(s string) (hw.Watch, error) {
	w := hw.Watch{N: 1}
	bad := fmt.Errorf("--wqe: %q, want SRC:DST[:FIRST[+COUNT]], such as 0:3:0+4", s)
	head, count, more := strings.Cut(s, "+")
	parts := strings.Split(head, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return w, bad
	}
	for i, at := range []*int{&w.Rank, &w.Peer, &w.First}[:len(parts)] {
		if !number(parts[i], at) {
			return w, bad
		}
	}
	if more && (!number(count, &w.N) || w.N < 1 || w.N > 1<<20) {
		return w, bad
	}
	return w, nil
}

// queueExists checks the ranks of --wqe.
func queueExists(watch []hw.Watch, ranks int) error {
	for _, w := range watch {
		if max(w.Rank, w.Peer) >= ranks || w.Rank == w.Peer {
			return fmt.Errorf("--wqe: there is no queue from rank %d to rank %d among %d ranks", w.Rank, w.Peer, ranks)
		}
	}
	return nil
}

// number reads a decimal number without a sign.
func number(s string, n *int) bool {
	if s == "" || len(s) > 9 {
		return false
	}
	*n = 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
		*n = *n*10 + int(c-'0')
	}
	return true
}
