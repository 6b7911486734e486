package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"pldperf/reports"
)

const manLong = `Write a man page of every command into a folder: pldperf.1, pldperf-run.1 ... They say what
--help says. A package puts them where man looks, such as share/man/man1.

Examples:
  pldperf man out/man && man -l out/man/pldperf-run.1`

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "write man pages", Long: manLong,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s takes one folder, got %d arguments\nusage: %s", c.CommandPath(), len(args), c.UseLine())
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := makeDir(args[0]); err != nil {
				return err
			}
			return manPages(a.root(), builtAt(), func(name string, page []byte) error {
				return reports.WriteFile(filepath.Join(args[0], name), func(w io.Writer) error { _, err := w.Write(page); return err })
			})
		},
	}
}

// builtAt is when the sources were written; nil if nobody knows.
func builtAt() *time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return &at
		}
	}
	return nil
}

// manPages makes the pages of a command and of those below, which it changes.
func manPages(c *cobra.Command, date *time.Time, write func(name string, page []byte) error) error {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			if err := manPages(sub, date, write); err != nil {
				return err
			}
		}
	}
	forMan(c)
	var b bytes.Buffer
	if err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Date: date, Source: "pldperf", Manual: "pldperf"}, &b); err != nil {
		return err
	}
	return write(strings.ReplaceAll(c.CommandPath(), " ", "-")+".1", b.Bytes())
}

// markdown is what Markdown, which the pages are made from, would not leave as it is.
var markdown = regexp.MustCompile("[\\\\*_`<>#|\\[\\]]")

func plainly(text string) string { return markdown.ReplaceAllString(text, `\$0`) }

// forMan gives a command's examples a section of their own and keeps lists in its text.
func forMan(c *cobra.Command) {
	c.DisableAutoGenTag = true
	text, examples, _ := strings.Cut(c.Long, "Examples:\n")
	c.Long, c.Short = plainly(strings.TrimSpace(text)), plainly(c.Short)
	if examples != "" {
		c.Example = strings.TrimRight(examples, "\n")
	}
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Usage = plainly(f.Usage); f.NoOptDefVal == "" {
			return
		}
		// A page shows in brackets what a flag is by default, where --help shows what it is without a value.
		if f.Value.Type() == "string" {
			f.Usage += fmt.Sprintf(" (default %q)", f.DefValue)
		}
		f.DefValue = f.NoOptDefVal
	})
}
