package paper

import (
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// luckyInput is what the categories of lucky passes are decided on
// (docs/spec/paper.md, section 8).
type luckyInput struct {
	steps        int      // m
	labels       labelSet // of the run
	waste        wasteSum
	implCoverage *float64 // 0-1, nil when the best path has no implementation step
	exploreRatio float64
}

// labelSet counts steps by stage.
type labelSet [trajectory.Orchestration + 1]int

func countLabels(labels []trajectory.Stage) (n labelSet) {
	for _, l := range labels {
		n[l]++
	}
	return n
}

const (
	highExploreRatio = 2   // more than
	lowImplCoverage  = 0.5 // less than
)

// categorise returns the first category that holds and the rule, with numbers, that decided.
// The order and the other thresholds are those of the taxonomy.
func categorise(in luckyInput) (taxonomy.Category, string) {
	w := in.waste.sum()
	retries, cycles := in.waste.events[blind], in.waste.events[cyclic]
	switch {
	case in.steps <= taxonomy.MinimalMaxStates && w == 0 && in.labels[trajectory.Verification] == 0:
		return taxonomy.Minimal, fmt.Sprintf("%d steps <= %d, no waste, no verification step", in.steps, taxonomy.MinimalMaxStates)
	case w >= taxonomy.BruteForceMinWaste &&
		(retries >= taxonomy.BruteForceRetries || cycles >= taxonomy.BruteForceCycles || w >= taxonomy.BruteForceHighWaste):
		return taxonomy.BruteForce, fmt.Sprintf("summed waste %d >= %d, and %d blind retries >= %d, %d cyclic patterns >= %d or waste >= %d",
			w, taxonomy.BruteForceMinWaste, retries, taxonomy.BruteForceRetries, cycles, taxonomy.BruteForceCycles, taxonomy.BruteForceHighWaste)
	case in.exploreRatio > highExploreRatio && in.steps > taxonomy.ExcessiveMinStates:
		return taxonomy.Excessive, fmt.Sprintf("explore_ratio %.2f > %d, %d steps > %d",
			in.exploreRatio, highExploreRatio, in.steps, taxonomy.ExcessiveMinStates)
	case in.implCoverage != nil && *in.implCoverage < lowImplCoverage:
		return taxonomy.Incomplete, fmt.Sprintf("impl_coverage %.2f < %g", *in.implCoverage, lowImplCoverage)
	}
	return taxonomy.DivergentOK, "none of the others"
}
