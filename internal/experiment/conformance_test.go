package experiment

import (
	"context"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/baseline"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// summary is the expected figures.
func summary(t testing.TB) map[string]any {
	raw := conformance.Read(t, "oracle", "profiles", "summary.json")
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// expected finds a block or figure by its path.
func expected(t testing.TB, in map[string]any, path string) any {
	var v any = in
	for _, key := range strings.Split(path, "/") {
		v = v.(map[string]any)[key]
		if v == nil {
			t.Fatalf("no %s in the summary", path)
		}
	}
	return v
}

func wantFigure(t testing.TB, sum map[string]any, path string, got *float64) {
	t.Helper()
	want := expected(t, sum, path).(float64)
	within := 1e-9
	if strings.HasPrefix(path, "baselines/tfidf/") {
		// The scores agree to 1e-9, but many are equal but for rounding, and which of those
		// tie depends on the order of summation.
		within = 5e-4
	}
	if got == nil || !(math.Abs(*got-want) <= within) {
		t.Errorf("%s: %v, want %v", path, show(got), want)
	}
}

func show(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func wantBlock(t testing.TB, sum map[string]any, path string, b Block) {
	t.Helper()
	for key, got := range map[string]*float64{
		"mic": b.Micro.AUROC, "mac": b.Macro.AUROC, "wt": b.WithinTask.AUROC, "wm": b.WithinModel.AUROC, "wtm": b.WithinTaskModel.AUROC,
		"youden_acc": &b.Accuracy, "youden_f1": &b.F1, "ks_D": &b.KS,
	} {
		wantFigure(t, sum, path+"/"+key, got)
	}
}

// The release is read once for all tests of the package.
var (
	once    sync.Once
	opened  *corpus.Corpus
	tasks   Corpus
	scratch string
)

func TestMain(m *testing.M) {
	code := m.Run()
	if opened != nil {
		opened.Close()
	}
	if scratch != "" {
		os.RemoveAll(scratch)
	}
	os.Exit(code)
}

func release(t testing.TB) Corpus {
	archive := conformance.Release(t)
	once.Do(func() {
		var err error
		if scratch, err = os.MkdirTemp("", "experiment-test-"); err != nil {
			t.Fatal(err)
		}
		limits := ingest.Limits{MaxRecordBytes: 256 << 20, MaxTotalBytes: 1 << 40, MaxEntries: 1e7, MaxRatio: 1000}
		opened, err = corpus.Open(context.Background(), []string{archive}, ingest.Options{Limits: limits, Jobs: runtime.GOMAXPROCS(0)}, scratch)
		if err != nil {
			t.Fatal(err)
		}
		tasks.Jobs = runtime.GOMAXPROCS(0)
		for i := range opened.Tasks {
			tasks.Tasks = append(tasks.Tasks, func() profile.Task { return opened.Loader(&opened.Tasks[i]).Task() })
		}
	})
	if len(tasks.Tasks) != 47 {
		t.Fatalf("%d tasks of the release", len(tasks.Tasks))
	}
	return tasks
}

// fewer keeps the intervals of the tests cheap; those of a command come from more replicates.
var fewer = stats.Resampling{Resamples: 200, Seed: 1, Level: 0.95}

func TestPaperDonorsOfTheRelease(t *testing.T) {
	sum, c := summary(t), release(t)
	p := paper.DefaultParams()
	p.Labels, p.Draws = steps.Clean, 24
	got, err := AblatePaperDonors(context.Background(), c, p, fewer)
	if err != nil {
		t.Fatal(err)
	}
	path := "stability_paper/clean/"
	wantBlock(t, sum, path+"mean_of_all_24", got.Separation.Scores[1])
	for key, v := range map[string]*float64{
		"mic_mean": got.MicroMean, "mic_sd": got.MicroSD, "kappa_two_draws": got.Single.Kappa, "flip_pct_two_draws": got.Single.Flips,
		"lucky_jaccard": got.Single.Lucky, "pass_flipping_at_least_once_pct": got.Flipping, "score_sd": got.ScoreSD,
	} {
		wantFigure(t, sum, path+key, v)
	}
	for i, m := range []string{"mean_of_4", "mean_of_8", "mean_of_12"} {
		wantFigure(t, sum, path+m+"/kappa", got.Means[i].Kappa)
		wantFigure(t, sum, path+m+"/flip_pct", got.Means[i].Flips)
	}
	if *got.Means[2].Kappa < 0.78 {
		t.Errorf("12-draw means agree with kappa %v, want at least 0.78", *got.Means[2].Kappa)
	}
	for _, s := range got.Tiers {
		wantFigure(t, sum, path+"single_draw_tiers_mean/"+string(s.Tier)+"_pct", &s.Percent)
	}
}

func TestProcessDonorsOfTheRelease(t *testing.T) {
	sum, c := summary(t), release(t)
	got, err := AblateProcessDonors(context.Background(), c, process.DefaultParams(), 6, fewer)
	if err != nil {
		t.Fatal(err)
	}
	wantBlock(t, sum, "process/P3", got.Separation.Scores[0])
	wantBlock(t, sum, "oracles/sum_of_logits_0.02", *got.Separation.Oracle)
	n := float64(got.Passing)
	for key, v := range map[string]*float64{
		"kappa_disjoint": got.Disjoint.Kappa, "flip_pct_disjoint": got.Disjoint.Flips, "lucky_jaccard_disjoint": got.Disjoint.Lucky,
		"mean_abs_diff_disjoint": got.Disjoint.Difference, "kappa_half_vs_full": got.Full.Kappa, "flip_pct_half_vs_full": got.Full.Flips, "n_runs": &n,
	} {
		wantFigure(t, sum, "process/stability_halves_seeds_1_6/"+key, v)
	}
	if *got.Full.Kappa < 0.80 {
		t.Errorf("half and full pool agree with kappa %v, want at least 0.80", *got.Full.Kappa)
	}
}

func TestBaselinesOfTheRelease(t *testing.T) {
	sum, c := summary(t), release(t)
	for name, m := range map[string]Method{
		"individual_release": Individual(steps.Release, 5), "individual_clean": Individual(steps.Clean, 5), "tfidf": TFIDF(5),
	} {
		got, err := RunBaseline(context.Background(), c, name, 5, m, fewer)
		if err != nil {
			t.Fatal(err)
		}
		wantBlock(t, sum, "baselines/"+name, got.Separation.Scores[0])
		if got.Separation.Unknown != 0 || got.Separation.Unscored != 0 {
			t.Errorf("%s: %+v", name, got.Separation)
		}
	}
}

// The expected signals as a dataset.
func goldenDataset(t testing.TB) Dataset {
	rows := conformance.Whole(t).Table(t, "oracle", "profiles", "process_scores.tsv")
	d := Dataset{Profile: process.New(), Score: Column{Name: "process_score"}, Scale: 100}
	d.Signals = []Signal{
		{Column{Name: "A"}, 0.55, false}, {Column{Name: "F"}, 0.25, false}, {Column{Name: "V"}, 0.20, false}, {Column{Name: "S"}, 0, true},
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, row := range rows {
		task, rest, _ := strings.Cut(row["trajectory_id"], "-logs-")
		run := Run{ID: row["trajectory_id"], Task: task, Outcome: trajectory.Fail}
		var ok bool
		if run.Model, _, ok = strings.Cut(rest, "-pass-"); ok {
			run.Outcome = trajectory.Pass
		} else {
			run.Model, _, _ = strings.Cut(rest, "-fail-")
		}
		d.Runs = append(d.Runs, run)
		d.Score.Values = append(d.Score.Values, number(row["P3"]))
		for k := range d.Signals {
			c := &d.Signals[k].Column
			c.Values = append(c.Values, number(row[c.Name]))
		}
	}
	return d
}

func TestCalibrateOnTheRelease(t *testing.T) {
	d := goldenDataset(t)
	sum := summary(t)
	for _, method := range []string{Grid, Logistic} {
		got, err := Calibrate(context.Background(), d, CalibrateOptions{Method: method, Step: 0.05, Folds: 50, Sampling: fewer})
		if err != nil {
			t.Fatal(err)
		}
		wantBlock(t, sum, "process/P3", got.Separation.Scores[0])
		wantBlock(t, sum, "oracles/sum_of_logits_0.02", *got.Separation.Oracle)
		for _, b := range got.Separation.Scores {
			t.Logf("%s %-28s %.4f %.4f %.4f %.4f %.4f", method, b.Name, *b.Micro.AUROC, *b.Macro.AUROC, *b.WithinTask.AUROC, *b.WithinModel.AUROC, *b.WithinTaskModel.AUROC)
		}
		t.Logf("weights %v tasks %+v models %+v cuts %.3f %.3f", got.Weights, got.Tasks, got.Models, *got.LowCut, *got.IdealCut)
		held := got.Separation.Scores[2]
		if *held.Micro.AUROC < 0.84 || *held.Macro.AUROC < 0.84 || *held.WithinTaskModel.AUROC < 0.78 {
			t.Errorf("%s, held-out tasks: %v %v %v", method, *held.Micro.AUROC, *held.Macro.AUROC, *held.WithinTaskModel.AUROC)
		}
		fitted, err := got.Fitted(d)
		if err != nil || fitted.Validate() != nil {
			t.Errorf("%+v: %v", fitted, err)
		}
	}
}

func TestAblateSignalsOfTheRelease(t *testing.T) {
	d, sum := goldenDataset(t), summary(t)
	got, err := AblateSignals(d, stats.Resampling{})
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{"P3", "ablation/no_A", "ablation/no_F", "ablation/no_V", "A", "F", "V"} {
		wantBlock(t, sum, "process/"+path, got.Separation.Scores[i])
	}
}

// With the weights of the profile the calibrated cuts are the published split's percentiles.
func TestCutsOfTheRelease(t *testing.T) {
	d, sum := goldenDataset(t), summary(t)
	r, _, _ := usable(d.Runs, nil)
	c := Calibration{Weights: []float64{0.55, 0.25, 0.20}}
	if err := c.cut(r, d.Score); err != nil {
		t.Fatal(err)
	}
	wantFigure(t, sum, "process/percentiles_of_passes/p10.74", c.LowCut)
	wantFigure(t, sum, "process/percentiles_of_passes/p79.84", c.IdealCut)
}

// A reference drawn for everyone gives a run that is no member the score that the profile's
// own draws give it, as long as it is not among the first k passing runs itself.
func TestAgainstIsTheProfile(t *testing.T) {
	c := release(t)
	p := paper.DefaultParams()
	p.Draws = 2
	type both struct{ compared, differ int }
	c.Tasks = c.Tasks[:6]
	parts, err := eachSteps(context.Background(), c, func(ctx context.Context, task *steps.Task) (both, error) {
		var b both
		want, err := paper.DrawScores(ctx, task, p)
		if err != nil || len(drawOrder(task, 2)) < p.K {
			return b, err
		}
		got, err := paper.Against(ctx, task, p, [][]int{drawOrder(task, 2)[:p.K]})
		if err != nil {
			return b, err
		}
		for i, v := range got[0] {
			if v == nil {
				continue
			}
			b.compared++
			if *v != want[i][1] {
				b.differ++
			}
		}
		return b, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var sum both
	for _, b := range parts {
		sum.compared, sum.differ = sum.compared+b.compared, sum.differ+b.differ
	}
	if sum.compared < 100 || sum.differ > 0 {
		t.Errorf("%d scores compared, %d differ", sum.compared, sum.differ)
	}
}

func TestMergeCountOfTheRelease(t *testing.T) {
	c := release(t)
	got, err := AblateMergeCount(context.Background(), c, MergeCountOptions{Ks: []int{2, 7}, Draws: 1, Params: paper.DefaultParams(), Sampling: fewer})
	if err != nil {
		t.Fatal(err)
	}
	// Every task has a failing run, so those with more than k passing runs are scored.
	passing, all := map[string]int{}, map[string]int{}
	for _, row := range conformance.Whole(t).Table(t, "oracle", "profiles", "clean_labels.tsv") {
		task, rest, _ := strings.Cut(row["trajectory_id"], "-logs-")
		all[task]++
		if strings.Contains(rest, "-pass-") {
			passing[task]++
		}
	}
	for i, k := range []int{2, 7} {
		tasks, runs := 0, 0
		for task, n := range passing {
			if n > k {
				tasks++
				runs += all[task] - k
			}
		}
		if row := got.Counts[i]; row.K != k || row.Tasks != tasks || row.Runs != runs || row.Block.N != runs {
			t.Errorf("k = %d: %d tasks, %d runs, %d rows; want %d and %d", k, row.Tasks, row.Runs, row.Block.N, tasks, runs)
		}
	}
	if got.Common != got.Counts[1].Tasks || *got.Counts[1].Mean != *got.Counts[1].CommonMean {
		t.Errorf("%d common tasks: %+v", got.Common, got.Counts[1])
	}
}

// The offline vectors on four tasks, to keep the test short.
func TestDenseOfTheRelease(t *testing.T) {
	c := release(t)
	c.Tasks = c.Tasks[:4]
	got, err := RunBaseline(context.Background(), c, "dense", 5, Dense(5, baseline.LSA(64)), fewer)
	if err != nil {
		t.Fatal(err)
	}
	b := got.Separation.Scores[0]
	t.Logf("dense over %d runs of 4 tasks: %.3f", b.N, *b.Micro.AUROC)
	if *b.WithinTask.AUROC < 0.5 {
		t.Errorf("vectors separate worse than chance: %v", *b.WithinTask.AUROC)
	}
}
