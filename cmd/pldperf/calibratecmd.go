package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/reports"
	"pldperf/reports/plots"
	"pldperf/workloads/fit"
)

const calibrateLong = `Fit parameters of a machine, and of the software in calls, to measured rows.

FILE names cases (rows of a table, the workload that they measure, which are held out)
and parameters with bounds; the shipped ones are those of pldperf validate. It prints each
row's error, the errors of fitted and of held-out rows apart, an interval for each
parameter, and a warning for what the rows cannot tell.

With -o it writes OVERLAY.yaml, a machine based on the one of FILE, in which each fitted
value says what it was fitted to; OVERLAY-calls.yaml, the fitted fields of calls, if there
are any; and OVERLAY.png, simulated against measured. With --from a fit begins at an
earlier OVERLAY.yaml; if nothing has changed, it ends there, too.

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
	fl.StringVar(&f.from, "from", "", "begin at an earlier output, which then is the machine")
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
	m := working(a.errs, "fitting")
	c, err := await(ctx, func() (*fit.Calibration, error) { return f.fit(ctx, name, m) })
	m.stop()
	if err != nil {
		return err
	}
	if err := calibration(c).Write(a.out, format, a.shown(120)); err != nil || f.overlay == "" {
		return err
	}
	return f.write(c)
}

// check looks at the names before the long work.
func (f *calibrateFlags) check() error {
	if f.overlay == "" {
		return nil
	}
	if filepath.Ext(f.overlay) != ".yaml" {
		return fmt.Errorf("--output: %s: a machine file's name ends in .yaml", f.overlay)
	}
	return folderOf(f.overlay)
}

func (f *calibrateFlags) fit(ctx context.Context, name string, m *meter) (*fit.Calibration, error) {
	s, err := fit.Load(name)
	if err != nil {
		return nil, err
	}
	opt := fit.Options{Workers: f.workers, Machine: f.from, Evaluations: f.evaluations}
	if f.from != "" {
		if opt.Start, err = starts(f.from); err != nil {
			return nil, err
		}
	}
	opt.Progress = func(p fit.Progress) {
		m.count((p.Rival-1)*p.Most+min(p.Points, p.Most), p.Rivals*p.Most)
		m.say(fmt.Sprintf("point %d, error %.3g %%", p.Points, 100*p.Error))
	}
	return s.Calibrate(ctx, opt)
}

// starts reads the fields of calls that stand beside an overlay, if there are any.
func starts(overlay string) (map[string]string, error) {
	if _, _, err := configs.Find(overlay); err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	name := callsBeside(overlay)
	_, data, err := configs.Find(name)
	if err != nil {
		return nil, nil
	}
	return fit.Starts(name, data)
}

func callsBeside(overlay string) string { return strings.TrimSuffix(overlay, ".yaml") + "-calls.yaml" }

// write writes the overlay and what stands beside it.
func (f *calibrateFlags) write(c *fit.Calibration) error {
	overlay, err := c.Overlay(f.date)
	if err != nil {
		return err
	}
	for _, out := range []struct {
		name string
		data []byte
	}{{f.overlay, overlay}, {callsBeside(f.overlay), c.Calls(f.date)}} {
		if out.data == nil {
			continue
		}
		if err := reports.WriteFile(out.name, func(w io.Writer) error { _, err := w.Write(out.data); return err }); err != nil {
			return err
		}
	}
	var rows []plots.Measured
	for _, r := range c.Rows {
		rows = append(rows, plots.Measured{Measured: r.Took, Simulated: r.Takes, HeldOut: r.HeldOut})
	}
	p, err := plots.Agreement(plots.Frame{Subtitle: c.Title, Footnote: strings.Join(c.Data, ", ")}, rows)
	if err != nil {
		return err
	}
	return writePicture(p, strings.TrimSuffix(f.overlay, ".yaml")+".png")
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
