// Package checksum writes and reads SHA256SUMS, the list of a folder's files that sha256sum
// understands.
//
// Invariant: the list has every other file of the folder, sorted by path, with slashes. Hidden
// files, whose names begin with a point, do not count: version control, hubs and desktops leave
// them in folders.
package checksum

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Name of the list.
const Name = "SHA256SUMS"

// File is one file of a folder.
type File struct {
	Path   string `json:"path"` // slash-separated, in the folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Of returns the SHA-256 of a file in hex, and its size.
func Of(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// Hidden reports whether a file or folder does not count.
func Hidden(e fs.DirEntry) bool { return len(e.Name()) > 1 && e.Name()[0] == '.' }

// Skip is what a function of WalkDir returns for a hidden one.
func Skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// Files lists the files of a folder but for its list, sorted by path.
func Files(dir string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && path != dir && Hidden(e) {
			return Skip(e)
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == Name {
			return err
		}
		f := File{Path: filepath.ToSlash(name)}
		f.SHA256, f.Bytes, err = Of(path)
		files = append(files, f)
		return err
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

// Write writes the list of a folder.
func Write(dir string) error {
	files, err := Files(dir)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&text, "%s  %s\n", f.SHA256, f.Path)
	}
	return os.WriteFile(filepath.Join(dir, Name), text.Bytes(), 0o644)
}

// Line is one line of a list. A line that is none has no path.
type Line struct{ SHA256, Path string }

// Parse reads a list, whatever its line ends.
func Parse(text []byte) []Line {
	var lines []Line
	for s := range strings.Lines(string(text)) {
		sum, path, ok := strings.Cut(strings.TrimRight(s, "\r\n"), "  ")
		if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size {
			path = ""
		}
		lines = append(lines, Line{sum, path})
	}
	return lines
}

// Read reads the list of a folder as digest by path.
func Read(dir string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for n, l := range Parse(text) {
		if l.Path == "" {
			return nil, fmt.Errorf("%s line %d: want a SHA-256 in hex, two spaces and a file name", filepath.Join(dir, Name), n+1)
		}
		out[l.Path] = l.SHA256
	}
	return out, nil
}
