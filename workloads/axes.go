package workloads

import (
	"fmt"
	"strconv"

	"pldperf/configs"
	"pldperf/engine"
)

// Axis is one field that a sweep varies.
type Axis struct {
	Path   string
	Values []string // as --set takes them
}

// maxValues bounds an axis, so that a wrong step is an error and not a week.
const maxValues = 10_000

// span is the long form of an axis: from, to, and a step or a factor.
type span struct {
	From any `yaml:"from" required:"true"`
	To   any `yaml:"to" required:"true"`
	Step any `yaml:"step"`
	// Times is the factor between neighbours.
	Times int `yaml:"times" min:"0"`
}

// readAxis reads a list of values, or {from, to, step}, or {from, to, times}.
func readAxis(path string, d *configs.Doc) (Axis, error) {
	a := Axis{Path: path}
	if n := d.Len(); n >= 0 {
		for i := range n {
			a.Values = append(a.Values, d.Child(strconv.Itoa(i)).Flow())
		}
	} else {
		var s span
		if err := d.Decode(&s); err != nil {
			return a, err
		}
		values, err := s.values(d)
		if err != nil {
			return a, err
		}
		a.Values = values
	}
	if len(a.Values) == 0 {
		return a, d.Fault("an axis needs at least one value")
	}
	return a, nil
}

func (s *span) values(d *configs.Doc) ([]string, error) {
	if (s.Step == nil) == (s.Times == 0) {
		return nil, d.Fault("give step or times")
	}
	from, print, err := number(d.Child("from").Flow())
	if err != nil {
		return nil, d.Child("from").Fault("%v", err)
	}
	to, _, err := number(d.Child("to").Flow())
	if err != nil {
		return nil, d.Child("to").Fault("%v", err)
	}
	step := int64(0)
	if s.Step != nil {
		if step, _, err = number(d.Child("step").Flow()); err != nil || step <= 0 {
			return nil, d.Child("step").Fault("must be a positive number of the same kind")
		}
	} else if s.Times < 2 || from < 1 {
		return nil, d.Fault("times must be 2 or more, and from positive")
	}
	if to < from {
		return nil, d.Fault("%s is below %s", print(to), print(from))
	}
	var out []string
	for v := from; v <= to && v > 0 || v == from; {
		if out = append(out, print(v)); len(out) > maxValues {
			return nil, d.Fault("more than %d values", maxValues)
		}
		if step > 0 {
			v += step
		} else {
			v *= int64(s.Times)
		}
	}
	return out, nil
}

// number reads a plain integer or a quantity, and returns how to print its like.
func number(text string) (int64, func(int64) string, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, func(v int64) string { return strconv.FormatInt(v, 10) }, nil
	}
	var b engine.Bytes
	if b.UnmarshalText([]byte(text)) == nil {
		return int64(b), func(v int64) string { return engine.Bytes(v).String() }, nil
	}
	var d engine.Duration
	if d.UnmarshalText([]byte(text)) == nil {
		return int64(d), func(v int64) string { return engine.Duration(v).String() }, nil
	}
	var r engine.Rate
	if r.UnmarshalText([]byte(text)) == nil {
		return int64(r), func(v int64) string { return engine.Rate(v).String() }, nil
	}
	var f engine.Fraction
	if f.UnmarshalText([]byte(text)) == nil {
		return int64(f), func(v int64) string { return engine.Fraction(v).String() }, nil
	}
	return 0, nil, fmt.Errorf("%q is neither a whole number nor a quantity with a unit", text)
}
