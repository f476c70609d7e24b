package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// JensenShannon returns the Jensen-Shannon divergence of two distributions in bits: 0 for
// equal, 1 for disjoint ones. It is the divergence, not the distance (its square root) that
// scipy's jensenshannon returns. Weights are divided by their sum first; a sum of 0 is
// undefined, negative weights are refused.
func JensenShannon(p, q []float64) (float64, error) {
	if err := checkLength("weights", len(p), "weights", len(q)); err != nil {
		return 0, err
	}
	p, err := shares(p)
	if err != nil {
		return 0, err
	}
	q, err = shares(q)
	if err != nil {
		return 0, err
	}
	return min(1, max(0, stat.JensenShannon(p, q)/math.Ln2)), nil
}

// Entropy returns the Shannon entropy -Σ p log2 p in bits of weights divided by their sum.
func Entropy(weights []float64) (float64, error) {
	p, err := shares(weights)
	if err != nil {
		return 0, err
	}
	return max(0, stat.Entropy(p)/math.Ln2), nil
}

func shares(w []float64) ([]float64, error) {
	if err := checkFinite("weight", w); err != nil {
		return nil, err
	}
	sum := 0.0
	for i, v := range w {
		if v < 0 {
			return nil, invalid("weight %d is %v", i, v)
		}
		sum += v
	}
	if math.IsInf(sum, 0) {
		return nil, invalid("the weights sum to more than float64 holds")
	}
	if sum == 0 {
		return nil, undefined("the weights sum to 0")
	}
	p := make([]float64, len(w))
	for i, v := range w {
		p[i] = v / sum
	}
	return p, nil
}
