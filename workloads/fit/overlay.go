package fit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pldperf/configs"
)

// Overlay is a machine file with the fitted values, each with a comment that says what
// it was fitted to; it is based on the machine of the fit. Where that is an overlay
// already, its values that were not fitted now are kept. date, of the data or the fit,
// is put into the comments as it is; nothing is put there without one. There is no
// overlay where no parameter belongs to the machine.
func (c *Calibration) Overlay(date string) ([]byte, error) {
	var own []Fitted
	for _, p := range c.Params {
		for _, path := range slices.Concat([]string{p.Path}, p.also) {
			if one := p; strings.HasPrefix(path, "machine.") {
				one.Path = path
				own = append(own, one)
			}
		}
	}
	if len(own) == 0 {
		return nil, nil
	}
	text, err := c.header()
	if err != nil {
		return nil, err
	}
	for _, p := range own {
		steps := strings.Split(strings.TrimPrefix(p.Path, "machine."), ".")
		one := ""
		for i, s := range steps {
			one += strings.Repeat("  ", i) + s + ":\n"
		}
		one = strings.TrimSuffix(one, "\n") + " " + c.band(p) + c.comment(p, date) + "\n"
		over, err := configs.Load(p.Path, []byte(one))
		if err != nil {
			return nil, err
		}
		text = configs.Merge(text, over)
	}
	return text.Marshal(), nil
}

// header is what an overlay begins with: what the machine's file says, if that is one.
func (c *Calibration) header() (*configs.Doc, error) {
	if exists(c.Machine) {
		doc, err := configs.Load(c.Machine, read(c.Machine))
		if err == nil && doc.Has("based_on") {
			return doc, nil
		}
	}
	name := strings.TrimSuffix(filepath.Base(c.Machine), ".yaml")
	text := fmt.Sprintf("based_on: %s\nname: %s\ntitle: %s\n", strconv.Quote(c.Machine), strconv.Quote(name+"-fit"), strconv.Quote(name+", fitted: "+c.Title))
	return configs.Load("overlay", []byte(text))
}

// band prints a value with its interval where the rows know it.
func (c *Calibration) band(p Fitted) string {
	if !p.Known || p.Low == p.High {
		return p.Value
	}
	return fmt.Sprintf("{value: %s, low: %s, high: %s}", p.Value, p.Low, p.High)
}

// comment says what a value was fitted to and how well that goes.
func (c *Calibration) comment(p Fitted, date string) string {
	text := fmt.Sprintf(" # fit: %s; %d parameters, %d rows, error P50 %.2f %%, max %.2f %%", strings.Join(c.data(p), ", "), len(c.Params), c.Fit.N, 100*c.Fit.P50, 100*c.Fit.Max)
	if !p.Known {
		text += "; the rows do not identify it"
	}
	if date != "" {
		text += "; " + date
	}
	return text
}

// data lists the tables of the cases to which a parameter applies.
func (c *Calibration) data(p Fitted) (out []string) {
	for _, k := range c.spec.Cases {
		if (len(p.in) == 0 || slices.Contains(p.in, k.Name)) && !slices.Contains(out, k.Data) {
			out = append(out, k.Data)
		}
	}
	return out
}

// Calls is the other half of an overlay: the fitted values of fields of calls, as the
// `start` of a later fit, by label.
func (c *Calibration) Calls(date string) []byte {
	var b strings.Builder
	for _, p := range c.Params {
		if !strings.HasPrefix(p.Path, "machine.") {
			fmt.Fprintf(&b, "%s: %s%s\n", strconv.Quote(p.Label), p.Value, c.comment(p, date))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return []byte(b.String())
}

// Starts reads what Calls has written.
func Starts(name string, data []byte) (map[string]string, error) {
	doc, err := configs.Load(name, data)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, label := range doc.Keys() {
		out[label] = doc.Child(label).Text()
	}
	return out, nil
}
