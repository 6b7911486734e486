package explain

import (
	"cmp"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/workloads"
)

// Twin is the workload on a machine of which one part is ideal.
type Twin struct {
	Name    string
	What    string   // what is ideal
	Sets    []string // as --set takes them
	Elapsed engine.Duration
	Saves   engine.Duration // of the time as it is; negative where the ideal part does harm, as a queue that fills earlier can
	Problem string          // why there is no such run
}

// Pair is what two ideal parts save together beyond what each saves alone: positive where one hides the other, negative
// where they save the same time twice.
type Pair struct {
	A, B    string
	Saves   engine.Duration
	Beyond  engine.Duration
	Problem string
}

// kinds of twins, in the order in which a call meets the parts.
type variant struct {
	name, what string
	sets       func(w *workloads.Workload) []string
}

func always(sets ...string) func(*workloads.Workload) []string {
	return func(*workloads.Workload) []string { return sets }
}

var variants = []variant{
	{"skew", "all ranks start together and are equally fast", func(w *workloads.Workload) []string {
		if s := &w.Config.Skew; len(s.Offsets) == 0 && s.Random == 0 && len(s.Slow) == 0 {
			return nil
		}
		return []string{"skew={}"}
	}},
	{"software", "the API's software costs nothing", func(w *workloads.Workload) []string {
		if !w.Doc.Has("call.software") {
			return nil
		}
		return []string{"call.software.first=0 ps", "call.software.each=0 ps"}
	}},
	{"launch", "kernel launch costs nothing", always(zero("aiv.launch.first", "aiv.launch.block", "aiv.launch.notice")...)},
	{"scalar", "scalar code, counts and index cost nothing", always(zero("aiv.scalar.read", "aiv.scalar.write", "aiv.scalar.visible", "aiv.scalar.coalesce")...)},
	{"simt_build", "SIMT lanes write SQEs in no time", always(zero("aiv.simt.entry", "urma.build.wqe", "urma.build.sge", "urma.build.nop")...)},
	{"doorbell", "doorbells cost nothing", always(zero("urma.doorbell.issue", "urma.doorbell.latency")...)},
	{"urma", "queues cost nothing: building, ringing, fetching, gathering, completing", always("machine.urma.kind=ideal")},
	{"stage_ring", "MTE2 and MTE3 move a piece in no time", always("machine.ub.kind=ideal")},
	{"memory", "HBM and L2 have no latency and no limit", always("machine.memory.kind=ideal")},
	{"remote_mte", "remote MTE has no limit and no endpoint", always("machine.aiv.remote.hop=0 ps", "machine.aiv.remote.rate=unlimited")},
	{"vector", "the vector unit combines in no time", always("machine.aiv.vector.kind=ideal")},
	{"barrier", "signals are issued and served in no time, and seen at once", always(append(zero("aiv.signal.issue", "aiv.signal.shared",
		"aiv.signal.single", "aiv.signal.local", "aiv.signal.read", "aiv.signal.tnotify", "aiv.signal.twait"), "machine.aiv.poll.kind=ideal")...)},
	{"polls", "a poll sees what is there at once", always("machine.aiv.poll.kind=ideal")},
	{"fences", "fence and PIPE_ALL cost nothing", always(zero("aiv.fence", "aiv.pipe_barrier")...)},
	{"fabric", "the fabric has no latency and no limit", always("machine.fabric.kind=ideal")},
	{"bandwidth", "nothing is shared: all rates without limit, all latencies as they are", unlimited},
}

// unlimited takes the limits of all rates away and keeps the latencies: what is left is the longest chain of steps that
// wait for each other.
func unlimited(w *workloads.Workload) []string {
	l, err := w.Config.Machine.Limits(w.Config.Ranks)
	if err != nil || w.Config.Ranks < 2 {
		return nil
	}
	return []string{"machine.fabric.kind=ideal", "machine.fabric.ideal.latency=" + l.Latency(0, 1).String(), "machine.memory.hbm.rate=unlimited",
		"machine.memory.l2.rate=unlimited", "machine.ub.load=unlimited", "machine.ub.store=unlimited", "machine.aiv.remote.rate=unlimited"}
}

// twins prepares a run for each part that can be ideal.
func (x *Explanation) twins(w *workloads.Workload) (runs []run) {
	for _, v := range variants {
		if sets := v.sets(w); len(sets) > 0 {
			x.Twins = append(x.Twins, Twin{Name: v.name, What: v.what, Sets: sets})
		}
	}
	for i := range x.Twins {
		t := &x.Twins[i]
		runs = append(runs, run{sets: t.Sets, into: func(d engine.Duration, err error) {
			if t.Elapsed = d; err != nil {
				t.Problem = err.Error()
				return
			}
			t.Saves = x.Base.Result.Elapsed - d
		}})
	}
	return runs
}

// notable is the share of the time from which on a twin is worth a pair.
const notable = 0.02

// pairs prepares runs with two parts ideal, of the three that save most.
func (x *Explanation) pairs(*workloads.Workload) (runs []run) {
	var most []*Twin
	for i := range x.Twins {
		if t := &x.Twins[i]; t.Problem == "" && t.Name != "bandwidth" && share(t.Saves, x.Base.Result.Elapsed) >= notable {
			most = append(most, t)
		}
	}
	slices.SortStableFunc(most, func(a, b *Twin) int { return cmp.Compare(b.Saves, a.Saves) })
	most = most[:min(3, len(most))]
	for i, a := range most {
		for _, b := range most[i+1:] {
			if !within(a.Sets, b.Sets) && !within(b.Sets, a.Sets) {
				x.Pairs = append(x.Pairs, Pair{A: a.Name, B: b.Name})
			}
		}
	}
	for i := range x.Pairs {
		p := &x.Pairs[i]
		a, b := x.twin(p.A), x.twin(p.B)
		runs = append(runs, run{sets: append(append([]string{}, a.Sets...), b.Sets...), into: func(d engine.Duration, err error) {
			if err != nil {
				p.Problem = err.Error()
				return
			}
			p.Saves = x.Base.Result.Elapsed - d
			p.Beyond = p.Saves - a.Saves - b.Saves
		}})
	}
	return runs
}

// within reports whether all of a's settings are b's, too.
func within(a, b []string) bool {
	for _, s := range a {
		if !slices.ContainsFunc(b, func(t string) bool { return strings.EqualFold(s, t) }) {
			return false
		}
	}
	return true
}

func (x *Explanation) twin(name string) *Twin {
	return &x.Twins[slices.IndexFunc(x.Twins, func(t Twin) bool { return t.Name == name })]
}

// order sorts what the runs say: the largest first.
func (x *Explanation) order() {
	slices.SortStableFunc(x.Twins, func(a, b Twin) int { return cmp.Compare(b.Saves, a.Saves) })
	slices.SortStableFunc(x.Moves, func(a, b Move) int { return cmp.Compare(abs(b.Elasticity), abs(a.Elasticity)) })
}

func abs(x float64) float64 { return max(x, -x) }
