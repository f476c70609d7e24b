package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// A lineage finds the version of a new dataset in a root: the next one by what changed since
// the newest (major for values, minor for added columns, patch for bytes).
//
// The first version is 1.0.0; of the release it is 2.0.0, as version 1.0.0 are the
// annotations that its authors published.
type lineage struct {
	root      string
	newest    *Version // in the root
	wanted    *Version
	version   Version
	parent    *Parent
	unchanged bool
}

// noDataset refuses a root of versions that is a dataset itself.
func noDataset(root string) error {
	if _, err := os.Stat(filepath.Join(root, ManifestName)); err == nil {
		return usage.Errorf("", "%s is a dataset, which never changes, and no root of versions; choose another folder", root)
	}
	return nil
}

// begin checks the root and the wanted version. It returns a folder in the root that the
// version may be made beside.
func (l *lineage) begin(wanted string) (string, error) {
	if err := noDataset(l.root); err != nil {
		return "", err
	}
	have, err := versionsIn(l.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("root of versions: %w", err)
	}
	if len(have) > 0 {
		l.newest = &have[len(have)-1]
	}
	if wanted == "" {
		return filepath.Join(l.root, "next"), nil
	}
	v, err := ParseVersion(wanted)
	if err != nil {
		return "", err
	}
	switch {
	case slices.Contains(have, v):
		return "", fmt.Errorf("%w: %s is in %s already; a version never changes, choose another one", ErrExists, v, l.root)
	case l.newest != nil && v.Compare(*l.newest) < 0:
		return "", usage.Errorf("version", "%s is older than the newest version %s of %s", v, *l.newest, l.root)
	}
	l.wanted = &v
	return filepath.Join(l.root, v.String()), nil
}

// lock waits until no other build makes a version in the root, which exists, and sees which
// are there now.
func (l *lineage) lock(ctx context.Context, wanted string, waiting func()) (unlock func() error, err error) {
	if unlock, err = output.Lock(ctx, l.root, waiting); err != nil {
		return nil, err
	}
	if _, err := l.begin(wanted); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// settle decides the version of the dataset in dir, which has everything but its manifest.
func (l *lineage) settle(ctx context.Context, dir string, built []profile.Profile, tables []store.TableStat, release bool) error {
	switch {
	case l.newest != nil:
		if err := l.after(ctx, dir, built); err != nil {
			return err
		}
	case release:
		l.version = Version{2, 0, 0}
		for _, t := range tables {
			if t.Table == "published" {
				l.parent = &Parent{Version: "1.0.0", SHA256: t.Digest}
			}
		}
	default:
		l.version = Version{1, 0, 0}
	}
	if l.wanted != nil {
		l.version, l.unchanged = *l.wanted, false
	}
	return nil
}

func (l *lineage) after(ctx context.Context, dir string, built []profile.Profile) error {
	parent := filepath.Join(l.root, l.newest.String())
	sum, err := digestOf(filepath.Join(parent, ChecksumsName))
	if err != nil {
		return err
	}
	l.parent = &Parent{Version: l.newest.String(), SHA256: sum}
	d, err := Compare(ctx, Side{Dir: parent}, Side{Dir: dir, Built: built})
	if err != nil {
		return fmt.Errorf("compare with version %s: %w", *l.newest, err)
	}
	next, changed := l.newest.Next(d.Class)
	l.version, l.unchanged = next, !changed
	return nil
}

// tableSums are the digests of a dataset's tables and refused records. What else is in a
// published folder describes them.
func tableSums(dir string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out := map[string]string{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && checksum.Hidden(d) {
			return checksum.Skip(d)
		}
		if err != nil || d.IsDir() || !strings.HasPrefix(name, "data/") && name != filepath.Base(store.DBPath(dir)) && name != ErrorsName {
			return err
		}
		out[name], err = sumOf(root, name)
		return err
	})
	return out, err
}

// ListedVersion is one line of Versions.
type ListedVersion struct {
	Version  string   `json:"version"`
	Dir      string   `json:"dir"`
	SHA256   string   `json:"sha256"` // of SHA256SUMS
	Parent   *Parent  `json:"parent"`
	Profiles []string `json:"profiles"`
	Sources  []string `json:"sources"` // their digests
	Counts   Counts   `json:"counts"`
}

// Versions lists the versions in a root, oldest first.
func Versions(root string) ([]ListedVersion, error) {
	have, err := versionsIn(root)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrNoDataset, root, err)
	}
	if err := noDataset(root); err != nil {
		return nil, err
	}
	if len(have) == 0 {
		return nil, fmt.Errorf("%w at %s: it has no versions; make one with `agentlens build --root %s`", ErrNoDataset, root, root)
	}
	out := make([]ListedVersion, 0, len(have))
	for _, v := range have {
		dir := filepath.Join(root, v.String())
		m, err := ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		l := ListedVersion{Version: v.String(), Dir: dir, Parent: m.Parent, Profiles: m.Parameters.Profiles, Counts: m.Counts}
		for _, s := range m.Sources {
			l.Sources = append(l.Sources, s.SHA256)
		}
		if l.SHA256, err = digestOf(filepath.Join(dir, ChecksumsName)); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
