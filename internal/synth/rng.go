package synth

import (
	"math/bits"
	"math/rand/v2"
)

// rng draws from a PCG stream. It has its own bounded draw because the one of math/rand/v2
// differs between 32-bit and 64-bit machines.
type rng struct{ src *rand.PCG }

// newRNG returns the stream named by the key; different keys give unrelated streams.
func newRNG(key ...uint64) rng {
	h := uint64(0x9e3779b97f4a7c15)
	for _, k := range key {
		h = mix(h ^ k)
	}
	return rng{rand.NewPCG(h, mix(h))}
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number in [0, n).
func (r rng) below(n int) int {
	hi, _ := bits.Mul64(r.src.Uint64(), uint64(n))
	return int(hi)
}

// between returns a number in [lo, hi].
func (r rng) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// chance is true in permille of 1,000 draws.
func (r rng) chance(permille int) bool { return r.below(1000) < permille }

// hex appends n random hexadecimal digits.
func (r rng) hex(b []byte, n int) []byte {
	const digits = "0123456789abcdef"
	var word uint64
	for i := range n {
		if i%16 == 0 {
			word = r.src.Uint64()
		}
		b = append(b, digits[word&15])
		word >>= 4
	}
	return b
}

func pick[T any](r rng, from []T) T { return from[r.below(len(from))] }

// shuffle orders s at random.
func shuffle[T any](r rng, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := r.below(i + 1)
		s[i], s[j] = s[j], s[i]
	}
}
