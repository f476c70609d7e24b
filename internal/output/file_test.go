package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckFile: what CheckFile lets pass can be written, and it leaves no trace.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		mark []byte
		want string // of the error
	}{
		{"new", nil, ""},
		{"a/b/new", nil, ""},
		{"file", nil, "file exists already"},
		{"file", []byte("ol"), ""},
		{".", []byte("ol"), "is a folder"},
		{"file/new", nil, "not a directory; choose another place"},
		{"file/a/new", []byte("ol"), "not a directory; choose another place"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(tc.name))
		err := CheckFile(path, tc.mark)
		if entries, rerr := os.ReadDir(dir); rerr != nil || len(entries) != 1 {
			t.Fatalf("%s: Check leaves %v, %v", tc.name, entries, rerr)
		}
		written := WriteFile(path, []byte("new"), tc.mark)
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
	if err := CheckFile(file, nil); !errors.Is(err, ErrExists) {
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
