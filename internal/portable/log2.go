// Package portable has the mathematical functions whose last bits differ between machines
// in the standard library, because some of them may fuse a multiplication and an addition.
//
// Invariant: the same argument gives the same bits on every architecture.
package portable

import "math"

// Log2 returns the binary logarithm of a positive, finite x. Its error is a few units in
// the last place; Log2 of a power of two is exact.
func Log2(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	// ln f = 2 artanh s with s = (f-1)/(f+1), |s| < 0.172: twelve terms of the odd series
	// leave less than 1e-19.
	s := (fraction - 1) / (fraction + 1)
	square := s * s
	sum := 0.0
	for n := 23.0; n >= 1; n -= 2 {
		sum = float64(sum*square) + 1/n
	}
	return float64(exponent) + float64(float64(float64(2*s)*sum)*math.Log2E)
}
