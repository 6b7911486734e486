package configs

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// A Schema describes files for editors and other programs: JSON Schema, draft 2020-12.
type Schema = jsonschema.Schema

// NewSchema returns the schema of the files that Decode reads into a value of the type of
// v: keys, kinds of values, how quantities are written, what is allowed, defaults and
// meanings, from the same tags. It accepts what Decode accepts, but for what only a Check
// or an UnmarshalDoc knows; such values are left open. Each struct has a definition of its
// own, "package.Type", which a caller that knows more can change.
func NewSchema(v any) *Schema {
	t := reflect.TypeOf(v)
	s := schemer{defs: jsonschema.Definitions{}}
	top := s.of(t)
	top.Version, top.Definitions = jsonschema.Version, s.defs
	return top
}

// schemer is one call of NewSchema.
type schemer struct{ defs jsonschema.Definitions }

// ofTypes is a schema of several JSON types.
func ofTypes(types ...string) *Schema {
	if len(types) == 1 {
		return &Schema{Type: types[0]}
	}
	return &Schema{Extras: map[string]any{"type": types}}
}

// of returns the schema of values of type t.
func (s *schemer) of(t reflect.Type) *Schema {
	if noun, examples, pattern := syntaxOf(t); pattern != "" && t.Kind() != reflect.Slice && t.Kind() != reflect.Pointer {
		leaf := s.named(t.Name(), func() *Schema {
			return &Schema{Type: "string", Pattern: pattern, Description: noun + ", such as " + examples}
		})
		return s.named(t.Name()+"Band", func() *Schema { return banded(leaf) })
	}
	switch {
	case reflect.PointerTo(t).Implements(docType):
		return s.open(t)
	case reflect.PointerTo(t).Implements(textType):
		return text()
	}
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		return &Schema{AnyOf: []*Schema{s.of(t.Elem()), ofTypes("null")}}
	case k == reflect.Struct:
		return s.named(path.Base(t.PkgPath())+"."+t.Name(), func() *Schema { return s.section(t) })
	case k == reflect.Map:
		out := ofTypes("object", "null")
		out.AdditionalProperties = s.of(t.Elem())
		return out
	case k == reflect.Slice || k == reflect.Array:
		out := ofTypes("array", "null")
		out.Items = s.of(t.Elem())
		return out
	case k == reflect.String:
		return text()
	case k == reflect.Bool:
		return ofTypes("boolean")
	case k >= reflect.Uint && k <= reflect.Uint64:
		return &Schema{Type: "integer", Minimum: "0"}
	case k >= reflect.Int && k <= reflect.Int64:
		return ofTypes("integer")
	case k == reflect.Float32 || k == reflect.Float64:
		return ofTypes("number")
	}
	return jsonschema.TrueSchema
}

// text is what a field of text takes: YAML reads numbers and words such as true otherwise.
func text() *Schema { return ofTypes("string", "number", "boolean") }

// banded is a schema of values, or of a value with its range, of which a file can give a
// part over another file.
func banded(leaf *Schema) *Schema {
	one := uint64(1)
	band := &Schema{Type: "object", MinProperties: &one, AdditionalProperties: jsonschema.FalseSchema, Properties: jsonschema.NewProperties()}
	for _, key := range bandKeys {
		band.Properties.Set(key, leaf)
	}
	return &Schema{AnyOf: []*Schema{leaf, band}}
}

// named makes the definition of a name, unless it is there, and refers to it.
func (s *schemer) named(name string, make func() *Schema) *Schema {
	if _, ok := s.defs[name]; !ok {
		s.defs[name] = nil // a type within itself
		s.defs[name] = make()
	}
	return &Schema{Ref: "#/$defs/" + name}
}

// open is the schema of a type that reads its part of a file itself: anything, or where
// its fields have tags, a section of these or something else.
func (s *schemer) open(t reflect.Type) *Schema {
	if t.Kind() != reflect.Struct || len(fieldsOf(t)) == 0 {
		return jsonschema.TrueSchema
	}
	return s.named(path.Base(t.PkgPath())+"."+t.Name(), func() *Schema {
		return &Schema{AnyOf: []*Schema{s.section(t), ofTypes("string", "number", "boolean", "array")}}
	})
}

func (s *schemer) section(t reflect.Type) *Schema {
	out := ofTypes("object", "null")
	out.AdditionalProperties, out.Properties = jsonschema.FalseSchema, jsonschema.NewProperties()
	for _, f := range fieldsOf(t) {
		if f.required {
			out.Required = append(out.Required, f.key)
		}
		out.Properties.Set(f.key, s.field(&f))
	}
	if len(out.Required) > 0 {
		out.Type, out.Extras = "object", nil
	}
	return out
}

// field is the schema of a key's value, with what its tags say.
func (s *schemer) field(f *field) *Schema {
	out := s.of(f.typ)
	if out == jsonschema.TrueSchema {
		out = &Schema{}
	}
	leaf := out
	if out.Items != nil {
		leaf = out.Items
	}
	if len(f.rules.enum) > 0 {
		leaf.Extras = nil
		for _, word := range f.rules.enum {
			leaf.Enum = append(leaf.Enum, word)
		}
	}
	if out = f.limited(out); f.def != "" {
		out.Default = generic(f.defaultNode())
	}
	out.Description = f.describe()
	return out
}

// limited adds what numbers are within, and their bands; limits of quantities are text
// and said in words.
func (f *field) limited(s *Schema) *Schema {
	if s.Type != "integer" && s.Type != "number" {
		return s
	}
	if f.rules.min != "" {
		s.Minimum = json.Number(f.rules.min)
	}
	if f.rules.max != "" {
		s.Maximum = json.Number(f.rules.max)
	}
	return banded(s)
}

// describe says what a key means and when it is read.
func (f *field) describe() string {
	var out []string
	if f.help != "" {
		out = append(out, f.help)
	}
	var when []string
	for _, t := range f.when {
		if t.Path != "" {
			when = append(when, t.Words(nil))
		}
	}
	if len(when) > 0 {
		out = append(out, "read when "+strings.Join(when, " and "))
	}
	return strings.Join(out, "; ")
}
