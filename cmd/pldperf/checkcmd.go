package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/hw"
	"pldperf/workloads"
	"pldperf/workloads/fit"
)

const checkLong = `Read workloads, sweeps, machines and files of measured cases and report everything that is
wrong with them, where it stands in the file, without running anything. A sweep is checked
point by point.

What nothing reads is a warning, or with --strict an error: a key of another fabric or of
the real part behind an ideal twin, a part of the machine that none of the calls uses.
See: pldperf explain KEY.

Examples:
  pldperf check my.yaml
  pldperf check configs/workloads/*.yaml --json
  pldperf init | pldperf check -`

func (a *app) checkCommand() *cobra.Command {
	var sets []string
	var asJSON, strict bool
	c := &cobra.Command{
		Use: "check FILE...", Short: "validate workloads, sweeps, machines and measured cases without running them", Long: checkLong,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: complete(configs.Workloads, configs.Sweeps, configs.Machines, configs.Measured),
		RunE: func(_ *cobra.Command, args []string) error { return a.check(args, sets, asJSON, strict) },
	}
	c.Flags().StringArrayVar(&sets, "set", nil, "override a field of a workload: path=value (repeatable)")
	c.Flags().BoolVar(&asJSON, "json", false, "for each file its kind, or its problems with line and column, as JSON")
	c.Flags().BoolVar(&strict, "strict", false, strictHelp)
	return c
}

// verdictOf is what check says of a file.
type verdictOf struct {
	File     string    `json:"file"`
	OK       bool      `json:"ok"`
	Kind     string    `json:"kind,omitempty"`
	Summary  string    `json:"summary,omitempty"`
	Problems []problem `json:"problems,omitempty"`
	Unread   []problem `json:"unread,omitempty"` // values that nothing reads

	Oversize []problem `json:"oversize,omitempty"` // more ranks than the machine stands for

	unread, oversize configs.Problems
}

// problem is a configs.Problem as JSON has it; line and col are 0 where there are none.
type problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (a *app) check(names, sets []string, asJSON, strict bool) error {
	var all []verdictOf
	var faults []error
	for _, name := range names {
		v, err := a.checkFile(name, sets)
		if err == nil && strict && len(v.unread) > 0 {
			err = v.unread
		}
		if v.Unread = problemList(v.unread); err != nil {
			faults = append(faults, err)
			v.Problems = problemsOf(err)
		}
		v.Oversize = problemList(v.oversize)
		v.OK = err == nil
		all = append(all, v)
		if asJSON || !v.OK {
			continue
		}
		a.warn(v.unread)
		a.warn(v.oversize)
		if _, err := fmt.Fprintf(a.out, "%s: ok, %s\n", v.File, v.Summary); err != nil {
			return err
		}
	}
	if asJSON {
		if err := a.writeJSON(all); err != nil {
			return err
		}
		if len(faults) > 0 {
			return failure{exitUsage}
		}
	}
	return errors.Join(faults...)
}

func problemsOf(err error) (out []problem) {
	var placed configs.Problems
	if !errors.As(err, &placed) {
		return []problem{{Message: err.Error()}}
	}
	return problemList(placed)
}

func problemList(placed configs.Problems) (out []problem) {
	for _, p := range placed {
		out = append(out, problem{p.File, p.Line, p.Col, p.Path, p.Message})
	}
	return out
}

// checkFile validates a file of any kind and says what it is.
func (a *app) checkFile(name string, sets []string) (v verdictOf, err error) {
	v.File = name
	file, doc, err := a.document(name)
	if err != nil {
		return v, err
	}
	v.File = file
	if kind := "a file of cases"; len(sets) > 0 && (doc.Has("cases") || isMachine(doc)) {
		if isMachine(doc) {
			kind = "a machine"
		}
		return v, fmt.Errorf("--set: %s is %s; workloads and sweeps take settings, machine.KEY=VALUE among them", file, kind)
	}
	switch {
	case doc.Has("axes"):
		s, err := workloads.SweepFromDoc(file, doc, sets)
		if err != nil {
			return v, err
		}
		v.unread = s.Unread
		v.Kind, v.Summary = "sweep", fmt.Sprintf("a sweep of %s over %s", plural(len(s.Points), "point"), plural(len(s.Axes), "axis"))
	case doc.Has("cases"):
		f, err := fit.FromDoc(file, doc)
		if err != nil {
			return v, err
		}
		odd, err := f.Verify()
		if err != nil {
			return v, err
		}
		for _, text := range odd {
			v.unread = append(v.unread, configs.Problem{File: file, Message: text})
		}
		v.Kind, v.Summary = "fit", fmt.Sprintf("%s of measurements on %s", plural(len(f.Cases), "case"), f.Machine)
	case isMachine(doc):
		spec, err := machine(doc)
		if err != nil {
			return v, err
		}
		v.Kind, v.Summary = "machine", fmt.Sprintf("machine %s with %s", spec.Name, plural(spec.AIV.Count, "AIV"))
	default:
		w, err := workloads.CheckDoc(file, doc, sets)
		if err != nil {
			return v, err
		}
		v.unread, v.oversize = w.Unread(), w.Oversize()
		v.Kind, v.Summary = "workload", fmt.Sprintf("a workload of %s on %s", plural(w.Config.Ranks, "rank"), w.Config.Machine.Name)
	}
	return v, nil
}

// isMachine tells a machine from a workload, which has one under "machine".
func isMachine(doc *configs.Doc) bool {
	return doc.Has("based_on") || doc.Has("aiv") || doc.Has("fabric") || doc.Has("urma")
}

func machine(doc *configs.Doc) (spec hw.Spec, err error) {
	full, err := workloads.WithBases(doc)
	if err == nil {
		err = full.Decode(&spec)
	}
	return spec, err
}

func plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case word == "axis":
		return fmt.Sprintf("%d axes", n)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
