package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// study is a small data set with many ties.
type study struct {
	score       []float64
	pass        []bool
	task, model []string
}

// genStudy draws a study with both outcomes, at least two runs of each.
func genStudy(t *rapid.T) study {
	var s study
	n := rapid.IntRange(4, 24).Draw(t, "n")
	for i := range n {
		s.score = append(s.score, float64(rapid.IntRange(-3, 6).Draw(t, "score")))
		pass := rapid.Bool().Draw(t, "pass")
		if i < 4 {
			pass = i%2 == 0
		}
		s.pass = append(s.pass, pass)
		s.task = append(s.task, rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, "task"))
		s.model = append(s.model, rapid.SampledFrom([]string{"m1", "m2"}).Draw(t, "model"))
	}
	return s
}

func genSample(t *rapid.T, name string, minLen, maxLen int) []float64 {
	return rapid.Map(rapid.SliceOfN(rapid.IntRange(-4, 4), minLen, maxLen), func(v []int) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			out[i] = float64(v[i]) / 2
		}
		return out
	}).Draw(t, name)
}

func apply(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

func kernel(pos, neg float64) float64 {
	switch {
	case pos > neg:
		return 1
	case pos == neg:
		return 0.5
	default:
		return 0
	}
}

// pairsByHand compares every passing with every failing run for which same holds.
func (s study) pairsByHand(same func(i, j int) bool) (wins, pairs float64) {
	for i, p := range s.pass {
		for j, q := range s.pass {
			if p && !q && same(i, j) {
				wins += kernel(s.score[i], s.score[j])
				pairs++
			}
		}
	}
	return wins, pairs
}

func TestAUROCAgreesWithPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genStudy(t)
		for name, c := range map[string]struct {
			keys [][]string
			same func(i, j int) bool
		}{
			"all":        {nil, func(i, j int) bool { return true }},
			"task":       {[][]string{s.task}, func(i, j int) bool { return s.task[i] == s.task[j] }},
			"task+model": {[][]string{s.task, s.model}, func(i, j int) bool { return s.task[i] == s.task[j] && s.model[i] == s.model[j] }},
		} {
			wins, pairs := s.pairsByHand(c.same)
			got, err := AUROCWithin(s.score, s.pass, c.keys...)
			if pairs == 0 {
				wantUndefined(t, name, err)
				continue
			}
			wantFigure(t, name, got.AUROC, err, wins/pairs, 1e-14)
			want(t, name+" pairs", float64(got.Pairs), pairs, 0)
		}
		plain, err := AUROC(s.score, s.pass)
		within, err2 := AUROCWithin(s.score, s.pass)
		if plain != within.AUROC || err != nil || err2 != nil {
			t.Errorf("AUROC %v, AUROCWithin without keys %v", plain, within.AUROC)
		}
	})
}

func TestAUROCInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genStudy(t)
		auc := must(AUROC(s.score, s.pass))
		if auc < 0 || auc > 1 {
			t.Errorf("AUROC %v", auc)
		}
		up := apply(s.score, func(v float64) float64 { return math.Exp(v) })
		want(t, "increasing transform", must(AUROC(up, s.pass)), auc, 0)
		down := apply(s.score, func(v float64) float64 { return -v })
		want(t, "decreasing transform", must(AUROC(down, s.pass)), 1-auc, 1e-14)
		flipped := make([]bool, len(s.pass))
		for i, p := range s.pass {
			flipped[i] = !p
		}
		want(t, "exchanged classes", must(AUROC(s.score, flipped)), 1-auc, 1e-14)

		curve := must(ROC(s.score, s.pass))
		var fpr, tpr []float64
		for _, p := range curve {
			fpr, tpr = append(fpr, p.FPR), append(tpr, p.TPR)
		}
		want(t, "area under the curve", integrate.Trapezoidal(fpr, tpr), auc, 1e-13)
		if last := curve[len(curve)-1]; last.FPR != 1 || last.TPR != 1 || !math.IsInf(curve[0].Threshold, 1) {
			t.Errorf("curve from %+v to %+v", curve[0], last)
		}

		sorted, classes := slices.Clone(s.score), slices.Clone(s.pass)
		sort.Stable(byScore{sorted, classes})
		gt, gf, thr := stat.ROC(nil, sorted, classes, nil)
		for i, p := range curve {
			if p.Threshold != thr[i] || !near(p.TPR, gt[i], 1e-14) || !near(p.FPR, gf[i], 1e-14) {
				t.Errorf("point %d is %+v, gonum has (%v, %v) at %v", i, p, gf[i], gt[i], thr[i])
			}
		}
	})
}

