package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/reports"
	"pldperf/workloads"
)

const costLong = `Print the formula card of a collective without simulating it: bytes, messages, barriers,
notifies, credits and queue entries of a rank, with the formulas in words, and the lower
bound on the machine. Where ranks differ, the least and the most are shown. Without an
operation, list all operations with their forms.

The operation is OP or OP/FORM; a workload's name shows the cards of its calls, with its
machine and its routing. A routed operation sends --rows rows to each rank, unless --set
routing.kind=... says otherwise.

Examples:
  pldperf cost
  pldperf cost all_to_all/host --ranks 8 --size 4096
  pldperf cost indexed_all_to_all_v --ranks 16 --rows 100 --hidden 7168 --dtype INT8 --core-num 8
  pldperf cost a5-moe-dispatch --json`

type costFlags struct {
	sets                              []string
	machine, dtype, format            string
	ranks, size, coreNum, hidden, row int
	json, strict                      bool
	given                             *pflag.FlagSet
}

func (a *app) costCommand() *cobra.Command {
	var f costFlags
	c := &cobra.Command{
		Use: "cost [OP[/FORM] | FILE]", Short: "count what a collective costs by its formulas, without simulating", Long: costLong,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%s takes one operation, got %d arguments\nusage: %s", c.CommandPath(), len(args), c.UseLine())
			}
			return nil
		},
		ValidArgsFunction: completeOps,
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags()
			return a.cost(args, &f)
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.ranks, "ranks", 8, "P, ranks of the communication domain")
	fl.IntVar(&f.size, "size", 1024, "elements of a chunk, a row or a vector, as the operation says")
	fl.StringVar(&f.dtype, "dtype", "FP32", "element type: "+strings.Join(collectives.DTypes(), ", "))
	fl.IntVar(&f.coreNum, "core-num", 8, "B, AIVs of a rank; counts by itself only where an operation needs it")
	fl.IntVar(&f.hidden, "hidden", 1024, "H, elements of a row")
	fl.IntVar(&f.row, "rows", 64, "rows for each rank (routed operations), or of a rectangle (put, get: then default 2)")
	fl.StringVar(&f.machine, "machine", "950dt-64", "machine preset or file")
	fl.StringArrayVar(&f.sets, "set", nil, "set any field of the workload that is counted: path=value (repeatable)")
	fl.StringVar(&f.format, "format", "text", "text, md, csv or json")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.BoolVar(&f.strict, "strict", false, strictHelp)
	return c
}

