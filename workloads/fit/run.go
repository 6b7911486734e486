package fit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/workloads"
)

// Row is one measurement beside what is simulated.
type Row struct {
	Case      string  `json:"case"`
	Name      string  `json:"row"`
	Unit      string  `json:"unit"`
	Measured  float64 `json:"measured"`
	Simulated float64 `json:"simulated"`
	Error     float64 `json:"error"` // simulated / measured - 1
	HeldOut   bool    `json:"held_out"`
	Fitted    bool    `json:"fitted"` // a value that moves it comes from a fit to it
	Band      float64 `json:"band"`
	Inside    bool    `json:"inside"`
	Baseline  float64 `json:"baseline,omitempty"`       // what the formula says; 0 without one
	BaseError float64 `json:"baseline_error,omitempty"` // as Error
	X         float64 `json:"x,omitempty"`              // of the baseline
	Took      float64 `json:"measured_us"`              // as times, also where rates are compared
	Takes     float64 `json:"simulated_us"`
}

// bench is a spec with its rows read: what can be evaluated again and again.
type bench struct {
	spec    *Spec
	rows    [][]row // by case
	skipped [][]int // lines without a measurement, by case
	docs    []*configs.Doc
	files   []string
	machine string
	set     *Values // of an alternative
	workers int
	mu      sync.Mutex
	known   map[string]float64  // seconds, by case, row and values
	shapes  [][]workloads.Shape // of the rows that have run, by case
	routed  [][]float64         // mean bytes that a rank routes, by case and row; known once it has run
	runs    int
	told    func(done, all int) // of rows
}

// open reads the tables and the workloads of a spec and verifies them. machine replaces
// the spec's own.
func (s *Spec) open(machine string, workers int) (*bench, error) {
	b := &bench{spec: s, machine: s.Machine, workers: max(workers, 1), known: map[string]float64{}}
	if machine != "" {
		if err := s.sameBase(machine); err != nil {
			return nil, err
		}
		b.machine = machine
	}
	var all configs.Problems
	for i := range s.Cases {
		rows, skipped, err := s.rows(i)
		if err != nil {
			all = append(all, problems(err)...)
		}
		file, doc, err := s.workload(i)
		if err != nil {
			all = append(all, problems(err)...)
		}
		b.routed = append(b.routed, make([]float64, len(rows)))
		b.shapes = append(b.shapes, make([]workloads.Shape, len(rows)))
		b.rows, b.skipped, b.docs, b.files = append(b.rows, rows), append(b.skipped, skipped), append(b.docs, doc), append(b.files, file)
	}
	if len(all) > 0 {
		return nil, all
	}
	return b, b.verify()
}

// workload returns the document of a case's workload.
func (s *Spec) workload(i int) (string, *configs.Doc, error) {
	d := &s.Cases[i].Workload
	if d.Text() == "" {
		return s.file, d, nil
	}
	file, doc, err := configs.Open(s.beside(d.Text()))
	if err != nil {
		return "", nil, d.Fault("%v", err)
	}
	return file, doc, nil
}

// at is a point of the parameters: their values in base units.
type at []int64

// seconds simulates the rows that want says and returns their times, by case and row.
func (b *bench) seconds(ctx context.Context, params []Param, x at, want func(r row) bool) ([][]float64, error) {
	out := make([][]float64, len(b.rows))
	all, done := 0, atomic.Int64{}
	for _, rows := range b.rows {
		all += len(rows)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.workers)
	for c := range b.rows {
		out[c] = make([]float64, len(b.rows[c]))
		for r := range b.rows[c] {
			if !want(b.rows[c][r]) {
				continue
			}
			g.Go(func() (err error) {
				if err := ctx.Err(); err != nil {
					return err
				}
				out[c][r], err = b.one(c, r, params, x)
				if b.told != nil {
					b.told(int(done.Add(1)), all)
				}
				return err
			})
		}
	}
	return out, g.Wait()
}

