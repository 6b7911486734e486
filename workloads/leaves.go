package workloads

import (
	"slices"
	"strings"
	"sync"

	"pldperf/configs"
)

// known lists what a workload can say; it never changes, and a sweep asks for each point.
var known = sync.OnceValue(func() []configs.Key { return configs.Describe(&Config{}) })

// Leaf is one value of a workload with everything merged in that it is based on.
type Leaf struct {
	configs.Param
	Default bool // no file says anything: it is the program's default
	Unread  bool // a parameter of the machine that the chosen models do not read
}

// Leaves lists every value that a run depends on: those of the files, in their order,
// then the defaults of keys that no file mentions, in sections that are there. Items of
// lists have no defaults here, because what they leave out depends on what they are.
func (w *Workload) Leaves() (out []Leaf) {
	for _, p := range w.Doc.Params() {
		out = append(out, Leaf{Param: p, Unread: w.ignores(p.Path)})
	}
	for _, k := range known() {
		section, _, nested := strings.Cut(k.Path, ".")
		if k.Default == "" || strings.ContainsAny(k.Path, "[*") || nested && !w.Doc.Has(section) || w.Doc.Has(k.Path) {
			continue
		}
		out = append(out, Leaf{Param: configs.Param{Path: k.Path, Value: k.Default}, Default: true, Unread: w.ignores(k.Path)})
	}
	return out
}

// ignores reports whether a path is a parameter of the machine that no model reads.
func (w *Workload) ignores(path string) bool {
	path, machine := strings.CutPrefix(path, "machine.")
	return machine && !slices.Contains(labels, path) && !w.reads(path)
}
