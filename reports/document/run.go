package document

import (
	"errors"
	"fmt"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
)

// Unknown is the value of a counter in Run.Formula that no formula predicts.
const Unknown = -1

// KV is a named value, in an order that matters.
type KV struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Leaf is one value of the configuration that was run, with everything merged in that
// it is based on.
type Leaf struct {
	Path   string `json:"path"`             // such as machine.aiv.clock
	Value  string `json:"value"`            // as a file writes it, with its unit
	Low    string `json:"low,omitempty"`    // of a value with a range
	High   string `json:"high,omitempty"`   //
	Kind   Source `json:"kind"`             // how well it is known, or who said so
	Text   string `json:"source,omitempty"` // what its source comment says
	File   string `json:"file,omitempty"`   // where it stands: a file, or a flag
	Line   int    `json:"line,omitempty"`   //
	Unread bool   `json:"unread,omitempty"` // the models that were chosen do not read it
	Absent bool   `json:"absent,omitempty"` // of a point: only the sweep's first run has it
}

// Source says where a value comes from.
type Source string

// The sources of values.
const (
	Documented Source = "src"     // a document says so
	Fitted     Source = "fit"     // fitted to published data
	Assumed    Source = "est"     // reasoned
	User       Source = "user"    // overridden by the user's file or flag
	Stated     Source = "file"    // the workload's file says so
	Default    Source = "default" // no file says anything
)

// Run is a run in full: all that the cost card shows. Only Title and Result are needed;
// what is empty is left out, but for the start skew, which is said even when it is 0.
type Run struct {
	Title    string            `json:"title"`                     // e.g. "indexed_all_to_all_v, 8 ranks, core_num 16"
	Inputs   []KV              `json:"inputs"`                    // for people: machine, op, ranks, core_num, H, dtype, routing, payload, seeds, skew ...
	Config   []Leaf            `json:"config,omitempty"`          // for programs: every value
	Result   *result.Result    `json:"result"`                    // what the machine left behind
	Formula  []result.Counters `json:"formula"`                   // for each rank over the timed calls; -1 where there is none
	Formulas []KV              `json:"formulas"`                  // counter -> how it is predicted
	Bound    Bound             `json:"bound"`                     //
	Size     engine.Bytes      `json:"size_bytes"`                // mean bytes that a rank gives to one rank; 0 is unknown
	Params   ParamCount        `json:"parameters"`                //
	SQDepth  int64             `json:"sq_depth_wqebb"`            // of a send queue; 0 when there is none
	Notes    []string          `json:"notes"`                     //
	Outside  []Outside         `json:"outside_fit,omitempty"`     // how the run lies beyond what was measured; none: it does not
	Clock    *BenchClock       `json:"benchmark_clock,omitempty"` // of a benchmark whose clock does not cover all of a call
	Band     *Band             `json:"band,omitempty"`            // none: parameters were not drawn
}

// BenchClock is what the clock of a benchmark would have shown, where that is not the
// elapsed time.
type BenchClock struct {
	Time   engine.Duration `json:"time_ps"`     // the mean over the timed calls; what validate compares
	Calls  int             `json:"timed_calls"` //
	Covers string          `json:"covers"`      // in words
}

// Outside is one way in which a run lies beyond what was measured: a prediction there is
// an extrapolation.
type Outside struct {
	What  string `json:"what"`            // bytes a peer, ranks, a parameter's path ...
	Value string `json:"value,omitempty"` // of the run
	Known string `json:"known"`           // what is: "measured: 2 to 8, URMA writes"
}

// String says all of it: "bytes a peer 4 KiB (measured: 1 MiB to 64 MiB, URMA writes)".
func (o Outside) String() string {
	text := o.What
	if o.Value != "" {
		text += " " + o.Value
	}
	return text + " (" + o.Known + ")"
}

// OutsideText is all of a run on one line; empty where it lies within.
func OutsideText(all []Outside) string {
	var parts []string
	for _, o := range all {
		parts = append(parts, o.String())
	}
	return strings.Join(parts, "; ")
}

