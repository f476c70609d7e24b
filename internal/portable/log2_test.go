package portable_test

import (
	"math"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/portable"
	"pgregory.net/rapid"
)

func TestLog2(t *testing.T) {
	for e := -1074; e <= 1023; e++ {
		if got := portable.Log2(math.Ldexp(1, e)); got != float64(e) {
			t.Errorf("Log2(2^%d) = %v", e, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64).Draw(t, "x")
		got, want := portable.Log2(x), math.Log2(x)
		if math.Abs(got-want) > 4e-16*max(1, math.Abs(want)) {
			t.Fatalf("Log2(%v) = %v, want %v", x, got, want)
		}
	})
}
