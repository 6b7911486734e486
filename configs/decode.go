package configs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
)

// Decode stores the document in the struct (or other value) that into points
// to, and returns Problems with everything that is wrong, or nil.
//
// A struct takes a section. Its keys are the `yaml:"name"` tags; `yaml:",inline"`
// and embedded structs lend theirs. Further tags: `required:"true"`;
// `default:"8"`, the value of a key that is absent while the field is zero;
// `enum:"a,b"`, `min:"1"`, `max:"64"` for the leaves below the key. Slices,
// arrays, maps, pointers (null makes nil), text, true and false, numbers and
// `any` decode as one expects; a TextUnmarshaler reads a scalar, and a type
// with UnmarshalDoc(*Doc) error reads its part itself. A band
// {value, low, high} decodes as its value, once low <= value <= high holds.
//
// A struct, in which nothing was wrong so far, checks itself, inner ones
// first: through Check(report func(path, format string, args ...any)), where
// path leads from the struct to the faulty key, or else through Validate()
// error, of which each joined error becomes a Problem of the struct.
func (d *Doc) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic(fmt.Sprintf("configs: Decode into %T, which is no pointer to a value", into))
	}
	var dec decoder
	if d.root == nil {
		dec.problems.add(d.where, d.path, "missing; want %s", noun(v.Elem().Type()))
	} else {
		dec.value(d.root, d.path, v.Elem(), rules{})
	}
	return dec.problems.err()
}

// decoder is one call of Decode.
type decoder struct{ problems Problems }

// value decodes n into v, which must be addressable.
func (d *decoder) value(n *node, path string, v reflect.Value, r rules) {
	switch own := v.Addr().Interface().(type) {
	case interface{ UnmarshalDoc(*Doc) error }:
		if err := own.UnmarshalDoc(&Doc{root: n, path: path, where: n.at}); err != nil {
			d.fault(n, path, err)
		} else {
			d.check(n, path, v)
		}
		return
	case encoding.TextUnmarshaler:
		d.leaf(n, path, v, r)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.null {
			v.SetZero()
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, path, v.Elem(), r)
	case reflect.Struct:
		d.section(n, path, v)
	case reflect.Map:
		d.dictionary(n, path, v, r)
	case reflect.Slice, reflect.Array:
		d.list(n, path, v, r)
	case reflect.Interface:
		v.SetZero()
		if x := generic(n); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		d.leaf(n, path, v, r)
	}
}

// fault adds an error of the caller's code, as it is if it has a position already.
func (d *decoder) fault(n *node, path string, err error) {
	var placed Problems
	if errors.As(err, &placed) {
		d.problems = append(d.problems, placed...)
	} else {
		d.problems.add(n.at, path, "%v", err)
	}
}

func (d *decoder) section(n *node, path string, v reflect.Value) {
	if n.shape != table && !n.null {
		d.problems.add(n.at, path, "want a section, got %s", n.describe())
		return
	}
	before, fields := len(d.problems), fieldsOf(v.Type())
	seen := make([]bool, len(fields))
	for i, key := range n.keys {
		f := find(fields, key)
		if f < 0 {
			d.problems.add(n.items[i].key, join(path, key), "unknown key%s", hintOrList(key, keysOf(fields)))
			continue
		}
		seen[f] = true
		d.value(n.items[i], join(path, key), v.FieldByIndex(fields[f].index), fields[f].rules)
	}
	for i, f := range fields {
		if !seen[i] && f.required {
			d.problems.add(n.at, join(path, f.key), "missing; want %s", noun(f.typ))
		} else if !seen[i] {
			d.absent(f, v.FieldByIndex(f.index))
		}
	}
	if len(d.problems) == before {
		d.checkInlined(n, path, v)
		d.check(n, path, v)
	}
}

