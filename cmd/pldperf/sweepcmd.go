package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/reports"
	"pldperf/workloads"
)

const sweepLong = `Run a workload over all combinations of the values of its axes, compare the points, and
recommend the smallest core_num that is within 2 % of the best: fewer AIVs are then taken
from compute. The table goes to standard output; CSV, JSON, markdown and plots go to a
folder. Points are cached by content, so an interrupted sweep goes on where it stopped.

Examples:
  pldperf sweep a5-core-num
  pldperf sweep a5-core-num --set routing.tokens=1024 -o out/small
  pldperf sweep my-sweep.yaml --format csv -o - > points.csv`

type sweepFlags struct {
	sets          []string
	format, dir   string
	cache         string
	workers       int
	noCache, json bool
	chinese       bool
}

func (a *app) sweepCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use: "sweep FILE", Short: "compare the values of one or more fields and recommend one", Long: sweepLong, Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error { return a.sweep(c.Context(), args[0], &f) },
	}
	fl := c.Flags()
	f.common(c)
	fl.StringVar(&f.format, "format", "text", "of the table on standard output: text, markdown, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.StringVarP(&f.dir, "output", "o", "", "folder for CSV, JSON, markdown and plots; default out/NAME, - for none")
	return c
}

// common adds the flags that sweep and plot share.
func (f *sweepFlags) common(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.sets, "set", nil, "override a field of the workload: path=value (repeatable)")
	fl.IntVarP(&f.workers, "jobs", "j", runtime.GOMAXPROCS(0), "points that run at once")
	fl.StringVar(&f.cache, "cache", "", "folder of cached points; default: pldperf in the user's cache folder")
	fl.BoolVar(&f.noCache, "no-cache", false, "run every point anew")
	fl.BoolVar(&f.chinese, "chinese", false, "Chinese words in plots, where a Chinese font is installed")
}

func (a *app) sweep(ctx context.Context, name string, f *sweepFlags) error {
	if f.json {
		f.format = "json"
	}
	format, err := reports.ParseFormat(f.format)
	if err != nil {
		return err
	}
	s, err := a.loadSweep(name, f.sets)
	if err != nil {
		return err
	}
	dir := f.dir
	if dir == "" {
		dir = filepath.Join("out", stem(s.File))
	}
	if dir != "-" {
		if err := makeDir(dir); err != nil {
			return err
		}
	}
	cmp, stopped, err := a.points(ctx, s, f)
	if err != nil {
		return err
	}
	if len(cmp.Points) == 0 {
		return context.Canceled
	}
	if err := cmp.Write(a.out, format, reports.Options{Width: width(a.out)}); err != nil {
		return err
	}
	if dir != "-" {
		if err := a.artefacts(s, cmp, dir, f, allKinds); err != nil {
			return err
		}
	}
	return a.ended(cmp, stopped, len(s.Points))
}

// ended turns the points' verdicts into the command's.
func (a *app) ended(cmp *reports.Comparison, stopped bool, all int) error {
	if stopped {
		fmt.Fprintf(a.errs, "pldperf: interrupted after %d of %d points; the same command goes on from there\n", len(cmp.Points), all)
		return failure{exitStopped}
	}
	for _, p := range cmp.Points {
		if p.Status != result.OK {
			return failure{exitBad}
		}
	}
	return nil
}

func (a *app) loadSweep(name string, sets []string) (*workloads.Sweep, error) {
	file, doc, err := a.document(name)
	if err != nil {
		return nil, err
	}
	if !doc.Has("axes") && doc.Has("ranks") {
		return nil, doc.Fault("this is a workload; run it with: pldperf run %s", name)
	}
	return workloads.SweepFromDoc(file, doc, sets)
}

func stem(file string) string {
	base := filepath.Base(file)
	return strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), " ", "-")
}

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder %s: %w", dir, err)
	}
	return nil
}

