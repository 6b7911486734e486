package fit

import (
	"math"
	"os"
	"strconv"

	"pldperf/configs"
)

// Value is a field's value in a case: a constant, or what a column of the row says.
type Value struct {
	text   string
	Column string            `yaml:"column" required:"true" help:"column of the table"`
	Unit   string            `yaml:"unit" help:"follows the column's number, such as B"`
	Values map[string]string `yaml:"values" help:"column's text: value"`
	at     *configs.Doc
}

// UnmarshalDoc implements the decoding of a constant or of {column, unit, values}.
func (v *Value) UnmarshalDoc(d *configs.Doc) error {
	v.at = d
	if !d.Has("column") {
		v.text = d.Flow()
		return nil
	}
	type plain struct {
		Column string            `yaml:"column" required:"true"`
		Unit   string            `yaml:"unit"`
		Values map[string]string `yaml:"values"`
	}
	var p plain
	err := d.Decode(&p)
	v.Column, v.Unit, v.Values = p.Column, p.Unit, p.Values
	return err
}

func (v *Value) empty() bool { return v.text == "" && v.Column == "" }

// of returns the value for a row, as --set takes it.
func (v *Value) of(r row) (string, error) {
	if v.Column == "" {
		return v.text, nil
	}
	text, ok := r.fields[v.Column]
	if !ok {
		return "", v.at.Fault("the table has no column %q", v.Column)
	}
	if v.Values != nil {
		out, ok := v.Values[text]
		if !ok {
			return "", v.at.Fault("no value is given for %q", text)
		}
		return out, nil
	}
	if v.Unit != "" {
		text += " " + v.Unit
	}
	return text, nil
}

// float returns the value for a row as a number; none is 0.
func (v *Value) float(r row) (float64, error) {
	if v.empty() {
		return 0, nil
	}
	text, err := v.of(r)
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return 0, v.at.Fault("line %d of the table: want a number above 0, got %q", r.line, text)
	}
	return x, nil
}

// Values are values by the path that they set, in the order of the file.
type Values struct {
	paths  []string
	values []Value
}

// UnmarshalDoc implements the decoding of a section of values.
func (v *Values) UnmarshalDoc(d *configs.Doc) error {
	for _, path := range d.Keys() {
		var x Value
		if err := x.UnmarshalDoc(d.Child(path)); err != nil {
			return err
		}
		v.paths, v.values = append(v.paths, path), append(v.values, x)
	}
	return nil
}

// setting is the origin of values that a case sets, in problems.
const setting = "set"

// set applies all of them to a workload.
func (v *Values) set(doc *configs.Doc, r row) error {
	for i, path := range v.paths {
		text, err := v.values[i].of(r)
		if err != nil {
			return err
		}
		if err := doc.SetFrom(setting, path, text); err != nil {
			return err
		}
	}
	return nil
}

// digits is how many decimal digits of a fitted value are kept: more would pretend a
// precision that no measurement has, and make a second fit differ from the first.
const digits = 4

// round keeps so many digits of v.
func round(v int64) int64 {
	unit := int64(1)
	for x := v; x >= int64(math.Pow10(digits)); x /= 10 {
		unit *= 10
	}
	return (v + unit/2) / unit * unit
}

func exists(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// scale returns a unit of time in seconds, or of a rate in bytes a second.
func scale(unit string) float64 {
	return map[string]float64{"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "ticks": 20e-9, "GB/s": 1e9, "GiB/s": 1 << 30, "Gbit/s": 1.25e8}[unit]
}

func rate(unit string) bool { return unit == "GB/s" || unit == "GiB/s" || unit == "Gbit/s" }

// read returns a file, or nothing.
func read(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return data
}
