package configs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// What an honest file stays far below; it bounds what a hostile one can cost.
const (
	maxYAML  = 1 << 20 // bytes; a file of this size takes half a second
	maxNodes = 300_000 // values, aliases followed
	maxDepth = 64      // levels of nesting, aliases followed
	maxKey   = 200     // bytes of a key
)

// Load parses one YAML document; name is what messages show as its file.
// Anchors, aliases and merge keys (<<) are followed. Duplicate keys, explicit
// tags, an empty file and whatever is no YAML are Problems.
func Load(name string, data []byte) (*Doc, error) {
	top, problems := parse(name, data)
	if problems != nil {
		return nil, problems.err()
	}
	l := loader{file: name}
	root := l.node(top, 0)
	if err := l.problems.err(); err != nil {
		return nil, err
	}
	return &Doc{root: root}, nil
}

// parse leaves the syntax to the YAML library and its errors in our form.
func parse(name string, data []byte) (*yaml.Node, Problems) {
	problems := checkText(name, data)
	if problems != nil {
		return nil, problems
	}
	var document yaml.Node
	limits := loaderlimits.New(loaderlimits.DepthValue(2 * maxDepth))
	err := yaml.Load(data, &document, yaml.WithPlugin(limits))
	var at *yaml.LoadError
	switch {
	case err == nil && len(document.Content) == 1:
		return document.Content[0], nil
	case err == nil || strings.Contains(err.Error(), "no documents"):
		problems.add(position{name, 1, 1}, "", "empty: it holds no value")
	case strings.Contains(err.Error(), "found multiple"):
		problems.add(position{name, 1, 1}, "", "it holds several documents (---); want one")
	case errors.As(err, &at):
		problems.add(position{name, max(1, at.Mark.Line), max(1, at.Mark.Column)}, "", "%s", explain(at, data))
	default:
		problems.add(position{name, 1, 1}, "", "%v", err)
	}
	return nil, problems
}

// explain adds to the library's message what began where, and says what is
// wrong with a tab, which it takes for a stray character.
func explain(e *yaml.LoadError, data []byte) string {
	lines := strings.Split(string(data), "\n")
	if n := e.Mark.Line - 1; n >= 0 && n < len(lines) && strings.HasPrefix(strings.TrimLeft(lines[n], " "), "\t") {
		return "the line is indented by a tab; use spaces"
	}
	if e.ContextMsg == "" || e.ContextMark == e.Mark {
		return e.Message
	}
	return fmt.Sprintf("%s %s that began at %d:%d", e.Message, e.ContextMsg, e.ContextMark.Line, e.ContextMark.Column)
}

// checkText finds what the YAML library reports without a position.
func checkText(name string, data []byte) (problems Problems) {
	if len(data) > maxYAML {
		problems.add(position{file: name}, "", "larger than %d MiB, which no configuration is", maxYAML>>20)
		return problems
	}
	line, col := 1, 1
	for i := 0; i < len(data); col++ {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || !printable(r) {
			problems.add(position{name, line, col}, "", "the byte 0x%02x is no text; is this a YAML file in UTF-8?", data[i])
			return problems
		}
		if r == '\n' {
			line, col = line+1, 0
		}
		i += size
	}
	return nil
}

// printable is what YAML 1.2, 5.1, allows in a file.
func printable(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0xa0:
		return r < 0x7f || r == 0x85
	}
	return r != 0xfffe && r != 0xffff
}

// loader turns the library's nodes into ours.
type loader struct {
	file     string
	nodes    int
	full     bool // a limit was reported
	problems Problems
}

func (l *loader) at(y *yaml.Node) position { return position{l.file, y.Line, y.Column} }

