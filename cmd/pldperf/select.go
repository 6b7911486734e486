package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

type writer = io.Writer

// maxCurves is how many curves or groups a plot holds and stays legible.
const maxCurves = 6

// maxNames is how many colours there are for curves that have names and no order.
const maxNames = 11

// comparison reads the result of a sweep.
func (in *input) comparison() (*reports.Comparison, error) {
	cmp, err := reports.ReadComparison(bytes.NewReader(in.data))
	if err != nil {
		err = fmt.Errorf("%s: %w", in.name, err)
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
// first, its last, and some between; of names, which have no order, those that come
// nearest to the fastest anywhere.
func few(cmp *reports.Comparison, along string) []reports.Point {
	for _, axis := range axesBut(cmp, along) {
		all, most := values(cmp.Points, axis), budget(cmp, axis, along)
		keep := spread(all, most)
		if areNames(all) {
			keep = quickest(cmp.Points, axis, all, most)
		}
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
	most := maxCurves
	if areNames(values(cmp.Points, axis)) {
		most = maxNames
	}
	return max(most/max(others, 1), 2)
}

// areNames reports whether values are names rather than amounts.
func areNames(all []string) bool {
	return slices.ContainsFunc(all, func(v string) bool {
		_, kind := engine.ReadQuantity(v)
		_, err := strconv.ParseFloat(v, 64)
		return kind == nil && err != nil
	})
}

// quickest keeps n values of an axis, in their order: those with the least time over that
// of the fastest of the points that share all other axes.
func quickest(points []reports.Point, axis string, all []string, n int) []string {
	shared := func(p *reports.Point) string {
		return fmt.Sprint(slices.DeleteFunc(slices.Clone(p.Axes), func(kv reports.KV) bool { return kv.Key == axis }))
	}
	best := map[string]engine.Duration{}
	for i := range points {
		if p := &points[i]; p.Status == result.OK && (best[shared(p)] == 0 || p.Elapsed < best[shared(p)]) {
			best[shared(p)] = p.Elapsed
		}
	}
	behind := func(v string) float64 {
		least := math.Inf(1)
		for i := range points {
			if p := &points[i]; p.Status == result.OK && value(p, axis) == v {
				least = min(least, float64(p.Elapsed)/float64(max(best[shared(p)], 1)))
			}
		}
		return least
	}
	order := slices.SortedStableFunc(slices.Values(all), func(a, b string) int { return cmp.Compare(behind(a), behind(b)) })
	order = order[:min(n, len(order))]
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool { return !slices.Contains(order, v) })
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
