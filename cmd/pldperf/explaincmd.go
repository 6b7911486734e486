package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pldperf/configs"
)

const explainLong = `Say where the time of a workload goes and what would change it, or what a key means.

FILE is run as it is: what its time was spent on, along the chain of events that led to its
end; how far it is from what no schedule can beat. Then it is run with one part of the
machine ideal at a time, which is what that part costs; with each parameter a little lower
and higher, which is how the time follows it; and with other values of core_num.

A WORD is one of those tables or of the card: a cause, such as egress_queue, a reason why a
block does not go on, a figure or a counter. causes, reasons, figures and counters list them,
words lists all. Of a KEY it says what it means: the kind of its value and how that is written, its
default, what it may be, its value and that value's source in a machine, who reads it and
when, and the keys beside it. Keys are paths as --set takes them; "machine." and "call."
may be left out, and keys of sweeps and of files of measured cases begin with "sweep." and
"fit."; "workload." in front of a key tells it from a word. A section lists the keys below it.

Examples:
  pldperf explain a5-moe-dispatch
  pldperf explain a5-uniform-small --set call.core_num=4 --quick
  pldperf explain egress_queue
  pldperf explain causes
  pldperf explain busbw
  pldperf explain call.core_num
  pldperf explain urma.doorbell.issue --machine 950pr-64
  pldperf explain machine.fabric.clos
  pldperf explain sweep.axes --json`

type explainFlags struct {
	machine, format, file string
	json, quick           bool
	sets                  []string
	jobs                  int
	strict                bool
	given                 *pflag.FlagSet
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use: "explain FILE | WORD | KEY", Short: "say where a workload's time goes, or what a word means", Long: explainLong,
		Args:              oneWord,
		ValidArgsFunction: completeWord,
		RunE:              func(c *cobra.Command, args []string) error { return a.explain(c.Context(), args[0], &f) },
	}
	fl := c.Flags()
	f.given = fl
	fl.StringVar(&f.machine, "machine", "950dt-64", "machine preset or file: of a workload instead of its own, of a key whose values are shown")
	fl.BoolVar(&f.json, "json", false, "short for --format json")
	fl.StringVar(&f.format, "format", "text", "text, md, csv or json; of a key: text or json")
	fl.StringArrayVar(&f.sets, "set", nil, "of a workload: override PATH=VALUE")
	fl.StringVarP(&f.file, "output", "o", "", "file to write instead of standard output")
	fl.BoolVar(&f.quick, "quick", false, "of a workload: without sensitivities and other values of core_num")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "of a workload: simulations at once")
	fl.BoolVar(&f.strict, "strict", false, "of a workload: "+strictHelp)
	return c
}

func oneWord(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one file, word or key, got %d arguments\nusage: %s", c.CommandPath(), len(args), c.UseLine())
	}
	return nil
}

// ofWorkloads are flags those that only a workload has a use for.
var ofWorkloads = []string{"set", "quick", "jobs", "strict"}

// explain tells words and keys from runs: what is one is explained as that, and a file, or
// the name of a shipped one, is run.
func (a *app) explain(ctx context.Context, word string, f *explainFlags) error {
	if err := folderOf(f.file); err != nil {
		return err
	}
	keys := allKeys()
	found := keys.find(word)
	if g := glossary(word); len(g.Words) > 0 {
		if err := refuse(f.given, "of a workload, and "+word+" is a word", append(ofWorkloads, "machine")...); err != nil {
			return err
		}
		g.Note = found.namesakes()
		return a.explainWords(g, f)
	}
	if len(found) > 0 {
		if err := refuse(f.given, "of a workload, and "+word+" is a key", ofWorkloads...); err != nil {
			return err
		}
		return a.explainKey(keys, found, f)
	}
	if exists(word) || isDevice(word) || word == "-" || shipped(word) {
		return a.explainRun(ctx, word, f)
	}
	return keys.unknown(word)
}

// shipped reports whether a word names a file that comes with the program.
func shipped(word string) bool {
	_, _, err := configs.Find(word)
	return err == nil
}
