package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/workloads/routing"
)

// models is the kind of the MoE models whose shapes are known by name.
const models = "models"

// listed are the kinds of things that come with the program.
var listed = []string{configs.Machines, configs.Workloads, configs.Mistakes, configs.Sweeps, models, configs.Measured, configs.Traffic}

func (a *app) presetsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "presets [" + strings.Join(listed, "|") + "]", Short: "list the machines, workloads, mistakes, sweeps and models that come with pldperf",
		Long: "List what comes with pldperf. `pldperf show NAME` prints one in full.\n\nExamples:\n  pldperf presets\n  pldperf presets machines --json",
		Args: cobra.MaximumNArgs(1), ValidArgs: listed,
		RunE: func(_ *cobra.Command, args []string) error { return a.presets(args, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "kinds, names and titles as JSON")
	return c
}

// preset is one thing that is listed.
type preset struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Title string `json:"title"`
}

func (a *app) presets(args []string, asJSON bool) error {
	kinds := listed
	if len(args) == 1 {
		if !slices.Contains(listed, args[0]) {
			return fmt.Errorf("no kind %q%s; there are %s", args[0], hint(args[0], listed), strings.Join(listed, ", "))
		}
		kinds = args
	}
	var all []preset
	for _, k := range kinds {
		p, err := presetsOf(k)
		if err != nil {
			return err
		}
		all = append(all, p...)
	}
	if asJSON {
		return a.writeJSON(all)
	}
	return a.listPresets(all)
}

func (a *app) listPresets(all []preset) error {
	wide, last := 0, ""
	for _, p := range all {
		wide = max(wide, len(p.Name))
	}
	var b strings.Builder
	for _, p := range all {
		if p.Kind != last {
			if last != "" {
				b.WriteByte('\n')
			}
			fmt.Fprintln(&b, p.Kind)
			last = p.Kind
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", wide, p.Name, shorten(p.Title))
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// shorten cuts a title that is a long list of sources.
func shorten(s string) string {
	if r := []rune(s); len(r) > 90 {
		return string(r[:87]) + "..."
	}
	return s
}

func (a *app) writeJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

func hint(word string, known []string) string {
	if near := configs.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

func presetsOf(kind string) ([]preset, error) {
	if kind == models {
		return modelPresets()
	}
	var out []preset
	for _, name := range configs.Names(kind) {
		file, data, err := configs.Read(kind, name)
		if err != nil {
			return nil, err
		}
		p := preset{Kind: kind, Name: name}
		if kind == configs.Measured || kind == configs.Traffic { // the first line says what the table is
			line, _, _ := strings.Cut(string(withoutEditorLine(data)), "\n")
			p.Title = strings.TrimPrefix(strings.TrimPrefix(line, "# "), "source: ")
		} else {
			doc, err := configs.Load(file, data)
			if err != nil {
				return nil, err
			}
			p.Title = doc.At("title").Text()
		}
		out = append(out, p)
	}
	return out, nil
}

func shapes() (routing.Shapes, error) {
	_, data, err := configs.Find(routing.ShapesFile)
	if err != nil {
		return nil, err
	}
	return routing.ParseShapes(routing.ShapesFile, data)
}

func modelPresets() ([]preset, error) {
	all, err := shapes()
	if err != nil {
		return nil, err
	}
	var out []preset
	for _, name := range all.Names() {
		title := "shape incomplete in its source"
		if s, err := all.Model(name); err == nil {
			title = fmt.Sprintf("hidden %d, top-%d of %d experts", s.Hidden, s.TopK, s.Experts)
		}
		out = append(out, preset{models, name, title})
	}
	return out, nil
}
