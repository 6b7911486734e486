package main

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/reports"
	"pldperf/workloads"
)

const initLong = `Write a workload file that runs as it stands, with every key that a workload has as a
comment. A file that exists is left alone unless --force is given.

With -o the schema of workloads is written, too, and the file's first line names it, so
that an editor with a YAML language server completes keys and underlines mistakes. It goes
to the user's configuration folder, or where --schema says.

Examples:
  pldperf init -o mine.yaml && pldperf run mine.yaml
  pldperf init -o mine.yaml --schema workload.schema.json   # beside it, for others as well
  pldperf init | pldperf check -`

func (a *app) initCommand() *cobra.Command {
	var file, schema string
	var force bool
	c := &cobra.Command{
		Use: "init", Short: "write a commented starter workload", Long: initLong, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				if err := refuse(c.Flags(), "goes with -o FILE", "force"); err != nil {
					return err
				}
			}
			if err := distinct(nil, target{"--output", file}, target{"--schema", schema}); err != nil {
				return err
			}
			return a.init(file, schema, force)
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "file to write instead of standard output")
	c.Flags().StringVar(&schema, "schema", "", "file for the schema that the first line names; default: in the user's configuration folder; none: no such line")
	c.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return c
}

func (a *app) init(file, schema string, force bool) error {
	if schema == "" && file == "" {
		schema = "none" // what goes to a pipe leaves nothing behind
	}
	line, place, err := editorLine(file, schema)
	if err != nil {
		return err
	}
	text := line + starter()
	if old, err := os.ReadFile(file); err == nil && !force && string(old) != text {
		return fmt.Errorf("%s exists; --force replaces it", file)
	}
	if place != "" {
		if err := writeSchema(place); err != nil && schema != "" {
			return err
		} else if err != nil { // no such folder: the file is good without
			text = starter()
		}
	}
	return a.output(file, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// editorMark begins the comment from which a YAML language server takes the schema.
const editorMark = "# yaml-language-server: $schema="

// editorLine returns the line of a workload file that names its schema, and where that has
// to be; nothing when there is to be none.
func editorLine(file, schema string) (line, place string, err error) {
	switch schema {
	case "none":
		return "", "", nil
	case "":
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", "", nil
		}
		place = filepath.Join(dir, "pldperf", "schema", "workload.json")
		return editorMark + reference(place) + "\n", place, nil
	}
	named := schema
	if !filepath.IsAbs(schema) { // a language server looks from the file
		if named, err = filepath.Rel(filepath.Dir(file), schema); err != nil {
			return "", "", err
		}
	}
	return editorMark + reference(named) + "\n", schema, nil
}

// reference is a path as a language server takes it: one with spaces is a URL.
func reference(path string) string {
	path = filepath.ToSlash(path)
	if !strings.ContainsAny(path, " \t%#?") {
		return path
	}
	if filepath.IsAbs(path) {
		return (&url.URL{Scheme: "file", Path: path}).String()
	}
	return (&url.URL{Path: path}).String()
}

// writeSchema writes the schema of workloads unless it is there.
func writeSchema(place string) error {
	text := schemaText("workload")
	if old, err := os.ReadFile(place); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	return reports.WriteFile(place, func(w io.Writer) error { _, err := w.Write(text); return err })
}

const starterHead = `# A workload of pldperf. Check it with: pldperf check FILE; run it with: pldperf run FILE
title: my first exchange
machine: 950dt-64          # pldperf presets machines
ranks: 8
call:
  op: indexed_all_to_all_v # pldperf cost lists all operations
  core_num: 8
  dtype: INT8
  hidden: 7168
routing:
  kind: moe_topk
  tokens: 1024
  experts: 256
  top_k: 8
  seed: 1

# All keys, with what they mean. [] stands for the number of an element, * for a name.
# Values of quantities have units, such as 8 KiB, 0.35 us, 53.1 GB/s, 94.8 %.
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
	b.WriteString("#\n# The keys of a machine stand under machine: and are those that this lists: pldperf show 950dt-64\n")
	return b.String()
}
