package configs

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// decodeScalar stores a scalar in v and returns what is wrong, or nothing.
func decodeScalar(n *node, v reflect.Value, r rules) string {
	if n.shape != scalar || n.null {
		return fmt.Sprintf("want %s, got %s", noun(v.Type()), n.describe())
	}
	if message := parseScalar(n, v); message != "" {
		return message
	}
	if len(r.enum) > 0 && !slices.Contains(r.enum, n.text) {
		return fmt.Sprintf("%s is none of %s%s", quote(n.text), strings.Join(r.enum, ", "), hint(n.text, r.enum))
	}
	if r.min != "" && compare(v, limit(r.min, v.Type())) < 0 {
		return fmt.Sprintf("%s is below the least value, %s", n.text, r.min)
	}
	if r.max != "" && compare(v, limit(r.max, v.Type())) > 0 {
		return fmt.Sprintf("%s is above the largest value, %s", n.text, r.max)
	}
	return ""
}

// limit reads a min or max tag; a bad one is a mistake of the program.
func limit(text string, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	if message := parseScalar(&node{plain: true, text: text}, v); message != "" {
		panic(fmt.Sprintf("configs: limit %q of %s: %s", text, t, message))
	}
	return v
}

// parseScalar reads text by the type of v.
func parseScalar(n *node, v reflect.Value) string {
	if own, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := own.UnmarshalText([]byte(n.text)); err != nil {
			return err.Error()
		}
		return ""
	}
	k := v.Kind()
	if k == reflect.String {
		v.SetString(n.text)
		return ""
	}
	var ok, fits bool
	switch {
	case !n.plain:
	case k == reflect.Bool:
		ok, fits = parseBool(n.text, v), true
	case v.CanInt():
		ok, fits = parseInt(n.text, v)
	case v.CanUint():
		ok, fits = parseUint(n.text, v)
	case v.CanFloat():
		ok, fits = parseFloat(n.text, v)
	default:
		panic(fmt.Sprintf("configs: cannot decode into %s", v.Type()))
	}
	switch {
	case !ok:
		return fmt.Sprintf("want %s, got %s", noun(v.Type()), n.describe())
	case !fits:
		return fmt.Sprintf("%s is out of range for %s", n.text, noun(v.Type()))
	}
	return ""
}

func parseBool(text string, v reflect.Value) bool {
	v.SetBool(text == "true")
	return text == "true" || text == "false"
}

func parseInt(text string, v reflect.Value) (ok, fits bool) {
	x, err := strconv.ParseInt(text, 0, 64)
	if err == nil && !v.OverflowInt(x) && !octal(text) {
		v.SetInt(x)
		return true, true
	}
	return isRange(err) && !octal(text), false
}

func parseUint(text string, v reflect.Value) (ok, fits bool) {
	digits, negative := strings.CutPrefix(text, "-")
	x, err := strconv.ParseUint(digits, 0, 64)
	if err == nil && !negative && !v.OverflowUint(x) && !octal(text) {
		v.SetUint(x)
		return true, true
	}
	return isRange(err) && !octal(text), false
}

func parseFloat(text string, v reflect.Value) (ok, fits bool) {
	x, err := strconv.ParseFloat(text, v.Type().Bits())
	if err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		v.SetFloat(x)
		return true, true
	}
	return err != nil && isRange(err), false
}

// isRange reports whether the text was a number at least.
func isRange(err error) bool {
	if e, ok := err.(*strconv.NumError); ok {
		return e.Err == strconv.ErrRange
	}
	return err == nil
}

// octal finds 010, which is 8 in YAML 1.1 and 10 in YAML 1.2.
func octal(text string) bool {
	text = strings.TrimLeft(text, "+-")
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}

// compare orders two numbers of one type; other types are all equal.
func compare(a, b reflect.Value) int {
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	}
	return 0
}

// generic is the value of n where the type is left open: nil, bool, int64,
// float64, string, []any or map[string]any.
func generic(n *node) any {
	switch n.shape {
	case list:
		values := make([]any, len(n.items))
		for i, item := range n.items {
			values[i] = generic(item)
		}
		return values
	case table:
		values := make(map[string]any, len(n.keys))
		for i, key := range n.keys {
			values[key] = generic(n.items[i])
		}
		return values
	}
	var b bool
	var i int64
	var f float64
	for _, try := range []any{&b, &i, &f} {
		v := reflect.ValueOf(try).Elem()
		if !n.null && parseScalar(n, v) == "" {
			return v.Interface()
		}
	}
	if n.null {
		return nil
	}
	return n.text
}
