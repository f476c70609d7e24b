package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/workdir"
)

// ErrExists is returned when the output folder holds a version and Force is not set.
var ErrExists = errors.New("output folder already holds a dataset")

// A workspace is a hidden folder beside the output folder, on the same file system. What
// is in its version folder becomes the output folder in one rename.
type workspace struct {
	out   string // absolute; may still change until publish
	dir   *workdir.Dir
	force bool
}

const workspaceInfix = ".agentlens-build-"

// newWorkspace checks that out may be written and makes the folder.
func newWorkspace(out string, force bool) (*workspace, error) {
	out, err := resolve(out)
	if err != nil {
		return nil, err
	}
	if err := checkOutput(out, force); err != nil {
		return nil, err
	}
	parent := filepath.Dir(out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the output: %w", err)
	}
	dir, err := workdir.Make(parent, "."+filepath.Base(out)+workspaceInfix)
	if err != nil {
		return nil, fmt.Errorf("make the folder for the build beside %s: %w", out, err)
	}
	w := &workspace{out: out, dir: dir, force: force}
	if err := os.Mkdir(w.version(), 0o755); err != nil {
		return nil, errors.Join(err, w.discard())
	}
	return w, nil
}

// resolve makes a path absolute and follows links as far as it exists.
func resolve(path string) (string, error) {
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
		if parent, err = resolve(parent); err != nil {
			return "", err
		}
		return filepath.Join(parent, filepath.Base(path)), nil
	}
	return real, err
}

// apart refuses an output folder inside a source or around one: a build would read what it
// writes.
func apart(out string, sources []string) error {
	out, err := resolve(out)
	if err != nil {
		return err
	}
	for _, s := range sources {
		source, err := resolve(s)
		if err != nil {
			return err
		}
		if within(out, source) || within(source, out) {
			return fmt.Errorf("%w: output %s and source %s lie in one another; choose an --out elsewhere", ErrUsage, out, source)
		}
	}
	return nil
}

func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func checkOutput(out string, force bool) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("output %s is not a folder that can be read: %w", out, err)
	case len(entries) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(out, ManifestName)); err != nil {
		return fmt.Errorf("output folder %s is not empty and holds no %s: it is no dataset, so nothing replaces it; choose another --out", out, ManifestName)
	}
	if force {
		return nil
	}
	return fmt.Errorf("%w: %s (choose another --out, or replace it with --force)", ErrExists, out)
}

// aim sets the output folder anew, in the same parent.
func (w *workspace) aim(out string) error {
	out, err := resolve(out)
	if err != nil {
		return err
	}
	w.out = out
	return checkOutput(out, w.force)
}

// version is the folder that will be published.
func (w *workspace) version() string { return filepath.Join(w.dir.Path, "version") }

// scratch names a file that will not be published.
func (w *workspace) scratch(name string) string { return filepath.Join(w.dir.Path, name) }

// publish syncs the version folder and puts it in its place.
func (w *workspace) publish() error {
	if err := workdir.Sync(w.version()); err != nil {
		return fmt.Errorf("sync the finished dataset: %w", err)
	}
	// Checked again: another build may have finished meanwhile.
	if err := checkOutput(w.out, w.force); err != nil {
		return err
	}
	var err error
	switch entries, statErr := os.ReadDir(w.out); {
	case errors.Is(statErr, fs.ErrNotExist):
		err = os.Rename(w.version(), w.out)
	case statErr == nil && len(entries) == 0:
		if err = os.Remove(w.out); err == nil { // a rename does not replace a folder
			err = os.Rename(w.version(), w.out)
		}
	default:
		err = exchange(w.version(), w.out)
	}
	if err != nil {
		return fmt.Errorf("put the finished dataset in place: %w", err)
	}
	return workdir.SyncFolder(filepath.Dir(w.out))
}

// discard removes the workspace; after publish only scratch files and a replaced version
// are left in it.
func (w *workspace) discard() error { return w.dir.Remove() }
