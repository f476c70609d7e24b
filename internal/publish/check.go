package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/schema"
)

// Check compares the documents of a published folder with its tables: croissant.json and
// datapackage.json name every file with its digest, columns and types, and no other. The
// error is about reading the manifest; all else is in the problems.
func Check(dir string) ([]bench.Problem, error) {
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if m.Publication == nil {
		return nil, fmt.Errorf("%s is no published folder", dir)
	}
	c := &checker{dir: dir, version: m.Version, license: m.Publication.License, tables: map[string]tableFile{}}
	for _, s := range m.Tables {
		t, ok := schema.Lookup(s.Table)
		if !ok {
			return nil, fmt.Errorf("%s lists a table %s, which this version does not know", bench.ManifestName, s.Table)
		}
		file, err := describe(dir, t, s.Profile)
		if errors.Is(err, fs.ErrNotExist) {
			continue // verify says so
		}
		if err != nil {
			c.problem(config(s.Table, s.Profile), "%v", err)
			continue
		}
		c.tables[file.Path] = file
	}
	c.croissant()
	c.dataPackage()
	for _, name := range []string{cardName, citationName, changelogName, datasheetName, licenseName, attributionName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			c.problem(name, "is missing")
		}
	}
	return c.problems, nil
}

type checker struct {
	dir, version, license string
	tables                map[string]tableFile // by path
	problems              []bench.Problem
}

func (c *checker) problem(where, format string, args ...any) {
	c.problems = append(c.problems, bench.Problem{Check: "documents", Where: where, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) read(name string, into any) bool {
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		c.problem(name, "%v", err)
	}
	return err == nil
}

// same reports what a document says otherwise than the data.
func (c *checker) same(where, what, got, want string) {
	if got != want {
		c.problem(where, "%s is %q, want %q", what, got, want)
	}
}

func (c *checker) croissant() {
	var doc struct {
		ConformsTo   string `json:"conformsTo"`
		License      string `json:"license"`
		Version      string `json:"version"`
		Distribution []struct {
			Type   string `json:"@type"`
			ID     string `json:"@id"`
			URL    string `json:"contentUrl"`
			SHA256 string `json:"sha256"`
		} `json:"distribution"`
		RecordSet []recordSet `json:"recordSet"`
	}
	if !c.read(croissantName, &doc) {
		return
	}
	c.same(croissantName, "conformsTo", doc.ConformsTo, croissant11)
	c.same(croissantName, "version", doc.Version, c.version)
	if !strings.Contains(doc.License, c.license) {
		c.problem(croissantName, "license is %q, want %s", doc.License, c.license)
	}
	listed := map[string]string{} // path by id
	for _, f := range doc.Distribution {
		if f.Type != "cr:FileObject" {
			continue
		}
		listed[f.ID] = f.URL
		if t, ok := c.tables[f.URL]; ok {
			c.same(croissantName, "sha256 of "+f.URL, f.SHA256, t.SHA256)
		} else {
			c.problem(croissantName, "names %s, which is no table that can be read", f.URL)
		}
	}
	described := map[string]bool{}
	for _, r := range doc.RecordSet {
		var names, types []string
		path := ""
		for _, f := range r.Field {
			names, types = append(names, f.Source.Extract.Column), append(types, f.DataType)
			path = listed[f.Source.FileObject.ID]
		}
		described[path] = true
		c.columns(croissantName, path, names, types, croissantType)
	}
	c.complete(croissantName, described)
}

func (c *checker) dataPackage() {
	var doc dataPackage
	if !c.read(dataPackageName, &doc) {
		return
	}
	c.same(dataPackageName, "version", doc.Version, c.version)
	described := map[string]bool{}
	for _, r := range doc.Resources {
		var names, types []string
		for _, f := range r.Schema.Fields {
			names, types = append(names, f.Name), append(types, f.Type)
		}
		described[r.Path] = true
		c.columns(dataPackageName, r.Path, names, types, frictionlessType)
		if t, ok := c.tables[r.Path]; ok {
			c.same(dataPackageName, "hash of "+r.Path, r.Hash, "sha256:"+t.SHA256)
			c.same(dataPackageName, "bytes of "+r.Path, fmt.Sprint(r.Bytes), fmt.Sprint(t.Bytes))
		}
	}
	c.complete(dataPackageName, described)
}

// columns compares a table's columns and types.
func (c *checker) columns(doc, path string, names, types []string, of func(schema.Kind) string) {
	t, ok := c.tables[path]
	if !ok {
		c.problem(doc, "describes %q, which is no table that can be read", path)
		return
	}
	var wantNames, wantTypes []string
	for _, column := range t.Present {
		wantNames, wantTypes = append(wantNames, column.Name), append(wantTypes, of(column.Kind))
	}
	c.same(doc, "the columns of "+path, strings.Join(names, " "), strings.Join(wantNames, " "))
	c.same(doc, "the types of "+path, strings.Join(types, " "), strings.Join(wantTypes, " "))
}

func (c *checker) complete(doc string, described map[string]bool) {
	for path := range c.tables {
		if !described[path] {
			c.problem(doc, "does not describe %s", path)
		}
	}
}