type byScore struct {
	score []float64
	pass  []bool
}

func (b byScore) Len() int           { return len(b.score) }
func (b byScore) Less(i, j int) bool { return b.score[i] < b.score[j] }
func (b byScore) Swap(i, j int) {
	b.score[i], b.score[j] = b.score[j], b.score[i]
	b.pass[i], b.pass[j] = b.pass[j], b.pass[i]
}

func TestDeLongAgreesWithKernel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genStudy(t)
		other := genStudy(t)
		b := make([]float64, len(s.score))
		for i := range b {
			b[i] = other.score[i%len(other.score)] + s.score[i]
		}
		covariance := func(x, y []float64) float64 {
			return placementCovariance(x, y, s.pass, true) + placementCovariance(x, y, s.pass, false)
		}
		d := must(DeLong(s.score, s.pass))
		want(t, "variance", d.Variance, covariance(s.score, s.score), 1e-12)
		c, err := DeLongTest(s.score, b, s.pass)
		if errors.Is(err, ErrUndefined) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want(t, "covariance", c.Covariance, covariance(s.score, b), 1e-11)
		swapped := must(DeLongTest(b, s.score, s.pass))
		want(t, "exchanged scores", swapped.P, c.P, 1e-9)
		want(t, "exchanged z", swapped.Z, -c.Z, 1e-9)
		if c.P < 0 || c.P > 1 {
			t.Errorf("p = %v", c.P)
		}
	})
}

// placementCovariance is S10/npos (side true) or S01/nneg straight from the definition.
func placementCovariance(x, y []float64, pass []bool, side bool) float64 {
	place := func(score []float64) []float64 {
		var v []float64
		for i, p := range pass {
			if p != side {
				continue
			}
			sum, n := 0.0, 0.0
			for j, q := range pass {
				if q == side {
					continue
				}
				if side {
					sum += kernel(score[i], score[j])
				} else {
					sum += kernel(score[j], score[i])
				}
				n++
			}
			v = append(v, sum/n)
		}
		return v
	}
	a, b := place(x), place(y)
	return stat.Covariance(a, b, nil) / float64(len(a))
}

func TestYoudenAgreesWithSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genStudy(t)
		best := math.Inf(-1)
		var at []float64
		for _, thr := range s.score {
			j := must(must(Confuse(s.score, s.pass, thr)).J())
			switch {
			case j > best+1e-9:
				best, at = j, []float64{thr}
			case j > best-1e-9:
				at = append(at, thr)
			}
		}
		high, low := must(Youden(s.score, s.pass, HighestThreshold)), must(Youden(s.score, s.pass, LowestThreshold))
		if high.Threshold != slices.Max(at) || low.Threshold != slices.Min(at) || !near(high.J, max(best, 0), 1e-12) && math.Abs(high.J-best) > 1e-12 {
			t.Errorf("Youden %+v, %+v; J is largest, %v, at %v", high, low, best, at)
		}
		lo, hi, err := KSRange(must(AUROC(s.score, s.pass)))
		passing, failing := split(s.score, s.pass)
		d := must(KS(passing, failing, TwoSided, KSExact)).D
		if err != nil || d < lo-1e-12 || d > hi+1e-12 {
			t.Errorf("D = %v outside [%v, %v]", d, lo, hi)
		}
	})
}

func TestKSAgreesWithEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genSample(t, "a", 1, 5), genSample(t, "b", 1, 5)
		for _, alt := range []Alternative{TwoSided, Less, Greater} {
			res := must(KS(a, b, alt, KSExact))
			want(t, "D", res.D, ksByHand(a, b, alt), 1e-14)
			// Under the null every choice of which ranks are a's is equally likely.
			extreme, total := 0.0, 0.0
			forSubsets(len(a)+len(b), len(a), func(in []bool) {
				var x, y []float64
				for i, chosen := range in {
					if chosen {
						x = append(x, float64(i))
					} else {
						y = append(y, float64(i))
					}
				}
				total++
				if ksByHand(x, y, alt) >= res.D-1e-12 {
					extreme++
				}
			})
			want(t, fmt.Sprint("p ", alt), res.P, extreme/total, 1e-12)
			if p, err := KSPValue(res.D, len(a), len(b), alt, KSExact); err != nil || !near(p, res.P, 1e-12) {
				t.Errorf("p of D is %v, %v, not %v", p, err, res.P)
			}
		}
		mirrored := must(KS(b, a, Greater, KSExact))
		want(t, "exchanged samples", mirrored.P, must(KS(a, b, Less, KSExact)).P, 1e-12)
	})
}

func ksByHand(a, b []float64, alt Alternative) float64 {
	ecdf := func(s []float64, x float64) float64 {
		n := 0.0
		for _, v := range s {
			if v <= x {
				n++
			}
		}
		return n / float64(len(s))
	}
	d := 0.0
	for _, x := range slices.Concat(a, b) {
		diff := ecdf(a, x) - ecdf(b, x)
		switch alt {
		case TwoSided:
			diff = math.Abs(diff)
		case Less:
			diff = -diff
		}
		d = max(d, diff)
	}
	return d
}

// forSubsets calls f with every choice of k out of n.
func forSubsets(n, k int, f func(in []bool)) {
	in := make([]bool, n)
	var choose func(i, k int)
	choose = func(i, k int) {
		if k > n-i {
			return
		}
		if i == n {
			f(in)
			return
		}
		in[i] = false
		choose(i+1, k)
		if k > 0 {
			in[i] = true
			choose(i+1, k-1)
			in[i] = false
		}
	}
	choose(0, k)
}

func TestKolmogorovMethodsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 140).Draw(t, "n")
		d := rapid.Float64Range(0.5, 1).Draw(t, "d")
		if d < 1 && float64(n)*(1-d) > 0.01 {
			want(t, "matrix and one-sided sum", 1-kolmogorovMatrixCDF(d, n)+1, 2*smirnovSF(d, n)+1, 1e-11)
		}
		n = rapid.IntRange(200, 2000).Draw(t, "large n")
		d = rapid.Float64Range(0.5, 1.4).Draw(t, "z") / math.Sqrt(float64(n))
		if diff := pelzGoodCDF(d, n) - kolmogorovMatrixCDF(d, n); math.Abs(diff) > 0.08/float64(n*n) {
			t.Errorf("expansion and matrix differ by %v at n = %d, d = %v; the error should be of order 1/n²", diff, n, d)
		}
		x := rapid.Float64Range(0.5, 3).Draw(t, "x")
		if p := KolmogorovSF(x); p < KolmogorovSF(x+0.01) || p < 0 || p > 1 {
			t.Errorf("limit at %v is %v", x, p)
		}
	})
	for _, n := range []int{50, 140, 141, 500} {
		last := 1.0
		for d := 0.001; d < 1; d += 0.001 {
			p := kolmogorovFiniteSF(d, n)
			if p > last+1e-7 || p < 0 {
				t.Fatalf("n = %d: survival rises to %v at %v", n, p, d)
			}
			last = p
		}
	}
	for d := 0.02; d < 0.5; d += 0.01 {
		want(t, fmt.Sprint("n = 50, d = ", d), kolmogorovFiniteSF(d, 50)+1e-6, 1-kolmogorovMatrixCDF(d, 50)+1e-6, 1e-7)
	}
	want(t, "one value: P(D >= d) = 2(1-d)", kolmogorovFiniteSF(0.7, 1), 0.6, 1e-14)
	want(t, "two values, d = 0.3: 1 - 2(2d-1/2)²", kolmogorovFiniteSF(0.3, 2), 1-2*0.1*0.1, 1e-14)
}

func TestMannWhitneyAgreesWithEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n1, n2 := rapid.IntRange(1, 5).Draw(t, "n1"), rapid.IntRange(1, 5).Draw(t, "n2")
		order := rapid.Permutation(countTo(n1+n2)).Draw(t, "order")
		a, b := order[:n1], order[n1:]
		u := uByHand(a, b)
		var atMost, atLeast, total float64
		forSubsets(n1+n2, n1, func(in []bool) {
			var x, y []float64
			for i, chosen := range in {
				if chosen {
					x = append(x, float64(i))
				} else {
					y = append(y, float64(i))
				}
			}
			v := uByHand(x, y)
			total++
			if v <= u {
				atMost++
			}
			if v >= u {
				atLeast++
			}
		})
		for alt, p := range map[Alternative]float64{
			Less: atMost / total, Greater: atLeast / total, TwoSided: min(1, 2*min(atMost, atLeast)/total),
		} {
			res := must(MannWhitney(a, b, alt, RankExact, true))
			want(t, "U", res.U, u, 0)
			want(t, fmt.Sprint("p ", alt), res.P, p, 1e-13)
		}
	})
	exact := must(MannWhitney(lcg(1, 60), lcg(2, 50), TwoSided, RankExact, true)).P
	approx := must(MannWhitney(lcg(1, 60), lcg(2, 50), TwoSided, RankAsymptotic, true)).P
	if math.Abs(exact-approx) > 0.005 {
		t.Errorf("exact p %v, asymptotic %v", exact, approx)
	}
}

func uByHand(a, b []float64) float64 {
	u := 0.0
	for _, x := range a {
		for _, y := range b {
			u += kernel(x, y)
		}
	}
	return u
}

func countTo(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

func TestKendallAgreesWithPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "n")
		x, y := genSample(t, "x", n, n), genSample(t, "y", n, n)
		var diff, nx, ny float64
		for i := range x {
			for j := range i {
				sx, sy := cmpSign(x[i], x[j]), cmpSign(y[i], y[j])
				diff += sx * sy
				nx += sx * sx
				ny += sy * sy
			}
		}
		c, err := Kendall(x, y)
		if nx == 0 || ny == 0 {
			wantUndefined(t, "tau of a constant", err)
			return
		}
		wantFigure(t, "tau", c.R, err, diff/math.Sqrt(nx*ny), 1e-12)
		back := must(Kendall(y, x))
		want(t, "exchanged", back.R, c.R, 1e-12)
		want(t, "exchanged p", back.P, c.P, 1e-9)
		minus := must(Kendall(x, apply(y, func(v float64) float64 { return -v })))
		want(t, "reversed", minus.R, -c.R, 1e-12)
		want(t, "reversed p", minus.P, c.P, 1e-9)
	})
}

func cmpSign(a, b float64) float64 {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func TestKendallExactAgreesWithPermutations(t *testing.T) {
	const n = 5
	base := countTo(n)
	taus := map[float64]int{}
	total := 0
	permute(countTo(n), 0, func(y []float64) {
		taus[math.Round(must(Kendall(base, y)).R*10)]++
		total++
	})
	permute(countTo(n), 0, func(y []float64) {
		c := must(Kendall(base, y))
		extreme := 0
		for tau, k := range taus {
			if math.Abs(tau) >= math.Abs(math.Round(c.R*10)) {
				extreme += k
			}
		}
		want(t, fmt.Sprint("p of ", y), c.P, float64(extreme)/float64(total), 1e-12)
	})
}

func permute(x []float64, k int, f func([]float64)) {
	if k == len(x) {
		f(slices.Clone(x))
		return
	}
	for i := k; i < len(x); i++ {
		x[k], x[i] = x[i], x[k]
		permute(x, k+1, f)
		x[k], x[i] = x[i], x[k]
	}
}

func TestCorrelationProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 20).Draw(t, "n")
		x, y := genSample(t, "x", n, n), genSample(t, "y", n, n)
		p, err := Pearson(x, y)
		if err != nil {
			wantUndefined(t, "Pearson", err)
			return
		}
		want(t, "gonum", p.R+2, stat.Correlation(x, y, nil)+2, 1e-12)
		scaled := must(Pearson(apply(x, func(v float64) float64 { return 3 - 2*v }), y))
		want(t, "affine transform", scaled.R+2, 2-p.R, 1e-12)
		s := must(Spearman(x, y))
		mono := must(Spearman(apply(x, math.Exp), y))
		want(t, "increasing transform", mono.R, s.R, 1e-12)
		for _, c := range []Correlation{p, s} {
			if math.Abs(c.R) > 1 || c.P < 0 || c.P > 1 {
				t.Errorf("got %+v", c)
			}
		}
	})
}

