package main

import (
	"io"

	"pldperf/hw/cause"
	"pldperf/reports"
)

// allCauses is the word that lists what time is spent on.
const allCauses = "causes"

// causes returns what a word names of what time is spent on: all, one, or those of a part of the machine.
func causes(word string) (out reports.Causes) {
	for k := cause.Unknown + 1; k < cause.NumKinds; k++ {
		if word == allCauses || word == k.String() || word == k.Group().String() {
			out = append(out, reports.Cause{Name: k.String(), Part: k.Group().String(), What: k.Help()})
		}
	}
	return out
}

func (a *app) explainCauses(c reports.Causes, f *explainFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	return a.output(f.file, func(w io.Writer) error { return c.Write(w, format, a.shown(100)) })
}
