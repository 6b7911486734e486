package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/reports"
	"pldperf/reports/plots"
)

const plotLong = `Draw the plots of a sweep: PNG and SVG, of each kind that its axes give.

  bandwidth  busbw against message size, logarithmic axes, with the machine's roofs
  time       time against message size, with the lower bound
  algorithms time against message size, a curve for each algorithm, switch-over points marked
  core-num   time against core_num, the recommended point marked
  reasons    time by reason of the slowest block, a bar for each core_num
  wqebb      use of the send queues

FILE is a sweep, which runs as far as its points are not cached, or the JSON that a sweep
has written. The names of the pictures go to standard output.

Examples:
  pldperf plot a5-message-size
  pldperf plot a5-core-num --kind core-num -o core-num.svg
  pldperf plot out/a5-core-num/sweep.json --kind core-num,reasons -o out/pictures --lang zh`

// allKinds are the kinds of plots, and the names of the files that they become.
var allKinds = []string{"bandwidth", "time", "algorithms", "core-num", "reasons", "wqebb"}

func (a *app) plotCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use: "plot FILE", Short: "draw a sweep: bandwidth, time, core_num, reasons, queue use", Long: plotLong, Args: oneFile,
		ValidArgsFunction: complete(configs.Sweeps),
		RunE:              func(c *cobra.Command, args []string) error { return a.plot(c.Context(), args[0], &f) },
	}
	f.common(c)
	f.band.add(c.Flags())
	f.pictured(c)
	c.Flags().StringSliceVar(&f.kinds, "kind", nil, "which: "+strings.Join(allKinds, ", ")+"; default: all that apply")
	c.Flags().StringVarP(&f.output, "output", "o", "", "folder, default out/NAME; or the name of one picture (.png or .svg)")
	return c
}

func (a *app) plot(ctx context.Context, name string, f *sweepFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	for _, k := range f.kinds {
		if !slices.Contains(allKinds, k) {
			return fmt.Errorf("--kind: no plot %q%s; there are %s", k, hint(k, allKinds), strings.Join(allKinds, ", "))
		}
	}
	in, err := a.input(name)
	if err != nil {
		return err
	}
	if in.result() {
		if err := refuse(f.given, in.name+" is a result: "+onlyResults, runNames...); err != nil {
			return err
		}
		cmp, err := in.comparison()
		if err != nil {
			return err
		}
		return a.draw(cmp, filepath.Base(filepath.Dir(name)), f)
	}
	s, err := a.sweepOf(ctx, in, f.sets)
	if err != nil {
		return err
	}
	if err := a.unread(s.Unread, f.strict, false); err != nil {
		return err
	}
	if len(f.kinds) == 0 {
		f.kinds = s.Config.Plots
	}
	if err := f.place(); err != nil {
		return err
	}
	cmp, err := a.points(ctx, s, f)
	if err != nil {
		return err
	}
	if err := a.draw(cmp, stem(s.File), f); err != nil {
		return err
	}
	return a.ended(cmp, len(s.Points), f)
}

// single reports whether the output is one picture rather than a folder.
func (f *sweepFlags) single() bool { return pictureName(f.output) == nil }

// place checks where the pictures go before any point runs.
func (f *sweepFlags) place() error {
	switch {
	case f.single() && len(f.kinds) != 1:
		return fmt.Errorf("-o %s is one picture: say which with --kind", f.output)
	case f.single():
		return folderOf(f.output)
	case f.output == "":
		return nil
	case folderName(f.output) != nil:
		return fmt.Errorf("-o %s: a picture's name ends in .png or .svg; a folder of that name is %s/", f.output, f.output)
	}
	return makeDir(f.output)
}

// draw writes the pictures of a comparison and prints their names.
func (a *app) draw(cmp *reports.Comparison, name string, f *sweepFlags) error {
	if err := f.place(); err != nil {
		return err
	}
	dir := f.output
	if dir == "" {
		dir = filepath.Join("out", name)
		if err := makeDir(dir); err != nil {
			return err
		}
	}
	var names []string
	drawn, err := a.pictures(cmp, f.lang, f.kinds, func(kind string, p *plots.Picture) error {
		if f.single() {
			names = append(names, f.output)
			return writePicture(p, f.output)
		}
		path := filepath.Join(dir, kind)
		names = append(names, path+".png", path+".svg")
		return both(p, path)
	})
	if err != nil {
		return err
	}
	if drawn == 0 {
		return errors.New("there is nothing to plot: no point ended ok")
	}
	_, err = fmt.Fprintln(a.out, strings.Join(names, "\n"))
	return err
}
