package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/term"

	"pldperf/hw/result"
	"pldperf/reports"
	"pldperf/reports/document"
	"pldperf/workloads"
)

// card turns an outcome into the cost card that reports write.
func card(o *workloads.Outcome) *reports.Card {
	c := &reports.Card{
		Title: o.Title, Result: o.Result, Size: o.Message, SQDepth: o.SQDepth, Notes: o.Warnings,
		Params: reports.ParamCount{
			Documented: o.Params.Documented, Fitted: o.Params.Fitted, Assumed: o.Params.Assumed, User: o.Params.User,
			AssumedThatMattered: o.Params.Mattered,
		},
	}
	c.Outside = outside(o)
	if o.Clock != nil {
		c.Clock = (*document.BenchClock)(o.Clock)
	}
	for _, x := range o.Params.Outside {
		c.Params.Outside = append(c.Params.Outside, document.Outside(x).String())
	}
	if o.Result.Abort == nil {
		c.Formula = o.Formula
	}
	for _, in := range o.Inputs {
		c.Inputs = append(c.Inputs, reports.KV{Key: in.Key, Value: in.Value})
	}
	for _, f := range o.Formulas {
		c.Formulas = append(c.Formulas, reports.KV{Key: f[0], Value: f[1]})
	}
	for _, b := range o.Bounds {
		c.Bound.Parts = append(c.Bound.Parts, reports.BoundPart{Name: b.Name, Time: b.Time, What: b.Text})
		c.Bound.Total = max(c.Bound.Total, b.Time)
	}
	return c
}

// outside lists how a run lies beyond what was measured.
func outside(o *workloads.Outcome) (all []document.Outside) {
	for _, x := range slices.Concat(o.Outside, o.Params.Outside) {
		all = append(all, document.Outside(x))
	}
	return all
}

// verdict is the exit code of a finished run.
func verdict(s result.Status) error {
	if s == result.OK {
		return nil
	}
	return failure{exitBad}
}

// shown are the options of a report of at least so many columns.
func (a *app) shown(least int) reports.Options {
	return reports.Options{Width: max(width(a.out), least), Program: version()}
}

// width returns the columns of the terminal that w is; 0 when it is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return min(n, 140)
}

// terminal reports whether w is a terminal: only then is progress shown.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// parseFormat returns the format called name; asJSON is the short way to ask for JSON.
func parseFormat(name string, asJSON bool) (reports.Format, error) {
	switch {
	case asJSON && name != "text" && name != "json":
		return "", fmt.Errorf("--json and --format %s ask for two formats", name)
	case asJSON:
		return reports.JSON, nil
	case name == "md":
		return reports.Markdown, nil
	}
	f, err := reports.ParseFormat(name)
	if err != nil {
		return "", fmt.Errorf("--format: %q; there are text, md, csv and json", name)
	}
	return f, nil
}

// folderOf checks the folder of a file that a long run will write.
func folderOf(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("cannot write %s: %s is not a folder", path, dir)
	}
	return nil
}

// output writes to a file, or to standard output when there is none.
func (a *app) output(path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(a.out)
	}
	return reports.WriteFile(path, write)
}
