package paper_test

import (
	"context"
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/paper"
	"github.com/agentlens-bench/agentlens/schema"
)

// archive is set before release is called.
var archive string

// release reads the authors' release once for all tests, with the product's own reader.
var release = sync.OnceValues(func() (paper.Source, error) {
	var (
		src paper.Source
		mu  sync.Mutex
	)
	_, err := ingest.Read(context.Background(), []string{archive}, ingest.Options{Jobs: 2}, func(it ingest.Item) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case it.Refused != nil:
			return errors.New(it.Refused.Message)
		case it.Published != nil:
			src.Published = append(src.Published, *it.Published)
		case it.Task != nil:
			src.Tasks = append(src.Tasks, *it.Task)
		case it.Reference != nil:
			src.References = append(src.References, *it.Reference)
		case it.Trajectory != nil:
			t := it.Trajectory
			row := schema.Trajectory{TrajectoryID: t.ID, StagesRelease: t.StageString()}
			tools := map[string]int64{}
			for i := range t.States {
				row.InputTokens += t.States[i].InputTokens.Or(0)
				row.OutputTokens += t.States[i].OutputTokens.Or(0)
				tools[t.States[i].Tool]++
			}
			for tool, n := range tools {
				src.ToolCalls = append(src.ToolCalls, paper.ToolCalls{TrajectoryID: t.ID, Tool: tool, Calls: n})
			}
			src.Trajectories = append(src.Trajectories, row)
		}
		return nil
	})
	return src, err
})

// releaseSource returns a copy whose slices may be changed.
func releaseSource(t testing.TB) paper.Source {
	t.Helper()
	archive = conformance.Release(t)
	src, err := release()
	if err != nil {
		t.Fatal(err)
	}
	if len(src.Published) != 1815 || len(src.Trajectories) != 1815 {
		t.Fatalf("%d published rows and %d trajectories, want 1815", len(src.Published), len(src.Trajectories))
	}
	src.Published = slices.Clone(src.Published)
	src.Trajectories = slices.Clone(src.Trajectories)
	return src
}

