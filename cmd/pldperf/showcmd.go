package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/hw"
	"pldperf/workloads"
	"pldperf/workloads/routing"
)

// listed are the kinds of things that come with the program.
var listed = []string{configs.Machines, configs.Workloads, configs.Sweeps, "models", configs.Measured, configs.Traffic}

func (a *app) presetsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "presets [" + strings.Join(listed, "|") + "]", Short: "list the machines, workloads, sweeps and models that come with pldperf",
		Long: "List what comes with pldperf. `pldperf show NAME` prints one in full.\n\nExamples:\n  pldperf presets\n  pldperf presets machines --json",
		Args: cobra.MaximumNArgs(1), ValidArgs: listed,
		RunE: func(_ *cobra.Command, args []string) error { return a.presets(args, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "names and titles as JSON")
	return c
}

// entry is one thing that is listed.
type entry struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Title string `json:"title"`
}

func (a *app) presets(args []string, asJSON bool) error {
	kinds := listed
	if len(args) == 1 {
		if !slices.Contains(listed, args[0]) {
			return fmt.Errorf("no kind %q; there are %s%s", args[0], strings.Join(listed, ", "), hint(args[0], listed))
		}
		kinds = args
	}
	var all []entry
	for _, k := range kinds {
		e, err := entries(k)
		if err != nil {
			return err
		}
		all = append(all, e...)
	}
	if asJSON {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", " ")
		return enc.Encode(all)
	}
	last := ""
	for _, e := range all {
		if e.Kind != last {
			if last != "" {
				fmt.Fprintln(a.out)
			}
			fmt.Fprintf(a.out, "%s\n", e.Kind)
			last = e.Kind
		}
		if _, err := fmt.Fprintf(a.out, "  %-42s %s\n", e.Name, e.Title); err != nil {
			return err
		}
	}
	return nil
}

func hint(word string, known []string) string {
	if near := configs.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

func entries(kind string) ([]entry, error) {
	if kind == "models" {
		return models()
	}
	var out []entry
	for _, name := range configs.Names(kind) {
		e := entry{Kind: kind, Name: name}
		if kind != configs.Measured && kind != configs.Traffic {
			doc, err := configs.Preset(kind, name)
			if err != nil {
				return nil, err
			}
			e.Title = doc.At("title").Text()
		}
		out = append(out, e)
	}
	return out, nil
}

func models() ([]entry, error) {
	_, data, err := configs.Find(routing.ShapesFile)
	if err != nil {
		return nil, err
	}
	shapes, err := routing.ParseShapes(routing.ShapesFile, data)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, name := range shapes.Names() {
		title := "shape incomplete in its source"
		if s, err := shapes.Model(name); err == nil {
			title = fmt.Sprintf("hidden %d, top-%d of %d experts", s.Hidden, s.TopK, s.Experts)
		}
		out = append(out, entry{"models", name, title})
	}
	return out, nil
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "print one preset in full, with the source of every value",
		Long: "Print a machine with everything that it is based on and the source of every value, or a workload or sweep.\n\nExamples:\n  pldperf show 950dt-64\n  pldperf show a5-moe-dispatch > mine.yaml",
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			file, doc, err := a.document(args[0])
			if err != nil {
				return err
			}
			if doc.Has("aiv") || doc.Has("based_on") {
				if doc, err = workloads.Machine(args[0]); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(a.out, "# %s\n%s", file, doc.Marshal())
			return err
		},
	}
}

func (a *app) checkCommand() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use: "check FILE...", Short: "validate workloads, sweeps and machines without running them",
		Long: "Read files and report everything that is wrong with them, where it stands.\n\nExamples:\n  pldperf check my.yaml\n  pldperf check configs/workloads/*.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var faults []string
			for _, name := range args {
				text, err := a.check(name, sets)
				if err != nil {
					faults = append(faults, err.Error())
					continue
				}
				if _, err := fmt.Fprintln(a.out, text); err != nil {
					return err
				}
			}
			if len(faults) > 0 {
				return errors.New(strings.Join(faults, "\n"))
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&sets, "set", nil, "override a field: path=value (repeatable)")
	return c
}

// check validates a file of any kind and says what it is.
func (a *app) check(name string, sets []string) (string, error) {
	file, doc, err := a.document(name)
	if err != nil {
		return "", err
	}
	switch {
	case doc.Has("axes"):
		s, err := workloads.SweepFromDoc(file, doc, sets)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: ok, a sweep of %d points over %d axes", file, len(s.Points), len(s.Axes)), nil
	case doc.Has("aiv") || doc.Has("based_on"):
		m, err := workloads.Machine(name)
		if err != nil {
			return "", err
		}
		var spec hw.Spec
		if err := m.Decode(&spec); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: ok, machine %s with %d AIVs", file, spec.Name, spec.AIV.Count), nil
	}
	w, err := workloads.CheckDoc(file, doc, sets)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: ok, a workload of %d ranks on %s", file, w.Config.Ranks, w.Config.Machine.Name), nil
}

func (a *app) initCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "init", Short: "write a commented starter workload",
		Long: "Write a workload file that runs as it stands, with every key that a workload has as a comment.\n\nExamples:\n  pldperf init -o mine.yaml && pldperf run mine.yaml\n  pldperf init | pldperf check -",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.output(file, func(w io.Writer) error {
				_, err := io.WriteString(w, starter())
				return err
			})
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "file to write instead of standard output")
	return c
}

const starterHead = `# A workload of pldperf. Check it with: pldperf check FILE; run it with: pldperf run FILE
title: my first exchange
machine: 950dt-64          # pldperf presets machines
ranks: 8
call:
  op: indexed_all_to_all_v # or all_to_all
  core_num: 8
  dtype: INT8
  hidden: 7168
routing:
  kind: moe_topk
  tokens: 1024
  experts: 256
  top_k: 8
  seed: 1

# All keys, with what they mean. Values of quantities have units.
`

// starter is the starter file: a small workload that is valid as it stands, and all
// keys as the program knows them.
func starter() string {
	var b strings.Builder
	b.WriteString(starterHead)
	for _, k := range configs.Describe(workloads.Config{}) {
		if strings.HasPrefix(k.Path, "machine.") && k.Path != "machine.preset" {
			continue // pldperf show lists a machine's
		}
		fmt.Fprintf(&b, "# %-34s %s", k.Path, k.Type)
		if len(k.Enum) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(k.Enum, ", "))
		}
		if k.Default != "" {
			fmt.Fprintf(&b, ", default %s", k.Default)
		}
		if k.Doc != "" {
			fmt.Fprintf(&b, ": %s", k.Doc)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