func find(fields []field, key string) int {
	for i := range fields {
		if fields[i].key == key {
			return i
		}
	}
	return -1
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// absent gives the field of a key that is not there its default, or the
// fields of an absent section theirs. A default that does not decode is a
// mistake of the program.
func (d *decoder) absent(f field, v reflect.Value) {
	switch {
	case f.def != "" && v.IsZero():
		var inner decoder
		inner.value(f.defaultNode(), f.key, v, f.rules)
		if err := inner.problems.err(); err != nil {
			panic(fmt.Sprintf("configs: default of %v", err))
		}
	case v.Kind() == reflect.Struct && !opaque(v.Type()):
		for _, inner := range fieldsOf(v.Type()) {
			d.absent(inner, v.FieldByIndex(inner.index))
		}
	}
}

func (d *decoder) dictionary(n *node, path string, v reflect.Value, r rules) {
	if n.shape != table && !n.null {
		d.problems.add(n.at, path, "want a section, got %s", n.describe())
		return
	}
	t := v.Type()
	m := reflect.MakeMapWithSize(t, len(n.keys))
	for i, key := range n.keys {
		k, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		name := &node{plain: true, text: key, at: n.items[i].key}
		if message := decodeScalar(name, k, rules{}); message != "" {
			d.problems.add(name.at, join(path, key), "key: %s", message)
			continue
		}
		d.value(n.items[i], join(path, key), item, r)
		m.SetMapIndex(k, item)
	}
	v.Set(m)
}

func (d *decoder) list(n *node, path string, v reflect.Value, r rules) {
	if n.band() {
		for i, key := range n.keys {
			end := v
			if key != "value" {
				end = reflect.New(v.Type()).Elem()
			}
			d.list(n.items[i], join(path, key), end, r)
		}
		return
	}
	if n.shape != list && !n.null {
		message := "want a list, got " + n.describe()
		if n.shape == scalar {
			message += "; write [" + n.literal() + "]"
		}
		d.problems.add(n.at, path, "%s", message)
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	} else if v.Len() != len(n.items) {
		d.problems.add(n.at, path, "want %d elements, got %d", v.Len(), len(n.items))
		return
	}
	for i, item := range n.items {
		d.value(item, join(path, fmt.Sprint(i)), v.Index(i), r)
	}
}

// leaf decodes a scalar or a band of scalars.
func (d *decoder) leaf(n *node, path string, v reflect.Value, r rules) {
	if n.shape != table {
		if message := decodeScalar(n, v, r); message != "" {
			d.problems.add(n.at, path, "%s", message)
		}
		return
	}
	ends := map[string]reflect.Value{"value": v, "low": reflect.New(v.Type()).Elem(), "high": reflect.New(v.Type()).Elem()}
	before := len(d.problems)
	for i, key := range n.keys {
		if _, ok := ends[key]; !ok {
			d.problems.add(n.at, path, "want %s, got a section", noun(v.Type()))
			return
		}
		if message := decodeScalar(n.items[i], ends[key], r); message != "" {
			d.problems.add(n.items[i].at, join(path, key), "%s", message)
		}
	}
	if !n.band() {
		d.problems.add(n.at, path, "a band needs value, low and high")
	} else if len(d.problems) == before {
		d.bandOrder(n, path, ends)
	}
}

func (d *decoder) bandOrder(n *node, path string, ends map[string]reflect.Value) {
	low, value, high := n.child("low"), n.child("value"), n.child("high")
	if compare(ends["low"], ends["value"]) > 0 {
		d.problems.add(low.at, join(path, "low"), "%s is above the value %s", low.text, value.text)
	}
	if compare(ends["value"], ends["high"]) > 0 {
		d.problems.add(high.at, join(path, "high"), "%s is below the value %s", high.text, value.text)
	}
}

// check lets a decoded struct check itself.
func (d *decoder) check(n *node, path string, v reflect.Value) {
	switch own := v.Addr().Interface().(type) {
	case interface {
		Check(report func(path, format string, args ...any))
	}:
		own.Check(func(rel, format string, args ...any) { d.report(n, path, rel, fmt.Sprintf(format, args...)) })
	case interface{ Validate() error }:
		for _, err := range flatten(own.Validate()) {
			d.fault(n, path, err)
		}
	}
}

// checkInlined lets the structs that lend v their keys check themselves. What
// an embedded one reports twice, since v has its methods, is kept once.
func (d *decoder) checkInlined(n *node, path string, v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && inlined(f) {
			d.checkInlined(n, path, v.Field(i))
			d.check(n, path, v.Field(i))
		}
	}
}

// report places a problem at the key to which rel leads, or at the innermost
// section on the way that the file has.
func (d *decoder) report(n *node, path, rel, message string) {
	steps, err := split(rel)
	if err != nil {
		panic("configs: Check reports at a bad " + err.Error())
	}
	at, _ := n.descend(steps)
	for _, step := range steps {
		path = join(path, step)
	}
	d.problems.add(at.at, path, "%s", message)
}

// flatten lists the errors that were joined into one.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
