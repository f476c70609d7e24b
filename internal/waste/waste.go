package waste

import "github.com/agentlens-bench/agentlens/internal/trajectory"

// Step is what the detectors look at in a state.
type Step struct {
	Stage        trajectory.Stage
	Tool, File   string
	InputTokens  int64
	OutputTokens int64
}

// NewStep returns the step of a state under a stage, which may not be the state's own.
func NewStep(s *trajectory.State, stage trajectory.Stage) Step {
	return Step{
		Stage: stage, Tool: s.Tool, File: s.FilePath,
		InputTokens: s.InputTokens.Or(0), OutputTokens: s.OutputTokens.Or(0),
	}
}

// Kind is a category of waste.
type Kind string

// The kinds, in the order of the columns. A backtrack costs no step.
const (
	RegressionLoop         Kind = "regression_loop"
	BlindRetry             Kind = "blind_retry"
	RedundantStep          Kind = "redundant_step"
	UnnecessaryExploration Kind = "unnecessary_exploration"
	CyclicPattern          Kind = "cyclic_pattern"
	Backtrack              Kind = "backtrack"
)

// Span is one finding: the labelled steps First to Last, of which those from Wasted on are
// waste (Wasted is Last+1 when none is).
type Span struct {
	Kind                Kind
	First, Last, Wasted int
	Repetitions         int    // length of a retry, repetitions of a cycle, else 0
	PatternLen          int    // of a cycle, else 0
	Detail              string // stage letters of a backtrack, else ""
}

// Steps returns how many steps of the span are waste.
func (s Span) Steps() int { return s.Last - s.Wasted + 1 }

// Case is one run against its reference.
type Case struct {
	Run     []Step          // labelled steps of the run, in order
	All     []Step          // all steps of the run, with the unlabelled ones
	Aligned []bool          // for each of All, whether it is aligned with the best path
	Best    []Step          // best reference path, unlabelled steps included
	First   []Step          // first enumerated reference path
	Files   map[string]bool // files of all nodes of the reference
}

// Detect runs the five detectors.
func Detect(c *Case) []Span {
	spans := regressionLoops(c)
	run, best := number(c.Run, c.Best)
	spans = append(spans, retries(run, best)...)
	spans = append(spans, redundant(c)...)
	spans = append(spans, unnecessary(c)...)
	return append(spans, cycles(run, best)...)
}

// Total counts the spans of a kind and their wasted steps.
func Total(spans []Span, kind Kind) (count, steps int64) {
	for _, s := range spans {
		if s.Kind == kind {
			count++
			steps += int64(s.Steps())
		}
	}
	return count, steps
}

// regressionLoops finds stretches, from an exploration after an implementation up to the
// next implementation, that the reference does not have at the same relative place.
func regressionLoops(c *Case) []Span {
	excused := referenceReturns(c.First)
	run, n := c.Run, len(c.Run)
	var out []Span
	for i := 0; i < n; i++ {
		if run[i].Stage != trajectory.Implementation {
			continue
		}
		start := next(run, i+1, trajectory.Exploration)
		if start == n {
			break
		}
		end := next(run, start, trajectory.Implementation)
		if end-start < 2 || end == n {
			continue
		}
		at := int(float64(start) / float64(n) * float64(len(c.First)))
		if !excused[at] {
			out = append(out, Span{Kind: RegressionLoop, First: start, Last: end - 1, Wasted: start})
		}
		i = end - 1
	}
	return out
}

// referenceReturns holds the positions where the reference, having gone from exploration to
// implementation, explores again.
func referenceReturns(path []Step) map[int]bool {
	out := make(map[int]bool)
	for i := 1; i < len(path)-1; i++ {
		if path[i].Stage != trajectory.Implementation || path[i-1].Stage != trajectory.Exploration {
			continue
		}
	scan:
		for j := i + 1; j < len(path); j++ {
			switch path[j].Stage {
			case trajectory.Exploration:
				out[j] = true
				break scan
			case trajectory.Implementation:
				break scan
			}
		}
	}
	return out
}

// next returns the first position at or after i with the stage, len(steps) without one.
func next(steps []Step, i int, stage trajectory.Stage) int {
	for i < len(steps) && steps[i].Stage != stage {
		i++
	}
	return i
}

// redundant finds explorations of a file explored before, with no implementation between.
// Files that the reference explores twice are excused.
func redundant(c *Case) []Span {
	reads := make(map[string]int)
	for _, s := range c.First {
		if s.Stage == trajectory.Exploration && s.File != "" {
			reads[s.File]++
		}
	}
	var out []Span
	seen := make(map[string]bool)
	for k, s := range c.Run {
		switch {
		case s.Stage == trajectory.Implementation:
			clear(seen)
		case s.Stage == trajectory.Exploration && s.File != "":
			if seen[s.File] && reads[s.File] < 2 {
				out = append(out, Span{Kind: RedundantStep, First: k, Last: k, Wasted: k})
			}
			seen[s.File] = true
		}
	}
	return out
}

// unnecessary finds explorations, after the first implementation, of files that no node of
// the reference deals with and that do not look like tests.
func unnecessary(c *Case) []Span {
	var out []Span
	for k := next(c.Run, 0, trajectory.Implementation) + 1; k < len(c.Run); k++ {
		s := c.Run[k]
		if s.Stage == trajectory.Exploration && s.File != "" && !c.Files[s.File] && !testLike(s.File) {
			out = append(out, Span{Kind: UnnecessaryExploration, First: k, Last: k, Wasted: k})
		}
	}
	return out
}
