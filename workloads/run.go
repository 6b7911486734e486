package workloads

import (
	"fmt"
	"strings"

	"pldperf/collectives"
	"pldperf/collectives/symptoms"
	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/workloads/routing"
)

// Outcome is a run with what it is compared to. It is plain data: reports show it,
// the sweep cache keeps it.
type Outcome struct {
	Title    string              `json:"title"`
	Inputs   []Input             `json:"inputs"`
	Result   *result.Result      `json:"result"`
	Formula  []result.Counters   `json:"formula"` // per rank, over the timed calls; -1: none
	Formulas [][2]string         `json:"formulas"`
	Bounds   []collectives.Bound `json:"bounds"` // over the timed calls
	Params   ParamCount          `json:"params"`
	Bytes    []engine.Bytes      `json:"bytes_per_rank"` // given by each rank, including itself
	Message  engine.Bytes        `json:"message_bytes"`  // mean bytes that a rank gives to one rank
	SQDepth  int64               `json:"sq_depth_wqebb"` // 0 when no queue is used
	Traffic  *routing.Stats      `json:"traffic,omitempty"`
	Warnings []string            `json:"warnings,omitempty"`
	Shape    Shape               `json:"shape"`
	Outside  []Outside           `json:"outside_fit,omitempty"`     // how the run lies beyond what was measured
	Clock    *Clock              `json:"benchmark_clock,omitempty"` // of a benchmark whose clock does not cover all of a call
}

// Input is one field of what was run, for people.
type Input struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Run executes the workload.
func (w *Workload) Run(opt hw.Options) (*Outcome, error) {
	job, err := w.Job()
	if err != nil {
		return nil, err
	}
	if opt.Payload == "" {
		opt.Payload = w.Config.Payload
	}
	if w.parts == nil {
		w.parts = hw.Uses(job)
	}
	res, err := w.execute(job, opt)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Title: w.Config.Title, Inputs: w.inputs(res), Result: res}
	if err := w.compare(out); err != nil {
		return nil, err
	}
	out.Shape = w.shape(job, res)
	if res.Abort == nil && res.Stuck == nil {
		out.Outside = append(out.Shape.outside(domains()), w.oversize()...)
	}
	out.Clock = w.clock(res)
	out.Params = w.params(res)
	out.Params.Outside = w.strange()
	out.Warnings = w.warnings(res)
	for _, p := range w.Oversize() {
		out.Warnings = append(out.Warnings, p.Message)
	}
	return out, nil
}

// execute runs the job and, where something is wrong, names the rows of the symptom
// table that fit.
func (w *Workload) execute(job *program.Job, opt hw.Options) (*result.Result, error) {
	var mem *memory.Space
	inspect := opt.Inspect
	opt.Inspect = func(s *memory.Space) {
		if mem = s; inspect != nil {
			inspect(s)
		}
	}
	res, err := hw.Run(w.Config.Machine.Spec, job, opt)
	if err != nil || res.Status == result.OK {
		return res, err
	}
	items := make([]collectives.Item, len(w.items))
	for i := range w.items {
		items[i] = w.items[i].Item
	}
	res.Diagnoses = symptoms.Diagnose(items, job, res, func(rank int, b program.Buf) []int32 { return mem.Words(rank, memory.ID(b)) })
	return res, nil
}

// compare fills in formulas, bounds and sizes, summed over the timed calls.
func (w *Workload) compare(out *Outcome) error {
	c := &w.Config
	if out.Result.Abort != nil { // illegal counts have no formula
		return nil
	}
	limits, err := c.Machine.Limits(c.Ranks)
	if err != nil {
		return err
	}
	out.Formula = make([]result.Counters, c.Ranks)
	out.Bytes = make([]engine.Bytes, c.Ranks)
	if out.Bounds, err = chainBounds(w.items, &limits); err != nil {
		return err
	}
	for _, it := range w.items {
		if it.Call == nil {
			continue
		}
		a, err := collectives.Lookup(it.Call.Op, it.Call.Form)
		if err != nil {
			return err
		}
		out.Formulas = a.Formulas
		if it.Call.Queued() {
			out.SQDepth = int64(it.Call.Depth)
		}
		first, n := it.Repeat.Warmup, max(it.Repeat.Count, 1)
		for k := first; k < first+n; k++ {
			for r := range out.Formula {
				addFormula(&out.Formula[r], a.Formula(it.Call, r, k))
				out.Bytes[r] += a.Bytes(it.Call, r, k)
			}
		}
		if it.routing != nil && out.Traffic == nil {
			s := it.routing.Stats()
			out.Traffic = &s
		}
	}
	var sum engine.Bytes
	for _, b := range out.Bytes {
		sum += b
	}
	calls := 0
	for _, x := range out.Result.Calls {
		if x.Timed && x.Op != "compute" && x.Op != "read_back" {
			calls++
		}
	}
	if calls > 0 {
		out.Message = sum / engine.Bytes(c.Ranks*c.Ranks*calls)
	}
	return nil
}

