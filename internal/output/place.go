package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

var (

	// ErrExists marks an output that exists already, or lies in one.
	ErrExists = errors.New("the output exists already")
)

// manifestName is the file that says what a folder of ours is.
const manifestName = "manifest.json"

// Resolve makes a path absolute and follows links as far as it exists.
func Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(path)
		if parent == path {
			return path, nil
		}
		if parent, err = Resolve(parent); err != nil {
			return "", err
		}
		return filepath.Join(parent, filepath.Base(path)), nil
	}
	return real, err
}

// Within reports whether a path is a folder or in it. Both are absolute, without links.
func Within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// notHere refuses an output whose folder the program works in: it would be left in one that is
// gone.
func notHere(out string) error {
	here, err := os.Getwd()
	if err == nil {
		here, err = Resolve(here)
	}
	if err == nil && Within(here, out) {
		return usage.Errorf("", "%s is the folder you are in, or holds it; choose an output that is neither", out)
	}
	return nil // where the program is gone already, no output is
}

// outside refuses an output in a folder whose files a manifest and a list fix, such as a
// dataset.
func outside(out string) error {
	for dir := filepath.Dir(out); ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, checksum.Name))
		_, merr := os.Stat(filepath.Join(dir, manifestName))
		if err == nil && merr == nil {
			return fmt.Errorf("%w: %s would change %s, whose files %s lists; choose another output", ErrExists, out, dir, checksum.Name)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// parents are the folders above an output that were made for it, the outermost first.
type parents []string

// makeParents makes a folder and those above it that there are not.
func makeParents(dir string) (parents, error) {
	var made parents
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made = append(parents{at}, made...)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		made.remove()
		return nil, err
	}
	return made, nil
}

// remove removes those that are empty.
func (p parents) remove() {
	for i := len(p) - 1; i >= 0; i-- {
		if os.Remove(p[i]) != nil {
			return // not made, or somebody else uses it
		}
	}
}

// sync flushes the names of those that were made.
func (p parents) sync() error {
	for i := len(p) - 1; i >= 0; i-- {
		if err := syncFolder(filepath.Dir(p[i])); err != nil {
			return err
		}
	}
	return nil
}

// syncTree flushes the files below a folder, then its folders, the inner ones first.
func syncTree(root string) error {
	var folders []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			folders = append(folders, path)
			return nil
		}
		return syncFile(path)
	})
	for i := len(folders) - 1; i >= 0 && err == nil; i-- { // a folder is met before those in it
		err = syncFolder(folders[i])
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
