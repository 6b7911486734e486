package workloads

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"pldperf/configs"
	"pldperf/engine"
)

// SweepConfig is a sweep file: a workload and the fields to vary.
type SweepConfig struct {
	Title     string          `yaml:"title" help:"what the sweep asks"`
	Base      string          `yaml:"base" required:"true" help:"the workload: a shipped one's name, or a file beside the sweep"`
	Set       configs.Doc     `yaml:"set" help:"path: value, for all points"`
	Axes      configs.Doc     `yaml:"axes" required:"true" help:"path: a list, {from, to, step} or {from, to, times}"`
	Recommend string          `yaml:"recommend" default:"call.core_num" help:"axis of which the smallest good value is recommended"`
	Tolerance engine.Fraction `yaml:"tolerance" default:"2 %" help:"how much slower than the best is good enough"`
}

// Sweep is a decoded sweep with all of its points checked.
type Sweep struct {
	File   string
	Config SweepConfig
	Axes   []Axis
	Points []Point
}

// Point is one combination of the axes' values.
type Point struct {
	Values []string // by axis
	file   string
	doc    *configs.Doc
}

// maxPoints bounds a sweep.
const maxPoints = 100_000

// LoadSweep reads a sweep and checks every point of it before anything runs.
func LoadSweep(name string, sets []string) (*Sweep, error) {
	file, data, err := configs.Find(name)
	if err != nil {
		return nil, err
	}
	doc, err := configs.Load(file, data)
	if err != nil {
		return nil, err
	}
	return SweepFromDoc(file, doc, sets)
}

// SweepFromDoc makes a sweep of a document; sets change its workload.
func SweepFromDoc(file string, doc *configs.Doc, sets []string) (*Sweep, error) {
	s := &Sweep{File: file}
	if err := doc.Decode(&s.Config); err != nil {
		return nil, err
	}
	baseFile, base, err := s.base(doc)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		if err := base.Set(set); err != nil {
			return nil, err
		}
	}
	total := 1
	for _, path := range s.Config.Axes.Keys() {
		a, err := readAxis(path, s.Config.Axes.Child(path))
		if err != nil {
			return nil, err
		}
		s.Axes = append(s.Axes, a)
		if total *= len(a.Values); total > maxPoints {
			return nil, s.Config.Axes.Fault("more than %d points", maxPoints)
		}
	}
	if len(s.Axes) == 0 {
		return nil, doc.At("axes").Fault("a sweep needs at least one axis")
	}
	return s, s.expand(baseFile, base, total)
}

// base loads the workload and applies the sweep's own settings.
func (s *Sweep) base(doc *configs.Doc) (string, *configs.Doc, error) {
	name := s.Config.Base
	if beside := filepath.Join(filepath.Dir(s.File), name); fileExists(beside) {
		name = beside
	}
	file, data, err := configs.Find(name)
	if err != nil {
		return "", nil, doc.At("base").Fault("%v", err)
	}
	base, err := configs.Load(file, data)
	if err != nil {
		return "", nil, err
	}
	if base, err = Normal(base); err != nil {
		return "", nil, err
	}
	out := *base
	for _, path := range s.Config.Set.Keys() {
		v := s.Config.Set.Child(path)
		if err := out.SetFrom("set", path, v.Flow()); err != nil {
			return "", nil, v.Fault("%v", err)
		}
	}
	return file, &out, nil
}

func fileExists(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// expand makes all combinations, the last axis fastest, and decodes each.
func (s *Sweep) expand(file string, base *configs.Doc, total int) error {
	var problems []string
	for n := range total {
		p := Point{file: file, Values: make([]string, len(s.Axes))}
		doc, rest := *base, n
		for i, a := range slices.Backward(s.Axes) {
			p.Values[i] = a.Values[rest%len(a.Values)]
			rest /= len(a.Values)
		}
		for i, a := range s.Axes {
			if err := doc.SetFrom("axis", a.Path, p.Values[i]); err != nil {
				return s.Config.Axes.Child(a.Path).Fault("%v", err)
			}
		}
		p.doc = &doc
		if _, err := decode(file, &doc); err != nil {
			problems = s.problems(problems, err)
		}
		s.Points = append(s.Points, p)
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// problems collects each different fault of the points once, with the sweep's file.
func (s *Sweep) problems(seen []string, err error) []string {
	for _, line := range strings.Split(err.Error(), "\n") {
		text := line
		if rest, ok := strings.CutPrefix(line, "axis "); ok {
			path, _, _ := strings.Cut(rest, ":")
			at := s.Config.Axes.Child(path).Fault("")[0]
			text = fmt.Sprintf("%s:%d:%d: axes.%s", at.File, at.Line, at.Col, rest)
		}
		if !slices.Contains(seen, text) && len(seen) < 50 {
			seen = append(seen, text)
		}
	}
	return seen
}

// Workload makes the point's workload, with its routing drawn.
func (p *Point) Workload() (*Workload, error) { return FromDoc(p.file, p.doc) }

// Check decodes the point's workload without drawing its routing.
func (p *Point) Check() (*Workload, error) { return decode(p.file, p.doc) }

// Key identifies what a point computes: the merged document and the files that it
// names. Together with the program's identity it names a cache entry.
func (p *Point) Key() ([]byte, error) {
	w, err := decode(p.file, p.doc)
	if err != nil {
		return nil, err
	}
	key := w.Doc.Canonical()
	names := []string{w.Config.Routing.CSV, w.Config.Routing.Skew.Table}
	for _, it := range w.Config.Chain {
		if it.Routing != nil {
			names = append(names, it.Routing.CSV, it.Routing.Skew.Table)
		}
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		data, err := w.Config.files(name)
		if err != nil {
			return nil, err
		}
		key = append(append(key, name...), data...)
	}
	return key, nil
}

// Each calls run for every point, so many at once, and returns the first error. It
// stops early when ctx is done.
func (s *Sweep) Each(ctx context.Context, workers int, run func(i int, p *Point) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(workers, 1))
	for i := range s.Points {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			return run(i, &s.Points[i])
		})
	}
	return g.Wait()
}
