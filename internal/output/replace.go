package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Kind is what folders an output may replace.
type Kind struct {
	Name string // of one, with its article

	// Is says why a manifest is not that of such a folder. Nil is for those without one.
	Is func(manifest []byte) error

	// File says whether such a folder may have a file; nil for any that is listed.
	File func(name string) bool
}

// standing is a folder that an output may replace, as it was found.
type standing struct {
	kind  Kind
	dir   string
	files map[string]state // by path, SHA256SUMS included
}

type state struct {
	size int64
	time time.Time
}

// mostNamed bounds how many foreign files an error names.
const mostNamed = 5

// inspect looks at a folder that shall be replaced. What makes it another than a whole one of
// the kind is a usage error. A file that has not changed since before is not read
// again.
func (k Kind) inspect(dir string, before *standing) (*standing, error) {
	refuse := func(format string, args ...any) error {
		return usage.Errorf("", "%s is not replaced: %s; choose another output, or remove the folder yourself", dir, fmt.Sprintf(format, args...))
	}
	if k.Is != nil {
		manifest, err := os.ReadFile(filepath.Join(dir, manifestName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, refuse("it is not %s, as it has no %s", k.Name, manifestName)
		}
		if err == nil {
			err = k.Is(manifest)
		}
		if err != nil {
			return nil, refuse("it is not %s: %v", k.Name, err)
		}
	}
	sums, err := checksum.Read(dir)
	if err != nil {
		return nil, refuse("its files can't be told from others: %v", err)
	}
	found := &standing{kind: k, dir: dir, files: map[string]state{}}
	folders := map[string]bool{".": true}
	for name := range sums {
		for at := filepath.Dir(filepath.FromSlash(name)); at != "." && at != string(filepath.Separator); at = filepath.Dir(at) {
			folders[at] = true
		}
	}
	var foreign []string
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		local, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(local)
		want, listed := sums[name]
		switch {
		case e.IsDir() && folders[local]:
			return nil
		case e.IsDir():
			foreign = append(foreign, name+"/ is none of its folders")
			return fs.SkipDir
		case !e.Type().IsRegular():
			foreign = append(foreign, name+" is a link or another thing that is no file")
			delete(sums, name)
			return nil
		case !listed && name != checksum.Name, k.File != nil && name != checksum.Name && !k.File(name):
			foreign = append(foreign, name+" is none of its files")
			delete(sums, name)
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		is := state{info.Size(), info.ModTime()}
		found.files[name] = is
		if was, known := before.state(name); listed && (!known || was != is) {
			sum, _, err := checksum.Of(path)
			if err != nil {
				return err
			}
			if sum != want {
				foreign = append(foreign, name+" was changed, by "+checksum.Name)
			}
		}
		delete(sums, name)
		return nil
	})
	if err != nil {
		return nil, refuse("it can't be read: %v", err)
	}
	for name := range sums {
		foreign = append(foreign, name+" is missing")
	}
	if n := len(foreign); n > mostNamed {
		foreign = append(foreign[:mostNamed], fmt.Sprintf("and %d more", n-mostNamed))
	}
	if len(foreign) > 0 {
		return nil, refuse("%s", strings.Join(foreign, ", "))
	}
	return found, nil
}

func (s *standing) state(name string) (state, bool) {
	if s == nil {
		return state{}, false
	}
	is, ok := s.files[name]
	return is, ok
}
