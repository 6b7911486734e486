package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"time"
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

// patience is after how long a command that has printed nothing says that it is at work.
const patience = 2 * time.Second

// working tells people at a terminal that f is at work, and for how long; elsewhere it
// is silent. The returned function wipes the line.
func working(w io.Writer, what string) (stop func()) {
	if !terminal(w) {
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for start := time.Now(); ; {
			select {
			case <-done:
				fmt.Fprint(w, "\r\x1b[K")
				return
			case <-tick.C:
				fmt.Fprintf(w, "\r\x1b[K%s for %.0f s; Ctrl-C stops it", what, time.Since(start).Seconds())
			}
		}
	}()
	return func() { close(done); <-gone }
}
