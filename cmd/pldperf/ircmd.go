package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/hw/program"
	"pldperf/reports"
	"pldperf/workloads"
)

const irLong = `Print the program that a rank's block runs, op by op with its operands, loops once and
with their counts. For a collective with a hand form and a builtin, the two stand side by
side with the differences marked: = the same, ~ the same op with other operands or in
another loop, < and > only on one side. What a block never executes is not shown.

A mode is the name of a form, or a word of it: hand, incore, host. builtin is the InCore
composite where there is one, else the HOST builtin. Of several forms the one counts that
is most like the file's: the hand form of a ring beside its builtin. Fields of the call
that a form does not read are left out.

Examples:
  pldperf ir all-to-all-p4                       # hand beside incore
  pldperf ir all-to-all-p4 --mode hand,host
  pldperf ir a5-moe-dispatch --rank 2 --block 1  # resolved for that block
  pldperf ir all-to-all-p4 all-to-all-incore-p8 --json`

type irFlags struct {
	sets        []string
	modes       []string
	rank, block int
	format      string
	json, all   bool
	strict      bool
}

func (a *app) irCommand() *cobra.Command {
	var f irFlags
	c := &cobra.Command{
		Use: "ir FILE [FILE]", Short: "print a rank's program, or two forms side by side", Long: irLong,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: complete(configs.Workloads),
		RunE:              func(_ *cobra.Command, args []string) error { return a.ir(args, &f) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.sets, "set", nil, "override a field: path=value (repeatable)")
	fl.StringSliceVar(&f.modes, "mode", nil, "one form, or two to compare: names or words of them, or builtin; default: the file's, and where one is by hand both")
	fl.IntVar(&f.rank, "rank", 0, "rank for which operands are resolved")
	fl.IntVar(&f.block, "block", 0, "block for which operands are resolved")
	fl.BoolVar(&f.all, "all", false, "show phases of many lines in full as text and markdown too")
	fl.StringVar(&f.format, "format", "text", "text, md, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.BoolVar(&f.strict, "strict", false, strictHelp)
	return c
}

// form is one program to show.
type form struct {
	title string
	lines []program.Line
}

func (a *app) ir(files []string, f *irFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	if len(files) > 1 && len(f.modes) > 0 {
		return errors.New("--mode compares forms of one file; of two files each shows the form that it names")
	}
	var forms []form
	for _, file := range files {
		more, err := a.forms(file, len(files) == 1, f)
		if err != nil {
			return err
		}
		forms = append(forms, more...)
	}
	forms = append(forms, form{})
	both := reports.SideBySide{Titles: [2]string{forms[0].title, forms[1].title}, A: forms[0].lines, B: forms[1].lines, All: f.all}
	return both.Write(a.out, format, a.shown(0))
}

// forms records the programs of a file: the one that it names, or two modes.
func (a *app) forms(file string, alone bool, f *irFlags) ([]form, error) {
	name, doc, err := a.workloadDoc(file)
	if err != nil {
		return nil, err
	}
	w, err := workloads.CheckDoc(name, doc, f.sets)
	if err == nil {
		err = a.unread(w.Unread(), f.strict, false)
	}
	if err != nil {
		return nil, err
	}
	modes, err := f.formsOf(w, alone)
	if err != nil {
		return nil, err
	}
	var out []form
	for _, m := range modes {
		fm, err := formOf(name, doc, f, m)
		if err != nil {
			return nil, err
		}
		out = append(out, fm)
	}
	return out, nil
}

// formOf records the program of one form; the empty one is what the file says.
func formOf(name string, doc *configs.Doc, f *irFlags, mode string) (form, error) {
	w, err := withForm(name, doc, f.sets, mode)
	if err != nil {
		return form{}, err
	}
	return record(w, f.rank, f.block)
}

// record resolves the programs of a workload's tasks for one rank and block.
func record(w *workloads.Workload, rank, block int) (form, error) {
	job, err := w.Job()
	if err != nil {
		return form{}, err
	}
	if rank < 0 || rank >= job.Ranks {
		return form{}, fmt.Errorf("--rank: %d, but the ranks are 0 to %d", rank, job.Ranks-1)
	}
	var fm form
	var names []string
	for i := range job.Tasks {
		t := &job.Tasks[i]
		if t.Repeat > 0 {
			continue
		}
		if t.Program == nil {
			fm.lines = append(fm.lines, program.Line{Phase: t.Name, Op: "compute", Operands: fmt.Sprintf("%v on %d AIVs", t.Compute, t.Blocks), Times: 1})
			continue
		}
		if block < 0 || block >= t.Blocks {
			return form{}, fmt.Errorf("--block: %d, but %s launches %d", block, t.Program.Name, t.Blocks)
		}
		names = append(names, t.Program.Name)
		fm.lines = append(fm.lines, t.Program.Lines(rank, block, job.Buffers)...)
	}
	fm.title = fmt.Sprintf("%s, rank %d of %d, block %d", strings.Join(names, " + "), rank, job.Ranks, block)
	return fm, nil
}