// completeOps offers operations with their forms on the command line.
func completeOps(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, x := range collectives.All() {
		out = append(out, x.Name()+"\t"+x.Doc)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) cost(args []string, f *costFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	opt := a.shown(0)
	if len(args) == 0 {
		if err := refuse(f.given, "of an operation or a workload; pldperf cost alone lists the operations", "strict"); err != nil {
			return err
		}
		for _, x := range f.fields("rows") {
			if f.given.Changed(x.flag) || len(f.sets) > 0 {
				return fmt.Errorf("which operation? pldperf cost alone lists them; there are %s", strings.Join(collectives.Ops(), ", "))
			}
		}
		return operations().Write(a.out, format, opt)
	}
	w, err := a.costOf(args[0], f)
	if err == nil {
		err = a.unread(w.Unread(), f.strict, false)
	}
	if err != nil {
		return err
	}
	c, err := costCard(w)
	if err != nil {
		return err
	}
	return c.Write(a.out, format, opt)
}

// operations lists the registry.
func operations() *reports.Operations {
	o := &reports.Operations{}
	for _, x := range collectives.All() {
		o.Forms = append(o.Forms, reports.OperationForm{Op: x.Op, Form: x.Form, Default: x.Default || len(collectives.Forms(x.Op)) == 1, Doc: x.Doc,
			Fields: x.Fields, CoreNum: x.Columns, Routed: x.Routed})
	}
	return o
}

// costOf makes the workload that is counted: of an operation and flags, or of a file.
func (a *app) costOf(name string, f *costFlags) (*workloads.Workload, error) {
	op, form, _ := strings.Cut(name, "/")
	if slices.Contains(collectives.Ops(), op) {
		x, err := collectives.Lookup(op, form)
		if err != nil {
			return nil, fmt.Errorf("%w%s", err, hint(form, collectives.Forms(op)))
		}
		return f.workload(x)
	}
	if file, data, err := a.read(name); err == nil {
		return f.fileWorkload(name, file, data)
	}
	known := slices.Concat(collectives.Ops(), configs.Names(configs.Workloads))
	return nil, fmt.Errorf("no operation and no workload %q%s; there are %s", name, hint(name, known), strings.Join(collectives.Ops(), ", "))
}

// fileWorkload makes the workload of a file, with the flags over it.
func (f *costFlags) fileWorkload(name, file string, data []byte) (*workloads.Workload, error) {
	doc, err := load(file, data)
	if err == nil {
		err = noWorkload(doc, name)
	}
	if err != nil {
		return nil, err
	}
	own, err := f.over(doc)
	if err != nil {
		return nil, err
	}
	return workloads.LoadDoc(file, own, f.sets)
}

// field is where a flag's value goes.
type field struct{ flag, path, value string }

// fields lists the flags' values with the fields of a workload that they are.
func (f *costFlags) fields(rows string) []field {
	n := func(v int) string { return fmt.Sprint(v) }
	return []field{
		{"machine", "machine.preset", f.machine}, {"ranks", "ranks", n(f.ranks)}, {"size", "call.size", n(f.size)}, {"dtype", "call.dtype", f.dtype},
		{"core-num", "call.core_num", n(f.coreNum)}, {"hidden", "call.hidden", n(f.hidden)}, {"rows", rows, n(f.row)},
	}
}

// over puts the flags that are given over a file.
func (f *costFlags) over(doc *configs.Doc) (*configs.Doc, error) {
	own, err := workloads.Normal(doc)
	if err != nil {
		return nil, err
	}
	copied := *own
	for _, x := range f.fields("routing.rows") {
		if f.given.Changed(x.flag) {
			if err := copied.SetFrom("--"+x.flag, x.path, x.value); err != nil {
				return nil, err
			}
		}
	}
	return &copied, nil
}

// workload makes a workload of one call. Flags that are not given count where the
// algorithm reads the field and no --set says something else.
func (f *costFlags) workload(x *collectives.Algorithm) (*workloads.Workload, error) {
	doc := new(configs.Doc)
	set := func(origin, path, value string) error { return doc.SetFrom(origin, path, value) }
	if err := set(x.Name(), "call.op", x.Op); err != nil {
		return nil, err
	}
	if err := set(x.Name(), "call.form", x.Form); err != nil {
		return nil, err
	}
	rows := "call.rows"
	if x.Routed {
		rows = "routing.rows"
	}
	for _, v := range f.fields(rows) {
		if v.flag == "rows" && !x.Routed && !f.given.Changed("rows") {
			v.value = "2" // a small rectangle
		}
		if f.given.Changed(v.flag) || f.wants(x, v) {
			if err := set("--"+v.flag, v.path, v.value); err != nil {
				return nil, err
			}
		}
	}
	if x.Routed && !f.overrides("routing.") && !f.overrides("call.message") {
		if err := set("default", "routing.kind", "uniform"); err != nil {
			return nil, err
		}
	}
	return workloads.LoadDoc("command line", doc, f.sets)
}

// wants reports whether the default of a flag counts.
func (f *costFlags) wants(x *collectives.Algorithm, v field) bool {
	name, inCall := strings.CutPrefix(v.path, "call.")
	switch {
	case f.overrides(v.path):
		return false
	case v.flag == "rows":
		return (x.Routed || slices.Contains(x.Fields, "chunk_rows")) && !f.overrides("routing.") && !f.overrides("call.message")
	case v.flag == "core-num":
		return x.Routed && x.Columns
	case v.flag == "size" && f.overrides("call.message"):
		return false
	}
	return !inCall || slices.Contains(x.Fields, name)
}

// overrides reports whether a --set names the path or something below it.
func (f *costFlags) overrides(path string) bool {
	return slices.ContainsFunc(f.sets, func(s string) bool { return strings.HasPrefix(s, path) })
}

// costCard turns the costs of a workload's calls into the card that reports write.
func costCard(w *workloads.Workload) (*reports.Cost, error) {
	costs, err := w.Costs()
	if err != nil {
		return nil, err
	}
	c := &reports.Cost{}
	for _, in := range w.CostInputs() {
		c.Inputs = append(c.Inputs, reports.KV{Key: strings.TrimSpace(in.Key), Value: in.Value})
	}
	for i := range costs {
		x := &costs[i]
		call := reports.CostCall{
			Name: x.Name, Op: x.Algorithm.Op, Form: x.Algorithm.Form, Doc: x.Algorithm.Doc, Fields: x.Algorithm.Fields, Phases: x.Phases,
			Ranks: x.Ranks, Bytes: x.Bytes, Barriers: x.Barriers, Waits: x.Waits, Note: x.Note,
		}
		for _, kv := range x.Algorithm.Formulas {
			call.Formulas = append(call.Formulas, reports.KV{Key: kv[0], Value: kv[1]})
		}
		for _, b := range x.Bounds {
			call.Bound.Parts = append(call.Bound.Parts, reports.BoundPart{Name: b.Name, Time: b.Time, What: b.Text})
			call.Bound.Total = max(call.Bound.Total, b.Time)
		}
		c.Calls = append(c.Calls, call)
	}
	c.Title = w.Config.Title
	if c.Title == "" && len(costs) > 0 {
		c.Title = fmt.Sprintf("%s on %d ranks", costs[0].Algorithm.Name(), w.Config.Ranks)
	}
	return c, nil
}