// Bound is the time that no schedule can beat. Total is at least each part; the
// largest part is what binds.
type Bound struct {
	Total engine.Duration `json:"total_ps"`
	Parts []BoundPart     `json:"parts"`
}

// BoundPart is the bound that one resource gives by itself.
type BoundPart struct {
	Name string          `json:"name"`
	Time engine.Duration `json:"time_ps"`
	What string          `json:"what,omitempty"` // it counts
}

// Binds returns the part that binds, nil when there are none.
func (b *Bound) Binds() (part *BoundPart) {
	for i := range b.Parts {
		if part == nil || b.Parts[i].Time > part.Time {
			part = &b.Parts[i]
		}
	}
	return part
}

// ParamCount says how well the machine's parameters are known.
type ParamCount struct {
	Documented          int      `json:"documented"`
	Fitted              int      `json:"fitted"`
	Assumed             int      `json:"assumed"`
	User                int      `json:"user"`                            // set by the user's file or flags
	AssumedThatMattered []string `json:"assumed_that_mattered,omitempty"` // paths of assumed values that this run used
	Outside             []string `json:"outside_fitted_range,omitempty"`  // values beyond the data that they were fitted to
	Unread              []string `json:"set_but_not_read,omitempty"`      // settings that this run had no use for
}

// Metrics are the headline figures of a run, derived from it. Rates and shares are 0
// where Defined is false: the run took no time or did not finish.
type Metrics struct {
	Status  result.Status   `json:"status"`
	Elapsed engine.Duration `json:"elapsed_ps"`
	Defined bool            `json:"rates_defined"`
	Algbw   engine.Rate     `json:"algbw_bytes_per_s"` // mean bytes a rank gives to all ranks, itself included, / elapsed
	Busbw   engine.Rate     `json:"busbw_bytes_per_s"` // remote bytes of the busiest rank (the larger of sent and received) / elapsed
	Wire    engine.Rate     `json:"wire_bytes_per_s"`  // mean remote bytes that a rank sends / elapsed
	Bound   engine.Duration `json:"bound_ps"`
	BoundBy string          `json:"bound_by"`
	Reached engine.Fraction `json:"bound_reached_millionths"` // bound / elapsed
	PerRank Spread          `json:"rank_elapsed"`
	Exit    Spread          `json:"barrier_exit"` // of the last timed call, from the call's start
	Skew    engine.Duration `json:"start_skew_ps"`
	PeakSQ  int64           `json:"peak_sq_wqebb"`
	PeakAt  int             `json:"peak_sq_rank"`
}

// Spread is the least, the mean (rounded to a picosecond) and the greatest of a time over ranks.
type Spread struct {
	Min    engine.Duration `json:"min_ps"`
	Mean   engine.Duration `json:"mean_ps"`
	Max    engine.Duration `json:"max_ps"`
	MinAt  int             `json:"min_rank"`
	MaxAt  int             `json:"max_rank"`
	Values int             `json:"ranks"` // how many there were
}

// Check says what does not fit together, if anything: reports index ranks and calls.
func (r *Run) Check() error {
	if r.Result == nil {
		return errors.New("a cost card needs a result")
	}
	if err := r.Band.Check(); err != nil {
		return err
	}
	return checkResult(r.Result, len(r.Formula))
}

func checkResult(r *result.Result, formulas int) error {
	if r.Schema != result.Schema {
		return fmt.Errorf("the result has schema %d; this program reads schema %d", r.Schema, result.Schema)
	}
	if formulas != 0 && formulas != len(r.Ranks) {
		return fmt.Errorf("the card has formulas for %d ranks, its result has %d", formulas, len(r.Ranks))
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Call < 0 || b.Call >= len(r.Calls) || b.Rank < 0 || b.Rank >= len(r.Ranks) {
			return fmt.Errorf("the account of call %d, rank %d, block %d belongs to no call or rank of the result", b.Call, b.Rank, b.Block)
		}
	}
	for i := range r.Calls {
		if n := len(r.Calls[i].Ranks); n != 0 && n != len(r.Ranks) {
			return fmt.Errorf("call %d has %d ranks, the result has %d", i, n, len(r.Ranks))
		}
	}
	return nil
}
