package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite what the documents show")

// root is the top of the repository.
const root = "../.."

// blocks are the places of a document that show what a command prints.
var blocks = regexp.MustCompile("(?s)<!-- card: ([^\n]*) -->\n```text\n(.*?)```\n<!-- end -->")

// pldperf runs a command line in the present folder.
func pldperf(args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &o, &e)
	return o.String(), e.String(), code
}

func TestDocumentsShowWhatTheProgramPrints(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs much that other tests run, too")
	}
	for _, name := range []string{"README.md", "README.zh-CN.md", "docs/EXPLAIN.md"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(root)
			old, err := os.ReadFile(name)
			require.NoError(t, err)
			require.Regexp(t, blocks, string(old))
			now := blocks.ReplaceAllStringFunc(string(old), func(b string) string {
				m := blocks.FindStringSubmatch(b)
				out, errs, code := pldperf(strings.Fields(m[1])...)
				require.Zero(t, code, errs)
				return "<!-- card: " + m[1] + " -->\n```text\n" + out + "```\n<!-- end -->"
			})
			if *update {
				require.NoError(t, os.WriteFile(name, []byte(now), 0o644))
				return
			}
			assert.Equal(t, now, string(old), "run: go test ./cmd/pldperf -run Document -update")
		})
	}
}

// figures are the pictures in docs/figures: kind, sweep and flags.
var figures = map[string][]string{
	"core-num":   {"core-num", "a5-core-num"},
	"reasons":    {"reasons", "a5-core-num"},
	"bandwidth":  {"bandwidth", "a5-message-size"},
	"algorithms": {"algorithms", "a5-allreduce-algorithms"},
	"band":       {"core-num", "a5-core-num", "--band"},
}

func TestFiguresOfTheDocumentsAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector it takes minutes, and it has no goroutines of its own")
	}
	t.Chdir(root)
	for name, of := range figures {
		dir, cache := t.TempDir(), t.TempDir()
		if *update {
			dir = "docs/figures"
		}
		for _, ext := range []string{".png", ".svg"} {
			file := filepath.Join(dir, name+ext)
			_, errs, code := pldperf(append([]string{"plot", of[1], "--kind", of[0], "-o", file, "--cache", cache}, of[2:]...)...)
			require.Zero(t, code, errs)
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join("docs/figures", name+ext))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want, got), "%s%s; run: go test ./cmd/pldperf -run Figures -update", name, ext)
		}
	}
}

// requirement is a row of docs/REQUIREMENTS.md.
var requirement = regexp.MustCompile(`(?m)^\| (S-\d+a?) \| [^|]+ \| ([^|]+) \|$`)

func TestEveryRequirementNamesTestsThatExist(t *testing.T) {
	t.Chdir(root)
	text, err := os.ReadFile("docs/REQUIREMENTS.md")
	require.NoError(t, err)
	tests := testNames(t)
	seen := map[string]bool{}
	for _, row := range requirement.FindAllStringSubmatch(string(text), -1) {
		seen[row[1]] = true
		for _, name := range strings.Split(row[2], ", ") {
			assert.True(t, tests[name], "%s: no test is called %s", row[1], name)
		}
	}
	for n := 1; n <= 92; n++ {
		if n != 28 && n != 29 { // the specification has no such numbers
			assert.True(t, seen[fmt.Sprintf("S-%d", n)], "S-%d is missing", n)
		}
	}
}

// testNames lists the tests of the whole module.
func testNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	decl := regexp.MustCompile(`(?m)^func (Test\w+)`)
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range decl.FindAllSubmatch(src, -1) {
			names[string(m[1])] = true
		}
		return err
	}))
	return names
}
