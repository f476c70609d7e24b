package conformance

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"
)

// Set is released runs and what is expected of them: data/agentlens-bench-1.0.tar.zst, an
// archive laid out as the release, and the tables below oracle/.
type Set struct {
	Name string // "extract" or "whole"
	dir  string
}

// Extract returns the runs of a few tasks that come with the repository; see
// testdata/extract/ATTRIBUTION.md.
func Extract(t testing.TB) *Set {
	t.Helper()
	return &Set{"extract", filepath.Join(root(t), "internal", "conformance", "testdata", "extract")}
}

// Whole returns all released runs. It skips the test when the shared folder is absent.
func Whole(t testing.TB) *Set {
	t.Helper()
	return &Set{"whole", Dir(t)}
}

// Each runs a test over the extract, and over the whole where it is at hand.
func Each(t *testing.T, f func(t *testing.T, s *Set)) {
	t.Run("extract", func(t *testing.T) { f(t, Extract(t)) })
	t.Run("whole", func(t *testing.T) { f(t, Whole(t)) })
}

// Count is how many of something the set must hold.
func (s *Set) Count(extract, whole int) int {
	if s.Name == "extract" {
		return extract
	}
	return whole
}

// Release returns the path of the archive.
func (s *Set) Release() string {
	return filepath.Join(s.dir, "data", "agentlens-bench-1.0.tar.zst")
}

// Read returns a file of the set, which may stand there compressed, with .zst at its name.
func (s *Set) Read(t testing.TB, elem ...string) []byte {
	t.Helper()
	file := filepath.Join(append([]string{s.dir}, elem...)...)
	data, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	packed, err := os.ReadFile(file + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	data, err = z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return data
}

// Table returns the rows of a tab-separated file as column name to value.
func (s *Set) Table(t testing.TB, elem ...string) []map[string]string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(s.Read(t, elem...)), "\n"), "\n")
	names := strings.Split(lines[0], "\t")
	var out []map[string]string
	for i, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != len(names) {
			t.Fatalf("%s:%d: %d fields, want %d", path.Join(elem...), i+2, len(fields), len(names))
		}
		row := make(map[string]string, len(names))
		for j, n := range names {
			row[n] = fields[j]
		}
		out = append(out, row)
	}
	return out
}

// Lines decodes a file of one JSON value per line.
func Lines[T any](t testing.TB, s *Set, elem ...string) []T {
	t.Helper()
	var out []T
	for line := range strings.Lines(string(s.Read(t, elem...))) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s:%d: %v", path.Join(elem...), len(out)+1, err)
		}
		out = append(out, v)
	}
	return out
}
