package waste

import (
	"cmp"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Report is the inefficiency report.
type Report struct {
	Spans        []Span // retries, redundant, unnecessary, cycles, backtracks
	WastedSteps  int    // each step once
	InputTokens  int64  // of the wasted steps
	OutputTokens int64
	PerTool      []ToolWaste // most wasted steps first, then by name
}

// ToolWaste is the share of one tool. Every wasted step counts once, as a retry before a
// cycle, before redundant, before unnecessary; backtracks are no waste.
type ToolWaste struct {
	Tool                                            string
	Retries, Cycles, Redundant, Unnecessary, Wasted int
	Backtracks                                      int
}

// Inspect makes the inefficiency report.
func Inspect(c *Case) Report {
	run, best := number(c.Run, c.Best)
	r := Report{}
	r.Spans = append(r.Spans, retries(run, best)...)
	r.Spans = append(r.Spans, nearAligned(c)...)
	r.Spans = append(r.Spans, outOfPlace(c)...)
	r.Spans = append(r.Spans, cycles(run, best)...)
	r.Spans = append(r.Spans, backtracks(c)...)
	r.attribute(c.Run)
	return r
}

// priority orders the kinds when a step is waste in more than one way.
func priority(k Kind) int {
	return slices.Index([]Kind{BlindRetry, CyclicPattern, RedundantStep, UnnecessaryExploration}, k)
}

// attribute sums up the spans, by tool and in all.
func (r *Report) attribute(run []Step) {
	why := make([]Kind, len(run))
	tools := make(map[string]*ToolWaste)
	tool := func(name string) *ToolWaste {
		if tools[name] == nil {
			tools[name] = &ToolWaste{Tool: name}
		}
		return tools[name]
	}
	for _, s := range r.Spans {
		if s.Kind == Backtrack {
			tool(run[s.Last].Tool).Backtracks++
			continue
		}
		for k := s.Wasted; k <= s.Last; k++ {
			if why[k] == "" || priority(s.Kind) < priority(why[k]) {
				why[k] = s.Kind
			}
		}
	}
	for k, kind := range why {
		if kind == "" {
			continue
		}
		r.WastedSteps++
		r.InputTokens += run[k].InputTokens
		r.OutputTokens += run[k].OutputTokens
		t := tool(run[k].Tool)
		t.Wasted++
		switch kind {
		case BlindRetry:
			t.Retries++
		case CyclicPattern:
			t.Cycles++
		case RedundantStep:
			t.Redundant++
		case UnnecessaryExploration:
			t.Unnecessary++
		}
	}
	for _, t := range tools { // sorted below
		r.PerTool = append(r.PerTool, *t)
	}
	slices.SortFunc(r.PerTool, func(x, y ToolWaste) int {
		return cmp.Or(cmp.Compare(y.Wasted, x.Wasted), cmp.Compare(x.Tool, y.Tool))
	})
}

// nearAligned finds steps that are not aligned, with the tool and file of an aligned step
// at most three places away. As in the release, a position among the labelled steps is used
// as one among all steps.
func nearAligned(c *Case) []Span {
	var out []Span
	for k, s := range c.Run {
		if c.Aligned[k] || s.Tool == "" && s.File == "" {
			continue
		}
		for a := max(k-3, 0); a <= k+3 && a < len(c.All); a++ {
			if c.Aligned[a] && c.All[a].Tool == s.Tool && c.All[a].File == s.File {
				out = append(out, Span{Kind: RedundantStep, First: k, Last: k, Wasted: k})
				break
			}
		}
	}
	return out
}

// outOfPlace finds explorations, from the first implementation on, whose relative place on
// the best path is not one where the reference still explores.
func outOfPlace(c *Case) []Span {
	var out []Span
	refStart := next(c.Best, 0, trajectory.Implementation)
	for k := next(c.Run, 0, trajectory.Implementation); k < len(c.Run); k++ {
		if c.Run[k].Stage != trajectory.Exploration {
			continue
		}
		at := min(int(float64(k)/float64(len(c.Run))*float64(len(c.Best))), len(c.Best)-1)
		if at < refStart || c.Best[at].Stage != trajectory.Exploration {
			out = append(out, Span{Kind: UnnecessaryExploration, First: k, Last: k, Wasted: k})
		}
	}
	return out
}

// Move is how the work goes on from one step to the next.
type Move uint8

// The moves. Into orchestration from elsewhere is Confirm, a step on to a later stage is
// Pivot.
const (
	Deepen Move = iota
	Pivot
	Confirm
	Back
)

// Between returns the move from one stage to the next.
func Between(from, to trajectory.Stage) Move {
	switch {
	case from == to:
		return Deepen
	case to == trajectory.Orchestration:
		return Confirm
	case to > from:
		return Pivot
	}
	return Back
}

// backtracks finds moves back that the reference never makes between two steps.
func backtracks(c *Case) []Span {
	var known [5][5]bool
	for i := 1; i < len(c.Best); i++ {
		known[c.Best[i-1].Stage][c.Best[i].Stage] = true
	}
	var out []Span
	for k := 1; k < len(c.Run); k++ {
		from, to := c.Run[k-1].Stage, c.Run[k].Stage
		if Between(from, to) == Back && !known[from][to] {
			out = append(out, Span{
				Kind: Backtrack, First: k - 1, Last: k, Wasted: k + 1,
				Detail: string([]byte{from.Letter(), to.Letter()}),
			})
		}
	}
	return out
}
