package configs

import (
	"reflect"
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
}

// Describe lists the keys that Decode would accept for a value of the type of
// v (a struct or a pointer to one), sections before what is in them, in the
// order of the fields.
func Describe(v any) []Key {
	return describe(nil, "", reflect.TypeOf(v), map[reflect.Type]bool{})
}

// describe appends the keys below type t. A type within itself is listed once.
func describe(keys []Key, path string, t reflect.Type, open map[reflect.Type]bool) []Key {
	switch {
	case t.Kind() == reflect.Pointer:
		return describe(keys, path, t.Elem(), open)
	case opaque(t) || open[t]:
		return keys
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return describe(keys, join(path, "[]"), t.Elem(), open)
	case t.Kind() == reflect.Map:
		return describe(keys, join(path, "*"), t.Elem(), open)
	case t.Kind() != reflect.Struct:
		return keys
	}
	open[t] = true
	for _, f := range fieldsOf(t) {
		at := join(path, f.key)
		keys = append(keys, Key{Path: at, Type: typeName(f.typ), Default: f.def, Doc: f.help, Unit: f.unit,
			Enum: f.rules.enum, Min: f.rules.min, Max: f.rules.max, Required: f.required})
		keys = describe(keys, at, f.typ, open)
	}
	delete(open, t)
	return keys
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
	return noun(t)
}
