package release

import (
	"math"

	"github.com/agentlens-bench/agentlens/internal/matching"
	"github.com/agentlens-bench/agentlens/internal/portable"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// Weights of the score's parts (docs/spec/release.md, section 8).
const (
	WeightCoverage     = 0.25
	WeightCoherence    = 0.25
	WeightCompleteness = 0.18
	WeightWorkflow     = 0.12
	WeightF1           = 0.10
	WeightOutcome      = 0.10
)

// Parts are what the score is made of.
type Parts struct {
	Coverage, F1                      float64 // 0-100
	Coherence, Completeness, Workflow float64 // 0-1
}

// WithoutOutcome returns the score before its outcome term, 0-90.
func (p Parts) WithoutOutcome() float64 {
	s := float64(WeightCoverage * p.Coverage)
	s += float64(WeightCoherence * float64(p.Coherence*100))
	s += float64(WeightCompleteness * float64(p.Completeness*100))
	s += float64(WeightWorkflow * float64(p.Workflow*100))
	s += float64(WeightF1 * p.F1)
	return s
}

// AddOutcome adds the outcome term: 10 for a pass, 5 for an unknown outcome.
func AddOutcome(score float64, o trajectory.Outcome) float64 {
	return score + float64(WeightOutcome*outcomeValue(o))
}

func outcomeValue(o trajectory.Outcome) float64 {
	switch o {
	case trajectory.Pass:
		return 100
	case trajectory.Fail:
		return 0
	}
	return 50
}

// Round returns the integer score: to the nearest, ties to even, within 0 and 100.
func Round(score float64) int64 { return int64(min(max(math.RoundToEven(score), 0), 100)) }

// f1 is the harmonic mean of two percentages.
func f1(precision, coverage float64) float64 {
	if precision+coverage == 0 {
		return 0
	}
	return 2 * precision * coverage / (precision + coverage)
}

// stageWeight is how much a stage counts in the weighted score.
func stageWeight(s trajectory.Stage) float64 {
	return [...]float64{0, 1, 3, 2, 0.5}[s]
}

// weighted is the coverage with each stage weighted, 0-100. Its sums are exact.
func weighted(matched, total [5]int) float64 {
	var got, all float64
	for _, s := range trajectory.Stages() {
		got += float64(stageWeight(s) * float64(matched[s]))
		all += float64(stageWeight(s) * float64(total[s]))
	}
	if all == 0 {
		return 0
	}
	return got / all * 100
}

// moves counts how a run goes on from step to step.
type moves struct{ deepen, pivot, confirm, back, retries int }

// countMoves looks at the labelled steps; retries are counted over all of them, from the
// third of a run of equal steps on.
func countMoves(labelled, all []waste.Step) moves {
	var m moves
	for i := 1; i < len(labelled); i++ {
		switch waste.Between(labelled[i-1].Stage, labelled[i].Stage) {
		case waste.Deepen:
			m.deepen++
		case waste.Pivot:
			m.pivot++
		case waste.Confirm:
			m.confirm++
		case waste.Back:
			m.back++
		}
	}
	m.retries = waste.EqualRunExcess(all)
	return m
}

// coherence is the share of moves forward, reduced by retries, 0-1.
func (m moves) coherence() float64 {
	transitions := m.deepen + m.pivot + m.confirm + m.back
	if transitions == 0 {
		return 1
	}
	progress := 1.0
	if forward := m.pivot + m.confirm; forward+m.back > 0 {
		progress = float64(forward) / float64(forward+m.back)
	}
	return progress * (1 - min(float64(m.retries)/float64(transitions), 1))
}

// workflow is the longest common subsequence of two sequences of stages over the longer
// length, 0-1. Unlabelled steps are left out.
func workflow(candidate, ref []trajectory.Stage) float64 {
	candidate, ref = dropUnlabelled(candidate), dropUnlabelled(ref)
	switch {
	case len(candidate) == 0 && len(ref) == 0:
		return 1
	case len(candidate) == 0 || len(ref) == 0:
		return 0
	}
	byStage := matching.NewRows(5, len(candidate))
	for j, s := range candidate {
		byStage[s].Set(j)
	}
	rows := make([]matching.Row, len(ref))
	for i, s := range ref {
		rows[i] = byStage[s]
	}
	return float64(matching.LCS(rows, len(candidate))) / float64(max(len(candidate), len(ref)))
}

func dropUnlabelled(stages []trajectory.Stage) []trajectory.Stage {
	out := make([]trajectory.Stage, 0, len(stages))
	for _, s := range stages {
		if s != trajectory.NoStage {
			out = append(out, s)
		}
	}
	return out
}

// smoothing is added to each stage's count in a segment.
const smoothing = 0.01

// temporal compares the distributions of stages in the three thirds of two sequences: 1
// minus the mean Jensen-Shannon divergence in bits, 0-1.
func temporal(candidate, ref []trajectory.Stage) float64 {
	candidate, ref = dropUnlabelled(candidate), dropUnlabelled(ref)
	if len(candidate) == 0 || len(ref) == 0 {
		return 0
	}
	p, q := thirds(candidate), thirds(ref)
	sum := 0.0
	for i := range p {
		sum += divergence(p[i], q[i])
	}
	return max(0, 1-sum/3)
}

func thirds(stages []trajectory.Stage) (out [3][4]float64) {
	size := max(1, len(stages)/3)
	for i := range out {
		from, to := min(i*size, len(stages)), min((i+1)*size, len(stages))
		if i == 2 {
			to = len(stages)
		}
		for s := range out[i] {
			out[i][s] = smoothing
		}
		for _, s := range stages[from:to] {
			out[i][s-1]++
		}
		sum := out[i][0] + out[i][1] + out[i][2] + out[i][3]
		for s := range out[i] {
			out[i][s] /= sum
		}
	}
	return out
}

func divergence(p, q [4]float64) float64 {
	var fromP, fromQ float64
	for s := range p {
		m := 0.5 * (p[s] + q[s])
		fromP += float64(p[s] * portable.Log2(p[s]/m))
		fromQ += float64(q[s] * portable.Log2(q[s]/m))
	}
	return float64(0.5*fromP) + float64(0.5*fromQ)
}
