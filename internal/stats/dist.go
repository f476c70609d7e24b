package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Alternative is the side of a test.
type Alternative int

const (
	// TwoSided tests for any difference.
	TwoSided Alternative = iota
	// Less is the alternative that the first sample is stochastically smaller
	// (Mann-Whitney), or that its distribution function lies below the second's
	// (Kolmogorov-Smirnov), as in scipy.
	Less
	// Greater is the opposite of Less.
	Greater
)

// String returns scipy's name of the alternative.
func (a Alternative) String() string {
	switch a {
	case Less:
		return "less"
	case Greater:
		return "greater"
	default:
		return "two-sided"
	}
}

// NormalSF returns P(Z > z) of the standard normal distribution, exact far into the tail
// (it underflows near z = 38.5).
func NormalSF(z float64) float64 { return 0.5 * math.Erfc(z/math.Sqrt2) }

// normalQuantile returns z with P(|Z| <= z) = level.
func normalQuantile(level float64) float64 { return math.Sqrt2 * math.Erfinv(level) }

// ChiSquareSF returns P(X > x) of the chi-square distribution with dof degrees of freedom:
// the regularised upper incomplete gamma function Q(dof/2, x/2). It is 1 for dof = 0 or
// x <= 0, and underflows to 0 below about 1e-308; [ChiSquareLogSF] goes on.
func ChiSquareSF(x float64, dof int) float64 {
	if dof <= 0 || x <= 0 {
		return 1
	}
	return mathext.GammaIncRegComp(float64(dof)/2, x/2)
}

// ChiSquareLogSF returns the natural logarithm of [ChiSquareSF], also where the probability
// itself underflows; there by the continued fraction of the upper incomplete gamma function
// (Abramowitz and Stegun 6.5.31, evaluated by Lentz's method).
func ChiSquareLogSF(x float64, dof int) float64 {
	if p := ChiSquareSF(x, dof); p > 1e-290 {
		return math.Log(p)
	}
	a, h := float64(dof)/2, x/2
	const tiny = 1e-300
	b := h + 1 - a
	c := 1 / tiny
	d := 1 / b
	f := d
	for i := 1.0; i < 1e4; i++ {
		an := -i * (i - a)
		b += 2
		d = 1 / (float64(an*d) + b)
		c = b + an/c
		step := float64(c * d)
		f *= step
		if math.Abs(step-1) < 1e-16 {
			break
		}
	}
	lg, _ := math.Lgamma(a)
	return float64(a*math.Log(h)) - h - lg + math.Log(f)
}

// studentTwoSided returns P(|T| > |t|) of Student's t distribution with dof > 0.
func studentTwoSided(t, dof float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return mathext.RegIncBeta(dof/2, 0.5, dof/(dof+float64(t*t)))
}
