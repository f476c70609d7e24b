package output

import (
	"context"
	"fmt"
	"os"
	"time"
)

const lockPause = 25 * time.Millisecond

// Lock waits until no other process holds a folder, which exists, and holds it until unlock is
// called or the process ends. The wait ends with the context. waiting is called once when
// there is one; it may be nil. In a file system without locks nobody waits.
func Lock(ctx context.Context, dir string, waiting func()) (unlock func() error, err error) {
	for waited := false; ; waited = true {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lock, ok := hold(dir)
		switch {
		case ok && lock == nil:
			return func() error { return nil }, nil
		case ok:
			return func() error { return release(lock) }, nil
		}
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		if !waited && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockPause):
		}
	}
}