// one simulates a row, or remembers it.
func (b *bench) one(c, r int, params []Param, x at) (float64, error) {
	k := &b.spec.Cases[c]
	key := fmt.Sprintf("%d %d", c, r)
	for i := range params {
		if params[i].applies(k) {
			key += fmt.Sprintf(" %s=%d", params[i].Path, x[i])
		}
	}
	b.mu.Lock()
	v, ok := b.known[key]
	b.mu.Unlock()
	if ok {
		return v, nil
	}
	w, err := b.build(c, r, params, x)
	if err != nil {
		return 0, err
	}
	out, err := w.Run(hw.Options{Path: "off"})
	if err != nil {
		return 0, fmt.Errorf("%s, case %s, line %d of %s: %w", b.spec.file, k.Name, b.rows[c][r].line, k.Data, err)
	}
	if out.Result.Status != result.OK {
		return 0, fmt.Errorf("%s, case %s, line %d of %s: the simulation ends with %s", b.spec.file, k.Name, b.rows[c][r].line, k.Data, out.Result.Status)
	}
	v, err = k.Clock.time(out.Result, b.rows[c][r])
	b.mu.Lock()
	b.known[key] = v
	b.routed[c][r], b.shapes[c][r] = routed(w), out.Shape
	b.runs++
	b.mu.Unlock()
	return v, err
}

// routed is the mean bytes that a rank of a workload with a routing sends, itself included.
func routed(w *workloads.Workload) (sum float64) {
	matrix := w.Traffic()
	for _, row := range matrix {
		for _, n := range row {
			sum += float64(n)
		}
	}
	k := &w.Config.Call
	return sum * float64(k.Hidden*collectives.ElemSize(k.DType)) / float64(max(len(matrix), 1))
}

// build makes the workload of a row at a point.
func (b *bench) build(c, r int, params []Param, x at) (*workloads.Workload, error) {
	doc, err := b.doc(c, r, params, x)
	if err != nil {
		return nil, err
	}
	return workloads.FromDoc(b.files[c], doc)
}

// parameter is the origin of the values of parameters, in problems.
const parameter = "parameter"

// doc is the document of a row's workload at a point.
func (b *bench) doc(c, r int, params []Param, x at) (*configs.Doc, error) {
	k := &b.spec.Cases[c]
	doc, err := workloads.Normal(b.docs[c])
	if err != nil {
		return nil, err
	}
	own := *doc
	if !own.Has("machine") {
		if err := own.SetFrom("machine", "machine.preset", strconv.Quote(b.spec.beside(b.machine))); err != nil {
			return nil, err
		}
	}
	if err := k.Set.set(&own, b.rows[c][r]); err != nil {
		return nil, err
	}
	if b.set != nil {
		if err := b.set.set(&own, b.rows[c][r]); err != nil {
			return nil, err
		}
	}
	for i := range params {
		if p := &params[i]; p.applies(k) {
			for _, path := range slices.Concat([]string{p.Path}, p.Also) {
				if err := own.SetFrom(parameter, path, p.kind.Print(x[i])); err != nil {
					return nil, err
				}
			}
		}
	}
	return &own, nil
}

// time is what the measurement's clock would have shown, in seconds.
func (k *Clock) time(res *result.Result, r row) (float64, error) {
	var sum engine.Duration
	n := 0
	for i := range res.Calls {
		call := &res.Calls[i]
		if !call.Timed || call.Op == "read_back" {
			continue
		}
		d, err := k.call(res, i)
		if err != nil {
			return 0, err
		}
		sum += d
		n++
	}
	if n == 0 || sum <= 0 {
		return 0, fmt.Errorf("nothing is timed")
	}
	t := float64(sum)/float64(n) + float64(k.Plus)
	per, err := k.Per.float(r)
	if err != nil {
		return 0, err
	}
	if per > 0 {
		t /= per
	}
	return t * 1e-12, nil
}

// call is what the clock covers of one call.
func (k *Clock) call(res *result.Result, call int) (d engine.Duration, err error) {
	if k.Covers == "elapsed" || k.Covers == "" {
		return res.Calls[call].Elapsed, nil
	}
	ranks := make([]engine.Duration, len(res.Ranks)) // of the slowest AIV
	for i := range res.Blocks {
		if b := &res.Blocks[i]; b.Call == call {
			d = b.End.Sub(b.Start) - b.Time[result.Launch]
			if k.Covers == "reasons" {
				if d, err = k.sum(b); err != nil {
					return 0, err
				}
			}
			ranks[b.Rank] = max(ranks[b.Rank], d)
		}
	}
	if k.Ranks == "middle" {
		return (slices.Min(ranks) + slices.Max(ranks)) / 2, nil
	}
	return slices.Max(ranks), nil
}

func (k *Clock) sum(b *result.Block) (d engine.Duration, err error) {
	for _, name := range k.Reasons {
		r := slices.Index(reasons(), name)
		if r < 0 {
			return 0, fmt.Errorf("clock: a block's account has no reason %q", name)
		}
		d += b.Time[r]
	}
	return d, nil
}
