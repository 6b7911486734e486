package workloads

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"pldperf/engine"
)

// Band says how often the parameters of a machine that are known only within limits are
// drawn from within them, all at once: a Latin hypercube. Each parameter's band is cut
// into as many strata as there are draws, and each stratum is drawn from once; in which
// order is decided by the seed and the parameter's path alone. So a parameter has the
// same draws at every point of a sweep, whatever else differs there.
type Band struct {
	Draws int    `yaml:"draws" default:"32" min:"2" max:"10000" help:"runs with parameters drawn from within their bands"`
	Seed  uint64 `yaml:"seed" default:"1" help:"of the draws"`
}

// Banded is a parameter of a machine that is drawn: a leaf {value, low, high}.
type Banded struct {
	Path             string // in the machine, such as fabric.mesh.latency
	Low, Value, High string // as the file has them
	Draws            []string
}

// place returns where in a parameter's band each draw lies, from 0 to 1: one draw in
// each of the strata [k/n, (k+1)/n).
func (b Band) place(path string) []float64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	r := rand.New(rand.NewPCG(b.Seed, h.Sum64()))
	out := make([]float64, b.Draws)
	for i, stratum := range r.Perm(b.Draws) {
		out[i] = (float64(stratum) + r.Float64()) / float64(b.Draws)
	}
	return out
}

// bandDigits is how many digits of a drawn value are kept: more would depend on how a
// processor rounds.
const bandDigits = 6

// between returns the value at a place of a band: uniform in the logarithm where low is
// above zero, else uniform.
func between(low, high int64, at float64) int64 {
	x := float64(low) + at*(float64(high)-float64(low))
	if low > 0 {
		x = float64(low) * math.Exp(at*math.Log(float64(high)/float64(low)))
	}
	unit := 1.0
	for math.Abs(x)/unit >= math.Pow10(bandDigits) {
		unit *= 10
	}
	return min(max(int64(math.Round(x/unit)*unit), low), high)
}

// Banded lists the parameters of the workload's machine that something in it reads and
// that are bands, with their draws. A band over what is no number, or that reaches to
// unlimited, cannot be drawn from and is an error.
func (w *Workload) Banded(b Band) (out []Banded, err error) {
	for _, p := range w.Doc.Params("machine") {
		if p.Low == "" || !w.reads(p.Path[len("machine."):]) {
			continue
		}
		low, kind := engine.ReadQuantity(p.Low)
		high, same := engine.ReadQuantity(p.High)
		if kind == nil || same != kind || high == int64(engine.Unlimited) {
			return nil, w.Doc.At(p.Path).Fault("%s to %s is no band that can be drawn from: want two quantities of one kind", p.Low, p.High)
		}
		if low == high {
			continue
		}
		x := Banded{Path: p.Path[len("machine."):], Value: p.Value, Low: p.Low, High: p.High}
		for _, at := range b.place(x.Path) {
			x.Draws = append(x.Draws, kind.Print(between(low, high, at)))
		}
		out = append(out, x)
	}
	return out, nil
}

// Point returns the workload as the one point of a sweep.
func (w *Workload) Point() *Point { return &Point{file: w.File, doc: w.Doc} }

// Banded is Workload.Banded of the point's workload.
func (p *Point) Banded(b Band) ([]Banded, error) {
	w := Workload{File: p.file}
	if err := w.decode(p.doc); err != nil {
		return nil, err
	}
	return w.Banded(b)
}

// Drawn returns the point with draw k of the parameters instead of their nominal values.
func (p *Point) Drawn(params []Banded, k int) (*Point, error) {
	doc := *p.doc
	for i := range params {
		if err := doc.SetFrom("--band", "machine."+params[i].Path, params[i].Draws[k]); err != nil {
			return nil, err
		}
	}
	return &Point{Values: p.Values, file: p.file, doc: &doc}, nil
}
