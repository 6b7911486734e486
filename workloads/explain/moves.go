package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/workloads"
)

// Move is how the time follows a parameter: Elasticity is the change of the time in per cent for a change of the
// parameter by one per cent, between a value a little below and one a little above. -1 is a rate that all of the time
// goes by, 0 a parameter that does not count here.
type Move struct {
	Path, Value string
	Kind        configs.Kind
	Below       string // the values that were run
	Above       string
	Elasticity  float64
	Problem     string
}

// step is by how much a parameter is changed to either side: more than what the phase of a poll or a rounded cycle makes.
const step = 0.05

// moves prepares two runs for each parameter of the machine that the workload reads and that is a time, a rate, a clock
// or a share.
func (x *Explanation) moves(w *workloads.Workload) (runs []run) {
	for _, l := range w.Leaves() {
		path, ok := strings.CutPrefix(l.Path, "machine.")
		below, above, fits := around(l.Value)
		if !ok || l.Unread || !fits || strings.Contains(path, "ideal.") {
			continue
		}
		x.Moves = append(x.Moves, Move{Path: path, Value: l.Value, Kind: l.Kind, Below: below, Above: above})
	}
	for i := range x.Moves {
		m := &x.Moves[i]
		var took [2]engine.Duration
		var ended atomic.Int32
		for side, value := range []string{m.Below, m.Above} {
			runs = append(runs, run{sets: []string{"machine." + m.Path + "=" + value}, into: func(d engine.Duration, err error) {
				if took[side] = d; err != nil {
					took[side] = -1
				}
				if ended.Add(1) == 2 {
					m.settle(took, x.Base.Result.Elapsed)
				}
			}})
		}
	}
	return runs
}

// settle computes the elasticity from the times at both values; where one is no machine, from the other and the base.
func (m *Move) settle(took [2]engine.Duration, base engine.Duration) {
	low, high := number(m.Below), number(m.Above)
	if took[0] < 0 {
		took[0], low, m.Below = base, number(m.Value), m.Value
	}
	if took[1] < 0 {
		took[1], high, m.Above = base, number(m.Value), m.Value
	}
	if low == high || took[0] <= 0 || took[1] <= 0 {
		m.Problem = "neither a lower nor a higher value makes a machine"
		return
	}
	m.Elasticity = math.Log(float64(took[1])/float64(took[0])) / math.Log(high/low)
}

func number(text string) float64 {
	v, _ := engine.ReadQuantity(text)
	return float64(v)
}

// kinds of quantities that can be a little more or less; counts and sizes are structure.
var smooth = []string{"a time", "a rate", "a frequency", "a number of cycles", "a share"}

// around returns values a step below and above one; false when it is none that has them.
func around(value string) (below, above string, ok bool) {
	v, q := engine.ReadQuantity(value)
	if q == nil || v <= 0 || v == int64(engine.Unlimited) || !slices.Contains(smooth, q.Noun) {
		return "", "", false
	}
	d := max(1, int64(math.Round(float64(v)*step)))
	if v-d <= 0 {
		return "", "", false
	}
	return q.Print(v - d), q.Print(v + d), true
}

// Blocks is the time with another core_num.
type Blocks struct {
	CoreNum int
	Elapsed engine.Duration
	Problem string
	Outside []workloads.Outside // as of any run
}

// blocks prepares runs with other numbers of blocks, where the call has one.
func (x *Explanation) blocks(w *workloads.Workload) (runs []run) {
	if !w.Doc.Has("call.core_num") {
		return nil
	}
	limit := w.Config.Machine.AIV.Limit()
	for n := 1; n < limit; n *= 2 {
		x.Blocks = append(x.Blocks, Blocks{CoreNum: n})
		if more := n + n/2; n > 2 && more < limit {
			x.Blocks = append(x.Blocks, Blocks{CoreNum: more})
		}
	}
	x.Blocks = append(x.Blocks, Blocks{CoreNum: limit})
	for i := range x.Blocks {
		b := &x.Blocks[i]
		runs = append(runs, run{outside: &b.Outside, sets: []string{fmt.Sprintf("call.core_num=%d", b.CoreNum)}, into: func(d engine.Duration, err error) {
			if b.Elapsed = d; err != nil {
				b.Problem = err.Error()
			}
		}})
	}
	return runs
}
