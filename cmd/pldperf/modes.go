package main

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/workloads"
)

// formsOf turns --mode into forms of the workload's call. Without it they are the
// file's form, and where that or another one is by hand the counterpart.
func (f *irFlags) formsOf(w *workloads.Workload, alone bool) ([]string, error) {
	call := &w.Config.Call
	x, err := collectives.Lookup(call.Op, call.Form)
	switch {
	case len(f.modes) > 2:
		return nil, fmt.Errorf("--mode: two forms can stand side by side, not %d", len(f.modes))
	case err != nil && len(f.modes) > 0:
		return nil, fmt.Errorf("--mode: %s is a chain; its calls have forms of their own", w.File)
	case err != nil:
		return []string{""}, nil
	case len(f.modes) == 0 && alone:
		return counterparts(x), nil
	case len(f.modes) == 0:
		return []string{""}, nil
	}
	var out []string
	for _, m := range f.modes {
		form := modeForm(x, m)
		if form == "" {
			forms := collectives.Forms(x.Op)
			return nil, fmt.Errorf("--mode: %s has no form %q%s; there are %s", x.Op, m, hint(m, forms), strings.Join(forms, ", "))
		}
		out = append(out, form)
	}
	return out, nil
}

// counterparts are a form and, beside it, the hand form of a builtin or the builtin of
// a hand form; only the form where there is no other.
func counterparts(x *collectives.Algorithm) []string {
	hand, builtin := x.Form, modeForm(x, "builtin")
	if !isMode(x.Form, "hand") {
		hand, builtin = formWith(x, "hand"), x.Form
	}
	if hand == "" || builtin == "" || hand == builtin {
		return []string{x.Form}
	}
	return []string{hand, builtin}
}

// isMode reports whether a form's name has the word.
func isMode(form, word string) bool { return slices.Contains(strings.Split(form, "_"), word) }

// modeForm returns the form that a mode means beside x: one of that name, or that of the
// forms with the word which is most like x. Of equals the default, else the first.
func modeForm(x *collectives.Algorithm, mode string) string {
	forms := collectives.Forms(x.Op)
	if slices.Contains(forms, mode) {
		return mode
	}
	if mode != "builtin" {
		return formWith(x, mode)
	}
	if form := formWith(x, "incore"); form != "" {
		return form
	}
	return formWith(x, "host")
}

// formWith returns the form with a word in its name that is most like x.
func formWith(x *collectives.Algorithm, word string) (best string) {
	likeness := -1
	for _, form := range collectives.Forms(x.Op) {
		if !isMode(form, word) {
			continue
		}
		n := 2 * alike(form, x.Form)
		if a, err := collectives.Lookup(x.Op, form); err == nil && a.Default {
			n++
		}
		if n > likeness {
			best, likeness = form, n
		}
	}
	return best
}

// alike counts the words that two forms share.
func alike(a, b string) (n int) {
	for _, word := range strings.Split(a, "_") {
		if isMode(b, word) {
			n++
		}
	}
	return n
}

// withForm loads a workload with another form of its call, without the fields that the
// form does not read.
func withForm(name string, doc *configs.Doc, sets []string, form string) (*workloads.Workload, error) {
	if form == "" {
		return workloads.LoadDoc(name, doc, sets)
	}
	own, err := workloads.WithForm(name, doc, sets, form)
	if err != nil {
		return nil, err
	}
	return workloads.FromDoc(name, own)
}
