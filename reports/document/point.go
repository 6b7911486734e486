package document

import (
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw/result"
)

// NotPossible is the status of a point that its algorithm cannot do; Problem says why.
const NotPossible result.Status = "not_possible"

// statuses are those that a point can have.
var statuses = []result.Status{result.OK, result.WrongData, result.Aborted, result.Deadlock, result.Hazardous, NotPossible}

// Point is a run cut down to what comparisons and plots need: the summary of a run, and
// what a sweep keeps of each of its runs. Rates are 0 when the run took no time or did
// not finish.
type Point struct {
	Axes     []KV            `json:"axes,omitempty"`          // where in the sweep, in the sweep's order; a run has none
	Status   result.Status   `json:"status"`                  // ok, or how the run failed
	Problem  string          `json:"problem,omitempty"`       // why the status is not ok
	Size     engine.Bytes    `json:"size_bytes"`              // the message that plots have on their axis; 0 is unknown
	Elapsed  engine.Duration `json:"elapsed_ps"`              // first launch of a timed call to the last block's end
	Bound    engine.Duration `json:"bound_ps"`                // no schedule is faster
	BoundBy  string          `json:"bound_by"`                // the resource that binds
	Bounds   []BoundPart     `json:"bounds,omitempty"`        // by resource
	Reasons  result.Times    `json:"slowest_block_ps"`        // account of the block that waited least for others
	Between  engine.Duration `json:"between_calls_ps"`        // time that no timed call covers
	Path     []Part          `json:"critical_path,omitempty"` // what the elapsed time was spent on, by cause
	Algbw    engine.Rate     `json:"algbw_bytes_per_s"`       // mean bytes a rank gives to all ranks, itself included, / elapsed
	Busbw    engine.Rate     `json:"busbw_bytes_per_s"`       // remote bytes of the busiest rank / elapsed
	Wire     engine.Rate     `json:"wire_bytes_per_s"`        // mean remote bytes that a rank sends / elapsed
	Limits   string          `json:"limited_by"`              // the bound that is near, or the longest reason
	Counters result.Counters `json:"counters"`                // over all ranks
	Busiest  []Resource      `json:"resources,omitempty"`     // the busiest of each kind
	PeakSQ   int64           `json:"peak_sq_wqebb"`           // the fullest send queue
	SQDepth  int64           `json:"sq_depth_wqebb"`          // of each; 0 when there are none
	Events   uint64          `json:"events"`                  //
	Digest   string          `json:"digest"`                  // of the result
	Order    string          `json:"digest_of_events,omitempty"`
	Outside  []Outside       `json:"outside_fit,omitempty"` // how the point lies beyond what was measured; none: it does not
	Draws    []Draw          `json:"draws,omitempty"`       // of the band, the same parameters at all points
	Config   []Leaf          `json:"config,omitempty"`      // values that differ from the sweep's first run and are no axis
}

// Resource is the busiest of the shared resources of one kind.
type Resource struct {
	Kind  string          `json:"kind"`  // such as port, hbm, nic engine
	Where string          `json:"where"` // such as 3 -> 5, rank 3
	Busy  engine.Duration `json:"busy_ps"`
	Bytes engine.Bytes    `json:"bytes"`
}

// Part is a named part of a time.
type Part struct {
	Name string          `json:"name"`
	Time engine.Duration `json:"time_ps"`
}

// Axis returns the point's value on an axis.
func (p *Point) Axis(name string) (string, bool) {
	for _, kv := range p.Axes {
		if kv.Key == name {
			return kv.Value, true
		}
	}
	return "", false
}

// Parts splits the elapsed time: the account of the slowest block by reason, and the
// time between calls. They add up to Elapsed exactly; if the account does not, which is
// a fault of the models, the part "unaccounted" says by how much.
func (p *Point) Parts() (parts []Part) {
	rest := p.Elapsed - p.Between
	for k, d := range p.Reasons {
		rest -= d
		if d != 0 {
			parts = append(parts, Part{result.Reason(k).String(), d})
		}
	}
	if p.Between != 0 {
		parts = append(parts, Part{"between_calls", p.Between})
	}
	if rest != 0 {
		parts = append(parts, Part{"unaccounted", rest})
	}
	return parts
}

// PathParts splits the elapsed time by the causes along the critical path, if the run
// has recorded them and they add up to it.
func (p *Point) PathParts() ([]Part, bool) {
	rest := p.Elapsed
	for _, x := range p.Path {
		rest -= x.Time
	}
	return p.Path, len(p.Path) > 0 && rest == 0
}

// Check says what is wrong with a point, if anything is.
func (p *Point) Check() error {
	if !slices.Contains(statuses, p.Status) {
		return fmt.Errorf("%q is no status of a run", p.Status)
	}
	if p.Elapsed < 0 || p.Bound < 0 || p.Size < 0 {
		return fmt.Errorf("a run has a negative time or size: elapsed_ps %d, bound_ps %d, size_bytes %d", p.Elapsed, p.Bound, p.Size)
	}
	return nil
}
