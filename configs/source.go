package configs

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Kind says how well a value is known.
type Kind uint8

// The kinds of sources, from the comment at the end of a leaf's line.
const (
	KindNone   Kind = iota // no source given
	Documented             // "# src: ...": a document says so
	Fitted                 // "# fit: ...": fitted to published data
	Assumed                // "# est: ...": reasoned; it should be shown wherever it matters
	User                   // the user's file or flag overrode it
)

var kindNames = [...]string{"none", "documented", "fitted", "assumed", "user"}

// String returns the word that reports use: "documented", "fitted", "assumed", "user", "none".
func (k Kind) String() string { return kindNames[k] }

// MarshalText returns String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// marks are the words that begin a source comment, by kind.
var marks = [...]string{Documented: "src", Fitted: "fit", Assumed: "est", User: "user"}

// source is what a leaf's trailing comment says.
type source struct {
	kind Kind
	text string
}

// readSource reads a comment such as "# fit: measured/x.csv".
func readSource(comment string) source {
	text := strings.TrimSpace(strings.TrimPrefix(oneLine(strings.ReplaceAll(comment, "\n#", " ")), "#"))
	for kind, mark := range marks {
		if rest, ok := strings.CutPrefix(text, mark+":"); ok && mark != "" {
			return source{Kind(kind), strings.TrimSpace(rest)}
		}
	}
	return source{}
}

// comment is readSource backwards; empty without a source.
func (s source) comment() string {
	if s.kind == KindNone {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf(" # %s: %s", marks[s.kind], oneLine(s.text)), " ")
}

// oneLine puts single spaces for whatever is no visible text.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }), " ")
}

// Param is a leaf of a document with its provenance. A value is as the file
// writes it ("53.1 GB/s", "[1, 2, 4]"); Low and High are empty unless the leaf
// is a band.
type Param struct {
	Path, Value, Low, High string
	Kind                   Kind
	Source                 string // the text of the source comment
	File                   string // as in Problem
	Line                   int    // as in Problem
}

// Params lists the leaves of the document, or of the parts at the given
// paths, in document order. Paths are those of the whole document.
func (d *Doc) Params(paths ...string) []Param {
	if len(paths) == 0 {
		paths = []string{""}
	}
	var params []Param
	for _, path := range paths {
		if part := d.At(path); part.root != nil {
			part.root.walk(part.path, func(path string, n *node) { params = append(params, n.param(path)) })
		}
	}
	return params
}

// walk calls f on every leaf below n in document order.
func (n *node) walk(path string, f func(path string, leaf *node)) {
	if n.leaf() {
		f(path, n)
		return
	}
	for i, c := range n.items {
		c.walk(join(path, n.name(i)), f)
	}
}

// name is the step that leads to item i.
func (n *node) name(i int) string {
	if n.shape == table {
		return n.keys[i]
	}
	return fmt.Sprint(i)
}

func (n *node) param(path string) Param {
	p := Param{Path: path, Kind: n.source.kind, Source: n.source.text, File: n.at.file, Line: n.at.line}
	if !n.band() {
		p.Value = n.show()
		return p
	}
	p.Value, p.Low, p.High = n.child("value").show(), n.child("low").show(), n.child("high").show()
	return p
}

// show prints a flat node as a person would write it.
func (n *node) show() string {
	switch {
	case n.null:
		return "null"
	case n.shape == scalar:
		return n.text
	}
	var parts []string
	for _, c := range n.items {
		parts = append(parts, c.show())
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// CheckSourced reports every leaf of a document, a machine file above all,
// that has no source comment or an empty one, except at the given paths
// (names and summaries need none). It returns nil if all is well.
func CheckSourced(d *Doc, except ...string) Problems {
	var problems Problems
	if d.root == nil {
		return nil
	}
	d.root.walk(d.path, func(path string, n *node) {
		switch {
		case slices.Contains(except, path):
		case n.source.kind == KindNone || n.source.kind == User:
			problems.add(n.at, path, "%s has no source; end the line with # src:, # fit: or # est:", n.param(path).Value)
		case n.source.text == "":
			problems.add(n.at, path, "the source of %s is empty; say which document, data or reasoning", n.param(path).Value)
		}
	})
	return problems
}
