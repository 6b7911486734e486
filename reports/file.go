package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile makes the file at path appear complete or not at all: what write gives
// goes to a temporary file in the same folder, which takes the name at the end. On
// an error the old file, if there was one, is untouched and nothing else is left.
// The folder must exist; the error says what is wrong with it.
func WriteFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return writeDevice(path, write)
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard() // also when write panics
	if err := write(f); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return f.Commit()
}

// File is a file that appears when it is committed, for what is written bit by bit.
type File struct {
	path string
	f    *os.File
	buf  *bufio.Writer
	over bool
}

// Create begins a regular file.
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("cannot write %s: it is a folder", path)
	}
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, folderProblem(folder, err))
	}
	return &File{path: path, f: f, buf: bufio.NewWriter(f)}, nil
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) { return f.buf.Write(b) }

// Commit makes the file appear, complete; on an error nothing is left.
func (f *File) Commit() error {
	err := errors.Join(f.buf.Flush(), f.f.Chmod(0o644), f.f.Close())
	if err == nil {
		err = os.Rename(f.f.Name(), f.path)
	}
	if err != nil {
		f.Discard()
		return fmt.Errorf("cannot write %s: %w", f.path, err)
	}
	f.over = true
	return nil
}

// Discard leaves nothing of a file that has not been committed; while another goroutine
// still writes, it gets errors from then on.
func (f *File) Discard() {
	if f != nil && !f.over {
		f.over = true
		f.f.Close()
		os.Remove(f.f.Name())
	}
}

// writeDevice writes to what has no content to keep whole, such as /dev/null.
func writeDevice(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func folderProblem(folder string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // it names the temporary file, which means nothing to anyone
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist: %w", folder, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the folder %s is not writable: %w", folder, err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is not a folder: %w", folder, err)
	}
	return err
}