// Promised returns the bytes that all calls together move by their formulas, those of
// warm-up calls too: what hw.Progress counts up to. It is 0 where a formula does not say.
func (w *Workload) Promised() (sum engine.Bytes) {
	for _, it := range w.items {
		if it.Call == nil {
			continue
		}
		a, err := collectives.Lookup(it.Call.Op, it.Call.Form)
		if err != nil {
			return 0
		}
		for k := range it.Repeat.Warmup + max(it.Repeat.Count, 1) {
			for r := range w.Config.Ranks {
				f := a.Formula(it.Call, r, k)
				if f[result.BytesSent] == collectives.Unknown || f[result.BytesSelf] == collectives.Unknown {
					return 0
				}
				sum += engine.Bytes(f[result.BytesSent] + f[result.BytesSelf])
			}
		}
	}
	return sum
}

// addFormula adds a call's prediction; what one call does not predict, the sum does not.
func addFormula(sum *result.Counters, c result.Counters) {
	for i := range sum {
		if c[i] == collectives.Unknown || sum[i] == collectives.Unknown {
			sum[i] = collectives.Unknown
			continue
		}
		sum[i] += c[i]
	}
}

// Bound returns the largest lower bound.
func (o *Outcome) Bound() (best collectives.Bound) {
	for _, b := range o.Bounds {
		if b.Time > best.Time {
			best = b
		}
	}
	return best
}

// inputs lists what was run, the skew even when there is none.
func (w *Workload) inputs(res *result.Result) []Input {
	c := &w.Config
	out := []Input{{"workload", w.File}, {"machine", c.Machine.Name + ": " + c.Machine.Title}, {"fabric", c.Machine.Fabric.Kind}, {"ranks", fmt.Sprint(c.Ranks)}}
	for _, it := range w.items {
		if it.Call == nil {
			out = append(out, Input{named("compute", it.Name), fmt.Sprintf("%v on %d AIVs", it.Compute.Time, max(it.Compute.Blocks, 1))})
			continue
		}
		out = append(out, Input{named("call", it.Name), describe(it.Call)})
		if it.routing != nil {
			out = append(out, Input{named("routing", it.Name), it.routing.String()})
		}
	}
	return append(out, Input{"skew", c.skewText()}, Input{"payload kept as", res.Data.Payload}, Input{"hazards checked", res.Data.Hazards})
}

func forItem(name string) string {
	if name == "" {
		return ""
	}
	return "in " + name
}

// named is a word with an item's name; the item of a workload without a chain has none.
func named(word, item string) string { return strings.TrimSpace(word + " " + item) }

func (w *Workload) warnings(res *result.Result) (out []string) {
	for _, it := range w.items {
		if it.Call == nil {
			continue
		}
		out = append(out, it.Call.Notes()...)
		if it.routing != nil && it.routing.Stats().TotalRows == 0 {
			out = append(out, strings.TrimSpace("the routing has no rows, so no payload moves "+forItem(it.Name)))
		}
		if it.Call.Mistake != "" && res.Status == result.OK {
			out = append(out, fmt.Sprintf("the mistake %s makes no difference in this run: data that is checked, skew, a repeat or more ranks may show it", it.Call.Mistake))
		}
		if it.Call.Op == "indexed_all_to_all_v" && it.Call.Row()%32 != 0 {
			out = append(out, fmt.Sprintf("row bytes %d %% 32 != 0: tile loads elsewhere work in units of 32 B", it.Call.Row()))
		}
	}
	return out
}

// ParamCount says where the machine's parameters come from.
type ParamCount struct {
	Documented int      `json:"documented"`
	Fitted     int      `json:"fitted"`
	Assumed    int      `json:"assumed"`
	User       int      `json:"user"`
	Mattered   []string `json:"assumed_that_mattered"`

	Outside []Outside `json:"outside_fit,omitempty"` // the user's values beyond the bands of the preset, or beyond what was calibrated over
}

// params counts the machine's parameters that the chosen models read, by source.
func (w *Workload) params(res *result.Result) (n ParamCount) {
	for _, p := range w.Doc.Params("machine") {
		path := p.Path[len("machine."):]
		if !w.reads(path) {
			continue
		}
		switch p.Kind {
		case configs.Documented:
			n.Documented++
		case configs.Fitted:
			n.Fitted++
		case configs.Assumed:
			n.Assumed++
			if matters(p, path, res) {
				n.Mattered = append(n.Mattered, fmt.Sprintf("%s = %s%s", path, p.Value, band(p)))
			}
		case configs.User:
			n.User++
		}
	}
	return n
}

func band(p configs.Param) string {
	if p.Low == "" || p.Low == p.High {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", p.Low, p.High)
}

// Traffic returns the rows that each rank sends to each rank in the first call that
// has a routing; nil when there is none.
func (w *Workload) Traffic() [][]int64 {
	for _, it := range w.items {
		if it.routing != nil {
			return it.routing.Matrix()
		}
	}
	return nil
}

// Roofs returns rates that the machine cannot exceed: a rank's egress, and the rate
// of one pair.
func (w *Workload) Roofs() (egress, pair engine.Rate, err error) {
	l, err := w.Config.Machine.Limits(w.Config.Ranks)
	if err != nil {
		return 0, 0, err
	}
	return l.Egress(0), l.Pair(0, 1), nil
}
