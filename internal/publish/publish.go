package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/nearest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// ErrUnchanged is returned when nothing changed since the previous version.
var ErrUnchanged = errors.New("nothing changed since the previous version")

// Options of Run.
type Options struct {
	Out      string
	Previous string   // published folder of the version before, "" for none
	Version  string   // "" for the one that follows from what changed
	Without  []string // tables to leave out, and columns as table.column
	NoText   bool     // leave out the columns of log text

	// The documents. Zero values mean defaults.
	Name     string
	Title    string
	License  string   // SPDX id; needed unless all runs come from the AgentLens release
	Creators []string // of the dataset
	URL      string
	Date     string // YYYY-MM-DD
}

// Result says what was published.
type Result struct {
	Dir     string          `json:"dir"`
	Version string          `json:"version"`
	Change  string          `json:"change,omitzero"` // since the previous version: values, columns, bytes or documents
	License string          `json:"license"`
	Tables  int             `json:"tables"`
	Rows    int64           `json:"rows"`
	Bytes   int64           `json:"bytes"` // of all files
	Files   []checksum.File `json:"files"` // but for SHA256SUMS
}

// Run publishes the dataset in dir. On an error there is no output.
func Run(ctx context.Context, dir string, opt Options) (res Result, err error) {
	held, err := dataset.Hold(dir)
	if err != nil {
		return res, err
	}
	defer func() { err = held.Release(err) }()
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return res, err
	}
	p := &publication{dir: dir, opt: opt, manifest: m}
	if err := p.settle(); err != nil {
		return res, err
	}
	if p.out, err = output.Begin(opt.Out, nil); err != nil {
		return res, err
	}
	defer func() { err = p.out.End(err) }()
	p.root = p.out.Root()
	for _, step := range []func(context.Context) error{p.copyTables, p.decideVersion, p.gather, p.writeDocuments} {
		if err := step(ctx); err != nil {
			return res, err
		}
	}
	files, err := p.out.Files()
	if err != nil {
		return res, err
	}
	res = Result{Dir: opt.Out, Version: p.manifest.Version, Change: p.change, License: p.about.License, Tables: len(p.tables), Files: files}
	for _, t := range p.tables {
		res.Rows += t.Rows
	}
	for _, f := range files {
		res.Bytes += f.Bytes
	}
	if err := held.Whole(nil); err != nil {
		return res, err
	}
	return res, p.out.Commit()
}

// publication is a folder in the making.
type publication struct {
	dir      string
	opt      Options
	manifest bench.Manifest // the dataset's, becoming the folder's
	about    *bench.Publication
	out      *output.Folder
	root     string // where out is being made

	tables      []tableFile
	republished bool   // the dataset is a published folder
	change      string // class of the difference to the previous version
	previous    *previous
	facts       facts
}

// derived reports whether runs of the AgentLens release are in the dataset, and whether
// others are.
func (p *publication) derived() (release, other bool) {
	for format, n := range p.manifest.Formats {
		if format == releaseFormat && n > 0 {
			release = true
		} else if n > 0 {
			other = true
		}
	}
	return release, other
}

const (
	releaseFormat  = "agentlens-release"
	releaseLicense = "CC-BY-4.0"
)

var (
	spdx     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]*$`)
	slug     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	absolute = regexp.MustCompile(`^https?://[^\s]+$`)
)

