package main

import (
	"bytes"
	"context"
	"flag"
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
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
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

// figures are the pictures in docs/figures: kind and sweep.
var figures = map[string]string{"core-num": "a5-core-num", "reasons": "a5-core-num", "bandwidth": "a5-message-size"}

func TestFiguresOfTheDocumentsAreCurrent(t *testing.T) {
	t.Chdir(root)
	for kind, sweep := range figures {
		dir := t.TempDir()
		if *update {
			dir = "docs/figures"
		}
		_, errs, code := pldperf("plot", sweep, "--kind", kind, "-o", dir, "--cache", t.TempDir())
		require.Zero(t, code, errs)
		for _, ext := range []string{".png", ".svg"} {
			want, err := os.ReadFile(filepath.Join(dir, kind+ext))
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join("docs/figures", kind+ext))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want, got), "%s%s; run: go test ./cmd/pldperf -run Figures -update", kind, ext)
		}
	}
}
