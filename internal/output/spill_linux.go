package output

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// nameless makes a file without a name, nil when the file system can't.
func nameless(dir string) *os.File {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC|unix.O_EXCL, 0o600)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir, "spill"))
}
