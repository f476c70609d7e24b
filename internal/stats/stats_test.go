package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// Values below are worked out by hand, or are the textbook examples named beside them, so
// that these tests mean something without the expected-results files.

func labels(s string) []bool {
	out := make([]bool, len(s))
	for i, c := range s {
		out[i] = c == '+'
	}
	return out
}

func TestAUROCByHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		score []float64
		y     string
		want  float64
	}{
		{"one tie in four pairs", []float64{1, 2, 2, 3}, "--++", 3.5 / 4},
		{"perfect", []float64{1, 2, 3, 4}, "--++", 1},
		{"inverted", []float64{4, 3, 2, 1}, "--++", 0},
		{"all equal", []float64{7, 7, 7}, "-++", 0.5},
		{"infinities are ordered", []float64{math.Inf(-1), 0, math.Inf(1)}, "-++", 1},
		{"negative zero ties with zero", []float64{math.Copysign(0, -1), 0}, "-+", 0.5},
	} {
		got, err := AUROC(c.score, labels(c.y))
		wantFigure(t, c.name, got, err, c.want, 0)
	}
}

func TestDeLongByHand(t *testing.T) {
	// Placements of the positives 2, 4: 1/2, 1; of the negatives 1, 3: 1, 1/2.
	d, err := DeLong([]float64{2, 4, 1, 3}, labels("++--"))
	wantFigure(t, "AUROC", d.AUROC, err, 0.75, 0)
	want(t, "variance", d.Variance, 0.125/2+0.125/2, 1e-15)
	iv, err := d.Interval(0.95)
	wantFigure(t, "low", iv.Low, err, 0.75-1.959963984540054*math.Sqrt(0.125), 1e-14)
	want(t, "high", iv.High, 1, 0)

	c, err := DeLongTest([]float64{2, 4, 1, 3}, []float64{1, 2, 3, 4}, labels("++--"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "difference", c.Difference, 0.75, 0)
	want(t, "variance of a score without spread in placements", c.B.Variance, 0, 0)
	want(t, "z", c.Z, 0.75/math.Sqrt(0.125), 1e-15)
	want(t, "p", c.P, math.Erfc(1.5), 1e-14)
}

func TestStratifiedByHand(t *testing.T) {
	score := []float64{1, 2, 5, 4, 9, 9}
	y := labels("-+-+++")
	task := []string{"a", "a", "b", "b", "c", "c"}
	p, err := AUROCWithin(score, y, task)
	wantFigure(t, "within", p.AUROC, err, 0.5, 0)
	if p.Pairs != 2 || p.Cells != 2 {
		t.Errorf("got %d pairs in %d cells, want 2 in 2", p.Pairs, p.Cells)
	}
	m, err := AUROCMacro(score, y, task)
	wantFigure(t, "macro", m.AUROC, err, 0.5, 0)
	if m.Groups != 2 || m.Left != 1 {
		t.Errorf("got %d groups and %d left out, want 2 and 1", m.Groups, m.Left)
	}
	whole, err := AUROCWithin(score, y)
	wantFigure(t, "no keys", whole.AUROC, err, 6.0/8, 0)
	if whole.Pairs != 8 || whole.Cells != 1 {
		t.Errorf("got %d pairs in %d cells, want 8 in 1", whole.Pairs, whole.Cells)
	}
}

func TestYoudenRules(t *testing.T) {
	score, y := []float64{1, 2, 3, 4}, labels("-+-+")
	high, err := Youden(score, y, HighestThreshold)
	wantFigure(t, "highest", high.Threshold, err, 4, 0)
	low, err := Youden(score, y, LowestThreshold)
	wantFigure(t, "lowest", low.Threshold, err, 2, 0)
	if high.Ties != 2 || low.Ties != 2 || high.J != 0.5 || low.J != 0.5 {
		t.Errorf("got %+v and %+v, want J 0.5 with 2 ties", high, low)
	}
	worst, err := Youden([]float64{4, 3, 2, 1}, labels("--++"), HighestThreshold)
	wantFigure(t, "no better than chance: everything is predicted positive", worst.Threshold, err, 1, 0)
	if worst.J != 0 || worst.Ties != 2 {
		t.Errorf("got %+v, want J 0 at two points of the curve", worst)
	}
}

func TestPrecisionRecallByHand(t *testing.T) {
	points, err := PrecisionRecall([]float64{1, 2, 3, 4}, labels("-+-+"))
	if err != nil {
		t.Fatal(err)
	}
	expected := []PRPoint{{4, 1, 0.5}, {3, 0.5, 0.5}, {2, 2.0 / 3, 1}, {1, 0.5, 1}}
	if !slices.Equal(points, expected) {
		t.Errorf("got %v, want %v", points, expected)
	}
	ap, err := AveragePrecision([]float64{1, 2, 3, 4}, labels("-+-+"))
	wantFigure(t, "AP", ap, err, 0.5+0.5*2/3, 1e-15)
}

func TestConfusionByHand(t *testing.T) {
	c, err := Confuse([]float64{5, 5, 4, 1, 1}, labels("+-+--"), 4)
	if err != nil {
		t.Fatal(err)
	}
	if c != (Confusion{4, 2, 1, 2, 0}) {
		t.Fatalf("got %+v", c)
	}
	for _, f := range []struct {
		name string
		f    func() (float64, error)
		want float64
	}{
		{"accuracy", c.Accuracy, 0.8}, {"precision", c.Precision, 2.0 / 3}, {"recall", c.Recall, 1},
		{"F1", c.F1, 0.8}, {"negative F1", c.Swap().F1, 0.8}, {"macro", c.MacroF1, 0.8},
		{"weighted", c.WeightedF1, 0.8}, {"J", c.J, 2.0 / 3},
	} {
		got, err := f.f()
		wantFigure(t, f.name, got, err, f.want, 1e-15)
	}
	none, err := Confuse([]float64{1, 2}, labels("--"), 3)
	if err != nil {
		t.Fatal(err)
	}
	got, err := none.WeightedF1()
	wantFigure(t, "weighted F1 ignores a class without rows", got, err, 1, 0)
}

func TestKSByHand(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5}, []float64{3, 4, 5, 6, 7}
	for _, c := range []struct {
		alt    Alternative
		method KSMethod
		d, p   float64
	}{
		{TwoSided, KSAuto, 0.4, 55.0 / 63},                      // 1 - (lattice paths inside the band)/C(10,5)
		{Greater, KSExact, 0.4, 120.0 / 252},                    // C(10,7)/C(10,5), by reflection
		{TwoSided, KSAsymptotic, 0.4, 0.82},                     // P(D_2 >= 0.4) = 1 - 2(2d-1/2)²
		{Greater, KSLimit, 0.4, math.Exp(-2 * 2.5 * 0.4 * 0.4)}, // exp(-2x²), x = sqrt(25/10)*D
		{Greater, KSAsymptotic, 0.4, math.Exp(-0.8 - 0.4)},      // Hodges: x² = 0.4, correction 2x*15/sqrt(250)/3
		{Less, KSExact, 0, 1},
	} {
		res, err := KS(a, b, c.alt, c.method)
		name := fmt.Sprint(c.alt, c.method)
		wantFigure(t, name+" p", res.P, err, c.p, 1e-13)
		want(t, name+" D", res.D, c.d, 0)
	}
	res, err := KS(a, b, TwoSided, KSAuto)
	if err != nil || res.Method.String() != "exact" || res.Location != 2 || res.Sign != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
	want(t, "critical value of the Kolmogorov table", KolmogorovSF(1.358098963959966), 0.05, 1e-5)
}

