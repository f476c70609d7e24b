package checksum

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// Any folder: the list reads back, names every file, and sha256sum agrees.
func TestList(t *testing.T) {
	program, _ := exec.LookPath("sha256sum")
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "checksum-test-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		content := rapid.MapOfN(rapid.StringMatching(`([a-z]{1,3}/)?[a-z#é][a-z .#é]{0,5}[a-z]`), rapid.String(), 0, 6).Draw(t, "files")
		for name, text := range content {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if os.MkdirAll(filepath.Dir(path), 0o755) != nil || os.WriteFile(path, []byte(text), 0o644) != nil {
				delete(content, name) // a file and a folder of one name
			}
		}
		for range 2 { // its own list is not in it
			if err := Write(dir); err != nil {
				t.Fatal(err)
			}
		}
		listed, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(listed) != len(content) {
			t.Fatalf("listed %v, of %v", listed, content)
		}
		for name := range maps.Keys(content) {
			if sum, size, err := Of(filepath.Join(dir, name)); err != nil || listed[name] != sum || size != int64(len(content[name])) {
				t.Fatalf("%s: %s of %d bytes (%v), listed %s", name, sum, size, err, listed[name])
			}
		}
		if program == "" || len(content) == 0 {
			return
		}
		cmd := exec.Command(program, "--quiet", "-c", Name)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"x  y\n", "no digest\n", "\n"} {
		if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil {
			t.Errorf("read %q", text)
		}
	}
}
