// Package conformance finds released runs and what is expected of them, for tests: an extract
// that comes with the repository, and the project's shared folder of specifications, real
// data and expected results, which users do not have.
package conformance

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the shared folder beside the module's root, joined with elem. It skips the
// test when the folder is absent, and when -short is set: what stands there is large.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: reads the shared folder, and -short is set")
	}
	shared := filepath.Join(filepath.Dir(root(t)), "shared")
	if _, err := os.Stat(filepath.Join(shared, "README.md")); err != nil {
		t.Skip("skipped: needs the shared folder (real data and oracle) beside the checkout")
	}
	return filepath.Join(append([]string{shared}, elem...)...)
}

// root returns the folder of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// Read returns a file of the shared folder, as Dir finds it.
func Read(t testing.TB, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(Dir(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
