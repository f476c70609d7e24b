//go:build unix

package sidefile

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// open does not wait for the other end of a pipe.
func open(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		// From here on, waiter says when there is something to read.
		if err := unix.SetNonblock(fd, false); err != nil {
			unix.Close(fd)
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// waiter returns a function that waits until a file has something to read or has ended. Regular
// files always have.
func waiter(f *os.File) func(context.Context) error {
	const milliseconds = 50
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return context.Context.Err
	}
	return func(ctx context.Context) error {
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			ready := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
			n, err := unix.Poll(ready, milliseconds)
			switch {
			case errors.Is(err, unix.EINTR):
			case err != nil:
				return &fs.PathError{Op: "poll", Path: f.Name(), Err: err}
			case n > 0:
				return nil
			}
		}
	}
}
