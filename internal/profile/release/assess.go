package release

import (
	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// assessment is all the profile knows about one run. Positions are those of the best path.
type assessment struct {
	ref     *reference
	outcome trajectory.Outcome

	candidate []*equiv.ReleaseStep // all states, the initial one included
	labelled  []waste.Step

	best     int
	matched  []int // positions, ascending
	aligned  []int // by state of the candidate: position or -1
	terminal bool  // whether the last states match
	hits     [5]int

	moves                                   moves
	parts                                   Parts
	precision, weighted, bottleneck, timing float64
	score                                   int64
	withoutOutcome, withOutcome             float64
	verdict                                 taxonomy.Verdict
	canonical                               canonical

	missing  []segment // maximal runs of positions without a match
	stages   [5]stageBalance
	spans    []waste.Span // of the five detectors
	report   waste.Report
	reasons  []Reason
	strength []string
	signals  []signal
}

// canonical holds the metrics on the candidate-independent path.
type canonical struct{ coverage, f1, weighted float64 }

// stageBalance compares the steps of one stage.
type stageBalance struct {
	candidate int // states of the run
	extra     int // of which not aligned
	effort    float64
}

func (r *reference) assess(t *pta.Trace, outcome trajectory.Outcome) *assessment {
	a := &assessment{ref: r, outcome: outcome, candidate: t.LongestPath()}
	m := newMatcher(r, a.candidate)
	a.best, a.matched = m.best()
	p := a.path()
	a.aligned = m.align(p, a.matched)
	a.terminal = m.matches(p, len(p.nodes)-1, len(a.candidate)-1)
	for _, i := range a.matched {
		a.hits[p.stages[i]]++
	}
	a.measure(p)
	a.measureCanonical(m)
	a.balance(p)
	a.missing = missingSegments(p, a)
	a.findWaste(p)
	a.reasons = failureReasons(a)
	a.strength = strengths(a)
	a.signals = qualitySignals(a)
	return a
}

func (a *assessment) path() *path { return &a.ref.paths[a.best] }

// coverage of a stage in percent, 0 for a stage the path does not have.
func (a *assessment) coverage(s trajectory.Stage) float64 {
	if a.path().totals[s] == 0 {
		return 0
	}
	return percent(a.hits[s], a.path().totals[s])
}

func (a *assessment) measure(p *path) {
	stages := make([]trajectory.Stage, len(a.candidate))
	all := make([]waste.Step, len(a.candidate))
	for i, c := range a.candidate {
		stages[i] = c.Stage
		all[i] = waste.NewStep(c.State, c.Stage)
		if c.Stage != trajectory.NoStage {
			a.labelled = append(a.labelled, all[i])
		}
	}
	a.moves = countMoves(a.labelled, all)
	coverage := percent(len(a.matched), len(p.nodes))
	a.precision = percent(len(a.matched), len(a.candidate))
	a.parts = Parts{
		Coverage: coverage, F1: f1(a.precision, coverage),
		Coherence: a.moves.coherence(), Workflow: workflow(stages, p.stages),
	}
	a.parts.Completeness, a.bottleneck = a.completeness(p)
	a.weighted = weighted(a.hits, p.totals)
	a.timing = temporal(stages, p.stages)
	a.withoutOutcome = a.parts.WithoutOutcome()
	a.withOutcome = AddOutcome(a.withoutOutcome, a.outcome)
	a.score = Round(a.withOutcome)
	a.verdict = taxonomy.ByMatch(a.weighted, a.bottleneck, a.parts.Completeness, a.terminal)
}

// completeness is the share of the path's stages with a match, 0-1; bottleneck the smallest
// coverage of one of them, 0-100.
func (a *assessment) completeness(p *path) (completeness, bottleneck float64) {
	present, touched := 0, 0
	for _, s := range trajectory.Stages() {
		if p.totals[s] == 0 {
			continue
		}
		c := a.coverage(s)
		if present == 0 || c < bottleneck {
			bottleneck = c
		}
		present++
		if a.hits[s] > 0 {
			touched++
		}
	}
	if present == 0 {
		return 1, 0
	}
	return float64(touched) / float64(present), bottleneck
}

func (a *assessment) measureCanonical(m *matcher) {
	p := &a.ref.paths[a.ref.canonical]
	matched := m.greedy(p)
	var hits [5]int
	for _, i := range matched {
		hits[p.stages[i]]++
	}
	a.canonical.coverage = percent(len(matched), len(p.nodes))
	a.canonical.f1 = f1(percent(len(matched), len(a.candidate)), a.canonical.coverage)
	a.canonical.weighted = weighted(hits, p.totals)
}

func (a *assessment) balance(p *path) {
	for j, c := range a.candidate {
		b := &a.stages[c.Stage]
		b.candidate++
		if a.aligned[j] < 0 {
			b.extra++
		}
	}
	for s := range a.stages {
		if p.totals[s] > 0 {
			a.stages[s].effort = float64(a.stages[s].candidate) / float64(p.totals[s])
		}
	}
}

func (a *assessment) findWaste(p *path) {
	c := waste.Case{
		Run: a.labelled, Best: p.steps, First: a.ref.paths[0].steps, Files: a.ref.files,
		All: make([]waste.Step, len(a.candidate)), Aligned: make([]bool, len(a.candidate)),
	}
	for j, s := range a.candidate {
		c.All[j] = waste.NewStep(s.State, s.Stage)
		c.Aligned[j] = a.aligned[j] >= 0
	}
	a.spans = waste.Detect(&c)
	a.report = waste.Inspect(&c)
}

// divergence returns the first position without a match, -1 when all have one.
func (a *assessment) divergence() int {
	if len(a.missing) == 0 {
		return -1
	}
	return a.missing[0].first
}

// segment is a maximal run of positions without a match.
type segment struct {
	first, last int
	stage       trajectory.Stage // the most frequent one, the first seen on ties
	activity    int              // unaligned states of the run in the proportional range
}

func missingSegments(p *path, a *assessment) []segment {
	var out []segment
	next := 0 // in matched
	for i := range p.nodes {
		if next < len(a.matched) && a.matched[next] == i {
			next++
			continue
		}
		if n := len(out); n > 0 && out[n-1].last == i-1 {
			out[n-1].last = i
		} else {
			out = append(out, segment{first: i, last: i})
		}
	}
	for i := range out {
		s := &out[i]
		s.stage = mostFrequent(p.stages[s.first : s.last+1])
		g, c := float64(len(p.nodes)), float64(len(a.candidate))
		from := int(float64(s.first) / g * c)
		to := min(int(float64(s.last+1)/g*c)+1, len(a.candidate))
		for _, position := range a.aligned[min(from, to):to] {
			if position < 0 {
				s.activity++
			}
		}
	}
	return out
}

// mostFrequent ignores order but for ties, which the stage seen first wins.
func mostFrequent(stages []trajectory.Stage) trajectory.Stage {
	var counts [5]int
	for _, s := range stages {
		counts[s]++
	}
	best := stages[0]
	for _, s := range stages {
		if counts[s] > counts[best] {
			best = s
		}
	}
	return best
}
