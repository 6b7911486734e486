package main

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/configs"
	"pldperf/hw"
	"pldperf/workloads"
	"pldperf/workloads/fit"
)

// fileKind is a kind of file: what stands in front of its keys, and a value of the type that it
// is decoded into.
type fileKind struct {
	kind, prefix string
	spec         any
}

// roots are the kinds of files whose keys there are.
var roots = []fileKind{
	{"workload", "", workloads.Config{}},
	{"sweep", "sweep.", workloads.SweepConfig{}},
	{"fit", "fit.", fit.Spec{}},
	{"machine", "", hw.Spec{}}, // whose keys a workload has under machine
}

// key is a key of one of the files.
type key struct {
	configs.Key        // Path is with the prefix of the file's kind
	Kind        string // of the file
}

type keyList []key

// allKeys lists the keys of all kinds of files but machines, which workloads have.
func allKeys() (out keyList) {
	for _, r := range roots {
		if r.kind == "machine" {
			continue
		}
		for _, k := range configs.Describe(r.spec) {
			k.Path = r.prefix + k.Path
			for i := range k.When {
				if k.When[i].Path != "" {
					k.When[i].Path = r.prefix + k.When[i].Path
				}
			}
			out = append(out, key{k, r.kind})
		}
	}
	return out
}

// plain leaves out of a path the numbers of elements and what stands for them.
func plain(path string) string {
	var out []string
	for _, step := range strings.Split(path, ".") {
		if step != "[]" && step != "*" && step != "" && strings.Trim(step, "0123456789") != "" {
			out = append(out, step)
		}
	}
	return strings.Join(out, ".")
}

// omitted are beginnings that people leave out.
var omitted = []string{"", "machine.", "call."}

// workloadPrefix may stand in front of a workload's key, to tell it from a word.
const workloadPrefix = "workload."

// full is a key's path with which find finds no word.
func (k *key) full() string {
	if path := plain(k.Path); strings.Contains(path, ".") {
		return path
	}
	return workloadPrefix + k.Path
}

// namesakes says of keys that have been found beside a word how to ask for them.
func (l keyList) namesakes() string {
	switch len(l) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s is a key of files, too: pldperf explain %s", l[0].Path, l[0].full())
	}
	var names []string
	for i := range l {
		names = append(names, l[i].full())
	}
	return "Keys of files end in it, too: pldperf explain " + strings.Join(names, " | ")
}

// find returns the key that a word names; several where it is the last part of them, of
// which none is nearer.
func (l keyList) find(word string) (found keyList) {
	word = plain(strings.TrimPrefix(word, workloadPrefix))
	if word == "" {
		return nil
	}
	for _, before := range omitted {
		if i := slices.IndexFunc(l, func(k key) bool { return plain(k.Path) == before+word }); i >= 0 {
			return l[i : i+1]
		}
	}
	for _, r := range roots {
		if r.prefix == word+"." {
			return l.of(r.kind)
		}
	}
	for _, k := range l {
		if strings.HasSuffix(plain(k.Path), "."+word) && k.Kind == "workload" && !strings.HasPrefix(k.Path, "chain.") {
			found = append(found, k)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, k := range l {
		if strings.HasSuffix(plain(k.Path), "."+word) {
			found = append(found, k)
		}
	}
	return found
}

func (l keyList) of(kind string) (out keyList) {
	for _, k := range l {
		if k.Kind == kind {
			out = append(out, k)
		}
	}
	return out
}

// below returns the keys that are in a section, at any depth.
func (l keyList) below(path string) (out keyList) {
	for _, k := range l {
		if strings.HasPrefix(k.Path, path+".") {
			out = append(out, k)
		}
	}
	return out
}

// beside returns the names of the other keys of a key's section.
func (l keyList) beside(path string) (out []string) {
	section := parentOf(path)
	for _, k := range l {
		if parentOf(k.Path) == section && k.Path != path {
			out = append(out, strings.TrimPrefix(k.Path[len(section):], "."))
		}
	}
	return out
}

func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// unknown says that a word is neither key, word nor file, and what is near.
func (l keyList) unknown(word string) error {
	var known []string
	for _, before := range slices.Backward(omitted) {
		for _, k := range l {
			if rest, ok := strings.CutPrefix(plain(k.Path), before); ok {
				known = append(known, rest)
			}
		}
	}
	names, _ := wordNames()
	near := configs.Nearest(plain(word), append(names, known...))
	if near == "" { // perhaps its last part is
		last := plain(word)
		last = last[strings.LastIndexByte(last, '.')+1:]
		var ends []string
		for _, k := range l {
			path := plain(k.Path)
			ends = append(ends, path[strings.LastIndexByte(path, '.')+1:])
		}
		if end := configs.Nearest(last, ends); end != "" {
			near = plain(l.find(end)[0].Path)
		}
	}
	if near == "" {
		return fmt.Errorf("no key, no word and no file is called %q; pldperf explain machine, call, routing, sweep or fit lists keys, pldperf explain words what cards show", word)
	}
	return fmt.Errorf("no key, no word and no file is called %q; did you mean %q?", word, near)
}

// levels lists the keys of a kind of file, or of all, that begin with what was begun, as
// far as the next dot; end follows those that have no keys below.
func levels(begun, end, kind string) (out []string) {
	sections := map[string]bool{}
	var found []key
	for _, k := range allKeys() {
		path := plain(k.Path)
		rest, ok := strings.CutPrefix(path, begun)
		if !ok || kind != "" && k.Kind != kind {
			continue
		}
		if i := strings.IndexByte(rest, '.'); i >= 0 {
			sections[begun+rest[:i]] = true
			continue
		}
		found = append(found, k)
	}
	for _, k := range found {
		path, after := plain(k.Path), end
		if sections[path] {
			after = "."
		}
		if delete(sections, path); k.Doc != "" {
			after += "\t" + k.Doc
		}
		out = append(out, path+after)
	}
	for path := range sections { // those of no key of their own: sweep and fit
		out = append(out, path+".")
	}
	slices.Sort(out)
	return slices.Compact(out)
}
