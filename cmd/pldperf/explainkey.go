package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/reports"
	"pldperf/reports/document"
	"pldperf/workloads"
)

// keyDoc is what explain says of a key.
type keyDoc struct {
	Key      string      `json:"key"`
	File     string      `json:"file"` // workload, sweep or fit
	Meaning  string      `json:"meaning"`
	Kind     string      `json:"kind"`
	Written  string      `json:"written,omitempty"` // of a quantity: examples
	Required bool        `json:"required,omitempty"`
	Default  string      `json:"default,omitempty"`
	Allowed  []string    `json:"allowed,omitempty"`
	Least    string      `json:"least,omitempty"`
	Largest  string      `json:"largest,omitempty"`
	Machine  *keyValue   `json:"machine,omitempty"`
	ReadWhen []string    `json:"read_when,omitempty"`
	ReadBy   []string    `json:"read_by,omitempty"` // operations with their forms
	Beside   []string    `json:"beside,omitempty"`
	Below    []keySketch `json:"below,omitempty"`
}

// keyValue is what a machine says of a key.
type keyValue struct {
	Machine string `json:"machine"`
	Value   string `json:"value"`
	Low     string `json:"low,omitempty"`
	High    string `json:"high,omitempty"`
	Known   string `json:"known"` // documented, fitted, assumed, none
	Source  string `json:"source,omitempty"`
	At      string `json:"at"`
}

// keySketch is a key in a list.
type keySketch struct {
	Key     string `json:"key"`
	Kind    string `json:"kind"`
	Default string `json:"default,omitempty"`
	Meaning string `json:"meaning,omitempty"`
}

// explainKey explains the key that was found, or lists several.
func (a *app) explainKey(keys, found keyList, f *explainFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	if format != reports.Text && format != reports.JSON {
		return fmt.Errorf("--format: a key is explained as text or json, not as %s", f.format)
	}
	preset, err := workloads.Machine(f.machine)
	if err != nil {
		return fmt.Errorf("--machine: %w", err)
	}
	d := newKeyDoc(keys, &found[0])
	d.Machine = valueIn(preset, f.machine, d.Key)
	return a.output(f.file, func(w io.Writer) error {
		switch {
		case len(found) > 1 && format == reports.JSON:
			return document.Encode(w, sketches(found))
		case len(found) > 1:
			return listKeys(w, found)
		case format == reports.JSON:
			return document.Encode(w, d)
		}
		return errors.Join(printKey(w, d), listKeys(w, keys.below(d.Key)))
	})
}

func newKeyDoc(keys keyList, k *key) *keyDoc {
	d := &keyDoc{
		Key: k.Path, File: k.Kind, Meaning: k.Doc, Kind: k.Type, Written: k.Syntax, Required: k.Required, Default: defaultOf(k),
		Allowed: k.Enum, Least: k.Min, Largest: k.Max, Beside: keys.beside(k.Path), Below: sketches(keys.below(k.Path)),
	}
	var parts [][]string
	for _, w := range k.When {
		if w.Path == "" {
			parts = append(parts, w.Parts)
		}
		d.ReadWhen = append(d.ReadWhen, w.Words(func(p string) (bool, string) { return false, workloads.PartWords(p) }))
	}
	d.ReadBy = readers(k, parts)
	switch path := plain(k.Path); {
	case strings.HasSuffix(path, "call.op"):
		d.Allowed = collectives.Ops()
	case path == "machine.preset":
		d.Allowed = append(configs.Names(configs.Machines), "a file")
	}
	return d
}

// readers lists the operations that read a key: a field of a call that their algorithms
// name, or a machine's key of parts that their programs use; of other files the commands.
func readers(k *key, parts [][]string) []string {
	field, ofCall := strings.CutPrefix(strings.TrimPrefix(plain(k.Path), "chain."), "call.")
	first, _, _ := strings.Cut(field, ".")
	switch {
	case k.Kind == "sweep":
		return []string{"pldperf sweep", "plot", "report", "diff"}
	case k.Kind == "fit":
		return []string{"pldperf validate", "calibrate"}
	case slices.Contains([]string{"title", "machine.title", "machine.name"}, field):
		return []string{"reports"}
	case field == "model":
		return formsThat(func(x *collectives.Algorithm) bool { return slices.Contains(x.Fields, "hidden") })
	case ofCall && slices.ContainsFunc(collectives.All(), func(x *collectives.Algorithm) bool { return slices.Contains(x.Fields, first) }):
		return formsThat(func(x *collectives.Algorithm) bool { return slices.Contains(x.Fields, first) })
	case len(parts) > 0:
		if by := formsThat(func(x *collectives.Algorithm) bool { return usesParts(x, parts) }); len(by) > 0 {
			return by
		}
		return []string{"no operation as it is by default"} // such as what only a fault needs
	case first == "routing":
		return formsThat(func(x *collectives.Algorithm) bool { return x.Routed })
	}
	return []string{"all operations"}
}

// ownDefaults are those that no tag states.
var ownDefaults = map[string]string{
	"call.op": "none: a call needs one", "call.core_num": "none: a form that takes it needs it", "call.dtype": "FP32",
	"call.hidden": "that of the model, if there is one; else a form that reads it needs it", "call.form": "the operation's, marked * by pldperf cost",
	"machine.preset": "none: a machine needs one, or all of its keys", "model": "none",
}

// defaultOf says what a key is that nobody gives; nothing where it has to be given or its
// meaning says it.
func defaultOf(k *key) string {
	path := strings.TrimPrefix(plain(k.Path), "chain.")
	own, known := ownDefaults[path]
	switch {
	case k.Default != "" || k.Required:
		return k.Default
	case known:
		return own
	case strings.Contains(k.Doc, "default"):
		return ""
	case strings.HasPrefix(path, "machine."):
		return "that of the preset"
	case k.Type == "true or false":
		return "false"
	case strings.HasPrefix(k.Type, "a list"):
		return "none"
	case k.Type == "a whole number" || k.Type == "a number" || k.Syntax != "":
		return "0"
	}
	return "none"
}

