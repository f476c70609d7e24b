package waste_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// steps reads "E:a I:b V": stages with the file after the colon. Every step has the tool t,
// 10 input tokens and 1 output token.
func steps(text string) []waste.Step {
	var out []waste.Step
	for _, word := range strings.Fields(text) {
		letter, file, _ := strings.Cut(word, ":")
		stage, err := trajectory.ParseStage(letter)
		if err != nil {
			panic(err)
		}
		s := waste.Step{Stage: stage, Tool: "t", File: file, InputTokens: 10, OutputTokens: 1}
		if stage == trajectory.NoStage {
			s = waste.Step{}
		}
		out = append(out, s)
	}
	return out
}

// newCase makes a case in which no step is aligned but the initial one and those listed.
func newCase(run, best, files string, aligned ...int) *waste.Case {
	c := &waste.Case{
		Run: steps(run), All: append(steps("-"), steps(run)...), Best: append(steps("-"), steps(best)...),
		Files: make(map[string]bool),
	}
	c.First = c.Best
	c.Aligned = make([]bool, len(c.All))
	for _, j := range append(aligned, 0) {
		c.Aligned[j] = true
	}
	for _, f := range strings.Fields(files) {
		c.Files[f] = true
	}
	return c
}

func TestDetectors(t *testing.T) {
	for _, tc := range []struct {
		name, run, ref, files string
		want                  []waste.Span
	}{
		{name: "exploration between implementations", run: "E:a I:a E:b V I:c", ref: "E:a I:a", files: "a b c",
			want: []waste.Span{{Kind: waste.RegressionLoop, First: 2, Last: 3, Wasted: 2}}},
		{name: "too short", run: "E:a I:a E:b I:c", ref: "E:a I:a", files: "a b c"},
		{name: "never implements again", run: "E:a I:a E:b V V", ref: "E:a I:a", files: "a b c"},
		{name: "the reference returns at the same place", run: "E:a I:a V E:b V I:c", ref: "E:x I:x E:y V V", files: "a b c"},
		{name: "three equal steps", run: "V V V V I:a", ref: "E:a",
			want: []waste.Span{{Kind: waste.BlindRetry, First: 0, Last: 3, Wasted: 2, Repetitions: 4}}},
		{name: "two equal steps", run: "V V I:a", ref: "E:a"},
		{name: "the reference repeats as well", run: "V V V I:a", ref: "V V V"},
		{name: "explored twice", run: "E:a E:b E:a I:a E:a", ref: "I:a", files: "a b",
			want: []waste.Span{{Kind: waste.RedundantStep, First: 2, Last: 2, Wasted: 2}}},
		{name: "the reference explores twice", run: "E:a E:b E:a", ref: "E:a E:a", files: "a b"},
		{name: "unknown file after the implementation", run: "E:z I:a E:z E:my_test.py E:a", ref: "I:a", files: "a",
			want: []waste.Span{{Kind: waste.UnnecessaryExploration, First: 2, Last: 2, Wasted: 2}}},
		{name: "a cycle", run: "V I:a V I:a V I:a", ref: "I:a",
			want: []waste.Span{{Kind: waste.CyclicPattern, First: 0, Last: 5, Wasted: 2, Repetitions: 3, PatternLen: 2}}},
		{name: "the reference cycles as well", run: "V I:a V I:a", ref: "V I:a V I:a"},
		{name: "equal steps are no cycle", run: "V V", ref: "I:a"},
	} {
		c := newCase(tc.run, tc.ref, tc.files)
		got := waste.Detect(c)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", tc.name, got, tc.want)
		}
		for _, s := range tc.want {
			count, wasted := waste.Total(got, s.Kind)
			if count != 1 || wasted != int64(s.Last-s.Wasted+1) {
				t.Errorf("%s: %d spans, %d steps", tc.name, count, wasted)
			}
		}
	}
}

