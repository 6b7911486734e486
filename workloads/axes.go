package workloads

import (
	"math"
	"slices"
	"strconv"

	"pldperf/configs"
	"pldperf/engine"
)

// Axis is one field that a sweep varies.
type Axis struct {
	Path   string
	Values []string // as --set takes them

	at []*configs.Doc // where each value stands in the sweep's file
}

// maxValues bounds an axis, so that a wrong step is an error and not a week.
const maxValues = 10_000

// Span is the long form of an axis: from, to, and a step or a factor.
type Span struct {
	From  configs.Doc `yaml:"from" required:"true" help:"the first value, a whole number or a quantity"`
	To    configs.Doc `yaml:"to" required:"true" help:"no value is above it"`
	Step  configs.Doc `yaml:"step" help:"what is added to a value for the next"`
	Times int         `yaml:"times" min:"2" max:"1000000" help:"by what a value is multiplied for the next"`
}

// readAxis reads a list of values, or {from, to, step}, or {from, to, times}.
func readAxis(path string, d *configs.Doc) (a Axis, err error) {
	a.Path = path
	n := d.Len()
	switch {
	case n > 0:
		err = a.list(d, n)
	case n == 0 || len(d.Keys()) == 0:
		err = d.Fault("an axis is a list of values, {from, to, step} or {from, to, times}")
	default:
		var s Span
		if err = d.Decode(&s); err == nil {
			a.Values, err = s.values(d)
		}
		for range a.Values {
			a.at = append(a.at, d)
		}
	}
	return a, err
}

func (a *Axis) list(d *configs.Doc, n int) error {
	if n > maxValues {
		return d.Fault("more than %d values", maxValues)
	}
	for i := range n {
		v := d.Child(strconv.Itoa(i))
		if slices.Contains(a.Values, v.Flow()) {
			return v.Fault("%s is there twice", v.Flow())
		}
		a.Values, a.at = append(a.Values, v.Flow()), append(a.at, v)
	}
	return nil
}

// values lists from, from+step, ... or from, from*times, ... as far as to.
func (s *Span) values(d *configs.Doc) ([]string, error) {
	if (s.Step.Flow() == "") == (s.Times == 0) {
		return nil, d.Fault("give either step or times")
	}
	from, like := engine.ReadQuantity(s.From.Text())
	if like == nil {
		return nil, s.From.Fault("want a whole number or a quantity with a unit, got %q", s.From.Flow())
	}
	to, err := read(like, &s.To)
	if err != nil {
		return nil, err
	}
	if to < from {
		return nil, s.To.Fault("%s is below %s, where the axis begins", s.To.Text(), s.From.Text())
	}
	step := int64(0)
	if s.Times == 0 {
		if step, err = read(like, &s.Step); err != nil {
			return nil, err
		}
		if step <= 0 {
			return nil, s.Step.Fault("%s is no step up", s.Step.Text())
		}
	} else if from < 1 {
		return nil, s.From.Fault("%s times anything never reaches %s", s.From.Text(), s.To.Text())
	}
	var out []string
	for v, more := from, true; more && v <= to; v, more = s.next(v, step) {
		if out = append(out, like.Print(v)); len(out) > maxValues {
			return nil, d.Fault("more than %d values", maxValues)
		}
	}
	return out, nil
}

// next returns the value after v; more is false when there is no such number.
func (s *Span) next(v, step int64) (next int64, more bool) {
	if s.Times == 0 {
		return v + step, v <= math.MaxInt64-step
	}
	return v * int64(s.Times), v <= math.MaxInt64/int64(s.Times)
}

// read reads a value that must be of this kind.
func read(k *engine.Quantity, d *configs.Doc) (int64, error) {
	v, err := k.Parse(d.Text())
	if err != nil {
		return 0, d.Fault("want %s like the first value, got %q", k.Noun, d.Flow())
	}
	return v, nil
}
