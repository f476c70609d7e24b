package figures

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

var update = flag.Bool("update", false, "rewrite testdata")

// scratch is a folder for all tests.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if scratch, err = os.MkdirTemp("", "agentlens-figures-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// sampleDir builds the embedded sample once for all tests.
var sampleDir = sync.OnceValues(func() (string, error) {
	archive := filepath.Join(scratch, datasets.SampleName)
	if err := os.WriteFile(archive, []byte(datasets.Sample()), 0o600); err != nil {
		return "", err
	}
	dir := filepath.Join(scratch, "sample")
	_, err := bench.Build(context.Background(), bench.Options{
		Sources: []string{archive}, Out: dir, Reference: profile.LeaveOneOut, K: 5, Observations: bench.ObservationsNone,
	})
	return dir, err
})

func sample(t testing.TB) string {
	t.Helper()
	dir, err := sampleDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func makeAll(t testing.TB, dir string, opt Options) ([]Figure, []Skipped) {
	t.Helper()
	figs, skipped, err := Make(context.Background(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return figs, skipped
}

func render(t testing.TB, f *Figure, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.WriteTo(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGolden fixes every drawing and its numbers on the embedded sample.
func TestGolden(t *testing.T) {
	figs, skipped := makeAll(t, sample(t), Options{})
	if len(skipped) > 0 {
		t.Errorf("skipped %v", skipped)
	}
	var names []string
	for i := range figs {
		names = append(names, figs[i].Name)
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("figures %v, want %v", names, Names())
	}
	got := t.TempDir()
	drawInto(t, got, figs, []string{"svg"})
	if *update {
		if err := os.RemoveAll("testdata"); err != nil {
			t.Fatal(err)
		}
		drawInto(t, "testdata", figs, []string{"svg"})
	}
	files := func(dir string) []string {
		var names []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if a, b := files(got), files("testdata"); !slices.Equal(a, b) {
		t.Fatalf("files %v, expected %v", a, b)
	}
	for _, name := range files(got) {
		a, err := os.ReadFile(filepath.Join(got, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs from testdata; look at it, then run go test ./internal/figures -update", name)
		}
	}
}

// TestSameBytes draws twice.
func TestSameBytes(t *testing.T) {
	one, _ := makeAll(t, sample(t), Options{})
	two, _ := makeAll(t, sample(t), Options{})
	for i := range one {
		for _, format := range Formats() {
			a, b := render(t, &one[i], format), render(t, &two[i], format)
			if !bytes.Equal(a, b) {
				t.Errorf("%s.%s: two drawings differ", one[i].Name, format)
			}
			if c := render(t, &one[i], format); !bytes.Equal(a, c) {
				t.Errorf("%s.%s: drawn again it differs", one[i].Name, format)
			}
		}
	}
}

func TestSources(t *testing.T) {
	dir := sample(t)
	for source, want := range map[Source][]string{
		"release": Names(),
		"paper":   Names(),
		"process": {"tiers", "ranks", "scores", "timelines"},
	} {
		figs, skipped := makeAll(t, dir, Options{Source: source})
		var names, left []string
		for i := range figs {
			names = append(names, figs[i].Name)
			if title := figs[i].page.title; !strings.Contains(title, string(source)) {
				t.Errorf("%s: title %q does not name the source", source, title)
			}
			checkText(t, &figs[i])
		}
		for _, s := range skipped {
			left = append(left, s.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: figures %v, want %v", source, names, want)
		}
		if len(names)+len(left) != len(Names()) {
			t.Errorf("%s: drawn %v, skipped %v", source, names, left)
		}
	}
	if _, _, err := Make(context.Background(), dir, Options{Source: Published}); err == nil || !strings.Contains(err.Error(), "only release, paper, process") {
		t.Errorf("published: %v", err)
	}
	if _, _, err := Make(context.Background(), dir, Options{Source: "process", Only: []string{"waste"}}); !errors.Is(err, errNoData) {
		t.Errorf("waste of the process profile: %v", err)
	}
}

func TestUnusableOptions(t *testing.T) {
	for _, opt := range []Options{
		{Only: []string{"pie"}},
		{Runs: []string{"no such run"}},
		{Only: []string{"tiers"}, Runs: []string{"x"}},
	} {
		if _, _, err := Make(context.Background(), sample(t), opt); !usage.Is(err) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	f := Figure{page: &page{}}
	if err := f.WriteTo(&bytes.Buffer{}, "gif"); !usage.Is(err) {
		t.Errorf("gif: %v", err)
	}
	if _, err := ParseSource("oracle"); err == nil {
		t.Error("oracle is no source")
	}
	if _, _, err := Make(context.Background(), t.TempDir(), Options{}); err == nil {
		t.Error("an empty folder is no dataset")
	}
}

// TestNumbers compares the tables with what SQL says about the same dataset.
func TestNumbers(t *testing.T) {
	dir := sample(t)
	d, err := openDataset(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.db.Close()
	figs, _ := makeAll(t, dir, Options{Source: "release"})
	// column lists the cells of a table as key=value.
	column := func(table, value string, keys ...string) []string {
		var out []string
		for _, f := range figs {
			for _, tab := range f.Tables {
				if tab.Name != table {
					continue
				}
				for _, r := range tab.Rows {
					var key []string
					for _, k := range keys {
						key = append(key, r[slices.Index(tab.Header, k)])
					}
					if v := r[slices.Index(tab.Header, value)]; v != "0" && key[0] != "all models" {
						out = append(out, strings.Join(key, " ")+"="+v)
					}
				}
			}
		}
		slices.Sort(out)
		return out
	}
	for _, tc := range []struct{ table, value, keys, query string }{
		{"tiers", "runs", "model tier", `SELECT model || ' ' || tier || '=' || count(*) FROM tiers JOIN trajectories USING (trajectory_id)
			WHERE profile = 'release' AND tier IS NOT NULL GROUP BY model, tier`},
		{"ranks", "passes", "model", `SELECT model || '=' || count(*) FROM features_release WHERE passed = 1 GROUP BY model`},
		{"scores", "runs", "source outcome score_from", `SELECT 'release ' || iif(passed, 'pass ', 'fail ') || (min(quality_score, 99) / 5 * 5) || '=' || count(*)
			FROM features_release WHERE passed IS NOT NULL GROUP BY passed, min(quality_score, 99) / 5`},
		{"lucky", "lucky_passes", "category model", `SELECT category || ' ' || model || '=' || count(*) FROM tiers JOIN trajectories USING (trajectory_id)
			WHERE profile = 'release' AND tier = 'lucky' GROUP BY model, category`},
		{"waste", "wasted_steps", "waste tier", `SELECT w.category || ' ' || t.tier || '=' || sum(w.wasted_steps) FROM waste w JOIN tiers t USING (profile, trajectory_id)
			WHERE profile = 'release' AND report = 'detectors' AND t.tier IS NOT NULL GROUP BY w.category, t.tier`},
		{"waste", "affected_runs", "waste tier", `SELECT w.category || ' ' || t.tier || '=' || count(DISTINCT w.trajectory_id) FROM waste w JOIN tiers t USING (profile, trajectory_id)
			WHERE profile = 'release' AND report = 'detectors' AND t.tier IS NOT NULL GROUP BY w.category, t.tier`},
		{"tokens", "sum_tokens", "category", `SELECT category || '=' || sum(input_tokens + output_tokens) FROM tiers JOIN trajectories USING (trajectory_id)
			WHERE profile = 'release' AND tier = 'lucky' GROUP BY category`},
	} {
		var want []string
		rows, err := d.db.Query(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			want = append(want, s)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		got := column(tc.table, tc.value, strings.Fields(tc.keys)...)
		if !slices.Equal(got, want) {
			t.Errorf("%s.%s\n%v\nwant\n%v", tc.table, tc.value, got, want)
		}
	}
}

func TestChosenRuns(t *testing.T) {
	dir := sample(t)
	figs, _ := makeAll(t, dir, Options{Source: "release", Only: []string{"timelines"}})
	rows := figs[0].Tables[0].Rows
	ids := []string{rows[len(rows)-1][0], rows[0][0]}
	figs, _ = makeAll(t, dir, Options{Source: "release", Only: []string{"timelines"}, Runs: ids})
	var got []string
	for _, r := range figs[0].Tables[0].Rows {
		got = append(got, r[0])
	}
	if got = slices.Compact(got); !slices.Equal(got, ids) {
		t.Errorf("runs %v, want %v", got, ids)
	}
}

// drawInto writes figures into a folder and returns the names of the files.
func drawInto(t *testing.T, dir string, figs []Figure, formats []string) []string {
	t.Helper()
	folder, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Write(folder, figs, formats)
	if err := folder.End(err); err != nil {
		t.Fatal(err)
	}
	return files
}

// TestWrite: figures come into a folder of figures, beside others and in the place of older
// ones, and nowhere else.
func TestWrite(t *testing.T) {
	figs, _ := makeAll(t, sample(t), Options{Only: []string{"ranks", "tokens"}})
	dir := filepath.Join(t.TempDir(), "new", "folder")
	files := drawInto(t, dir, figs, Formats())
	want := []string{"ranks.svg", "ranks.png", "ranks.csv", "tokens.svg", "tokens.png", "tokens.csv", "tokens.runs.csv"}
	if !slices.Equal(files, want) {
		t.Errorf("files %v, want %v", files, want)
	}
	drawInto(t, dir, figs[:1], Formats())
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(dir, f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if _, err := Folder(filepath.Join(dir, files[0])); err == nil {
		t.Error("a file is no folder")
	}
	if err := os.WriteFile(filepath.Join(dir, "ranks.csv"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(dir); !usage.Is(err) || !strings.Contains(err.Error(), "ranks.csv was changed") {
		t.Errorf("a figure that was changed: %v", err)
	}
}

func BenchmarkFigures(b *testing.B) {
	dir := sample(b)
	for _, format := range Formats() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				figs, _ := makeAll(b, dir, Options{})
				for i := range figs {
					render(b, &figs[i], format)
				}
			}
		})
	}
}

func ExampleDescribe() {
	fmt.Print(Describe())
	// Output:
	//   tiers      tier shares by model
	//   ranks      rank by pass rate against rank by score
	//   scores     distribution of scores of passing and failing runs, with thresholds
	//   lucky      Lucky passes by category and model
	//   waste      waste by tier
	//   tokens     tokens of Lucky passes by category
	//   timelines  stages of chosen runs, step by step
}
