package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Condition is what a key needs to be read, from its `when` tag. The tag lists terms,
// of which all must hold: "kind=clos", "kind!=ideal", "kind=uniform|random", "random" (is
// not zero) and "@urma|sdma", a part that the run must use. Paths in it begin at the struct that
// has the field, or with "^" at the one around that; those of a Condition begin at the
// top. A key that has no value yet decides nothing.
type Condition struct {
	Path   string   // of the key that decides; empty for a part
	Not    bool     // none of Values, rather than one of them
	Values []string // none: anything but zero
	Parts  []string // of which the run must use one
}

// A PartFunc reports whether a run uses a part, and says in words who does: "calls whose
// payload goes by URMA".
type PartFunc func(part string) (used bool, who string)

// Words says the condition: "machine.fabric.kind is clos".
func (c Condition) Words(uses PartFunc) string {
	switch {
	case c.Path == "":
		var who []string
		for _, p := range c.Parts {
			_, w := uses(p)
			who = append(who, w)
		}
		return strings.Join(who, ", or ")
	case len(c.Values) == 0:
		return c.Path + " is set"
	case c.Not:
		return c.Path + " is not " + strings.Join(c.Values, " or ")
	}
	return c.Path + " is " + strings.Join(c.Values, " or ")
}

// term is a Condition whose path begins at a struct, or at the one around it.
type term struct {
	Condition
	up bool
}

// terms reads a `when` tag.
func terms(tag string) (out []term) {
	for _, word := range strings.Fields(tag) {
		if parts, ok := strings.CutPrefix(word, "@"); ok {
			out = append(out, term{Condition: Condition{Parts: strings.Split(parts, "|")}})
			continue
		}
		path, values, given := strings.Cut(word, "=")
		var t term
		path, t.up = strings.CutPrefix(path, "^")
		if t.Path, t.Not = strings.CutSuffix(path, "!"); given {
			t.Values = strings.Split(values, "|")
		}
		out = append(out, t)
	}
	return out
}

// under returns the condition as seen from the top, for a struct at path.
func (t term) under(path string) Condition {
	c := t.Condition
	if t.up {
		path = above(path)
	}
	if c.Path != "" && path != "" {
		c.Path = path + "." + c.Path
	}
	return c
}

// above is the path of the section around the one at path, which may be an element of a list.
func above(path string) string {
	for {
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return ""
		}
		last := path[i+1:]
		path = path[:i]
		if last != "[]" && last != "*" && strings.Trim(last, "0123456789") != "" {
			return path
		}
	}
}

// holds reports whether a term holds in the last of nested structs; got is the value that
// decided.
func (t term) holds(in []reflect.Value, uses PartFunc) (ok bool, got string) {
	if t.Path == "" {
		return slices.ContainsFunc(t.Parts, func(p string) bool { used, _ := uses(p); return used }), ""
	}
	v := in[len(in)-1]
	if t.up {
		v = in[len(in)-2]
	}
	at := v
	for _, key := range strings.Split(t.Path, ".") {
		fields := fieldsOf(at.Type())
		i := find(fields, key)
		if i < 0 {
			panic(fmt.Sprintf("configs: a when tag names %s, which %s does not have", t.Path, v.Type()))
		}
		at = at.FieldByIndex(fields[i].index)
	}
	if len(t.Values) == 0 {
		return !at.IsZero(), "not set"
	}
	got = fmt.Sprint(at.Interface())
	return got == "" || slices.Contains(t.Values, got) != t.Not, got
}

// Unread lists the values of d that nothing reads where v, which d was decoded into, says
// what there is: those with a `when` tag that does not hold, and those of which a struct
// says so itself, through Unread(key string) (why string), empty for a key that is read.
// uses is asked only where a tag depends on it. A section that nothing reads is listed once.
func (d *Doc) Unread(v any, uses PartFunc) Problems {
	if d == nil || d.root == nil {
		return nil
	}
	u := unread{uses: uses}
	u.value(d.root, d.path, nil, reflect.Indirect(reflect.ValueOf(v)))
	return u.problems
}

type unread struct {
	uses     PartFunc
	problems Problems
}

// value looks at what is below n, decoded into v, which is within the structs in.
func (u *unread) value(n *node, path string, in []reflect.Value, v reflect.Value) {
	switch {
	case n.null || v.Kind() == reflect.Pointer && v.IsNil():
	case v.Kind() == reflect.Pointer:
		u.value(n, path, in, v.Elem())
	case opaque(v.Type()):
	case v.Kind() == reflect.Struct && n.shape == table:
		u.section(n, path, append(slices.Clip(in), v))
	case v.Kind() == reflect.Slice && n.shape == list && v.Len() == len(n.items):
		for i, item := range n.items {
			u.value(item, join(path, fmt.Sprint(i)), in, v.Index(i))
		}
	}
}

func (u *unread) section(n *node, path string, in []reflect.Value) {
	v := in[len(in)-1]
	fields := fieldsOf(v.Type())
	for i, key := range n.keys {
		f := find(fields, key)
		if f < 0 {
			continue
		}
		at := join(path, key)
		if why := u.why(&fields[f], in, path); why != "" {
			leaf, at := n.items[i].only(at)
			u.problems.add(leaf.at, at, "nothing reads it: %s", why)
			continue
		}
		u.value(n.items[i], at, in, v.FieldByIndex(fields[f].index))
	}
}

// only follows sections that hold but one key, to name the key that was set.
func (n *node) only(path string) (*node, string) {
	for n.shape == table && len(n.items) == 1 {
		path, n = join(path, n.keys[0]), n.items[0]
	}
	return n, path
}

// why says why nothing reads a field of the last of nested structs; empty when something
// does.
func (u *unread) why(f *field, in []reflect.Value, path string) string {
	for _, t := range f.when {
		if ok, got := t.holds(in, u.uses); !ok {
			return t.under(path).fails(got, u.uses)
		}
	}
	if own, ok := owner(in[len(in)-1], f).Interface().(interface{ Unread(key string) string }); ok {
		return own.Unread(f.key)
	}
	return ""
}

// owner is the struct that has a field itself: v, or one that lends v its keys.
func owner(v reflect.Value, f *field) reflect.Value {
	v = v.FieldByIndex(f.index[:len(f.index)-1])
	if v.CanAddr() {
		return v.Addr()
	}
	return v
}

// fails says why a condition does not hold where its key's value is got.
func (c Condition) fails(got string, uses PartFunc) string {
	switch {
	case c.Path == "":
		return "only " + c.Words(uses) + " would"
	case len(c.Values) == 0 || c.Not:
		return c.Path + " is " + got
	}
	return fmt.Sprintf("%s is %s; it counts where that is %s", c.Path, got, strings.Join(c.Values, " or "))
}
