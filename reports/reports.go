// Package reports turns results into what people and scripts read: the cost card of
// a run, the steps of its WQEs, the comparison of a sweep, two programs side by
// side; its subpackage plots draws the pictures. Everything here is a function of
// plain data: a report never asks a model, a file or a clock, so that the same data
// gives the same bytes, and a report can be written again from its own JSON. Each
// artefact has four forms. Text and markdown are for people and round what they
// show; CSV is tidy, with the unit in the name; JSON holds the data itself, exactly.
package reports

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"pldperf/hw/result"
)

// Schema is the version of the JSON documents that this package writes and reads.
const Schema = 1

// Format names a form of an artefact.
type Format string

// The formats.
const (
	Text     Format = "text"
	Markdown Format = "markdown"
	CSV      Format = "csv"
	JSON     Format = "json"
)

// Formats lists the formats.
func Formats() []Format { return []Format{Text, Markdown, CSV, JSON} }

// ParseFormat returns the format called name, or an error that lists them.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q; there are text, markdown, csv, json", name)
}

// Extension returns the ending of files in this format, with its dot.
func (f Format) Extension() string {
	switch f {
	case Text:
		return ".txt"
	case Markdown:
		return ".md"
	}
	return "." + string(f)
}

// Options say how to write an artefact. The zero value is ready.
type Options struct {
	Width int // columns of text; 0 is DefaultWidth, less than 60 counts as 60
}

// DefaultWidth is the width of text that no terminal asked for.
const DefaultWidth = 100

func (o Options) width() int {
	if o.Width == 0 {
		return DefaultWidth
	}
	return max(o.Width, 60)
}

// KV is a named value, in an order that matters.
type KV struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// document is the JSON of any artefact: one schema for all commands. Metrics and
// Choices are derived: they are for scripts, and a reader derives them again.
type document struct {
	Schema     int             `json:"schema"`
	Card       *Card           `json:"card,omitempty"`
	Metrics    *Metrics        `json:"metrics,omitempty"`
	Comparison *Comparison     `json:"comparison,omitempty"`
	Races      []Race          `json:"races,omitempty"`
	Choices    []Choice        `json:"choices,omitempty"`
	Steps      []result.Step   `json:"wqe_steps,omitempty"`
	IR         *SideBySide     `json:"ir,omitempty"`
	Rows       []IRRow         `json:"rows,omitempty"`
	Cost       *Cost           `json:"cost,omitempty"`
	Operations []OperationForm `json:"operations,omitempty"`
	Accuracy   *Accuracy       `json:"accuracy,omitempty"`
	Fit        *Calibration    `json:"calibration,omitempty"`
}

// artefact is anything with the four forms.
type artefact interface {
	check() error
	page() *page
	records() [][]string // CSV, with its heading
	document() document
}

func write(w io.Writer, f Format, o Options, a artefact) error {
	if err := a.check(); err != nil {
		return err
	}
	switch f {
	case Text:
		return a.page().text(w, o.width())
	case Markdown:
		return a.page().markdown(w)
	case CSV:
		return csv.NewWriter(w).WriteAll(a.records())
	case JSON:
		return writeJSON(w, a.document())
	}
	_, err := ParseFormat(string(f))
	return err
}

func writeJSON(w io.Writer, d document) error {
	d.Schema = Schema
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(d)
}

// readJSON reads a document and refuses another schema and anything unknown.
func readJSON(r io.Reader) (d document, err error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return d, err
	}
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return d, fmt.Errorf("no report: %w", err)
	}
	if head.Schema != Schema {
		return d, fmt.Errorf("report has schema %d; this program reads schema %d", head.Schema, Schema)
	}
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	return d, dec.Decode(&d)
}
