package reports

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func say(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func TestFilesAppearCompleteOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "card.txt")
	boom := errors.New("boom")
	err := WriteFile(path, func(w io.Writer) error {
		io.WriteString(w, "half")
		return boom
	})
	assert.ErrorIs(t, err, boom)
	assert.Empty(t, entries(t, dir), "neither the file nor a temporary one")

	require.NoError(t, WriteFile(path, say("first")))
	assert.Error(t, WriteFile(path, func(io.Writer) error { return boom }))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "first", string(b), "the old file is untouched")

	require.NoError(t, WriteFile(path, say("second")))
	assert.Equal(t, []string{"card.txt"}, entries(t, dir))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o644), info.Mode().Perm())
}

func TestAPanicLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	assert.Panics(t, func() {
		WriteFile(filepath.Join(dir, "x"), func(io.Writer) error { panic("fault") })
	})
	assert.Empty(t, entries(t, dir))
}

func TestFoldersThatCannotBeWrittenAreNamed(t *testing.T) {
	dir := t.TempDir()
	err := WriteFile(filepath.Join(dir, "missing", "card.txt"), say(""))
	assert.ErrorContains(t, err, "missing does not exist")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, WriteFile(dir, say("")), "it is a folder")

	file := filepath.Join(dir, "file")
	require.NoError(t, WriteFile(file, say("")))
	assert.ErrorContains(t, WriteFile(filepath.Join(file, "card.txt"), say("")), "is not a folder")

	for _, locked := range []string{"/proc", "/sys"} { // not writable even for root
		if _, err := os.Stat(locked); err == nil {
			err := WriteFile(filepath.Join(locked, "pldperf.txt"), say(""))
			assert.ErrorContains(t, err, "cannot write "+locked)
			assert.NotContains(t, err.Error(), ".pldperf.txt", "the temporary name means nothing to anyone")
		}
	}
}

func TestDevicesAreWrittenInPlace(t *testing.T) {
	assert.NoError(t, WriteFile(os.DevNull, say("gone")))
}