// usesParts reports whether an algorithm, as it is in the real system, uses one part of
// each group.
func usesParts(x *collectives.Algorithm, groups [][]string) bool {
	f := costFlags{machine: "950dt-64", dtype: "FP32", ranks: 8, size: 1024, coreNum: 8, hidden: 1024, row: 64, given: new(pflag.FlagSet)}
	w, err := f.workload(x)
	if err != nil {
		return false
	}
	for _, parts := range groups {
		if !slices.ContainsFunc(parts, func(p string) bool { used, _ := w.Uses(p); return used }) {
			return false
		}
	}
	return true
}

// formsThat lists forms by operation: "all_to_all (hand, host)", or "all_to_all" when all
// of them are meant; nothing when there are no others.
func formsThat(read func(*collectives.Algorithm) bool) (out []string) {
	all := true
	for _, op := range collectives.Ops() {
		var forms []string
		for _, x := range collectives.All() {
			if x.Op == op && read(x) {
				forms = append(forms, x.Form)
			}
		}
		switch n := len(collectives.Forms(op)); {
		case len(forms) == n:
			out = append(out, op)
		case len(forms) > 0:
			all = false
			out = append(out, fmt.Sprintf("%s (%s)", op, strings.Join(forms, ", ")))
		default:
			all = false
		}
	}
	if all {
		return []string{"all operations"}
	}
	return out
}

// valueIn returns what a machine says of a key of machines; nil when it says nothing.
func valueIn(machine *configs.Doc, name, path string) *keyValue {
	inner, ok := strings.CutPrefix(path, "machine.")
	if !ok || !machine.Has(inner) {
		return nil
	}
	params := machine.Params(inner)
	if len(params) != 1 || params[0].Path != inner {
		return nil
	}
	p := params[0]
	return &keyValue{name, p.Value, p.Low, p.High, p.Kind.String(), p.Source, fmt.Sprintf("%s:%d", p.File, p.Line)}
}

func sketches(keys keyList) (out []keySketch) {
	for _, k := range keys {
		out = append(out, keySketch{k.Path, k.Type, k.Default, k.Doc})
	}
	return out
}

// listKeys prints keys one a line.
func listKeys(w io.Writer, keys keyList) error {
	wide := 0
	for _, k := range keys {
		wide = max(wide, len(k.Path))
	}
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "  %-*s  %s\n", wide, k.Path, keyLine(k))
	}
	_, err := w.Write([]byte(b.String()))
	return err
}

// keyLine is a key's kind, values and meaning.
func keyLine(k key) string {
	s := k.Type
	if len(k.Enum) > 0 {
		s += " (" + strings.Join(k.Enum, ", ") + ")"
	}
	if k.Default != "" {
		s += ", default " + k.Default
	}
	if k.Doc != "" {
		s += ": " + k.Doc
	}
	return s
}

// printKey prints what is known of a key under its name.
func printKey(w io.Writer, d *keyDoc) error {
	var b strings.Builder
	b.WriteString(d.Key + "\n")
	row := func(label, text string) {
		if text != "" {
			for i, line := range fold(text, 84) {
				fmt.Fprintf(&b, "  %-10s %s\n", []string{label, ""}[min(i, 1)], line)
			}
		}
	}
	row("meaning", d.Meaning)
	kind := d.Kind
	if d.Written != "" {
		kind += ", such as " + d.Written
	}
	row("kind", kind)
	row("allowed", strings.Join(d.Allowed, ", "))
	row("range", rangeText(d.Least, d.Largest))
	switch {
	case d.Required:
		row("default", "none: it must be given")
	default:
		row("default", d.Default)
	}
	if v := d.Machine; v != nil {
		row(v.Machine, v.String())
		row("", v.At)
	}
	row("read when", strings.Join(d.ReadWhen, "; "))
	row("read by", strings.Join(d.ReadBy, ", "))
	row("stands in", d.where())
	row("beside", strings.Join(d.Beside, ", "))
	_, err := w.Write([]byte(b.String()))
	return err
}

// where says in which files a key is.
func (d *keyDoc) where() string {
	inner, ofMachine := strings.CutPrefix(d.Key, "machine.")
	switch {
	case d.File == "fit":
		return "files of measured cases, without fit."
	case d.File == "sweep":
		return "sweep files, without sweep."
	case ofMachine && inner != "preset":
		return "workload files and --set; machine files, as " + inner
	}
	return "workload files and --set"
}

func rangeText(least, largest string) string {
	switch {
	case least != "" && largest != "":
		return least + " to " + largest
	case least != "":
		return "from " + least
	case largest != "":
		return "up to " + largest
	}
	return ""
}

// String says a value with its range and source.
func (v *keyValue) String() string {
	s := v.Value
	if v.Low != "" {
		s += fmt.Sprintf(" (%s to %s)", v.Low, v.High)
	}
	if v.Known != "none" {
		s += ", " + v.Known
	}
	if v.Source != "" {
		s += ": " + v.Source
	}
	return s
}

// fold breaks a text into lines of so many columns, where it has spaces.
func fold(text string, columns int) (lines []string) {
	for _, word := range strings.Fields(text) {
		n := len(lines)
		if n == 0 || len([]rune(lines[n-1]))+1+len([]rune(word)) > columns {
			lines = append(lines, word)
			continue
		}
		lines[n-1] += " " + word
	}
	return lines
}
