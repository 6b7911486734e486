package configs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Merge lays one document over another: tables merge key by key, everything
// else replaces. A value keeps the file, line and source of the document that
// it comes from; a leaf of over without a source comment gets kind User, and a
// band of which over gives a part does too. A section of over with nothing in
// it ("fabric:") changes nothing; an explicit null replaces. Neither document
// is changed, and either may be absent.
func Merge(base, over *Doc) *Doc {
	switch {
	case over == nil || over.root == nil:
		return base
	case base == nil || base.root == nil:
		return &Doc{root: over.root.byUser(), path: over.path}
	}
	return &Doc{root: merge(base.root, over.root), path: base.path}
}

func merge(base, over *node) *node {
	if base.shape != table || over.shape != table || over.band() {
		if base.shape == table && over.null && over.text == "" {
			return base
		}
		return over.byUser()
	}
	n := *over
	n.keys, n.items = append([]string(nil), base.keys...), append([]*node(nil), base.items...)
	index := make(map[string]int, len(n.keys))
	for i, key := range n.keys {
		index[key] = i
	}
	for i, key := range over.keys {
		if at, ok := index[key]; ok {
			n.items[at] = merge(n.items[at], over.items[i])
		} else {
			n.keys, n.items = append(n.keys, key), append(n.items, over.items[i].byUser())
		}
	}
	if n.band() && over.source.kind == KindNone {
		n.source = user(over.at)
	}
	return &n
}

// byUser returns n with kind User on every leaf that names no source.
func (n *node) byUser() *node {
	c := *n
	if n.leaf() {
		if n.source.kind == KindNone {
			c.source = user(n.at)
		}
		return &c
	}
	c.items = make([]*node, len(n.items))
	for i, item := range n.items {
		c.items[i] = item.byUser()
	}
	return &c
}

// user is the source of a value that the user gave at a place.
func user(at position) source {
	if at.line == 0 {
		return source{User, at.file}
	}
	return source{User, fmt.Sprintf("%s:%d", at.file, at.line)}
}

// Set overrides the value at a path, as in --set "fabric.port.rate=53 GB/s".
// The value is YAML and may be a list ("axes.core_num=[1, 2, 4]"); an element
// of a list is named by its number ("items.0.op"). The leaf gets kind User. A
// path that nobody reads is found by Decode, which then names the flag.
func (d *Doc) Set(assignment string) error {
	path, value, ok := cutAssignment(assignment)
	if !ok {
		return Problems{{File: "--set " + assignment, Message: `want path=value, such as --set "call.core_num=8"`}}
	}
	return d.SetFrom("--set", path, value)
}

// SetFrom is Set for a value that another flag or a sweep's axis brought;
// messages begin with that origin and the path.
func (d *Doc) SetFrom(origin, path, value string) error {
	at := position{file: origin + " " + path}
	var problems Problems
	steps, err := split(path)
	if err != nil || len(steps) == 0 {
		problems.add(position{file: origin}, "", "%s", cmpOr(err, "the path is empty"))
		return problems
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) || len(path) > maxKey {
		problems.add(position{file: origin}, "", "%s is no path: it is too long or not all text", quote(path))
		return problems
	}
	n := &node{plain: true, null: true, text: "null", at: at}
	if strings.TrimSpace(value) != "" {
		top, faults := parse("", []byte(value))
		l := loader{problems: faults}
		if faults == nil {
			n = l.node(top, 0)
		}
		if len(l.problems) > 0 {
			problems.add(at, path, "%s", l.problems[0].Message)
			return problems
		}
	}
	root, message := d.root.with(steps, n.from(at).byUser())
	if message != "" {
		problems.add(at, path, "%s", message)
		return problems
	}
	d.root = root
	return nil
}

func cmpOr(err error, text string) string {
	if err != nil {
		return err.Error()
	}
	return text
}

// cutAssignment cuts at the first equals sign outside a quoted key.
func cutAssignment(s string) (path, value string, ok bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '=' && !quoted:
			return strings.TrimSpace(s[:i]), s[i+1:], true
		}
	}
	return "", "", false
}

// from returns n with everything in it placed at one position.
func (n *node) from(at position) *node {
	c := *n
	c.at, c.key = at, at
	c.items = make([]*node, len(n.items))
	for i, item := range n.items {
		c.items[i] = item.from(at)
	}
	return &c
}

// with returns a copy of n in which the value at the steps is v, or says why
// that cannot be. It makes the tables that are missing on the way.
func (n *node) with(steps []string, v *node) (*node, string) {
	if len(steps) == 0 {
		return v, ""
	}
	c := node{shape: table, at: v.at, key: v.at}
	switch {
	case n == nil || n.null:
	case n.shape == scalar:
		return nil, fmt.Sprintf("%s has no key %q: it is a plain value", quote(n.text), steps[0])
	default:
		c = *n
		c.keys, c.items = append([]string(nil), n.keys...), append([]*node(nil), n.items...)
	}
	i := c.index(steps[0])
	if i < 0 {
		return nil, fmt.Sprintf("want the number of an element, 0 to %d, got %q", len(c.items)-1, steps[0])
	}
	if i == len(c.items) {
		c.keys, c.items = append(c.keys, steps[0]), append(c.items, nil)
	}
	item, message := c.items[i].with(steps[1:], v)
	c.items[i] = item
	if message == "" && c.leaf() {
		c.source = user(v.at)
	}
	return &c, message
}

// index is the place of the item that a step names, in a table the end if it
// is new, in a list -1 if there is none.
func (n *node) index(step string) int {
	if n.shape == list {
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(n.items) {
			return -1
		}
		return i
	}
	for i, key := range n.keys {
		if key == step {
			return i
		}
	}
	return len(n.keys)
}
