package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault of the user's input and where it is.
type Problem struct {
	File    string // a path, or the flag ("--set fabric.port.rate") that brought the value
	Line    int    // from 1; 0 when the value came by a flag
	Col     int    // in characters, from 1
	Path    string // of the key, as --set takes it; empty when the file as a whole is meant
	Message string // what is wrong, and what would be right
}

// Error prints "file:line:col: path: message", without the parts that are
// unknown. A flag that names the path itself is not followed by it again.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Col)
	}
	if p.Path != "" && !(p.Line == 0 && strings.HasSuffix(p.File, " "+p.Path)) {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(p.Path)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems are all the faults of an input, sorted by file and position.
type Problems []Problem

// shown bounds what a hopeless file prints.
const shown = 50

// Error prints one problem a line, and only counts those after the first 50.
func (p Problems) Error() string {
	var lines []string
	for i, one := range p {
		if i == shown {
			lines = append(lines, fmt.Sprintf("... and %d more problems", len(p)-shown))
			break
		}
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "\n")
}

// err returns the problems, sorted and each once, or nil if there are none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	p = slices.Clone(p)
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			strings.Compare(a.Path, b.Path))
	})
	return slices.Compact(p)
}

// add notes a problem at a position.
func (p *Problems) add(at position, path, format string, args ...any) {
	*p = append(*p, Problem{File: at.file, Line: at.line, Col: at.col, Path: path, Message: fmt.Sprintf(format, args...)})
}

// quote shows the user's own text in a message, shortened if long.
func quote(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return fmt.Sprintf("%q", string(r[:most])+"...")
	}
	return fmt.Sprintf("%q", text)
}

// Fault returns a problem with the value of d, for faults that only its reader
// can find.
func (d *Doc) Fault(format string, args ...any) Problems {
	return Problems{{File: d.where.file, Line: d.where.line, Col: d.where.col, Path: d.path, Message: fmt.Sprintf(format, args...)}}
}
