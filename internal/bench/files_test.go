package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
)

// What a copy does to a folder is told apart from what changed in it.
func TestCheckFilesSaysWhatIsWrong(t *testing.T) {
	crlf := func(t *testing.T, dir string, names ...string) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "\n", "\r\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"nothing":  {func(*testing.T, string) {}, ""},
		"no list":  {func(_ *testing.T, dir string) { os.Remove(filepath.Join(dir, ChecksumsName)) }, "SHA256SUMS is missing,"},
		"CRLF":     {func(t *testing.T, dir string) { crlf(t, dir, "LICENSE", "README.md", ChecksumsName) }, "SHA256SUMS has CRLF; LICENSE has CRLF; README.md has CRLF"},
		"a change": {func(_ *testing.T, dir string) { os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("b\r\n"), 0o644) }, "LICENSE has SHA-256"},
		"a link": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "LICENSE"))
			if err := os.Symlink(filepath.Join(t.TempDir(), "x"), filepath.Join(dir, "LICENSE")); err != nil {
				t.Skip("skipped: no symbolic links here: ", err)
			}
		}, "LICENSE is listed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{ManifestName: "{}\n", "LICENSE": "a\n", "README.md": "# b\n\nc\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := checksum.Write(dir); err != nil {
				t.Fatal(err)
			}
			c.change(t, dir)
			problems, err := CheckFiles(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range problems {
				words := strings.Fields(p.Message)
				got = append(got, fmt.Sprint(p.Where, " ", strings.Join(words[:2], " ")))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got %v, want %s", problems, c.want)
			}
		})
	}
}
