//go:build unix

package workdir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// hold locks a folder until the file is closed or the process ends. It is not ok when another
// process holds or has removed it. Without locks in the file system there is no file.
func hold(path string) (lock *os.File, ok bool) {
	f, err := os.Open(path)
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

// SyncFolder flushes the names in a folder to the disk.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
