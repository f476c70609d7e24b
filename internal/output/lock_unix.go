//go:build unix

package output

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// hold locks a folder until the file is closed or the process ends. It is not ok when another
// process holds or has removed it. Without locks in the file system there is no file.
func hold(path string) (lock *os.File, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, !errors.Is(err, fs.ErrNotExist)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, !errors.Is(err, unix.EWOULDBLOCK)
	}
	held, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, true
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(held, there) {
		f.Close()
		return nil, false
	}
	return f, true
}

// remove removes a folder that is held.
func remove(path string, lock *os.File) error {
	return errors.Join(os.RemoveAll(path), lock.Close())
}

// release gives up a folder that stays.
func release(lock *os.File) error { return lock.Close() }

// syncFolder flushes the names in a folder.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // a file system whose folders can't be flushed
	}
	return errors.Join(err, d.Close())
}
