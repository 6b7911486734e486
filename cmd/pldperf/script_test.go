package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pldperf": main, "eager-pldperf": func() {
		patience, pace = 0, time.Millisecond
		main()
	}})
}

func TestCommandsBehaveAsTheirScriptsSay(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "interrupt": interrupt, "files": files},
	})
}

// code N command...: the command ends with exit code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command...")
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// files N folder: the folder holds N files at any depth.
func files(ts *testscript.TestScript, neg bool, args []string) {
	if n := len(list(ts.MkAbs(args[1]))); strconv.Itoa(n) != args[0] == !neg {
		ts.Fatalf("%d files in %s: %v", n, args[1], list(ts.MkAbs(args[1])))
	}
}

func list(dir string) (out []string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return nil
	})
	return out
}

// interrupt folder args...: Ctrl-C reaches pldperf once the folder, which it fills,
// holds a file. Its output goes to the files stdout and stderr, its exit code to code.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	var out, errs bytes.Buffer
	c := exec.Command("pldperf", args[1:]...)
	c.Path = ts.Getenv("PATH")[:strings.IndexByte(ts.Getenv("PATH"), os.PathListSeparator)] + "/pldperf"
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &out, &errs
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+ts.Getenv("XDG_CACHE_HOME"))
	ts.Check(c.Start())
	for len(list(ts.MkAbs(args[0]))) == 0 {
		time.Sleep(time.Millisecond)
	}
	ts.Check(c.Process.Signal(os.Interrupt))
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	for name, text := range map[string]string{"stdout": out.String(), "stderr": errs.String(), "code": strconv.Itoa(c.ProcessState.ExitCode())} {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
	}
}