// settle checks the options and fills in their defaults.
func (p *publication) settle() error {
	sum, err := bench.ChecksumsDigest(p.dir)
	if err != nil {
		return err
	}
	release, other := p.derived()
	a := &bench.Publication{
		Dataset: sum, Version: p.manifest.Version, Parent: p.manifest.Parent, Name: p.opt.Name, Title: p.opt.Title, License: p.opt.License, Creators: p.opt.Creators, URL: p.opt.URL, Date: p.opt.Date,
		LogText: !p.opt.NoText, Without: slices.Compact(slices.Sorted(slices.Values(p.opt.Without))), Empty: []string{},
	}
	if before := p.manifest.Publication; before != nil {
		a.Name, a.Title, a.License, a.URL = cmp.Or(a.Name, before.Name), cmp.Or(a.Title, before.Title), cmp.Or(a.License, before.License), cmp.Or(a.URL, before.URL)
		if len(a.Creators) == 0 {
			a.Creators = before.Creators
		}
	}
	if a.Name == "" {
		a.Name = "agentlens-dataset"
		if release && !other {
			a.Name = "agentlens-bench"
		}
	}
	if a.Title == "" {
		a.Title = "Agent runs, labelled and scored"
		if release && !other {
			a.Title = "AgentLens-Bench, rebuilt"
		}
	}
	if a.URL == "" {
		a.URL = "https://github.com/agentlens-bench/agentlens"
	}
	if len(a.Creators) == 0 {
		a.Creators = []string{"AgentLens-Bench contributors"}
	}
	if a.Date == "" {
		a.Date = bench.ToolDate
	}
	switch {
	case release && !other && a.License == "":
		a.License = releaseLicense
	case release && a.License != "" && a.License != releaseLicense && !other:
		return usage.Errorf("license", "%s: the dataset derives from the AgentLens release, which is under %s", a.License, releaseLicense)
	case a.License == "":
		return usage.Errorf("", "say under which licence the logs may be published, with option license and an SPDX id such as Apache-2.0; nobody but their owner can")
	}
	if _, err := time.Parse(time.DateOnly, a.Date); err != nil {
		return usage.Errorf("date", "%q: want a day such as %s", a.Date, bench.ToolDate)
	}
	for _, check := range []struct {
		flag, value, want string
		form              *regexp.Regexp
	}{
		{"option license", a.License, "an SPDX id such as CC-BY-4.0", spdx},
		{"option name", a.Name, "lower-case letters, digits, points, dashes", slug},
		{"option url", a.URL, "an address that begins with http:// or https://", absolute},
	} {
		if !check.form.MatchString(check.value) {
			return usage.Errorf("", "%s %q: want %s", check.flag, check.value, check.want)
		}
	}
	for _, text := range append([]string{a.Title}, a.Creators...) {
		if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\r\n") || !utf8.ValidString(text) {
			return usage.Errorf("", "titles and creators are texts of one line in UTF-8, not %q", text)
		}
	}
	names, needed := droppable()
	for _, name := range p.opt.Without {
		if slices.Contains(names, name) {
			continue
		}
		if slices.Contains(needed, name) {
			return usage.Errorf("without", "%s: keys and columns without nulls stay", name)
		}
		if near := nearest.Names(name, names); len(near) > 0 {
			return usage.Errorf("", "no table or column %q; did you mean %s?", name, strings.Join(near, " or "))
		}
		return usage.Errorf("", "no table or column %q; agentlens schema lists them", name)
	}
	if slices.Contains(p.opt.Without, "trajectories") {
		return usage.Errorf("without", "trajectories: every other table refers to the runs")
	}
	p.about = a
	return nil
}

// droppable lists what may be left out, tables and columns as table.column, and the columns
// that may not.
func droppable() (names, needed []string) {
	for _, t := range schema.Tables() {
		names = append(names, t.Name)
	}
	for _, t := range schema.Tables() {
		for _, v := range t.Variants {
			for _, c := range v.Columns {
				if name := t.Name + "." + c.Name; c.Optional() {
					names = append(names, name)
				} else {
					needed = append(needed, name)
				}
			}
		}
	}
	return names, needed
}

