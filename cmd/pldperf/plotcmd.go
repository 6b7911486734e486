package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/reports"
	"pldperf/reports/plots"
	"pldperf/workloads"
)

const plotLong = `Draw the plots of a sweep: PNG and SVG, of each kind that its axes give.

  bandwidth  busbw against message size, logarithmic axes, with the machine's roof
  time       time against message size, with the lower bound
  core-num   time against core_num, the recommended point marked
  reasons    time by reason of the slowest block, a bar for each core_num
  wqebb      use of the send queues

FILE is a sweep, which runs as far as its points are not cached, or the JSON that a sweep
has written.

Examples:
  pldperf plot a5-message-size
  pldperf plot out/a5-core-num/sweep.json --kind core-num,reasons -o out/pictures`

// kinds of plots, and the files that they become.
var allKinds = []string{"bandwidth", "time", "core-num", "reasons", "wqebb"}

func (a *app) plotCommand() *cobra.Command {
	var f sweepFlags
	var kinds []string
	c := &cobra.Command{
		Use: "plot FILE", Short: "draw a sweep: bandwidth, time, core_num, reasons, queue use", Long: plotLong, Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error { return a.plot(c.Context(), args[0], kinds, &f) },
	}
	f.common(c)
	c.Flags().StringSliceVar(&kinds, "kind", nil, "which: "+strings.Join(allKinds, ", ")+"; default: all that apply")
	c.Flags().StringVarP(&f.dir, "output", "o", "", "folder; default out/NAME")
	return c
}

func (a *app) plot(ctx context.Context, name string, kinds []string, f *sweepFlags) error {
	for _, k := range kinds {
		if !slices.Contains(allKinds, k) {
			return fmt.Errorf("--kind: no plot %q; there are %s", k, strings.Join(allKinds, ", "))
		}
	}
	if filepath.Ext(name) == ".json" {
		return a.plotResult(name, kinds, f)
	}
	s, err := a.loadSweep(name, f.sets)
	if err != nil {
		return err
	}
	cmp, stopped, err := a.points(ctx, s, f)
	if err != nil {
		return err
	}
	if len(cmp.Points) == 0 {
		return context.Canceled
	}
	dir, err := outDir(f, stem(s.File))
	if err != nil {
		return err
	}
	if err := a.pictures(cmp, roofs(s), dir, f, kinds); err != nil {
		return err
	}
	return a.ended(cmp, stopped, len(s.Points))
}

func outDir(f *sweepFlags, name string) (string, error) {
	dir := f.dir
	if dir == "" {
		dir = filepath.Join("out", name)
	}
	return dir, makeDir(dir)
}

// plotResult draws what a sweep has written as JSON. The roofs are not in it.
func (a *app) plotResult(name string, kinds []string, f *sweepFlags) error {
	cmp, err := readComparison(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	dir, err := outDir(f, filepath.Base(filepath.Dir(name)))
	if err != nil {
		return err
	}
	return a.pictures(cmp, nil, dir, f, kinds)
}

// artefacts writes all files of a sweep.
func (a *app) artefacts(s *workloads.Sweep, cmp *reports.Comparison, dir string, f *sweepFlags, kinds []string) error {
	for _, format := range []reports.Format{reports.CSV, reports.JSON, reports.Markdown} {
		path := filepath.Join(dir, "sweep"+format.Extension())
		if err := reports.WriteFile(path, func(w writer) error { return cmp.Write(w, format, reports.Options{}) }); err != nil {
			return err
		}
	}
	return a.pictures(cmp, roofs(s), dir, f, nil)
}

// roofs are the rates that the first point's machine cannot exceed.
func roofs(s *workloads.Sweep) []plots.Roof {
	w, err := s.Points[0].Workload()
	if err != nil {
		return nil
	}
	egress, pair, err := w.Roofs()
	if err != nil {
		return nil
	}
	return []plots.Roof{{Name: "egress of a rank", Rate: egress}, {Name: "one pair", Rate: pair}}
}

// pictures draws the plots that the axes give, or only the kinds asked for; asking
// for one that the sweep cannot give is an error.
func (a *app) pictures(cmp *reports.Comparison, roofs []plots.Roof, dir string, f *sweepFlags, kinds []string) error {
	frame := plots.Frame{Subtitle: cmp.Title, Footnote: footnote(cmp)}
	if f.chinese {
		font, err := plots.FindChinese()
		if err != nil {
			fmt.Fprintf(a.errs, "pldperf: plots in English: %v\n", err)
		}
		frame.Chinese = font
	}
	wanted := kinds
	if len(wanted) == 0 {
		wanted = allKinds
	}
	drawn := 0
	for _, kind := range wanted {
		p, err := draw(kind, frame, cmp, roofs)
		if err != nil {
			if len(kinds) > 0 {
				return fmt.Errorf("--kind %s: %w", kind, err)
			}
			continue
		}
		for _, ext := range []string{".png", ".svg"} {
			if err := writePicture(p, filepath.Join(dir, kind+ext)); err != nil {
				return err
			}
		}
		drawn++
	}
	if drawn == 0 && len(kinds) > 0 {
		return errNoPlot
	}
	fmt.Fprintf(a.errs, "pldperf: %d plots in %s\n", drawn, dir)
	return nil
}

func footnote(cmp *reports.Comparison) string {
	return fmt.Sprintf("%d points; digest of the first %s", len(cmp.Points), cmp.Points[0].Digest)
}

// draw makes one kind of plot.
func draw(kind string, frame plots.Frame, cmp *reports.Comparison, roofs []plots.Roof) (*plots.Picture, error) {
	along := sizeAxis(cmp)
	one := lastGroup(cmp)
	switch kind {
	case "bandwidth", "time":
		if along == "" {
			return nil, fmt.Errorf("no axis of this sweep is a message size")
		}
		series := plots.Split(few(cmp, along), along)
		if kind == "time" {
			return plots.Time(frame, series)
		}
		return plots.Bandwidth(frame, plots.Busbw, series, roofs)
	case "core-num":
		if !hasAxis(cmp, cmp.Axis) {
			return nil, fmt.Errorf("%s is no axis of this sweep", cmp.Axis)
		}
		return plots.CoreNum(frame, cmp.Axis, fewGroups(cmp), cmp.Tolerance)
	}
	axis := cmp.Axis
	if !hasAxis(cmp, axis) {
		if axis = along; axis == "" {
			axis = cmp.Points[0].Axes[len(cmp.Points[0].Axes)-1].Key
		}
		one = cmp.Points
	}
	if kind == "reasons" {
		return plots.Reasons(frame, axis, one)
	}
	return plots.WQEBB(frame, axis, one)
}
