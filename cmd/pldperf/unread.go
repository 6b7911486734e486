package main

import (
	"fmt"

	"pldperf/configs"
)

const strictHelp = "make values that nothing reads an error"

// warn says on standard error what is set though nothing reads it.
func (a *app) warn(unread configs.Problems) {
	for _, p := range unread {
		fmt.Fprintf(a.errs, "pldperf: warning: %v\n", p)
	}
}

// unread ends a command, if strict, because of values that nothing reads. Otherwise it
// warns of them; what a person reads on a terminal says it in its notes.
func (a *app) unread(unread configs.Problems, strict, shown bool) error {
	if strict && len(unread) > 0 {
		return unread
	}
	if !shown || !terminal(a.out) {
		a.warn(unread)
	}
	return nil
}
