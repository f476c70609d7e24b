package publish

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/schema"
)

// Names of the documents.
const (
	cardName        = "README.md"
	croissantName   = "croissant.json"
	dataPackageName = "datapackage.json"
	citationName    = "CITATION.cff"
	changelogName   = "CHANGELOG.md"
	datasheetName   = "DATASHEET.md"
	licenseName     = "LICENSE"
	attributionName = "ATTRIBUTION.md"
)

const paperURL = "https://arxiv.org/abs/2605.12925"

//go:embed templates
var templates embed.FS

// writeDocuments writes everything but the tables.
func (p *publication) writeDocuments(ctx context.Context) error {
	changelog, err := p.changelog(ctx)
	if err != nil {
		return err
	}
	if err := p.out.Write(changelogName, []byte(changelog)); err != nil {
		return err
	}
	for name, value := range map[string]any{croissantName: p.croissant(), dataPackageName: p.dataPackage()} {
		text, err := json.Marshal(value, jsontext.WithIndent("  "), jsontext.EscapeForHTML(false))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := p.out.Write(name, append(text, '\n')); err != nil {
			return err
		}
	}
	cff, err := yamlOf(p.cff())
	if err != nil {
		return err
	}
	if err := p.out.Write(citationName, cff); err != nil {
		return err
	}
	head, err := yamlOf(p.frontMatter())
	if err != nil {
		return err
	}
	view := p.view()
	for name, before := range map[string]string{
		cardName: "---\n" + string(head) + "---\n\n", datasheetName: "", licenseName: "", attributionName: "",
	} {
		text, err := render(name, view)
		if err != nil {
			return err
		}
		if err := p.out.Write(name, append([]byte(before), text...)); err != nil {
			return err
		}
	}
	return nil
}