func TestReport(t *testing.T) {
	// States 1 (step 0) and 6 (step 5) are aligned. Steps 4 and 5, taken as states 4 and 5,
	// deal with the files of states 1 and 6; the reference no longer explores after its
	// implementation.
	c := newCase("E:a V V V I:a E:b O E:a", "E:a I:a V", "", 1, 6)
	got := waste.Inspect(c)
	want := []waste.Span{
		{Kind: waste.BlindRetry, First: 1, Last: 3, Wasted: 3, Repetitions: 3},
		{Kind: waste.RedundantStep, First: 4, Last: 4, Wasted: 4},
		{Kind: waste.RedundantStep, First: 5, Last: 5, Wasted: 5},
		{Kind: waste.UnnecessaryExploration, First: 5, Last: 5, Wasted: 5},
		{Kind: waste.UnnecessaryExploration, First: 7, Last: 7, Wasted: 7},
		{Kind: waste.Backtrack, First: 3, Last: 4, Wasted: 5, Detail: "VI"},
		{Kind: waste.Backtrack, First: 4, Last: 5, Wasted: 6, Detail: "IE"},
		{Kind: waste.Backtrack, First: 6, Last: 7, Wasted: 8, Detail: "OE"},
	}
	if !slices.Equal(got.Spans, want) {
		t.Errorf("spans\n got %+v\nwant %+v", got.Spans, want)
	}
	tools := []waste.ToolWaste{{Tool: "t", Retries: 1, Redundant: 2, Unnecessary: 1, Wasted: 4, Backtracks: 3}}
	if got.WastedSteps != 4 || got.InputTokens != 40 || got.OutputTokens != 4 || !reflect.DeepEqual(got.PerTool, tools) {
		t.Errorf("report %+v", got)
	}
}

// slowCycles counts repetitions by comparing step with step.
func slowCycles(run, ref []waste.Step) (out []waste.Span) {
	same := func(x, y waste.Step) bool { return x.Tool == y.Tool && x.File == y.File && x.Stage == y.Stage }
	find := func(k []waste.Step, n int) (found [][2]int) {
		for i := 0; i <= len(k)-2*n; {
			times := 1
			for j := i + n; j+n <= len(k); j += n {
				equal := true
				for d := range n {
					equal = equal && same(k[i+d], k[j+d])
				}
				if !equal {
					break
				}
				times++
			}
			if times < 2 {
				i++
				continue
			}
			found = append(found, [2]int{i, times})
			i += n * times
		}
		return found
	}
	for n := 2; n <= 4; n++ {
		for _, f := range find(run, n) {
			uniform := true
			for d := range n {
				uniform = uniform && same(run[f[0]], run[f[0]+d])
			}
			excused := false
			for _, r := range find(ref, n) {
				equal := true
				for d := range n {
					equal = equal && same(run[f[0]+d], ref[r[0]+d])
				}
				excused = excused || equal
			}
			if !uniform && !excused {
				out = append(out, waste.Span{
					Kind: waste.CyclicPattern, First: f[0], Last: f[0] + n*f[1] - 1, Wasted: f[0] + n,
					Repetitions: f[1], PatternLen: n,
				})
			}
		}
	}
	return out
}

func TestCyclesEqualPlainSearch(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"V", "I:a", "I:b", "E:a"}), 0, 24)
	rapid.Check(t, func(t *rapid.T) {
		c := newCase(strings.Join(words.Draw(t, "run"), " "), strings.Join(words.Draw(t, "ref"), " "), "a")
		got := slices.DeleteFunc(waste.Detect(c), func(s waste.Span) bool { return s.Kind != waste.CyclicPattern })
		if want := slowCycles(c.Run, c.Best); !slices.Equal(got, want) {
			t.Fatalf("\n got %+v\nwant %+v", got, want)
		}
		r := waste.Inspect(c)
		if r.WastedSteps > len(c.Run) || r.InputTokens != int64(10*r.WastedSteps) {
			t.Fatalf("%d wasted steps of %d, %d tokens", r.WastedSteps, len(c.Run), r.InputTokens)
		}
		own := newCase("", "", "")
		own.Run, own.Best, own.First = c.Run, c.Run, c.Run
		for _, s := range waste.Detect(own) {
			if s.Kind == waste.BlindRetry || s.Kind == waste.CyclicPattern {
				t.Fatalf("the reference's own habit is no waste: %+v", s)
			}
		}
	})
}

func TestMoves(t *testing.T) {
	e, i, v, o := trajectory.Exploration, trajectory.Implementation, trajectory.Verification, trajectory.Orchestration
	for _, tc := range []struct {
		from, to trajectory.Stage
		want     waste.Move
	}{
		{e, e, waste.Deepen}, {o, o, waste.Deepen}, {e, v, waste.Pivot}, {i, v, waste.Pivot}, {e, o, waste.Confirm},
		{v, o, waste.Confirm}, {v, e, waste.Back}, {o, i, waste.Back}, {o, v, waste.Back},
	} {
		if got := waste.Between(tc.from, tc.to); got != tc.want {
			t.Errorf("%v to %v: %v, want %v", tc.from, tc.to, got, tc.want)
		}
	}
}
