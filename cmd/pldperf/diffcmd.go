package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
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

const diffLong = `Compare two runs, or two sweeps: the inputs that differ, with where they stand; the
results side by side; and the parts of the time that grew or shrank, whose changes add up
to the difference exactly. Points of sweeps are matched by their axes, and the largest
changes come first.

A and B are results (the JSON of run and sweep), or workloads and sweeps, which are run
now. --set changes both, --set-a and --set-b one of those that are run.

Without a tolerance all figures and the digests must be the same. --tolerance "1 %" lets
all figures differ by that share of the larger one, "elapsed=1 %" one of them (elapsed,
algbw, busbw, wire, bound, size, peak_sq, events, resources, counters, or a counter);
digests then do not count.

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
		Use: "diff A B", Short: "compare two runs or sweeps and attribute the difference", Long: diffLong,
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
	if first == "-" && second == "-" {
		return fmt.Errorf("standard input can be one of A and B, not both")
	}
	docA, err := a.compared(ctx, first, f.setA, "--set-a", f)
	if err != nil {
		return err
	}
	docB, err := a.compared(ctx, second, f.setB, "--set-b", f)
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

func nameOf(arg string) string {
	if arg == "-" {
		return stdin
	}
	return arg
}

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

// compared returns one side: a result that is read, or a workload or sweep that is run.
func (a *app) compared(ctx context.Context, name string, own []string, flag string, f *diffFlags) (*document.Document, error) {
	data, isResult, err := a.resultFile(name)
	if err != nil {
		return nil, err
	}
	if isResult {
		if len(own) > 0 {
			return nil, fmt.Errorf("%s: %s is a result, which no setting can change", flag, nameOf(name))
		}
		d, err := document.Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(name), err)
		}
		return d, nil
	}
	sets := append(append([]string(nil), f.sets...), own...)
	var doc *configs.Doc
	file := name
	if data != nil {
		file = stdin
		doc, err = configs.Load(file, data)
	} else {
		file, doc, err = a.document(name)
	}
	if err != nil {
		return nil, err
	}
	if doc.Has("axes") {
		return a.sweepNow(ctx, file, doc, sets, f)
	}
	return a.runNow(ctx, file, doc, sets)
}

// resultFile returns what a name holds if that is a result, and what standard input
// holds in any case. A name that ends in .json is a result, whatever is in it.
func (a *app) resultFile(name string) (data []byte, isResult bool, err error) {
	if name == "-" {
		data, err = io.ReadAll(a.in)
		return data, bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && bytes.Contains(data, []byte(`"schema"`)), err
	}
	if !strings.EqualFold(filepath.Ext(name), ".json") {
		return nil, false, nil
	}
	data, err = os.ReadFile(name)
	return data, true, err
}

// runNow runs a workload.
func (a *app) runNow(ctx context.Context, file string, doc *configs.Doc, sets []string) (*document.Document, error) {
	if isMachine(doc) {
		return nil, doc.At("name").Fault("this is a machine, which a workload names; see: pldperf show %s", file)
	}
	m := working(a.errs, "running "+file)
	defer m.stop()
	return await(ctx, func() (*document.Document, error) {
		w, err := workloads.LoadDoc(file, doc, sets)
		if err != nil {
			return nil, err
		}
		opt := hw.Options{Hazards: "auto"}
		if m != nil {
			m.watch(&opt, 1, w.Promised())
		}
		out, err := w.Run(opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		c := card(out)
		c.Config = leaves(w)
		return c.Document(version()), nil
	})
}

// sweepNow runs a sweep, as far as its points are not cached.
func (a *app) sweepNow(ctx context.Context, file string, doc *configs.Doc, sets []string, f *diffFlags) (*document.Document, error) {
	s, err := workloads.SweepFromDoc(file, doc, sets)
	if err != nil {
		return nil, err
	}
	cmp, err := a.points(ctx, s, &f.sweepFlags)
	if err != nil {
		return nil, err
	}
	if len(cmp.Points) < len(s.Points) {
		return nil, context.Canceled
	}
	return cmp.Document(version()), nil
}
