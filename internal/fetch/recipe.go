package fetch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentlens-bench/agentlens/internal/ingest/source"
	"github.com/agentlens-bench/agentlens/internal/nearest"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Recipe says where a dataset is and what it holds.
type Recipe struct {
	Name        string   `toml:"name" json:"name"`
	Title       string   `toml:"title" json:"title"`
	Commit      string   `toml:"commit" json:"commit"`   // of the mirror
	Mirrors     []string `toml:"mirrors" json:"mirrors"` // http or https addresses of its folder, tried in this order
	Archive     string   `toml:"archive" json:"archive"` // address of an archive to get by other means
	Licence     string   `toml:"licence" json:"licence"` // SPDX identifier
	Attribution string   `toml:"attribution" json:"attribution"`
	Citation    string   `toml:"citation" json:"citation"`
	Content
	Build Content `toml:"build" json:"build"` // of the files that a build reads

	List []File `toml:"-" json:"-"` // sorted by path
}

// Content identifies a set of files, as source.Digest does.
type Content struct {
	Files  int64  `toml:"files" json:"files"`
	Bytes  int64  `toml:"bytes" json:"bytes"`
	SHA256 string `toml:"sha256" json:"sha256"`
}

// File is one file of a dataset.
type File struct {
	Path   string // slash-separated, in the dataset
	Bytes  int64
	SHA256 string // lower-case hex
}

// Names lists the datasets in a folder of recipes, sorted.
func Names(recipes fs.FS) ([]string, error) {
	found, err := fs.Glob(recipes, "*/recipe.toml")
	for i, f := range found {
		found[i] = path.Dir(f)
	}
	return found, err
}

// Load reads the recipe of that name. An unknown name is a usage error.
func Load(recipes fs.FS, name string) (Recipe, error) {
	names, err := Names(recipes)
	if err != nil {
		return Recipe{}, err
	}
	known := "known: " + strings.Join(names, ", ")
	for _, n := range names {
		if n == name {
			return load(recipes, name)
		}
	}
	if near := nearest.Names(name, names); len(near) > 0 {
		known = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return Recipe{}, usage.Errorf("", "no dataset %q to fetch; %s", name, known)
}

func load(recipes fs.FS, name string) (Recipe, error) {
	file := path.Join(name, "recipe.toml")
	text, err := fs.ReadFile(recipes, file)
	if err != nil {
		return Recipe{}, err
	}
	r, err := parseRecipe(string(text))
	if err != nil {
		return Recipe{}, fmt.Errorf("%s: %w", file, err)
	}
	file = path.Join(name, "files.tsv")
	if text, err = fs.ReadFile(recipes, file); err != nil {
		return Recipe{}, err
	}
	if r.List, err = parseList(string(text)); err != nil {
		return Recipe{}, fmt.Errorf("%s: %w", file, err)
	}
	if got := content(r.List); got != r.Content || r.Name != name {
		return Recipe{}, fmt.Errorf("%s: it lists %d files, %d bytes, SHA-256 %s; the recipe of %s says %d, %d, %s",
			file, got.Files, got.Bytes, got.SHA256, r.Name, r.Files, r.Bytes, r.SHA256)
	}
	return r, nil
}

func content(files []File) Content {
	var d source.Digest
	for _, f := range files {
		d.Add(f.Path, f.SHA256, f.Bytes)
	}
	return Content{d.Files(), d.Bytes(), d.Sum()}
}

func parseRecipe(text string) (Recipe, error) {
	var r Recipe
	meta, err := toml.Decode(text, &r)
	if err != nil {
		return Recipe{}, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Recipe{}, fmt.Errorf("unknown key %q", unknown[0])
	}
	if len(r.Mirrors) == 0 || r.Licence == "" || r.Attribution == "" {
		return Recipe{}, errors.New("mirrors, licence and attribution are needed")
	}
	for _, m := range r.Mirrors {
		if err := checkMirror(m); err != nil {
			return Recipe{}, err
		}
	}
	return r, nil
}

func checkMirror(address string) error {
	u, err := url.Parse(address)
	if err != nil || !overHTTP(u) || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("mirror %q: want the http or https address of a folder", address)
	}
	return nil
}

func overHTTP(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

const listHeader = "sha256\tbytes\tpath\n"

// parseList reads a list of files. It accepts one spelling of each list only.
func parseList(text string) ([]File, error) {
	rest, ok := strings.CutPrefix(text, listHeader)
	if !ok || !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("line 1: want the header %q and lines that end with a line feed", listHeader)
	}
	var files []File
	for line := range strings.Lines(rest) {
		f, err := parseFile(strings.TrimSuffix(line, "\n"))
		if err == nil && len(files) > 0 && files[len(files)-1].Path >= f.Path {
			err = fmt.Errorf("path %q does not sort after the one before", f.Path)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(files)+2, err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, errors.New("it lists no file")
	}
	return files, nil
}

func parseFile(line string) (File, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 3 {
		return File{}, fmt.Errorf("%d fields, want 3", len(fields))
	}
	sum, size, name := fields[0], fields[1], fields[2]
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || strings.ToLower(sum) != sum {
		return File{}, fmt.Errorf("%q is no SHA-256", sum)
	}
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 || n > maxFileBytes || strconv.FormatInt(n, 10) != size {
		return File{}, fmt.Errorf("%q is no size of a file up to %d bytes", size, maxFileBytes)
	}
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || strings.ContainsFunc(name, unportable) ||
		strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return File{}, fmt.Errorf("path %q: want a relative path that every system can write, with no hidden part", name)
	}
	return File{Path: name, Bytes: n, SHA256: sum}, nil
}

// maxFileBytes is far above any file that a mirror of a repository can hold.
const maxFileBytes = 1 << 32

func unportable(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) }
