// Package fit compares the simulator with published measurements and fits its
// parameters to them. A file holds cases: rows of a measured table, the workload that
// each stands for, what the clock of the measurement covered, and which rows are held
// out; and parameters with bounds, which are paths of the workload or of its machine.
// Evaluating runs every row; fitting looks for the parameters with the least relative
// errors of the rows that are not held out, says how well each is known, and whether the
// rows can tell it at all. Everything is deterministic: starts are fixed points of the
// bounds, and rows are independent simulations.
package fit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw/result"
)

// Spec is a file of cases, and of what is fitted to them.
type Spec struct {
	Title        string          `yaml:"title" help:"what is measured on which hardware, in a few words"`
	Machine      string          `yaml:"machine" required:"true" help:"preset, or file, of cases that name none; the overlay is based on it"`
	Noise        engine.Fraction `yaml:"noise" default:"0.3 %" help:"relative error that is taken for noise of the measurement"`
	Params       []Param         `yaml:"params" help:"what is fitted"`
	Alternatives []Alternative   `yaml:"alternatives" help:"rival causes: each is fitted with the parameters above; the first one is written"`
	Cases        []Case          `yaml:"cases" required:"true" help:"what is compared"`

	// Told, if not nil, is told how many rows of how many have been evaluated, by several
	// goroutines.
	Told func(done, all int) `yaml:"-"`

	file string
	doc  *configs.Doc
}