func genTable(t *rapid.T) [][]int {
	rows, cols := rapid.IntRange(2, 4).Draw(t, "rows"), rapid.IntRange(2, 4).Draw(t, "cols")
	table := zeroTable(rows, cols)
	for i := range table {
		for j := range table[i] {
			table[i][j] = rapid.IntRange(0, 8).Draw(t, "count")
		}
	}
	return table
}

func transpose(table [][]int) [][]int {
	out := zeroTable(len(table[0]), len(table))
	for i, row := range table {
		for j, c := range row {
			out[j][i] = c
		}
	}
	return out
}

func TestChiSquareProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, _, _ := DropEmpty(genTable(t))
		res, err := ChiSquare(table, false)
		if err != nil {
			wantUndefined(t, "chi2", err)
			return
		}
		var obs, exp []float64
		for i, row := range table {
			for j, c := range row {
				obs, exp = append(obs, float64(c)), append(exp, res.Expected[i][j])
			}
		}
		want(t, "gonum", res.Statistic, stat.ChiSquare(obs, exp), 1e-12)
		turned := must(ChiSquare(transpose(table), false))
		want(t, "transposed", turned.Statistic, res.Statistic, 1e-9)
		if yates := must(ChiSquare(table, true)); yates.Statistic > res.Statistic+1e-12 {
			t.Errorf("the correction raises chi2 from %v to %v", res.Statistic, yates.Statistic)
		}
		if res.P < 0 || res.P > 1 || math.Abs(math.Exp(res.LogP)-res.P) > 1e-12 {
			t.Errorf("p %v, log p %v", res.P, res.LogP)
		}
		a := must(Associate(table))
		if res.DoF == 0 {
			wantUndefined(t, "V", a.CramerV.Err)
			return
		}
		for _, v := range []float64{a.CramerV.Value, a.TschuprowT.Value, a.PearsonC, a.CramerVCorrected.Value} {
			if v < 0 || v > 1+1e-9 {
				t.Errorf("association %v in %v", v, table)
			}
		}
		if a.TschuprowT.Value > a.CramerV.Value+1e-12 {
			t.Errorf("T %v above V %v", a.TschuprowT.Value, a.CramerV.Value)
		}
	})
}

func TestChiSquareLogTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dof := rapid.IntRange(1, 200).Draw(t, "dof")
		x := rapid.Float64Range(0.1, 3000).Draw(t, "x")
		a, b := ChiSquareLogSF(x, dof), ChiSquareLogSF(x+1, dof)
		if !(b < a) && a < -1e-9 {
			t.Errorf("log p rises from %v to %v at x = %v, dof = %d", a, b, x, dof)
		}
	})
	// Two degrees of freedom: exp(-x/2).
	want(t, "two degrees of freedom", ChiSquareLogSF(5000, 2), -2500, 1e-14)
	// Four: exp(-x/2)*(1+x/2). Six: exp(-x/2)*(1+x/2+x²/8).
	want(t, "four degrees of freedom", ChiSquareLogSF(5000, 4), -2500+math.Log(2501), 1e-14)
	want(t, "six degrees of freedom", ChiSquareLogSF(5000, 6), -2500+math.Log(2501+3125000), 1e-14)
}

func genRatings(t *rapid.T) [][]int {
	n, m, k := rapid.IntRange(2, 8).Draw(t, "subjects"), rapid.IntRange(2, 5).Draw(t, "raters"), rapid.IntRange(2, 4).Draw(t, "categories")
	counts := zeroTable(n, k)
	for i := range counts {
		for range m {
			counts[i][rapid.IntRange(0, k-1).Draw(t, "rating")]++
		}
	}
	return counts
}

func TestFleissProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := genRatings(t)
		a := must(NewAgreement(counts))
		kappa, err := a.FleissKappa()
		alpha, alphaErr := Krippendorff(counts)
		if err != nil {
			wantUndefined(t, "kappa", err)
			wantUndefined(t, "alpha", alphaErr)
			return
		}
		if kappa > 1 || kappa < -1-1e-12 {
			t.Errorf("kappa %v", kappa)
		}
		// Alpha corrects the expected disagreement for the number of ratings N.
		n := float64(a.Subjects() * a.Raters())
		wantFigure(t, "alpha+2", alpha+2, alphaErr, 3-(1-kappa)*(n-1)/n, 1e-12)
		var num, den float64
		for _, c := range a.FleissCategories() {
			if c.Kappa.Defined() {
				num += c.Share * (1 - c.Share) * c.Kappa.Value
				den += c.Share * (1 - c.Share)
			}
		}
		want(t, "weighted mean of the categories", num/den+2, kappa+2, 1e-12)
		if null := must(a.FleissNull()); len(counts[0]) == 2 {
			want(t, "null SE of two categories", null.SE, a.FleissCategories()[0].Null.SE, 1e-9)
		}
		if u := a.Unanimous(); (u == 1) != (kappa == 1) || u > a.Raw()+1e-12 {
			t.Errorf("unanimous %v, raw %v, kappa %v", u, a.Raw(), kappa)
		}
	})
}

func TestCohenProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 4).Draw(t, "categories")
		table := zeroTable(k, k)
		for i := range table {
			for j := range table {
				table[i][j] = rapid.IntRange(0, 5).Draw(t, "count")
			}
		}
		for _, w := range []Weights{Unweighted, Linear, Quadratic} {
			res, err := CohenKappa(table, w)
			if err != nil {
				wantUndefined(t, "kappa", err)
				continue
			}
			back := must(CohenKappa(transpose(table), w))
			want(t, "exchanged raters", back.Kappa+2, res.Kappa+2, 1e-12)
			want(t, "exchanged raters, SE", back.SE+1, res.SE+1, 1e-9)
			if res.Kappa > 1+1e-12 || res.SE < 0 {
				t.Errorf("got %+v", res)
			}
			disagree := func(i, j int) float64 {
				switch w {
				case Linear:
					return math.Abs(float64(i - j))
				case Quadratic:
					return float64((i - j) * (i - j))
				default:
					return cmpSign(float64(i), float64(j)) * cmpSign(float64(i), float64(j))
				}
			}
			rows, cols := make([]float64, k), make([]float64, k)
			var seen, chance float64
			for i := range table {
				for j, c := range table[i] {
					rows[i] += float64(c)
					cols[j] += float64(c)
					seen += disagree(i, j) * float64(c)
				}
			}
			for i := range table {
				for j := range table {
					chance += disagree(i, j) * rows[i] * cols[j] / float64(res.N)
				}
			}
			want(t, "one minus the ratio of disagreements", res.Kappa+2, 3-seen/chance, 1e-11)
		}
	})
}

func TestAdjustProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "p")
		bonf, holm := must(Bonferroni(p)), must(Holm(p))
		bh, by := must(BenjaminiHochberg(p)), must(BenjaminiYekutieli(p))
		for i := range p {
			if !(p[i] <= bh[i]+1e-15 && bh[i] <= holm[i]+1e-12 && holm[i] <= bonf[i]+1e-12 && bh[i] <= by[i]+1e-15 && by[i] <= 1) {
				t.Errorf("p %v: BH %v, Holm %v, Bonferroni %v, BY %v", p[i], bh[i], holm[i], bonf[i], by[i])
			}
			for j := range p {
				if p[i] < p[j] && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Errorf("adjustment changes the order of %v and %v", p[i], p[j])
				}
			}
		}
	})
}

func TestIntervalsAndQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		iv, other := must(Wilson(k, n, 0.9)), must(Wilson(n-k, n, 0.9))
		share := float64(k) / float64(n)
		if iv.Low > share || iv.High < share || iv.Low < 0 || iv.High > 1 || math.Abs(iv.Low-(1-other.High)) > 1e-12 {
			t.Errorf("%d of %d: %+v, complement %+v", k, n, iv, other)
		}
		x := genSample(t, "x", 1, 12)
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		if p > q {
			p, q = q, p
		}
		lo, hi := must(Quantile(x, p)), must(Quantile(x, q))
		if lo > hi+1e-12 || lo < slices.Min(x) || hi > slices.Max(x) {
			t.Errorf("quantiles %v, %v of %v", lo, hi, x)
		}
		moved := must(Quantile(apply(x, func(v float64) float64 { return 4*v + 1 }), p))
		want(t, "affine transform", moved+100, 4*lo+101, 1e-12)
		d := must(Describe(x))
		if d.Mean < d.Min-1e-12 || d.Mean > d.Max+1e-12 || d.Q25 > d.Median || d.Median > d.Q75 {
			t.Errorf("description %+v", d)
		}
	})
}

func TestJensenShannonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		gen := rapid.SliceOfN(rapid.Float64Range(0.01, 1), n, n)
		p, q := gen.Draw(t, "p"), gen.Draw(t, "q")
		d := must(JensenShannon(p, q))
		want(t, "exchanged", must(JensenShannon(q, p))+1, d+1, 1e-12)
		want(t, "itself", must(JensenShannon(p, p)), 0, 0)
		twice := apply(p, func(v float64) float64 { return 2 * v })
		want(t, "scaled weights", must(JensenShannon(twice, q))+1, d+1, 1e-12)
		if d < 0 || d > 1 {
			t.Errorf("divergence %v", d)
		}
	})
}

func TestBootstrapWorkersAndBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genStudy(t)
		r := Resampling{Resamples: 60, Seed: rapid.Uint64().Draw(t, "seed"), Level: 0.9, Workers: 1}
		fast, fastErr := AUROCBootstrap(s.score, s.pass, s.task, r)
		r.Workers = 4
		again, againErr := AUROCBootstrap(s.score, s.pass, s.task, r)
		if fast != again || fmt.Sprint(fastErr) != fmt.Sprint(againErr) {
			t.Errorf("one worker %+v, four %+v", fast, again)
		}
		slow, slowErr := ClusterBootstrap(s.task, func(rows []int) (float64, error) {
			d := s.take(rows)
			return AUROC(d.score, d.pass)
		}, r)
		if (fastErr == nil) != (slowErr == nil) || fast != slow {
			t.Errorf("counts %+v, %v; copied rows %+v, %v", fast, fastErr, slow, slowErr)
		}
	})
}

// take copies rows; the k-th copy of a row is in the k-th copy of its task.
func (s study) take(rows []int) study {
	var d study
	copies := map[int]int{}
	for _, i := range rows {
		copies[i]++
		d.score, d.pass = append(d.score, s.score[i]), append(d.pass, s.pass[i])
		d.task, d.model = append(d.task, fmt.Sprint(s.task[i], "#", copies[i])), append(d.model, s.model[i])
	}
	return d
}

func TestSeparateAgreesWithItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genStudy(t)
		r := Resampling{Resamples: 40, Seed: 3, Level: 0.9, Workers: rapid.IntRange(1, 3).Draw(t, "workers")}
		sep := must(Separate(s.score, s.pass, s.task, s.model, r))
		want(t, "micro", sep.Micro.AUROC.Value, must(AUROC(s.score, s.pass)), 0)
		passing, failing := split(s.score, s.pass)
		want(t, "KS", sep.KS, must(KS(passing, failing, TwoSided, KSExact)).D, 0)
		within := func(keys func(study) [][]string) func(study) (float64, error) {
			return func(d study) (float64, error) {
				p, err := AUROCWithin(d.score, d.pass, keys(d)...)
				return p.AUROC, err
			}
		}
		for name, c := range map[string]struct {
			got  Separated
			slow func(study) (float64, error)
		}{
			"micro": {sep.Micro, within(func(study) [][]string { return nil })},
			"macro": {sep.Macro, func(d study) (float64, error) {
				m, err := AUROCMacro(d.score, d.pass, d.task)
				return m.AUROC, err
			}},
			"wt":  {sep.WithinTask, within(func(d study) [][]string { return [][]string{d.task} })},
			"wm":  {sep.WithinModel, within(func(d study) [][]string { return [][]string{d.model} })},
			"wtm": {sep.WithinTaskModel, within(func(d study) [][]string { return [][]string{d.task, d.model} })},
		} {
			value, err := c.slow(s)
			if err != nil {
				wantUndefined(t, name, c.got.AUROC.Err)
				continue
			}
			want(t, name, c.got.AUROC.Value, value, 0)
			slow, err := ClusterBootstrap(s.task, func(rows []int) (float64, error) { return c.slow(s.take(rows)) }, r)
			if err != nil {
				if c.got.Interval != nil {
					t.Errorf("%s: interval %+v, copied rows say %v", name, c.got.Interval, err)
				}
				continue
			}
			want(t, name+" low", c.got.Interval.Low, slow.Interval.Low, 1e-12)
			want(t, name+" high", c.got.Interval.High, slow.Interval.High, 1e-12)
			want(t, name+" undefined", float64(c.got.Undefined), float64(slow.Undefined), 0)
		}
	})
}

func TestLeaveOneOutAgreesWithCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genStudy(t)
		rates := must(LeaveOneOut(s.pass, s.task, s.model))
		for i := range s.pass {
			var mp, mn, tp, tn float64
			for j, p := range s.pass {
				hit := 0.0
				if p {
					hit = 1
				}
				if s.model[j] == s.model[i] && s.task[j] != s.task[i] {
					mp, mn = mp+hit, mn+1
				}
				if s.task[j] == s.task[i] && j != i {
					tp, tn = tp+hit, tn+1
				}
			}
			if rates.OK[i] != (mn > 0 && tn > 0) {
				t.Fatalf("run %d: OK %v with %v and %v others", i, rates.OK[i], mn, tn)
			}
			if rates.OK[i] {
				want(t, "model rate", rates.Model[i], mp/mn, 0)
				want(t, "task rate", rates.Task[i], tp/tn, 0)
			}
		}
	})
}

func TestBootstrapSpread(t *testing.T) {
	// The mean of 400 uniform values has standard error sd/20.
	x := lcg(5, 400)
	r := DefaultResampling()
	r.Resamples = 4000
	b := must(Bootstrap(len(x), func(rows []int) (float64, error) {
		sum := 0.0
		for _, i := range rows {
			sum += x[i]
		}
		return sum / float64(len(rows)), nil
	}, r))
	se := must(PopulationSD(x)) / 20
	if math.Abs(b.SE/se-1) > 0.05 {
		t.Errorf("standard error %v, want about %v", b.SE, se)
	}
	half := (b.Interval.High - b.Interval.Low) / 2
	if math.Abs(half/(1.96*se)-1) > 0.06 || b.Undefined != 0 || b.Resamples != 4000 {
		t.Errorf("interval %+v, want a half width of about %v", b, 1.96*se)
	}
}

func TestLogisticOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 20).Draw(t, "n")
		x := make([][]float64, n)
		y := make([]bool, n)
		for i := range x {
			x[i] = []float64{float64(rapid.IntRange(-32, 32).Draw(t, "x1")) / 16, float64(rapid.IntRange(-32, 32).Draw(t, "x2")) / 16}
			y[i] = i%2 == 0 != (rapid.IntRange(0, 3).Draw(t, "flip") == 0)
		}
		l2 := rapid.Float64Range(0.1, 10).Draw(t, "l2")
		m, err := FitLogistic(x, y, l2)
		if err != nil {
			wantUndefined(t, "fit", err)
			return
		}
		// At the optimum the residuals balance every standardised feature against the penalty.
		gradient := []float64{l2 * m.Coef[0], l2 * m.Coef[1], 0}
		for i, row := range x {
			p := must(m.Predict(row))
			if y[i] {
				p--
			}
			gradient[0] += p * (row[0] - m.Mean[0]) / m.Scale[0]
			gradient[1] += p * (row[1] - m.Mean[1]) / m.Scale[1]
			gradient[2] += p
		}
		for j, g := range gradient {
			if math.Abs(g) > 1e-6 {
				t.Errorf("gradient %d is %v", j, g)
			}
		}
		moved := make([][]float64, n)
		for i, row := range x {
			moved[i] = []float64{10*row[0] - 3, -row[1]}
		}
		other := must(FitLogistic(moved, y, l2))
		for i := range x {
			want(t, "units do not matter", must(other.Predict(moved[i])), must(m.Predict(x[i])), 1e-6)
		}
	})
}

func TestUnitSumWeights(t *testing.T) {
	seen := map[string]bool{}
	for w := range UnitSumWeights(4, 10) {
		sum := 0.0
		for _, v := range w {
			sum += v
			if v < 0 {
				t.Fatalf("negative weight in %v", w)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("%v sums to %v", w, sum)
		}
		seen[fmt.Sprint(w)] = true
	}
	if len(seen) != 286 {
		t.Errorf("%d points, want C(13,3) = 286", len(seen))
	}
}
