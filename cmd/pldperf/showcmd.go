package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/workloads"
)

const showLong = `Print one thing that comes with pldperf, or a file, in full: a machine with everything that
it is based on and the source of every value; a workload, sweep, or table as it is written;
the shape of a model.

Examples:
  pldperf show 950pr-64
  pldperf show a5-moe-dispatch > mine.yaml
  pldperf show deepseek-v3`

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "print one preset in full, with the source of every value", Long: showLong, Args: oneFile,
		ValidArgsFunction: complete(listed...),
		RunE:              func(_ *cobra.Command, args []string) error { return a.show(args[0]) },
	}
}

func (a *app) show(name string) error {
	if all, err := shapes(); err == nil && slices.Contains(all.Names(), name) {
		return a.showModel(name)
	}
	file, data, err := a.read(name)
	if err != nil {
		return err
	}
	if filepath.Ext(file) != ".csv" {
		doc, err := configs.Load(file, data)
		if err != nil {
			return err
		}
		if isMachine(doc) {
			return a.showMachine(file, doc)
		}
	}
	_, err = fmt.Fprintf(a.out, "# %s\n%s", file, withoutEditorLine(data))
	return err
}

// withoutEditorLine leaves out the line that names a schema beside the shipped files, which
// is not beside what the user makes of them.
func withoutEditorLine(data []byte) []byte {
	if line, rest, ok := bytes.Cut(data, []byte("\n")); ok && bytes.HasPrefix(line, []byte(editorMark)) {
		return rest
	}
	return data
}

// labels are the lines of a machine that need no source, and so look as if the user
// had overridden them.
var labels = regexp.MustCompile(`(?m)^((?:name|title|platform|family|based_on): .*) # user: .*$`)

func (a *app) showMachine(file string, doc *configs.Doc) error {
	full, err := workloads.WithBases(doc)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "# %s\n%s", file, labels.ReplaceAll(full.Marshal(), []byte("$1")))
	return err
}

func (a *app) showModel(name string) error {
	all, err := shapes()
	if err != nil {
		return err
	}
	s, err := all.Model(name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, `# %s, from configs/measured/moe_model_shapes.csv; use it with: model: %s
hidden: %d
experts: %d
top_k: %d
shared_experts: %d
n_group: %d
topk_group: %d
`, strings.Join(s.Names, ", "), name, s.Hidden, s.Experts, s.TopK, s.Shared, s.NGroup, s.TopkGroup)
	return err
}

// complete offers the names of some kinds on the command line, beside files.
func complete(kinds ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, k := range kinds {
			all, err := presetsOf(k)
			if err != nil {
				continue
			}
			for _, p := range all {
				out = append(out, p.Name+"\t"+p.Title)
			}
		}
		return out, cobra.ShellCompDirectiveDefault
	}
}
