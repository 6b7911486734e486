package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// refuse is an error if flags are given that would do nothing; why says what they need.
func refuse(fl *pflag.FlagSet, why string, names ...string) error {
	var given []string
	for _, n := range names {
		if fl.Changed(n) {
			given = append(given, "--"+n)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", strings.Join(given, ", "), why)
}

// The flags that several commands refuse together.
var (
	cacheNames  = []string{"jobs", "cache", "no-cache"}
	bandNames   = []string{"band", "band-seed"}
	runNames    = slices.Concat([]string{"set", "strict"}, cacheNames, bandNames) // of what runs now
	onlyResults = "what a result says is settled; nothing runs now"
)

// detached is the hint for a flag whose value stands behind a blank: one that may stand
// without a value takes it only after "=".
func detached(fl *pflag.FlagSet, last string) error {
	var found error
	fl.Visit(func(f *pflag.Flag) {
		n := 0
		words := choices[f.Name]
		if f.NoOptDefVal != "" && f.Value.String() == f.NoOptDefVal && (slices.Contains(words, last) || f.Value.Type() == "int" && number(last, &n)) {
			found = fmt.Errorf("write --%s=%s: the value belongs to the flag", f.Name, last)
		}
	})
	return found
}

// target is a file that a command will write, and the flag that says so.
type target struct{ flag, path string }

// distinct is an error if an output would overwrite another one, or what the command reads.
func distinct(inputs []string, outs ...target) error {
	for i, o := range outs {
		for _, p := range outs[:i] {
			if sameFile(o.path, p.path) {
				return fmt.Errorf("%s and %s both write %s", p.flag, o.flag, o.path)
			}
		}
		for _, in := range inputs {
			if sameFile(o.path, in) && exists(in) {
				return fmt.Errorf("%s %s: that file is read, and would be overwritten", o.flag, o.path)
			}
		}
	}
	return nil
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// sameFile reports whether two paths name one file, which need not exist. A device can be
// written twice.
func sameFile(a, b string) bool {
	if a == "" || b == "" || a == "-" || b == "-" {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y) && x.Mode().IsRegular()
	}
	return (errX == nil) == (errY == nil) && place(a) == place(b)
}

// place is a path without links in its folders.
func place(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, filepath.Base(path))
}
