package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// fault is a panic of this program, kept with its stack until it can be reported.
type fault struct {
	value any
	stack []byte
}

func (f *fault) Error() string { return fmt.Sprintf("%v\n%s", f.value, f.stack) }

// guard calls f and turns a panic into an error, also where no caller could catch it:
// in another goroutine.
func guard[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &fault{p, debug.Stack()}
		}
	}()
	return f()
}

// await returns what f returns, or gives up waiting when the user interrupts: the
// program then ends, and f with it.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := guard(f)
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Canceled
	}
}
