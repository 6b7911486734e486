package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/reports"
	"pldperf/reports/document"
	"pldperf/workloads/fit"
)

const validateLong = `Run every case of published measurements and print what the simulator says of it: case,
measured, simulated, error, whether the row was fitted or held out, the band that the
error must stay in, and what a straight line fitted to the same rows says. Below each
table stand the number of parameters and rows, what the cases set in place of what their
machines have, and the parameters whose values do not come from a fit to these rows.

With --from OVERLAY.yaml the values are those that pldperf calibrate FILE -o OVERLAY.yaml
has found, the fields of calls beside it included.

The exit code is 1 when a row is outside its band. Without FILE it runs all shipped cases;
docs/ACCURACY.md is this command's output.

Examples:
  pldperf validate
  pldperf validate a5-hcomm --json
  pldperf validate my-cases.yaml --from my-fit.yaml
  pldperf validate my-cases.yaml --format csv -o rows.csv`

type validateFlags struct {
	format, file, from string
	json               bool
	workers            int
}

func (a *app) validateCommand() *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use: "validate [FILE...]", Short: "compare the simulator with published measurements", Long: validateLong,
		ValidArgsFunction: completeCases,
		RunE:              func(c *cobra.Command, args []string) error { return a.validate(c.Context(), args, &f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.format, "format", "text", "text, md, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.StringVarP(&f.file, "output", "o", "", "file to write instead of standard output")
	fl.StringVar(&f.from, "from", "", "what calibrate -o has written of FILE: compare with its values")
	fl.IntVarP(&f.workers, "jobs", "j", runtime.GOMAXPROCS(0), "simulations at once")
	return c
}

// caseFiles lists the shipped files of cases.
func caseFiles() (out []string) {
	for _, name := range configs.Names(configs.Measured) {
		if file, _, err := configs.Read(configs.Measured, name); err == nil && strings.HasSuffix(file, ".yaml") {
			out = append(out, name)
		}
	}
	return out
}

func (a *app) validate(ctx context.Context, names []string, f *validateFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	if err := folderOf(f.file); err != nil {
		return err
	}
	if err := atLeastOne(f.workers); err != nil {
		return err
	}
	opt := fit.Options{Workers: f.workers}
	if opt.Machine, opt.Start, err = earlier(f.from); err != nil {
		return err
	}
	if f.from != "" && len(names) != 1 {
		return fmt.Errorf("--from: want the one FILE that was fitted, got %d", len(names))
	}
	if len(names) == 0 {
		names = caseFiles()
	}
	m := working(a.errs, "validating")
	acc, err := await(ctx, func() (*reports.Accuracy, error) {
		return accuracy(ctx, a.casesApart(target{"--output", f.file}), names, opt, m)
	})
	m.stop()
	if err != nil {
		return err
	}
	err = a.output(f.file, func(dst io.Writer) error {
		return acc.Write(dst, format, a.shown(120))
	})
	if err == nil && acc.Outside() > 0 {
		err = failure{exitBad}
	}
	return err
}

// cases reads a file of cases, or standard input.
func (a *app) cases(name string) (*fit.Spec, error) {
	if name != "-" {
		return fit.Load(name)
	}
	file, doc, err := a.document(name)
	if err != nil {
		return nil, err
	}
	return fit.FromDoc(file, doc)
}

// casesApart reads files of cases that none of outs overwrites.
func (a *app) casesApart(outs ...target) loader {
	return func(name string) (*fit.Spec, error) {
		s, err := a.cases(name)
		if err != nil {
			return nil, err
		}
		return s, distinct(s.Files(), outs...)
	}
}

// loader reads a file of cases.
type loader func(name string) (*fit.Spec, error)

// accuracy evaluates files of cases.
func accuracy(ctx context.Context, load loader, names []string, opt fit.Options, m *meter) (*reports.Accuracy, error) {
	all, err := evaluate(ctx, load, names, opt, m)
	if err != nil {
		return nil, err
	}
	return accuracyOf(all), nil
}

func evaluate(ctx context.Context, load loader, names []string, opt fit.Options, m *meter) (out []*fit.Evaluation, err error) {
	for i, name := range names {
		s, err := load(name)
		if err != nil {
			return nil, err
		}
		s.Told = func(done, all int) {
			m.count(i*all+done, len(names)*all)
			m.say(fmt.Sprintf("%s, row %d of %d", name, done, all))
		}
		e, err := s.Evaluate(ctx, opt)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func accuracyOf(all []*fit.Evaluation) *reports.Accuracy {
	var out reports.Accuracy
	for _, e := range all {
		file := reports.AccuracyFile{File: e.File, Title: e.Title, Params: e.Params, Fitted: e.Fitted, Rows: accuracyRows(e.Rows), Odd: e.Odd}
		for _, k := range e.Kept {
			file.Kept = append(file.Kept, document.KeptValue(k))
		}
		for _, o := range e.Overrides {
			file.Overrides = append(file.Overrides, document.Override(o))
		}
		for _, l := range e.Lines {
			file.Baselines = append(file.Baselines, reports.KV{Key: strings.Join(l.Cases, ", "), Value: l.Text()})
		}
		for _, n := range e.Notes {
			file.Notes = append(file.Notes, reports.KV{Key: n.Case, Value: n.Text})
		}
		out.Files = append(out.Files, file)
	}
	return &out
}

func accuracyRows(rows []fit.Row) (out []reports.AccuracyRow) {
	for _, r := range rows {
		out = append(out, reports.AccuracyRow{
			Case: r.Case, Row: r.Name, Unit: r.Unit, Measured: r.Measured, Simulated: r.Simulated, Error: r.Error,
			HeldOut: r.HeldOut, Fitted: r.Fitted, Band: r.Band, Inside: r.Inside, Baseline: r.Baseline, BaseError: r.BaseError,
		})
	}
	return out
}
