package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/schema"
)

// withManifest writes what package bench writes and Load reads.
func withManifest(t testing.TB, dir string, profiles []string) {
	t.Helper()
	text := fmt.Sprintf(`{"schema_version": %d, "parameters": {"profiles": ["%s"]}}`, schema.Version, strings.Join(profiles, `","`))
	if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	list(t, dir)
}

func list(t testing.TB, dir string) {
	t.Helper()
	if err := checksum.Write(dir); err != nil {
		t.Fatal(err)
	}
}

// The Parquet files alone give the SQLite file back, byte for byte.
func TestLoadGivesTheDatabaseBack(t *testing.T) {
	t.Setenv(cachedir.Variable, t.TempDir())
	set := consistent(t, 3, 400)
	dir := t.TempDir()
	set.write(t, dir, 1000)
	withManifest(t, dir, schema.Profiles())
	want, err := os.ReadFile(DBPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(DBPath(dir)); err != nil {
		t.Fatal(err)
	}
	path, err := Database(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the loaded file has other bytes than the one the dataset was built with")
	}
	checkAll(t, dir, set)
	if again, err := Database(t.Context(), dir); err != nil || again != path {
		t.Errorf("a second time: %s, %v", again, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("the cache holds %v", left)
	}

	// What a killed load left in the cache goes with the next one.
	left := filepath.Join(filepath.Dir(path), ".agentlens-1.tmp")
	if err := errors.Join(os.Remove(path), os.Mkdir(left, 0o755), os.WriteFile(filepath.Join(left, "whole.db"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := Database(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) && runtime.GOOS != "windows" {
		t.Errorf("%s stays: %v", left, err)
	}
}

// A damaged copy is never loaded: the cache would give its numbers for the dataset's own.
func TestDamagedFilesAreNotLoaded(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(cachedir.Variable, cache)
	dir := t.TempDir()
	consistent(t, 3, 20).write(t, dir, 10)
	if err := os.Remove(DBPath(dir)); err != nil {
		t.Fatal(err)
	}
	withManifest(t, dir, schema.Profiles())
	for _, damage := range []struct {
		name, want string
		path       string // of the file with another content
		content    string // "" removes it
	}{
		{"changed", "data/tasks.parquet is not as SHA256SUMS says", ParquetPath(dir, "tasks", ""), "PAR1"},
		{"missing", "data/tasks.parquet is missing", ParquetPath(dir, "tasks", ""), ""},
		{"added", "data/more.parquet is not listed in SHA256SUMS", ParquetPath(dir, "more", ""), "PAR1"},
		{"manifest", "manifest.json is not as SHA256SUMS says", filepath.Join(dir, manifestName), "{}"},
	} {
		whole, err := os.ReadFile(damage.path)
		if damage.content == "" {
			os.Remove(damage.path)
		} else {
			os.WriteFile(damage.path, []byte(damage.content), 0o644)
		}
		if _, err := Open(t.Context(), dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), damage.want) {
			t.Errorf("%s: want an error with %q: %v", damage.name, damage.want, err)
		}
		os.Remove(damage.path)
		if err == nil {
			os.WriteFile(damage.path, whole, 0o644)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "databases", "*")); len(left) > 0 {
		t.Errorf("the cache holds %v", left)
	}
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	made, _ := filepath.Glob(filepath.Join(cache, "databases", "*.db"))
	if len(made) != 1 {
		t.Fatalf("the cache holds %v", made)
	}
	if err := os.Truncate(made[0], 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "remove it, and it is made again") {
		t.Errorf("a damaged file in the cache: %v", err)
	}
}

func TestCopyTable(t *testing.T) {
	t.Setenv(cachedir.Variable, t.TempDir())
	set := consistent(t, 4, 400)
	dir, whole, bare := t.TempDir(), t.TempDir(), t.TempDir()
	stats := set.write(t, dir, 1000)
	for _, out := range []string{whole, bare} {
		withManifest(t, out, schema.Profiles())
	}
	parts, err := partsOf(schema.Profiles())
	if err != nil {
		t.Fatal(err)
	}
	text := func(c schema.Column) bool { return c.LogText || c.Name == "trajectory_id" } // a key stays
	var kept []TableStat
	for i, p := range parts {
		got, err := CopyTable(t.Context(), dir, whole, p.table, p.profile, func(schema.Column) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		if got != stats[i] {
			t.Errorf("the copy of %s is %v, want %v", p, got, stats[i])
		}
		if p.table.Name == "published" || p.table.Name == "ingest_errors" {
			continue
		}
		if got, err = CopyTable(t.Context(), dir, bare, p.table, p.profile, text); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, got)
	}
	list(t, whole)
	list(t, bare)
	checkAll(t, whole, set)

	report, err := Compare(t.Context(), bare)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Error(p)
	}
	if !reflect.DeepEqual(report.Tables, kept) {
		t.Errorf("Compare says\n%v, CopyTable\n%v", report.Tables, kept)
	}
	db, err := Open(t.Context(), bare)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	i := 0
	want := set[[2]string{"states", ""}].Interface().([]schema.State)
	for s, err := range ReadSQL[schema.State](t.Context(), db.DB, "SELECT * FROM states ORDER BY trajectory_id, step") {
		if err != nil {
			t.Fatal(err)
		}
		w := want[i]
		w.Command, w.Observation, w.ObservationHash, w.ContentHash = nil, nil, "", nil
		if !reflect.DeepEqual(s, w) {
			t.Fatalf("state %d is\n%+v, want\n%+v", i, s, w)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d states, want %d", i, len(want))
	}
	if _, err := CopyTable(t.Context(), bare, t.TempDir(), parts[len(parts)-1].table, "none", text); err == nil {
		t.Error("copied a table of an unknown profile")
	}
	published, _ := schema.Lookup("published")
	if _, err := CopyTable(t.Context(), bare, t.TempDir(), published, "", text); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a table without a file: %v", err)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	t.Setenv(cachedir.Variable, t.TempDir())
	out := filepath.Join(t.TempDir(), "x.db")
	for name, change := range map[string]func(dir string){
		"damaged: ": func(dir string) { os.WriteFile(filepath.Join(dir, manifestName), []byte("{"), 0o644) },
		"version 7": func(dir string) {
			os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"schema_version":7}`), 0o644)
		},
		"neither":        func(dir string) { os.Remove(filepath.Join(dir, manifestName)) },
		"models.parquet": func(dir string) { os.WriteFile(ParquetPath(dir, "models", ""), []byte("PAR1"), 0o644) },
		"other columns": func(dir string) {
			text, _ := os.ReadFile(ParquetPath(dir, "models", ""))
			os.WriteFile(ParquetPath(dir, "tasks", ""), text, 0o644)
		},
	} {
		dir := t.TempDir()
		madeDataset{}.write(t, dir, 10)
		withManifest(t, dir, schema.Profiles())
		change(dir)
		if err := Load(t.Context(), dir, out); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); len(left) > 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed load left a file")
	}
}

// What had no rows was not left out, and counts as nothing, not as unknown.
func TestAbsent(t *testing.T) {
	dir := t.TempDir()
	consistent(t, 5, 20).write(t, dir, 10)
	os.Remove(DBPath(dir))
	for _, gone := range [][2]string{{"waste", "release"}, {"waste", "paper"}, {"waste", "process"}, {"ingest_errors", ""}, {"tiers", "paper"}} {
		if err := os.Remove(ParquetPath(dir, gone[0], gone[1])); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf(`{"schema_version": %d, "parameters": {"profiles": ["release", "paper", "process"]},
		"publication": {"without": ["waste"], "empty": ["waste_process", "ingest_errors"]}}`, schema.Version)
	if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	absent, err := Absent(dir)
	if err != nil || !reflect.DeepEqual(absent, map[string]bool{"waste": true}) {
		t.Errorf("absent are %v, %v", absent, err)
	}
}

func TestNamed(t *testing.T) {
	absent := map[string]bool{"tiers": true, "features.f1_score": true, "pta": true}
	for query, want := range map[string]string{
		"SELECT * FROM tiers JOIN features USING (trajectory_id)": "[tiers]",
		"SELECT f1_score FROM features_paper":                     "[features.f1_score]",
		"SELECT f1_score FROM published":                          "[]",
		"SELECT count(*) FROM pta_members":                        "[]",
		"SELECT count(*) FROM pta_release, tiers":                 "[pta tiers]",
	} {
		if got := fmt.Sprint(Named(absent, query)); got != want {
			t.Errorf("%s names %s, want %s", query, got, want)
		}
	}
}
