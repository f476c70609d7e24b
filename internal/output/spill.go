package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Spill is a temporary file that no other process can open by name, where the system can keep
// such files.
type Spill struct {
	*os.File
	temp *Temp // that the file is in, nil when it is in none
	dir  string
}

// NewSpill makes an empty file on the file system of a folder, "" for the system's folder for
// temporary files.
func NewSpill(dir string) (*Spill, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if f := nameless(dir); f != nil {
		return &Spill{File: f, dir: dir}, nil
	}
	temp, err := NewTemp(dir)
	if err != nil {
		return nil, noSpill(dir, err)
	}
	f, err := os.OpenFile(filepath.Join(temp.Path, "spill"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(noSpill(dir, err), temp.Remove())
	}
	s := &Spill{File: f, temp: temp, dir: dir}
	if os.Remove(f.Name()) == nil { // where open files can be removed
		s.temp, err = nil, temp.Remove()
	}
	return s, err
}

func noSpill(dir string, err error) error {
	return fmt.Errorf("make a temporary file in %s: %w; set TMPDIR to a folder with room", dir, err)
}

// Failed says what to do about a write or read that failed.
func (s *Spill) Failed(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("temporary file in %s: %w; set TMPDIR to a folder with room", s.dir, err)
}

// Close removes the file.
func (s *Spill) Close() error {
	err := s.File.Close()
	if s.temp != nil {
		err = errors.Join(err, s.temp.Remove())
	}
	return err
}
