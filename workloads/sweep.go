package workloads

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pldperf/configs"
	"pldperf/engine"
)

// SweepConfig is a sweep file: a workload and the fields to vary.
type SweepConfig struct {
	Title     string          `yaml:"title" help:"what the sweep asks"`
	Base      string          `yaml:"base" required:"true" help:"the workload: a file beside the sweep, or a shipped one's name"`
	Set       configs.Doc     `yaml:"set" help:"path: value, for all points"`
	Axes      configs.Doc     `yaml:"axes" required:"true" help:"path: a list, {from, to, step} or {from, to, times}; op: a pattern such as allreduce/*, or a list of forms, which compares them"`
	Recommend string          `yaml:"recommend" default:"call.core_num" help:"axis of which the smallest good value is recommended"`
	Tolerance engine.Fraction `yaml:"tolerance" default:"2 %" max:"100 %" help:"how much slower than the best is good enough"`
	Band      *Band           `yaml:"band" help:"run all points again with uncertain parameters of the machine drawn from their bands, as --band does"`
	Plots     []string        `yaml:"plots" enum:"bandwidth,time,algorithms,core-num,reasons,wqebb" help:"what is drawn; default: all that the axes give"`
}

// Sweep is a decoded sweep with all of its points checked.
type Sweep struct {
	File   string
	Config SweepConfig
	Axes   []Axis
	Points []Point
	Unread configs.Problems // what the files set though no point reads it

	recommends bool // the file says of which axis
	looked     bool // at a point, for Unread
}

// LoadSweep reads a sweep and checks every point of it before anything runs.
func LoadSweep(name string, sets []string) (*Sweep, error) {
	file, doc, err := configs.Open(name)
	if err != nil {
		return nil, err
	}
	return SweepFromDoc(file, doc, sets)
}

// SweepFromDoc makes a sweep of a document; sets ("path=value") change its workload.
func SweepFromDoc(file string, doc *configs.Doc, sets []string) (*Sweep, error) {
	s := &Sweep{File: file}
	if err := doc.Decode(&s.Config); err != nil {
		return nil, err
	}
	s.recommends = doc.Has("recommend")
	if err := s.readAxes(doc); err != nil {
		return nil, err
	}
	baseFile, base, err := s.base(doc)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		if path, _, ok := strings.Cut(set, "="); ok && s.axis(path) != nil {
			return nil, configs.Problems{{File: "--set " + set, Message: "is an axis of this sweep, whose values would replace it"}}
		}
		if base, err = override(base, []string{set}); err != nil {
			return nil, err
		}
	}
	if err := s.pattern(base); err != nil {
		return nil, err
	}
	return s, s.expand(baseFile, base)
}

// pattern makes an axis of an operation that is a pattern, wherever it was set.
func (s *Sweep) pattern(base *configs.Doc) error {
	if s.Compares() || !base.Has(OpPath) || !strings.Contains(base.At(OpPath).Text()+base.At("call.form").Text(), "*") {
		return nil
	}
	word := base.At(OpPath).Text()
	if base.Has("call.form") {
		word += "/" + base.At("call.form").Text()
	}
	names, err := expandOp(base.At(OpPath), word)
	if err != nil {
		return err
	}
	a := Axis{Path: OpPath, Values: names}
	for range names {
		a.at = append(a.at, base.At(OpPath))
	}
	s.Axes = append(s.Axes, a)
	if !s.recommends {
		s.Config.Recommend = OpPath
	}
	return nil
}

// readAxes reads all axes, and reports what is wrong with each.
func (s *Sweep) readAxes(doc *configs.Doc) error {
	var problems configs.Problems
	total := 1
	for _, path := range s.Config.Axes.Keys() {
		a, err := s.readAxis(opAxis(path), s.Config.Axes.Child(path))
		if err != nil {
			problems = append(problems, problemsOf(err)...)
			continue
		}
		s.Axes = append(s.Axes, a)
		if total *= len(a.Values); total > maxPoints {
			return s.Config.Axes.Fault("more than %d points", maxPoints)
		}
	}
	if len(s.Config.Axes.Keys()) == 0 {
		problems = append(problems, doc.At("axes").Fault("a sweep needs at least one axis, such as call.core_num: [1, 2, 4]")...)
	}
	if s.Config.Recommend = opAxis(s.Config.Recommend); s.Compares() && !s.recommends {
		s.Config.Recommend = OpPath
	}
	if doc.Has("recommend") && len(problems) == 0 && s.axis(s.Config.Recommend) == nil {
		problems = append(problems, doc.At("recommend").Fault("%q is no axis of this sweep%s", s.Config.Recommend, suggest(s.Config.Recommend, s.Config.Axes.Keys()))...)
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// readAxis reads one axis; that over algorithms has names and patterns.
func (s *Sweep) readAxis(path string, d *configs.Doc) (Axis, error) {
	if s.axis(path) != nil {
		return Axis{}, d.Fault("%s is an axis already", path)
	}
	if path == OpPath {
		return readOps(d)
	}
	return readAxis(path, d)
}

// axis returns the axis over a path; nil when there is none.
func (s *Sweep) axis(path string) *Axis {
	if i := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Path == strings.TrimSpace(path) }); i >= 0 {
		return &s.Axes[i]
	}
	return nil
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
		if s.axis(opAxis(path)) != nil {
			return "", nil, v.Fault("is an axis too, whose values would replace it")
		}
		for _, kv := range splitOp(longPath(opAxis(path), v.Flow()), v.Flow()) {
			if err := out.SetFrom("set", kv[0], kv[1]); err != nil {
				return "", nil, s.relocate(err, nil)
			}
		}
	}
	return file, &out, nil
}

func fileExists(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
