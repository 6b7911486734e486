package main

import (
	"slices"
	"strings"

	"pldperf/configs"
	"pldperf/reports/document"
	"pldperf/workloads"
)

// sources are the kinds of values as documents name them.
var sources = map[configs.Kind]document.Source{
	configs.KindNone: document.Stated, configs.Documented: document.Documented, configs.Fitted: document.Fitted,
	configs.Assumed: document.Assumed, configs.User: document.User,
}

// leaves lists all values of a workload as documents hold them.
func leaves(w *workloads.Workload) (out []document.Leaf) {
	for _, l := range w.Leaves() {
		leaf := document.Leaf{
			Path: l.Path, Value: l.Value, Low: l.Low, High: l.High, Kind: sources[l.Kind], Text: l.Source, File: l.File, Line: l.Line, Unread: l.Unread,
		}
		switch {
		case l.Default:
			leaf.Kind = document.Default
		case l.Kind == configs.User:
			leaf.Text = "" // it repeats the place
			if !strings.HasPrefix(l.Path, "machine.") && l.Line > 0 {
				leaf.Kind = document.Stated // what a workload says for itself overrides nothing
			}
		}
		out = append(out, leaf)
	}
	return out
}

// differing lists the values of a point that are not those of the sweep's first run, but
// for the axes themselves.
func differing(shared, own []document.Leaf, axes []document.KV) (out []document.Leaf) {
	known := make(map[string]string, len(shared))
	for _, l := range shared {
		known[l.Path] = l.Value
	}
	for _, l := range own {
		if v, ok := known[l.Path]; (!ok || v != l.Value) && !isAxis(axes, l.Path) {
			out = append(out, l)
		}
		delete(known, l.Path)
	}
	for _, l := range shared {
		if _, gone := known[l.Path]; gone && !isAxis(axes, l.Path) {
			out = append(out, document.Leaf{Path: l.Path, Kind: l.Kind, Absent: true})
		}
	}
	return out
}

func isAxis(axes []document.KV, path string) bool {
	return slices.ContainsFunc(axes, func(kv document.KV) bool { return kv.Key == path })
}
