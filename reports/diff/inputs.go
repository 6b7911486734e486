package diff

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/reports/document"
)

// inputs lists the inputs of two documents that differ: values of the configuration,
// and what people are told of routings, which files and seeds decide. Documents without
// a configuration have only what people are told. Of sweeps these are what all pairs
// share; the rest goes to the pairs.
func inputs(a, b *document.Document, points [][2]*document.Point, pairs []document.Pair) []document.Changed {
	configA, toldA := inputsOf(a)
	configB, toldB := inputsOf(b)
	out := changed(configA, configB)
	if len(pairs) > 0 && a.Sweep != nil {
		for i, p := range points {
			if len(p[0].Config) == 0 && len(p[1].Config) == 0 {
				pairs[i].Inputs = besides(out, p[0], p[1]) // most points: quicker than to look at each value again
			} else {
				pairs[i].Inputs = changed(a.Sweep.ConfigOf(p[0]), b.Sweep.ConfigOf(p[1]))
			}
		}
		out = shared(pairs)
	}
	whole := len(configA) > 0 && len(configB) > 0
	for _, x := range changed(leaves(toldA), leaves(toldB)) {
		if x.FromA, x.FromB = "", ""; !whole || strings.HasPrefix(x.Path, "routing") {
			x.Path += " (as the card says it)"
			out = append(out, x)
		}
	}
	return out
}

// besides leaves out the axes of two points.
func besides(all []document.Changed, a, b *document.Point) (out []document.Changed) {
	for _, c := range all {
		_, ofA := a.Axis(c.Path)
		_, ofB := b.Axis(c.Path)
		if !ofA && !ofB {
			out = append(out, c)
		}
	}
	return out
}

// shared takes out of the pairs the inputs in which all of them differ in the same way.
func shared(pairs []document.Pair) (out []document.Changed) {
	n := map[document.Changed]int{}
	for i := range pairs {
		for _, c := range pairs[i].Inputs {
			n[c]++
		}
	}
	all := func(c document.Changed) bool { return n[c] == len(pairs) }
	for _, c := range pairs[0].Inputs {
		if all(c) {
			out = append(out, c)
		}
	}
	for i := range pairs {
		pairs[i].Inputs = slices.DeleteFunc(pairs[i].Inputs, all)
	}
	return out
}

func inputsOf(d *document.Document) ([]document.Leaf, []document.KV) {
	if d.Run != nil {
		return d.Run.Config, d.Run.Inputs
	}
	return d.Sweep.Config, d.Sweep.Inputs
}

func leaves(told []document.KV) (out []document.Leaf) {
	for _, kv := range told {
		out = append(out, document.Leaf{Path: strings.TrimSpace(kv.Key), Value: kv.Value})
	}
	return out
}

// changed lists the values that differ: in A's order, then those that only B has.
func changed(a, b []document.Leaf) (out []document.Changed) {
	index := func(all []document.Leaf) map[string]*document.Leaf {
		m := make(map[string]*document.Leaf, len(all))
		for i := range all {
			m[all[i].Path] = &all[i]
		}
		return m
	}
	inA, inB := index(a), index(b)
	for i := range a {
		x, y := &a[i], inB[a[i].Path]
		if inA[x.Path] == x && (y == nil || !same(x, y)) {
			out = append(out, difference(x, y))
		}
	}
	for i := range b {
		if y := &b[i]; inB[y.Path] == y && inA[y.Path] == nil {
			out = append(out, difference(nil, y))
		}
	}
	return out
}

func difference(a, b *document.Leaf) document.Changed {
	c := document.Changed{Unread: (a == nil || a.Unread) && (b == nil || b.Unread)}
	if a != nil {
		c.Path, c.A, c.FromA = a.Path, shown(a), from(a)
	}
	if b != nil {
		c.Path, c.B, c.FromB = b.Path, shown(b), from(b)
	}
	return c
}

func shown(l *document.Leaf) string {
	if l.Low == "" || l.Low == l.High {
		return l.Value
	}
	return fmt.Sprintf("%s (%s to %s)", l.Value, l.Low, l.High)
}

// same reports whether two values mean the same: 1 us is 1000 ns.
func same(a, b *document.Leaf) bool {
	return alike(a.Value, b.Value) && alike(a.Low, b.Low) && alike(a.High, b.High)
}

func alike(a, b string) bool { return a == b || plain(a) == plain(b) }

// plain writes a quantity in base units; other text stays.
func plain(text string) string {
	if v, kind := engine.ReadQuantity(text); kind != nil {
		return fmt.Sprint(kind.Noun, " ", v)
	}
	return text
}

// from says who says so, and where.
func from(l *document.Leaf) string {
	text := string(l.Kind)
	if l.File != "" {
		text += " " + l.File
	}
	if l.Line > 0 {
		text += fmt.Sprintf(":%d", l.Line)
	}
	if l.Text != "" {
		text += ": " + l.Text
	}
	return strings.TrimSpace(text)
}
