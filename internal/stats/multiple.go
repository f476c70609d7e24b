package stats

import (
	"math"
	"slices"
)

// Holm returns p-values adjusted by Holm's step-down method (family-wise error), in the
// order given. No p-value is no adjustment: an empty result.
func Holm(p []float64) ([]float64, error) {
	return adjust(p, func(order []int, out []float64) {
		high := 0.0
		for k, i := range order {
			high = max(high, min(1, float64(len(p)-k)*p[i]))
			out[i] = high
		}
	})
}

// BenjaminiHochberg returns p-values adjusted for the false discovery rate under
// independence or positive dependence, in the order given.
func BenjaminiHochberg(p []float64) ([]float64, error) { return stepUp(p, 1) }

// BenjaminiYekutieli returns p-values adjusted for the false discovery rate under any
// dependence: Benjamini-Hochberg times Σ 1/i.
func BenjaminiYekutieli(p []float64) ([]float64, error) {
	harmonic := 0.0
	for i := range p {
		harmonic += 1 / float64(i+1)
	}
	return stepUp(p, harmonic)
}

// Bonferroni returns min(1, n*p).
func Bonferroni(p []float64) ([]float64, error) {
	return adjust(p, func(order []int, out []float64) {
		for _, i := range order {
			out[i] = min(1, float64(len(p))*p[i])
		}
	})
}

func stepUp(p []float64, factor float64) ([]float64, error) {
	return adjust(p, func(order []int, out []float64) {
		low := 1.0
		for k, i := range slices.Backward(order) {
			low = min(low, p[i]*(float64(len(p))*factor/float64(k+1)))
			out[i] = low
		}
	})
}

// adjust checks p and hands its ascending order to f.
func adjust(p []float64, f func(order []int, out []float64)) ([]float64, error) {
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, invalid("p-value %d is %v", i, v)
		}
	}
	out := make([]float64, len(p))
	f(sortedOrder(p), out)
	return out, nil
}

// Wilson returns the score interval of a share of k out of n (Wilson 1927). n = 0 is
// undefined.
func Wilson(k, n int, level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	if k < 0 || n < 0 || k > n {
		return Interval{}, invalid("%d of %d", k, n)
	}
	if n == 0 {
		return Interval{}, undefined("a share of nothing")
	}
	z := normalQuantile(level)
	p, nf := float64(k)/float64(n), float64(n)
	z2 := z * z
	den := 1 + z2/nf
	centre := (p + z2/(2*nf)) / den
	half := float64(z / den * math.Sqrt(p*(1-p)/nf+z2/(4*nf*nf)))
	iv := Interval{centre - half, centre + half, level}
	if k == 0 {
		iv.Low = 0
	}
	if k == n {
		iv.High = 1
	}
	return iv, nil
}
