package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The name of a temporary folder is a number between these.
const (
	tempPrefix = ".agentlens-"
	tempSuffix = ".tmp"
)

// Temp is a temporary folder that this process holds: .agentlens-NUMBER.tmp. The folder is
// its own lock, which ends with the process: a file in it could go before the rest when the
// process is killed while it tidies up.
type Temp struct {
	Path string
	lock *os.File
}

// NewTemp makes a temporary folder in a parent, after it removed those that killed processes
// left there. An empty parent is the system's folder for temporary files.
func NewTemp(parent string) (*Temp, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if err := Sweep(parent); err != nil {
		return nil, fmt.Errorf("remove what a killed run left: %w", err)
	}
	for {
		path, err := os.MkdirTemp(parent, tempPrefix+"*"+tempSuffix)
		if err != nil {
			return nil, err
		}
		lock, ok := hold(path)
		if ok {
			return &Temp{path, lock}, nil
		} // another process took it for abandoned before it was locked
	}
}

// Remove removes the folder with what is in it. It may be called again.
func (t *Temp) Remove() error {
	if t.lock == nil {
		return os.RemoveAll(t.Path)
	}
	lock := t.lock
	t.lock = nil
	return remove(t.Path, lock)
}

// Sweep removes the temporary folders in a parent that killed processes left.
func Sweep(parent string) error {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrPermission) {
		return nil // one may write in it all the same
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !tempName(e.Name()) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		lock, ok := hold(path)
		if !ok || lock == nil {
			continue
		}
		if err := remove(path, lock); err != nil && !errors.Is(err, fs.ErrPermission) { // another user's
			return err
		}
	}
	return nil
}

func tempName(name string) bool {
	number, ok := strings.CutPrefix(name, tempPrefix)
	number, is := strings.CutSuffix(number, tempSuffix)
	return ok && is && number != "" && strings.Trim(number, "0123456789") == ""
}