func yamlOf(v any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// view is what the templates see.
type view struct {
	About   *bench.Publication
	Version string
	Counts  bench.Counts
	Facts   facts
	Tables  []tableFile
	Sources []string // digests
	Tiers   []string
	Tool    string

	Summary, First, Missing string
	Release, Other          bool
	Repos                   int
}

func (p *publication) view() view {
	v := view{
		About: p.about, Version: p.manifest.Version, Counts: p.manifest.Counts, Facts: p.facts, Tables: p.tables, Tiers: tiers(),
		Tool: "agentlens " + p.manifest.ToolVersion, Summary: p.summary(), Missing: p.missing(),
		Repos: p.facts.Repos, First: p.tables[0].Path,
	}
	v.Release, v.Other = p.derived()
	for _, s := range p.manifest.Sources {
		v.Sources = append(v.Sources, s.SHA256)
	}
	for _, t := range p.tables {
		if t.Name == "features" && !strings.HasPrefix(v.First, "data/release/features") {
			v.First = t.Path
		}
	}
	return v
}

func render(name string, v view) ([]byte, error) {
	t, err := template.New(name+".tmpl").Funcs(template.FuncMap{
		"comma":   humanize.Comma,
		"bytes":   func(n int64) string { return humanize.Bytes(uint64(n)) },
		"code":    code,
		"join":    func(s []string) string { return strings.Join(s, ", ") },
		"cell":    cell,
		"percent": percent,
		"fixed":   func(digits int, x float64) string { return fmt.Sprintf("%.*f", digits, x) },
		"tier":    func(f profileFacts, tier string) string { return humanize.Comma(f.Tiers[tier]) },
	}).ParseFS(templates, "templates/"+name+".tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// cell is a text of one line that Markdown takes as it is, in a table, too.
func cell(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_{}[]<>#|~&$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// percent is the share of part in it and the others.
func percent(part int64, others ...int64) string {
	of := part
	for _, n := range others {
		of += n
	}
	if of == 0 {
		return "undefined"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(of))
}

// code lists names.
func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// missing says what of the dataset is not in the folder, "" for nothing.
func (p *publication) missing() string {
	var parts, tables, columns []string
	for _, name := range p.about.Without {
		if strings.Contains(name, ".") {
			columns = append(columns, name)
		} else {
			tables = append(tables, name)
		}
	}
	if !p.about.LogText {
		parts = append(parts, "the text of the logs (task descriptions, commands, observations, and their digests)")
	}
	if len(tables) > 0 {
		parts = append(parts, "the tables "+code(tables))
	}
	if len(columns) > 0 {
		parts = append(parts, "the columns "+code(columns))
	}
	return strings.Join(parts, "; ")
}

// summary says in two sentences what the dataset is.
func (p *publication) summary() string {
	c := p.manifest.Counts
	plural := func(n int64, word string) string {
		if n == 1 {
			return "1 " + word
		}
		return humanize.Comma(n) + " " + word + "s"
	}
	s := fmt.Sprintf("How software-engineering agents worked: %s of %s on %s (%s passed, %s failed), %s with stage labels, "+
		"scored against references made of other passing runs, with waste, divergence and tiers, under the method profiles %s.",
		plural(c.Trajectories, "run"), plural(c.Models, "model"), plural(c.Tasks, "task"), humanize.Comma(c.Pass), humanize.Comma(c.Fail),
		plural(c.Labelled, "step"), strings.Join(p.manifest.Parameters.Profiles, ", "))
	if !p.about.LogText {
		s += " The text of the logs is not in it."
	}
	return s
}

// citation is one line.
func (p *publication) citation() string {
	return fmt.Sprintf("%s. %s, version %s (%s). %s. Method: AgentLens, arXiv:2605.12925.",
		strings.Join(p.about.Creators, "; "), p.about.Title, p.manifest.Version, p.about.Date[:4], p.about.URL)
}

// The metadata of a dataset card, https://huggingface.co/docs/hub/datasets-cards.
type cardHead struct {
	License     string       `yaml:"license"`
	Language    []string     `yaml:"language"`
	PrettyName  string       `yaml:"pretty_name"`
	Tags        []string     `yaml:"tags"`
	Size        []string     `yaml:"size_categories"`
	Tasks       []string     `yaml:"task_categories"`
	Annotations []string     `yaml:"annotations_creators"`
	Source      []string     `yaml:"source_datasets"`
	Configs     []cardConfig `yaml:"configs"`
	Info        []cardInfo   `yaml:"dataset_info"`
}

type cardConfig struct {
	Name    string     `yaml:"config_name"`
	Files   []cardFile `yaml:"data_files"`
	Default bool       `yaml:"default,omitempty"`
}

type cardFile struct {
	Split string `yaml:"split"`
	Path  string `yaml:"path"`
}

type cardInfo struct {
	Config   string        `yaml:"config_name"`
	Features []cardFeature `yaml:"features"`
	Splits   []cardSplit   `yaml:"splits"`
	Download int64         `yaml:"download_size"`
	Size     int64         `yaml:"dataset_size"`
}

type cardFeature struct {
	Name string `yaml:"name"`
	Type string `yaml:"dtype"`
}

type cardSplit struct {
	Name  string `yaml:"name"`
	Bytes int64  `yaml:"num_bytes"`
	Rows  int64  `yaml:"num_examples"`
}

// split is the name of the one split of every table: rows of different splits would share
// tasks and references, so splits are made by task when a set is cut.
const split = "train"

func (p *publication) frontMatter() cardHead {
	head := cardHead{
		License: strings.ToLower(p.about.License), Language: []string{"en"}, PrettyName: p.about.Title,
		Tags: []string{"agents", "agent-trajectories", "code", "software-engineering", "process-quality", "croissant"},
		Size: []string{sizeCategory(p.manifest.Counts.Trajectories)}, Tasks: []string{"other"},
		Annotations: []string{"machine-generated"}, Source: []string{"original"},
	}
	if release, _ := p.derived(); release {
		head.Source = []string{"extended|other-agentlens-bench"}
	}
	lead := slices.IndexFunc(p.tables, func(t tableFile) bool { return t.Name == "features" })
	for i, t := range p.tables {
		head.Configs = append(head.Configs, cardConfig{t.Config, []cardFile{{split, t.Path}}, i == max(lead, 0)})
		info := cardInfo{Config: t.Config, Splits: []cardSplit{{split, t.Unpacked, t.Rows}}, Download: t.Bytes, Size: t.Unpacked}
		for _, c := range t.Present {
			info.Features = append(info.Features, cardFeature{c.Name, cardType(c.Kind)})
		}
		head.Info = append(head.Info, info)
	}
	return head
}

func cardType(k schema.Kind) string {
	return [...]string{schema.Text: "string", schema.Integer: "int64", schema.Real: "float64", schema.Boolean: "bool"}[k]
}

// sizeCategory is the category of a number of rows.
func sizeCategory(n int64) string {
	low, names := int64(1000), []string{"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M"}
	for _, name := range names {
		if n < low {
			return name
		}
		low *= 10
	}
	return "10M<n<100M"
}

// The Citation File Format 1.2.0.
type citationFile struct {
	CFF        string        `yaml:"cff-version"`
	Message    string        `yaml:"message"`
	Type       string        `yaml:"type"`
	Title      string        `yaml:"title"`
	Abstract   string        `yaml:"abstract"`
	Version    string        `yaml:"version"`
	Released   string        `yaml:"date-released"`
	License    string        `yaml:"license"`
	URL        string        `yaml:"url"`
	Authors    []cffEntity   `yaml:"authors"`
	Keywords   []string      `yaml:"keywords"`
	References []cffArtifact `yaml:"references"`
}

type cffEntity struct {
	Name string `yaml:"name"`
}

type cffArtifact struct {
	Type    string      `yaml:"type"`
	Title   string      `yaml:"title"`
	Authors []cffEntity `yaml:"authors"`
	Year    int         `yaml:"year"`
	URL     string      `yaml:"url"`
}

func (p *publication) cff() citationFile {
	a := p.about
	c := citationFile{
		CFF: "1.2.0", Message: "If you use this dataset, cite it and the paper of the method.", Type: "dataset", Title: a.Title, Abstract: p.summary(),
		Version: p.manifest.Version, Released: a.Date, License: a.License, URL: a.URL, Keywords: keywords(),
		References: []cffArtifact{{"article", "AgentLens", []cffEntity{{"The authors of AgentLens"}}, 2026, paperURL}},
	}
	for _, name := range a.Creators {
		c.Authors = append(c.Authors, cffEntity{name})
	}
	if release, _ := p.derived(); release {
		c.References = append(c.References, cffArtifact{"data", "AgentLens-Bench 1.0", []cffEntity{{"The authors of AgentLens"}}, 2026, paperURL})
	}
	return c
}

// changelog is the entry of this version, and the ones before.
func (p *publication) changelog(ctx context.Context) (string, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Changelog\n")
	line("Major versions change values or take something away, minor versions add columns or tables, patches change bytes only.\n")
	line("## %s (%s)\n", p.manifest.Version, p.about.Date)
	release, _ := p.derived()
	switch {
	case p.previous != nil:
		p.differences(line)
	case release:
		if err := p.againstPublished(ctx, line); err != nil {
			return "", err
		}
	default:
		line("First version.")
	}
	if p.previous != nil {
		if _, before, ok := strings.Cut(p.previous.changelog, "\n## "); ok {
			b.WriteString("\n## " + before)
		}
	}
	return b.String(), nil
}

// differences lists what changed since the previous version.
func (p *publication) differences(line func(string, ...any)) {
	d := p.previous.difference
	what := map[string]string{"values": "Values changed or went", "columns": "Columns or tables were added", "bytes": "Only bytes changed", "nothing": "Only documents changed"}[d.Class]
	if len(p.previous.documents) > 0 {
		what += " (" + strings.Join(p.previous.documents, ", ") + ")"
	}
	line("%s since %s (SHA256SUMS %.12s).\n", what, p.manifest.Parent.Version, p.manifest.Parent.SHA256)
	for _, t := range d.Tables {
		line("- `%s`: %s rows changed, %s gone, %s new", t.Table, humanize.Comma(t.Changed), humanize.Comma(t.OnlyA), humanize.Comma(t.OnlyB))
		for _, c := range t.Columns {
			line("  - `%s`: %s rows", c.Column, humanize.Comma(c.Rows))
		}
		for _, c := range t.AddedColumns {
			line("  - column `%s` added", c)
		}
		for _, c := range t.RemovedColumns {
			line("  - column `%s` removed", c)
		}
	}
	for _, s := range d.Scores {
		line("- score `%s`: %s of %s runs changed, mean difference %.3f, largest %.3f", s.Score, humanize.Comma(s.Changed), humanize.Comma(s.Runs), s.MeanDiff, s.MaxAbs)
	}
	for _, t := range d.Tiers {
		if t.From != t.To {
			line("- tier, profile `%s`: %s runs from %s to %s", t.Profile, humanize.Comma(t.Runs), t.From, t.To)
		}
	}
}

// againstPublished compares the first version with 1.0.0, the columns that the authors of the
// release published.
func (p *publication) againstPublished(ctx context.Context, line func(string, ...any)) error {
	line("The first version of this dataset. Version 1.0.0 is the annotations that the authors of AgentLens published in May 2026.\n")
	if !slices.Contains(p.manifest.Parameters.Profiles, release.Name) {
		return nil
	}
	changes, runs, err := p.publishedChanges(ctx)
	if err != nil || runs == 0 {
		return err
	}
	var equal []string
	var differ []columnChange
	for _, c := range changes {
		if c.rows == 0 {
			equal = append(equal, "`"+c.column+"`")
		} else {
			differ = append(differ, c)
		}
	}
	slices.SortStableFunc(differ, func(a, b columnChange) int { return cmp.Compare(b.rows, a.rows) })
	line("Its 40 columns (`features_release`) against those of 1.0.0, over %s runs. The references that 1.0.0 was scored with were never", humanize.Comma(runs))
	line("released; ours are in `pta_members_release`. Columns that depend on a reference therefore differ:\n")
	line("| column | runs that differ |")
	line("|---|---|")
	for _, c := range differ {
		line("| `%s` | %s |", c.column, humanize.Comma(c.rows))
	}
	line("\nEqual in every run: %s.", strings.Join(equal, ", "))
	line("\nNew: stage labels and totals of every step, the profiles paper and process, references with their members, waste spans, tiers")
	line("with the rule that decided.")
	return nil
}
