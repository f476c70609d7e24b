// Package outdir makes an output folder whole or not at all.
//
// Invariants:
//
//   - Files are written to a hidden folder beside the output, which becomes the output in one
//     rename; what stops the program before leaves no output. Where it is killed it leaves the
//     hidden folder, which the next run for the same output removes.
//   - An output that exists is never replaced or added to.
//   - SHA256SUMS lists every other file, sorted by name, as sha256sum does.
package outdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentlens-bench/agentlens/internal/checksum"
	"github.com/agentlens-bench/agentlens/internal/workdir"
)

// ErrExists marks an output that exists already, or lies in one.
var ErrExists = errors.New("the output exists already")

// Dir is an output folder in the making.
type Dir struct {
	out  string
	work *workdir.Dir
	done bool
}

// Begin starts the folder out, which must not exist or be empty. The caller calls Commit, and
// Discard in any case.
func Begin(out string) (*Dir, error) {
	abs, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	if err := free(abs); err != nil {
		return nil, err
	}
	if err := outside(abs); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the output: %w", err)
	}
	work, err := workdir.Make(filepath.Dir(abs), "."+filepath.Base(abs)+".part-")
	if err != nil {
		return nil, fmt.Errorf("make a folder beside %s: %w", out, err)
	}
	if err := os.Chmod(work.Path, 0o755); err != nil {
		return nil, errors.Join(err, work.Remove())
	}
	return &Dir{out: abs, work: work}, nil
}

// outside refuses an output in a folder whose files a manifest and a list fix, such as a
// dataset.
func outside(out string) error {
	for dir := filepath.Dir(out); ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, checksum.Name))
		_, merr := os.Stat(filepath.Join(dir, "manifest.json"))
		if err == nil && merr == nil {
			return fmt.Errorf("%w: %s would change %s, whose files %s lists; choose another --out", ErrExists, out, dir, checksum.Name)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func free(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("output %s: %w", out, err)
	case len(entries) > 0:
		return fmt.Errorf("%w: %s is not empty; choose another --out or remove it", ErrExists, out)
	}
	return nil
}

// Path is where a file of the output is written; its folder is made.
func (d *Dir) Path(name string) (string, error) {
	path := filepath.Join(d.work.Path, filepath.FromSlash(name))
	return path, os.MkdirAll(filepath.Dir(path), 0o755)
}

// Write writes a whole file.
func (d *Dir) Write(name string, content []byte) error {
	path, err := d.Path(name)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// Files lists what is written so far, sorted by path.
func (d *Dir) Files() ([]checksum.File, error) { return checksum.Files(d.work.Path) }

// Commit writes the checksums and puts the folder in its place.
func (d *Dir) Commit() error {
	if err := checksum.Write(d.work.Path); err != nil {
		return err
	}
	if err := workdir.Sync(d.work.Path); err != nil {
		return fmt.Errorf("flush the output to the disk: %w", err)
	}
	if err := free(d.out); err != nil { // another run may have finished meanwhile
		return err
	}
	if err := os.Remove(d.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(d.work.Path, d.out); err != nil {
		return fmt.Errorf("put the output in place: %w", err)
	}
	d.done = true
	return errors.Join(workdir.SyncFolder(filepath.Dir(d.out)), d.work.Release())
}

// Discard removes what was not committed.
func (d *Dir) Discard() error {
	if d.done {
		return nil
	}
	return d.work.Remove()
}
