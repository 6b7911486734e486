package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Doc is a YAML document, or a part of one, that remembers the origin of
// every value. Its trees are never changed in place: a copy of a Doc (`c :=
// *d`) can be changed by Set without changing d. The zero Doc is absent.
type Doc struct {
	root  *node
	path  string   // of root in the whole document
	where position // where an absent root should have been
}

// node is a value. It is shared between documents and never changed after
// it was built.
type node struct {
	shape  shape
	plain  bool     // a scalar without quotes
	null   bool     // a scalar that is no value; text tells "" from "null"
	text   string   // of a scalar
	keys   []string // of a table, in document order
	items  []*node  // of a list or table
	at     position // where a fault in the value is shown
	key    position // where its key stands; zero without one
	source source   // of a leaf
}

type shape uint8

const (
	scalar shape = iota
	list
	table
)

// position is a place in a file; a flag has no line.
type position struct {
	file      string
	line, col int
}

func (n *node) child(key string) *node {
	switch n.shape {
	case table:
		if i := slices.Index(n.keys, key); i >= 0 {
			return n.items[i]
		}
	case list:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.items) {
			return n.items[i]
		}
	}
	return nil
}

// descend follows the steps as far as they exist and returns how many remain.
func (n *node) descend(steps []string) (last *node, missing int) {
	for i, step := range steps {
		next := n.child(step)
		if next == nil {
			return n, len(steps) - i
		}
		n = next
	}
	return n, 0
}

// band reports whether n gives a value and its range: a table of exactly
// value, low and high that are leaves themselves.
func (n *node) band() bool {
	if n.shape != table || len(n.keys) != 3 {
		return false
	}
	for _, key := range bandKeys {
		if c := n.child(key); c == nil || !c.flat() {
			return false
		}
	}
	return true
}

var bandKeys = []string{"value", "low", "high"}

// flat reports whether n is a scalar or a list of scalars.
func (n *node) flat() bool {
	if n.shape == list {
		return !slices.ContainsFunc(n.items, func(c *node) bool { return c.shape != scalar })
	}
	return n.shape == scalar
}

// leaf reports whether n has a source of its own.
func (n *node) leaf() bool { return n.flat() || n.band() }

// describe says in a message what n is.
func (n *node) describe() string {
	switch {
	case n.shape == list:
		return "a list"
	case n.shape == table:
		return "a section"
	case n.null:
		return "nothing"
	case !n.plain:
		return "the text " + quote(n.text)
	}
	return quote(n.text)
}

// Has reports whether there is a value at the path; the empty path asks
// whether the document itself exists.
func (d *Doc) Has(path string) bool { return d.At(path).root != nil }

// At returns the part of the document at a path such as "fabric.port" or
// "items.0.op". Paths in its problems stay those of the whole document. A part
// that does not exist is an absent Doc: Has says no, Merge takes it as
// nothing, and Decode reports it as missing.
func (d *Doc) At(path string) *Doc {
	steps, err := split(path)
	if err != nil || d == nil || d.root == nil {
		return &Doc{path: path}
	}
	n, missing := d.root.descend(steps)
	part := &Doc{root: n, path: d.path, where: n.at}
	for _, step := range steps {
		part.path = join(part.path, step)
	}
	if missing > 0 {
		part.root = nil
	}
	return part
}

// Under returns the document as the value of a path in an otherwise empty
// one: a machine preset under "machine" merges with a workload file.
func (d *Doc) Under(path string) (*Doc, error) {
	if d.root == nil {
		return d, nil
	}
	steps, err := split(path)
	if err != nil {
		return nil, err
	}
	n := *d.root
	for _, step := range slices.Backward(steps) {
		n.key = n.at
		inner := n
		n = node{shape: table, keys: []string{step}, items: []*node{&inner}, at: n.at}
	}
	return &Doc{root: &n}, nil
}

// UnmarshalDoc makes Doc itself a type to decode into: a field of type Doc
// keeps its part of the file as it stands.
func (d *Doc) UnmarshalDoc(part *Doc) error {
	*d = *part
	return nil
}

// split cuts a path at its dots; a key with a dot in it stands in double quotes.
func split(path string) ([]string, error) {
	var steps []string
	for rest := path; rest != ""; {
		var step string
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("path %s: a quoted key does not end", quote(path))
			}
			step, _ = strconv.Unquote(quoted)
			rest = rest[len(quoted):]
			if rest != "" && rest[0] != '.' {
				return nil, fmt.Errorf("path %s: want a dot after a quoted key", quote(path))
			}
		} else {
			i := strings.IndexByte(rest+".", '.')
			step, rest = rest[:i], rest[i:]
		}
		if step == "" || rest == "." {
			return nil, fmt.Errorf("path %s has an empty key", quote(path))
		}
		steps = append(steps, step)
		rest = strings.TrimPrefix(rest, ".")
	}
	return steps, nil
}

// join appends a key to a path, in quotes where split would not find it again.
func join(path, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r == '.' || r == '"' || r == '=' || r < ' ' || r == 0x7f }) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Keys returns the keys of a table in document order; another shape has none.
func (d *Doc) Keys() []string {
	if d == nil || d.root == nil || d.root.shape != table {
		return nil
	}
	return slices.Clone(d.root.keys)
}

// Child returns the value of a key of a table, or of an index of a list, whatever
// characters the key has.
func (d *Doc) Child(key string) *Doc {
	if d == nil || d.root == nil || d.root.child(key) == nil {
		return &Doc{path: join(d.path, key), where: d.where}
	}
	n := d.root.child(key)
	return &Doc{root: n, path: join(d.path, key), where: n.at}
}

// Len returns the number of items of a list; another shape has -1.
func (d *Doc) Len() int {
	if d == nil || d.root == nil || d.root.shape != list {
		return -1
	}
	return len(d.root.items)
}

// Flow returns the value on one line, as SetFrom takes it.
func (d *Doc) Flow() string {
	if d == nil || d.root == nil {
		return ""
	}
	var p printer
	p.flow(d.root)
	return p.String()
}

// Text returns the text of a plain value; another shape has none.
func (d *Doc) Text() string {
	if d == nil || d.root == nil || d.root.shape != scalar {
		return ""
	}
	return d.root.text
}
