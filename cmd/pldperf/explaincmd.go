package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"pldperf/configs"
)

const explainLong = `Say where the time of a workload goes and what would change it, or what a key means.

FILE is run as it is: what its time was spent on, along the chain of events that led to its
end; how far it is from what no schedule can beat. Then it is run with one part of the
machine ideal at a time, which is what that part costs; with each parameter a little lower
and higher, which is how the time follows it; and with other values of core_num.

A CAUSE is a word of those tables, such as egress_queue; causes lists all of them. Of a KEY it
says what it means: the kind of its value and how that is written, its
default, what it may be, its value and that value's source in a machine, who reads it and
when, and the keys beside it. Keys are paths as --set takes them; "machine." and "call."
may be left out, and keys of sweeps and of files of measured cases begin with "sweep." and
"fit.". A section lists the keys below it.

Examples:
  pldperf explain a5-moe-dispatch
  pldperf explain a5-uniform-small --set call.core_num=4 --quick
  pldperf explain egress_queue
  pldperf explain causes
  pldperf explain call.core_num
  pldperf explain urma.doorbell.issue --machine 950pr-64
  pldperf explain machine.fabric.clos
  pldperf explain sweep.axes --json`

type explainFlags struct {
	machine, format, file string
	json, quick           bool
	sets                  []string
	jobs                  int
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use: "explain FILE | CAUSE | KEY", Short: "say where a workload's time goes, or what a word means", Long: explainLong,
		Args:              oneKey,
		ValidArgsFunction: completeWord,
		RunE:              func(c *cobra.Command, args []string) error { return a.explain(c.Context(), args[0], &f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.machine, "machine", "950dt-64", "machine preset or file whose values are shown")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.StringVar(&f.format, "format", "text", "of a workload: text, md, csv or json")
	fl.StringArrayVar(&f.sets, "set", nil, "of a workload: override PATH=VALUE")
	fl.StringVarP(&f.file, "output", "o", "", "of a workload: file to write instead of standard output")
	fl.BoolVar(&f.quick, "quick", false, "of a workload: without sensitivities and other values of core_num")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "of a workload: simulations at once")
	return c
}

func oneKey(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one key, got %d arguments\nusage: %s", c.CommandPath(), len(args), c.UseLine())
	}
	return nil
}

// explain tells keys from runs: what is a key is explained as one, and a file, or the name
// of a shipped one, is run.
func (a *app) explain(ctx context.Context, word string, f *explainFlags) error {
	if c := causes(word); len(c) > 0 {
		return a.explainCauses(c, f)
	}
	keys := allKeys()
	if found := keys.find(word); len(found) > 0 {
		return a.explainKey(keys, found, f)
	}
	if _, _, err := configs.Find(word); err == nil || word == "-" {
		return a.explainRun(ctx, word, f)
	}
	return keys.unknown(word)
}
