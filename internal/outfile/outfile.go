// Package outfile puts a file in its place whole or not at all.
//
// Invariants:
//
//   - Check finds, before the work whose result the file is, what would make Write fail after
//     it, and leaves no trace.
//   - A file that exists is only replaced on request.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrExists marks a file that exists already.
var ErrExists = errors.New("exists already")

// Check fails when Write would.
func Check(path string, replace bool) error {
	if err := free(path, replace); err != nil {
		return err
	}
	return CheckFolder(filepath.Dir(path))
}

func free(path string, replace bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cannot(path, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file", path)
	case !replace:
		return fmt.Errorf("%s %w", path, ErrExists)
	}
	return nil
}

// CheckFolder fails when no file can be made in a folder: it, or the nearest above it that
// exists, is none or can't be written.
func CheckFolder(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "make a folder in", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return cannot(dir, err)
	}
	f, err := os.CreateTemp(dir, ".agentlens-*")
	if err != nil {
		return cannot(dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Write writes a file, and makes the folders above it.
func Write(path string, content []byte, replace bool) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cannot(dir, err)
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return cannot(dir, err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = free(path, replace) // another run may have finished meanwhile
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func cannot(path string, err error) error {
	return fmt.Errorf("nothing can be written in %s: %w; choose another place", path, err)
}