func reproduce(t testing.TB, src paper.Source) paper.Ledger {
	t.Helper()
	l, err := paper.Reproduce(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func figure(t testing.TB, l paper.Ledger, id string) paper.Figure {
	t.Helper()
	for _, f := range l.Figures {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("no figure %s", id)
	return paper.Figure{}
}

// known are the differences between paper and release. Everything else has to match or lack
// its data.
var known = map[string]string{
	"t3.struct.auroc": "other_sample", "t3.cov.auroc": "other_sample", "t3.coh.auroc": "other_sample", "t3.temp.auroc": "other_sample",
	"t3.struct.ks_p": "ks_p_sample", "t3.cov.ks_p": "ks_p_sample", "t3.coh.ks_p": "ks_p_sample", "t3.temp.ks_p": "ks_p_sample",
	"t3.combined.auroc": "score_outcome_term", "t3.combined.accuracy": "score_outcome_term", "t3.combined.f1": "score_outcome_term",
	"t3.combined.ks_p": "ks_p_sample",

	"t12.agentlens.auroc": "score_outcome_term", "t12.agentlens.accuracy": "score_outcome_term", "t12.agentlens.f1": "score_outcome_term",
	"t12.agentlens.ks_p": "ks_p_sample",

	"t13.C5.severity": "waste_columns", "t13.C3.severity": "waste_columns", "t13.C2.severity": "waste_columns",
	"t13.C5.zero": "waste_columns", "t13.C3.zero": "waste_columns", "t13.C4.zero": "waste_columns",

	"t15.top6": "sum_of_rows", "t15.top6.share": "sum_of_rows",

	"t17.C3.none": "verification_table", "t17.C3.some": "verification_table", "t17.C3.none_share": "verification_table", "t17.C3.some_share": "verification_table",
	"t17.C4.none": "verification_table", "t17.C4.some": "verification_table", "t17.C4.none_share": "verification_table", "t17.C4.some_share": "verification_table",
	"t17.C5.none": "verification_table", "t17.C5.some": "verification_table", "t17.C5.none_share": "verification_table", "t17.C5.some_share": "verification_table",

	"t20.invariant": "text_and_table", "t20.permutations": "orders_sampled",

	"t21.total": "token_total", "t21.excess": "token_total", "t21.excess_share": "token_total", "t21.factor": "token_total",
	"t21.efficient": "truncated",

	"f5.principled.deepenings": "illustrative", "f5.chaotic.retries": "illustrative", "f5.chaotic.coherence": "illustrative",
	"f5.chaotic.header": "illustrative", "f5.principled.temporal": "illustrative", "f5.chaotic.temporal": "illustrative",

	"f7.threshold":          "score_outcome_term",
	"text.auroc":            "score_outcome_term",
	"text.ks_p":             "ks_p_sample",
	"text.cut.partial_fail": "cut_40",
	"text.C5.verified":      "verification_table",
	"d7.C4.matched":         "alignment_rows",
}

// noData are the places with figures that the release says nothing about, and how many.
var noData = map[string]int{
	"Table 3": 4, "Table 4": 8, "Table 5": 3, "Table 7": 36, "Table 10": 11, "Table 11": 12, "Table 12": 12,
	"Table 18": 8, "Table 19": 31, "Table 20": 11, "Figure 5": 18, "Text": 16,
}

func TestReleaseLedger(t *testing.T) {
	l := reproduce(t, releaseSource(t))
	missing := map[string]int{}
	for _, f := range l.Figures {
		switch f.Status {
		case paper.Match:
			if f.Reason != "" || f.Explanation != "" || f.Recomputed == nil {
				t.Errorf("%s: a match with reason %q, explanation %q, value %v", f.ID, f.Reason, f.Explanation, f.Recomputed)
			}
			if known[f.ID] != "" {
				t.Errorf("%s: printed %s matches %s, but is known to differ: %s", f.ID, f.Published, f.Recomputed, known[f.ID])
			}
		case paper.Differs:
			if f.Reason != known[f.ID] {
				t.Errorf("%s: printed %s, recomputed %s, reason %q, want %q", f.ID, f.Published, f.Recomputed, f.Reason, known[f.ID])
			}
		case paper.NotRecomputable:
			missing[f.Place]++
			if f.Recomputed != nil {
				t.Errorf("%s: not recomputable, but %s", f.ID, f.Recomputed)
			}
		default:
			t.Errorf("%s: status %s without a rebuild", f.ID, f.Status)
		}
		if f.Status != paper.Match && (f.Explanation == "" || strings.Contains(f.Explanation, "\n")) {
			t.Errorf("%s: explanation %q, want one line", f.ID, f.Explanation)
		}
	}
	if !reflect.DeepEqual(missing, noData) {
		t.Errorf("not recomputable by place: %v\nwant %v", missing, noData)
	}
	if got := l.Count(paper.Differs); got != len(known) {
		t.Errorf("%d differences, want %d", got, len(known))
	}
	if u := l.Unexpected(); len(u) > 0 {
		t.Errorf("unexpected: %v", u)
	}
}

// TestReleaseValues pins numbers to more digits than the paper prints.
func TestReleaseValues(t *testing.T) {
	l := reproduce(t, releaseSource(t))
	for id, want := range map[string]float64{
		"t22.model.chi2": 102.4675, "t22.model.dof": 28, "t22.model.v": 0.45823,
		"t22.task.chi2": 248.4488, "t22.task.dof": 116, "t22.task.v": 0.7135,
		"t3.combined.auroc": 0.886, "t3.struct.auroc": 0.679, "t3.cov.auroc": 0.684, "t3.coh.auroc": 0.573, "t3.temp.auroc": 0.582,
		"t13.C2.severity": 0.538, "t13.C3.severity": 0.114, "t13.C5.severity": 0.068, "t13.C3.zero": 51, "t13.C5.zero": 60, "t13.C4.zero": 40,
		"t17.C3.none": 9, "t17.C4.none": 2, "t17.C5.none": 10,
		"t21.total": 53.642032, "t21.excess": 49.5, "t21.excess_share": 92.3, "t21.factor": 12.9,
		"text.cut.partial_fail": 40, "t15.top6": 54, "t15.top6.share": 44.3, "t20.invariant": 7, "t20.permutations": 24,
		"f5.chaotic.coherence": 0.50, "f5.principled.temporal": 0.98, "f5.chaotic.temporal": 0.637,
	} {
		text := strconv.FormatFloat(want, 'f', -1, 64)
		_, fraction, _ := strings.Cut(text, ".")
		f := figure(t, l, id)
		if f.Recomputed == nil || math.Abs(f.Recomputed.Number-want) > 0.5*math.Pow10(-len(fraction)) {
			t.Errorf("%s: %v, want %s", id, f.Recomputed, text)
		}
	}
	for id, want := range map[string]string{
		"t3.combined.auroc": "without these points the AUROC is 0.723, that of Eq. 1 over the columns 0.691",
	} {
		if f := figure(t, l, id); !strings.Contains(f.Explanation, want) {
			t.Errorf("%s: explanation %q, want %q in it", id, f.Explanation, want)
		}
	}
}

func TestLuckyPasses(t *testing.T) {
	passes, err := paper.LuckyPasses(releaseSource(t))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(conformance.Dir(t, "oracle", "lucky_categories.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{}
	idAt, tokensAt := slices.Index(rows[0], "trajectory_id"), slices.Index(rows[0], "tokens")
	for _, r := range rows[1:] {
		want[r[idAt]] = [2]string{r[0], r[tokensAt]}
	}
	if len(passes) != len(want) || len(want) != 122 {
		t.Fatalf("%d Lucky passes, the oracle has %d", len(passes), len(want))
	}
	for _, p := range passes {
		if got := [2]string{p.Category, strconv.FormatInt(p.Tokens, 10)}; got != want[p.Run.TrajectoryID] {
			t.Errorf("%s: category and tokens %v, want %v", p.Run.TrajectoryID, got, want[p.Run.TrajectoryID])
		}
	}
}

func TestOrderOfRows(t *testing.T) {
	src := releaseSource(t)
	want := reproduce(t, src)
	r := rand.New(rand.NewPCG(7, 7))
	r.Shuffle(len(src.Published), func(i, j int) { src.Published[i], src.Published[j] = src.Published[j], src.Published[i] })
	r.Shuffle(len(src.Trajectories), func(i, j int) {
		src.Trajectories[i], src.Trajectories[j] = src.Trajectories[j], src.Trajectories[i]
	})
	if got := reproduce(t, src); !reflect.DeepEqual(got, want) {
		t.Error("the ledger depends on the order of the rows")
	}
}

func TestMissingTables(t *testing.T) {
	src := releaseSource(t)
	src = paper.Source{Published: src.Published}
	l := reproduce(t, src)
	for id, reason := range map[string]string{
		"t21.C1.mean": "missing_states", "t22.model.chi2": "missing_states",
		"t14.gpt-4.1.C4": "missing_states", "d7.C4.think": "missing_states", "d7.C5a.stages": "missing_states", "text.k": "missing_tasks", "d7.C2.reference": "missing_references",
	} {
		if f := figure(t, l, id); f.Status != paper.NotRecomputable || f.Reason != reason {
			t.Errorf("%s without its table: %s, %s; want %s", id, f.Status, f.Reason, reason)
		}
	}
	for _, id := range []string{"t2.opus-4.6.lucky", "t8.blind_retry.ratio", "t14.opus-4.6.C1", "t14.opus-4.6.total", "t14.all.total"} {
		if f := figure(t, l, id); f.Status != paper.Match {
			t.Errorf("%s needs the published columns only: %s, %s", id, f.Status, f.Reason)
		}
	}
	if _, err := paper.LuckyPasses(src); err == nil {
		t.Error("categories without states")
	}
}

func TestChangedData(t *testing.T) {
	src := releaseSource(t)
	i := slices.IndexFunc(src.Published, func(p schema.Published) bool { return p.QualityTier != nil && *p.QualityTier == "lucky" })
	src.Published[i].Model = "gpt-4o-mini"
	l := reproduce(t, src)
	for _, id := range []string{"text.models", "t4.agentlens.models", "t22.model.chi2"} {
		if f := figure(t, l, id); f.Status != paper.Differs || f.Reason != "unexpected" {
			t.Errorf("%s after a run changed its model: %s, %q", id, f.Status, f.Reason)
		}
	}
	if len(l.Unexpected()) == 0 {
		t.Error("a changed dataset has no unexpected difference")
	}

	src = releaseSource(t)
	src.Published = append(src.Published, src.Published[3])
	if _, err := paper.Reproduce(context.Background(), src); err == nil || !strings.Contains(err.Error(), src.Published[3].TrajectoryID) {
		t.Errorf("a run twice: error %v, want its name", err)
	}
	src = releaseSource(t)
	bad := "[{]"
	src.Published[5].FailureReasons = &bad
	if _, err := paper.Reproduce(context.Background(), src); err == nil || !strings.Contains(err.Error(), src.Published[5].TrajectoryID) {
		t.Errorf("failure reasons that are no JSON: error %v, want the run's name", err)
	}
}

func TestNoPublished(t *testing.T) {
	if _, err := paper.Reproduce(context.Background(), paper.Source{}); !errors.Is(err, paper.ErrNoPublished) {
		t.Errorf("error %v, want ErrNoPublished", err)
	}
}

// One run only: nearly everything is undefined or off, nothing fails.
func TestTinyDataset(t *testing.T) {
	l := reproduce(t, paper.Source{Published: []schema.Published{{TaskID: "t", Model: "m", TrajectoryID: "r"}}})
	if f := figure(t, l, "t3.combined.auroc"); f.Status != paper.NotRecomputable || f.Reason != "undefined" {
		t.Errorf("AUROC of one run: %s, %s", f.Status, f.Reason)
	}
	if f := figure(t, l, "text.runs"); f.Status != paper.Differs || f.Reason != "unexpected" {
		t.Errorf("number of runs: %s, %s", f.Status, f.Reason)
	}
}

func TestRebuilt(t *testing.T) {
	src := releaseSource(t)
	src.Rebuilt = src.Published
	n := 0
	for _, f := range reproduce(t, src).Figures {
		if f.Rebuilt == nil {
			continue
		}
		n++
		if f.Recomputed == nil || f.Rebuilt.String() != f.Recomputed.String() {
			t.Errorf("%s: rebuilt %v from the same columns, recomputed %v", f.ID, f.Rebuilt, f.Recomputed)
		}
	}
	if n < 350 {
		t.Errorf("%d figures have a rebuilt value", n)
	}
}

// paperSignals reads expected signals and draws of the paper profile under one kind of labels.
func paperSignals(t testing.TB, labels string) []schema.SignalsPaper {
	t.Helper()
	read := func(name string) (head []string, rows [][]string) {
		data := conformance.Read(t, "oracle", "profiles", name)
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for _, line := range lines[1:] {
			if strings.HasPrefix(line, labels+"\t") {
				rows = append(rows, strings.Split(line, "\t"))
			}
		}
		return strings.Split(lines[0], "\t"), rows
	}
	float := func(head, row []string, column string) float64 {
		x, err := strconv.ParseFloat(row[slices.Index(head, column)], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	spread := map[string][2]float64{}
	head, rows := read("paper_draws.tsv")
	for _, r := range rows {
		spread[r[1]] = [2]float64{float(head, r, "f_mean12"), float(head, r, "f_sd12")}
	}
	var out []schema.SignalsPaper
	head, rows = read("paper_scores.tsv")
	for _, r := range rows {
		passed := r[slices.Index(head, "passed")] == "1"
		s := spread[r[1]]
		out = append(out, schema.SignalsPaper{
			TrajectoryID: r[1], Labels: labels, Passed: &passed,
			Struct: float(head, r, "struct"), Cov: float(head, r, "cov"), Coh: float(head, r, "coh"), Temp: float(head, r, "temp"), PaperScore: float(head, r, "f"),
			Draws: 12, ScoreMean: &s[0], ScoreSD: &s[1],
		})
	}
	return out
}

func TestDraws(t *testing.T) {
	src := releaseSource(t)
	for labels, want := range map[string]struct{ auroc, structural float64 }{
		"release": {0.735, 0.802},
		"clean":   {0.778, 0.803},
	} {
		src.Paper = paperSignals(t, labels)
		l := reproduce(t, src)
		f := figure(t, l, "t3.combined.auroc")
		if f.Status != paper.Differs || f.Reason != "score_outcome_term" || f.Rebuilt == nil || math.Abs(f.Rebuilt.Number-want.auroc) > 0.0006 {
			t.Errorf("%s labels: %s, %s, rebuilt %v, want %v", labels, f.Status, f.Reason, f.Rebuilt, want.auroc)
		}
		if f := figure(t, l, "t3.struct.auroc"); f.Rebuilt == nil || math.Abs(f.Rebuilt.Number-want.structural) > 0.0006 {
			t.Errorf("%s labels: rebuilt AUROC of struct %v, want %v", labels, f.Rebuilt, want.structural)
		}
		if f := figure(t, l, "t14.opus-4.6.C1"); f.Status != paper.Match {
			t.Errorf("%s labels: the draws change Table 14", labels)
		}
		if n := l.Count(paper.WithinDraws); labels != "release" && n > 0 {
			t.Errorf("%s labels: %d figures lie within draws that are not the paper's", labels, n)
		}
	}

	// Scores whose spread includes what was printed.
	src.Paper = paperSignals(t, "clean")
	for i := range src.Paper {
		src.Paper[i].Labels = "release"
	}
	f := figure(t, reproduce(t, src), "t12.agentlens.auroc")
	if f.Status != paper.WithinDraws || f.Reason != "draw_variation" || f.Basis != paper.FromRebuild || !strings.Contains(f.Explanation, "12 redrawn references") {
		t.Errorf("%s, reason %s, basis %s, %q", f.Status, f.Reason, f.Basis, f.Explanation)
	}
	if f.Recomputed == nil || math.Abs(f.Recomputed.Number-0.775) > 0.002 { // the mean AUROC of 24 real draws
		t.Errorf("mean of the draws %v, want 0.775", f.Recomputed)
	}
	for i := range src.Paper {
		src.Paper[i].ScoreMean, src.Paper[i].ScoreSD, src.Paper[i].Draws = nil, nil, 0
	}
	if n := reproduce(t, src).Count(paper.WithinDraws); n > 0 {
		t.Errorf("%d figures within draw variation without draws", n)
	}
}

func BenchmarkReproduce(b *testing.B) {
	src := releaseSource(b)
	src.Rebuilt = src.Published
	src.Paper = paperSignals(b, "clean")
	for b.Loop() {
		reproduce(b, src)
	}
}
