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
	folder := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("cannot write %s: it is a folder", path)
	} else if err == nil && !info.Mode().IsRegular() {
		return writeDevice(path, write)
	}
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, folderProblem(folder, err))
	}
	done := false
	defer func() { // also when write panics
		if !done {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	buf := bufio.NewWriter(f)
	if err := write(buf); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := errors.Join(buf.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	done = true
	return nil
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
