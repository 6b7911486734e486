package document

import (
	"fmt"
	"math"

	"pldperf/engine"
)

// Explanation says where the time of a run goes and what would change it. Each line but the run itself stands for one
// more simulation, or two, whose settings are named.
type Explanation struct {
	Run    Run            `json:"run"`
	Twins  []Twin         `json:"ideal_parts"`
	Pairs  []TwinPair     `json:"ideal_pairs,omitempty"`
	Moves  []Move         `json:"sensitivities,omitempty"`
	Blocks []CoreNumPoint `json:"core_num,omitempty"`
}

// Twin is the run on a machine of which one part is ideal.
type Twin struct {
	Name    string          `json:"name"`
	What    string          `json:"what"`
	Sets    []string        `json:"settings"` // as --set takes them
	Elapsed engine.Duration `json:"elapsed_ps"`
	Saves   engine.Duration `json:"saves_ps"` // of the run's time; negative where the ideal part does harm
	Problem string          `json:"problem,omitempty"`
}

// TwinPair is what two ideal parts save together.
type TwinPair struct {
	A       string          `json:"a"`
	B       string          `json:"b"`
	Saves   engine.Duration `json:"saves_ps"`
	Beyond  engine.Duration `json:"beyond_both_ps"` // more, or if negative less, than each alone
	Problem string          `json:"problem,omitempty"`
}

// Move is how the time follows a parameter: the change of the time in per cent for a change of the parameter by one.
type Move struct {
	Path       string   `json:"path"`
	Value      string   `json:"value"`
	Kind       Source   `json:"kind"` // how well it is known
	Below      string   `json:"below"`
	Above      string   `json:"above"`
	Elasticity float64  `json:"percent_per_percent"`
	Half       *float64 `json:"percent_per_percent_half_step,omitempty"` // the same for half the change; only of those that weigh
	Unsteady   bool     `json:"unsteady,omitempty"`                      // the two differ so much that it is no slope: a step, or chance
	Problem    string   `json:"problem,omitempty"`
}

// CoreNumPoint is the time of the run with another core_num.
type CoreNumPoint struct {
	CoreNum int             `json:"core_num"`
	Elapsed engine.Duration `json:"elapsed_ps"`
	Problem string          `json:"problem,omitempty"`
	Outside []Outside       `json:"outside_fit,omitempty"` // how that run lies beyond what was measured; none: it does not
}

// Check says what is wrong with an explanation.
func (e *Explanation) Check() error {
	for _, m := range e.Moves {
		x := m.Elasticity
		if m.Half != nil {
			x += *m.Half
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("sensitivity to %s: %v is no number", m.Path, x)
		}
	}
	return e.Run.Check()
}
