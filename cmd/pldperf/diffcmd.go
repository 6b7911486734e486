package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/hw"
	"pldperf/reports"
	"pldperf/reports/diff"
	"pldperf/reports/document"
	"pldperf/workloads"
)

const diffLong = `Compare two runs, two sweeps, or two validations or calibrations: the inputs that differ, with where they stand; the
results side by side; and the parts of the time that grew or shrank, whose changes add up
to the difference exactly. Points of sweeps are matched by their axes, and the largest
changes in per cent come first.

A and B are results (the JSON of run, sweep, validate and calibrate), or workloads and
sweeps, which are run now. --set changes both, --set-a and --set-b one of them; a result cannot be changed.

Without a tolerance all figures and the digests must be the same. --tolerance "1 %" lets
all figures differ by that share of the larger one, "elapsed=1 %" one of them (elapsed,
algbw, busbw, wire, bound, size, peak_sq, events, resources, counters, or a counter);
digests then do not count. Rows of measurements are compared by what is simulated (with
the tolerance of elapsed) and by whether they are within their bands.

Exit codes: 0 equal within the tolerance; 1 different; 2 usage, or a file that cannot be
read or compared.

Examples:
  pldperf diff a5-moe-dispatch a5-moe-dispatch --set-b call.core_num=4
  pldperf diff a.json b.json --tolerance 1% --tolerance counters=0%
  pldperf diff old/sweep.json a5-core-num --json
  pldperf diff a.json b.json -o difference.html`

type diffFlags struct {
	sweepFlags
	setA, setB []string
	tolerance  []string
}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use: "diff A B", Short: "compare two runs, sweeps or validations and attribute the difference", Long: diffLong,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s takes two results or workloads, got %d arguments\nusage: %s", c.CommandPath(), len(args), c.UseLine())
			}
			return nil
		},
		ValidArgsFunction: complete(configs.Workloads, configs.Sweeps),
		RunE:              func(c *cobra.Command, args []string) error { return a.diff(c.Context(), args[0], args[1], &f) },
	}
	fl := c.Flags()
	f.common(c)
	fl.StringArrayVar(&f.setA, "set-a", nil, "override a field of A alone: path=value (repeatable)")
	fl.StringArrayVar(&f.setB, "set-b", nil, "override a field of B alone: path=value (repeatable)")
	fl.StringArrayVar(&f.tolerance, "tolerance", nil, `how far apart equal figures may be: "1 %", or "elapsed=1 %" for one (repeatable; default 0 %)`)
	fl.StringVar(&f.format, "format", "", "text, md, csv, json or html; default: as the file's name ends, else text")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.StringVarP(&f.output, "output", "o", "", "file to write instead of standard output")
	return c
}

func (a *app) diff(ctx context.Context, first, second string, f *diffFlags) error {
	t, write, err := f.parse()
	if err != nil {
		return err
	}
	if err := distinct([]string{first, second}, f.target()); err != nil {
		return err
	}
	if first == "-" && second == "-" {
		return fmt.Errorf("standard input can be one of A and B, not both")
	}
	sides, err := a.sides(first, second, f)
	if err != nil {
		return err
	}
	docA, err := a.compared(ctx, sides[0], f.setA, f)
	if err != nil {
		return err
	}
	docB, err := a.compared(ctx, sides[1], f.setB, f)
	if err != nil {
		return err
	}
	d, err := diff.Compare(diff.Named{Name: nameOf(first), Document: docA}, diff.Named{Name: nameOf(second), Document: docB}, t)
	if err != nil {
		return err
	}
	if err := a.output(f.output, func(w io.Writer) error { return write(w, (*reports.Difference)(d), a.shown(0)) }); err != nil {
		return err
	}
	if !d.Equal {
		return failure{exitBad}
	}
	return nil
}

