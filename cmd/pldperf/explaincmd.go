package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pldperf/configs"
)

const explainLong = `Say what a configuration key means: the kind of its value and how that is written, its
default, what it may be, its value and that value's source in a machine, who reads it and
when, and the keys beside it. Keys are paths as --set takes them; "machine." and "call."
may be left out, and keys of sweeps and of files of measured cases begin with "sweep." and
"fit.". A section lists the keys below it.

Examples:
  pldperf explain call.core_num
  pldperf explain urma.doorbell.issue --machine 950pr-64
  pldperf explain machine.fabric.clos
  pldperf explain sweep.axes --json`

type explainFlags struct {
	machine string
	json    bool
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use: "explain KEY", Short: "say what a configuration key means and who reads it", Long: explainLong,
		Args:              oneKey,
		ValidArgsFunction: completeKeys,
		RunE:              func(c *cobra.Command, args []string) error { return a.explain(c.Context(), args[0], &f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.machine, "machine", "950dt-64", "machine preset or file whose values are shown")
	fl.BoolVar(&f.json, "json", false, "as JSON")
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
	keys := allKeys()
	if found := keys.find(word); len(found) > 0 {
		return a.explainKey(keys, found, f)
	}
	if _, _, err := configs.Find(word); err == nil || word == "-" {
		return a.explainRun(ctx, word, f)
	}
	return keys.unknown(word)
}

// explainRun explains where the time of a workload goes.
func (a *app) explainRun(_ context.Context, name string, _ *explainFlags) error {
	return fmt.Errorf("%s is not a configuration key; pldperf run %s shows where its time goes", name, name)
}
