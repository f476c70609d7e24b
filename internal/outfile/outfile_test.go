package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: what Check lets pass can be written, and it leaves no trace.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		replace bool
		want    string // of the error
	}{
		{"new", false, ""},
		{"a/b/new", false, ""},
		{"file", false, "file exists already"},
		{"file", true, ""},
		{".", true, "is a folder"},
		{"file/new", false, "not a directory; choose another place"},
		{"file/a/new", true, "not a directory; choose another place"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(tc.name))
		err := Check(path, tc.replace)
		if entries, rerr := os.ReadDir(dir); rerr != nil || len(entries) != 1 {
			t.Fatalf("%s: Check leaves %v, %v", tc.name, entries, rerr)
		}
		written := Write(path, []byte("new"), tc.replace)
		if tc.want == "" {
			text, rerr := os.ReadFile(path)
			if err := errors.Join(err, written, rerr); err != nil || string(text) != "new" {
				t.Errorf("%s: %q, %v", tc.name, text, err)
			}
		} else if err == nil || written == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v and %v, want %s", tc.name, err, written, tc.want)
		}
		for _, made := range []string{"new", "a"} {
			if err := os.RemoveAll(filepath.Join(dir, made)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Check(file, false); !errors.Is(err, ErrExists) {
		t.Errorf("%v is no ErrExists", err)
	}
}

func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	if err := CheckFolder(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolder(filepath.Join(dir, "a")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a folder that can't be written: %v", err)
	}
}
