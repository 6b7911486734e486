package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/reports"
	"pldperf/reports/document"
	"pldperf/workloads"
)

// points runs what the cache does not hold and returns the points that are there, in
// order: all of them, unless the user interrupts.
func (a *app) points(ctx context.Context, s *workloads.Sweep, f *sweepFlags) (*reports.Comparison, error) {
	r := runner{app: a, sweep: s}
	band, err := f.band.band(s.Config.Band)
	if err != nil {
		return nil, err
	}
	if r.cache, err = f.open(); err != nil {
		return nil, err
	}
	if w, err := firstOf(s); err == nil {
		r.shared = leaves(w)
	}
	done, err := r.all(ctx, band, f.workers)
	if err != nil {
		return nil, err
	}
	cmp := &reports.Comparison{Title: s.Config.Title, Axis: s.Config.Recommend, Tolerance: s.Config.Tolerance, Inputs: inputs(s), Config: r.shared, Notes: backoffNote(s)}
	if cmp.Band, err = bandOf(s, band); err != nil {
		return nil, err
	}
	for _, p := range s.Unread {
		cmp.Notes = append(cmp.Notes, p.Error())
	}
	for _, p := range done {
		if p != nil {
			cmp.Points = append(cmp.Points, *p)
		}
	}
	if len(cmp.Points) > 0 && s.Compares() {
		cmp.Compare, cmp.Along = workloads.OpPath, raceAxis(cmp)
		if races := cmp.Races(); len(races) > 0 && races[0].CommonOp() == "" {
			cmp.Notes = append(cmp.Notes, "The algorithms are of different operations, which do different work.")
		}
	}
	if len(cmp.Points) == 0 {
		return nil, context.Canceled
	}
	if len(cmp.Points) < len(done) {
		cmp.Notes = append([]string{partial(len(cmp.Points), len(done))}, cmp.Notes...)
	}
	cmp.Brief = len(cmp.Points) > 128
	cmp.Notes = append(cmp.Notes, asGood(s, cmp)...)
	return cmp, nil
}

// all runs the sweep's points, and with a band the draws of each: one job each, so many
// at once. A point of which not everything ran is nil.
func (r *runner) all(ctx context.Context, band *workloads.Band, workers int) ([]*reports.Point, error) {
	s, each, what := r.sweep, 1, "points"
	if band != nil {
		each, what = 1+band.Draws, "runs"
	}
	done, drawn := make([]*reports.Point, len(s.Points)), make([]draws, len(s.Points))
	bar := newProgress(r.app.errs, len(s.Points)*each, what)
	defer context.AfterFunc(ctx, func() { bar.say("finishing the points that run; Ctrl-C again ends at once") })()
	for i := range drawn {
		drawn[i].point, drawn[i].results = &s.Points[i], make([]*reports.Draw, each-1)
		if band != nil {
			drawn[i].band = *band
		}
	}
	err := workloads.Each(ctx, len(s.Points)*each, workers, func(job int) error {
		i, k := job/each, job%each-1
		p, err := guard(func() (*reports.Point, error) {
			if k < 0 || s.Points[i].Impossible != "" {
				return r.point(&s.Points[i])
			}
			return r.draw(&drawn[i], k)
		})
		switch {
		case err != nil:
			return fmt.Errorf("%s: %s: %w", s.File, s.Name(&s.Points[i]), err)
		case k < 0:
			done[i] = p
		default:
			d := reports.NewDraw(p)
			drawn[i].results[k] = &d
		}
		bar.step()
		return nil
	})
	bar.stop()
	for i := range done {
		if !drawn[i].whole() {
			done[i] = nil
		} else if done[i] != nil && done[i].Status == result.OK {
			done[i].Draws = drawn[i].all()
		}
	}
	return done, err
}

func partial(n, all int) string { return fmt.Sprintf("interrupted after %d of %d points", n, all) }

// firstOf opens the first point that its algorithm can do.
func firstOf(s *workloads.Sweep) (w *workloads.Workload, err error) {
	i := max(slices.IndexFunc(s.Points, func(p workloads.Point) bool { return p.Impossible == "" }), 0)
	w, _, err = s.Points[i].Open()
	return w, err
}

// backoffNote says how far two points may differ only by the phase of their polls.
func backoffNote(s *workloads.Sweep) []string {
	w, err := firstOf(s)
	if err != nil || w.Config.Machine.AIV.Poll.Kind == "ideal" {
		return nil
	}
	longest := w.Config.Machine.AIV.Poll.Max
	return []string{fmt.Sprintf("Waits poll with a back-off of up to %v, so points may differ by about that much for each of their waits without a cause; --set machine.aiv.poll.kind=ideal shows the curve without it.", longest)}
}

