package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/workloads"
)

const schemaLong = `Print the JSON Schema (draft 2020-12) of a kind of file, with which editors complete keys,
show what they mean and underline mistakes: of workloads, sweeps, machines or files of
measured cases; result is that of what commands write as JSON. They are made from the
types that read the files. Editors with a YAML
language server take it from a comment at the top of a file, as the shipped files have it.

Examples:
  pldperf schema workload > workload.schema.json
  sed -i '1i # yaml-language-server: $schema=workload.schema.json' mine.yaml`

// schemaKinds are the kinds of files that have a schema which the program makes.
var schemaKinds = []string{"workload", "sweep", "machine", "fit"}

// allSchemas has with them what commands write as JSON.
var allSchemas = append(slices.Clone(schemaKinds), "result")

func (a *app) schemaCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "schema [" + strings.Join(allSchemas, "|") + "]", Short: "print the JSON Schema of a kind of file, for editors", Long: schemaLong,
		Args: cobra.MaximumNArgs(1), ValidArgs: allSchemas,
		RunE: func(_ *cobra.Command, args []string) error {
			kind := append(args, "workload")[0]
			if !slices.Contains(allSchemas, kind) {
				return fmt.Errorf("no schema of %q%s; there are %s", kind, hint(kind, allSchemas), strings.Join(allSchemas, ", "))
			}
			return a.output(file, func(w io.Writer) error {
				_, err := w.Write(schemaText(kind))
				return err
			})
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "file to write instead of standard output")
	return c
}

// schemaText is the schema of a kind of file, as text.
func schemaText(kind string) []byte {
	if kind == "result" {
		return configs.ResultSchema
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(schemaOf(kind)); err != nil {
		panic(err) // it is plain data
	}
	return b.Bytes()
}

// schemaOf is the schema of a kind of file: what tags say, and what only the registry of
// operations and the shipped files know.
func schemaOf(kind string) *configs.Schema {
	i := slices.IndexFunc(roots, func(r fileKind) bool { return r.kind == kind })
	s := configs.NewSchema(roots[i].spec)
	s.Title = "a " + kind + " file of pldperf"
	if kind == "fit" {
		s.Title = "a file of measured cases of pldperf"
	}
	if top := s.Definitions[strings.TrimPrefix(s.Ref, "#/$defs/")]; kind == "sweep" {
		editSweep(s, top)
	}
	if call := s.Definitions["workloads.CallConfig"]; call != nil {
		editWorkload(s, call)
	}
	return s
}

// edit changes the schema of a key that there must be.
func edit(section *configs.Schema, key string, change func(*configs.Schema)) {
	s, ok := section.Properties.Get(key)
	if !ok {
		panic("schema: there is no key " + key)
	}
	change(s)
}

func words(list ...string) (out []any) {
	for _, w := range list {
		out = append(out, w)
	}
	return out
}

// either makes a schema accept what one of the others accepts, too.
func either(s *configs.Schema, others ...*configs.Schema) {
	own := *s
	own.Description, own.Default = "", nil
	*s = configs.Schema{AnyOf: append(others, &own), Description: s.Description, Default: s.Default}
}

func editWorkload(s, call *configs.Schema) {
	edit(s.Definitions["workloads.Config"], "machine", func(m *configs.Schema) {
		either(m, &configs.Schema{Type: "string", Examples: words(configs.Names(configs.Machines)...)})
	})
	edit(s.Definitions["workloads.MachineConfig"], "preset", func(p *configs.Schema) {
		p.Examples = words(configs.Names(configs.Machines)...)
	})
	edit(s.Definitions["workloads.Config"], "model", func(m *configs.Schema) { m.Examples = modelNames() })
	edit(call, "op", func(op *configs.Schema) {
		names := collectives.Ops()
		for _, x := range collectives.All() {
			names = append(names, x.Name())
		}
		op.Extras = nil
		op.AnyOf = []*configs.Schema{{Enum: words(names...)}, {Type: "string", Pattern: `[*?\[]`, Description: "a pattern, in the workload of a sweep"}}
	})
	var forms []string
	for _, x := range collectives.All() {
		forms = append(forms, x.Form)
	}
	slices.Sort(forms)
	edit(call, "form", func(f *configs.Schema) { f.Examples = words(slices.Compact(forms)...) })
	for p := call.Properties.Oldest(); p != nil; p = p.Next() {
		by := formsThat(func(x *collectives.Algorithm) bool { return slices.Contains(x.Fields, p.Key) })
		if len(by) > 0 {
			p.Value.Description += "; read by " + strings.Join(by, ", ")
		}
	}
}

func modelNames() []any {
	all, err := shapes()
	if err != nil {
		return nil
	}
	return words(all.Names()...)
}

func editSweep(s, top *configs.Schema) {
	span := configs.NewSchema(workloads.Span{})
	name := strings.TrimPrefix(span.Ref, "#/$defs/")
	s.Definitions[name] = span.Definitions[name]
	edit(top, "base", func(b *configs.Schema) { b.Examples = words(configs.Names(configs.Workloads)...) })
	edit(top, "set", func(set *configs.Schema) { set.Extras = map[string]any{"type": []string{"object", "null"}} })
	edit(top, "axes", func(a *configs.Schema) {
		one := uint64(1)
		a.Type, a.MinProperties = "object", &one
		a.AdditionalProperties = &configs.Schema{AnyOf: []*configs.Schema{
			{Type: "array", MinItems: &one, UniqueItems: true}, {Ref: span.Ref},
			{Type: "string", Description: "an operation, or a pattern of names such as allreduce/*"},
		}}
	})
}
