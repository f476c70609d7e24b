// Package workdir makes hidden folders that a process works in beside an output, until what
// is in them becomes the output.
//
// Invariants:
//
//   - A folder is its own lock, which ends with the process that made it: a file in it could
//     go before the rest when the process is killed while it tidies up.
//   - What a killed process left is removed by the next one that works for the same output. A
//     folder that a process holds, or may hold as far as can be told, never is.
package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dir is a folder that this process holds.
type Dir struct {
	Path string
	lock *os.File // nil where folders can't be locked
}

// Make makes a folder in parent whose name is the prefix and a number. Before, it removes
// those that killed processes left under this prefix.
func Make(parent, prefix string) (*Dir, error) {
	if err := removeAbandoned(parent, prefix); err != nil {
		return nil, fmt.Errorf("remove what a killed run left: %w", err)
	}
	for {
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		lock, ok := hold(path)
		if ok {
			return &Dir{path, lock}, nil
		} // another process took it for abandoned before it was locked
	}
}

// Remove removes what is left of the folder, and gives it up. It may be called again.
func (d *Dir) Remove() error {
	return errors.Join(os.RemoveAll(d.Path), d.Release())
}

// Release gives the folder up, which may have been renamed. It may be called again.
func (d *Dir) Release() error {
	if d.lock == nil {
		return nil
	}
	lock := d.lock
	d.lock = nil
	return lock.Close()
}

func removeAbandoned(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrPermission) {
		return nil // one may write in it all the same
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(parent, e.Name())
		lock, ok := hold(path)
		if !ok || lock == nil {
			continue
		}
		err := errors.Join(os.RemoveAll(path), lock.Close())
		if err != nil && !errors.Is(err, fs.ErrPermission) { // another user's
			return err
		}
	}
	return nil
}

// Sync flushes all files and folders below root to the disk.
func Sync(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return SyncFolder(path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
