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
// goes by, 0 a parameter that does not count here. A parameter that weighs is run again at half the change: Unsteady is
// one that gives another elasticity there. It makes a step, such as one more pass of SIMT lanes, or only shifts the phase
// of polls, and is no slope along which one could go on.
type Move struct {
	Path, Value string
	Kind        configs.Kind
	Below       string // the values that were run
	Above       string
	Elasticity  float64
	Half        *float64 // at half the change; nil: not run
	Unsteady    bool
	Problem     string
}

// step is by how much a parameter is changed to either side: more than what the phase of a poll or a rounded cycle makes.
const step = 0.05

// weighs is the elasticity from which on a parameter is run at half the step, too, and steady by which share of the larger
// one the two may differ: a single step of the time gives twice the elasticity at half the change.
const (
	weighs = 0.01
	steady = 1. / 3
)

// moves prepares two runs for each parameter of the machine that the workload reads and that is a time, a rate, a clock
// or a share.
func (x *Explanation) moves(w *workloads.Workload) (runs []run) {
	for _, l := range w.Leaves() {
		path, ok := strings.CutPrefix(l.Path, "machine.")
		below, above, fits := around(l.Value, step)
		if !ok || l.Unread || !fits || strings.Contains(path, "ideal.") {
			continue
		}
		x.Moves = append(x.Moves, Move{Path: path, Value: l.Value, Kind: l.Kind, Below: below, Above: above})
	}
	for i := range x.Moves {
		m := &x.Moves[i]
		runs = append(runs, m.sides(x, m.Below, m.Above, func(took [2]engine.Duration) {
			m.Elasticity, m.Below, m.Above, m.Problem = m.slope(took, x.Base.Result.Elapsed, m.Below, m.Above)
		})...)
	}
	return runs
}

// halves prepares two more runs for each parameter that weighs.
func (x *Explanation) halves(*workloads.Workload) (runs []run) {
	for i := range x.Moves {
		m := &x.Moves[i]
		below, above, fits := around(m.Value, step/2)
		if m.Problem != "" || abs(m.Elasticity) < weighs || !fits {
			continue
		}
		runs = append(runs, m.sides(x, below, above, func(took [2]engine.Duration) {
			half, _, _, problem := m.slope(took, x.Base.Result.Elapsed, below, above)
			if problem == "" {
				m.Half, m.Unsteady = &half, abs(half-m.Elasticity) > steady*max(abs(half), abs(m.Elasticity))
			}
		})...)
	}
	return runs
}

// sides are the runs with both values; both is told of their times, -1 where there is none.
func (m *Move) sides(x *Explanation, below, above string, both func([2]engine.Duration)) (runs []run) {
	took, ended := new([2]engine.Duration), new(atomic.Int32)
	for side, value := range []string{below, above} {
		runs = append(runs, run{sets: []string{"machine." + m.Path + "=" + value}, into: func(d engine.Duration, err error) {
			if took[side] = d; err != nil {
				took[side] = -1
			}
			if ended.Add(1) == 2 {
				both(*took)
			}
		}})
	}
	return runs
}

// slope computes the elasticity from the times at both values; where one is no machine, from the other and the base.
func (m *Move) slope(took [2]engine.Duration, base engine.Duration, below, above string) (e float64, from, to, problem string) {
	if took[0] < 0 {
		took[0], below = base, m.Value
	}
	if took[1] < 0 {
		took[1], above = base, m.Value
	}
	low, high := number(below), number(above)
	if low == high || took[0] <= 0 || took[1] <= 0 {
		return 0, below, above, "neither a lower nor a higher value makes a machine"
	}
	return math.Log(float64(took[1])/float64(took[0])) / math.Log(high/low), below, above, ""
}

func number(text string) float64 {
	v, _ := engine.ReadQuantity(text)
	return float64(v)
}

// kinds of quantities that can be a little more or less; counts and sizes are structure.
var smooth = []string{"a time", "a rate", "a frequency", "a number of cycles", "a share"}

// around returns values by so much below and above one; false when it is none that has them.
func around(value string, by float64) (below, above string, ok bool) {
	v, q := engine.ReadQuantity(value)
	if q == nil || v <= 0 || v == int64(engine.Unlimited) || !slices.Contains(smooth, q.Noun) {
		return "", "", false
	}
	d := max(1, int64(math.Round(float64(v)*by)))
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
