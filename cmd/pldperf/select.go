package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"pldperf/reports"
)

type writer = io.Writer

// maxCurves is how many curves or groups a plot holds and stays legible.
const maxCurves = 6

func readComparison(name string) (*reports.Comparison, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmp, err := reports.ReadComparison(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return cmp, err
}

func hasAxis(cmp *reports.Comparison, axis string) bool {
	return slices.ContainsFunc(cmp.Points[0].Axes, func(kv reports.KV) bool { return kv.Key == axis })
}

// sizeAxis returns the axis along which the message grows: one whose name says so.
func sizeAxis(cmp *reports.Comparison) string {
	for _, kv := range cmp.Points[0].Axes {
		for _, end := range []string{"message", "size", "tokens", "rows", "hidden"} {
			if strings.HasSuffix(kv.Key, end) {
				return kv.Key
			}
		}
	}
	return ""
}

// raceAxis returns the axis along which algorithms are compared: that of sizes, else
// the number of ranks.
func raceAxis(cmp *reports.Comparison) string {
	if axis := sizeAxis(cmp); axis != "" {
		return axis
	}
	if hasAxis(cmp, "ranks") {
		return "ranks"
	}
	return ""
}

// lastGroup returns the points of the last value of every axis but the recommended
// one: the largest case, when axes ascend.
func lastGroup(cmp *reports.Comparison) []reports.Point {
	last := cmp.Points[len(cmp.Points)-1]
	return filter(cmp.Points, func(p *reports.Point) bool {
		for i, kv := range p.Axes {
			if kv.Key != cmp.Axis && kv.Value != last.Axes[i].Value {
				return false
			}
		}
		return true
	})
}

// few keeps so many values of the recommended axis that the curves stay legible: its
// first, its last, and some between.
func few(cmp *reports.Comparison, along string) []reports.Point {
	for _, axis := range axesBut(cmp, along) {
		keep := spread(values(cmp.Points, axis), budget(cmp, axis, along))
		cmp = &reports.Comparison{Axis: cmp.Axis, Points: filter(cmp.Points, func(p *reports.Point) bool {
			return slices.Contains(keep, value(p, axis))
		})}
	}
	return cmp.Points
}

// budget is how many values an axis may show when the others show theirs.
func budget(cmp *reports.Comparison, axis, along string) int {
	others := 1
	for _, a := range axesBut(cmp, along) {
		if a != axis {
			others *= len(values(cmp.Points, a))
		}
	}
	return max(maxCurves/max(others, 1), 2)
}

// fewGroups keeps the groups of some values of the other axes.
func fewGroups(cmp *reports.Comparison) []reports.Point { return few(cmp, cmp.Axis) }

func axesBut(cmp *reports.Comparison, but string) (out []string) {
	for _, kv := range cmp.Points[0].Axes {
		if kv.Key != but {
			out = append(out, kv.Key)
		}
	}
	return out
}

func value(p *reports.Point, axis string) string {
	for _, kv := range p.Axes {
		if kv.Key == axis {
			return kv.Value
		}
	}
	return ""
}

func values(points []reports.Point, axis string) (out []string) {
	for i := range points {
		if v := value(&points[i], axis); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// spread picks n of the values, the first and the last among them.
func spread(all []string, n int) []string {
	if len(all) <= n {
		return all
	}
	out := make([]string, n)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(n-1)]
	}
	return out
}

func filter(points []reports.Point, keep func(*reports.Point) bool) (out []reports.Point) {
	for i := range points {
		if keep(&points[i]) {
			out = append(out, points[i])
		}
	}
	return out
}
