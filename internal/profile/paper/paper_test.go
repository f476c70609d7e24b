package paper

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// parse reads a walk: one word per step, a stage letter and an optional file, such as Ea.
func parse(t testing.TB, text string) walk {
	var w walk
	for word := range strings.FieldsSeq(text) {
		label, err := trajectory.ParseStage(word[:1])
		if err != nil {
			t.Fatal(err)
		}
		var file steps.ID
		if len(word) > 1 {
			file = steps.ID(word[1])
		}
		s := steps.Step{File: file}
		w.add(&s, label)
	}
	return w
}

func show(events []event) string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("%s %d-%d", e.by.kind(), e.from, e.to))
	}
	return strings.Join(out, ", ")
}

func TestWasteDetectors(t *testing.T) {
	for _, c := range []struct{ name, run, path, known, want string }{
		{"nothing", "E I V", "E I V", "", ""},
		{"three equal steps waste the third", "V V V", "E I", "", "blind_retry 2-3"},
		{"two equal steps are none", "V V E", "E I", "", ""},
		{"a path that retries excuses retries", "Va Va Va Va", "Va Va Va", "", ""},
		{"it excuses the same step only", "Va Va Va", "Vb Vb Vb", "", "blind_retry 2-3"},
		{"two copies of a pair", "E V E V", "E", "", "cyclic_pattern 2-4"},
		{"the longest repetition is one event", "I V I V I V O", "E", "", "cyclic_pattern 2-6"},
		{"an incomplete copy does not count", "I V O I V", "E", "", ""},
		{"a path with the cycle excuses it", "I V I V", "O I V I V", "", ""},
		{"equal steps are no cycle", "V V V V", "V V V", "", ""},
		{"reading a file again", "Ea Eb Ea", "E", "ab", "redundant_step 2-3"},
		{"an implementation forgets", "Ea I Ea", "Ea I Ea", "a", ""},
		{"a path that reads twice excuses it", "Ea Eb Ea", "Ea Ea", "ab", ""},
		{"exploring unknown files late", "Ia Eb", "E", "a", "unnecessary_exploration 1-2"},
		{"tests are never unnecessary", "Ia Et", "E", "a", ""},
		{"exploring before the first edit is fine", "Eb Ia", "E", "a", ""},
		{"back to exploration for two steps", "I E V I", "I V", "", "regression_loop 1-3"},
		{"one step is no loop", "I E I", "I V", "", ""},
		{"a loop needs another implementation", "I E E", "I V", "", ""},
		{"a path that goes back there excuses it", "I E V I", "I E", "", ""},
		{"but not elsewhere", "I E V I", "I I I I I I E", "", "regression_loop 1-3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			known := map[steps.ID]bool{}
			for _, b := range []byte(c.known) {
				known[steps.ID(b)] = true
			}
			got := show(findWaste(parse(t, c.run), parse(t, c.path), known, func(f steps.ID) bool { return f == 't' }))
			if got != c.want {
				t.Errorf("run %q, path %q: %q, want %q", c.run, c.path, got, c.want)
			}
		})
	}
}

var stages = trajectory.Stages()

func drawWalk(t *rapid.T, name string) walk {
	var w walk
	for range rapid.IntRange(1, 14).Draw(t, name) {
		s := steps.Step{File: steps.ID(rapid.IntRange(0, 2).Draw(t, "file"))}
		w.add(&s, rapid.SampledFrom(stages[:]).Draw(t, "label"))
	}
	return w
}

func TestWasteSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, g := drawWalk(t, "run"), drawWalk(t, "path")
		events := findWaste(k, g, map[steps.ID]bool{1: true}, func(steps.ID) bool { return false })
		s := sumWaste(events, k.len())
		union, attributed := map[int]bool{}, int64(0)
		for d := range detectors {
			own := map[int]bool{}
			for _, e := range events {
				if e.first < 0 || e.first > e.from || e.to > k.len() || e.from >= e.to {
					t.Fatalf("event %+v of %d steps", e, k.len())
				}
				if e.by == d {
					for i := e.from; i < e.to; i++ {
						own[i], union[i] = true, true
					}
				}
			}
			if s.steps[d] != int64(len(own)) || s.attributed[d] > s.steps[d] {
				t.Fatalf("%s: %d steps, %d attributed, its set has %d", d.kind(), s.steps[d], s.attributed[d], len(own))
			}
			attributed += s.attributed[d]
		}
		if s.total != int64(len(union)) || attributed != s.total || s.total > int64(k.len()) {
			t.Fatalf("union %d, total %d, attributed %d of %d steps", len(union), s.total, attributed, k.len())
		}
		for _, e := range findWaste(g, g, nil, func(steps.ID) bool { return true }) {
			if e.by == blind || e.by == cyclic {
				t.Fatalf("a path is charged with its own pattern: %+v", e)
			}
		}
	})
}

func TestCoherence(t *testing.T) {
	for _, c := range []struct {
		run  string
		want float64
	}{
		{"E", 1},
		{"E E I V", 1},                        // two pivots and one deepening
		{"V E", 0},                            // one backtrack
		{"O E", 0},                            // leaving orchestration is a backtrack
		{"E O", 1},                            // a confirm
		{"E I E I", 2.0 / 3},                  // two pivots, one backtrack
		{"Ea Ea Ea Ea Ib", 1 * (1 - 2.0/4)},   // two retries in four transitions
		{"Ea Ea Ea Ia Ea", 0.5 * (1 - 1.0/4)}, // both
		{"E E I V E I I I I V E I V", 0.75 * (1 - 2.0/12)}, // the paper's chaotic panel as the formula has it
	} {
		if got := coherence(parse(t, c.run)); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", c.run, got, c.want)
		}
	}
}

