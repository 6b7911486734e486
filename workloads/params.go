package workloads

import (
	"slices"
	"strings"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw/result"
)

// mattersFrom is the share of the slowest block's time from which a parameter that
// is part of it is named on the card.
const mattersFrom = 0.01

// labels are leaves of a machine file that are no parameters.
var labels = []string{"name", "title", "platform", "family", "preset", "based_on"}

// reads reports whether the chosen models read a machine parameter; the path is below
// machine.
func (w *Workload) reads(path string) bool {
	if slices.Contains(labels, path) || strings.HasSuffix(path, ".max_ranks") { // which no model reads
		return false
	}
	if w.ignored == nil {
		w.ignored = map[string]bool{}
		for _, p := range w.Doc.Unread(&w.Config, w.Uses) {
			w.ignored[p.Path] = true
		}
	}
	for at := "machine." + path; at != "machine"; at = at[:strings.LastIndexByte(at, '.')] {
		if w.ignored[at] {
			return false
		}
	}
	return true
}

// shares says in which reasons of a block's account a parameter's time shows up.
var shares = []struct {
	prefix  string
	reasons []result.Reason
}{
	{"aiv.launch.notice", []result.Reason{result.DependencyWait}},
	{"aiv.launch", []result.Reason{result.Launch}},
	{"aiv.scalar.coalesce", []result.Reason{result.Scalar}},
	{"aiv.scalar", []result.Reason{result.CountRead}},
	{"aiv.signal.tnotify", []result.Reason{result.SignalIssue}},
	{"aiv.simt", []result.Reason{result.SIMTBuild, result.SignalIssue}},
	{"aiv.signal", []result.Reason{result.SignalIssue, result.PollOvershoot, result.Fence}},
	{"aiv.poll", []result.Reason{result.PollOvershoot}},
	{"aiv.remote", []result.Reason{result.RemoteWait, result.CountRead}},
	{"aiv.fence", []result.Reason{result.Fence}},
	{"aiv.pipe_barrier", []result.Reason{result.PipeBarrier}},
	{"ub.", []result.Reason{result.MTE2, result.MTE3, result.StageWait}},
	{"sdma.issue", []result.Reason{result.Doorbell}},
	{"sdma.sqe", []result.Reason{result.Doorbell}},
	{"sdma.", []result.Reason{result.CQEWait}},
	{"urma.build", []result.Reason{result.SIMTBuild}},
	{"urma.doorbell.issue", []result.Reason{result.Doorbell}},
	{"urma.", []result.Reason{result.CQEWait}},
	{"fabric.", []result.Reason{result.CQEWait, result.RemoteWait, result.SignalWait}},
}

// occurrences bounds how often a single latency follows itself on one path of a call.
const occurrences = 16

// matters reports whether an assumed parameter could be more than a hundredth of the
// elapsed time: its part of the slowest block's account is, and, for a single latency,
// so is what it can add up to.
func matters(p configs.Param, path string, res *result.Result) bool {
	if influence(path, res) < mattersFrom {
		return false
	}
	high := p.High
	if high == "" {
		high = p.Value
	}
	var d engine.Duration
	if d.UnmarshalText([]byte(high)) != nil {
		return !strings.HasSuffix(path, "poll_occupies")
	}
	return float64(d)*occurrences >= mattersFrom*float64(res.Elapsed)
}

// influence returns the share of the slowest block's time in which a parameter can
// show up: an upper limit of what it matters, not a sensitivity.
func influence(path string, res *result.Result) float64 {
	b := Slowest(res)
	if b == nil || b.Time.Sum() == 0 {
		return 0
	}
	for _, s := range shares {
		if strings.HasPrefix(path, s.prefix) {
			var sum float64
			for _, r := range s.reasons {
				sum += float64(b.Time[r])
			}
			return sum / float64(b.Time.Sum())
		}
	}
	return 0
}

// Slowest returns the block that ended last in the longest timed call, the first of
// several: the one whose account explains the elapsed time.
func Slowest(res *result.Result) *result.Block {
	longest := -1
	for i := range res.Calls {
		if c := &res.Calls[i]; c.Timed && c.Op != "compute" && (longest < 0 || c.Elapsed > res.Calls[longest].Elapsed) {
			longest = i
		}
	}
	var best *result.Block
	for i := range res.Blocks {
		if b := &res.Blocks[i]; b.Call == longest && (best == nil || b.End > best.End) {
			best = b
		}
	}
	return best
}
