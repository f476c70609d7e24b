package output

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func kind(t *testing.T) *Kind {
	t.Helper()
	return &Kind{Name: "one of ours", Is: func(manifest []byte) error {
		if string(manifest) != "ours" {
			return errors.New("its manifest is another's")
		}
		return nil
	}}
}

func write(t *testing.T, out string, replace *Kind, content string) error {
	t.Helper()
	f, err := Begin(out, replace)
	if err != nil {
		return err
	}
	return f.End(errors.Join(f.Write(manifestName, []byte("ours")), f.Write("data/table", []byte(content)), f.Commit()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree lists what is below a folder, with contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(path, dir) + "\n")
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		}
		return nil
	}))
	return b.String()
}

// TestReplace: whatever is not a whole output of the kind stays as it is, and is named.
func TestReplace(t *testing.T) {
	put := func(name, text string) func(string) error {
		return func(dir string) error {
			path := filepath.Join(dir, filepath.FromSlash(name))
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		}
	}
	for name, tc := range map[string]struct {
		spoil func(dir string) error
		want  string // of the error, "" for none
	}{
		"whole":              {func(string) error { return nil }, ""},
		"a note":             {put("notes.txt", "x"), "notes.txt is none of its files"},
		"a hidden file":      {put(".DS_Store", "x"), ".DS_Store is none of its files"},
		"a hidden file deep": {put("data/.env", "x"), "data/.env is none of its files"},
		"a git work tree":    {put(".git/HEAD", "x"), ".git/ is none of its folders"},
		"an empty folder":    {func(d string) error { return os.Mkdir(filepath.Join(d, "mine"), 0o755) }, "mine/ is none of its folders"},
		"a changed file":     {put("data/table", "mine"), "data/table was changed"},
		"a changed manifest": {put(manifestName, "other"), "its manifest is another's"},
		"a file missing":     {func(d string) error { return os.Remove(filepath.Join(d, "data", "table")) }, "data/table is missing"},
		"no manifest":        {func(d string) error { return os.Remove(filepath.Join(d, manifestName)) }, "has no manifest.json"},
		"no list":            {func(d string) error { return os.Remove(filepath.Join(d, checksum.Name)) }, checksum.Name},
		"a list that lists all": {func(d string) error {
			return errors.Join(put("notes.txt", "x")(d), checksum.Write(d))
		}, ""}, // by its own checksums it is whole
		"a link for a file": {func(d string) error {
			table := filepath.Join(d, "data", "table")
			return errors.Join(os.Rename(table, filepath.Join(filepath.Dir(d), "elsewhere")), os.Symlink("../../elsewhere", table))
		}, "data/table is a link"},
		"a link": {func(d string) error { return os.Symlink("/", filepath.Join(d, "root")) }, "root is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			out := filepath.Join(parent, "out")
			must(t, write(t, out, nil, "old"))
			if err := write(t, out, nil, "new"); !errors.Is(err, ErrExists) {
				t.Fatalf("unasked: %v", err)
			}
			must(t, tc.spoil(out))
			before := tree(t, parent)
			err := write(t, out, kind(t), "new")
			if tc.want == "" {
				if err != nil || !strings.Contains(tree(t, out), "new") {
					t.Fatalf("%v; %s", err, tree(t, out))
				}
				return
			}
			if !usage.Is(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if after := tree(t, parent); after != before {
				t.Errorf("changed: %s, was %s", after, before)
			}
		})
	}
}

// TestReplaceChecksAgain: what comes into the folder while the work is done is not lost.
func TestReplaceChecksAgain(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	must(t, write(t, out, nil, "old"))
	f, err := Begin(out, kind(t))
	must(t, err)
	must(t, f.Write(manifestName, []byte("ours")))
	must(t, os.WriteFile(filepath.Join(out, "notes.txt"), []byte("mine"), 0o644))
	if err := f.End(f.Commit()); !usage.Is(err) {
		t.Errorf("before the exchange: %v", err)
	}
	must(t, os.Remove(filepath.Join(out, "notes.txt")))

	f, err = Begin(out, kind(t))
	must(t, err)
	must(t, f.Write(manifestName, []byte("ours")))
	now, err := f.look(f.standing)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(out, "notes.txt"), []byte("mine"), 0o644))
	if err := f.End(f.exchange(now)); !usage.Is(err) {
		t.Errorf("at the exchange: %v", err)
	}
	if got := tree(t, out); !strings.Contains(got, "mine") || !strings.Contains(got, "old") {
		t.Errorf("lost: %s", got)
	}
}

func TestPlaces(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "out")
	must(t, write(t, out, nil, "old"))
	link := filepath.Join(parent, "link")
	must(t, os.Symlink(out, link))
	if err := write(t, link, kind(t), "new"); !usage.Is(err) {
		t.Errorf("through a link: %v", err)
	}
	if err := write(t, filepath.Join(out, "in"), nil, "new"); !errors.Is(err, ErrExists) {
		t.Errorf("in an output: %v", err)
	}
	here := filepath.Join(parent, "here", "deep")
	must(t, os.MkdirAll(here, 0o755))
	t.Chdir(here)
	for _, place := range []string{".", "..", here} {
		if err := write(t, place, kind(t), "new"); !usage.Is(err) && !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", place, err)
		}
	}
	empty := filepath.Join(parent, "empty")
	must(t, os.Mkdir(empty, 0o755))
	toEmpty := filepath.Join(parent, "toempty")
	must(t, os.Symlink("empty", toEmpty))
	must(t, write(t, toEmpty, nil, "new"))
	if !exists(filepath.Join(empty, manifestName)) {
		t.Error("a link to an empty folder was not followed")
	}
}

// TestNothingLeft: what fails leaves no folder that was made for it.
func TestNothingLeft(t *testing.T) {
	parent := t.TempDir()
	f, err := Begin(filepath.Join(parent, "a", "b", "out"), nil)
	must(t, err)
	failed := errors.New("failed")
	if err := f.End(failed); !errors.Is(err, failed) {
		t.Error(err)
	}
	if got := tree(t, parent); got != "\n" {
		t.Errorf("left: %s", got)
	}
}

// TestSameOutput: of two runs for one output one wins, and the other says so.
func TestSameOutput(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	one, err := Begin(out, nil)
	must(t, err)
	two, err := Begin(out, nil)
	must(t, err)
	must(t, errors.Join(one.Write("x", []byte("one")), two.Write("x", []byte("two"))))
	must(t, one.End(one.Commit()))
	if err := two.End(two.Commit()); !errors.Is(err, ErrExists) {
		t.Errorf("the second: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "x")); err != nil || string(text) != "one" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(t.Context(), dir, func() { t.Error("waited for nobody") })
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	waited := 0
	_, err = Lock(ctx, dir, func() { waited++; cancel() })
	if !errors.Is(err, context.Canceled) || waited != 1 {
		t.Errorf("%v after %d waits", err, waited)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = unlock() })
	second, err := Lock(t.Context(), dir, nil)
	must(t, err)
	must(t, second())
	if got := tree(t, dir); got != "\n" {
		t.Errorf("left: %s", got)
	}
}

// TestSpill: the file can be read back, and no name shows it.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	s, err := NewSpill(dir)
	must(t, err)
	if _, err := s.WriteAt([]byte("text"), 3); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := s.ReadAt(got, 3); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if strings.Contains(tree(t, dir), "spill") && os.PathSeparator == '/' {
		t.Error("the file has a name")
	}
	must(t, s.Close())
	if got := tree(t, dir); got != "\n" {
		t.Errorf("left: %s", got)
	}
}
