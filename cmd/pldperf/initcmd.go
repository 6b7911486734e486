package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/configs"
	"pldperf/workloads"
)

const initLong = `Write a workload file that runs as it stands, with every key that a workload has as a
comment. A file that exists is left alone unless --force is given.

Examples:
  pldperf init -o mine.yaml && pldperf run mine.yaml
  pldperf init | pldperf check -`

func (a *app) initCommand() *cobra.Command {
	var file string
	var force bool
	c := &cobra.Command{
		Use: "init", Short: "write a commented starter workload", Long: initLong, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if old, err := os.ReadFile(file); err == nil && !force && string(old) != starter() {
				return fmt.Errorf("%s exists; --force replaces it", file)
			}
			return a.output(file, func(w io.Writer) error {
				_, err := io.WriteString(w, starter())
				return err
			})
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "file to write instead of standard output")
	c.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return c
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