// asGood names, where one choice is made, the smallest value that is as good as the
// best within the phase of two polls: below that, a lead may be luck.
func asGood(s *workloads.Sweep, cmp *reports.Comparison) []string {
	w, err := firstOf(s)
	choices := cmp.Choices()
	if err != nil || len(choices) != 1 || choices[0].Pick < 0 || w.Config.Machine.AIV.Poll.Kind == "ideal" {
		return nil
	}
	c := &choices[0]
	phase := 2 * w.Config.Machine.AIV.Poll.Max
	if cmp.Compare != "" {
		return nil
	}
	best := cmp.Points[c.Rows[c.Best].Point].Elapsed
	for _, row := range c.Rows[:c.Pick] {
		p := &cmp.Points[row.Point]
		if p.Status == result.OK && p.Elapsed <= best+phase {
			return []string{fmt.Sprintf("Within the phase of two polls, %v, %s %s is as good as the best.", phase, cmp.Axis, row.Value)}
		}
	}
	return nil
}

// inputs lists what the points share, and the roofs that their plots draw.
func inputs(s *workloads.Sweep) []reports.KV {
	out := []reports.KV{{Key: "sweep", Value: s.File}, {Key: "workload", Value: s.Config.Base}}
	for _, path := range s.Config.Set.Keys() {
		out = append(out, reports.KV{Key: path, Value: s.Config.Set.Child(path).Flow()})
	}
	return append(out, roofs(s)...)
}

func (f *cacheFlags) open() (*workloads.Cache, error) {
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

// runner runs the points of one sweep, or the draws of a run, which has none; many
// goroutines may use it.
type runner struct {
	app    *app
	sweep  *workloads.Sweep
	cache  *workloads.Cache
	shared []document.Leaf // of the first point
	once   sync.Once
}

// point returns one point of the sweep.
func (r *runner) point(p *workloads.Point) (*reports.Point, error) {
	axes := axesOf(r.sweep, p)
	if p.Impossible != "" {
		pt := reports.Impossible(axes, p.Impossible)
		return &pt, nil
	}
	return r.simulate(p, axes)
}

// simulate runs a point, unless it is in the cache.
func (r *runner) simulate(p *workloads.Point, axes []reports.KV) (*reports.Point, error) {
	w, key, err := p.Open()
	if err != nil {
		return nil, err
	}
	if data, ok := r.cache.Get(key); ok {
		var pt reports.Point
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if d.Decode(&pt) == nil && pt.Status != "" {
			pt.Axes, pt.Config = axes, differing(r.shared, leaves(w), axes)
			return &pt, nil
		}
	}
	if err := w.Draw(); err != nil {
		return nil, err
	}
	out, err := w.Run(hw.Options{Path: "parts"})
	if err != nil && r.sweep != nil && r.sweep.Compares() { // what only composing the call finds
		pt := reports.Impossible(axes, strings.ReplaceAll(err.Error(), "\n", "; "))
		return &pt, nil
	}
	if err != nil {
		return nil, err
	}
	pt := reports.NewPoint(axes, out.Message, card(out))
	pt.Config = differing(r.shared, leaves(w), axes)
	return &pt, r.keep(key, pt)
}

// axesOf lists where in the sweep a point is.
func axesOf(s *workloads.Sweep, p *workloads.Point) []reports.KV {
	axes := make([]reports.KV, len(s.Axes))
	for i, ax := range s.Axes {
		axes[i] = reports.KV{Key: ax.Path, Value: p.Values[i]}
	}
	return axes
}

// keep puts a point into the cache, under no place of a sweep. A cache that cannot be
// written costs time later, not the result now.
func (r *runner) keep(key []byte, pt reports.Point) error {
	pt.Axes, pt.Config = nil, nil
	data, err := json.Marshal(pt)
	if err != nil {
		return err
	}
	if err := r.cache.Put(key, data); err != nil {
		r.once.Do(func() { fmt.Fprintf(r.app.errs, "pldperf: points are not cached: %v\n", err) })
	}
	return nil
}

// progress is a bar on a terminal, the line of a meter on one that does not tell its size,
// which a bar needs, and nothing elsewhere.
type progress struct {
	all   *mpb.Progress
	bar   *mpb.Bar
	line  *meter
	ended atomic.Int64
	n     int
}

func newProgress(w io.Writer, n int, what string) *progress {
	if !terminal(w) {
		return &progress{}
	}
	if width(w) == 0 {
		return &progress{line: working(w, "running "+what), n: n}
	}
	p := mpb.New(mpb.WithOutput(w), mpb.WithWidth(60))
	return &progress{all: p, bar: p.AddBar(int64(n), mpb.PrependDecorators(decor.CountersNoUnit("%d / %d "+what+" ")),
		mpb.AppendDecorators(decor.Percentage(), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace), " done")))}
}

func (p *progress) step() {
	p.line.count(int(p.ended.Add(1)), p.n)
	if p.bar != nil {
		p.bar.Increment()
	}
}

// say writes a line above the bar, or into the meter's.
func (p *progress) say(text string) {
	p.line.say(text)
	if p.all != nil {
		fmt.Fprintln(p.all, text)
	}
}

func (p *progress) stop() {
	p.line.stop()
	if p.bar != nil {
		p.bar.Abort(false)
		p.all.Wait()
	}
}