// node converts y and what is below it. A fault leaves a hole, which is fine:
// a document with a fault is not used.
func (l *loader) node(y *yaml.Node, depth int) *node {
	n := &node{at: l.at(y), source: readSource(y.LineComment)}
	if l.nodes++; l.nodes > maxNodes || depth > maxDepth {
		l.exceeded(n.at, depth)
		return n
	}
	if y.Style&yaml.TaggedStyle != 0 {
		l.problems.add(n.at, "", "the explicit type %s is not supported; leave it out", quote(y.Tag))
	}
	switch y.Kind {
	case yaml.AliasNode:
		target := *l.node(y.Alias, depth+1)
		target.at = n.at
		if n.source.kind != KindNone {
			target.source = n.source
		}
		return &target
	case yaml.MappingNode:
		l.table(n, y, depth)
	case yaml.SequenceNode:
		n.shape = list
		for _, item := range y.Content {
			n.items = append(n.items, l.node(item, depth+1))
		}
	default:
		n.text = y.Value
		n.plain = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
		n.null = n.plain && slices.Contains(nulls, n.text) // the library leaves a lone one at the top unresolved
	}
	n.adopt()
	return n
}

// nulls are the spellings of no value, YAML 1.2, 10.3.2.
var nulls = []string{"", "~", "null", "Null", "NULL"}

// exceeded reports a limit once: a bomb would repeat it a million times.
func (l *loader) exceeded(at position, depth int) {
	switch {
	case l.full:
	case depth > maxDepth:
		l.problems.add(at, "", "nested more than %d deep", maxDepth)
	default:
		l.problems.add(at, "", "more than %d values, aliases followed", maxNodes)
	}
	l.full = true
}

// adopt gives a leaf without a comment of its own the first one inside it.
func (n *node) adopt() {
	if !n.leaf() {
		return
	}
	for _, c := range n.items {
		if n.source.kind == KindNone {
			n.source = c.source
		}
	}
}

func (l *loader) table(n *node, y *yaml.Node, depth int) {
	n.shape = table
	lines := make(map[string]int, len(y.Content)/2)
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], l.node(y.Content[i+1], depth+1)
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if message := badKey(key); message != "" {
			l.problems.add(l.at(key), "", "%s", message)
			continue
		}
		if line, double := lines[key.Value]; double {
			l.problems.add(l.at(key), join("", key.Value), "duplicate key; it is on line %d already", line)
			continue
		}
		lines[key.Value] = key.Line
		n.keys, n.items = append(n.keys, key.Value), append(n.items, value.under(l.at(key), readSource(key.LineComment)))
	}
	for _, m := range merged {
		l.inherit(n, m, lines)
	}
}

// badKey says why a node cannot be a key, or nothing.
func badKey(key *yaml.Node) string {
	switch {
	case key.Kind != yaml.ScalarNode:
		return "a key must be plain text, not " + map[yaml.Kind]string{
			yaml.MappingNode: "a section", yaml.SequenceNode: "a list", yaml.AliasNode: "an alias"}[key.Kind]
	case key.Value == "":
		return "a key is empty"
	case len(key.Value) > maxKey:
		return "a key is longer than " + fmt.Sprint(maxKey) + " bytes"
	case key.Style&yaml.TaggedStyle != 0:
		return "a key has an explicit type"
	}
	return ""
}

// under notes where the key of n stands. A comment on the key's line serves a
// leaf that continues below it, and faults in a block are shown at its key.
func (n *node) under(key position, s source) *node {
	n.key = key
	if n.leaf() && n.source.kind == KindNone {
		n.source = s
	}
	if n.shape != scalar && n.at.line != key.line {
		n.at = key
	}
	return n
}

// inherit adds the keys of a merge key's value that the table does not have itself.
func (l *loader) inherit(n, from *node, lines map[string]int) {
	switch from.shape {
	case table:
		for i, key := range from.keys {
			if _, own := lines[key]; !own {
				lines[key] = from.items[i].key.line
				n.keys, n.items = append(n.keys, key), append(n.items, from.items[i])
			}
		}
	case list:
		for _, item := range from.items {
			if item.shape == list {
				break
			}
			l.inherit(n, item, lines)
		}
	default:
		l.problems.add(from.at, "<<", "want a section to take keys from, got %s", from.describe())
	}
}
