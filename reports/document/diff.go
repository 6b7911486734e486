package document

import (
	"fmt"
	"math"

	"pldperf/engine"
)

// Diff is what differs between two documents, A and B: inputs, results, and what the
// difference in time is made of. Changes are B - A.
type Diff struct {
	A          Side        `json:"a"`
	B          Side        `json:"b"`
	Equal      bool        `json:"equal"`                   // all results are within their tolerances
	Tolerances []Tolerance `json:"tolerances"`              // of all figures, then of single ones
	Inputs     []Changed   `json:"inputs"`                  // values that differ
	Pairs      []Pair      `json:"pairs"`                   // runs of both, the largest change in per cent of A first
	Rows       []RowPair   `json:"rows,omitempty"`          // of validations and calibrations, in place of pairs: the largest change first
	Parts      []PartPair  `json:"parts"`                   // over all pairs that were attributed: what their times are made of
	OnlyA      [][]KV      `json:"only_in_a,omitempty"`     // points without a partner, by their axes
	OnlyB      [][]KV      `json:"only_in_b,omitempty"`     //
	Notes      []string    `json:"notes,omitempty"`         //
	Largest    string      `json:"largest_cause,omitempty"` // the difference in a sentence
}

// Side is one of the two documents.
type Side struct {
	Name    string `json:"name"` // the file, or what was run
	Title   string `json:"title"`
	Kind    Kind   `json:"kind"`
	Program string `json:"pldperf,omitempty"`
	Points  int    `json:"points"` // runs, or rows of measurements, in it
}

// Tolerance is how far apart two figures may be and count as equal: a share of the
// larger one.
type Tolerance struct {
	Figure string          `json:"figure"` // "" is all that have none of their own
	Share  engine.Fraction `json:"millionths"`
}

// Changed is an input that differs. An absent value is empty.
type Changed struct {
	Path   string `json:"path"`
	A      string `json:"a"`
	B      string `json:"b"`
	FromA  string `json:"source_a,omitempty"` // where it stands, and what is known of it
	FromB  string `json:"source_b,omitempty"`
	Unread bool   `json:"unread,omitempty"` // neither run has read it
}

// Pair is two runs that belong together.
type Pair struct {
	Axes    []KV            `json:"axes,omitempty"`   // of a sweep's points
	Equal   bool            `json:"equal"`            // all figures and words are
	Change  engine.Duration `json:"change_ps"`        // of the elapsed time
	Inputs  []Changed       `json:"inputs,omitempty"` // that differ beyond those of the documents
	Words   []Word          `json:"words"`            //
	Figures []Figure        `json:"figures"`          //
	Basis   string          `json:"basis,omitempty"`  // what the parts are parts of
	Parts   []PartPair      `json:"parts"`            // their changes add up to Change exactly
	Note    string          `json:"note,omitempty"`   // why there are no parts, or what to know about them

	OutsideA []Outside `json:"outside_fit_a,omitempty"` // how A lies beyond what was measured; none: it does not
	OutsideB []Outside `json:"outside_fit_b,omitempty"` // how B does
}

// RowPair is one measurement as two validations or calibrations simulate it.
type RowPair struct {
	File      string  `json:"file"`
	Case      string  `json:"case"`
	Row       string  `json:"row"`
	Unit      string  `json:"unit"` // of measured and simulated
	MeasuredA float64 `json:"measured_a"`
	MeasuredB float64 `json:"measured_b"`
	A         float64 `json:"simulated_a"`
	B         float64 `json:"simulated_b"`
	Share     float64 `json:"change"`  // simulated_b / simulated_a - 1
	ErrorA    float64 `json:"error_a"` // simulated / measured - 1
	ErrorB    float64 `json:"error_b"`
	InsideA   bool    `json:"inside_a"` // its band
	InsideB   bool    `json:"inside_b"`
	Equal     bool    `json:"equal"` // within the tolerance, on the same side of the band, measured the same
}

// Figure is a number of both runs.
type Figure struct {
	Name   string           `json:"name"` // with its unit
	A      int64            `json:"a"`
	B      int64            `json:"b"`
	Change int64            `json:"change"`
	Share  *engine.Fraction `json:"change_millionths,omitempty"` // of A; none when A is 0
	Equal  bool             `json:"equal"`                       // within the tolerance
}

// Word is a text of both runs.
type Word struct {
	Name   string `json:"name"`
	A      string `json:"a"`
	B      string `json:"b"`
	Counts bool   `json:"counts"` // with this tolerance it has to be equal
}

// PartPair is a part of the elapsed time in both runs.
type PartPair struct {
	Name   string          `json:"name"`
	A      engine.Duration `json:"a_ps"`
	B      engine.Duration `json:"b_ps"`
	Change engine.Duration `json:"change_ps"`
}

// Check says which pair's parts do not add up, if any.
func (d *Diff) Check() error {
	for _, r := range d.Rows {
		for _, x := range []float64{r.MeasuredA, r.MeasuredB, r.A, r.B, r.Share, r.ErrorA, r.ErrorB} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%s: %s, %s: %v is no number", r.File, r.Case, r.Row, x)
			}
		}
	}
	for i := range d.Pairs {
		p := &d.Pairs[i]
		var sum engine.Duration
		for _, x := range p.Parts {
			if x.Change != x.B-x.A {
				return fmt.Errorf("pair %d: the change of %s is %d ps and not B - A", i, x.Name, x.Change)
			}
			sum += x.Change
		}
		if len(p.Parts) > 0 && sum != p.Change {
			return fmt.Errorf("pair %d: the parts change by %d ps, the elapsed time by %d ps", i, sum, p.Change)
		}
	}
	return nil
}
