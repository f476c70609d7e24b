package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/agentlens-bench/agentlens/internal/usage"
)

// CheckFile fails when WriteFile would, before the work whose result the file is, and leaves
// no trace.
func CheckFile(path string, mark []byte) error {
	if err := freeFile(path, mark); err != nil {
		return err
	}
	return CheckFolder(filepath.Dir(path))
}

// freeFile refuses a place that is taken. A file that begins with the mark may be replaced;
// without one none is.
func freeFile(path string, mark []byte) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return Explain(err, path)
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file", path)
	case mark == nil:
		return &FileExistsError{path}
	case !info.Mode().IsRegular():
		return usage.Errorf("", "%s is a link or another thing that is no file, and not replaced; choose another name", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Explain(err, path)
	}
	defer f.Close()
	begin := make([]byte, len(mark))
	if n, _ := f.Read(begin); !bytes.Equal(begin[:n], mark) {
		return usage.Errorf("", "%s does not begin with %q, so something else made it and it is not replaced; choose another name", path, mark)
	}
	return nil
}

// FileExistsError is about a file in the place of an output.
type FileExistsError struct{ Path string }

func (e *FileExistsError) Error() string { return e.Path + " exists already" }

// Unwrap makes it an ErrExists.
func (e *FileExistsError) Unwrap() error { return ErrExists }

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
	temp, err := NewTemp(dir)
	if err != nil {
		return cannot(dir, err)
	}
	return temp.Remove()
}

// WriteFile puts a file in its place whole or not at all, and makes the folders above it. It
// replaces a file that begins with the mark; with a nil one it replaces none.
func WriteFile(path string, content, mark []byte) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	made, err := makeParents(dir)
	if err != nil {
		return cannot(dir, err)
	}
	temp, err := NewTemp(dir)
	if err != nil {
		made.remove()
		return cannot(dir, err)
	}
	defer func() {
		err = errors.Join(Explain(err, dir), temp.Remove())
		if err != nil {
			made.remove()
		}
	}()
	whole := filepath.Join(temp.Path, "whole")
	if err := os.WriteFile(whole, content, 0o644); err != nil {
		return err
	}
	if err := freeFile(path, mark); err != nil { // another run may have finished meanwhile
		return err
	}
	return putFile(whole, path, mark == nil, made)
}

// putFile flushes a file, renames it and flushes the folders above it.
func putFile(whole, path string, fresh bool, made parents) error {
	if err := syncFile(whole); err != nil {
		return fmt.Errorf("flush the output to the disk: %w", err)
	}
	rename := os.Rename
	if fresh {
		rename = renameNew
	}
	if err := rename(whole, path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &FileExistsError{path}
		}
		return fmt.Errorf("put %s in place: %w", path, err)
	}
	return errors.Join(syncFolder(filepath.Dir(path)), made.sync())
}

// PutFile flushes a file and puts it in its place on the same file system, where it replaces
// one of that name: for files that can be made again, such as those of a cache.
func PutFile(whole, path string) error { return putFile(whole, path, false, nil) }

func cannot(path string, err error) error {
	return fmt.Errorf("nothing can be written in %s: %w; choose another place", path, err)
}
