package main

import (
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
		if l.Default {
			leaf.Kind = document.Default
		}
		out = append(out, leaf)
	}
	return out
}

// differing lists the values of a point that are not those of the sweep's first run, but
// for the axes themselves.
func differing(shared, own []document.Leaf, axes []document.KV) (out []document.Leaf) {
	known := map[string]string{}
	for _, l := range shared {
		known[l.Path] = l.Value
	}
	for _, kv := range axes {
		known[kv.Key] = kv.Value
	}
	for _, l := range own {
		if v, ok := known[l.Path]; (!ok || v != l.Value) && !isAxis(axes, l.Path) {
			out = append(out, l)
		}
	}
	return out
}

func isAxis(axes []document.KV, path string) bool {
	for _, kv := range axes {
		if kv.Key == path {
			return true
		}
	}
	return false
}
