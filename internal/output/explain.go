package output

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Primary result codes of SQLite, which says only this of what the system told it.
const (
	sqliteIOError = 10
	sqliteFull    = 13
)

// Explain adds the way out to an error of writing in a place, where the place is to blame.
func Explain(err error, place string) error {
	var sqlite interface{ Code() int }
	code := 0
	if errors.As(err, &sqlite) {
		code = sqlite.Code() & 0xff
	}
	const elsewhere = "choose another place"
	switch {
	case err == nil, usage.Is(err), errors.Is(err, ErrExists):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), code == sqliteFull:
		return fmt.Errorf("no room for more bytes or files in %s: %w; make room or %s", place, err, elsewhere)
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("a file in %s would be larger than is allowed: %w; raise the limit (ulimit -f) or %s", place, err, elsewhere)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("too many files are open to write %s: %w; raise the limit (ulimit -n)", place, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("nothing can be written in %s: %w; %s", place, err, elsewhere)
	case errors.Is(err, syscall.EIO), code == sqliteIOError:
		return fmt.Errorf("the disk fails, is full or limits the size of files (ulimit -f) in %s: %w; make room or %s", place, err, elsewhere)
	}
	return err
}
