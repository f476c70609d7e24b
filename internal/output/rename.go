package output

import (
	"errors"
	"io/fs"
	"os"
)

// swap swaps two folders. For a moment b does not exist; it is never a mix of both.
func swap(a, b string) error {
	old := a + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(old, b))
	}
	return os.Rename(old, a)
}

// linkNew renames a file unless there is one of the new name, for which two renames at once
// are told apart where files can have two names.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err // the old name is in a temporary folder
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	return os.Rename(from, to)
}