// sides reads both names, and refuses settings that would do nothing.
func (a *app) sides(first, second string, f *diffFlags) (out [2]*input, err error) {
	for i, name := range []string{first, second} {
		if out[i], err = a.input(name); err != nil {
			return out, err
		}
	}
	for i, own := range []string{"set-a", "set-b"} {
		if out[i].result() {
			if err := refuse(f.given, out[i].name+" is a result, which no setting can change", own); err != nil {
				return out, err
			}
		}
	}
	A, B := out[0], out[1]
	why := "nothing runs now: both are results"
	switch {
	case A.result() && B.result():
		err = refuse(f.given, why, runNames...)
	case A.result():
		err = refuse(f.given, A.name+" is a result, which no setting can change; --set-b changes the other one", "set")
	case B.result():
		err = refuse(f.given, B.name+" is a result, which no setting can change; --set-a changes the other one", "set")
	}
	if err == nil && !A.sweep() && !B.sweep() {
		err = refuse(f.given, "of the points of sweeps, and none runs now", cacheNames...)
	}
	return out, err
}

func (f *diffFlags) target() target { return target{"--output", f.output} }

type writeDiff func(io.Writer, *reports.Difference, reports.Options) error

// parse checks what can be checked before anything is read.
func (f *diffFlags) parse() (t diff.Tolerances, write writeDiff, err error) {
	for _, text := range f.tolerance {
		if err := t.Parse(text); err != nil {
			return t, nil, fmt.Errorf("--tolerance %q: %w", text, err)
		}
	}
	if err := f.check(); err != nil {
		return t, nil, err
	}
	if err := folderOf(f.output); err != nil {
		return t, nil, err
	}
	name := f.format
	if name == "" {
		name = "text"
		for _, known := range []string{"html", "json", "csv", "md"} {
			if strings.EqualFold(filepath.Ext(f.output), "."+known) {
				name = known
			}
		}
	}
	if name == "html" && !f.json {
		return t, func(w io.Writer, d *reports.Difference, _ reports.Options) error { return d.HTML(w) }, nil
	}
	format, err := parseFormat(name, f.json)
	if err != nil {
		return t, nil, fmt.Errorf("--format: %q; there are text, md, csv, json and html", name)
	}
	return t, func(w io.Writer, d *reports.Difference, o reports.Options) error { return d.Write(w, format, o) }, nil
}

// compared returns one side: a result, or a workload or sweep that is run.
func (a *app) compared(ctx context.Context, in *input, own []string, f *diffFlags) (*document.Document, error) {
	sets := append(append([]string(nil), f.sets...), own...)
	switch {
	case in.result():
		return in.read()
	case in.sweep():
		return a.sweepNow(ctx, in, sets, &f.sweepFlags)
	}
	return a.runNow(ctx, in, sets, f)
}

// runNow runs a workload.
func (a *app) runNow(ctx context.Context, in *input, sets []string, f *diffFlags) (*document.Document, error) {
	m := working(a.errs, "running "+in.name)
	defer m.stop()
	return await(ctx, func() (*document.Document, error) {
		w, err := workloads.LoadDoc(in.name, in.doc, sets)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(distinct(w.Files(), f.target()), a.unread(w.Unread(), f.strict, false)); err != nil {
			return nil, err
		}
		opt := hw.Options{Hazards: "auto"}
		if m != nil {
			m.watch(&opt, 1, w.Promised())
		}
		out, err := w.Run(opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
		c := card(out)
		c.Config = leaves(w)
		return c.Document(version()), nil
	})
}

// sweepNow runs a sweep, as far as its points are not cached.
func (a *app) sweepNow(ctx context.Context, in *input, sets []string, f *sweepFlags) (*document.Document, error) {
	s, err := a.sweepOf(ctx, in, sets)
	if err != nil {
		return nil, err
	}
	if err := a.unread(s.Unread, f.strict, false); err != nil {
		return nil, err
	}
	cmp, err := a.points(ctx, s, f)
	if err != nil {
		return nil, err
	}
	if len(cmp.Points) < len(s.Points) {
		return nil, context.Canceled
	}
	return cmp.Document(version()), nil
}
