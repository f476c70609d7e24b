package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"pgregory.net/rapid"
)

const (
	statTol = 1e-12 // relative, statistics
	pTol    = 1e-9  // relative, p-values
)

// near reports |got-want| <= tol*|want|; where 0 is wanted, rounding is let pass.
func near(got, want, tol float64) bool {
	if want == 0 {
		return math.Abs(got) <= 1e-15
	}
	return math.Abs(got-want) <= tol*math.Abs(want)
}

func want(t rapid.TB, name string, got, want, tol float64) {
	t.Helper()
	if !near(got, want, tol) {
		t.Errorf("%s = %v, want %v", name, got, want)
	}
}

func wantAll(t rapid.TB, name string, got, expected []float64, tol float64) {
	t.Helper()
	if len(got) != len(expected) {
		t.Fatalf("%s has %d values, want %d", name, len(got), len(expected))
	}
	for i := range got {
		want(t, fmt.Sprintf("%s[%d]", name, i), got[i], expected[i], tol)
	}
}

func wantUndefined(t rapid.TB, name string, err error) {
	t.Helper()
	if !errors.Is(err, ErrUndefined) {
		t.Errorf("%s: got error %v, want it undefined", name, err)
	}
}

// wantFigure compares a value and its error with an expected value, NaN meaning undefined.
func wantFigure(t rapid.TB, name string, got float64, err error, expected, tol float64) {
	t.Helper()
	if math.IsNaN(expected) {
		wantUndefined(t, name, err)
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	want(t, name, got, expected, tol)
}

// node is a value of an expected-results file.
type node struct{ v any }

func readNode(t testing.TB, elem ...string) node {
	t.Helper()
	data := conformance.Read(t, elem...)
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return node{v}
}

func (n node) at(keys ...string) node {
	for _, k := range keys {
		n = node{n.v.(map[string]any)[k]}
	}
	return n
}

func (n node) has(key string) bool {
	m, ok := n.v.(map[string]any)
	return ok && m[key] != nil
}

func (n node) keys() []string {
	m := n.v.(map[string]any)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (n node) num() float64 {
	if f, ok := n.v.(float64); ok {
		return f
	}
	if s, ok := n.v.(string); ok && strings.EqualFold(s, "nan") {
		return math.NaN()
	}
	panic(fmt.Sprintf("%v is no number", n.v))
}

func (n node) list() []node {
	var out []node
	for _, v := range n.v.([]any) {
		out = append(out, node{v})
	}
	return out
}

func (n node) nums() []float64 {
	out := make([]float64, 0)
	for _, e := range n.list() {
		out = append(out, e.num())
	}
	return out
}

func (n node) ints() []int {
	out := make([]int, 0)
	for _, e := range n.list() {
		out = append(out, int(e.num()))
	}
	return out
}

func (n node) bools() []bool {
	out := make([]bool, 0)
	for _, e := range n.list() {
		out = append(out, e.num() == 1)
	}
	return out
}

func (n node) table() [][]int {
	var out [][]int
	for _, e := range n.list() {
		out = append(out, e.ints())
	}
	return out
}

var alternatives = map[string]Alternative{"two-sided": TwoSided, "less": Less, "greater": Greater}

var ksMethods = map[string]KSMethod{"auto": KSAuto, "exact": KSExact, "asymp": KSAsymptotic}

func TestConformanceOracle(t *testing.T) {
	checks := map[string]func(t *testing.T, in, out, c node){
		"auroc": oracleAUROC, "ks": oracleKS, "chi2": oracleChi2, "fleiss": oracleFleiss, "mwu": oracleMWU,
		"cohen_3x3": oracleCohen, "spearman_ties": oracleSpearman, "kendall_ties": oracleKendall,
		"pearson": oraclePearson, "kruskal_ties": oracleKruskal, "wilson_ci": oracleWilson,
		"bh_holm_bonf": oracleMultiple, "quantile_linear": oracleQuantile, "std_skew_kurt": oracleMoments,
		"chi2_sf_grid": oracleChi2Grid, "norm_sf_grid": oracleNormGrid, "kolmogorov_sf_grid": oracleKolmogorov,
	}
	for _, c := range readNode(t, "stats", "stats_oracle.json").at("cases").list() {
		name := c.at("name").v.(string)
		check := checks[name]
		if check == nil {
			check = checks[strings.SplitN(name, "_", 2)[0]]
		}
		t.Run(name, func(t *testing.T) {
			if check == nil {
				t.Fatal("no check for this case")
			}
			check(t, c.at("input"), c.at("output"), c)
		})
	}
}

func oracleAUROC(t *testing.T, in, out, _ node) {
	score, y := in.at("score").nums(), in.at("y").bools()
	if out.has("error") {
		_, err := AUROC(score, y)
		wantUndefined(t, "AUROC", err)
		_, err = ROC(score, y)
		wantUndefined(t, "ROC", err)
		_, err = Youden(score, y, HighestThreshold)
		wantUndefined(t, "Youden", err)
		return
	}
	auc, err := AUROC(score, y)
	wantFigure(t, "AUROC", auc, err, out.at("auroc").num(), statTol)
	ap, err := AveragePrecision(score, y)
	wantFigure(t, "AP", ap, err, out.at("average_precision").num(), statTol)
	point, err := Youden(score, y, HighestThreshold)
	wantFigure(t, "J", point.J, err, out.at("youden_j").num(), statTol)
	// scikit-learn 1.2 writes the point where nothing is predicted positive as max+1; ours is
	// +Inf and never chosen as a threshold.
	if top := slices.Max(score) + 1; out.at("youden_threshold").num() != top {
		want(t, "Youden threshold", point.Threshold, out.at("youden_threshold").num(), 0)
	} else if point.J != 0 || math.IsInf(point.Threshold, 0) {
		t.Errorf("Youden %+v, want J 0 at a finite threshold", point)
	}
	if out.has("fpr") {
		checkROC(t, score, y, out.at("fpr").nums(), out.at("tpr").nums(), out.at("thresholds").nums())
	}
}

func checkROC(t *testing.T, score []float64, y []bool, fpr, tpr, thr []float64) {
	t.Helper()
	curve, err := ROC(score, y)
	if err != nil {
		t.Fatal(err)
	}
	thr[0] = math.Inf(1)
	if len(curve) != len(thr) {
		t.Fatalf("ROC has %d points, want %d", len(curve), len(thr))
	}
	for i, p := range curve {
		want(t, "fpr", p.FPR, fpr[i], statTol)
		want(t, "tpr", p.TPR, tpr[i], statTol)
		if p.Threshold != thr[i] {
			t.Errorf("threshold %d = %v, want %v", i, p.Threshold, thr[i])
		}
	}
}

// lcg is the generator that the expected results name for large inputs.
func lcg(seed uint64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = float64(seed>>11) / (1 << 53)
	}
	return out
}

func oracleKS(t *testing.T, in, out, _ node) {
	var a, b []float64
	if in.has("lcg_seed_a") {
		a = lcg(uint64(in.at("lcg_seed_a").num()), int(in.at("n_a").num()))
		b = lcg(uint64(in.at("lcg_seed_b").num()), int(in.at("n_b").num()))
		for i, v := range b {
			b[i] = math.Pow(v, 1.05)
		}
	} else {
		a, b = in.at("a").nums(), in.at("b").nums()
	}
	for _, key := range out.keys() {
		part := strings.Split(key, "/")
		checkKS(t, key, a, b, alternatives[part[0]], ksMethods[part[1]], out.at(key))
	}
}

func checkKS(t *testing.T, key string, a, b []float64, alt Alternative, method KSMethod, out node) {
	t.Helper()
	res, err := KS(a, b, alt, method)
	if math.IsNaN(out.at("p").num()) {
		wantUndefined(t, key, err)
		return
	}
	wantFigure(t, key+" p", res.P, err, out.at("p").num(), pTol)
	want(t, key+" D", res.D, out.at("D").num(), statTol)
	if out.has("location") {
		want(t, key+" location", res.Location, out.at("location").num(), 0)
		want(t, key+" sign", float64(res.Sign), out.at("sign").num(), 0)
	}
}

func oracleChi2(t *testing.T, in, out, _ node) {
	table := in.at("table").table()
	if out.has("error") {
		_, err := ChiSquare(table, true)
		wantUndefined(t, "chi2", err)
		_, err = GTest(table)
		wantUndefined(t, "G", err)
		_, err = Associate(table)
		wantUndefined(t, "V", err)
		return
	}
	for key, yates := range map[string]bool{"correction=True": true, "correction=False": false} {
		res, err := ChiSquare(table, yates)
		exp := out.at(key)
		wantFigure(t, key+" chi2", res.Statistic, err, exp.at("chi2").num(), statTol)
		want(t, key+" p", res.P, exp.at("p").num(), pTol)
		want(t, key+" dof", float64(res.DoF), exp.at("dof").num(), 0)
		if res.P > 0 {
			want(t, key+" log p", res.LogP, math.Log(res.P), pTol)
		} else if !(res.LogP < -700) || math.IsInf(res.LogP, 0) {
			t.Errorf("%s: p underflows but log p = %v", key, res.LogP)
		}
		for i, row := range exp.at("expected").list() {
			wantAll(t, key+" expected", res.Expected[i], row.nums(), statTol)
		}
	}
	g, err := GTest(table)
	wantFigure(t, "G", g.Statistic, err, out.at("G", "stat").num(), statTol)
	want(t, "G p", g.P, out.at("G", "p").num(), pTol)
	a, err := Associate(table)
	if err != nil {
		t.Fatal(err)
	}
	wantFigure(t, "V", a.CramerV.Value, a.CramerV.Err, out.at("cramer").num(), statTol)
	wantFigure(t, "T", a.TschuprowT.Value, a.TschuprowT.Err, out.at("tschuprow").num(), statTol)
	wantFigure(t, "V corrected", a.CramerVCorrected.Value, a.CramerVCorrected.Err, out.at("cramer_bias_corrected").num(), statTol)
	want(t, "C", a.PearsonC, out.at("pearson").num(), statTol)
}

func oracleFleiss(t *testing.T, in, out, c node) {
	a, err := NewAgreement(in.at("table").table())
	if err != nil {
		t.Fatal(err)
	}
	kappa, err := a.FleissKappa()
	wantFigure(t, "kappa", kappa, err, out.at("fleiss").num(), statTol)
	free, err := a.RandolphKappa()
	wantFigure(t, "Randolph", free, err, out.at("randolph").num(), statTol)
	if !c.has("own_formula_not_statsmodels") {
		return
	}
	own := c.at("own_formula_not_statsmodels")
	want(t, "pa", a.Raw(), own.at("pa").num(), statTol)
	want(t, "pe", a.Chance(), own.at("pe").num(), statTol)
	se, err := a.FleissSE()
	wantFigure(t, "SE", se, err, own.at("se_gwet").num(), statTol)
	iv, err := a.FleissInterval(0.95)
	wantFigure(t, "low", iv.Low, err, own.at("ci95_gwet_normal").nums()[0], statTol)
	want(t, "high", iv.High, own.at("ci95_gwet_normal").nums()[1], statTol)
	null, err := a.FleissNull()
	wantFigure(t, "null SE", null.SE, err, own.at("se_null_FNL1979").num(), statTol)
	want(t, "z", null.Z, own.at("z_null").num(), statTol)
	jack, err := a.FleissJackknifeSE()
	wantFigure(t, "jackknife", jack, err, own.at("se_jackknife").num(), statTol)
}

func oracleCohen(t *testing.T, in, out, _ node) {
	res, err := CohenKappa(in.at("table").table(), Unweighted)
	wantFigure(t, "kappa", res.Kappa, err, out.at("kappa").num(), statTol)
	want(t, "SE", res.SE, out.at("std_kappa").num(), statTol)
	want(t, "null variance", res.Null.SE*res.Null.SE, out.at("var_kappa0").num(), statTol)
	iv, err := res.Interval(0.95)
	wantFigure(t, "low", iv.Low, err, out.at("ci_low").num(), statTol)
	want(t, "high", iv.High, out.at("ci_upp").num(), statTol)
	want(t, "z", res.Null.Z, out.at("z").num(), statTol)
	want(t, "p", res.Null.P, out.at("p_two").num(), pTol)
}

func oracleMWU(t *testing.T, in, out, _ node) {
	a, b := in.at("a").nums(), in.at("b").nums()
	methods := map[string]RankMethod{"auto": RankAuto, "exact": RankExact, "asymptotic": RankAsymptotic}
	for _, key := range out.keys() {
		switch part := strings.Split(key, "/"); {
		case len(part) == 3:
			exp := out.at(key)
			res, err := MannWhitney(a, b, alternatives[part[0]], methods[part[1]], part[2] == "cc=True")
			wantFigure(t, key, res.P, err, exp.at("p").num(), pTol)
			if err == nil {
				want(t, key+" U", res.U, exp.at("U1").num(), 0)
			}
		default:
			res, err := MannWhitney(a, b, TwoSided, RankAuto, true)
			if key == "auc_common_language" {
				wantFigure(t, key, res.CommonLang, err, out.at(key).num(), statTol)
			} else if key == "rank_biserial" {
				wantFigure(t, key, res.RankBiserial, err, out.at(key).num(), statTol)
			} else {
				t.Errorf("no check for %s", key)
			}
		}
	}
}

func oracleSpearman(t *testing.T, in, out, _ node) {
	res, err := Spearman(in.at("x").nums(), in.at("y").nums())
	wantFigure(t, "rho", res.R, err, out.at("rho").num(), statTol)
	want(t, "p", res.P, out.at("p").num(), pTol)
}

func oracleKendall(t *testing.T, in, out, _ node) {
	res, err := Kendall(in.at("x").nums(), in.at("y").nums())
	wantFigure(t, "tau", res.R, err, out.at("tau").num(), statTol)
	want(t, "p", res.P, out.at("p").num(), pTol)
}

func oraclePearson(t *testing.T, in, out, _ node) {
	res, err := Pearson(in.at("x").nums(), in.at("y").nums())
	wantFigure(t, "r", res.R, err, out.at("r").num(), statTol)
	want(t, "p", res.P, out.at("p").num(), pTol)
}

func oracleKruskal(t *testing.T, in, out, _ node) {
	var groups [][]float64
	for _, g := range in.at("g").list() {
		groups = append(groups, g.nums())
	}
	res, err := Kruskal(groups...)
	wantFigure(t, "H", res.H, err, out.at("H").num(), statTol)
	want(t, "p", res.P, out.at("p").num(), pTol)
}

func oracleWilson(t *testing.T, in, out, _ node) {
	k, n := in.at("k").ints(), in.at("n").ints()
	for i, e := range out.list() {
		iv, err := Wilson(k[i], n[i], 1-in.at("alpha").num())
		wantFigure(t, "low", iv.Low, err, e.nums()[0], statTol)
		want(t, "high", iv.High, e.nums()[1], statTol)
	}
}

func oracleMultiple(t *testing.T, in, out, _ node) {
	methods := map[string]func([]float64) ([]float64, error){
		"fdr_bh": BenjaminiHochberg, "fdr_by": BenjaminiYekutieli, "holm": Holm, "bonferroni": Bonferroni,
	}
	for _, key := range out.keys() {
		got, err := methods[key](in.at("p").nums())
		if err != nil {
			t.Fatal(err)
		}
		wantAll(t, key, got, out.at(key).nums(), statTol)
	}
}

func oracleQuantile(t *testing.T, in, out, _ node) {
	for i, p := range in.at("p").nums() {
		got, err := Quantile(in.at("x").nums(), p/100)
		wantFigure(t, fmt.Sprint(p), got, err, out.nums()[i], statTol)
	}
}

func oracleMoments(t *testing.T, in, out, _ node) {
	x := in.at("x").nums()
	d, err := Describe(x)
	wantFigure(t, "sd", d.SD.Value, err, out.at("std_ddof1").num(), statTol)
	want(t, "skew", d.Skew.Value, out.at("skew").num(), statTol)
	want(t, "kurtosis", d.Kurtosis.Value, out.at("kurtosis_excess").num(), statTol)
	sd, err := PopulationSD(x)
	wantFigure(t, "population sd", sd, err, out.at("std_ddof0").num(), statTol)
	h, err := Entropy(x)
	wantFigure(t, "entropy", h, err, out.at("entropy_bits").num(), statTol)
}

// logOf returns the natural logarithm of a decimal that may be below the range of float64.
func logOf(t *testing.T, decimal string) float64 {
	f, _, err := big.ParseFloat(decimal, 10, 100, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	mant := new(big.Float)
	exp := f.MantExp(mant)
	m, _ := mant.Float64()
	return math.Log(m) + float64(exp)*math.Ln2
}

func oracleChi2Grid(t *testing.T, in, out, c node) {
	truth := c.at("mpmath_truth").list()
	for i, e := range in.at("x_df").list() {
		x, k := e.nums()[0], int(e.nums()[1])
		name := fmt.Sprintf("chi2 sf(%v, %d)", x, k)
		want(t, name, ChiSquareSF(x, k), out.nums()[i], pTol)
		want(t, name+" log", ChiSquareLogSF(x, k), logOf(t, truth[i].v.(string)), 1e-12)
	}
}

func oracleNormGrid(t *testing.T, in, out, _ node) {
	for i, z := range in.at("z").nums() {
		want(t, fmt.Sprintf("normal sf(%v)", z), NormalSF(z), out.nums()[i], pTol)
	}
}

func oracleKolmogorov(t *testing.T, in, out, c node) {
	for i, x := range in.at("x").nums() {
		want(t, fmt.Sprintf("kolmogorov(%v)", x), KolmogorovSF(x), out.nums()[i], pTol)
	}
}

func TestConformanceGolden(t *testing.T) {
	g := readNode(t, "stats", "stats_golden.json")
	checks := map[string]func(t *testing.T, c node){
		"roc": goldenROC, "ks": goldenKS, "ks_large_int": goldenKSLarge, "ks_pvalue_only": goldenKSP,
		"chi2": goldenChi2, "chi2_sf": goldenChi2SF, "fleiss": goldenFleiss, "jsd": goldenJSD,
		"mannwhitney": goldenMWU(g), "f1": goldenF1(g), "cohen": goldenCohen,
	}
	for _, key := range g.keys() {
		if key == "versions" {
			continue
		}
		t.Run(key, func(t *testing.T) {
			if checks[key] == nil {
				t.Fatal("no check for this block")
			}
			checks[key](t, g.at(key))
		})
	}
}

func goldenROC(t *testing.T, block node) {
	for _, name := range block.keys() {
		t.Run(name, func(t *testing.T) {
			c := block.at(name)
			score, y := c.at("score").nums(), c.at("y").bools()
			auc, err := AUROC(score, y)
			wantFigure(t, "AUROC", auc, err, c.at("auroc").num(), statTol)
			checkROC(t, score, y, c.at("fpr").nums(), c.at("tpr").nums(), c.at("thr").nums())
			point, err := Youden(score, y, HighestThreshold)
			wantFigure(t, "J", point.J, err, c.at("youden_J").num(), statTol)
			want(t, "ties", float64(point.Ties), c.at("n_argmax").num(), 0)
			if thr := c.at("youden_thr").num(); thr <= slices.Max(score) {
				want(t, "threshold", point.Threshold, thr, 0)
			}
		})
	}
}

func goldenKS(t *testing.T, block node) {
	for _, name := range block.keys() {
		c := block.at(name)
		for _, key := range c.at("res").keys() {
			part := strings.Split(key, "/")
			res, err := KS(c.at("a").nums(), c.at("b").nums(), alternatives[part[0]], ksMethods[part[1]])
			exp := c.at("res", key).nums()
			wantFigure(t, name+" "+key+" D", res.D, err, exp[0], statTol)
			want(t, name+" "+key+" p", res.P, exp[1], pTol)
		}
	}
}

func goldenKSLarge(t *testing.T, c node) {
	for _, key := range c.at("res").keys() {
		exp := c.at("res", key).nums()
		p, err := KSPValue(exp[0], 1136, 679, TwoSided, ksMethods[key])
		wantFigure(t, key, p, err, exp[1], pTol)
	}
}

func goldenKSP(t *testing.T, c node) {
	for _, key := range c.keys() {
		var n1, n2 int
		var d float64
		if _, err := fmt.Sscanf(key, "%d,%d,D=%g", &n1, &n2, &d); err != nil {
			t.Fatal(err)
		}
		p, err := KSPValue(d, n1, n2, TwoSided, KSAsymptotic)
		wantFigure(t, key, p, err, c.at(key).nums()[0], pTol)
	}
}

func goldenChi2(t *testing.T, block node) {
	table := func(key string) [][]int {
		return block.at(strings.SplitN(key, "/", 2)[0]+"/yates=True", "table").table()
	}
	for _, key := range block.keys() {
		c := block.at(key)
		switch {
		case c.has("table"):
			res, err := ChiSquare(c.at("table").table(), strings.HasSuffix(key, "True"))
			wantFigure(t, key, res.Statistic, err, c.at("chi2").num(), statTol)
			want(t, key+" p", res.P, c.at("p").num(), pTol)
			want(t, key+" dof", float64(res.DoF), c.at("dof").num(), 0)
		case c.has("g"):
			res, err := GTest(table(key))
			wantFigure(t, key, res.Statistic, err, c.at("g").num(), statTol)
			want(t, key+" p", res.P, c.at("p").num(), pTol)
		default:
			a, err := Associate(table(key))
			wantFigure(t, key, a.CramerV.Value, err, c.at("cramer").num(), statTol)
			want(t, key, a.TschuprowT.Value, c.at("tschuprow").num(), statTol)
		}
	}
}

func goldenChi2SF(t *testing.T, c node) {
	for _, key := range c.keys() {
		var x float64
		var k int
		if _, err := fmt.Sscanf(key, "%g,%d", &x, &k); err != nil {
			t.Fatal(err)
		}
		want(t, key, ChiSquareSF(x, k), c.at(key).num(), pTol)
	}
}

func goldenFleiss(t *testing.T, block node) {
	for _, name := range block.keys() {
		c := block.at(name)
		a, err := NewAgreement(c.at("table").table())
		if err != nil {
			t.Fatal(err)
		}
		kappa, err := a.FleissKappa()
		wantFigure(t, name, kappa, err, c.at("kappa").num(), statTol)
		if c.has("randolph") {
			free, err := a.RandolphKappa()
			wantFigure(t, name, free, err, c.at("randolph").num(), statTol)
		}
	}
}

func goldenJSD(t *testing.T, block node) {
	for _, name := range block.keys() {
		c := block.at(name)
		d, err := JensenShannon(c.at("p").nums(), c.at("q").nums())
		wantFigure(t, name, d, err, c.at("divergence_base2").num(), statTol)
		want(t, name+" distance", math.Sqrt(d), c.at("distance_base2").num(), statTol)
		want(t, name+" nats", d*math.Ln2, c.at("divergence_nat").num(), statTol)
	}
}

// goldenMWU compares the scores of positives with those of negatives of the ROC cases.
func goldenMWU(g node) func(*testing.T, node) {
	return func(t *testing.T, block node) {
		for _, name := range block.keys() {
			var pos, neg []float64
			score, y := g.at("roc", name, "score").nums(), g.at("roc", name, "y").bools()
			for i, s := range score {
				if y[i] {
					pos = append(pos, s)
				} else {
					neg = append(neg, s)
				}
			}
			res, err := MannWhitney(pos, neg, TwoSided, RankAsymptotic, true)
			exp := block.at(name).nums()
			wantFigure(t, name, res.U, err, exp[0], 0)
			want(t, name+" p", res.P, exp[1], pTol)
		}
	}
}

func goldenF1(g node) func(*testing.T, node) {
	return func(t *testing.T, block node) {
		for _, name := range block.keys() {
			e := block.at(name)
			c, err := Confuse(g.at("roc", name, "score").nums(), g.at("roc", name, "y").bools(), e.at("thr").num())
			if err != nil {
				t.Fatal(err)
			}
			for key, f := range map[string]func() (float64, error){
				"acc": c.Accuracy, "f1_pos": c.F1, "f1_neg": c.Swap().F1, "macro": c.MacroF1, "weighted": c.WeightedF1,
			} {
				got, err := f()
				wantFigure(t, name+" "+key, got, err, e.at(key).num(), statTol)
			}
		}
	}
}

func goldenCohen(t *testing.T, c node) {
	res, err := CohenKappa(c.at("table").table(), Unweighted)
	wantFigure(t, "kappa", res.Kappa, err, c.at("kappa").num(), statTol)
}
