package annotate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

var root string // of what the tests share

func TestMain(m *testing.M) {
	var err error
	if root, err = os.MkdirTemp("", "annotate-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(root)
	os.Exit(code)
}

// built is the embedded sample as a dataset.
var built = sync.OnceValues(func() (string, error) {
	source, out := filepath.Join(root, datasets.SampleName), filepath.Join(root, "dataset")
	if err := os.WriteFile(source, []byte(datasets.Sample()), 0o600); err != nil {
		return "", err
	}
	_, err := bench.Build(context.Background(), bench.Options{
		Sources: []string{source}, Out: out, Profiles: []profile.Profile{release.New()}, Reference: profile.LeaveOneOut, K: 5,
		Observations: bench.ObservationsPreview,
	})
	return out, err
})

func madeDataset(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var defaults = SampleOptions{N: 24, Seed: 1, By: []string{"stage", "tool"}, Allocation: Proportional, Context: 2, Preview: 60}

func sampled(t testing.TB, opt SampleOptions) ([]Item, []Stratum) {
	t.Helper()
	items, strata, err := Sample(t.Context(), madeDataset(t), opt)
	if err != nil {
		t.Fatal(err)
	}
	return items, strata
}

func sheets(t testing.TB, items []Item) (asCSV, asJSONL []byte) {
	t.Helper()
	var a, b bytes.Buffer
	if err := errors.Join(WriteCSV(&a, items), WriteJSONL(&b, items)); err != nil {
		t.Fatal(err)
	}
	return a.Bytes(), b.Bytes()
}

// statesOf are the labelled states of the dataset by id.
func statesOf(t testing.TB) map[string]schema.State {
	t.Helper()
	db, err := store.Open(t.Context(), madeDataset(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]schema.State{}
	for s, err := range store.ReadSQL[schema.State](t.Context(), db.DB, "SELECT * FROM states WHERE stage_release IS NOT NULL") {
		if err != nil {
			t.Fatal(err)
		}
		all[key{s.TrajectoryID, s.Step}.id()] = s
	}
	return all
}

func TestSample(t *testing.T) {
	items, strata := sampled(t, defaults)
	all := statesOf(t)
	perStratum := map[string]int{}
	seen := map[string]bool{}
	for _, it := range items {
		s, ok := all[it.ID]
		if !ok || seen[it.ID] {
			t.Fatalf("item %s: a state %v, drawn twice %v", it.ID, ok, seen[it.ID])
		}
		seen[it.ID] = true
		perStratum[*s.StageRelease+" "+*s.Tool]++
		if it.State.Step != s.Step || it.Position != s.Step || it.State.Tool != *s.Tool {
			t.Errorf("item %s shows %+v, is %+v", it.ID, it.State, s)
		}
		before := int(min(2, s.Step-1)) // step 0 is no step of the agent
		after := int(min(2, it.Of-s.Step))
		if len(it.Before) != before || len(it.After) != after {
			t.Errorf("item %s at step %d of %d shows %d before and %d after", it.ID, s.Step, it.Of, len(it.Before), len(it.After))
		}
	}
	total := 0
	for _, s := range strata {
		if perStratum[strings.Join(s.Values, " ")] != s.Drawn {
			t.Errorf("%+v but %d are in the sample", s, perStratum[strings.Join(s.Values, " ")])
		}
		total += s.Drawn
	}
	if total != defaults.N || len(items) != defaults.N {
		t.Errorf("%d drawn, %d items, want %d", total, len(items), defaults.N)
	}
}

func TestSampleIsDeterministic(t *testing.T) {
	items, _ := sampled(t, defaults)
	again, _ := sampled(t, defaults)
	csvA, jsonA := sheets(t, items)
	csvB, jsonB := sheets(t, again)
	if !bytes.Equal(csvA, csvB) || !bytes.Equal(jsonA, jsonB) {
		t.Error("the same options gave other bytes")
	}
	other := defaults
	other.Seed = 2
	items, _ = sampled(t, other)
	if csvC, _ := sheets(t, items); bytes.Equal(csvA, csvC) {
		t.Error("another seed gave the same sample")
	}
}

// TestSampleIsBlind looks for what raters must not see.
func TestSampleIsBlind(t *testing.T) {
	opt := defaults
	opt.Preview = 0 // observations are the agent's own words
	items, _ := sampled(t, opt)
	asCSV, asJSONL := sheets(t, items)
	all := statesOf(t)
	for _, it := range items {
		if it.Label != "" || it.Comment != "" {
			t.Errorf("item %s is labelled", it.ID)
		}
		if run := all[it.ID].TrajectoryID; bytes.Contains(asCSV, []byte(run)) || bytes.Contains(asJSONL, []byte(run)) {
			t.Errorf("the sample names the run %s", run)
		}
	}
	for _, name := range []string{"stage", "exploration", "verification", "orchestration", "outcome", "passed", "model"} {
		if bytes.Contains(asJSONL, []byte(`"`+name+`"`)) {
			t.Errorf("the sample has %q", name)
		}
	}
}

func TestSampleErrors(t *testing.T) {
	for want, change := range map[string]func(*SampleOptions){
		"at least one state":    func(o *SampleOptions) { o.N = 0 },
		"100000 states":         func(o *SampleOptions) { o.N = 100_000 },
		`no strata by "colour"`: func(o *SampleOptions) { o.By = []string{"colour"} },
		`allocation "some"`:     func(o *SampleOptions) { o.Allocation = "some" },
		"can't be negative":     func(o *SampleOptions) { o.Context = -1 },
	} {
		opt := defaults
		change(&opt)
		if _, _, err := Sample(t.Context(), madeDataset(t), opt); !usage.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAllocate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 12).Draw(t, "sizes")
		total := 0
		strata := make([]*stratum, len(sizes))
		for i, n := range sizes {
			strata[i] = &stratum{values: []string{fmt.Sprint(i)}, states: n}
			total += n
		}
		opt := SampleOptions{N: rapid.IntRange(1, total).Draw(t, "n"), Seed: rapid.Uint64().Draw(t, "seed"),
			Allocation: rapid.SampledFrom([]string{Proportional, Equal}).Draw(t, "allocation")}
		drawn := opt.allocate(strata, total)
		sum, most := 0, slices.Max(drawn)
		for i, d := range drawn {
			sum += d
			quota := float64(opt.N*sizes[i]) / float64(total)
			switch {
			case d < 0 || d > sizes[i]:
				t.Fatalf("%d of %d states", d, sizes[i])
			case opt.Allocation == Proportional && math.Abs(float64(d)-quota) >= 1:
				t.Fatalf("%d drawn, the share is %v", d, quota)
			case opt.Allocation == Equal && d < most-1 && d < sizes[i]:
				t.Fatalf("%d of %d drawn where others give %d", d, sizes[i], most)
			}
		}
		if sum != opt.N {
			t.Fatalf("%d drawn, want %d", sum, opt.N)
		}
	})
}

// study is a sample on disk with a folder for raters' files.
type study struct {
	t      testing.TB
	dir    string
	sample string
	items  []Item
	labels map[string]string // of the release labeler, by item
}

func newStudy(t testing.TB, n int) *study {
	opt := defaults
	opt.N = n
	items, _ := sampled(t, opt)
	s := &study{t: t, dir: t.TempDir(), items: items, labels: map[string]string{}}
	asCSV, _ := sheets(t, items)
	s.sample = s.write("sample.csv", string(asCSV))
	states := statesOf(t)
	for _, it := range items {
		s.labels[it.ID] = *states[it.ID].StageRelease
	}
	return s
}

func (s *study) write(name, text string) string {
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// rater writes a file with a label for every item.
func (s *study) rater(name string, label func(i int, id string) string) string {
	var b strings.Builder
	if strings.HasSuffix(name, ".jsonl") {
		for i, it := range s.items {
			fmt.Fprintf(&b, `{"item":%q,"label":%q,"comment":"no %d"}`+"\n", it.ID, label(i, it.ID), i)
		}
	} else {
		b.WriteString("item,label,comment\n")
		for i, it := range s.items {
			fmt.Fprintf(&b, "%s,%s,\n", it.ID, label(i, it.ID))
		}
	}
	return s.write(name, b.String())
}

func (s *study) release(_ int, id string) string { return s.labels[id] }

var measure = ScoreOptions{Panel: []string{Human, LLM}, Consensus: Majority, Resampling: stats.Resampling{Resamples: 50, Seed: 1, Level: 0.95}}

func TestStudy(t *testing.T) {
	s := newStudy(t, 24)
	letters := func(i int, id string) string { return strings.ToUpper(s.labels[id][:1]) } // exploration is E, ...
	files := []string{s.rater("ann.csv", s.release), s.rater("bob.jsonl", letters), s.rater("gpt.csv", func(i int, id string) string {
		if i == 0 {
			return map[string]string{"exploration": "V"}[s.labels[id]] + map[string]string{"implementation": "E", "verification": "E", "orchestration": "E"}[s.labels[id]]
		}
		return s.labels[id]
	})}
	opt := ImportOptions{Dataset: madeDataset(t), Files: files, Sample: s.sample, Kinds: map[string]string{"gpt": LLM}, Out: filepath.Join(s.dir, "set")}
	done, err := Import(t.Context(), opt)
	if err != nil || len(done.Problems) > 0 {
		t.Fatalf("%v %v", err, done.Problems)
	}
	kinds := map[string]string{}
	for _, r := range done.Manifest.Raters {
		kinds[r.Rater] = r.Kind
	}
	if kinds["ann"] != Human || kinds["gpt"] != LLM || kinds["release"] != Rule || kinds["clean"] != Rule {
		t.Errorf("kinds %v", kinds)
	}
	sums, err := bench.ChecksumsDigest(madeDataset(t))
	if err != nil || done.Manifest.DatasetSHA256 != sums {
		t.Errorf("dataset %s, want %s (%v)", done.Manifest.DatasetSHA256, sums, err)
	}

	// The order of the files changes no byte.
	again := opt
	again.Files, again.Out = []string{files[2], files[0], files[1]}, filepath.Join(s.dir, "again")
	if _, err := Import(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{DBName, "items.parquet", "raters.parquet", "ratings.parquet", bench.ManifestName, bench.ChecksumsName} {
		a, err := os.ReadFile(filepath.Join(opt.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(again.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s depends on the order of the files", name)
		}
	}

	// Parquet and SQLite hold the same ratings.
	fromParquet, err := parquet.ReadFile[RatingRow](filepath.Join(opt.Out, "ratings.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := openDB(filepath.Join(opt.Out, DBName), "mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	i := 0
	for r, err := range store.ReadSQL[RatingRow](t.Context(), db, "SELECT * FROM ratings ORDER BY trajectory_id, step, rater") {
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(fromParquet) || fmt.Sprint(plain(r)) != fmt.Sprint(plain(fromParquet[i])) {
			t.Fatalf("rating %d differs: %v", i, plain(r))
		}
		i++
	}
	if i != len(fromParquet) || i != done.Manifest.Ratings {
		t.Errorf("%d ratings in SQLite, %d in Parquet, %d counted", i, len(fromParquet), done.Manifest.Ratings)
	}

	got, err := Measure(t.Context(), opt.Out, measure)
	if err != nil {
		t.Fatal(err)
	}
	if got.Agreement.Complete != 24 || got.Agreement.NUnanimous != 23 || got.Consensus.Items != 24 || got.Consensus.Ties != 0 {
		t.Errorf("%+v %+v", got.Agreement, got.Consensus)
	}
	if want := (23.0 + 1.0/3) / 24; math.Abs(got.Agreement.Raw.Value-want) > 1e-12 {
		t.Errorf("raw agreement %v, want %v", got.Agreement.Raw.Value, want)
	}
	for _, l := range got.Labelers {
		if l.Rater == "release" && (l.Accuracy.Value != 1 || l.MacroF1.Value != 1 || l.Items != 24) {
			t.Errorf("the release labeler agrees with itself: %+v", l)
		}
	}
	strict := measure
	strict.Consensus = Unanimous
	if got, err := Measure(t.Context(), opt.Out, strict); err != nil || got.Consensus.Items != 23 || got.Consensus.Ties != 1 {
		t.Errorf("unanimous: %+v, %v", got.Consensus, err)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}

	if _, err := Import(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "never changed") {
		t.Errorf("a set was written twice: %v", err)
	}
	if err := os.WriteFile(filepath.Join(opt.Out, "raters.parquet"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), opt.Out, measure); err == nil || !strings.Contains(err.Error(), "raters.parquet") {
		t.Errorf("a changed set: %v", err)
	}
	if _, err := Measure(t.Context(), s.dir, measure); !errors.Is(err, ErrNoSet) {
		t.Errorf("no set: %v", err)
	}
}

func plain(r RatingRow) []any {
	return []any{r.TrajectoryID, r.Step, r.Rater, r.Kind, r.Stage, text(r.Comment)}
}

func TestImportProblems(t *testing.T) {
	s := newStudy(t, 4)
	id := func(i int) string { return s.items[i].ID }
	good := s.rater("good.csv", s.release)
	outside := ""
	for other := range statesOf(t) {
		if _, ok := s.labels[other]; !ok {
			outside = other
			break
		}
	}
	full := func(rows string) string {
		return "item,label\n" + rows
	}
	for name, tc := range map[string]struct {
		file, text string
		want       []string // code line
		kept       int      // ratings with --partial
	}{
		"unknown label":      {"x.csv", full(id(0) + ",E\n" + id(1) + ",explore\n" + id(2) + ",V\n" + id(3) + ",O\n"), []string{"unknown_label 3"}, 3},
		"not in the sample":  {"x.csv", full(id(0) + ",E\n" + id(1) + ",e\n" + id(2) + ",V\n" + id(3) + ",O\n" + outside + ",E\n"), []string{"unknown_row 6"}, 4},
		"not in the dataset": {"x.csv", full(id(0) + ",E\n" + id(1) + ",e\n" + id(2) + ",V\n" + id(3) + ",O\ns0,E\n,E\n"), []string{"unknown_row 6", "unknown_row 7"}, 4},
		"twice the same":     {"x.csv", full(id(0) + ",E\n" + id(1) + ",E\n" + id(2) + ",V\n" + id(3) + ",O\n" + id(0) + ",exploration\n"), []string{"duplicate_row 6"}, 4},
		"twice differently":  {"x.csv", full(id(0) + ",E\n" + id(1) + ",E\n" + id(2) + ",V\n" + id(3) + ",O\n" + id(0) + ",V\n"), []string{"duplicate_row 6"}, 3},
		"missing":            {"x.csv", full(id(0) + ",E\n" + id(1) + ",\n" + id(3) + ",V\n"), []string{"missing_row 0", "missing_row 3"}, 2},
		"bad line":           {"x.jsonl", `{"item":"` + id(0) + `","label":"E"}` + "\n{\n" + `{"item":"` + id(1) + `","label":null}` + "\n", []string{"missing_row 0", "missing_row 0", "bad_row 2", "missing_row 3"}, 1},
		"no label column":    {"x.csv", "item,lable\n" + id(0) + ",E\n", []string{"bad_file 0"}, 0},
		"no item column":     {"x.csv", "step,label\n1,E\n", []string{"bad_file 0"}, 0},
		"ragged":             {"x.csv", full(id(0) + ",E\n" + id(1) + "\n"), []string{"bad_file 0"}, 0},
	} {
		path := s.write(tc.file, tc.text)
		opt := ImportOptions{Dataset: madeDataset(t), Files: []string{good, path}, Sample: s.sample, Out: filepath.Join(s.dir, "set")}
		done, err := Import(t.Context(), opt)
		if !errors.Is(err, ErrProblems) {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, p := range done.Problems {
			got = append(got, fmt.Sprintf("%s %d", p.Code, p.Line))
			if p.File != tc.file {
				t.Errorf("%s: problem of %s", name, p.File)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, done.Problems, tc.want)
		}
		if _, err := os.Stat(opt.Out); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s: something was imported (%v)", name, err)
		}
		opt.Partial = true
		done, err = Import(t.Context(), opt)
		if err != nil {
			t.Errorf("%s, partial: %v", name, err)
			continue
		}
		kept := 0
		for _, r := range done.Manifest.Raters {
			if r.Rater == "x" {
				kept = int(r.Labels)
			}
		}
		if kept != tc.kept || done.Manifest.LeftOut != len(tc.want) {
			t.Errorf("%s: %d ratings kept, want %d; %d left out", name, kept, tc.kept, done.Manifest.LeftOut)
		}
		if err := os.RemoveAll(opt.Out); err != nil {
			t.Fatal(err)
		}
	}
}

func TestImportByState(t *testing.T) {
	s := newStudy(t, 3)
	states := statesOf(t)
	text := "trajectory_id;step;label\n"
	for _, it := range s.items {
		text += fmt.Sprintf("%s;%d;%s\n", states[it.ID].TrajectoryID, states[it.ID].Step, s.labels[it.ID])
	}
	done, err := Import(t.Context(), ImportOptions{Dataset: madeDataset(t), Files: []string{s.write("x.csv", text)}, Out: filepath.Join(s.dir, "set")})
	if err != nil || done.Manifest.Items != 3 {
		t.Errorf("%+v %v", done, err)
	}
}

func TestImportUsage(t *testing.T) {
	s := newStudy(t, 3)
	a := s.rater("a.csv", s.release)
	out := filepath.Join(s.dir, "set")
	for want, opt := range map[string]ImportOptions{
		"no rater's file":                 {Out: out},
		"both name the rater a":           {Files: []string{a, s.rater("a.jsonl", s.release)}, Out: out},
		"stands for a labeler":            {Files: []string{s.rater("clean.csv", s.release)}, Out: out},
		"a kind is given for the rater b": {Files: []string{a}, Kinds: map[string]string{"b": LLM}, Out: out},
		`kind "robot"`:                    {Files: []string{a}, Kinds: map[string]string{"a": "robot"}, Out: out},
		"no folder":                       {Files: []string{a}},
	} {
		opt.Dataset = madeDataset(t)
		if _, err := Import(t.Context(), opt); !usage.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	asCSV, _ := sheets(t, append(slices.Clone(s.items), s.items[0]))
	if _, err := Import(t.Context(), ImportOptions{Dataset: madeDataset(t), Files: []string{a}, Sample: s.write("twice.csv", string(asCSV)), Out: out}); err == nil || !strings.Contains(err.Error(), "both name item") {
		t.Errorf("a sample with a row twice: %v", err)
	}
}

// TestConsensus compares with counting votes one by one.
func TestConsensus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raters := rapid.IntRange(1, 5).Draw(t, "raters")
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(-1, 3), raters, raters), 0, 20).Draw(t, "rows")
		rule := rapid.SampledFrom([]string{Majority, Unanimous}).Draw(t, "rule")
		c, got := agreed(rows, rule)
		items := 0
		for i, row := range rows {
			votes, total := map[int]int{}, 0
			for _, s := range row {
				if s >= 0 {
					votes[s]++
					total++
				}
			}
			want := -1
			for s, n := range votes {
				first := true
				for other, m := range votes {
					if other != s && m >= n {
						first = false
					}
				}
				if total >= 2 && first && (rule == Majority || n == total) {
					want = s
				}
			}
			if got[i] != want {
				t.Fatalf("%v is %d, want %d", row, got[i], want)
			}
			if want >= 0 {
				items++
			}
		}
		if c.Items != items || c.Items+c.Ties+c.TooFew != len(rows) {
			t.Fatalf("%+v of %d rows, %d with a consensus", c, len(rows), items)
		}
	})
}

// TestPublishedLabelerFit has counts that give every figure of the paper's comparison of its
// labeler with the consensus of 192 states.
func TestPublishedLabelerFit(t *testing.T) {
	confusion := [4][4]int{{100, 0, 8, 0}, {0, 8, 0, 0}, {1, 0, 54, 0}, {1, 1, 1, 18}}
	set := &loaded{stage: map[string]map[key]int{"rule": {}}}
	var consensus []int
	for i, row := range confusion {
		for j, n := range row {
			for range n {
				k := key{"run", int64(len(set.items))}
				set.items = append(set.items, ItemRow{TrajectoryID: k.trajectory, Step: k.step})
				set.stage["rule"][k] = j
				consensus = append(consensus, i)
			}
		}
	}
	l, err := set.labeler("rule", consensus, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range l.Stages {
		got = append(got, fmt.Sprintf("%s %.3f %.3f %.3f %d", s.Stage[:1], s.Precision.Value, s.Recall.Value, s.F1.Value, s.Support))
	}
	got = append(got, fmt.Sprintf("accuracy %.4f macro %.3f", l.Accuracy.Value, l.MacroF1.Value))
	want := []string{"e 0.980 0.926 0.952 108", "i 0.889 1.000 0.941 8", "v 0.857 0.982 0.915 55", "o 1.000 0.857 0.923 21", "accuracy 0.9375 macro 0.933"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if l.Confusion != confusion {
		t.Errorf("confusion %v", l.Confusion)
	}
}

// TestAgreementOfIncompleteRows leaves incomplete rows to Krippendorff's alpha alone.
func TestAgreementOfIncompleteRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows, complete [][]int
	var all [][]int
	for i := range 40 {
		row := []int{rng.IntN(4), rng.IntN(2), rng.IntN(4)}
		if i%4 == 0 {
			row[i%3] = -1
		} else {
			complete = append(complete, countsOf(row))
		}
		rows, all = append(rows, row), append(all, countsOf(row))
	}
	a, err := agree(rows, measure.Resampling)
	if err != nil {
		t.Fatal(err)
	}
	table, err := stats.NewAgreement(complete)
	if err != nil {
		t.Fatal(err)
	}
	kappa, err := table.FleissKappa()
	if err != nil {
		t.Fatal(err)
	}
	alpha, err := stats.Krippendorff(all)
	if err != nil {
		t.Fatal(err)
	}
	if a.Items != 40 || a.Complete != 30 || a.Kappa.Value != kappa || a.Alpha.Value != alpha {
		t.Errorf("%+v, want kappa %v, alpha %v", a, kappa, alpha)
	}
	if a.Stages[0].Interval == nil || a.Stages[0].Interval.Low > a.Stages[0].Kappa.Value || a.Stages[0].Interval.High < a.Stages[0].Kappa.Value {
		t.Errorf("stage %+v", a.Stages[0])
	}
	one, err := agree([][]int{{0}, {1}}, measure.Resampling)
	if err != nil || one.Undefined == "" || one.Kappa.Defined() || one.Alpha.Defined() {
		t.Errorf("one rater: %+v, %v", one, err)
	}
}

func FuzzSheet(f *testing.F) {
	f.Add("item,label\ns1,E\n")
	f.Add(`{"item":"s1","label":"E"}` + "\n{")
	f.Add("trajectory_id;step;label\na;1;V\na;x;V\n")
	f.Add("\ufeff{}\n")
	known := map[string]key{key{"a", 1}.id(): {"a", 1}, "s1": {"b", 2}}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := readSheet(t.Context(), path, true)
		if err != nil {
			t.Fatal(err)
		}
		ratings, problems := s.check(known, []string{"s1"})
		for id := range ratings {
			if id != "s1" {
				t.Fatalf("a rating of %s, which nobody asked for", id)
			}
		}
		if len(ratings) == 0 && len(problems) == 0 {
			t.Fatal("no rating and no problem")
		}
	})
}