func TestTemporal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := stageThirds(drawWalk(t, "a").label), stageThirds(drawWalk(t, "b").label)
		got := temporal(a, b)
		if got < 0 || got > 1 || math.Abs(got-temporal(b, a)) > 1e-15 {
			t.Fatalf("temporal %v and %v", got, temporal(b, a))
		}
		if self := temporal(a, a); self != 1 {
			t.Fatalf("a run against itself: %v", self)
		}
		for _, third := range a {
			if sum := third[0] + third[1] + third[2] + third[3]; math.Abs(sum-1) > 1e-12 {
				t.Fatalf("a segment's shares add up to %v", sum)
			}
		}
	})
	all := func(s string) thirds { return stageThirds(parse(t, strings.Repeat(s+" ", 300)).label) }
	if got := temporal(all("E"), all("V")); got > 0.01 {
		t.Errorf("nothing in common: %v", got)
	}
	if m := meanThirds([]thirds{all("E"), all("V")}); math.Abs(m[1][0]-0.5) > 1e-3 || math.Abs(m[1][2]-0.5) > 1e-3 {
		t.Errorf("mean of E and V: %v", m[1])
	}
}

func TestTiers(t *testing.T) {
	cuts := New().Score().Cuts
	for _, c := range []struct {
		f    float64
		o    trajectory.Outcome
		want taxonomy.Tier
	}{
		{70, trajectory.Pass, "ideal"}, {69.999, trajectory.Pass, "solid"}, {47, trajectory.Pass, "solid"}, {46.999, trajectory.Pass, "lucky"},
		{47, trajectory.Fail, "partial_fail"}, {46.999, trajectory.Fail, "off_track"}, {99, trajectory.Unknown, ""},
	} {
		if got := cuts.Tier(c.f, c.o); got != c.want {
			t.Errorf("%v %v: %q, want %q", c.f, c.o, got, c.want)
		}
	}
}

func TestLuckyCategories(t *testing.T) {
	half, most := 0.49, 0.5
	waste := func(blindSteps, blindEvents, cyclicEvents int64) wasteSum {
		var s wasteSum
		s.steps[blind], s.events[blind], s.events[cyclic] = blindSteps, blindEvents, cyclicEvents
		return s
	}
	verifies := countLabels([]trajectory.Stage{trajectory.Verification})
	for _, c := range []struct {
		want string
		in   luckyInput
	}{
		{"C1", luckyInput{steps: 8}},
		{"C5", luckyInput{steps: 9}},
		{"C5", luckyInput{steps: 8, labels: verifies}},
		{"C5", luckyInput{steps: 8, waste: waste(1, 1, 0)}},
		{"C2", luckyInput{steps: 20, waste: waste(3, 2, 0)}},
		{"C2", luckyInput{steps: 20, waste: waste(3, 1, 1)}},
		{"C2", luckyInput{steps: 20, waste: waste(8, 1, 0)}},
		{"C5", luckyInput{steps: 20, waste: waste(7, 1, 0)}},
		{"C5", luckyInput{steps: 20, waste: waste(2, 2, 1)}},
		{"C4", luckyInput{steps: 31, exploreRatio: 2.1, implCoverage: &half}},
		{"C3", luckyInput{steps: 30, exploreRatio: 2.1, implCoverage: &half}},
		{"C5", luckyInput{steps: 31, exploreRatio: 2, implCoverage: &most}},
	} {
		if got, rule := categorise(c.in); got.Code != c.want || rule == "" {
			t.Errorf("%+v: %+v, want %s", c.in, got, c.want)
		}
	}
}

func TestSummarise(t *testing.T) {
	cuts := DefaultParams().Cuts
	if Summarise(nil, cuts, trajectory.Pass) != nil {
		t.Error("a summary of no draws")
	}
	got := Summarise([]float64{40, 50, 60, 74}, cuts, trajectory.Pass)
	if got.Mean != 56 || got.Tier != "solid" || got.Share != 0.5 || math.Abs(got.SD-math.Sqrt(632.0/3)) > 1e-12 {
		t.Errorf("%+v", *got)
	}
	if one := Summarise([]float64{40}, cuts, trajectory.Fail); one.SD != 0 || one.Share != 1 {
		t.Errorf("%+v", *one)
	}
}

func TestValidateNamesTheKey(t *testing.T) {
	if err := DefaultParams().Validate(); err != nil {
		t.Error(err)
	}
	for key, change := range map[string]func(*Params){
		"k is 1":             func(p *Params) { p.K = 1 },
		"labels":             func(p *Params) { p.Labels = "gold" },
		"draws":              func(p *Params) { p.Draws = -1 },
		"weights.coh":        func(p *Params) { p.Weights.Coh = math.NaN() },
		"weights.temp":       func(p *Params) { p.Weights.Temp = math.Inf(1) },
		"the weights add up": func(p *Params) { p.Weights = Weights{} },
		"cuts.ideal":         func(p *Params) { p.Cuts.Ideal = 101 },
		"at most cuts.ideal": func(p *Params) { p.Cuts.Solid = 71 },
		"cuts.partial_fail":  func(p *Params) { p.Cuts.PartialFail = -1 },
	} {
		p := DefaultParams()
		change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", key, err)
		}
	}
}
