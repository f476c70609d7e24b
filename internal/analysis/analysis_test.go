package analysis

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
)

// frame reads CSV.
func frame(t testing.TB, text string) *tabular.Frame {
	t.Helper()
	f, err := tabular.Load(t.Context(), tabular.Input{Path: "-", Stdin: strings.NewReader(text), Missing: tabular.DefaultMissing()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// value is the figure of that name; it fails the test when there is none.
func value(t testing.TB, r Result, name string) float64 {
	t.Helper()
	for _, f := range r.Figures {
		if f.Name == name {
			switch v := f.Value.(type) {
			case float64:
				return v
			case int:
				return float64(v)
			}
			t.Fatalf("%s is %v (%s)", name, f.Value, f.Undefined)
		}
	}
	t.Fatalf("no figure %s in %+v", name, r.Figures)
	return 0
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

var byLabel = Binary{Score: "score", Label: "passed"}

func TestLeftOut(t *testing.T) {
	f := frame(t, `score,passed,task
3,true,a
,true,a
1,unknown,b
2,,b
0,no,
1,False,a
NA,,b
`)
	r, err := AUROC(f, byLabel, []string{"task"}, stats.Resampling{Level: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(r.Used, r.LeftOut)
	if want := "2 [{without score 2} {passed unknown 2} {without task 1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTruth(t *testing.T) {
	for text, want := range map[string]string{
		"TRUE": "true", "Yes": "true", "pass": "true", "PASSED": "true", "1": "true", "t": "true",
		"0": "false", "fail": "false", "Failed": "false", "n": "false", "unresolved": "false",
		"unknown": "unknown", "maybe": "error", "2": "error", "": "error",
	} {
		positive, known, err := Truth(text)
		got := fmt.Sprint(positive)
		switch {
		case err != nil:
			got = "error"
		case !known:
			got = "unknown"
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestDataErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		b    Binary
		want string
	}{
		"label":    {"score,passed\n1,true\n2,maybe\n", byLabel, `line 3: column passed: unusable value: "maybe"`},
		"text":     {"score,passed\n1,true\nx,true\n", byLabel, `column score holds text, want numbers; line 3 has "x"`},
		"infinite": {"score,passed\n1,true\ninf,true\n", byLabel, "line 3: column score is +Inf"},
		"positive": {"score,passed\n1,a\n2,b\n", Binary{"score", "passed", "c"}, `no passed is "c"; its values are a, b`},
	} {
		_, err := AUROC(frame(t, tc.text), tc.b, nil, stats.Resampling{Level: 0.95})
		if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

func TestPositiveValue(t *testing.T) {
	f := frame(t, "score,passed\n1,ideal\n2,solid\n3,ideal\n4,lucky\n")
	r, err := AUROC(f, Binary{"score", "passed", "ideal"}, nil, stats.Resampling{Level: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	if got := value(t, r, "auroc"); got != 0.25 {
		t.Errorf("%v, want 1 of 4 pairs", got)
	}
}

// TestUndefined gives each analysis rows it can't compute anything from.
func TestUndefined(t *testing.T) {
	one := frame(t, "score,passed\n1,true\n2,true\n")
	none := frame(t, "score,passed\n")
	r := stats.Resampling{Level: 0.95}
	for name, analyse := range map[string]func(f *tabular.Frame) (Result, error){
		"auroc":  func(f *tabular.Frame) (Result, error) { return AUROC(f, byLabel, nil, r) },
		"roc":    func(f *tabular.Frame) (Result, error) { return ROC(f, byLabel, false) },
		"youden": func(f *tabular.Frame) (Result, error) { return Youden(f, byLabel, stats.HighestThreshold, 0.95) },
		"ks":     func(f *tabular.Frame) (Result, error) { return KS(f, byLabel, stats.TwoSided, stats.KSAuto) },
		"mannwhitney": func(f *tabular.Frame) (Result, error) {
			return MannWhitney(f, byLabel, stats.TwoSided, stats.RankAuto, true)
		},
		"chi2": func(f *tabular.Frame) (Result, error) { return ChiSquare(f, "score", "passed", true, r) },
	} {
		for _, f := range []*tabular.Frame{one, none} {
			res, err := analyse(f)
			if err != nil {
				t.Errorf("%s of %d rows: %v", name, f.Rows(), err)
				continue
			}
			if res.Computed() || res.FirstUndefined() == "" {
				t.Errorf("%s of %d rows: computed %v, undefined %q", name, f.Rows(), res.Computed(), res.FirstUndefined())
			}
			if _, err := json.Marshal(res); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, analyse := range map[string]func() (Result, error){
		"confusion": func() (Result, error) { return Confusion(none, byLabel, 1, 0.95) },
		"describe":  func() (Result, error) { return Describe(none, []string{"score"}) },
		"correlate": func() (Result, error) {
			return Correlate(frame(t, "a,b\n1,1\n1,2\n"), []string{"a", "b"}, CorrelationKinds())
		},
		"kappa": func() (Result, error) {
			return Kappa(frame(t, "a,b\n"), Raters{Columns: []string{"a", "b"}}, stats.Unweighted, 0.95)
		},
		"kappa of one category": func() (Result, error) {
			res, err := Kappa(frame(t, "a,b\nx,x\nx,x\n"), Raters{Columns: []string{"a", "b"}}, stats.Unweighted, 0.95)
			for _, f := range res.Figures {
				if strings.Contains(f.Name, "kappa") && f.Name != "randolph_kappa" && f.Value != nil {
					return res, fmt.Errorf("%s is %v", f.Name, f.Value)
				}
			}
			return Result{Figures: []Figure{{Name: "kappa", Undefined: "x"}}}, err
		},
	} {
		res, err := analyse()
		if err != nil || res.Computed() || res.FirstUndefined() == "" {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

// TestAgainstStats compares the figures of random rows, some without values, with those of
// package stats over the rows that have them.
func TestAgainstStats(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n := rapid.IntRange(0, 40).Draw(rt, "n")
		text := "score,passed,task,model\n"
		var scores []float64
		var positive []bool
		var task, model []string
		for range n {
			score, label := rng.IntN(6), rng.IntN(2) == 0
			tk, m := fmt.Sprint("t", rng.IntN(3)), fmt.Sprint("m", rng.IntN(2))
			if rng.IntN(8) == 0 {
				text += fmt.Sprintf(",%t,%s,%s\n", label, tk, m)
				continue
			}
			text += fmt.Sprintf("%d,%t,%s,%s\n", score, label, tk, m)
			scores, positive = append(scores, float64(score)), append(positive, label)
			task, model = append(task, tk), append(model, m)
		}
		f := frame(t, text)
		if n == 0 || len(scores) == 0 {
			return
		}
		r := stats.Resampling{Resamples: 20, Seed: 3, Level: 0.9}
		res, err := AUROC(f, byLabel, []string{"task", "model"}, r)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := stats.Separate(scores, positive, task, model, r)
		if err != nil {
			if res.Computed() {
				rt.Fatalf("%v but %+v", err, res.Figures)
			}
			return
		}
		for name, sep := range map[string]stats.Separated{
			"auroc_bootstrap": want.Micro, "macro": want.Macro, "within_task": want.WithinTask,
			"within_model": want.WithinModel, "within_task_model": want.WithinTaskModel,
		} {
			for _, fig := range res.Figures {
				if fig.Name != name {
					continue
				}
				if (fig.Value != nil) != sep.AUROC.Defined() || fig.Value != nil && fig.Value != sep.AUROC.Value {
					rt.Fatalf("%s is %v, want %v", name, fig.Value, sep.AUROC)
				}
			}
		}
		m, err := MannWhitney(f, byLabel, stats.TwoSided, stats.RankAuto, true)
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := value(t, m, "common_language"), value(t, res, "auroc"); !near(got, want) {
			rt.Fatalf("common language %v, AUROC %v", got, want)
		}
		y, err := Youden(f, byLabel, stats.HighestThreshold, 0.9)
		if err != nil {
			rt.Fatal(err)
		}
		c, err := Confusion(f, byLabel, value(t, y, "threshold"), 0.9)
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := value(t, c, "j"), value(t, y, "j"); !near(got, want) {
			rt.Fatalf("J at the threshold is %v, want %v", got, want)
		}
		k, err := KS(f, byLabel, stats.TwoSided, stats.KSExact)
		if err != nil {
			rt.Fatal(err)
		}
		if got := value(t, k, "d"); got != want.KS {
			rt.Fatalf("D %v, want %v", got, want.KS)
		}
	})
}

// TestSplit compares each part with a frame of its rows alone.
func TestSplit(t *testing.T) {
	f := frame(t, "score,passed,k\n1,0,10\n3,1,9\n2,1,10\n5,0,\n0,0,9\n4,1,10\n")
	analyse := func(f *tabular.Frame) (Result, error) { return AUROC(f, byLabel, nil, stats.Resampling{Level: 0.95}) }
	parts, without, err := Split(f, "k", analyse)
	if err != nil {
		t.Fatal(err)
	}
	if without != 1 || len(parts) != 2 || *parts[0].By != "9" || *parts[1].By != "10" || parts[1].Rows != 3 {
		t.Fatalf("%d without, %+v", without, parts)
	}
	for _, p := range parts {
		if value(t, p, "auroc") != 1 {
			t.Errorf("%s: %v", *p.By, p.Figures)
		}
	}
}

func TestChiSquareLeastCounts(t *testing.T) {
	f := frame(t, "x,y\na,p\na,q\nb,p\nb,q\nb,q\n,p\n")
	r, err := ChiSquare(f, "x", "y", true, stats.Resampling{Resamples: 50, Seed: 1, Level: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "4 of 4 cells have an expected count below 5") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if got := fmt.Sprint(r.Tables[0].Rows); got != "[[a 1 1] [b 1 2]]" {
		t.Errorf("observed %s", got)
	}
	want, err := stats.ChiSquare([][]int{{1, 1}, {1, 2}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if value(t, r, "chi2") != want.Statistic || value(t, r, "p") != want.P || value(t, r, "permutation_p") <= 0 {
		t.Errorf("%+v", r.Figures)
	}
}

// TestKappaShapes gives the same ratings as columns and as rows.
func TestKappaShapes(t *testing.T) {
	wideText := "a,b\nx,x\ny,x\nx,x\nz,z\ny,\n"
	longText := "s,r,l\n1,a,x\n1,b,x\n2,a,y\n2,b,x\n3,b,x\n3,a,x\n4,a,z\n4,b,z\n5,a,y\n"
	w, err := Kappa(frame(t, wideText), Raters{Columns: []string{"a", "b"}}, stats.Unweighted, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Kappa(frame(t, longText), Raters{Subject: "s", Rater: "r", Rating: "l"}, stats.Unweighted, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(w)
	b, _ := json.Marshal(l)
	if string(a) != string(b) {
		t.Errorf("wide %s\nlong %s", a, b)
	}
	cohen, err := stats.CohenLabels([]string{"x", "y", "x", "z"}, []string{"x", "x", "x", "z"}, stats.Unweighted)
	if err != nil {
		t.Fatal(err)
	}
	if got := value(t, w, "cohen_kappa"); got != cohen.Kappa {
		t.Errorf("Cohen's kappa %v, want %v", got, cohen.Kappa)
	}
	_, err = Kappa(frame(t, longText+"4,b,z\n"), Raters{Subject: "s", Rater: "r", Rating: "l"}, stats.Unweighted, 0.95)
	if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "line 9 and line 11 are both ratings of s 4 by r b") {
		t.Errorf("a rating given twice: %v", err)
	}
}

// TestKappaOrder has categories whose order by number is not that by name.
func TestKappaOrder(t *testing.T) {
	r, err := Kappa(frame(t, "a,b\n2,10\n10,10\n9,9\n2,2\n9,10\n"), Raters{Columns: []string{"a", "b"}}, stats.Linear, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	want, err := stats.CohenKappa([][]int{{1, 0, 1}, {0, 1, 1}, {0, 0, 1}}, stats.Linear) // 2, 9, 10
	if err != nil {
		t.Fatal(err)
	}
	if got := value(t, r, "cohen_kappa"); got != want.Kappa {
		t.Errorf("%v, want %v", got, want.Kappa)
	}
}

func TestDescribe(t *testing.T) {
	r, err := Describe(frame(t, "x,s,one\n1,b,5\n2,a,\n3,a,\n4,,\n10,c,\n,c,\n"), []string{"x", "s", "one"})
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Tables[0].Rows
	if rows[0][9] != 3.0 || rows[0][8] != 2.0 || rows[0][5] != 4.0 || rows[0][3] != 1 {
		t.Errorf("x: %v", rows[0])
	}
	if got := fmt.Sprint(rows[1][2:5], rows[1][14:16]); got != "[5 1 3] [a 2]" {
		t.Errorf("s: %v", got)
	}
	if rows[2][6] != nil || rows[2][16] == nil {
		t.Errorf("one value has no deviation: %v", rows[2])
	}
}

func TestCheck(t *testing.T) {
	paper := Reported{AUROC: "0.766", KSP: "0.0017", Positive: 1136, Negative: 679}
	for name, tc := range map[string]struct {
		rep  Reported
		want string // in the warning, "" for none
	}{
		"the paper's pair":        {paper, "p 0.0017 does not belong"},
		"a smaller sample":        {Reported{AUROC: "0.766", KSP: "0.0017", Positive: 66, Negative: 66}, ""},
		"distance too small":      {Reported{AUROC: "0.900", KSD: "0.3"}, "D would lie between 0.55"},
		"distance too large":      {Reported{AUROC: "0.9", KSD: "0.96"}, "cannot come from the same rows"},
		"distance at the bound":   {Reported{AUROC: "0.875", KSD: "0.5"}, ""},
		"inverted score":          {Reported{AUROC: "0.1", KSD: "0.3"}, "D would lie between"},
		"rounding is allowed":     {Reported{AUROC: "0.88", KSD: "0.5"}, ""},
		"p of a distance":         {Reported{KSD: "0.322", KSP: "8.05e-40", Positive: 1136, Negative: 679}, ""},
		"p not of the distance":   {Reported{KSD: "0.322", KSP: "0.001", Positive: 1136, Negative: 679}, "p 0.001 does not belong"},
		"chi-square":              {Reported{Chi2: "102.47", DoF: 28, Chi2P: "2.0e-10", CramerV: "0.458", Rows: 122, MinDim: 5}, ""},
		"V of another chi-square": {Reported{Chi2: "102.47", CramerV: "0.500", Rows: 122, MinDim: 5}, "V 0.500 does not belong"},
		"p of another chi-square": {Reported{Chi2: "102.47", DoF: 28, Chi2P: "0.01"}, "p 0.01 does not belong"},
	} {
		r, err := Check(tc.rep)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := strings.Join(r.Warnings, "; ")
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	r, err := Check(paper)
	if err != nil {
		t.Fatal(err)
	}
	if d := value(t, r, "d_least"); math.Abs(d-0.316) > 0.001 {
		t.Errorf("AUROC 0.766 forces D >= %v, want about 0.316", d)
	}
	if d := value(t, r, "d_of_p"); math.Abs(d-0.091) > 0.001 {
		t.Errorf("p 0.0017 needs D %v, want about 0.091", d)
	}
	for _, bad := range []Reported{{}, {AUROC: "0.7"}, {AUROC: "x", KSD: "0.1"}, {AUROC: "1.2", KSD: "0.1"}, {KSP: "0.1"}, {Chi2: "3", Chi2P: "0.1"}, {Chi2: "3", CramerV: "0.1"}} {
		if _, err := Check(bad); !errors.Is(err, ErrData) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestCheckAcceptsData rounds figures of random rows and checks them against each other.
func TestCheckAcceptsData(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(rt, "n")
		scores := rapid.SliceOfN(rapid.IntRange(0, 9), n, n).Draw(rt, "scores")
		text := "score,passed\n0,true\n1,false\n"
		for i, s := range scores {
			text += fmt.Sprintf("%d,%t\n", s, i%3 == 0)
		}
		k, err := KS(frame(t, text), byLabel, stats.TwoSided, stats.KSAsymptotic)
		if err != nil {
			rt.Fatal(err)
		}
		r, err := Check(Reported{
			AUROC: fmt.Sprintf("%.2f", value(t, k, "auroc")), KSD: fmt.Sprintf("%.3f", value(t, k, "d")),
			KSP: fmt.Sprintf("%.3e", value(t, k, "p")), Positive: int(value(t, k, "n_positive")), Negative: int(value(t, k, "n_negative")),
		})
		if err != nil {
			rt.Fatal(err)
		}
		if len(r.Warnings) > 0 {
			rt.Fatalf("%v\n%s", r.Warnings, text)
		}
	})
}

func TestWriters(t *testing.T) {
	f := frame(t, "score,passed,m\n3,1,\n3,1,A\n1,0,a\n2,1,a\n3,1,b\n")
	results, without, err := Split(f, "m", func(f *tabular.Frame) (Result, error) { return ROC(f, byLabel, false) })
	if err != nil {
		t.Fatal(err)
	}
	rep := Report{Analysis: "roc", Input: "x", By: "m", Without: without, Results: results}
	var text, table strings.Builder
	if err := rep.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m A\n", "m b\n", "1 rows in no result", "undefined: both classes", "+Inf       0    0    0   0\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if err := rep.WriteCSV(&table); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil {
		t.Fatalf("%v in\n%s", err, table.String())
	}
	if got := fmt.Sprint(rows[:2]); got != "[[m threshold fpr tpr fp tp] [a +Inf 0 0 0 0]]" {
		t.Error(got)
	}
	raw, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Without int `json:"rows_without_by"`
		Results []struct {
			By        string
			Figures   map[string]*float64
			Undefined map[string]string
			Points    []struct{ Threshold *float64 }
		}
	}
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	if len(rows) != 4 { // no point of the groups without a curve
		t.Errorf("%d rows: %v", len(rows), rows)
	}
	if back.Without != 1 {
		t.Errorf("%d rows without m", back.Without)
	}
	if a, b := back.Results[1], back.Results[2]; *a.Figures["auroc"] != 1 || a.Points[0].Threshold != nil || *a.Points[1].Threshold != 2 ||
		b.Figures["auroc"] != nil || b.Undefined["auroc"] == "" {
		t.Errorf("%s", raw)
	}
}

func BenchmarkAUROC(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	text.WriteString("score,passed\n")
	for range 100_000 {
		fmt.Fprintf(&text, "%.6f,%t\n", rng.Float64(), rng.IntN(3) > 0)
	}
	f := frame(b, text.String())
	for b.Loop() {
		if _, err := AUROC(f, byLabel, nil, stats.Resampling{Level: 0.95}); err != nil {
			b.Fatal(err)
		}
	}
}
