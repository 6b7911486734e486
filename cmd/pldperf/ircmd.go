package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/collectives"
	"pldperf/hw/program"
	"pldperf/reports"
	"pldperf/workloads"
)

const irLong = `Print the program that a rank's block runs, op by op with its operands. For a collective
with several forms, the hand form stands beside the builtin one, with the differences
marked: = the same, ~ the same op with other operands, < and > only on one side.

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
	json        bool
}

func (a *app) irCommand() *cobra.Command {
	var f irFlags
	c := &cobra.Command{
		Use: "ir FILE [FILE]", Short: "print a rank's program, the hand form beside the builtin's", Long: irLong,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return a.ir(args, &f) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.sets, "set", nil, "override a field: path=value (repeatable)")
	fl.StringSliceVar(&f.modes, "mode", nil, "two forms to compare; builtin is the InCore composite (default hand,builtin)")
	fl.IntVar(&f.rank, "rank", 0, "rank for which operands are resolved")
	fl.IntVar(&f.block, "block", 0, "block for which operands are resolved")
	fl.StringVar(&f.format, "format", "text", "text, markdown, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	return c
}

// form is one program to show.
type form struct {
	title string
	lines []program.Line
}

func (a *app) ir(files []string, f *irFlags) error {
	if f.json {
		f.format = "json"
	}
	format, err := reports.ParseFormat(f.format)
	if err != nil {
		return err
	}
	var forms []form
	for _, file := range files {
		more, err := a.forms(file, len(files) == 1, f)
		if err != nil {
			return err
		}
		forms = append(forms, more...)
	}
	b := form{}
	if len(forms) > 1 {
		b = forms[1]
	}
	return reports.IRSideBySide(a.out, format, reports.Options{Width: width(a.out)}, forms[0].lines, b.lines, [2]string{forms[0].title, b.title})
}

// forms records the programs of a file: the one that it names, or both modes.
func (a *app) forms(file string, both bool, f *irFlags) ([]form, error) {
	sets := f.sets
	name, doc, err := a.document(file)
	if err != nil {
		return nil, err
	}
	modes := f.modes
	if w, err := workloads.CheckDoc(name, doc, sets); err == nil && both && len(modes) == 0 && len(collectives.Forms(w.Config.Call.Op)) > 1 {
		modes = []string{"hand", "builtin"}
	}
	if len(modes) == 0 || !both {
		modes = []string{""}
	}
	if len(modes) > 2 {
		return nil, fmt.Errorf("--mode: two forms can stand side by side, not %d", len(modes))
	}
	var out []form
	for _, m := range modes {
		own := sets
		if m == "builtin" {
			m = "incore"
		}
		if m != "" {
			own = append(append([]string{}, sets...), "call.form="+m)
		}
		w, err := workloads.LoadDoc(name, doc, own)
		if err != nil {
			return nil, err
		}
		fm, err := record(w, f.rank, f.block)
		if err != nil {
			return nil, err
		}
		out = append(out, fm)
	}
	return out, nil
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
			fm.lines = append(fm.lines, program.Line{Phase: t.Name, Op: "compute", Operands: fmt.Sprintf("%v on %d AIVs", t.Compute, t.Blocks)})
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
