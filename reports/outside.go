package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pldperf/hw/result"
	"pldperf/reports/document"
)

// outsideMark stands behind figures of runs that lie beyond what was measured.
const outsideMark = "*"

// marked returns text with the mark where there is something beyond what was measured.
func marked(text string, outside []document.Outside) string {
	if len(outside) == 0 {
		return text
	}
	return text + outsideMark
}

// outsideNote explains the mark; empty where there is none to explain. Of several runs it
// puts together what lies beyond the same measurements.
func outsideNote(runs ...[]document.Outside) string {
	type key struct{ what, known string }
	var order []key
	values := map[key][]string{}
	for _, run := range runs {
		for _, o := range run {
			k := key{o.What, o.Known}
			if values[k] == nil {
				order = append(order, k)
				values[k] = []string{}
			}
			if !slices.Contains(values[k], o.Value) {
				values[k] = append(values[k], o.Value)
			}
		}
	}
	var parts []string
	for _, k := range order {
		parts = append(parts, document.Outside{What: k.what, Value: spanned(values[k]), Known: k.known}.String())
	}
	if len(parts) == 0 {
		return ""
	}
	return outsideMark + " outside what was measured: " + strings.Join(parts, "; ")
}

// spanned sums up values: from the least to the largest where they are amounts.
func spanned(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	for _, v := range values {
		if _, ok := magnitude(v); !ok {
			return strings.Join(values, ", ")
		}
	}
	by := func(a, b string) int {
		x, _ := magnitude(a)
		y, _ := magnitude(b)
		return cmp.Compare(x, y)
	}
	return fmt.Sprintf("%s to %s", slices.MinFunc(values, by), slices.MaxFunc(values, by))
}

// outsideNote explains the marks of a comparison.
func (c *Comparison) outsideNote() []string {
	var all [][]document.Outside
	for i := range c.Points {
		if c.Points[i].Status == result.OK {
			all = append(all, c.Points[i].Outside)
		}
	}
	if note := outsideNote(all...); note != "" {
		return []string{note}
	}
	return nil
}
