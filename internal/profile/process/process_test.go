package process

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestExpectationIsTheMeanOverAllSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 11).Draw(t, "values")
		k := rapid.IntRange(1, 6).Draw(t, "k")
		sum, n := 0.0, 0
		for set := range 1 << len(values) {
			if bits.OnesCount(uint(set)) != min(k, len(values)) {
				continue
			}
			best := 0.0
			for i, v := range values {
				if set&(1<<i) != 0 {
					best = max(best, v)
				}
			}
			sum += best
			n++
		}
		got := expectation(slices.Clone(values), k)
		if math.Abs(got-sum/float64(n)) > 1e-12 {
			t.Fatalf("%v, all subsets say %v", got, sum/float64(n))
		}
		if got > slices.Max(values)+1e-15 || got < slices.Min(values)-1e-15 {
			t.Fatalf("%v outside of %v", got, values)
		}
		shuffled := rapid.Permutation(values).Draw(t, "shuffled")
		if again := expectation(slices.Clone(shuffled), k); again != got {
			t.Fatalf("%v in one order, %v in another", got, again)
		}
	})
}

func TestBinomial(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want float64
	}{{5, 5, 1}, {10, 4, 210}, {4, 0, 1}, {45, 5, 1221759}, {2000, 5, 265335665000400}, {3, 4, 0}} {
		if got := binomial(c.n, c.k); got != c.want {
			t.Errorf("C(%d,%d) = %v, want %v", c.n, c.k, got, c.want)
		}
	}
}

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		a, b []steps.ID
		want float64
	}{
		{nil, nil, 0}, {[]steps.ID{1}, nil, 0}, {[]steps.ID{1, 3}, []steps.ID{3, 4}, 1.0 / 3}, {[]steps.ID{2}, []steps.ID{2}, 1},
	} {
		if got := fileOverlap(c.a, c.b); got != c.want {
			t.Errorf("%v, %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	a := []steps.Count{{Token: 1, N: 3}, {Token: 4, N: 1}}
	b := []steps.Count{{Token: 1, N: 2}, {Token: 2, N: 5}}
	if got := tokenOverlap(a, b, 4, 7); got != 2.0/9 {
		t.Errorf("tokens: %v, want 2/9", got)
	}
	if got := tokenOverlap(nil, nil, 0, 0); got != 0 {
		t.Errorf("no tokens: %v", got)
	}
}

func TestJudge(t *testing.T) {
	cuts := DefaultParams().Cuts
	for _, c := range []struct {
		score      float64
		o          trajectory.Outcome
		tier       taxonomy.Tier
		borderline bool
	}{
		{68.1, trajectory.Pass, "ideal", true}, {72.2, trajectory.Pass, "ideal", false}, {68.0, trajectory.Pass, "solid", true},
		{50, trajectory.Pass, "solid", false}, {41.8, trajectory.Pass, "solid", true}, {41.7, trajectory.Pass, "lucky", true},
		{30, trajectory.Pass, "lucky", false}, {41.8, trajectory.Fail, "partial_fail", true}, {41.7, trajectory.Fail, "off_track", true},
		{68, trajectory.Fail, "partial_fail", false},
	} {
		if got := cuts.judge(c.score, c.o); got.tier != c.tier || got.borderline != c.borderline || got.rule == "" {
			t.Errorf("%v %v: %+v, want %s, %v", c.score, c.o, got, c.tier, c.borderline)
		}
	}
}

func TestValidateNamesTheKey(t *testing.T) {
	if err := DefaultParams().Validate(); err != nil {
		t.Error(err)
	}
	for key, change := range map[string]func(*Params){
		"k is 0":             func(p *Params) { p.K = 0 },
		"weights.f":          func(p *Params) { p.Weights.F = -1 },
		"weights.v":          func(p *Params) { p.Weights.V = math.NaN() },
		"the weights add up": func(p *Params) { p.Weights = Weights{} },
		"cuts.borderline":    func(p *Params) { p.Cuts.Borderline = -1 },
		"at most cuts.ideal": func(p *Params) { p.Cuts.Low = 70 },
	} {
		p := DefaultParams()
		change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", key, err)
		}
	}
}