func TestChiSquareByHand(t *testing.T) {
	table := [][]int{{10, 20}, {30, 40}}
	res, err := ChiSquare(table, false)
	wantFigure(t, "chi2", res.Statistic, err, 4.0/12+4.0/18+4.0/28+4.0/42, 1e-15)
	want(t, "p of one degree of freedom", res.P, math.Erfc(math.Sqrt(res.Statistic/2)), 1e-12)
	if res.DoF != 1 || res.N != 100 || res.LowCells != 0 || res.MinExpected != 12 || res.Yates {
		t.Errorf("got %+v", res)
	}
	yates, err := ChiSquare(table, true)
	wantFigure(t, "Yates", yates.Statistic, err, 1.5*1.5*(1.0/12+1.0/18+1.0/28+1.0/42), 1e-14)
	wide, err := ChiSquare([][]int{{1, 2, 3}, {3, 2, 1}}, true)
	if err != nil || wide.Yates || wide.LowCells != 6 {
		t.Errorf("got %+v, %v; want no correction above one degree of freedom and six low cells", wide, err)
	}
	a, err := Associate([][]int{{5, 0}, {0, 5}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "V", a.CramerV.Value, 1, 0)
	want(t, "V corrected", a.CramerVCorrected.Value, 1, 1e-15)
	want(t, "T", a.TschuprowT.Value, 1, 0)
	want(t, "C", a.PearsonC, math.Sqrt(0.5), 1e-15)
	kept, rows, cols := DropEmpty([][]int{{0, 0, 0}, {1, 0, 2}, {3, 0, 0}})
	if fmt.Sprint(kept, rows, cols) != "[[1 2] [3 0]] [1 2] [0 2]" {
		t.Errorf("DropEmpty: %v %v %v", kept, rows, cols)
	}
}

func TestPermutationP(t *testing.T) {
	// With both margins (3, 3) only 2 of C(6,3) = 20 pairings are as extreme: p = 0.1.
	r := Resampling{Resamples: 20_000, Seed: 7}
	res, err := ChiSquarePermutation([][]int{{3, 0}, {0, 3}}, r)
	if err != nil {
		t.Fatal(err)
	}
	if sd := math.Sqrt(0.1 * 0.9 / 20_000); math.Abs(res.P-0.1) > 4*sd {
		t.Errorf("p = %v, want 0.1 within %v", res.P, 4*sd)
	}
	r.Workers = 3
	again, err := ChiSquarePermutation([][]int{{3, 0}, {0, 3}}, r)
	if err != nil || again != res {
		t.Errorf("three workers gave %+v, %v, not %+v", again, err, res)
	}
	even, err := ChiSquarePermutation([][]int{{2, 2}, {2, 2}}, r)
	if err != nil || even.P != 1 {
		t.Errorf("independent table: %+v, %v", even, err)
	}
}

func TestFleiss1971(t *testing.T) {
	// The example of Fleiss (1971) as reproduced in textbooks: 10 subjects, 14 raters.
	a, err := NewAgreement([][]int{
		{0, 0, 0, 0, 14}, {0, 2, 6, 4, 2}, {0, 0, 3, 5, 6}, {0, 3, 9, 2, 0}, {2, 2, 8, 1, 1},
		{7, 7, 0, 0, 0}, {3, 2, 6, 3, 0}, {2, 5, 3, 2, 2}, {6, 5, 2, 1, 0}, {0, 2, 2, 3, 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	kappa, err := a.FleissKappa()
	wantFigure(t, "kappa", kappa, err, 0.2099, 3e-4)
	want(t, "raw", a.Raw(), 0.378, 1e-4)
	want(t, "chance", a.Chance(), 0.213, 2e-3)
	want(t, "unanimous", a.Unanimous(), 0.1, 0)
	if a.Subjects() != 10 || a.Raters() != 14 {
		t.Errorf("%d subjects, %d raters", a.Subjects(), a.Raters())
	}
}

func TestFleissSEByHand(t *testing.T) {
	// Shares 3/4, 1/4; kappa -1/3; the linearised values lie 4/9 above and below it.
	a, err := NewAgreement([][]int{{2, 0}, {1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	kappa, err := a.FleissKappa()
	wantFigure(t, "kappa", kappa, err, -1.0/3, 1e-14)
	se, err := a.FleissSE()
	wantFigure(t, "SE", se, err, 4.0/9, 1e-14)
	iv, err := a.FleissInterval(0.95)
	wantFigure(t, "low", iv.Low, err, -1.0/3-1.959963984540054*4/9, 1e-14)
}

func TestKrippendorffByHand(t *testing.T) {
	// Units aa, ab, bb and a lone rating. Do = 2/6, De = 2*3*3/(6*5).
	alpha, err := Krippendorff([][]int{{2, 0}, {1, 1}, {0, 2}, {1, 0}})
	wantFigure(t, "alpha", alpha, err, 1-(2.0/6)/(18.0/30), 1e-15)
}

func TestCohenByHand(t *testing.T) {
	res, err := CohenKappa([][]int{{20, 5}, {10, 15}}, Unweighted)
	wantFigure(t, "kappa", res.Kappa, err, 0.4, 1e-14)
	want(t, "raw", res.Raw, 0.7, 1e-15)
	want(t, "chance", res.Chance, 0.5, 1e-15)
	// The formulas of Fleiss, Cohen and Everitt: A = .10972, B = .10188, C = .01.
	want(t, "SE", res.SE, math.Sqrt((0.10972+0.10188-0.01)/(50*0.25)), 1e-12)
	want(t, "null SE", res.Null.SE, math.Sqrt((0.5+0.25-(0.3*1.1+0.2*0.9))/(50*0.25)), 1e-12)
	label, err := CohenLabels([]string{"x", "y", "y"}, []string{"x", "y", "z"}, Unweighted)
	wantFigure(t, "labels", label.Kappa, err, (2.0/3-1.0/3)/(1-1.0/3), 1e-14)
	constantRater, err := CohenKappa([][]int{{3, 1}, {0, 0}}, Unweighted)
	if err != nil || constantRater.Kappa != 0 || constantRater.Null != nil {
		t.Errorf("one rater uses one category: %+v, %v", constantRater, err)
	}
}

func TestMannWhitneyByHand(t *testing.T) {
	res, err := MannWhitney([]float64{1, 2, 3}, []float64{4, 5, 6}, TwoSided, RankAuto, true)
	wantFigure(t, "p", res.P, err, 2.0/20, 1e-15)
	if res.Method != RankExact || res.U != 0 || res.CommonLang != 0 || res.RankBiserial != -1 {
		t.Errorf("got %+v", res)
	}
	tied, err := MannWhitney([]float64{1, 2, 3}, []float64{3, 5, 6}, TwoSided, RankAuto, true)
	if err != nil || tied.Method != RankAsymptotic || !tied.Ties || tied.U != 0.5 {
		t.Errorf("got %+v, %v", tied, err)
	}
}

func TestKruskalOfTwoGroupsIsMannWhitney(t *testing.T) {
	a, b := []float64{1, 4, 4, 9, 7}, []float64{2, 4, 11, 12}
	h, err := Kruskal(a, b)
	if err != nil {
		t.Fatal(err)
	}
	u, err := MannWhitney(a, b, TwoSided, RankAsymptotic, false)
	wantFigure(t, "p", h.P, err, u.P, 1e-12)
}

func TestCorrelationsByHand(t *testing.T) {
	x, y := []float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}
	p, err := Pearson(x, y)
	wantFigure(t, "Pearson", p.R, err, 0.8, 1e-15)
	want(t, "Pearson p: with 2 degrees of freedom 1-|r|", p.P, 0.2, 1e-12)
	s, err := Spearman([]float64{10, 20, 30, 400}, y)
	wantFigure(t, "Spearman", s.R, err, 0.8, 1e-15)
	k, err := Kendall(x, y)
	wantFigure(t, "Kendall", k.R, err, 4.0/6, 1e-15)
	want(t, "Kendall p: 2*(1+3)/4!", k.P, 8.0/24, 1e-15)
	tied, err := Kendall([]float64{1, 1, 2}, []float64{1, 2, 2})
	wantFigure(t, "tau with ties", tied.R, err, 0.5, 1e-15)
	want(t, "its p: S = 1 with variance 2", tied.P, math.Erfc(0.5), 1e-12)
	two, err := Pearson([]float64{1, 2}, []float64{5, 3})
	if err != nil || two.R != -1 || two.P != 1 {
		t.Errorf("two rows: %+v, %v", two, err)
	}
}

func TestAdjustByHand(t *testing.T) {
	p := []float64{0.04, 0.01, 0.02}
	for name, c := range map[string]struct {
		f    func([]float64) ([]float64, error)
		want []float64
	}{
		"Holm":       {Holm, []float64{0.04, 0.03, 0.04}},
		"BH":         {BenjaminiHochberg, []float64{0.04, 0.03, 0.03}},
		"BY":         {BenjaminiYekutieli, []float64{0.04 * 11 / 6, 0.03 * 11 / 6, 0.03 * 11 / 6}},
		"Bonferroni": {Bonferroni, []float64{0.12, 0.03, 0.06}},
	} {
		got, err := c.f(p)
		if err != nil {
			t.Fatal(err)
		}
		wantAll(t, name, got, c.want, 1e-14)
	}
	if got, err := Holm(nil); err != nil || len(got) != 0 {
		t.Errorf("no p-values: %v, %v", got, err)
	}
}

func TestWilsonByHand(t *testing.T) {
	iv, err := Wilson(0, 10, 0.95)
	z2 := 1.959963984540054 * 1.959963984540054
	wantFigure(t, "high of none", iv.High, err, z2/(10+z2), 1e-14)
	want(t, "low of none", iv.Low, 0, 0)
}

func TestDescribeByHand(t *testing.T) {
	d, err := Describe([]float64{4, 1, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "mean", d.Mean, 2.5, 0)
	want(t, "sd", d.SD.Value, math.Sqrt(5.0/3), 1e-15)
	wantAll(t, "quartiles", []float64{d.Min, d.Q25, d.Median, d.Q75, d.Max}, []float64{1, 1.75, 2.5, 3.25, 4}, 0)
	want(t, "skew", d.Skew.Value, 0, 0)
	want(t, "kurtosis", d.Kurtosis.Value, 2.5625/(1.25*1.25)-3, 1e-14)
	one, err := Describe([]float64{3})
	if err != nil || one.SD.Defined() || one.Skew.Defined() || one.Median != 3 {
		t.Errorf("one value: %+v, %v", one, err)
	}
	eta, err := EtaSquared([]float64{1, 2, 5, 6}, []string{"a", "a", "b", "b"})
	wantFigure(t, "eta squared", eta, err, 16.0/17, 1e-15)
}

func TestJensenShannonByHand(t *testing.T) {
	d, err := JensenShannon([]float64{1, 1}, []float64{2, 0})
	// H(3/4, 1/4) - (H(1/2, 1/2) + H(1))/2
	wantFigure(t, "JSD", d, err, 2-0.75*math.Log2(3)-0.5, 1e-14)
}

func TestUndefined(t *testing.T) {
	one := []float64{1, 2, 3}
	pass := labels("+++")
	keys := []string{"a", "b", "c"}
	r := Resampling{Resamples: 10, Level: 0.95}
	for name, f := range map[string]func() error{
		"AUROC of one class": func() error { _, err := AUROC(one, pass); return err },
		"AUROC of nothing":   func() error { _, err := AUROC(nil, nil); return err },
		"DeLong of one each": func() error { _, err := DeLong(one[:2], labels("+-")); return err },
		"DeLong interval":    func() error { _, err := DeLongResult{AUROC: 1}.Interval(0.95); return err },
		"DeLong of itself": func() error {
			_, err := DeLongTest([]float64{1, 3, 2, 4}, []float64{1, 9, 4, 16}, labels("--++"))
			return err
		},
		"within one-class cells": func() error {
			_, err := AUROCWithin(one, labels("+-+"), keys)
			return err
		},
		"macro of one-class groups": func() error { _, err := AUROCMacro(one, labels("+-+"), keys); return err },
		"ROC":                       func() error { _, err := ROC(one, pass); return err },
		"PR":                        func() error { _, err := PrecisionRecall(one, labels("---")); return err },
		"AP":                        func() error { _, err := AveragePrecision(one, labels("---")); return err },
		"Youden":                    func() error { _, err := Youden(one, pass, LowestThreshold); return err },
		"confusion of nothing":      func() error { _, err := Confuse(nil, nil, 1); return err },
		"precision":                 func() error { _, err := Confusion{FN: 1}.Precision(); return err },
		"recall":                    func() error { _, err := Confusion{FP: 1}.Recall(); return err },
		"F1":                        func() error { _, err := Confusion{TN: 1}.F1(); return err },
		"macro F1":                  func() error { _, err := Confusion{TN: 1}.MacroF1(); return err },
		"weighted F1":               func() error { _, err := Confusion{}.WeightedF1(); return err },
		"accuracy":                  func() error { _, err := Confusion{}.Accuracy(); return err },
		"J":                         func() error { _, err := Confusion{TP: 1, FN: 1}.J(); return err },
		"KS of an empty sample":     func() error { _, err := KS(nil, one, TwoSided, KSAuto); return err },
		"asymptotic KS of 1 and 1": func() error {
			_, err := KS([]float64{0}, []float64{1}, TwoSided, KSAsymptotic)
			return err
		},
		"chi2 of nothing":        func() error { _, err := ChiSquare(nil, false); return err },
		"chi2 with empty row":    func() error { _, err := ChiSquare([][]int{{0, 0}, {1, 2}}, false); return err },
		"chi2 with empty column": func() error { _, err := GTest([][]int{{0, 3}, {0, 2}}); return err },
		"permutation":            func() error { _, err := ChiSquarePermutation([][]int{{0, 0}}, r); return err },
		"V of one row": func() error {
			a, err := Associate([][]int{{1, 2}})
			if err != nil {
				return err
			}
			return a.CramerV.Err
		},
		"kappa of one category": func() error {
			a, err := NewAgreement([][]int{{3, 0}, {3, 0}})
			if err != nil {
				return err
			}
			_, err = a.FleissKappa()
			return err
		},
		"agreement of one rater": func() error { _, err := NewAgreement([][]int{{1, 0}}); return err },
		"agreement of nothing":   func() error { _, err := NewAgreement(nil); return err },
		"kappa error of one subject": func() error {
			a, err := NewAgreement([][]int{{2, 1}})
			if err != nil {
				return err
			}
			_, err = a.FleissSE()
			return err
		},
		"unused category": func() error {
			a, err := NewAgreement([][]int{{2, 1, 0}})
			if err != nil {
				return err
			}
			return a.FleissCategories()[2].Kappa.Err
		},
		"alpha of lone ratings": func() error { _, err := Krippendorff([][]int{{1, 0}}); return err },
		"alpha of one category": func() error { _, err := Krippendorff([][]int{{2, 0}, {3, 0}}); return err },
		"Cohen of one category": func() error { _, err := CohenKappa([][]int{{3, 0}, {0, 0}}, Linear); return err },
		"Cohen of nothing":      func() error { _, err := CohenLabels(nil, nil, Unweighted); return err },
		"Mann-Whitney, empty":   func() error { _, err := MannWhitney(nil, one, TwoSided, RankAuto, true); return err },
		"Mann-Whitney, all equal": func() error {
			_, err := MannWhitney([]float64{1, 1}, []float64{1}, Less, RankAsymptotic, false)
			return err
		},
		"Kruskal of one group":      func() error { _, err := Kruskal(one); return err },
		"Kruskal, all equal":        func() error { _, err := Kruskal([]float64{1, 1}, []float64{1}); return err },
		"Kruskal, empty group":      func() error { _, err := Kruskal(one, nil); return err },
		"Pearson of a constant":     func() error { _, err := Pearson(one, []float64{2, 2, 2}); return err },
		"Spearman of a constant":    func() error { _, err := Spearman([]float64{2, 2, 2}, one); return err },
		"Kendall of one row":        func() error { _, err := Kendall(one[:1], one[:1]); return err },
		"Wilson of 0":               func() error { _, err := Wilson(0, 0, 0.95); return err },
		"quantile of nothing":       func() error { _, err := Quantile(nil, 0.5); return err },
		"mean of nothing":           func() error { _, err := Mean(nil); return err },
		"description of nothing":    func() error { _, err := Describe(nil); return err },
		"sd of nothing":             func() error { _, err := PopulationSD(nil); return err },
		"eta squared of a constant": func() error { _, err := EtaSquared([]float64{0.1, 0.1, 0.1}, keys); return err },
		"JSD of zeros":              func() error { _, err := JensenShannon([]float64{0, 0}, []float64{1, 0}); return err },
		"entropy of nothing":        func() error { _, err := Entropy(nil); return err },
		"bootstrap of nothing":      func() error { _, err := Bootstrap(0, nil, r); return err },
		"bootstrap without a defined replicate": func() error {
			_, err := Bootstrap(3, func([]int) (float64, error) { return 0, undefined("never") }, r)
			return err
		},
		"cluster bootstrap of nothing": func() error { _, err := ClusterBootstrap(nil, nil, r); return err },
		"AUROC bootstrap of one class": func() error { _, err := AUROCBootstrap(one, pass, keys, r); return err },
		"AUROC bootstrap of one cluster per class": func() error {
			_, err := AUROCBootstrap(one[:2], labels("+-"), keys[:2], Resampling{Resamples: 2, Level: 0.9, Seed: 4})
			return err
		},
		"logistic of one class":  func() error { _, err := FitLogistic([][]float64{{1}, {2}}, labels("++"), 1); return err },
		"logistic of nothing":    func() error { _, err := FitLogistic(nil, nil, 1); return err },
		"logistic of a constant": func() error { _, err := FitLogistic([][]float64{{1}, {1}}, labels("+-"), 1); return err },
		"logistic, separable":    func() error { _, err := FitLogistic([][]float64{{1}, {2}, {3}, {4}}, labels("--++"), 0); return err },
		"logistic, collinear": func() error {
			_, err := FitLogistic([][]float64{{1, 2}, {2, 4}, {3, 6}, {4, 8}}, labels("-+-+"), 0)
			return err
		},
		"mean out of range":          func() error { _, err := Mean([]float64{1e308, 1e308}); return err },
		"sd out of range":            func() error { _, err := PopulationSD([]float64{1e200, -1e200}); return err },
		"Pearson out of range":       func() error { _, err := Pearson([]float64{1e200, -1e200}, one[:2]); return err },
		"Pearson, spread too small":  func() error { _, err := Pearson([]float64{1e-200, 0}, one[:2]); return err },
		"quantile out of range":      func() error { _, err := Quantile([]float64{-1e308, 1e308}, 0.4); return err },
		"logistic, spread too small": func() error { _, err := FitLogistic([][]float64{{0}, {1e-200}}, labels("+-"), 1); return err },
		"skew, spread too small": func() error {
			d, err := Describe([]float64{0, 1e-200})
			if err != nil {
				return err
			}
			return d.Skew.Err
		},
		"grid without a value": func() error {
			_, err := GridSearch(2, 3, func([]float64) (float64, error) { return 0, undefined("no") })
			return err
		},
		"separation of one outcome": func() error { _, err := Separate(one, pass, keys, keys, r); return err },
		"separation of nothing":     func() error { _, err := Separate(nil, nil, nil, nil, r); return err },
		"oracles of one model":      func() error { _, err := SeparateOracles(labels("+-"), keys[:2], []string{"m", "m"}, r); return err },
		"separation inside one-run cells": func() error {
			s, err := Separate(one, labels("+-+"), keys, keys, Resampling{})
			if err != nil {
				return err
			}
			return s.WithinTaskModel.AUROC.Err
		},
	} {
		wantUndefined(t, name, f())
	}
}

func TestInvalid(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	two := []float64{1, 2}
	pm := labels("+-")
	keys := []string{"a", "b"}
	for name, f := range map[string]func() error{
		"AUROC lengths":        func() error { _, err := AUROC(two, labels("+")); return err },
		"AUROC NaN":            func() error { _, err := AUROC([]float64{1, nan}, pm); return err },
		"within lengths":       func() error { _, err := AUROCWithin(two, pm, keys[:1]); return err },
		"within NaN":           func() error { _, err := AUROCWithin([]float64{1, nan}, pm); return err },
		"macro label count":    func() error { _, err := AUROCMacro(two, labels("+"), keys); return err },
		"DeLong level":         func() error { _, err := DeLongResult{Variance: 1}.Interval(95); return err },
		"threshold NaN":        func() error { _, err := Confuse(two, pm, nan); return err },
		"KS NaN":               func() error { _, err := KS(two, []float64{nan}, TwoSided, KSAuto); return err },
		"KS D above 1":         func() error { _, err := KSPValue(1.5, 3, 3, TwoSided, KSAuto); return err },
		"KS range":             func() error { _, _, err := KSRange(1.2); return err },
		"ragged table":         func() error { _, err := ChiSquare([][]int{{1, 2}, {3}}, false); return err },
		"negative count":       func() error { _, err := ChiSquare([][]int{{1, -2}}, false); return err },
		"unequal raters":       func() error { _, err := NewAgreement([][]int{{2, 1}, {1, 1}}); return err },
		"ragged ratings":       func() error { _, err := Krippendorff([][]int{{2, 1}, {1}}); return err },
		"negative rating":      func() error { _, err := Krippendorff([][]int{{2, -1}}); return err },
		"oblong Cohen":         func() error { _, err := CohenKappa([][]int{{2, 1}}, Unweighted); return err },
		"Pearson infinity":     func() error { _, err := Pearson(two, []float64{1, inf}); return err },
		"Spearman lengths":     func() error { _, err := Spearman(two, two[:1]); return err },
		"Kendall NaN":          func() error { _, err := Kendall(two, []float64{nan, 1}); return err },
		"p above 1":            func() error { _, err := Holm([]float64{0.1, 1.1}); return err },
		"p NaN":                func() error { _, err := BenjaminiHochberg([]float64{nan}); return err },
		"Wilson above n":       func() error { _, err := Wilson(3, 2, 0.95); return err },
		"Wilson level":         func() error { _, err := Wilson(1, 2, 1); return err },
		"quantile in per cent": func() error { _, err := Quantile(two, 50); return err },
		"describe infinity":    func() error { _, err := Describe([]float64{inf}); return err },
		"negative weight":      func() error { _, err := JensenShannon([]float64{-1, 2}, two); return err },
		"weight lengths":       func() error { _, err := JensenShannon(two[:1], two); return err },
		"no resamples":         func() error { _, err := AUROCBootstrap(two, pm, keys, Resampling{Level: 0.95}); return err },
		"bootstrap level": func() error {
			_, err := Bootstrap(2, func([]int) (float64, error) { return 1, nil }, Resampling{Resamples: 5, Level: 95})
			return err
		},
		"statistic fails": func() error {
			_, err := Bootstrap(2, func([]int) (float64, error) { return 0, invalid("x") }, DefaultResampling())
			return err
		},
		"eta lengths":         func() error { _, err := EtaSquared(two, keys[:1]); return err },
		"crosstab lengths":    func() error { _, _, _, err := Crosstab(keys, keys[:1]); return err },
		"logistic lengths":    func() error { _, err := FitLogistic([][]float64{{1}}, pm, 1); return err },
		"logistic ragged":     func() error { _, err := FitLogistic([][]float64{{1, 2}, {1}}, pm, 1); return err },
		"logistic NaN":        func() error { _, err := FitLogistic([][]float64{{1}, {nan}}, pm, 1); return err },
		"logistic penalty":    func() error { _, err := FitLogistic([][]float64{{1}, {2}}, pm, -1); return err },
		"predict width":       func() error { _, err := Logistic{Coef: two}.Predict(two[:1]); return err },
		"grid of nothing":     func() error { _, err := GridSearch(0, 20, nil); return err },
		"separation tasks":    func() error { _, err := Separate(two, pm, keys[:1], keys, Resampling{}); return err },
		"separation models":   func() error { _, err := Separate(two, pm, keys, keys[:1], Resampling{}); return err },
		"separation infinity": func() error { _, err := Separate([]float64{1, inf}, pm, keys, keys, Resampling{}); return err },
		"oracle lengths":      func() error { _, err := LeaveOneOut(pm, keys[:1], keys); return err },
	} {
		if err := f(); !errors.Is(err, ErrInput) || errors.Is(err, ErrUndefined) {
			t.Errorf("%s: got error %v, want invalid input", name, err)
		}
	}
}

func TestFigureJSON(t *testing.T) {
	got, err := json.Marshal([]Figure{{Value: 0.25}, {Err: undefined("no rows")}})
	if err != nil || string(got) != "[0.25,null]" {
		t.Errorf("got %s, %v", got, err)
	}
	if s := fmt.Sprint(Figure{Value: 0.25}, Figure{Err: ErrUndefined}); s != "0.25 undefined" {
		t.Errorf("got %s", s)
	}
}

func TestOracleLogit(t *testing.T) {
	want(t, "even", OracleLogit(0.5), 0, 0)
	want(t, "certain", OracleLogit(1), math.Log(51), 1e-14)
	want(t, "complement", OracleLogit(0.2), -OracleLogit(0.8), 1e-14)
}

func TestCrosstab(t *testing.T) {
	rows, cols, table, err := Crosstab([]string{"y", "x", "y"}, []string{"b", "a", "a"})
	if err != nil || fmt.Sprint(rows, cols, table) != "[x y] [a b] [[1 0] [1 1]]" {
		t.Errorf("got %v %v %v %v", rows, cols, table, err)
	}
}

func TestLogisticOddsRatio(t *testing.T) {
	// One binary feature without penalty: odds 1/3 without it and 4/1 with it.
	var x [][]float64
	var y []bool
	add := func(v float64, pos bool, n int) {
		for range n {
			x, y = append(x, []float64{v}), append(y, pos)
		}
	}
	add(0, true, 1)
	add(0, false, 3)
	add(1, true, 4)
	add(1, false, 1)
	m, err := FitLogistic(x, y, 0)
	if err != nil {
		t.Fatal(err)
	}
	for v, p := range map[float64]float64{0: 0.25, 1: 0.8} {
		got, err := m.Predict([]float64{v})
		wantFigure(t, fmt.Sprint("probability at ", v), got, err, p, 1e-9)
	}
	want(t, "log odds ratio", m.Coef[0]/m.Scale[0], math.Log(12), 1e-9)
	want(t, "log loss", m.LogLoss, -(math.Log(0.25)+3*math.Log(0.75)+4*math.Log(0.8)+math.Log(0.2))/9, 1e-9)
}

func TestGrid(t *testing.T) {
	res, err := GridSearch(3, 20, func(w []float64) (float64, error) {
		return -math.Abs(w[0]-0.55) - math.Abs(w[1]-0.25), nil
	})
	if err != nil || res.Points != 231 || !slices.Equal(res.Weights, []float64{0.55, 0.25, 0.2}) || res.Ties != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
	flat, err := GridSearch(2, 4, func([]float64) (float64, error) { return 1, nil })
	if err != nil || flat.Ties != 5 || !slices.Equal(flat.Weights, []float64{0, 1}) {
		t.Errorf("ties: %+v, %v", flat, err)
	}
}

func ExampleSeparate() {
	score := []float64{0.9, 0.4, 0.8, 0.3, 0.7, 0.6}
	pass := []bool{true, false, true, false, false, true}
	task := []string{"t1", "t1", "t2", "t2", "t3", "t3"}
	model := []string{"a", "b", "a", "a", "b", "b"}
	s, err := Separate(score, pass, task, model, Resampling{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("n %d (%d pass), micro %.3f, macro %v\n", s.N, s.NPass, s.Micro.AUROC.Value, s.Macro.AUROC)
	fmt.Printf("inside task and model: %v in %d pairs\n", s.WithinTaskModel.AUROC, s.WithinTaskModel.Pairs)
	// Output:
	// n 6 (3 pass), micro 0.889, macro 0.6666666666666666
	// inside task and model: 0.5 in 2 pairs
}
