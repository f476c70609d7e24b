// Package dataset holds one version of a dataset open: what is read is that version, or an
// error.
//
// A build with --force puts a new folder in the place of the old one in one step, and many
// readers open more than one file. A reader holds the folder first and asks at the end, before
// it puts anything in place, whether its path still names that folder: then all it opened by
// that path was of one version.
package dataset

import (
	"errors"
	"fmt"
	"os"
)

// ErrReplaced is returned when a dataset was replaced by a new version while it was read.
var ErrReplaced = errors.New("the dataset was replaced by another version while it was read; run the command again")

// Held is a folder that is held open, so that no other one can have its identity.
type Held struct {
	dir  string
	root *os.File
	info os.FileInfo
}

// Hold holds the folder dir.
func Hold(dir string) (*Held, error) {
	root, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("no dataset at %s: %w", dir, err)
	}
	info, err := root.Stat()
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Held{dir: dir, root: root, info: info}, nil
}

// Whole returns the error of reading the folder, or ErrReplaced when its path no longer names
// it: whatever was read, or went wrong, is then of no version.
func (h *Held) Whole(err error) error {
	now, serr := os.Stat(h.dir)
	if serr != nil || !os.SameFile(now, h.info) {
		return ErrReplaced
	}
	return err
}

// Release ends the holding and returns what Whole does.
func (h *Held) Release(err error) error {
	return errors.Join(h.Whole(err), h.root.Close())
}

// Read runs a function that reads the dataset in dir, as a whole.
func Read(dir string, read func() error) error {
	h, err := Hold(dir)
	if err != nil {
		return err
	}
	return h.Release(read())
}
