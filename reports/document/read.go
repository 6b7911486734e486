package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Write writes a document as indented JSON. A document that says nonsense, a NaN above
// all, is an error, and nothing is written.
func (d *Document) Write(w io.Writer) error {
	if err := d.Check(); err != nil {
		return err
	}
	return Encode(w, d)
}

// Encode writes any document as indented JSON, all of it or nothing.
func Encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// maxFile is more than any honest document.
const maxFile = 1 << 30

// Read reads a document. Whatever this version does not know is an error.
func Read(r io.Reader) (*Document, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("longer than %d bytes", maxFile)
	}
	if err := readHead(b); err != nil {
		return nil, err
	}
	d, dec := new(Document), json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(d); err != nil {
		return nil, where(b, dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, where(b, dec.InputOffset(), errors.New("something follows the document"))
	}
	return d, d.Check()
}

// readHead says whether b is a whole document of this version.
func readHead(b []byte) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return errors.New("the file is empty")
	}
	var head struct {
		Schema  any  `json:"schema"`
		Version any  `json:"version"`
		Kind    Kind `json:"kind"`
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&head); err != nil {
		return where(b, dec.InputOffset(), err)
	}
	version, _ := head.Version.(float64)
	switch old, isOld := head.Schema.(float64); {
	case isOld:
		return fmt.Errorf("this is a report of schema %v, older than %s version %d, which this pldperf reads; write it again", old, Schema, Version)
	case head.Schema != Schema:
		return fmt.Errorf("this is no result of pldperf: its schema is not %q", Schema)
	case version > Version:
		return fmt.Errorf("%s version %v is newer than version %d, which this pldperf reads; read it with a newer pldperf", Schema, head.Version, Version)
	case version != Version:
		return fmt.Errorf("%s version %v is not version %d, which this pldperf reads; write it again", Schema, head.Version, Version)
	case !slices.Contains(Kinds(), head.Kind):
		return fmt.Errorf("a document of kind %q cannot be read back; there are %s", head.Kind, list(Kinds()))
	}
	return nil
}

// list names kinds.
func list(kinds []Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// where adds to an error of the decoder the place that it speaks of.
func where(b []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the file is cut off: it ends within the document, after %d bytes", len(b))
	case errors.As(err, &syntax):
		offset, err = syntax.Offset, fmt.Errorf("no JSON: %s", syntax)
	case errors.As(err, &typed):
		offset, err = typed.Offset, fmt.Errorf("%s is no place for a JSON %s", cmp.Or(typed.Field, "a document"), typed.Value)
	}
	before := b[:min(max(offset, 0), int64(len(b)))]
	return fmt.Errorf("line %d: %s", 1+bytes.Count(before, []byte("\n")), strings.TrimPrefix(err.Error(), "json: "))
}
