package routing

import (
	"errors"
	"fmt"
)

// A FieldError is one fault in a Spec: the path of the field below the routing, such as skew.exponent, and what is wrong.
// New joins all that it finds; a caller that knows the lines of the file can look up the path of each.
type FieldError struct {
	Path string
	Err  error
}

// Error is the path and the fault on one line.
func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap is the fault without the path.
func (e *FieldError) Unwrap() error { return e.Err }

// problems collects faults so that a user sees all of them at once.
type problems []error

func (p *problems) add(path, format string, args ...any) {
	*p = append(*p, &FieldError{path, fmt.Errorf(format, args...)})
}

func (p problems) join() error { return errors.Join(p...) }

// atLeast checks a whole number and tells the bound.
func (p *problems) atLeast(path string, v, least int) {
	if v < least {
		p.add(path, "%d is below %d", v, least)
	}
}

// atMost checks that a whole number does not ask for more than the package holds.
func (p *problems) atMost(path string, v, most int) {
	if v > most {
		p.add(path, "%d is above the limit of %d", v, most)
	}
}