// points runs what the cache does not hold and returns the points that are there, in
// order; stopped says that some are not.
func (a *app) points(ctx context.Context, s *workloads.Sweep, f *sweepFlags) (cmp *reports.Comparison, stopped bool, err error) {
	cache, err := f.open()
	if err != nil {
		return nil, false, err
	}
	done := make([]*reports.Point, len(s.Points))
	bar := newProgress(a.errs, len(s.Points))
	var notes sync.Once
	err = s.Each(ctx, f.workers, func(i int, p *workloads.Point) error {
		pt, err := a.point(s, p, cache, func(err error) {
			notes.Do(func() { fmt.Fprintf(a.errs, "pldperf: points are not cached: %v\n", err) })
		})
		if err != nil {
			return fmt.Errorf("%s: %w", axesOf(s, p), err)
		}
		done[i] = pt
		bar.step()
		return nil
	})
	bar.stop()
	if err != nil {
		return nil, false, err
	}
	cmp = &reports.Comparison{Title: s.Config.Title, Axis: s.Config.Recommend, Tolerance: s.Config.Tolerance, Inputs: a.common(s)}
	for _, p := range done {
		if p == nil {
			stopped = true
			continue
		}
		cmp.Points = append(cmp.Points, *p)
	}
	cmp.Brief = len(cmp.Points) > 128
	cmp.Notes = backoffNote(s)
	return cmp, stopped, nil
}

// backoffNote says how far two points may differ only by the phase of their polls.
func backoffNote(s *workloads.Sweep) []string {
	w, err := s.Points[0].Check()
	if err != nil || w.Config.Machine.AIV.Poll.Kind == "ideal" {
		return nil
	}
	longest := w.Config.Machine.AIV.Poll.Max
	return []string{fmt.Sprintf("Waits poll with a back-off of up to %v, so points may differ by about that much for each of the two barrier rounds and the CQE wait without a cause; --set machine.aiv.poll.kind=ideal shows the curve without it.", longest)}
}

// common lists what the points share.
func (a *app) common(s *workloads.Sweep) []reports.KV {
	out := []reports.KV{{Key: "sweep", Value: s.File}, {Key: "workload", Value: s.Config.Base}}
	for _, path := range s.Config.Set.Keys() {
		out = append(out, reports.KV{Key: path, Value: s.Config.Set.Child(path).Flow()})
	}
	return out
}

func (f *sweepFlags) open() (*workloads.Cache, error) {
	if f.noCache {
		return nil, nil
	}
	dir := f.cache
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, nil // no home: run without
		}
		dir = filepath.Join(base, "pldperf")
	}
	return workloads.OpenCache(dir)
}

func axesOf(s *workloads.Sweep, p *workloads.Point) string {
	var parts []string
	for i, ax := range s.Axes {
		parts = append(parts, ax.Path+"="+p.Values[i])
	}
	return strings.Join(parts, " ")
}

// point returns one point, from the cache if it is there and whole.
func (a *app) point(s *workloads.Sweep, p *workloads.Point, cache *workloads.Cache, lost func(error)) (*reports.Point, error) {
	key, err := p.Key()
	if err != nil {
		return nil, err
	}
	axes := make([]reports.KV, len(s.Axes))
	for i, ax := range s.Axes {
		axes[i] = reports.KV{Key: ax.Path, Value: p.Values[i]}
	}
	if data, ok := cache.Get(key); ok {
		var pt reports.Point
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if d.Decode(&pt) == nil && pt.Status != "" {
			pt.Axes = axes
			return &pt, nil
		}
	}
	w, err := p.Workload()
	if err != nil {
		return nil, err
	}
	out, err := w.Run(hw.Options{})
	if err != nil {
		return nil, err
	}
	pt := reports.NewPoint(axes, out.Message, card(out))
	data, err := json.Marshal(pt)
	if err != nil {
		return nil, err
	}
	if err := cache.Put(key, data); err != nil {
		lost(err)
	}
	return &pt, nil
}

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct {
	all *mpb.Progress
	bar *mpb.Bar
}

func newProgress(w io.Writer, n int) *progress {
	if !terminal(w) {
		return &progress{}
	}
	p := mpb.New(mpb.WithOutput(w), mpb.WithWidth(60))
	return &progress{p, p.AddBar(int64(n), mpb.PrependDecorators(decor.CountersNoUnit("%d / %d points ")),
		mpb.AppendDecorators(decor.Percentage(), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace), " done")))}
}

func (p *progress) step() {
	if p.bar != nil {
		p.bar.Increment()
	}
}

func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Abort(false)
		p.all.Wait()
	}
}

var errNoPlot = errors.New("there is nothing to plot")