// copyTables writes the tables that have rows.
func (p *publication) copyTables(ctx context.Context) error {
	stats := []store.TableStat{}
	for _, s := range p.manifest.Tables {
		t, ok := schema.Lookup(s.Table)
		if !ok {
			return fmt.Errorf("%s lists a table %s, which this version does not know", bench.ManifestName, s.Table)
		}
		switch {
		case slices.Contains(p.opt.Without, s.Table):
			continue
		case s.Rows == 0:
			p.about.Empty = append(p.about.Empty, config(s.Table, s.Profile))
			continue
		}
		stat, err := store.CopyTable(ctx, p.dir, p.root, t, s.Profile, func(c schema.Column) bool {
			return c.LogText && p.opt.NoText || slices.Contains(p.opt.Without, s.Table+"."+c.Name)
		})
		if err != nil {
			return err
		}
		stats = append(stats, stat)
		file, err := describe(p.root, t, s.Profile)
		if err != nil {
			return err
		}
		p.tables = append(p.tables, file)
	}
	if before := p.manifest.Publication; before != nil { // published again, from what was left
		p.republished = true
		p.about.LogText = p.about.LogText && before.LogText
		p.about.Without = append(slices.Clone(before.Without), p.about.Without...)
		slices.Sort(p.about.Without)
		p.about.Without = slices.Compact(p.about.Without)
		p.about.Empty = append(slices.Clone(before.Empty), p.about.Empty...)
	}
	p.manifest.Tables, p.manifest.Publication = stats, p.about
	if slices.Contains(p.opt.Without, "ingest_errors") {
		return nil
	}
	refused, err := os.ReadFile(filepath.Join(p.dir, bench.ErrorsName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(refused) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return p.out.Write(bench.ErrorsName, refused)
}

func (p *publication) writeManifest() error {
	text, err := json.Marshal(p.manifest, json.Deterministic(true), jsontext.WithIndent("  "), json.FormatNilMapAsNull(false), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	return p.out.Write(bench.ManifestName, append(text, '\n'))
}

// previous is the version before.
type previous struct {
	version    bench.Version
	difference bench.Difference
	documents  []string // what only the documents say otherwise
	changelog  string
}

// decideVersion compares with the previous version. The first one is 1.0.0; of the release it is
// 2.0.0, since its authors published 1.0.0. A dataset in a root of versions keeps its own.
func (p *publication) decideVersion(ctx context.Context) error {
	version := bench.Version{Major: 1}
	if release, _ := p.derived(); release {
		version.Major = 2
	}
	if p.manifest.Version != "" {
		var err error
		if version, err = bench.ParseVersion(p.manifest.Version); err != nil {
			return err
		}
	}
	var wanted *bench.Version
	if p.opt.Version != "" {
		v, err := bench.ParseVersion(p.opt.Version)
		if err != nil {
			return err
		}
		wanted = &v
	}
	if p.opt.Previous == "" && p.republished {
		p.opt.Previous = p.dir
	}
	if p.opt.Previous != "" {
		var err error
		if version, err = p.compare(ctx, wanted); err != nil {
			return err
		}
	}
	if wanted != nil {
		if p.previous != nil && wanted.Compare(version) < 0 {
			return usage.Errorf("version", "%s: after %s comes at least %s, as its %s changed", wanted, p.previous.version, version, p.change)
		}
		version = *wanted
	}
	p.manifest.Version = version.String()
	return p.writeManifest()
}

func (p *publication) compare(ctx context.Context, wanted *bench.Version) (bench.Version, error) {
	dir, err := bench.Locate(p.opt.Previous)
	if err != nil {
		return bench.Version{}, err
	}
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return bench.Version{}, err
	}
	if m.Publication == nil || m.Version == "" {
		return bench.Version{}, usage.Errorf("previous", "%s is no published folder", p.opt.Previous)
	}
	p.previous = &previous{}
	if p.previous.version, err = bench.ParseVersion(m.Version); err != nil {
		return bench.Version{}, err
	}
	text, err := os.ReadFile(filepath.Join(dir, changelogName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bench.Version{}, err
	}
	p.previous.changelog = string(text)
	sum, err := bench.ChecksumsDigest(dir)
	if err != nil {
		return bench.Version{}, err
	}
	p.manifest.Parent = &bench.Parent{Version: m.Version, SHA256: sum}
	if p.previous.difference, err = p.differ(ctx, dir); err != nil {
		return bench.Version{}, fmt.Errorf("compare with version %s: %w", m.Version, err)
	}
	p.change = p.previous.difference.Class
	next, changed := p.previous.version.Next(p.change)
	if changed {
		return next, nil
	}
	p.change = documents
	if p.previous.documents = otherDocuments(m.Publication, p.about); len(p.previous.documents) == 0 && wanted == nil {
		return next, fmt.Errorf("%w: %s", ErrUnchanged, m.Version)
	}
	next, _ = p.previous.version.Next("bytes")
	return next, nil
}

// documents is the class of a change of nothing but the documents.
const documents = "documents"

// otherDocuments lists what two publications say otherwise of the same data, but for the date.
func otherDocuments(a, b *bench.Publication) []string {
	var out []string
	for _, f := range []struct {
		name  string
		equal bool
	}{
		{"name", a.Name == b.Name}, {"title", a.Title == b.Title}, {"license", a.License == b.License},
		{"creators", slices.Equal(a.Creators, b.Creators)}, {"url", a.URL == b.URL},
	} {
		if !f.equal {
			out = append(out, f.name)
		}
	}
	return out
}

// differ compares the tables written so far with a published folder.
func (p *publication) differ(ctx context.Context, dir string) (d bench.Difference, err error) {
	if err := p.writeManifest(); err != nil {
		return d, err
	}
	db := filepath.Join(p.out.Scratch(), "staged.db")
	if err := store.Load(ctx, p.root, db); err != nil {
		return d, err
	}
	return bench.Compare(ctx, bench.Side{Dir: dir}, bench.Side{Dir: p.root, DB: db})
}

// Again publishes the dataset in built as the folder that has the manifest m was published.
// The changelog of a version that had one before it can't be written again without that one.
func Again(ctx context.Context, built, out string, m bench.Manifest) error {
	a := m.Publication
	if m.Parent != nil && (a.Parent == nil || *m.Parent != *a.Parent) {
		return fmt.Errorf("version %s was published after %s: build the dataset again and publish it with option previous and that version's folder, then compare SHA256SUMS", m.Version, m.Parent.Version)
	}
	_, err := Run(ctx, built, Options{
		Out: out, Version: m.Version, Without: a.Without, NoText: !a.LogText,
		Name: a.Name, Title: a.Title, License: a.License, Creators: a.Creators, URL: a.URL, Date: a.Date,
	})
	return err
}
