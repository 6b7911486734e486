// Package document is the one file format of pldperf: what run, sweep, validate,
// calibrate and diff write as JSON, and what plot, report and diff read. A Document
// is plain data that says what it is (schema, version, kind), which pldperf wrote it,
// and holds one body, under the name of its kind. Whatever has a unit has it in its
// name; times are whole picoseconds, rates bytes a second, shares millionths, so that
// nothing is rounded. Reading is strict: another version, an unknown field, a value
// that fits no field, a file that is cut off are errors that say where. The JSON
// Schema of a document is made from these types and their comments.
package document

import (
	"fmt"
	"strings"
)

// Schema is the name of the format, in each document's field "schema".
const Schema = "pldperf/result"

// Version is the version of the format. It grows when a field is renamed, removed, or
// means something else. A new optional field does not change it: older files are
// still read, and older programs say that they do not know the field.
const Version = 2

// Kind says what a document holds.
type Kind string

// The kinds of documents. The first six can be read back.
const (
	KindRun         Kind = "run"
	KindSweep       Kind = "sweep"
	KindValidation  Kind = "validation"
	KindCalibration Kind = "calibration"
	KindDiff        Kind = "diff"
	KindExplanation Kind = "explanation"
	KindCost        Kind = "cost"       // formulas of calls
	KindOperations  Kind = "operations" // the registry of operations
	KindProgram     Kind = "ir"         // ops of a rank's block
	KindSteps       Kind = "steps"      // of WQEs
	KindCauses      Kind = "causes"     // words of cards: what time is spent on, figures, counters
)

// One is a document of the kind in words: a run, an explanation.
func (k Kind) One() string {
	if k != "" && strings.ContainsRune("aeiou", rune(k[0])) {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// Kinds lists the kinds that Read reads.
func Kinds() []Kind {
	return []Kind{KindRun, KindSweep, KindValidation, KindCalibration, KindDiff, KindExplanation}
}

// Head begins every document.
type Head struct {
	Schema  string `json:"schema"`            // always "pldperf/result"
	Version int    `json:"version"`           // of the format
	Kind    Kind   `json:"kind"`              // names the field that holds the body
	Program string `json:"pldperf,omitempty"` // the version of pldperf that wrote it
}

// NewHead returns the head of a document of this version.
func NewHead(k Kind, program string) Head {
	return Head{Schema: Schema, Version: Version, Kind: k, Program: program}
}

// Document is one file. Exactly one of the bodies is there, that of its kind. What
// stands beside a body is derived from it, for scripts; readers derive it again.
type Document struct {
	Head
	Summary     *Point       `json:"summary,omitempty"`     // of a run: what a point of a sweep keeps of it
	Metrics     *Metrics     `json:"metrics,omitempty"`     // of a run: its headline figures
	Run         *Run         `json:"run,omitempty"`         //
	Sweep       *Sweep       `json:"sweep,omitempty"`       //
	Races       []Race       `json:"races,omitempty"`       // of a sweep that compares algorithms
	Choices     []Choice     `json:"choices,omitempty"`     // of a sweep: what it recommends
	Validation  *Validation  `json:"validation,omitempty"`  //
	Calibration *Calibration `json:"calibration,omitempty"` //
	Diff        *Diff        `json:"diff,omitempty"`        //
	Explanation *Explanation `json:"explanation,omitempty"` //
}

// Points returns the runs of a document: one of a run, those of a sweep.
func (d *Document) Points() []Point {
	switch {
	case d.Summary != nil:
		return []Point{*d.Summary}
	case d.Sweep != nil:
		return d.Sweep.Points
	}
	return nil
}

// Check says what is wrong with a document's contents, if anything is.
func (d *Document) Check() error {
	bodies := []struct {
		kind  Kind
		there bool
		check func() error
	}{
		{KindRun, d.Run != nil, func() error { return d.Run.Check() }},
		{KindSweep, d.Sweep != nil, func() error { return d.Sweep.Check() }},
		{KindValidation, d.Validation != nil, func() error { return d.Validation.Check() }},
		{KindCalibration, d.Calibration != nil, func() error { return d.Calibration.Check() }},
		{KindDiff, d.Diff != nil, func() error { return d.Diff.Check() }},
		{KindExplanation, d.Explanation != nil, func() error { return d.Explanation.Check() }},
	}
	for _, b := range bodies {
		switch {
		case b.there != (b.kind == d.Kind) && b.there:
			return fmt.Errorf("a document of kind %s has no field %q", d.Kind, b.kind)
		case b.there != (b.kind == d.Kind):
			return fmt.Errorf("a document of kind %s needs the field %q", d.Kind, b.kind)
		case b.there:
			if err := b.check(); err != nil {
				return err
			}
		}
	}
	if (d.Summary != nil) != (d.Kind == KindRun) {
		return fmt.Errorf("a document of kind %s and the field \"summary\" belong together: only a run has one", KindRun)
	}
	if d.Summary != nil {
		return d.Summary.Check()
	}
	return nil
}
