package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pldperf/collectives"
	"pldperf/configs"
)

// choices are flags of which each value is one of a few words, wherever they are.
var choices = map[string][]string{
	"format": {"text", "md", "csv", "json"}, "event-queue": {"radix", "reference"}, "payload": {"auto", "bytes", "provenance"},
	"hazards": {"auto", "on", "off"}, "path": {"auto", "on", "off"}, "lang": {"en", "zh"}, "trace-level": {"block", "pipe", "all"},
	"kind": allKinds, "dtype": collectives.DTypes(),
}

// endings are flags whose value is a file with one of these endings; folders those whose
// value is a folder.
var (
	endings = map[string][]string{
		"matrix": {"png", "svg"}, "trace": {"json", "pftrace", "gz"}, "pprof": {"gz"}, "from": {"yaml"}, "schema": {"json"},
	}
	folders = []string{"cache"}
)

// completeFlags has the shell complete the values of flags, of all commands.
func completeFlags(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			return
		}
		if complete := completionOf(f); complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, complete) // the only error is that there is one already
		}
	})
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
}

// completionOf completes the values of a flag; nil leaves it to the shell, which offers
// files.
func completionOf(f *pflag.Flag) cobra.CompletionFunc {
	name := f.Name
	fixed := func(words []string, how cobra.ShellCompDirective) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, how)
	}
	switch {
	case name == "format" && strings.Contains(f.Usage, "html"):
		return fixed(append(slices.Clone(choices[name]), "html"), cobra.ShellCompDirectiveNoFileComp)
	case choices[name] != nil:
		return fixed(choices[name], cobra.ShellCompDirectiveNoFileComp)
	case endings[name] != nil:
		return fixed(endings[name], cobra.ShellCompDirectiveFilterFileExt)
	case slices.Contains(folders, name):
		return fixed(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	switch name {
	case "machine":
		return complete(configs.Machines)
	case "set", "set-a", "set-b":
		return completeSetting
	case "mode":
		return completeMode
	case "output":
		return nil
	}
	return cobra.NoFileCompletions // numbers and the like
}

// completeSetting offers PATH=VALUE: a path one level at a time, and the values of keys
// that have a few.
func completeSetting(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	path, _, given := strings.Cut(begun, "=")
	if !given {
		return levels(begun, "=", "workload"), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, v := range valuesOf(plain(path)) {
		out = append(out, path+"="+v)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// valuesOf lists what a key can be, where that is a few words.
func valuesOf(path string) (out []string) {
	switch path {
	case "machine", "machine.preset":
		return configs.Names(configs.Machines)
	case "call.op":
		for _, x := range collectives.All() {
			out = append(out, x.Name())
		}
		return append(out, collectives.Ops()...)
	case "call.form":
		for _, x := range collectives.All() {
			out = append(out, x.Form)
		}
		slices.Sort(out)
		return slices.Compact(out)
	case "model":
		for _, m := range modelNames() {
			out = append(out, m.(string))
		}
		return out
	}
	keys := allKeys()
	if found := keys.find(path); len(found) == 1 {
		if found[0].Type == "true or false" {
			return []string{"true", "false"}
		}
		return found[0].Enum
	}
	return nil
}

// completeMode offers the forms of the workload's operation.
func completeMode(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		if _, doc, err := configs.Open(args[0]); err == nil {
			op, _, _ := strings.Cut(doc.At("call.op").Text(), "/")
			return append(collectives.Forms(op), "builtin"), cobra.ShellCompDirectiveNoFileComp
		}
	}
	return []string{"hand", "builtin"}, cobra.ShellCompDirectiveNoFileComp
}

// completeCases offers the shipped files of measured cases, beside files.
func completeCases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return caseFiles(), cobra.ShellCompDirectiveDefault
}

// completeWord offers keys, one level at a time, words of cards, and workloads.
func completeWord(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, before := range omitted {
		for _, k := range levels(before+begun, "", "") {
			out = append(out, strings.TrimPrefix(k, before))
		}
		if len(out) > 0 {
			break
		}
	}
	words, docs := wordNames()
	for i := range words {
		if strings.HasPrefix(words[i], begun) {
			out = append(out, words[i]+"\t"+docs[i])
		}
	}
	for _, k := range out {
		if path, _, _ := strings.Cut(k, "\t"); strings.HasSuffix(path, ".") {
			return out, cobra.ShellCompDirectiveNoSpace
		}
	}
	names, _ := complete(configs.Workloads)(c, args, begun)
	return append(out, names...), cobra.ShellCompDirectiveDefault
}
