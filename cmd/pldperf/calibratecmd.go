package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/reports"
	"pldperf/reports/plots"
	"pldperf/workloads/fit"
)

const calibrateLong = `Fit parameters of a machine, and of the software in calls, to measured rows.

FILE names cases (rows of a table, the workload that they measure, which are held out)
and parameters with bounds; the shipped ones are those of pldperf validate, and
docs/CALIBRATE.md shows how to write one. It prints each row's error, the errors of fitted
and of held-out rows apart, an interval for each parameter, and a warning for what the
rows cannot tell. Whether rows are within their bands is for pldperf validate to judge; here
the exit code is 0 also when some are not, with a warning.

With -o it writes OVERLAY.yaml, a machine based on the one of FILE, in which each fitted
value says what it was fitted to; OVERLAY-calls.yaml, the fitted fields of calls, if there
are any; and OVERLAY.png, simulated against measured. With --from a fit begins at an
earlier OVERLAY.yaml and what stands beside it; if nothing has changed, it ends there, too.
pldperf validate FILE --from OVERLAY.yaml compares with these values.

Examples:
  pldperf calibrate a5-wqe-issue
  pldperf calibrate a5-hcomm -o fit.yaml
  pldperf calibrate a5-hcomm --from fit.yaml -o fit.yaml`

type calibrateFlags struct {
	format, overlay, from, date string
	json                        bool
	workers, evaluations        int
}

