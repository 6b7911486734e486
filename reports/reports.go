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
	"fmt"
	"io"
	"slices"

	"pldperf/hw/result"
	"pldperf/reports/document"
)

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
	Width   int    // columns of text; 0 is DefaultWidth, less than 60 counts as 60
	Program string // the version of pldperf, for JSON
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
type KV = document.KV

// listing is the JSON of what is no result and is not read back.
type listing struct {
	document.Head
	Cost       *Cost           `json:"cost,omitempty"`
	Operations []OperationForm `json:"operations,omitempty"`
	Programs   *SideBySide     `json:"ir,omitempty"`
	Rows       []IRRow         `json:"rows,omitempty"`
	Steps      []result.Step   `json:"steps,omitempty"`
	Causes     []Word          `json:"causes,omitempty"`
}

// Write writes the listing as JSON.
func (l *listing) Write(w io.Writer) error { return document.Encode(w, l) }

// writable is a document or a listing.
type writable interface{ Write(w io.Writer) error }

// artefact is anything with the four forms.
type artefact interface {
	check() error
	page() *page
	records() [][]string // CSV, with its heading
	document(program string) writable
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
		return a.document(o.Program).Write(w)
	}
	_, err := ParseFormat(string(f))
	return err
}
