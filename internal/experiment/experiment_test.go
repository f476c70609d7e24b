package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance/randomrun"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// naiveCount is twice the pairs in order plus the ties, over the rows that keep keeps.
func naiveCount(scores []float64, pass []bool, keep func(i int) bool) (count, pairs int64) {
	for i, p := range pass {
		for j, q := range pass {
			if !p || q || !keep(i) || !keep(j) {
				continue
			}
			pairs++
			switch {
			case scores[i] > scores[j]:
				count += 2
			case scores[i] == scores[j]:
				count++
			}
		}
	}
	return count, pairs
}

func anyRows(t *rapid.T) (scores []float64, pass []bool, a, b []string) {
	n := rapid.IntRange(1, 30).Draw(t, "rows")
	for range n {
		scores = append(scores, float64(rapid.IntRange(0, 6).Draw(t, "score")))
		pass = append(pass, rapid.Bool().Draw(t, "pass"))
		a = append(a, rapid.SampledFrom([]string{"p", "q", "r", "s"}).Draw(t, "a"))
		b = append(b, rapid.SampledFrom([]string{"x", "y"}).Draw(t, "b"))
	}
	return scores, pass, a, b
}

func TestPairCounter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, pass, a, b := anyRows(t)
		foldings := []folding{foldBy(a, 3, 1), foldBy(b, 9, 1)}
		c := newPairCounter(pass, foldings...)
		c.count(slices.Repeat([]float64{1}, len(scores))) // a second use must not see the first
		c.count(scores)
		if want, _ := naiveCount(scores, pass, func(int) bool { return true }); c.all != want {
			t.Fatalf("%d, want %d", c.all, want)
		}
		for k, f := range foldings {
			for g := range f.n {
				want, pairs := naiveCount(scores, pass, func(i int) bool { return f.of[i] != g })
				if c.without[k][g] != want || c.pairs[k][g] != pairs {
					t.Fatalf("without fold %d: %d of %d, want %d of %d", g, c.without[k][g], c.pairs[k][g], want, pairs)
				}
			}
		}
	})
}

func TestFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[a-f]{1,2}`), 1, 40).Draw(t, "names")
		most := rapid.IntRange(2, 12).Draw(t, "most")
		f := foldBy(names, most, rapid.Uint64().Draw(t, "seed"))
		of := map[string]int{}
		size := make([]int, f.n)
		for i, name := range names {
			g, seen := of[name]
			if f.of[i] < 0 || f.of[i] >= f.n || seen && g != f.of[i] {
				t.Fatalf("%q is in fold %d of %d, before in %d", name, f.of[i], f.n, g)
			}
			if !seen {
				of[name] = f.of[i]
				size[f.of[i]]++
			}
		}
		if f.n != min(most, len(of)) || slices.Max(size)-slices.Min(size) > 1 {
			t.Fatalf("%d names in folds of %v", len(of), size)
		}
	})
}

// The grid's best point without a fold is the one that a search of the other rows finds.
func TestGridSearchWithoutFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, pass, a, _ := anyRows(t)
		x := make([][]float64, len(pass))
		for i := range x {
			x[i] = []float64{float64(rapid.IntRange(0, 4).Draw(t, "x")), float64(rapid.IntRange(0, 4).Draw(t, "y"))}
		}
		f := foldBy(a, 9, 3)
		all, without, n, err := gridSearch(context.Background(), x, pass, 4, f)
		if err != nil || n != 5 {
			t.Fatal(n, err)
		}
		for g := -1; g < f.n; g++ {
			var own []int
			var outcome []bool
			for i := range x {
				if f.of[i] != g {
					own, outcome = append(own, i), append(outcome, pass[i])
				}
			}
			want, err := stats.GridSearch(2, 4, func(w []float64) (float64, error) {
				scores := make([]float64, len(own))
				for k, i := range own {
					scores[k] = dot(w, x[i])
				}
				return stats.AUROC(scores, outcome)
			})
			switch {
			case err != nil && g >= 0 && without[0].err == nil:
				t.Fatalf("fold %d is %v to a search, but not here", g, err)
			case err != nil:
			case g < 0 && (!slices.Equal(all.weights, want.Weights) || all.ties != want.Ties):
				t.Fatalf("%+v, want %+v", all, want)
			case g >= 0 && without[0].err == nil && !slices.Equal(without[0].weights(g), want.Weights):
				t.Fatalf("without fold %d: %v, want %+v", g, without[0].weights(g), want)
			}
		}
	})
}

func makeRuns(n int) (runs []Run) {
	for i := range n {
		runs = append(runs, Run{
			ID: fmt.Sprintf("run%03d", i), Task: fmt.Sprintf("task%d", i%4), Model: fmt.Sprintf("model%d", i/4%3),
			Outcome: []trajectory.Outcome{trajectory.Pass, trajectory.Fail, trajectory.Pass, trajectory.Fail, trajectory.Fail}[i%5],
		})
	}
	return runs
}

func makeColumn(name string, n, step, mod int) Column {
	c := Column{Name: name}
	for i := range n {
		c.Values = append(c.Values, float64(i*step%mod)/float64(mod))
	}
	return c
}

func TestCompareLeavesOut(t *testing.T) {
	runs := makeRuns(60)
	runs[3].Outcome, runs[7].Outcome = trajectory.Unknown, trajectory.Unknown
	a, b := makeColumn("a", 60, 7, 31), makeColumn("b", 60, 11, 29)
	b.Known = slices.Repeat([]bool{true}, 60)
	b.Known[3], b.Known[5], b.Known[6] = false, false, false
	s, err := Compare(runs, []Column{a, b}, fewer)
	if err != nil {
		t.Fatal(err)
	}
	if s.Unknown != 2 || s.Unscored != 2 || s.Scores[0].N != 56 || s.Scores[1].N != 56 || s.Oracle.N+s.OracleLeft != 56 {
		t.Errorf("%+v", s)
	}
	var r rows
	for i, run := range runs {
		if i != 3 && i != 5 && i != 6 && i != 7 {
			r.add(i, run)
		}
	}
	if want, _ := stats.AUROC(r.of(a.Values), r.pass); *s.Scores[0].Micro.AUROC != want {
		t.Errorf("%v, want %v", *s.Scores[0].Micro.AUROC, want)
	}
	if m := s.Scores[0].Micro; !(*m.Low < *m.AUROC && *m.AUROC < *m.High) {
		t.Errorf("interval %v to %v", *m.Low, *m.High)
	}
}

func TestCompareNeedsBothOutcomes(t *testing.T) {
	runs := makeRuns(10)
	for i := range runs {
		runs[i].Outcome = trajectory.Pass
	}
	runs[0].Outcome = trajectory.Unknown
	_, err := Compare(runs, []Column{makeColumn("a", 10, 3, 7)}, fewer)
	if err == nil || !strings.Contains(err.Error(), "9 runs pass and 0 fail, but both outcomes are needed (left out: 1 runs with unknown outcome") {
		t.Error(err)
	}
	if _, err := Compare(nil, nil, fewer); err == nil {
		t.Error("no error without runs")
	}
}

// A single task has no oracle, as no model ran another one.
func TestNoOracle(t *testing.T) {
	runs := makeRuns(20)
	for i := range runs {
		runs[i].Task = "one"
	}
	s, err := Compare(runs, []Column{makeColumn("a", 20, 3, 7)}, fewer)
	if err != nil || s.Oracle != nil || s.OracleLeft != 20 {
		t.Errorf("%+v: %v", s, err)
	}
}

func TestOrderOfRunsDoesNotMatter(t *testing.T) {
	runs, a := makeRuns(40), makeColumn("a", 40, 7, 31)
	want, err := Compare(runs, []Column{a}, stats.Resampling{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := make([]int, 40)
		for i := range at {
			at[i] = i
		}
		var shuffled []Run
		c := Column{Name: "a"}
		for _, i := range rapid.Permutation(at).Draw(t, "order") {
			shuffled, c.Values = append(shuffled, runs[i]), append(c.Values, a.Values[i])
		}
		got, err := Compare(shuffled, []Column{c}, stats.Resampling{})
		if err != nil || math.Abs(*got.Scores[0].Macro.AUROC-*want.Scores[0].Macro.AUROC) > 1e-15 || *got.Scores[0].WithinModel.AUROC != *want.Scores[0].WithinModel.AUROC {
			t.Fatalf("%+v: %v", got, err)
		}
	})
}

// makeDataset has a signal that tells the outcome, one that misleads, and one of noise.
func makeDataset(n int) Dataset {
	d := Dataset{Profile: process.New(), Runs: makeRuns(n), Scale: 100}
	a, f, v := makeColumn("A", n, 37, 101), makeColumn("F", n, 53, 103), makeColumn("V", n, 71, 107)
	for i, r := range d.Runs {
		if r.Outcome == trajectory.Pass {
			a.Values[i] = min(1, a.Values[i]+0.5)
			f.Values[i] = max(0, f.Values[i]-0.4)
		}
	}
	d.Signals = []Signal{{a, 0.55, false}, {f, 0.25, false}, {v, 0.20, false}, {makeColumn("S", n, 13, 109), 0, true}}
	d.Score = mixture("process_score", d.Scored(), []float64{55, 25, 20})
	return d
}

func TestCalibrate(t *testing.T) {
	d := makeDataset(80)
	opt := CalibrateOptions{Method: Grid, Step: 0.1, Folds: 3, Sampling: fewer}
	c, err := Calibrate(context.Background(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	if c.Points != 66 || c.Weights[1] != 0 || c.Weights[0] < 0.5 || c.Tasks.Folds != 3 || c.Models.Folds != 3 || len(c.Separation.Scores) != 4 {
		t.Errorf("%+v", c)
	}
	if built, fit := c.Separation.Scores[0], c.Separation.Scores[1]; *fit.Micro.AUROC < *built.Micro.AUROC {
		t.Errorf("calibrated %v, built %v", *fit.Micro.AUROC, *built.Micro.AUROC)
	}
	fitted, err := c.Fitted(d)
	if err != nil {
		t.Fatal(err)
	}
	p := fitted.Params().(*process.Params)
	if p.Weights != (process.Weights{A: c.Weights[0], F: 0, V: c.Weights[2]}) || p.Cuts.Low != *c.LowCut || p.Cuts.Ideal != *c.IdealCut || p.Cuts.Borderline != 4 {
		t.Errorf("%+v", p)
	}
	if d.Profile.Params().(*process.Params).Weights.A != 0.55 {
		t.Error("the dataset's parameters were changed")
	}

	opt.Method = Logistic
	c, err = Calibrate(context.Background(), d, opt)
	if err != nil || c.Weights[1] >= 0 || c.LowCut != nil || c.Regression.LogLoss <= 0 {
		t.Errorf("%+v: %v", c, err)
	}
	if _, err := c.Fitted(d); err == nil || !strings.Contains(err.Error(), "gives F a negative weight") {
		t.Error(err)
	}
	opt.Signals = []string{"v", "a"}
	if c, err = Calibrate(context.Background(), d, opt); err != nil || !slices.Equal(c.Signals, []string{"A", "V"}) {
		t.Errorf("%+v: %v", c, err)
	}
	// The weighted mean orders runs as the regression does.
	m, err := fitLogistic(rowsOf(d, "A", "V"), passesOf(d))
	if err != nil {
		t.Fatal(err)
	}
	row := func(i int) []float64 { return []float64{d.Signals[0].Values[i], d.Signals[2].Values[i]} }
	for i := range d.Runs {
		for j := range d.Runs {
			p, _ := m.Predict(row(i))
			q, _ := m.Predict(row(j))
			if x, y := dot(c.Weights, row(i)), dot(c.Weights, row(j)); p-q > 1e-9 && x <= y {
				t.Fatalf("runs %d and %d: %v and %v, but %v and %v", i, j, p, q, x, y)
			}
		}
	}
}

func rowsOf(d Dataset, names ...string) [][]float64 {
	out := make([][]float64, len(d.Runs))
	for i := range out {
		for _, s := range d.Signals {
			if slices.Contains(names, s.Name) {
				out[i] = append(out[i], s.Values[i])
			}
		}
	}
	return out
}

func passesOf(d Dataset) (out []bool) {
	for _, r := range d.Runs {
		out = append(out, r.Outcome == trajectory.Pass)
	}
	return out
}

func TestCalibrateLimits(t *testing.T) {
	ctx := context.Background()
	good := CalibrateOptions{Method: Grid, Step: 0.5, Folds: 2, Sampling: fewer}
	for want, change := range map[string]func(*CalibrateOptions){
		`method "forest"`:    func(o *CalibrateOptions) { o.Method = "forest" },
		"1 folds":            func(o *CalibrateOptions) { o.Folds = 1 },
		"step 0.3":           func(o *CalibrateOptions) { o.Step = 0.3 },
		"step 0;":            func(o *CalibrateOptions) { o.Step = 0 },
		"step NaN":           func(o *CalibrateOptions) { o.Step = math.NaN() },
		`no signal "Q"`:      func(o *CalibrateOptions) { o.Signals = []string{"A", "Q"} },
		`no signal "struct"`: func(o *CalibrateOptions) { o.Signals = []string{"struct"} },
	} {
		o := good
		change(&o)
		if _, err := Calibrate(ctx, makeDataset(40), o); !usage.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	d := makeDataset(40)
	for i := range d.Runs {
		d.Runs[i].Model = "only"
	}
	if c, err := Calibrate(ctx, d, good); err != nil || c.Models.Undefined == "" || len(c.Separation.Scores) != 3 {
		t.Errorf("%+v: %v", c.Models, err)
	}
	d = makeDataset(40)
	for i, r := range d.Runs { // all failing runs are in one task
		if r.Outcome == trajectory.Fail {
			d.Runs[i].Task = "failing"
		}
	}
	for _, method := range []string{Grid, Logistic} {
		o := good
		o.Method, o.Folds, o.Signals = method, 9, []string{"A", "V"}
		if c, err := Calibrate(ctx, d, o); err != nil || !strings.Contains(c.Tasks.Undefined, "undefined") || c.Models.Undefined != "" {
			t.Errorf("%+v: %v", c.Tasks, err)
		}
	}
	for i := range d.Runs {
		d.Signals[0].Values[i] = 0.5
	}
	o := good
	o.Method = Logistic
	if _, err := Calibrate(ctx, d, o); err == nil || !strings.Contains(err.Error(), "logistic regression on A, F, V") {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Calibrate(cancelled, makeDataset(40), good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAblateWeights(t *testing.T) {
	d := makeDataset(40)
	d.Signals[2].Weight = 0.02
	a, err := AblateWeights(d, 0.05, stats.Resampling{})
	if err != nil || len(a.Variants) != 6 {
		t.Fatalf("%+v: %v", a, err)
	}
	for i, v := range a.Variants {
		if math.Abs(total(v.Weights)-1) > 1e-12 || slices.Min(v.Weights) < 0 {
			t.Errorf("%s: %v", v.Name, v.Weights)
		}
		if want := *a.Separation.Scores[0].Micro.AUROC - *a.Separation.Scores[i+1].Micro.AUROC; *v.Cost.Micro != want {
			t.Errorf("%s costs %v, want %v", v.Name, *v.Cost.Micro, want)
		}
	}
	// 0.55, 0.25 and 0.02 add up to 0.82; V falls to 0, A and F keep their proportion.
	if v := a.Variants[4]; v.Name != "V -0.05" || v.Weights[2] != 0 || math.Abs(v.Weights[0]/v.Weights[1]-2.2) > 1e-12 {
		t.Errorf("%+v", v)
	}
	if v := a.Variants[1]; math.Abs(v.Weights[0]-(0.55/0.82+0.05)/1.05) > 1e-12 {
		t.Errorf("%+v", v)
	}
	if _, err := AblateWeights(d, -1, fewer); !usage.Is(err) {
		t.Error(err)
	}
	d.Signals[0].Weight, d.Signals[2].Weight = 0, 0
	s, err := AblateSignals(d, stats.Resampling{})
	if err != nil || len(s.Variants) != 5 || s.Variants[0].Name != "without A" || s.Variants[1].Name != "without V" || s.Variants[2].Name != "only A" {
		t.Errorf("%+v: %v", s.Variants, err)
	}
}

func TestPermutations(t *testing.T) {
	for k := 2; k <= 5; k++ {
		all := permutations(k, 0, true, 1, 1)
		seen := map[string]bool{}
		for _, p := range all {
			seen[fmt.Sprint(p)] = true
		}
		if len(all) != factorial(k, 1000) || len(seen) != len(all) || !slices.IsSortedFunc(all, slices.Compare[[]int]) {
			t.Errorf("%d: %v", k, all)
		}
	}
	some := permutations(6, 20, false, 1, 1)
	seen := map[string]bool{}
	for _, p := range some {
		seen[fmt.Sprint(p)] = true
		if !slices.Equal(slices.Sorted(slices.Values(p)), []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("%v", p)
		}
	}
	if len(seen) != 20 || !slices.IsSorted(some[0]) {
		t.Errorf("%v", some)
	}
	if factorial(13, 5040) <= 5040 || choose(60, 30, 100) <= 100 || choose(6, 3, 100) != 20 || choose(3, 3, 1) != 1 {
		t.Error("counts")
	}
}

func random(ids int, pick func(n int) int) profile.Task {
	task := profile.Task{ID: "t"}
	var traces []*trajectory.Trajectory
	for i := range ids {
		outcome := []trajectory.Outcome{trajectory.Pass, trajectory.Pass, trajectory.Fail}[pick(3)]
		if i < 5 {
			outcome = trajectory.Pass
		}
		if i == 5 {
			outcome = trajectory.Fail
		}
		tr := randomrun.New(fmt.Sprintf("run%02d", i), "t", outcome, 1+pick(9), pick)
		traces = append(traces, tr)
		task.Runs = append(task.Runs, profile.Run{ID: tr.ID, Model: tr.Model, Outcome: outcome})
	}
	task.Load = func(i int) (*trajectory.Trajectory, error) { return traces[i], nil }
	return task
}

func anyTask(ids int) *rapid.Generator[profile.Task] {
	return rapid.Custom(func(t *rapid.T) profile.Task {
		return random(ids, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
	})
}

func corpusOf(jobs int, tasks ...profile.Task) Corpus {
	c := Corpus{Jobs: jobs}
	for _, t := range tasks {
		c.Tasks = append(c.Tasks, func() profile.Task { return t })
	}
	return c
}

// Experiments give the same results with any number of workers and in any order of the runs.
func TestExperimentsAreDeterministic(t *testing.T) {
	few := stats.Resampling{Resamples: 5, Seed: 2, Level: 0.95}
	p := paper.DefaultParams()
	p.Draws = 3
	rapid.Check(t, func(t *rapid.T) {
		task := anyTask(9).Draw(t, "task")
		other := anyTask(8).Draw(t, "other")
		other.ID = "u"
		shuffled := task
		at := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}).Draw(t, "order")
		shuffled.Runs = nil
		for _, i := range at {
			shuffled.Runs = append(shuffled.Runs, task.Runs[i])
		}
		shuffled.Load = func(i int) (*trajectory.Trajectory, error) { return task.Load(at[i]) }
		experiments := map[string]func(c Corpus) (any, error){
			"count": func(c Corpus) (any, error) {
				return AblateMergeCount(context.Background(), c, MergeCountOptions{Ks: []int{2, 3}, Draws: 2, Params: p, Sampling: few})
			},
			"order": func(c Corpus) (any, error) {
				return AblateMergeOrder(context.Background(), c.Tasks[0](), MergeOrderOptions{K: 3, Combos: 4, Orders: 4, Params: p, Sampling: few, Jobs: c.Jobs})
			},
			"paper": func(c Corpus) (any, error) { return AblatePaperDonors(context.Background(), c, p, few) },
			"process": func(c Corpus) (any, error) {
				return AblateProcessDonors(context.Background(), c, process.DefaultParams(), 2, few)
			},
			"individual": func(c Corpus) (any, error) {
				return RunBaseline(context.Background(), c, "i", 3, Individual(steps.Clean, 3), few)
			},
		}
		for name, f := range experiments {
			want, err := f(corpusOf(1, task, other))
			got, err2 := f(corpusOf(5, shuffled, other))
			if err := errors.Join(err, err2); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if b, ok := got.(Baseline); ok { // its runs keep their order, and with it the bootstrap's
				got, want = *b.Separation.Scores[0].Micro.AUROC, *want.(Baseline).Separation.Scores[0].Micro.AUROC
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %+v, want %+v", name, got, want)
			}
		}
	})
}

func TestErrorsOfTasksEndTheRun(t *testing.T) {
	broken := random(8, func(int) int { return 0 })
	broken.Load = func(int) (*trajectory.Trajectory, error) { return nil, errors.New("disk on fire") }
	c := corpusOf(2, broken, random(8, func(int) int { return 0 }))
	if _, err := RunBaseline(context.Background(), c, "tfidf", 5, TFIDF(5), fewer); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := AblatePaperDonors(ctx, c, paper.Params{K: 5, Labels: steps.Clean, Weights: paper.Weights{Cov: 1}, Draws: 2}, fewer); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Two sets in two orders, worked out by hand: the runs of the first set's orders have AUROC
// 1 and 0, those of the second 1 and 1.
func TestVariationSplits(t *testing.T) {
	task := &steps.Task{ID: "t"}
	for i, o := range []trajectory.Outcome{trajectory.Pass, trajectory.Pass, trajectory.Pass, trajectory.Fail, trajectory.Unknown} {
		task.Runs = append(task.Runs, steps.Run{Run: profile.Run{ID: fmt.Sprint(i), Model: "m", Outcome: o}})
	}
	scored := func(a, b, c, d float64) []*float64 {
		out := []*float64{nil, nil, nil, nil, some(1)}
		for i, v := range []float64{a, b, c, d} {
			if v >= 0 {
				out[i] = some(v)
			}
		}
		return out
	}
	m := MergeOrder{K: 2, Orders: 2}
	err := m.sumUp(task, [][]int{{0, 1}, {1, 2}}, [][][]*float64{
		{scored(-1, -1, 50, 40), scored(-1, -1, 30, 40)},
		{scored(60, -1, -1, 20), scored(60, -1, -1, 20)},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Set means 0.5 and 1: between 2*(0.25²+0.25²) = 0.25; within 0.5² + 0.5² = 0.5.
	if math.Abs(*m.AUROCSelection-1.0/3) > 1e-12 || math.Abs(*m.AUROCOrder-2.0/3) > 1e-12 {
		t.Errorf("%v %v", *m.AUROCSelection, *m.AUROCOrder)
	}
	// Runs 3 and 4 are in no set; run 3 has means 40 and 20, run 4 always 1.
	if *m.ScoreSelection != 1 || *m.ScoreOrder != 0 {
		t.Errorf("%v %v", *m.ScoreSelection, *m.ScoreOrder)
	}
	if m.Invariant != 1 || m.Perfect != 1 || m.AUROCMean != 0.75 || m.Combos[0].Low != 0 || m.Combos[0].ScoreSD != 5 || !m.Combos[1].Invariant {
		t.Errorf("%+v", m)
	}
	if m.Separation.N != 4 {
		t.Errorf("%+v", m.Separation)
	}
}

func TestMergeOrderRefuses(t *testing.T) {
	task := random(8, func(n int) int { return n % 3 }) // runs of steps; seven pass, one fails
	o := MergeOrderOptions{K: 7, Combos: 1, Orders: 1, Params: paper.DefaultParams(), Sampling: fewer, Jobs: 1}
	if _, err := AblateMergeOrder(context.Background(), task, o); err == nil || !strings.Contains(err.Error(), "take another task, or a smaller k") {
		t.Error(err)
	}
	o.K = 6 // seven sets there are
	o.Combos = 99
	if m, err := AblateMergeOrder(context.Background(), task, o); err != nil || len(m.Combos) != 7 {
		t.Errorf("%+v: %v", m, err)
	}
	for want, change := range map[string]func(*MergeOrderOptions){
		"want k of at least 2":       func(o *MergeOrderOptions) { o.K = 1 },
		"0 combinations":             func(o *MergeOrderOptions) { o.Combos = 0 },
		"ask for a number of orders": func(o *MergeOrderOptions) { o.K, o.Orders = 8, 0 },
		"labels is":                  func(o *MergeOrderOptions) { o.Params.Labels = "mine" },
	} {
		o := o
		change(&o)
		if _, err := AblateMergeOrder(context.Background(), task, o); !usage.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAgreement(t *testing.T) {
	c := taxonomy.Cuts{Ideal: 70, Solid: 40}
	var a agreement
	// Tiers: lucky solid ideal lucky against lucky lucky ideal solid.
	if err := a.add([]float64{10, 50, 80, 39}, []float64{20, 39.9, 70, 40}, c); err != nil {
		t.Fatal(err)
	}
	r := a.result()
	if *r.Flips != 50 || *r.Lucky != 1.0/3 || math.Abs(*r.Difference-(10+10.1+10+1)/4) > 1e-12 || r.Pairs != 1 {
		t.Errorf("%+v", r)
	}
	// Observed 1/2, expected 2/4*2/4 + 1/4*1/4 + 1/4*1/4 = 3/8.
	if math.Abs(*r.Kappa-(0.5-0.375)/0.625) > 1e-12 {
		t.Errorf("kappa %v", *r.Kappa)
	}
	a = agreement{}
	if err := a.add([]float64{50, 51}, []float64{60, 61}, c); err != nil {
		t.Fatal(err)
	}
	if r := a.result(); r.Kappa != nil || r.Lucky != nil || *r.Flips != 0 || r.KappaPairs != 0 {
		t.Errorf("%+v", r)
	}
}

func TestFindTask(t *testing.T) {
	ids := []string{"a", "b", "c"}
	if i, err := FindTask(ids, "b"); i != 1 || err != nil {
		t.Error(i, err)
	}
	if i, err := FindTask(ids[:1], ""); i != 0 || err != nil {
		t.Error(i, err)
	}
	for _, name := range []string{"", "z"} {
		if _, err := FindTask(ids, name); !usage.Is(err) {
			t.Error(err)
		}
	}
}

func BenchmarkCalibrateGrid(b *testing.B) {
	d := goldenDataset(b)
	for b.Loop() {
		if _, err := Calibrate(context.Background(), d, CalibrateOptions{Method: Grid, Step: 0.05, Folds: 50, Sampling: fewer}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMergeCount(b *testing.B) {
	c := release(b)
	for b.Loop() {
		if _, err := AblateMergeCount(context.Background(), c, MergeCountOptions{Ks: []int{2, 3, 4, 5, 6, 7}, Draws: 3, Params: paper.DefaultParams(), Sampling: fewer}); err != nil {
			b.Fatal(err)
		}
	}
}