func (a *app) calibrateCommand() *cobra.Command {
	var f calibrateFlags
	c := &cobra.Command{
		Use: "calibrate FILE", Short: "fit parameters to published measurements", Long: calibrateLong, Args: oneFile,
		ValidArgsFunction: completeCases,
		RunE:              func(c *cobra.Command, args []string) error { return a.calibrate(c.Context(), args[0], &f) },
	}
	fl := c.Flags()
	fl.StringVarP(&f.overlay, "output", "o", "", "machine file to write, .yaml; a picture and the fields of calls stand beside it")
	fl.StringVar(&f.from, "from", "", "begin at an earlier output, which then is the machine, and at the fields of calls beside it")
	fl.StringVar(&f.date, "date", "", "put into the comments of the output, as it is")
	fl.StringVar(&f.format, "format", "text", "text, md, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.IntVar(&f.evaluations, "evaluations", 0, "points of a search at most; 0: 60 and 40 for each parameter")
	fl.IntVarP(&f.workers, "jobs", "j", runtime.GOMAXPROCS(0), "simulations at once")
	return c
}

func (a *app) calibrate(ctx context.Context, name string, f *calibrateFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if err := atLeastOne(f.workers); err != nil {
		return err
	}
	m := working(a.errs, "fitting")
	c, err := await(ctx, func() (*fit.Calibration, error) { return f.fit(ctx, a.casesApart(f.targets()...), name, m) })
	m.stop()
	if err != nil {
		return err
	}
	shown := calibration(c)
	if f.overlay != "" {
		if shown.Wrote, err = f.write(c); err != nil {
			return err
		}
		shown.Warnings = append(shown.Warnings, f.lacks(c)...)
	}
	return shown.Write(a.out, format, a.shown(120))
}

// atLeastOne reports a number of simulations at once that lets nothing run.
func atLeastOne(workers int) error {
	if workers < 1 {
		return fmt.Errorf("--jobs: %d, must be 1 or more", workers)
	}
	return nil
}

// check looks at flags before the long work.
func (f *calibrateFlags) check() error {
	if f.evaluations < 0 {
		return fmt.Errorf("--evaluations: want 0 or more, got %d", f.evaluations)
	}
	if f.overlay == "" {
		return nil
	}
	if filepath.Ext(f.overlay) != ".yaml" {
		return fmt.Errorf("--output: %s: a machine file's name ends in .yaml", f.overlay)
	}
	return folderOf(f.overlay)
}

func (f *calibrateFlags) fit(ctx context.Context, load loader, name string, m *meter) (*fit.Calibration, error) {
	s, err := load(name)
	if err != nil {
		return nil, err
	}
	opt := fit.Options{Workers: f.workers, Evaluations: f.evaluations}
	if opt.Machine, opt.Start, err = earlier(f.from); err != nil {
		return nil, err
	}
	opt.Progress = func(p fit.Progress) {
		m.count((p.Rival-1)*p.Most+min(p.Points, p.Most), p.Rivals*p.Most)
		m.say(fmt.Sprintf("point %d, error %.3g %%", p.Points, 100*p.Error))
	}
	return s.Calibrate(ctx, opt)
}

// earlier finds the files of an earlier fit on disk: its overlay, or the fields of calls,
// and the other one beside it. Without a name there is nothing.
func earlier(name string) (machine string, start map[string]string, err error) {
	if name == "" {
		return "", nil, nil
	}
	if own, ok := strings.CutSuffix(name, callsEnd); ok && isFile(name) {
		name = own + ".yaml"
	}
	calls := callsBeside(name)
	if isFile(calls) {
		if start, err = readCalls(calls); err != nil {
			return "", nil, fmt.Errorf("--from: %w", err)
		}
	}
	switch {
	case isFile(name):
		return name, start, nil
	case start == nil:
		return "", nil, fmt.Errorf("--from: there is no file %s, nor %s; want what calibrate -o has written", name, calls)
	}
	return "", start, nil
}

func readCalls(name string) (map[string]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return fit.Starts(name, data)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

const callsEnd = "-calls.yaml"

func callsBeside(overlay string) string { return strings.TrimSuffix(overlay, ".yaml") + callsEnd }

func pictureBeside(overlay string) string { return strings.TrimSuffix(overlay, ".yaml") + ".png" }

// targets are the files that will be written.
func (f *calibrateFlags) targets() []target {
	if f.overlay == "" {
		return nil
	}
	return []target{{"--output", f.overlay}, {"--output", callsBeside(f.overlay)}, {"--output", pictureBeside(f.overlay)}}
}

// write writes the overlay and what stands beside it, and lists the files.
func (f *calibrateFlags) write(c *fit.Calibration) (wrote []string, err error) {
	overlay, err := c.Overlay(f.date)
	if err != nil {
		return nil, err
	}
	for _, out := range []struct {
		name string
		data []byte
	}{{f.overlay, overlay}, {callsBeside(f.overlay), c.Calls(f.date)}} {
		if out.data == nil {
			continue
		}
		if err := reports.WriteFile(out.name, func(w io.Writer) error { _, err := w.Write(out.data); return err }); err != nil {
			return nil, err
		}
		wrote = append(wrote, out.name)
	}
	var rows []plots.Measured
	for _, r := range c.Rows {
		rows = append(rows, plots.Measured{Measured: r.Took, Simulated: r.Takes, HeldOut: r.HeldOut})
	}
	p, err := plots.Agreement(plots.Frame{Subtitle: c.Title, Footnote: strings.Join(c.Data, ", ")}, rows)
	if err != nil {
		return nil, err
	}
	picture := pictureBeside(f.overlay)
	return append(wrote, picture), writePicture(p, picture)
}

// lacks says which half of the output has nothing in it.
func (f *calibrateFlags) lacks(c *fit.Calibration) (out []string) {
	calls := callsBeside(f.overlay)
	if !c.OfMachine() {
		out = append(out, fmt.Sprintf("nothing of the machine was fitted: %s is %s as it was, %s has what was fitted", f.overlay, c.Machine, calls))
	}
	if c.Calls("") == nil && isFile(calls) {
		out = append(out, fmt.Sprintf("no field of a call was fitted, but there is a file %s of another fit, which --from %s would read", calls, f.overlay))
	}
	return out
}

// calibration is the outcome of a fit as reports show it.
func calibration(c *fit.Calibration) *reports.Calibration {
	out := &reports.Calibration{
		Title: c.Title, File: c.File, Machine: c.Machine, Data: c.Data, Params: fittedValues(c.Params), Rows: accuracyRows(c.Rows),
		Fit: reports.RowErrors(c.Fit), HeldOut: reports.RowErrors(c.HeldOut), Warnings: c.Warnings,
	}
	for _, x := range c.Alternatives {
		out.Alternatives = append(out.Alternatives, reports.RivalFit{
			Name: x.Name, Params: fittedValues(x.Params), Fit: reports.RowErrors(x.Fit), HeldOut: reports.RowErrors(x.HeldOut),
		})
	}
	return out
}

func fittedValues(in []fit.Fitted) (out []reports.FittedValue) {
	for _, p := range in {
		out = append(out, reports.FittedValue{
			Label: p.Label, Cause: p.Cause, Start: p.Start, Value: p.Value, Low: p.Low, High: p.High, Known: p.Known, RowsMoved: p.RowsMoved,
		})
	}
	return out
}
