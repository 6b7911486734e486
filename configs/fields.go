package configs

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// field is what the tags of a struct field say about its key.
type field struct {
	key      string
	index    []int // as reflect.Value.FieldByIndex takes it
	typ      reflect.Type
	required bool
	rules    rules
	def      string // the default tag
	help     string
	unit     string
	when     []term
}

// rules limit the leaves of a field.
type rules struct {
	enum     []string
	min, max string
}

// known keeps what fieldsOf found: tags never change, and a sweep decodes the
// same types thousands of times.
var known sync.Map // reflect.Type -> []field

// fieldsOf lists the keys that a struct type accepts, in the order of its
// fields, inlined ones in their place. Two fields with one key are a mistake
// of the program and panic.
func fieldsOf(t reflect.Type) []field {
	if fields, ok := known.Load(t); ok {
		return fields.([]field)
	}
	fields := readFields(t)
	known.Store(t, fields)
	return fields
}

func readFields(t reflect.Type) []field {
	fields := appendFields(nil, t, nil)
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.key] {
			panic(fmt.Sprintf("configs: %s has the key %q twice", t, f.key))
		}
		seen[f.key] = true
	}
	return fields
}

func appendFields(fields []field, t reflect.Type, index []int) []field {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		at := append(append([]int(nil), index...), i)
		switch {
		case name == "-" || !f.IsExported():
		case inlined(f):
			fields = appendFields(fields, f.Type, at)
		default:
			fields = append(fields, newField(f, name, at))
		}
	}
	return fields
}

// inlined reports whether the keys of a struct field are keys of the struct around it.
func inlined(f reflect.StructField) bool {
	name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return option == "inline" || f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct
}

func newField(f reflect.StructField, name string, index []int) field {
	tag := f.Tag.Get
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	n := field{key: name, index: index, typ: f.Type, required: tag("required") == "true",
		def: tag("default"), help: tag("help"), unit: tag("unit"), when: terms(tag("when")), rules: rules{min: tag("min"), max: tag("max")}}
	if enum := tag("enum"); enum != "" {
		n.rules.enum = strings.Split(enum, ",")
	}
	return n
}

// defaultNode is the default tag as if a file said so.
func (f field) defaultNode() *node {
	if !strings.ContainsAny(f.def, "[]{}\"'") {
		return &node{plain: true, text: f.def} // the common case, without a parser
	}
	doc, err := Load("default of "+f.key, []byte(f.def))
	if err != nil {
		panic("configs: " + err.Error())
	}
	return doc.root
}

var (
	docType  = reflect.TypeFor[interface{ UnmarshalDoc(*Doc) error }]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// opaque reports whether values of t decode themselves, so that the fields
// of a struct are no keys.
func opaque(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(docType) || p.Implements(textType)
}

// noun names the values of a type in a message, with its article.
func noun(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(textType) {
		return withArticle(strings.ToLower(t.Name()))
	}
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		return noun(t.Elem())
	case k == reflect.String:
		return "text"
	case k == reflect.Bool:
		return "true or false"
	case k >= reflect.Int && k <= reflect.Uint64:
		return "a whole number"
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.Slice || k == reflect.Array:
		return "a list"
	case k == reflect.Struct || k == reflect.Map:
		return "a section"
	}
	return "a value"
}

func withArticle(word string) string {
	if strings.HasSuffix(word, "s") { // a plural: bytes, cycles
		return word
	}
	if word != "" && strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}
