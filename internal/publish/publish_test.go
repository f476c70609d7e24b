package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "agentlens-publish-test-")
	if err != nil {
		panic(err)
	}
	os.Setenv(cachedir.Variable, dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// sample builds the embedded sample, once for each choice of profiles.
func sample(t testing.TB, profiles ...string) string {
	t.Helper()
	out := filepath.Join(os.Getenv(cachedir.Variable), "sample-"+strings.Join(profiles, "-"))
	if _, err := os.Stat(out); err == nil {
		return out
	}
	of, err := registry.Named(profiles...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bench.Build(context.Background(), bench.Options{
		Sample: bench.Sample{Name: datasets.SampleName, Data: datasets.Sample()}, Out: out, Profiles: of,
		Reference: profile.LeaveOneOut, K: 5, Observations: bench.ObservationsPreview,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The card names parameters that are not the defaults.
func TestOwnParameters(t *testing.T) {
	out := filepath.Join(t.TempDir(), "fitted")
	params := process.DefaultParams()
	params.Weights = process.Weights{A: 0.65, F: 0.25, V: 0.1}
	_, err := bench.Build(context.Background(), bench.Options{
		Sample: bench.Sample{Name: datasets.SampleName, Data: datasets.Sample()}, Out: out, Profiles: []profile.Profile{process.With(params)},
		Reference: profile.LeaveOneOut, K: 5, Observations: bench.ObservationsPreview,
	})
	if err != nil {
		t.Fatal(err)
	}
	fitted, _ := run(t, out, Options{})
	plain, _ := run(t, sample(t), Options{})
	if card := read(t, fitted, cardName); !strings.Contains(card, "`process` was computed with parameters of its own: weights.a 0.65, weights.v 0.1.") || strings.Contains(card, "`release` computes") {
		t.Errorf("card:\n%s", card)
	}
	if card := read(t, plain, cardName); strings.Contains(card, "of its own: ") {
		t.Error("the defaults are called parameters of its own")
	}
}

func run(t testing.TB, dir string, opt Options) (string, Result) {
	t.Helper()
	opt.Out = filepath.Join(t.TempDir(), "out")
	if opt.License == "" {
		opt.License = "Apache-2.0"
	}
	res, err := Run(context.Background(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return opt.Out, res
}

// sound fails the test unless the folder passes every check.
func sound(t testing.TB, dir string) {
	t.Helper()
	v, err := bench.Verify(context.Background(), dir, bench.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := Check(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(v.Problems, problems...) {
		t.Error(p)
	}
}

func read(t testing.TB, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The dataset in the repository is what a build of the release gives.
func TestCommittedDataset(t *testing.T) {
	root := filepath.Join("..", "..", "datasets", "agentlens-bench")
	dir, err := bench.Locate(root)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, dir)
	m, err := bench.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Publication == nil || m.Publication.LogText || m.Publication.License != releaseLicense {
		t.Errorf("publication %+v", m.Publication)
	}
	var total int64
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		if total += info.Size(); info.Size() >= 2_000_000 {
			t.Errorf("%s has %d bytes, want less than 2 MB", path, info.Size())
		}
		if strings.Contains(path, "published") || filepath.Ext(path) == ".db" {
			t.Errorf("%s does not belong there", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total >= 6_000_000 {
		t.Errorf("%d bytes in all, want less than 6 MB", total)
	}

	release := conformance.Release(t)
	v, err := bench.Verify(context.Background(), dir, bench.VerifyOptions{Rebuild: []string{release}, Publish: func(ctx context.Context, built, out string) error {
		return Again(ctx, built, out, m)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		t.Errorf("%v; make dataset writes it anew", p)
	}
}

func TestSameBytes(t *testing.T) {
	dir := sample(t)
	one, _ := run(t, dir, Options{})
	two, res := run(t, dir, Options{})
	if a, b := read(t, one, bench.ChecksumsName), read(t, two, bench.ChecksumsName); a != b {
		t.Errorf("two publications differ:\n%s\n%s", a, b)
	}
	sound(t, one)
	if res.Version != "1.0.0" || res.Rows == 0 || res.Bytes == 0 {
		t.Errorf("result %+v", res)
	}
	for _, f := range res.Files {
		if strings.Contains(read(t, one, f.Path), "\r\n") && filepath.Ext(f.Path) != ".parquet" {
			t.Errorf("%s has CRLF", f.Path)
		}
	}
	card := read(t, one, cardName)
	for _, want := range []string{"144 runs of 6 models on 6 tasks", "| `release` |", "license: apache-2.0\n"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q", want)
		}
	}
	if strings.Contains(card, "arxiv.org/abs/2605.12925), CC-BY") {
		t.Error("the card of other logs attributes them to the release")
	}
}

// Log text and tables can stay out; the rest is as it was.
func TestWithout(t *testing.T) {
	dir := sample(t)
	whole, _ := run(t, dir, Options{})
	bare, _ := run(t, dir, Options{NoText: true, Without: []string{"alignments", "states.timestamp"}})
	sound(t, bare)
	digests := func(dir string) map[string]string {
		m, err := bench.ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, table := range m.Tables {
			out[config(table.Table, table.Profile)] = table.Digest
		}
		return out
	}
	before, after := digests(whole), digests(bare)
	for name, sum := range before {
		gone, changed := strings.HasPrefix(name, "alignments"), name == "states" || name == "tasks"
		switch got, ok := after[name]; {
		case ok == gone:
			t.Errorf("%s: published %v", name, ok)
		case !gone && (got != sum) != changed:
			t.Errorf("%s: digest %s, before %s", name, got, sum)
		}
	}
	for _, f := range []string{"states", "tasks"} {
		text := read(t, bare, "data", f+".parquet")
		for _, column := range []string{"observation_hash", "description"} {
			if strings.Contains(text, column) {
				t.Errorf("%s.parquet has the column %s", f, column)
			}
		}
	}
	if card := read(t, bare, cardName); !strings.Contains(card, "Not in this folder: the text of the logs") || !strings.Contains(card, "the columns `states.timestamp`") {
		t.Error("the card does not say what is missing")
	}

	// Publishing what was published leaves out no less.
	again, _ := run(t, bare, Options{Without: []string{"pta_paths"}})
	m, err := bench.ReadManifest(again)
	if err != nil {
		t.Fatal(err)
	}
	if a := m.Publication; m.Version != "2.0.0" || a.LogText || !slices.Equal(a.Without, []string{"alignments", "pta_paths", "states.timestamp"}) {
		t.Errorf("publication %+v", a)
	}
	problems, err := Check(again)
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// The version follows from what changed, and the changelog keeps what was.
func TestVersions(t *testing.T) {
	all := sample(t)
	first, _ := run(t, all, Options{NoText: true, Without: []string{"waste"}, Date: "2026-01-02"})
	if _, err := Run(context.Background(), all, Options{Out: filepath.Join(t.TempDir(), "x"), License: "Apache-2.0", NoText: true, Without: []string{"waste"}, Previous: first}); !errors.Is(err, ErrUnchanged) {
		t.Errorf("nothing changed: %v", err)
	}
	second, res := run(t, all, Options{NoText: true, Previous: first, Date: "2026-02-03"})
	if res.Version != "1.1.0" || res.Change != "columns" {
		t.Errorf("a table more: version %s, %s", res.Version, res.Change)
	}
	third, res := run(t, all, Options{Previous: second})
	if res.Version != "1.2.0" || res.Change != "columns" {
		t.Errorf("columns more: version %s, %s", res.Version, res.Change)
	}
	_, res = run(t, all, Options{NoText: true, Previous: third})
	if res.Version != "2.0.0" || res.Change != "values" {
		t.Errorf("columns gone: version %s, %s", res.Version, res.Change)
	}
	some, res := run(t, sample(t, "release"), Options{Previous: third})
	if res.Version != "2.0.0" {
		t.Errorf("profiles gone: version %s", res.Version)
	}
	if _, res = run(t, all, Options{Previous: some}); res.Version != "2.1.0" {
		t.Errorf("profiles more: version %s", res.Version)
	}
	fourth, res := run(t, all, Options{Previous: third, License: "MIT", Title: "Another"})
	if res.Version != "1.2.1" || res.Change != "documents" || !strings.Contains(read(t, fourth, changelogName), "Only documents changed (title, license) since 1.2.0") {
		t.Errorf("another licence: version %s, %s", res.Version, res.Change)
	}
	fifth, res := run(t, fourth, Options{License: "MIT", Without: []string{"waste"}})
	if res.Version != "2.0.0" || !strings.Contains(read(t, fifth, cardName), "# Another") || !strings.Contains(read(t, fifth, changelogName), "## 1.2.1") {
		t.Errorf("published again from what was published: version %s, %s", res.Version, res.Change)
	}
	if _, err := Run(context.Background(), fourth, Options{Out: filepath.Join(t.TempDir(), "x")}); !errors.Is(err, ErrUnchanged) {
		t.Errorf("published again as it is: %v", err)
	}
	_, res = run(t, all, Options{Previous: second, Version: "3.0.0"})
	if res.Version != "3.0.0" {
		t.Errorf("a version of one's own: %s", res.Version)
	}
	if _, err := Run(context.Background(), all, Options{Out: filepath.Join(t.TempDir(), "x"), License: "MIT", Previous: second, Version: "1.1.5"}); !usage.Is(err) {
		t.Errorf("a version below the next one: %v", err)
	}
	log := read(t, third, changelogName)
	at := -1
	for _, want := range []string{"## 1.2.0 (", "column `command` added", "## 1.1.0 (2026-02-03)", "`release/waste`", "## 1.0.0 (2026-01-02)", "First version."} {
		next := strings.Index(log, want)
		if next <= at {
			t.Errorf("the changelog lacks %q, or has it in another place:\n%s", want, log)
		}
		at = next
	}
	for _, dir := range []string{second, third} {
		sound(t, dir)
	}
	m, err := bench.ReadManifest(second)
	if err != nil || m.Parent == nil || m.Parent.Version != "1.0.0" {
		t.Errorf("parent %+v, %v", m.Parent, err)
	}
}

// The fields that the formats require are there, and every file is in them.
func TestDocuments(t *testing.T) {
	dir, res := run(t, sample(t), Options{Name: "my-runs", Title: "My: runs", Creators: []string{"A lab", `"B" & <C>`}, URL: "https://example.org/x"})
	text := read(t, dir, croissantName)
	var c map[string]any
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	for _, required := range []string{"@context", "@type", "conformsTo", "name", "description", "license", "url", "creator", "datePublished", "version", "distribution", "recordSet"} {
		if c[required] == nil || c[required] == "" {
			t.Errorf("croissant.json lacks %s", required)
		}
	}
	ids := map[string]bool{}
	files, sets := 0, 0
	for _, x := range c["distribution"].([]any) {
		f := x.(map[string]any)
		ids[f["@id"].(string)] = true
		switch f["@type"] {
		case "cr:FileObject":
			files++
			if len(f["sha256"].(string)) != 64 || f["contentUrl"] == "" || f["encodingFormat"] == "" || f["name"] == "" {
				t.Errorf("file %v", f)
			}
		case "cr:FileSet":
			sets++
			pattern := f["includes"].([]any)[0].(string)
			if matches, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(matches) == 0 {
				t.Errorf("file set %s matches nothing (%v)", pattern, err)
			}
		default:
			t.Errorf("distribution %v", f)
		}
	}
	if files != res.Tables || sets != 4 {
		t.Errorf("%d files, %d sets", files, sets)
	}
	fields := map[string]bool{}
	var refer []string
	for _, x := range c["recordSet"].([]any) {
		r := x.(map[string]any)
		for _, y := range r["field"].([]any) {
			f := y.(map[string]any)
			fields[f["@id"].(string)] = true
			source := f["source"].(map[string]any)
			if id := source["fileObject"].(map[string]any)["@id"].(string); !ids[id] || source["extract"].(map[string]any)["column"] == "" || f["dataType"] == "" {
				t.Errorf("field %v", f)
			}
			if references, ok := f["references"].(map[string]any); ok {
				refer = append(refer, references["field"].(map[string]any)["@id"].(string))
			}
		}
		for _, k := range r["key"].([]any) {
			refer = append(refer, k.(map[string]any)["@id"].(string))
		}
	}
	for _, id := range refer {
		if !fields[id] {
			t.Errorf("croissant.json refers to %s, which it does not have", id)
		}
	}
	if !slices.Contains(refer, "trajectories/trajectory_id") {
		t.Error("no table refers to the runs")
	}

	var p dataPackage
	if err := json.Unmarshal([]byte(read(t, dir, dataPackageName)), &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "my-runs" || len(p.Resources) != res.Tables || p.Contributors[1].Title != `"B" & <C>` {
		t.Errorf("datapackage.json: %s, %d resources, %v", p.Name, len(p.Resources), p.Contributors)
	}
	for _, r := range p.Resources {
		if !slug.MatchString(r.Name) || r.Format == "" || r.Mediatype == "" || r.Bytes == 0 || len(r.Hash) != len("sha256:")+64 ||
			len(r.Schema.Fields) == 0 || len(r.Schema.PrimaryKey) == 0 || len(r.Schema.MissingValues) != 1 {
			t.Errorf("resource %+v", r.Name)
		}
		for _, k := range r.Schema.ForeignKeys {
			if !slices.ContainsFunc(p.Resources, func(x resource) bool { return x.Name == k.Reference.Resource }) {
				t.Errorf("%s refers to %s", r.Name, k.Reference.Resource)
			}
		}
	}

	_, card, ok := strings.Cut(read(t, dir, cardName), "---\n")
	front, _, ok2 := strings.Cut(card, "---\n")
	var head cardHead
	if err := yaml.Unmarshal([]byte(front), &head); err != nil || !ok || !ok2 {
		t.Fatal(err)
	}
	defaults := 0
	for i, config := range head.Configs {
		info := head.Info[i]
		if info.Config != config.Name || info.Splits[0].Name != config.Files[0].Split || info.Splits[0].Rows == 0 || info.Download == 0 || info.Size != info.Splits[0].Bytes {
			t.Errorf("config %v, info %v", config, info.Splits)
		}
		if config.Default {
			defaults++
		}
	}
	if head.PrettyName != "My: runs" || len(head.Configs) != res.Tables || defaults != 1 {
		t.Errorf("card %s, %d configs, %d defaults", head.PrettyName, len(head.Configs), defaults)
	}

	var cff citationFile
	if err := yaml.Unmarshal([]byte(read(t, dir, citationName)), &cff); err != nil || cff.CFF != "1.2.0" || cff.Message == "" || cff.Title == "" || len(cff.Authors) != 2 {
		t.Errorf("CITATION.cff %+v, %v", cff, err)
	}
}

// Files as a hub keeps them, links out of the folder beside its own hidden ones, are the
// dataset still.
func TestHub(t *testing.T) {
	dir, _ := run(t, sample(t, "release"), Options{})
	hub := filepath.Join(t.TempDir(), "snapshots", "1")
	blobs := filepath.Join(filepath.Dir(filepath.Dir(hub)), "blobs")
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return errors.Join(os.MkdirAll(filepath.Join(hub, name), 0o755), os.MkdirAll(blobs, 0o755))
		}
		blob := filepath.Join(blobs, strings.ReplaceAll(name, "/", "-"))
		return errors.Join(os.WriteFile(blob, []byte(read(t, path)), 0o644), os.Symlink(blob, filepath.Join(hub, name)))
	})
	if err != nil {
		t.Skip("skipped: no symbolic links here: ", err)
	}
	for _, name := range []string{".gitattributes", ".git/HEAD", "data/.cache/x"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(hub, name)), 0o755), os.WriteFile(filepath.Join(hub, name), []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	sound(t, hub)
	d, err := bench.Compare(context.Background(), bench.Side{Dir: dir}, bench.Side{Dir: hub})
	if err != nil || !d.Equal {
		t.Errorf("differs from the folder: %+v, %v", d, err)
	}
	out, _ := run(t, hub, Options{Version: "9.0.0"})
	sound(t, out)
	if _, err := Run(context.Background(), dir, Options{Out: filepath.Join(dir, "data", "more"), License: "MIT", Version: "9.0.0"}); !errors.Is(err, output.ErrExists) {
		t.Errorf("an output in the dataset: %v", err)
	}
}

// What documents say otherwise than the tables is found.
func TestCheckFindsChanges(t *testing.T) {
	dir, _ := run(t, sample(t, "release"), Options{})
	for name, change := range map[string]func(string) string{
		croissantName:   func(s string) string { return strings.Replace(s, `"sha256": "`, `"sha256": "0`, 1) },
		dataPackageName: func(s string) string { return strings.Replace(s, `"type": "integer"`, `"type": "number"`, 1) },
		"CITATION.cff":  nil,
	} {
		path := filepath.Join(dir, name)
		before := read(t, path)
		if change == nil {
			os.Remove(path)
		} else if err := os.WriteFile(path, []byte(change(before)), 0o644); err != nil {
			t.Fatal(err)
		}
		problems, err := Check(dir)
		if err != nil || len(problems) != 1 || problems[0].Where != name {
			t.Errorf("%s changed: %v, %v", name, problems, err)
		}
		if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := sample(t, "release")
	for want, opt := range map[string]Options{
		"under which licence":           {},
		"option license \"no licence\"": {License: "no licence"},
		"option date":                   {License: "MIT", Date: "30.11.2026"},
		"option name":                   {License: "MIT", Name: "My Runs"},
		"option url":                    {License: "MIT", URL: "example.org"},
		"one line":                      {License: "MIT", Title: "a\nb"},
		"did you mean states":           {License: "MIT", Without: []string{"statez"}},
		"agentlens schema":              {License: "MIT", Without: []string{"qqqqqqqqqqqq"}},
		"keys and columns without null": {License: "MIT", Without: []string{"states.step"}},
		"refers to the runs":            {License: "MIT", Without: []string{"trajectories"}},
		"no published folder":           {License: "MIT", Previous: dir},
	} {
		opt.Out = filepath.Join(t.TempDir(), "out")
		if _, err := Run(context.Background(), dir, opt); !usage.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q: %v", want, err)
		}
		if _, err := os.Stat(opt.Out); err == nil {
			t.Errorf("%s: there is an output", want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Run(ctx, dir, Options{Out: out, License: "MIT"}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) > 0 {
		t.Error(fmt.Sprint("left ", left))
	}
}

// A name from a log stays one cell of a table, and is no markup.
func TestCell(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-4.1 (mini)": "gpt-4.1 (mini)", "a|b": `a\|b`, "two\nlines": "two lines", "<b>": `\<b\>`, "[x](y)": `\[x\](y)`, "`c` *d* e_f": "\\`c\\` \\*d\\* e\\_f",
	} {
		if got := cell(name); got != want {
			t.Errorf("cell(%q) = %q, want %q", name, got, want)
		}
	}
	if got := percent(1, 3) + " " + percent(0); got != "25.0 % undefined" {
		t.Error(got)
	}
}

func BenchmarkPublish(b *testing.B) {
	dir := sample(b)
	for b.Loop() {
		if _, err := Run(b.Context(), dir, Options{Out: filepath.Join(b.TempDir(), "out"), License: "Apache-2.0"}); err != nil {
			b.Fatal(err)
		}
	}
}
