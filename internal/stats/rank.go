package stats

import (
	"math"
	"math/big"
)

// RankMethod names the distribution behind a rank test's p-value.
type RankMethod int

const (
	// RankAuto is RankExact when the smaller sample has at most 8 values and no values tie,
	// else RankAsymptotic (scipy's rule).
	RankAuto RankMethod = iota
	// RankExact counts arrangements as if there were no ties.
	RankExact
	// RankAsymptotic is the normal approximation with the variance corrected for ties.
	RankAsymptotic
)

// String returns the name to print next to a p-value.
func (m RankMethod) String() string {
	switch m {
	case RankExact:
		return "exact"
	case RankAsymptotic:
		return "asymptotic"
	default:
		return "auto"
	}
}

// MannWhitneyResult is a Mann-Whitney U test.
type MannWhitneyResult struct {
	U            float64 // of the first sample: pairs it wins, ties counting one half
	P            float64
	CommonLang   float64 // U/(n1*n2), the probability that a value of the first sample is larger
	RankBiserial float64 // 2*CommonLang - 1
	Method       RankMethod
	Alternative  Alternative
	Ties         bool // values tie, so an exact p-value is approximate
	N1, N2       int
}

// MannWhitney tests whether the first sample tends to be larger (Greater), smaller (Less) or
// either. continuity moves U by 1/2 towards its mean in the asymptotic method. An exact
// p-value with ties rounds U down to an integer, as scipy does. Equal values throughout give
// p = 1 with the correction and are undefined without; an empty sample is undefined.
func MannWhitney(a, b []float64, alt Alternative, method RankMethod, continuity bool) (MannWhitneyResult, error) {
	if err := checkNaN("value of the first sample", a); err != nil {
		return MannWhitneyResult{}, err
	}
	if err := checkNaN("value of the second sample", b); err != nil {
		return MannWhitneyResult{}, err
	}
	if len(a) == 0 || len(b) == 0 {
		return MannWhitneyResult{}, undefined("the samples have %d and %d values", len(a), len(b))
	}
	all := append(append(make([]float64, 0, len(a)+len(b)), a...), b...)
	n1, n2 := float64(len(a)), float64(len(b))
	rankSum := 0.0
	for _, r := range Ranks(all)[:len(a)] {
		rankSum += r
	}
	u := rankSum - float64(n1*(n1+1))/2
	ties := sumOf(tieSizes(all), cubicTies)
	res := MannWhitneyResult{
		U: u, CommonLang: u / (n1 * n2), RankBiserial: 2*u/(n1*n2) - 1,
		Method: method, Alternative: alt, Ties: ties > 0, N1: len(a), N2: len(b),
	}
	if method == RankAuto {
		res.Method = RankAsymptotic
		if min(len(a), len(b)) <= 8 && !res.Ties {
			res.Method = RankExact
		}
	}
	extreme, sides := u, 1.0
	switch alt {
	case Less:
		extreme = n1*n2 - u
	case TwoSided:
		extreme, sides = max(u, n1*n2-u), 2
	}
	if res.Method == RankExact {
		res.P = min(1, sides*exactUSF(int(extreme), len(a), len(b)))
		return res, nil
	}
	n := n1 + n2
	sd := math.Sqrt(n1 * n2 / 12 * (n + 1 - ties/(n*(n-1))))
	num := extreme - n1*n2/2
	if continuity {
		num -= 0.5
	}
	if sd == 0 {
		if !continuity {
			return MannWhitneyResult{}, undefined("all values are equal, so U has no variance")
		}
		res.P = 1
		return res, nil
	}
	res.P = min(1, sides*NormalSF(num/sd))
	return res, nil
}

// exactUSF returns P(U >= u) when all orders of n1 + n2 distinct values are equally likely.
// The number of orders with U = k is the coefficient of q^k of the Gaussian binomial
// Π_{i=1..n1} (1-q^(n2+i))/(1-q^i); it is symmetric, so the lower tail suffices.
func exactUSF(u, n1, n2 int) float64 {
	if u <= 0 {
		return 1
	}
	upper := n1*n2 - u // P(U >= u) = P(U <= upper)
	if upper < 0 {
		return 0
	}
	complement := upper > n1*n2/2
	if complement {
		upper = u - 1 // 1 - P(U <= u-1)
	}
	n1, n2 = min(n1, n2), max(n1, n2)
	count := make([]big.Int, upper+1)
	count[0].SetInt64(1)
	for i := 1; i <= n1; i++ {
		for k := upper; k >= n2+i; k-- {
			count[k].Sub(&count[k], &count[k-n2-i])
		}
		for k := i; k <= upper; k++ {
			count[k].Add(&count[k], &count[k-i])
		}
	}
	var sum, total big.Int
	for k := range count {
		sum.Add(&sum, &count[k])
	}
	total.Binomial(int64(n1+n2), int64(n1))
	if complement {
		sum.Sub(&total, &sum)
	}
	p, _ := new(big.Rat).SetFrac(&sum, &total).Float64()
	return p
}

// KruskalResult is a Kruskal-Wallis test.
type KruskalResult struct {
	H   float64
	DoF int
	P   float64
}

// Kruskal tests whether all groups have the same distribution of ranks: H corrected for
// ties, p from the chi-square distribution with groups-1 degrees of freedom. Fewer than two
// groups, an empty group or equal values throughout are undefined.
func Kruskal(groups ...[]float64) (KruskalResult, error) {
	if len(groups) < 2 {
		return KruskalResult{}, undefined("Kruskal-Wallis needs two groups, got %d", len(groups))
	}
	var all []float64
	for i, g := range groups {
		if len(g) == 0 {
			return KruskalResult{}, undefined("group %d is empty", i)
		}
		if err := checkNaN("value of a group", g); err != nil {
			return KruskalResult{}, err
		}
		all = append(all, g...)
	}
	n := float64(len(all))
	correction := 1 - sumOf(tieSizes(all), cubicTies)/cubicTies(n)
	if constant(all) {
		return KruskalResult{}, undefined("all values are equal")
	}
	ranks := Ranks(all)
	sum := 0.0
	for _, g := range groups {
		r := 0.0
		for _, v := range ranks[:len(g)] {
			r += v
		}
		ranks = ranks[len(g):]
		sum += float64(r*r) / float64(len(g))
	}
	h := (float64(12/(n*(n+1))*sum) - 3*(n+1)) / correction
	dof := len(groups) - 1
	return KruskalResult{h, dof, ChiSquareSF(h, dof)}, nil
}
