package workloads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"pldperf/configs"
)

// Point is one combination of the axes' values.
type Point struct {
	Values     []string // by axis
	Impossible string   // why the point's algorithm cannot do it, in a sweep that compares algorithms

	file     string
	doc      *configs.Doc
	problems configs.Problems // why it is impossible, where that stands
}

const (
	maxPoints   = 100_000
	maxProblems = 50 // different ones, after which no further point is looked at
)

// expand makes all combinations, the last axis fastest, and checks each. A fault that
// many points have is reported once.
func (s *Sweep) expand(file string, base *configs.Doc) error {
	total := 1
	for _, a := range s.Axes {
		total *= len(a.Values)
	}
	var problems configs.Problems
	for n := range total {
		p := Point{file: file, Values: make([]string, len(s.Axes))}
		index, rest := make([]int, len(s.Axes)), n
		for i, a := range slices.Backward(s.Axes) {
			index[i] = rest % len(a.Values)
			p.Values[i] = a.Values[index[i]]
			rest /= len(a.Values)
		}
		w, err := s.check(&p, base)
		if err == nil {
			s.unread(w, index)
		}
		if err != nil && s.Compares() {
			p.Impossible, p.problems = impossible(err), s.relocate(err, index)
		} else if err != nil {
			for _, one := range s.relocate(err, index) {
				if n > 0 && one.File == file && one.Line > 0 { // a fault of the workload that other points do not have
					one.Message += fmt.Sprintf(" (with %s)", s.Name(&p))
				}
				problems = addNew(problems, one)
			}
			if len(problems) >= maxProblems {
				break
			}
		}
		s.Points = append(s.Points, p)
	}
	if problems = append(problems, s.never()...); len(problems) > 0 {
		return problems
	}
	return nil
}

// check applies the point's values to the workload and decodes it.
func (s *Sweep) check(p *Point, base *configs.Doc) (*Workload, error) {
	doc := *base
	for i, a := range s.Axes {
		if err := a.set(&doc, p.Values[i]); err != nil {
			return nil, err
		}
	}
	p.doc = &doc
	return decode(p.file, p.doc)
}

// unread keeps of what no point so far reads that which this one does not read either.
func (s *Sweep) unread(w *Workload, index []int) {
	if s.looked && len(s.Unread) == 0 {
		return
	}
	now := w.Unread()
	if !s.looked {
		s.Unread, s.looked = s.relocate(now, index), true
		return
	}
	s.Unread = slices.DeleteFunc(s.Unread, func(old configs.Problem) bool {
		return !slices.ContainsFunc(now, func(p configs.Problem) bool { return p.Path == old.Path })
	})
}

// addNew adds a problem unless there is one that says the same of the same path,
// whichever point or value it was found with.
func addNew(all configs.Problems, one configs.Problem) configs.Problems {
	bare := func(p configs.Problem) string {
		message, _, _ := strings.Cut(p.Message, " (with ")
		return p.Path + ": " + message
	}
	if slices.ContainsFunc(all, func(p configs.Problem) bool { return bare(p) == bare(one) }) {
		return all
	}
	return append(all, one)
}

func problemsOf(err error) configs.Problems {
	var placed configs.Problems
	if errors.As(err, &placed) {
		return placed
	}
	return configs.Problems{{Message: err.Error()}}
}

// relocate moves problems that an axis or a setting of the sweep brought to where the
// sweep's file says so; index is the value of each axis.
func (s *Sweep) relocate(err error, index []int) configs.Problems {
	problems := slices.Clone(problemsOf(err))
	for i := range problems {
		p := &problems[i]
		if at := s.origin(p.File, index); at != nil {
			place := at.Fault("")[0]
			p.File, p.Line, p.Col = place.File, place.Line, place.Col
		}
	}
	return problems
}

// origin returns where the sweep's file has what SetFrom brought from there; nil when
// it came from elsewhere.
func (s *Sweep) origin(from string, index []int) *configs.Doc {
	for i, k := range index {
		a := &s.Axes[i]
		for _, kv := range splitOp(longPath(a.Path, a.Values[k]), a.Values[k]) {
			if from == "axis "+kv[0] {
				return a.at[k]
			}
		}
	}
	for _, path := range s.Config.Set.Keys() {
		v := s.Config.Set.Child(path)
		for _, kv := range splitOp(longPath(opAxis(path), v.Flow()), v.Flow()) {
			if from == "set "+kv[0] {
				return v
			}
		}
	}
	return nil
}

// Name says where in the sweep a point is: "ranks=4 call.core_num=8".
func (s *Sweep) Name(p *Point) string {
	var parts []string
	for i, a := range s.Axes {
		parts = append(parts, a.Path+"="+p.Values[i])
	}
	return strings.Join(parts, " ")
}

// Workload makes the point's workload, with its routing drawn.
func (p *Point) Workload() (*Workload, error) { return FromDoc(p.file, p.doc) }

// Open decodes the point's workload, without drawing its routing, and returns with it
// the key of what it computes: the merged document and the files that it names.
// Together with the program's identity the key names a cache entry.
func (p *Point) Open() (w *Workload, key []byte, err error) {
	w = &Workload{File: p.file}
	var files []byte
	w.Config.noted = func(name string, data []byte) {
		files = fmt.Appendf(files, "%q %d\n%s", name, len(data), data)
	}
	err = w.decode(p.doc)
	w.Config.noted = nil
	if err != nil {
		return nil, nil, err
	}
	return w, append(w.Doc.Canonical(), files...), nil
}

// Each calls run for every point, so many at once, and returns the first error. Once
// ctx is done it starts no further point.
func (s *Sweep) Each(ctx context.Context, workers int, run func(i int, p *Point) error) error {
	return Each(ctx, len(s.Points), workers, func(i int) error { return run(i, &s.Points[i]) })
}

// Each calls run for 0 to n-1, so many at once, and returns the first error. Once ctx is
// done it starts no further one.
func Each(ctx context.Context, n, workers int, run func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(workers, 1))
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			return run(i)
		})
	}
	return g.Wait()
}
