package configs

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Marshal prints the document in full: two spaces a level, leaves on one
// line, each with its source comment, the user's overrides as "# user:". Load
// reads the same values and sources back. Other comments are not kept.
func (d *Doc) Marshal() []byte { return d.print(printer{comments: true}) }

// Canonical prints the values alone, keys sorted: documents that mean the
// same have the same canonical form, whatever their layout, comments and
// origin. It is made for hashing.
func (d *Doc) Canonical() []byte { return d.print(printer{sorted: true}) }

func (d *Doc) print(p printer) []byte {
	if d.root != nil {
		p.block(d.root, 0)
	}
	return p.Bytes()
}

type printer struct {
	bytes.Buffer
	comments, sorted bool
}

// block prints n as lines of their own.
func (p *printer) block(n *node, indent int) {
	margin := strings.Repeat(" ", indent)
	switch {
	case n.leaf() || len(n.items) == 0:
		p.WriteString(margin)
		p.inline(n)
	case n.shape == table:
		for _, i := range p.order(n) {
			p.WriteString(margin + word(n.keys[i]) + ":")
			p.entry(n.items[i], indent)
		}
	default:
		for _, item := range n.items {
			inner := printer{comments: p.comments, sorted: p.sorted}
			inner.block(item, indent+2)
			p.WriteString(margin + "- ")
			p.Write(inner.Bytes()[indent+2:])
		}
	}
}

// entry prints the value after a key.
func (p *printer) entry(n *node, indent int) {
	if n.leaf() || len(n.items) == 0 {
		p.WriteByte(' ')
		p.inline(n)
		return
	}
	p.WriteByte('\n')
	p.block(n, indent+2)
}

// inline prints a leaf, its comment and the end of the line.
func (p *printer) inline(n *node) {
	p.flow(n)
	if p.comments && n.leaf() {
		p.WriteString(n.source.comment())
	}
	p.WriteByte('\n')
}

func (p *printer) flow(n *node) {
	if n.shape == scalar {
		p.WriteString(n.literal())
		return
	}
	brackets := "[]"
	if n.shape == table {
		brackets = "{}"
	}
	p.WriteByte(brackets[0])
	for nth, i := range p.order(n) {
		if nth > 0 {
			p.WriteString(", ")
		}
		if n.shape == table {
			p.WriteString(word(n.keys[i]) + ": ")
		}
		p.flow(n.items[i])
	}
	p.WriteByte(brackets[1])
}

// order lists the items in the order in which they are printed.
func (p *printer) order(n *node) []int {
	order := make([]int, len(n.items))
	for i := range order {
		order[i] = i
	}
	if p.sorted && n.shape == table {
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(n.keys[a], n.keys[b]) })
	}
	return order
}

// literal prints a scalar so that Load reads the same text and the same type.
func (n *node) literal() string {
	switch {
	case n.null:
		return "null"
	case n.plain && bare.MatchString(n.text) && !strings.HasPrefix(n.text, "---") && !strings.HasPrefix(n.text, "..."):
		return n.text
	}
	return word(n.text)
}

var (
	// bare is text that YAML reads as it stands, in flow and block, whatever its type.
	bare = regexp.MustCompile(`^[A-Za-z0-9_./+~-][A-Za-z0-9_./+%-]*( [A-Za-z0-9_./+%-]+)*$`)
	// typed is bare text that without quotes could be no text.
	typed = regexp.MustCompile(`^(?i:[^a-z ]*|0[xob][^ ]*|[-+.0-9_]+e[-+.0-9_]*|[-+]?\.(inf|nan)|true|false|null)$`)
)

// word prints text, in quotes if it needs them to stay text.
func word(text string) string {
	if bare.MatchString(text) && !typed.MatchString(text) && text[0] != '-' && text[0] != '.' {
		return text
	}
	return strconv.Quote(text)
}
