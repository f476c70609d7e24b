package paper

import (
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// luckyInput is what the categories of lucky passes are decided on (spec section 8).
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

// category is one kind of lucky pass and the rule, with numbers, that decided it.
type category struct{ id, name, rule string }

// categorise returns the first category that holds.
func categorise(in luckyInput) category {
	w := in.waste.sum()
	blindEvents, cyclicEvents := in.waste.events[blind], in.waste.events[cyclic]
	switch {
	case in.steps <= 8 && w == 0 && in.labels[trajectory.Verification] == 0:
		return category{"C1", "minimal_unverified", fmt.Sprintf("steps %d <= 8, no waste, no verification step", in.steps)}
	case w >= 3 && (blindEvents >= 2 || cyclicEvents >= 1 || w >= 8):
		return category{"C2", "brute_force", fmt.Sprintf("wasted steps %d >= 3 with blind retries %d >= 2, cyclic patterns %d >= 1 or wasted steps >= 8", w, blindEvents, cyclicEvents)}
	case in.exploreRatio > 2 && in.steps > 30:
		return category{"C4", "excessive_exploration", fmt.Sprintf("exploration ratio %.2f > 2 and steps %d > 30", in.exploreRatio, in.steps)}
	case in.implCoverage != nil && *in.implCoverage < 0.5:
		return category{"C3", "incomplete_implementation", fmt.Sprintf("implementation coverage %.2f < 0.5", *in.implCoverage)}
	}
	return category{"C5", "divergent_but_valid", "no rule of C1 to C4 holds"}
}
