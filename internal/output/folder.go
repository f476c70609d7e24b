package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Folder is an output folder in the making.
type Folder struct {
	out      string // absolute, without links; may still change until Commit
	parents  parents
	temp     *Temp
	replace  *Kind     // nil when nothing is replaced
	standing *standing // what is replaced, nil for nothing
	done     bool
}

// Begin starts the folder out. It must not exist, be empty, or hold what may be replaced:
// whole outputs of a kind, nil for none. Else the error wraps ErrExists or is a usage error. The caller
// calls Commit, and End in any case.
func Begin(out string, replace *Kind) (*Folder, error) {
	f := &Folder{replace: replace}
	if err := f.Aim(out); err != nil {
		return nil, err
	}
	if err := f.make(); err != nil {
		return nil, errors.Join(Explain(fmt.Errorf("make %s: %w", out, err), filepath.Dir(f.out)), f.undo())
	}
	return f, nil
}

func (f *Folder) make() (err error) {
	parent := filepath.Dir(f.out)
	for range 3 { // another run may remove a folder that it made for nothing
		if f.parents, err = makeParents(parent); err != nil {
			return err
		}
		if f.temp, err = NewTemp(parent); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	return os.Mkdir(f.whole(), 0o755)
}

// Aim sets the place of the output, after Begin to another one in the same parent.
func (f *Folder) Aim(out string) error {
	place, err := Resolve(out)
	if err != nil {
		return fmt.Errorf("output %s: %w", out, err)
	}
	if err := errors.Join(notHere(place), outside(place)); err != nil {
		return err
	}
	f.out = place
	if f.standing, err = f.look(nil); err != nil {
		return err
	}
	if f.standing == nil {
		return nil
	}
	if info, err := os.Lstat(filepath.Clean(out)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return usage.Errorf("", "%s is a link to %s, which is not replaced through it; name the folder itself", out, place)
	}
	return nil
}

// look says what is in the place of the output; nil for nothing.
func (f *Folder) look(before *standing) (*standing, error) {
	entries, err := os.ReadDir(f.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.ENOTDIR):
		return nil, usage.Errorf("", "output %s is no folder; choose another output or remove it", f.out)
	case err != nil:
		return nil, fmt.Errorf("output %s: %w", f.out, err)
	case len(entries) == 0:
		return nil, nil
	case f.replace == nil:
		return nil, fmt.Errorf("%w: %s is not empty; choose another output or remove it", ErrExists, f.out)
	}
	return f.replace.inspect(f.out, before)
}

// whole is where the output is made.
func (f *Folder) whole() string { return filepath.Join(f.temp.Path, "whole") }

// Root is the folder that the output is made in.
func (f *Folder) Root() string { return f.whole() }

// Scratch is the folder for files that are not part of the output, on the same file system.
// They are gone after End.
func (f *Folder) Scratch() string { return f.temp.Path }

// Path is where a file of the output is written; its folder is made.
func (f *Folder) Path(name string) (string, error) {
	path := filepath.Join(f.whole(), filepath.FromSlash(name))
	return path, os.MkdirAll(filepath.Dir(path), 0o755)
}

// Write writes a whole file.
func (f *Folder) Write(name string, content []byte) error {
	path, err := f.Path(name)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// KeepOthers takes over the files of the folder that is replaced but for those written anew.
func (f *Folder) KeepOthers() error {
	if f.standing == nil {
		return nil
	}
	for name := range f.standing.files {
		path, err := f.Path(name)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || name == checksum.Name {
			continue
		}
		content, err := os.ReadFile(filepath.Join(f.out, filepath.FromSlash(name)))
		if err == nil {
			err = os.WriteFile(path, content, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Files lists what is written so far, sorted by path.
func (f *Folder) Files() ([]checksum.File, error) { return checksum.Files(f.whole()) }

// Commit writes the checksums and puts the folder in its place.
func (f *Folder) Commit() error {
	if err := checksum.Write(f.whole()); err != nil {
		return err
	}
	return f.CommitBare()
}

// CommitBare puts a folder without checksums in its place: one that nothing ever replaces.
func (f *Folder) CommitBare() error {
	if err := syncTree(f.whole()); err != nil {
		return fmt.Errorf("flush the output to the disk: %w", err)
	}
	now, err := f.look(f.standing) // another run may have finished meanwhile
	if err != nil {
		return err
	}
	if now == nil {
		err = f.put()
	} else {
		err = f.exchange(now)
	}
	if err != nil {
		return fmt.Errorf("put the output in place: %w", err)
	}
	f.done = true
	return errors.Join(syncFolder(filepath.Dir(f.out)), f.parents.sync())
}

func (f *Folder) put() error {
	if err := os.Remove(f.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a rename does not replace a folder on every system
	}
	return os.Rename(f.whole(), f.out)
}

// exchange puts the output in the place of a folder, and back when that turns out to be
// another one.
func (f *Folder) exchange(now *standing) error {
	if err := exchange(f.whole(), f.out); err != nil {
		return err
	}
	moved := *now
	moved.dir = f.whole()
	if _, err := f.replace.inspect(moved.dir, &moved); err != nil {
		return errors.Join(fmt.Errorf("%w (it changed at the last moment)", err), exchange(f.whole(), f.out))
	}
	return nil
}

// End removes what was not committed, what was replaced and what was made above the output for
// nothing. It returns the error of the work, with the way out where the disk is to blame.
func (f *Folder) End(err error) error {
	if f.done {
		return errors.Join(err, f.temp.Remove())
	}
	return errors.Join(Explain(err, filepath.Dir(f.out)), f.undo())
}

func (f *Folder) undo() error {
	var err error
	if f.temp != nil {
		err = f.temp.Remove()
	}
	f.parents.remove()
	return err
}
