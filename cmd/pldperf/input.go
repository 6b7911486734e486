package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"pldperf/configs"
	"pldperf/reports/document"
	"pldperf/workloads"
)

// maxInput is more than any honest YAML file holds.
const maxInput = 2 << 20

// stdin is how messages name standard input.
const stdin = "standard input"

// read reads a file, a shipped file, or standard input ("-").
func (a *app) read(name string) (file string, data []byte, err error) {
	if name != "-" {
		return configs.Find(name)
	}
	data, err = io.ReadAll(io.LimitReader(a.in, maxInput))
	return stdin, data, err
}

// document reads a YAML file like read. A result is none.
func (a *app) document(name string) (string, *configs.Doc, error) {
	file, data, err := a.read(name)
	if err != nil {
		return "", nil, err
	}
	doc, err := load(file, data)
	return file, doc, err
}

// load is configs.Load, of what is no result.
func load(file string, data []byte) (*configs.Doc, error) {
	if isResult(data) {
		return nil, resultFault(file, data)
	}
	return configs.Load(file, data)
}

// workloadDoc reads a workload's file and says what a file of another kind is.
func (a *app) workloadDoc(name string) (string, *configs.Doc, error) {
	file, doc, err := a.document(name)
	if err != nil {
		return "", nil, err
	}
	return file, doc, noWorkload(doc, name)
}

// workload reads a workload with its routing drawn.
func (a *app) workload(name string, sets []string) (*workloads.Workload, error) {
	file, doc, err := a.workloadDoc(name)
	if err != nil {
		return nil, err
	}
	return workloads.LoadDoc(file, doc, sets)
}

// noWorkload says of a sweep, a machine and a file of cases that they are no workload, and
// what reads them.
func noWorkload(doc *configs.Doc, name string) error {
	if doc.Has("axes") {
		return doc.At("axes").Fault("this is a sweep; run it with: pldperf sweep %s", name)
	}
	return noRun(doc, name)
}

// noRun is noWorkload where a sweep is welcome, too.
func noRun(doc *configs.Doc, name string) error {
	switch {
	case doc.Has("cases"):
		return doc.At("cases").Fault("this is a file of measured cases; run them with: pldperf validate %s", name)
	case isMachine(doc):
		return doc.At("name").Fault("this is a machine, which a workload names; see: pldperf show %s", name)
	}
	return nil
}

// resultHead is how a result of any version begins.
var resultHead = regexp.MustCompile(`^\s*\{\s*"schema"\s*:`)

// isResult tells a result from a workload, which may be JSON, too.
func isResult(data []byte) bool {
	return resultHead.Match(data) || bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && bytes.Contains(data, []byte(`"`+document.Schema+`"`))
}

// resultFault says that a file is a result, who reads it, and how to run again what it came from.
func resultFault(file string, data []byte) error {
	d, err := document.Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: this is a result, and no workload or sweep; %w", file, err)
	}
	text := fmt.Sprintf("%s: this is a result (%s), which report reads", file, d.Kind)
	switch {
	case d.Run != nil:
		text = fmt.Sprintf("%s: this is a result (%s), which report and diff read%s", file, d.Kind, again("run", "workload", d.Run.Inputs, d.Run.Config))
	case d.Sweep != nil:
		text = fmt.Sprintf("%s: this is a result (%s), which report, diff and plot read%s", file, d.Kind, again("sweep", "sweep", d.Sweep.Inputs, d.Sweep.Config))
	}
	return fmt.Errorf("%s", text)
}

// again is the command that has made a result, as far as the result says.
func again(command, key string, inputs []document.KV, config []document.Leaf) string {
	for _, kv := range inputs {
		if kv.Key != key || kv.Value == stdin {
			continue
		}
		line := fmt.Sprintf("pldperf %s %s", command, kv.Value)
		for _, l := range config {
			if strings.HasPrefix(l.File, "--set") {
				line += " --set " + shellWord(l.Path+"="+l.Value)
			}
		}
		return "; it was made by: " + line
	}
	return ""
}

// shellWord is a word as a shell takes it.
func shellWord(word string) string {
	if strings.ContainsAny(word, " '\"$`\\{}[]()*?&|;<>") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// input is what a command is given that takes results and what can be run: the one read, the
// other loaded.
type input struct {
	name string // as messages say it
	doc  *configs.Doc
	data []byte // of a result
}

func (in *input) result() bool { return in.doc == nil }

func (in *input) sweep() bool { return in.doc != nil && in.doc.Has("axes") }

func (in *input) workload() bool { return in.doc != nil && !in.doc.Has("axes") }

// read reads a result.
func (in *input) read() (*document.Document, error) {
	d, err := document.Read(bytes.NewReader(in.data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	return d, nil
}

// input reads a name once, which may be a pipe. A name that ends in .json is a result,
// whatever is in it.
func (a *app) input(name string) (*input, error) {
	in := &input{name: nameOf(name)}
	data, isJSON, err := a.whole(name)
	if err != nil {
		return nil, err
	}
	if isJSON || isResult(data) {
		in.data = data
		return in, nil
	}
	if data == nil {
		if in.name, data, err = a.read(name); err != nil {
			return nil, err
		}
	}
	if in.doc, err = configs.Load(in.name, data); err != nil {
		return nil, err
	}
	return in, noRun(in.doc, name)
}

// whole reads what may be a result and larger than files of other kinds: standard input, a
// pipe, a .json file. Of others it returns nothing.
func (a *app) whole(name string) (data []byte, isJSON bool, err error) {
	if name == "-" {
		data, err = io.ReadAll(a.in)
		return data, false, err
	}
	info, err := os.Stat(name)
	isJSON = strings.EqualFold(filepath.Ext(name), ".json")
	if isJSON || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		data, err = os.ReadFile(name)
		return data, isJSON, err
	}
	return nil, false, nil
}

func nameOf(arg string) string { return cmp.Or(map[string]string{"-": stdin}[arg], arg) }
