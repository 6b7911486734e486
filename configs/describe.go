package configs

import (
	"reflect"
	"slices"
)

// Key is one key that a struct accepts, from its tags.
type Key struct {
	Path     string // an element of a list is "[]", of a dictionary "*": "items.[].op"
	Type     string // "a rate", "a whole number", "a list of text"
	Default  string // of the default tag
	Doc      string // of the help tag
	Unit     string // of the unit tag
	Enum     []string
	Min, Max string
	Required bool
	Syntax   string      // how a quantity is written, such as `"53.1 GB/s" or "400 Gbps"`
	When     []Condition // all of which must hold for anything to read it
}

// Describe lists the keys that Decode would accept for a value of the type of
// v (a struct or a pointer to one), sections before what is in them, in the
// order of the fields.
func Describe(v any) []Key {
	return describe(nil, "", reflect.TypeOf(v), nil, map[reflect.Type]bool{})
}

// describe appends the keys below type t, which are read when the conditions hold. A type
// within itself is listed once.
func describe(keys []Key, path string, t reflect.Type, when []Condition, open map[reflect.Type]bool) []Key {
	switch {
	case t.Kind() == reflect.Pointer:
		return describe(keys, path, t.Elem(), when, open)
	case opaque(t) || open[t]:
		return keys
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return describe(keys, join(path, "[]"), t.Elem(), when, open)
	case t.Kind() == reflect.Map:
		return describe(keys, join(path, "*"), t.Elem(), when, open)
	case t.Kind() != reflect.Struct:
		return keys
	}
	open[t] = true
	for _, f := range fieldsOf(t) {
		at, all := join(path, f.key), slices.Clone(when)
		for _, w := range f.when {
			all = append(all, w.under(path))
		}
		_, examples, _ := syntaxOf(f.typ)
		keys = append(keys, Key{Path: at, Type: typeName(f.typ), Syntax: examples, Default: f.def, Doc: f.help, Unit: f.unit,
			Enum: f.rules.enum, Min: f.rules.min, Max: f.rules.max, Required: f.required, When: all})
		keys = describe(keys, at, f.typ, all, open)
	}
	delete(open, t)
	return keys
}

// syntaxOf asks a type, or that of the elements of a list, how its text looks, through
// Syntax() (noun, examples, pattern string); empty where it does not say.
func syntaxOf(t reflect.Type) (noun, examples, pattern string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if s, ok := reflect.Zero(t).Interface().(interface {
		Syntax() (noun, examples, pattern string)
	}); ok {
		return s.Syntax()
	}
	return "", "", ""
}

// typeName is noun, with what a list or dictionary holds.
func typeName(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case opaque(t):
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return "a list, each " + typeName(t.Elem())
	case t.Kind() == reflect.Map:
		return "a section, each " + typeName(t.Elem())
	}
	if word, _, _ := syntaxOf(t); word != "" {
		return word
	}
	return noun(t)
}
