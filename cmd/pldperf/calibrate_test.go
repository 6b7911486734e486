package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Parts of docs/CALIBRATE.md: files, commands, what a command prints, and what a file has.
var (
	guideFile  = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w+\n(.*?)```\n")
	guideShell = regexp.MustCompile("(?s)```sh\n(.*?)```\n")
	guideShow  = regexp.MustCompile("(?s)<!-- show: (\\S+) -->\n```yaml\n(.*?)```\n<!-- end -->")
)

func TestTheDocumentAboutCalibrationShowsWhatTheProgramPrints(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs much that other tests run, too")
	}
	name, err := filepath.Abs(filepath.Join(root, "docs/CALIBRATE.md"))
	require.NoError(t, err)
	old, err := os.ReadFile(name)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	files := guideFile.FindAllStringSubmatch(string(old), -1)
	require.Len(t, files, 3)
	for _, m := range files {
		require.NoError(t, os.WriteFile(m[1], []byte(m[2]), 0o644))
	}
	for _, m := range guideShell.FindAllStringSubmatch(string(old), -1) {
		for line := range strings.Lines(m[1]) {
			command, may := strings.CutSuffix(strings.TrimSpace(line), " || true")
			out, errs, code := pldperf(strings.Fields(command)[1:]...)
			assert.Equal(t, may, code != 0, "%s\n%s%s", command, out, errs)
		}
	}
	again, err := os.ReadFile("again.yaml")
	require.NoError(t, err)
	first, err := os.ReadFile("fit.yaml")
	require.NoError(t, err)
	assert.Equal(t, withoutDate(first), withoutDate(again), "a fit that begins at its outcome ends there")

	now := blocks.ReplaceAllStringFunc(string(old), func(b string) string {
		m := blocks.FindStringSubmatch(b)
		out, errs, code := pldperf(strings.Fields(m[1])...)
		require.Zero(t, code, errs)
		return "<!-- card: " + m[1] + " -->\n```text\n" + out + "```\n<!-- end -->"
	})
	now = guideShow.ReplaceAllStringFunc(now, func(b string) string {
		m := guideShow.FindStringSubmatch(b)
		text, err := os.ReadFile(m[1])
		require.NoError(t, err)
		return "<!-- show: " + m[1] + " -->\n```yaml\n" + string(text) + "```\n<!-- end -->"
	})
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(now), 0o644))
		return
	}
	assert.Equal(t, now, string(old), "run: go test ./cmd/pldperf -run Document -update")
}

// withoutDate drops the date that --date has put into comments.
func withoutDate(text []byte) string { return strings.ReplaceAll(string(text), "; 2026-08", "") }
