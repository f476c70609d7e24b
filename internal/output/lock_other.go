//go:build !unix

package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockName is a file that can't be removed while a process has it open, which is what tells
// who holds a folder.
const lockName = ".agentlens-lock"

// young is how long a folder without a lock may be one whose maker has not locked it yet.
const young = time.Minute

// hold locks a folder until the file is closed or the process ends. It is not ok when another
// process holds or has removed it.
func hold(path string) (lock *os.File, ok bool) {
	name := filepath.Join(path, lockName)
	switch err := os.Remove(name); {
	case errors.Is(err, fs.ErrNotExist):
		info, err := os.Stat(path)
		if err != nil {
			return nil, false
		}
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) > 0 && time.Since(info.ModTime()) < young {
			return nil, false
		}
	case err != nil:
		return nil, false
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, false
	}
	return f, true
}

// remove removes a folder that is held. Its lock goes last: an open file can't be removed.
func remove(path string, lock *os.File) error {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	return errors.Join(err, lock.Close(), os.RemoveAll(path))
}

// release gives up a folder that stays.
func release(lock *os.File) error {
	return errors.Join(lock.Close(), os.Remove(lock.Name()))
}

// syncFolder does nothing: the system has no such call.
func syncFolder(string) error { return nil }
