package result

import (
	"fmt"

	"pldperf/engine"
)

// Perturbed says how a run ends when ranks start at other times, are slower, and what
// happens at one instant happens in another order.
type Perturbed struct {
	Spread engine.Duration `json:"spread_ps"`   // within which the ranks start
	Data   string          `json:"data_digest"` // of the run without any of that
	Runs   []PerturbedRun  `json:"runs"`
}

// PerturbedRun is one of the runs.
type PerturbedRun struct {
	Seed    uint64          `json:"seed"`
	Status  Status          `json:"status"`
	Elapsed engine.Duration `json:"elapsed_ps"`
	Data    string          `json:"data_digest"` // of the promised buffers and the signals at the end
	Same    bool            `json:"same_data"`
}

// OK reports whether all runs ended well and with the same data.
func (p *Perturbed) OK() bool {
	for i := range p.Runs {
		if r := &p.Runs[i]; r.Status != OK || !r.Same {
			return false
		}
	}
	return true
}

// String says in a sentence how the runs ended.
func (p *Perturbed) String() string {
	head := fmt.Sprintf("%d perturbed runs (ranks start within %v, up to twice as slow, ties in another order)", len(p.Runs), p.Spread)
	if p.OK() {
		return fmt.Sprintf("%s: all are ok and leave the same data, digest %s", head, p.Data)
	}
	different, bad := 0, 0
	worst := PerturbedRun{}
	for _, r := range p.Runs {
		if !r.Same {
			different++
		}
		if r.Status != OK {
			bad++
		}
		if worst.Seed == 0 && (!r.Same || r.Status != OK) {
			worst = r
		}
	}
	return fmt.Sprintf("%s: %d leave other data, %d are not ok; the first is seed %d, %s, digest %s instead of %s",
		head, different, bad, worst.Seed, worst.Status, worst.Data, p.Data)
}
