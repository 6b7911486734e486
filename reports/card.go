package reports

import (
	"errors"
	"fmt"
	"io"

	"pldperf/engine"
	"pldperf/hw/result"
)

// Unknown is the value of a counter in Card.Formula that no formula predicts.
const Unknown = -1

// Card is all that the cost card of one run shows. Only Title and Result are needed;
// what is empty is left out, but for the start skew, which is said even when it is 0.
type Card struct {
	Title    string            `json:"title"`    // e.g. "indexed_all_to_all_v, 8 ranks, core_num 16"
	Inputs   []KV              `json:"inputs"`   // machine, op, ranks, core_num, H, dtype, routing, payload, seeds, skew ...
	Result   *result.Result    `json:"result"`   //
	Formula  []result.Counters `json:"formula"`  // for each rank over the timed calls; Unknown where there is none
	Formulas []KV              `json:"formulas"` // counter -> how it is predicted
	Bound    Bound             `json:"bound"`
	Params   ParamCount        `json:"parameters"`
	SQDepth  int64             `json:"sq_depth_wqebb"` // of a send queue; 0 when there is none
	Notes    []string          `json:"notes"`
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
	What string          `json:"what"`
}

// binds returns the part that binds, nil when there are none.
func (b *Bound) binds() (part *BoundPart) {
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

// Write writes the card. A card that lacks its result, or whose lists do not fit
// the result's ranks, is an error.
func (c *Card) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, c) }

// ReadCard reads what Write wrote as JSON; the card writes the same again.
func ReadCard(r io.Reader) (*Card, error) {
	d, err := readJSON(r)
	if err != nil {
		return nil, err
	}
	if d.Card == nil {
		return nil, errors.New("the report holds no card")
	}
	return d.Card, d.Card.check()
}

func (c *Card) check() error {
	r := c.Result
	if r == nil {
		return errors.New("a cost card needs a result")
	}
	if r.Schema != result.Schema {
		return fmt.Errorf("the result has schema %d; this program reads schema %d", r.Schema, result.Schema)
	}
	if n := len(c.Formula); n != 0 && n != len(r.Ranks) {
		return fmt.Errorf("the card has formulas for %d ranks, its result has %d", n, len(r.Ranks))
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

func (c *Card) document() document {
	m := Measure(c)
	return document{Card: c, Metrics: &m}
}

// predicted returns the formula's value over all ranks; false when there is none.
func (c *Card) predicted(k result.Counter) (sum int64, ok bool) {
	for i := range c.Formula {
		if c.Formula[i][k] == Unknown {
			return 0, false
		}
		sum += c.Formula[i][k]
	}
	return sum, len(c.Formula) > 0
}

// formulaText returns how the counter is predicted.
func (c *Card) formulaText(k result.Counter) string {
	for _, f := range c.Formulas {
		if f.Key == k.String() {
			return f.Value
		}
	}
	return ""
}