// Files lists the files that cases are read from: their own, and the tables beside it. What is shipped within the program
// is none.
func (s *Spec) Files() []string {
	out := []string{s.file}
	for i := range s.Cases {
		if file := s.beside(s.Cases[i].Data); !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	return out
}

// Param is a quantity of the workload or its machine that is fitted.
type Param struct {
	Path  string   `yaml:"path" required:"true" help:"machine.fabric.mesh.egress_cap, call.software.put ..."`
	Also  []string `yaml:"also" help:"paths that have the same value"`
	Name  string   `yaml:"name" help:"where one path is fitted for several groups of cases; default: the path"`
	In    []string `yaml:"in" help:"cases to which it applies; default: all"`
	Low   string   `yaml:"low" required:"true" help:"least value"`
	High  string   `yaml:"high" required:"true" help:"largest value; the search is logarithmic if low is above 0"`
	Start string   `yaml:"start" help:"first guess; default: what the machine or the first case says"`
	Cause string   `yaml:"cause" required:"true" help:"what it stands for in the hardware or software"`

	low, high int64
	kind      *engine.Quantity
}

// Alternative is one of several explanations of the same rows.
type Alternative struct {
	Name   string  `yaml:"name" required:"true" help:"how reports call it"`
	Set    Values  `yaml:"set" help:"path: value, for all cases"`
	Params []Param `yaml:"params" help:"what is fitted in it alone"`
}

// Case is a table's rows with the workload that they measure.
type Case struct {
	Name     string            `yaml:"name" required:"true" help:"how reports call it"`
	Data     string            `yaml:"data" required:"true" help:"a shipped table of measurements, or a CSV file beside this one"`
	Rows     map[string]string `yaml:"rows" help:"column: value of the rows that are meant"`
	HeldOut  []Selection       `yaml:"held_out" help:"rows, as column: value, that no parameter is fitted to"`
	Workload configs.Doc       `yaml:"workload" required:"true" help:"a workload, or the name of one"`
	Set      Values            `yaml:"set" help:"path: value, or {column, unit} or {column, values} of the row"`
	Measured Measured          `yaml:"measured" help:"the column that is compared"`
	Clock    Clock             `yaml:"clock" help:"what the clock of the measurement covered"`
	Baseline Baseline          `yaml:"baseline" help:"the formula that the simulator must beat"`
	Band     engine.Fraction   `yaml:"band" required:"true" help:"largest error of a row that is not a failure"`
	Note     string            `yaml:"note" help:"what a reader of the table should know"`
}

// Selection picks rows by the text of their columns.
type Selection map[string]string

// Measured is the column that the simulation is compared with.
type Measured struct {
	Column string `yaml:"column" required:"true" help:"of the table"`
	To     string `yaml:"to" help:"column with the other end of a range, of which the middle is taken"`
	Unit   string `yaml:"unit" enum:"ps,ns,us,ms,s,ticks,GB/s,GiB/s,Gbit/s" required:"true" help:"a tick is 20 ns, of the system counter of A2 and A3"`
	Bytes  Value  `yaml:"bytes" help:"of a rate: what is divided by the time; routed: the mean bytes that a rank routes, itself included"`
	Times  Value  `yaml:"times" help:"of a rate: what multiplies bytes, such as a number of messages; default 1"`
}

// Clock is what the measurement's clock covered; times are of one timed call, the mean
// of several.
type Clock struct {
	Covers  string          `yaml:"covers" enum:"elapsed,core,reasons" default:"elapsed" help:"elapsed: first launch to last end; core: first op to last op of the slowest AIV; reasons: those of the slowest AIV"`
	Reasons []string        `yaml:"reasons" help:"of covers: reasons, names as in the account of a block"`
	Ranks   string          `yaml:"ranks" enum:"slowest,middle" default:"slowest" help:"of core and reasons: slowest: the largest over the ranks; middle: between the fastest and the slowest, where the measurement is such a range"`
	Per     Value           `yaml:"per" help:"divides the time: a mean of so many"`
	Plus    engine.Duration `yaml:"plus" help:"what the measurement has on top, such as a probe"`
}

// Baseline is the formula that the simulator must beat.
type Baseline struct {
	Kind   string `yaml:"kind" enum:"bytes,log2,none" default:"bytes" help:"a + b*x, or a + b*log2(x), fitted to the rows that are fitted"`
	Column string `yaml:"column" help:"x"`
	Group  string `yaml:"group" help:"cases that share one formula; default: each its own"`
}

// Load reads and checks a file of cases.
func Load(name string) (*Spec, error) {
	file, doc, err := configs.Open(name)
	if err != nil {
		return nil, err
	}
	return FromDoc(file, doc)
}

// FromDoc is Load for a document that has been read already.
func FromDoc(file string, doc *configs.Doc) (*Spec, error) {
	s := &Spec{file: file, doc: doc}
	if err := doc.Decode(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Check reports what no single field shows.
func (s *Spec) Check(report func(path, format string, args ...any)) {
	if len(s.Cases) == 0 {
		report("cases", "there is no case, so nothing to compare")
	}
	var names []string
	for i, c := range s.Cases {
		if slices.Contains(names, c.Name) {
			report(fmt.Sprintf("cases.%d.name", i), "%q is there twice", c.Name)
		}
		names = append(names, c.Name)
		if c.Baseline.Kind != "none" && c.Baseline.Column == "" {
			report(fmt.Sprintf("cases.%d.baseline", i), "a baseline needs the column of its x; kind: none has none")
		}
		for k := range i {
			if o := &s.Cases[k]; o.group() == c.group() && o.Baseline.Kind != c.Baseline.Kind {
				report(fmt.Sprintf("cases.%d.baseline", i), "case %q of the same group has a line of kind %s", o.Name, o.Baseline.Kind)
			}
		}
		if c.Clock.Ranks == "middle" && (c.Clock.Covers == "" || c.Clock.Covers == "elapsed") {
			report(fmt.Sprintf("cases.%d.clock", i), "elapsed is that of all ranks; ranks: middle goes with core and reasons")
		}
		for k, name := range c.Clock.Reasons {
			if !slices.Contains(reasons(), name) {
				report(fmt.Sprintf("cases.%d.clock.reasons.%d", i, k), "a block's account has no reason %q; it has %s", name, strings.Join(reasons(), ", "))
			}
		}
		if (c.Clock.Covers == "reasons") != (len(c.Clock.Reasons) > 0) {
			report(fmt.Sprintf("cases.%d.clock", i), "reasons go with covers: reasons")
		}
		if rate(c.Measured.Unit) && c.Measured.Bytes.empty() {
			report(fmt.Sprintf("cases.%d.measured", i), "a rate needs bytes, its numerator")
		}
	}
	seen := map[string]bool{}
	check := func(path string, params []Param) {
		for i := range params {
			p := &params[i]
			p.check(names, func(field, format string, args ...any) {
				report(fmt.Sprintf("%s.%d.%s", path, i, field), format, args...)
			})
			if seen[path+p.Label()] {
				report(fmt.Sprintf("%s.%d.path", path, i), "%s is there twice; name them apart", p.Label())
			}
			seen[path+p.Label()] = true
		}
	}
	check("params", s.Params)
	for i := range s.Alternatives {
		check(fmt.Sprintf("alternatives.%d.params", i), s.Alternatives[i].Params)
	}
}

// reasons are the names of what a block's time is for.
func reasons() (out []string) {
	for r := range result.NumReasons {
		out = append(out, r.String())
	}
	return out
}

func (p *Param) check(cases []string, report func(field, format string, args ...any)) {
	for _, name := range p.In {
		if !slices.Contains(cases, name) {
			report("in", "there is no case %q", name)
		}
	}
	low, k := engine.ReadQuantity(p.Low)
	high, l := engine.ReadQuantity(p.High)
	switch {
	case k == nil:
		report("low", "%q is no quantity", p.Low)
	case l != k:
		report("high", "want %s as low is, got %q", k.Noun, p.High)
	case low < 0 || high <= low:
		report("high", "want 0 <= low < high, got %s and %s", p.Low, p.High)
	}
	if p.Start != "" && k != nil {
		if v, l := engine.ReadQuantity(p.Start); l != k || v < low || v > high {
			report("start", "want %s from %s to %s, got %q", k.Noun, p.Low, p.High, p.Start)
		}
	}
	p.low, p.high, p.kind = low, high, k
}

// Label is how reports call a parameter.
func (p *Param) Label() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Path
}

// applies reports whether a parameter belongs to a case.
func (p *Param) applies(c *Case) bool { return len(p.In) == 0 || slices.Contains(p.In, c.Name) }

// beside returns the name under which a file that the spec names is found.
func (s *Spec) beside(name string) string {
	if b := filepath.Join(filepath.Dir(s.file), name); exists(b) {
		return b
	}
	return name
}
