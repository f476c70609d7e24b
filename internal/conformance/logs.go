package conformance

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// LogFormats are the folders that Logs knows.
func LogFormats() []string {
	return []string{
		"atif", "claude-code", "codex", "completions", "gemini", "messages", "mini-sweagent", "openhands-v0", "openhands-v1", "sweagent",
	}
}

// Logs returns a folder with one log of a format, written for these tests. All tell the same
// story: an agent looks for a function, reads it, adds a test, sees it fail, mends the
// function and sees it pass.
func Logs(t testing.TB, format string) string {
	t.Helper()
	return filepath.Join(root(t), "internal", "conformance", "testdata", "logs", format)
}

// LogFiles returns the files of Logs, by name.
func LogFiles(t testing.TB, format string) [][]byte {
	t.Helper()
	var out [][]byte
	err := filepath.WalkDir(Logs(t, format), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		out = append(out, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
