package diff

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Tolerances say how far apart figures may be and count as equal: a share of the larger
// one. The zero Tolerances are exact: even the digests must be the same.
type Tolerances struct {
	All  engine.Fraction
	some []document.Tolerance
}

// Figures lists the names that have tolerances of their own.
func Figures() (names []string) {
	for _, s := range scalars {
		names = append(names, s.group)
	}
	names = append(names, "resources", "counters")
	for k := range result.NumCounters {
		names = append(names, k.String())
	}
	return names
}

// Parse reads "1 %", which holds for all figures, and "elapsed=1 %", for one.
func (t *Tolerances) Parse(text string) error {
	name, value, one := strings.Cut(text, "=")
	if !one {
		name, value = "", text
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if one && !slices.Contains(Figures(), name) {
		return fmt.Errorf("%q is no figure; there are %s", name, strings.Join(Figures(), ", "))
	}
	var f engine.Fraction
	if value != "0" { // no share of anything has another meaning
		if err := f.UnmarshalText([]byte(value)); err != nil {
			return err
		}
	}
	if f < 0 || f > engine.One {
		return fmt.Errorf("%v is no tolerance, which is 0 %% to 100 %%", f)
	}
	if !one {
		t.All = f
		return nil
	}
	t.some = slices.DeleteFunc(t.some, func(x document.Tolerance) bool { return x.Figure == name })
	t.some = append(t.some, document.Tolerance{Figure: name, Share: f})
	return nil
}

// of returns the tolerance of the first name that has one of its own, else that of all.
func (t *Tolerances) of(names ...string) engine.Fraction {
	for _, name := range names {
		for _, x := range t.some {
			if x.Figure == name {
				return x.Share
			}
		}
	}
	return t.All
}

// exact reports whether nothing may differ.
func (t *Tolerances) exact() bool {
	return t.All == 0 && !slices.ContainsFunc(t.some, func(x document.Tolerance) bool { return x.Share > 0 })
}

func (t *Tolerances) list() []document.Tolerance {
	return append([]document.Tolerance{{Share: t.All}}, t.some...)
}
