package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Version is a semantic version of a dataset: major when values changed, minor when columns
// were added, patch when only bytes changed.
type Version struct{ Major, Minor, Patch int }

// String returns 1.2.3.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// ParseVersion is the inverse of Version.String.
func ParseVersion(s string) (Version, error) {
	parts := strings.Split(s, ".")
	var n [3]int
	ok := len(parts) == 3
	for i := range min(len(parts), 3) {
		v, err := strconv.Atoi(parts[i])
		if err != nil || v < 0 || strconv.Itoa(v) != parts[i] {
			ok = false
		}
		n[i] = v
	}
	if !ok {
		return Version{}, usage.Errorf("", "version %q: want three numbers such as 2.0.0", s)
	}
	return Version{n[0], n[1], n[2]}, nil
}

// Next is the version after a change of that class, as Difference names it; changed is false
// for no change.
func (v Version) Next(class string) (next Version, changed bool) {
	switch class {
	case "values":
		return Version{v.Major + 1, 0, 0}, true
	case "columns":
		return Version{v.Major, v.Minor + 1, 0}, true
	case "bytes":
		return Version{v.Major, v.Minor, v.Patch + 1}, true
	}
	return v, false
}

// Compare orders versions.
func (v Version) Compare(w Version) int {
	return slices.Compare([]int{v.Major, v.Minor, v.Patch}, []int{w.Major, w.Minor, w.Patch})
}

// Locate finds the dataset folder that a command's argument means: a dataset folder, a root
// of versions (the newest one), or ROOT@VERSION.
func Locate(arg string) (string, error) {
	if _, err := os.Stat(filepath.Join(arg, ManifestName)); err == nil {
		return arg, nil
	}
	root, wanted, pinned := arg, "", false
	if i := strings.LastIndexByte(arg, '@'); i > 0 {
		root, wanted, pinned = arg[:i], arg[i+1:], true
	}
	if pinned {
		if err := noDataset(root); err != nil {
			return "", err
		}
	}
	have, err := versionsIn(root)
	if err != nil {
		return "", fmt.Errorf("%w at %s: %w", ErrNoDataset, root, err)
	}
	if len(have) == 0 {
		return "", fmt.Errorf("%w at %s: it has no %s and no versions; make one with `agentlens build --out %s`", ErrNoDataset, root, ManifestName, root)
	}
	if !pinned {
		return filepath.Join(root, have[len(have)-1].String()), nil
	}
	v, err := ParseVersion(wanted)
	if err != nil {
		return "", err
	}
	if !slices.Contains(have, v) {
		return "", fmt.Errorf("%w: %s has no version %s, only %s", ErrNoDataset, root, v, joinVersions(have))
	}
	return filepath.Join(root, v.String()), nil
}

// versionsIn lists the versions in a root, oldest first.
func versionsIn(root string) ([]Version, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var out []Version
	for _, e := range entries {
		v, err := ParseVersion(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		_, err = os.Stat(filepath.Join(root, e.Name(), ManifestName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	slices.SortFunc(out, Version.Compare)
	return out, nil
}

func joinVersions(vs []Version) string {
	names := make([]string, len(vs))
	for i, v := range vs {
		names[i] = v.String()
	}
	return strings.Join(names, ", ")
}
