// Command pldperf predicts what PyPTO's distributed collectives cost on Ascend
// hardware, from a YAML file. This package is the only place that prints: it parses
// flags, shows progress, writes files and turns outcomes into exit codes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pldperf/configs"
)

// Exit codes (docs: `pldperf help`).
const (
	exitOK       = 0
	exitBad      = 1   // wrong data, aborted, deadlock, hazard, a difference
	exitUsage    = 2   // usage or configuration
	exitInternal = 3   // a fault of this program
	exitStopped  = 130 // interrupted
)

// failure ends the program with a code; what there was to say has been printed.
type failure struct{ code int }

func (f failure) Error() string { return fmt.Sprintf("exit status %d", f.code) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the process at once
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, out: out, errs: errs}
	_, err := guard(func() (struct{}, error) {
		root := a.root()
		root.SetArgs(args)
		root.SetIn(in)
		root.SetOut(out)
		root.SetErr(errs)
		return struct{}{}, root.ExecuteContext(ctx)
	})
	var f failure
	var ours *fault
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &ours):
		fmt.Fprintf(errs, "pldperf: internal error, please report it with the command line and the files:\n%v", ours)
		return exitInternal
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errs, "pldperf: interrupted")
		return exitStopped
	}
	fmt.Fprintf(errs, "pldperf: %s\n", strings.TrimSpace(err.Error()))
	return exitUsage
}

// app is what the commands share.
type app struct {
	in        io.Reader
	out, errs io.Writer
}

const long = `pldperf predicts what PyPTO's distributed collectives (pld) cost on Ascend A5 and its
relatives. It runs the collective on a simulated machine, moves the data while it does
so and checks that it arrives right, and accounts for every picosecond.

Files may be paths or the names of shipped ones (see: pldperf presets). pldperf explain KEY
says what a key in them means, pldperf schema what an editor has to know of them.

Shells complete commands, shipped names, operations, keys and their values once they have
been told, in bash by: source <(pldperf completion bash). pldperf man DIR writes man pages.

Exit codes: 0 ok; 1 wrong data, abort, deadlock, hazard, or a difference (diff); 2 usage or configuration;
3 a fault of pldperf itself; 130 interrupted.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "pldperf", Short: "predict what a PyPTO collective costs on Ascend hardware", Long: long,
		SilenceUsage: true, SilenceErrors: true, Version: version(),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
	}
	root.SetFlagErrorFunc(unknownFlag)
	root.SetHelpCommand(helpCommand())
	root.AddCommand(a.runCommand(), a.sweepCommand(), a.plotCommand(), a.reportCommand(), a.diffCommand(), a.irCommand(), a.costCommand(), a.validateCommand(), a.calibrateCommand(), a.presetsCommand(),
		a.showCommand(), a.explainCommand(), a.schemaCommand(), a.checkCommand(), a.initCommand(), a.manCommand(), a.versionCommand())
	root.InitDefaultCompletionCmd("completion")
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // so that an unknown shell is an error
	}
	completeFlags(root)
	return root
}

// helpCommand is cobra's, but an unknown topic is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "explain a command",
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c.Root(), args[0])
			}
			return topic.Help()
		},
	}
}

func unknownCommand(root *cobra.Command, word string) error {
	var known []string
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	return fmt.Errorf("unknown command %q%s\nrun `pldperf help` for the list of commands", word, hint(word, known))
}

// wants says in words what flags of a type take.
var wants = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number, 0 or more", "bool": "true or false", "duration": "a time such as 5s",
}

// unknownFlag adds the nearest flag to the message about one that does not exist, and says
// of a value that is none what the flag takes.
func unknownFlag(c *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) && wants[bad.GetFlag().Value.Type()] != "" {
		f := bad.GetFlag()
		return fmt.Errorf("--%s: want %s, got %q; see: %s --help", f.Name, wants[f.Value.Type()], bad.GetValue(), c.CommandPath())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("%w; see: %s --help", err, c.CommandPath())
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	near := configs.Nearest(unknown.GetSpecifiedName(), known)
	if near == "" {
		return fmt.Errorf("%w; see: %s --help", err, c.CommandPath())
	}
	return fmt.Errorf("%w; did you mean --%s?", err, near)
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: cobra.NoArgs,
		Long: "Print the version, the revision of the sources and the Go version.\n\nExamples:\n  pldperf version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, "pldperf", version())
			return err
		},
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "without build information"
	}
	revision := "unknown revision"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return fmt.Sprintf("%s (%s, %s)", info.Main.Version, revision, info.GoVersion)
}
