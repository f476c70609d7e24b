package process

import (
	"cmp"
	"math"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/profile/steps"
)

// expectation returns the exact mean, over all subsets of k of the values, of the largest
// value in the subset; the largest of all when there are at most k (docs/spec/process.md,
// section 4). It sorts the values, of which there must be at least one.
func expectation(values []float64, k int) float64 {
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	n := len(values)
	if n <= k {
		return values[0]
	}
	sum := 0.0
	for i, v := range values[:n-k+1] { // from there on, k-1 smaller ones are not left
		sum += float64(v * binomial(n-1-i, k-1))
	}
	return sum / binomial(n, k)
}

// binomial is exact while every intermediate product is below 2^53, which for k = 5 holds
// up to n of about 2,400.
func binomial(n, k int) float64 {
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return c
}

// fileOverlap is the Jaccard index of two sorted sets, 0 for two empty ones.
func fileOverlap(a, b []steps.ID) float64 {
	both, i := 0, 0
	for _, x := range a {
		for i < len(b) && b[i] < x {
			i++
		}
		if i < len(b) && b[i] == x {
			both++
		}
	}
	union := len(a) + len(b) - both
	if union == 0 {
		return 0
	}
	return float64(both) / float64(union)
}

// tokenOverlap is the weighted Jaccard index of two sorted multisets of the given sizes.
func tokenOverlap(a, b []steps.Count, sizeA, sizeB int64) float64 {
	both, i := int64(0), 0
	for _, x := range a {
		for i < len(b) && b[i].Token < x.Token {
			i++
		}
		if i < len(b) && b[i].Token == x.Token {
			both += int64(min(x.N, b[i].N))
		}
	}
	union := sizeA + sizeB - both
	if union == 0 {
		return 0
	}
	return float64(both) / float64(union)
}

// verified is part V: each verification halves what is missing.
func verified(n int64) float64 { return 1 - math.Pow(0.5, float64(n)) }
