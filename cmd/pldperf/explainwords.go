package main

import (
	"io"
	"strings"

	"pldperf/hw/cause"
	"pldperf/reports"
)

// allWords lists what cards and explanations show.
func allWords() (out []reports.Word) {
	for k := cause.Unknown + 1; k < cause.NumKinds; k++ {
		out = append(out, reports.Word{Name: k.String(), Part: k.Group().String(), What: k.Help(), List: "causes"})
	}
	return append(out, reports.Words()...)
}

// glossary returns what a word names of them: all ("words"), a list of them, one, or the
// causes of a part of the machine.
func glossary(word string) reports.Glossary {
	out := reports.Glossary{List: word}
	key := strings.ReplaceAll(word, " ", "_")
	for _, w := range allWords() {
		short := w.List == "figures" && strings.HasSuffix(w.Key(), "_"+key) // such as bound
		if key == "words" || key == w.List || key == w.Key() || key == w.Part || short {
			out.Words = append(out.Words, w)
		}
	}
	return out
}

// wordNames lists what glossary knows, each with what it is.
func wordNames() (names, docs []string) {
	names, docs = []string{"words"}, []string{"all words of cards and explanations"}
	seen := map[string]bool{}
	add := func(name, what string) {
		if name != "" && !seen[name] {
			seen[name] = true
			names, docs = append(names, name), append(docs, what)
		}
	}
	for _, w := range allWords() {
		add(w.List, "all "+w.List)
		add(w.Key(), w.What)
		add(w.Part, "what is spent in "+w.Part)
	}
	return names, docs
}

func (a *app) explainWords(g reports.Glossary, f *explainFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	return a.output(f.file, func(w io.Writer) error { return g.Write(w, format, a.shown(100)) })
}
