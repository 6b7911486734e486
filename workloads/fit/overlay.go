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
// already, its values that were not fitted now are kept. What the explanation sets of the
// machine is in it, too. date, of the data or the fit, is put into the comments as it is;
// nothing is put there without one. Where no parameter belongs to the machine, it is the
// machine as it was.
func (c *Calibration) Overlay(date string) ([]byte, error) {
	text, err := c.header()
	if err != nil {
		return nil, err
	}
	leaf := func(path, value string) error {
		one := ""
		for i, s := range strings.Split(strings.TrimPrefix(path, "machine."), ".") {
			one += strings.Repeat("  ", i) + s + ":\n"
		}
		over, err := configs.Load(path, []byte(strings.TrimSuffix(one, "\n")+" "+value+"\n"))
		text = configs.Merge(text, over)
		return err
	}
	if len(c.spec.Alternatives) > 0 {
		a := &c.spec.Alternatives[0]
		for i, path := range a.Set.paths {
			if v := &a.Set.values[i]; ofMachine(path) && v.Column == "" {
				if err := leaf(path, fmt.Sprintf("%s # fit: set, not fitted: %s", v.text, a.Name)); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, p := range c.Params {
		for _, path := range slices.Concat([]string{p.Path}, p.also) {
			if !ofMachine(path) {
				continue
			}
			if err := leaf(path, c.band(p)+c.comment(p, date)); err != nil {
				return nil, err
			}
		}
	}
	return text.Marshal(), nil
}

// OfMachine reports whether a parameter of the machine was fitted.
func (c *Calibration) OfMachine() bool {
	return slices.ContainsFunc(c.Params, func(p Fitted) bool { return slices.ContainsFunc(slices.Concat([]string{p.Path}, p.also), ofMachine) })
}

func ofMachine(path string) bool { return strings.HasPrefix(path, "machine.") }

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
	text := fmt.Sprintf(" # fit: %s; %s, %s, error P50 %.2f %%, max %.2f %%", strings.Join(c.data(p), ", "), count(len(c.Params), "parameter"), count(c.Fit.N, "row"), 100*c.Fit.P50, 100*c.Fit.Max)
	if len(p.in) > 0 {
		text += "; of " + strings.Join(p.in, ", ")
	}
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
		if !ofMachine(p.Path) {
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

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
