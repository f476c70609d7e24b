package taxonomy

import (
	"fmt"
	"strconv"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Tier is the quality of a run, within its outcome.
type Tier string

// The tiers: three of passing runs, two of failing ones.
const (
	Ideal       Tier = "ideal"
	Solid       Tier = "solid"
	Lucky       Tier = "lucky"
	PartialFail Tier = "partial_fail"
	OffTrack    Tier = "off_track"
)

// Cuts of the release's score, 0-100. The paper says 47 for partial_fail; the release uses 40.
const (
	IdealCut       = 70
	LuckyCut       = 47
	PartialFailCut = 40
)

// Cuts between tiers, on a score of 0-100. A passing run below Solid is Lucky, a failing one
// below PartialFail off track.
type Cuts struct{ Ideal, Solid, PartialFail float64 }

// ReleaseCuts are those of the release's score.
func ReleaseCuts() Cuts { return Cuts{IdealCut, LuckyCut, PartialFailCut} }

// Tier returns the tier of a score, "" for an unknown outcome.
func (c Cuts) Tier(score float64, outcome trajectory.Outcome) Tier {
	switch {
	case outcome == trajectory.Pass && score >= c.Ideal:
		return Ideal
	case outcome == trajectory.Pass && score >= c.Solid:
		return Solid
	case outcome == trajectory.Pass:
		return Lucky
	case outcome == trajectory.Fail && score >= c.PartialFail:
		return PartialFail
	case outcome == trajectory.Fail:
		return OffTrack
	}
	return ""
}

// ByScore returns the tier of a run and the rule that decided; "" for an unknown outcome.
func ByScore(score int64, outcome trajectory.Outcome) (tier Tier, rule string) {
	switch tier = ReleaseCuts().Tier(float64(score), outcome); tier {
	case Ideal:
		rule = fmt.Sprintf("passed, score %d >= %d", score, IdealCut)
	case Lucky:
		rule = fmt.Sprintf("passed, score %d < %d", score, LuckyCut)
	case Solid:
		rule = fmt.Sprintf("passed, %d <= score %d < %d", LuckyCut, score, IdealCut)
	case PartialFail:
		rule = fmt.Sprintf("failed, score %d >= %d", score, PartialFailCut)
	case OffTrack:
		rule = fmt.Sprintf("failed, score %d < %d", score, PartialFailCut)
	}
	return tier, rule
}

// Verdict is the release's five-level reading of the match; it ignores the outcome.
type Verdict string

// The verdicts.
const (
	VerdictPass       Verdict = "PASS"
	VerdictLikelyPass Verdict = "LIKELY PASS"
	VerdictUncertain  Verdict = "UNCERTAIN"
	VerdictLikelyFail Verdict = "LIKELY FAIL"
	VerdictFail       Verdict = "FAIL"
)

// Passes reports whether the verdict stands for a pass.
func (v Verdict) Passes() bool { return v == VerdictPass || v == VerdictLikelyPass }

// Fails reports whether the verdict stands for a failure.
func (v Verdict) Fails() bool { return v == VerdictFail || v == VerdictLikelyFail }

// ByMatch returns the verdict from the weighted score and the worst stage's coverage
// (0-100), the share of the reference's stages with a match (0-1), and whether the last
// states match.
func ByMatch(weighted, bottleneck, completeness float64, terminal bool) Verdict {
	likely := VerdictUncertain
	if terminal {
		likely = VerdictLikelyPass
	}
	if bottleneck == 0 && completeness < 1 {
		switch {
		case weighted >= 60:
			return likely
		case weighted >= 40:
			return VerdictLikelyFail
		}
		return VerdictFail
	}
	switch {
	case weighted >= 75 && completeness >= 0.75:
		return VerdictPass
	case weighted >= 60 && completeness >= 0.5:
		return likely
	case weighted < 30 || completeness < 0.25:
		return VerdictFail
	case weighted < 50:
		return VerdictLikelyFail
	}
	return VerdictUncertain
}

// SDK returns the tier of the release's analysis reports, which reads the verdict instead
// of the outcome. Coverage is 0-100, coherence and completeness 0-1.
func SDK(v Verdict, coverage, coherence, completeness float64) Tier {
	switch {
	case v.Passes() && coverage >= 70 && coherence >= 0.6 && completeness >= 0.75:
		return Ideal
	case v.Passes() && coverage >= 50 && coherence >= 0.4 && completeness >= 0.5:
		return Solid
	case v.Passes():
		return Lucky
	case coverage >= 40 && completeness >= 0.5:
		return PartialFail
	}
	return OffTrack
}

// Category is a kind of Lucky pass.
type Category struct {
	Code string // C1 to C5
	Name string
}

// The categories (paper table 1).
var (
	Minimal     = Category{"C1", "Minimal & Unverified"}
	BruteForce  = Category{"C2", "Brute-Force Convergence"}
	Incomplete  = Category{"C3", "Incomplete Implementation"}
	Excessive   = Category{"C4", "Excessive Exploration"}
	DivergentOK = Category{"C5", "Divergent-but-Valid"}
)

// Thresholds of the categories. The paper prints the first only; the others reproduce its
// table 14 cell by cell, as would some neighbours.
const (
	MinimalMaxStates    = 8  // at most
	BruteForceMinWaste  = 3  // at least
	BruteForceRetries   = 2  // at least
	BruteForceCycles    = 1  // at least
	BruteForceHighWaste = 8  // at least
	ExcessiveMinStates  = 30 // more than
)

// Columns are what the category of a Lucky pass depends on.
type Columns struct {
	NStates              int64
	StageCoverageV       float64 // 0-100
	TotalWastedSteps     int64
	BlindRetryCount      int64
	CyclicPatternCount   int64
	ExcessiveExploration bool // quality signal
	Incomplete           bool // failure reason incomplete_implementation
}

// Categorise returns the category of a Lucky pass and the rule that decided. The categories
// are tried in the paper's order: C1, C2, C4, C3, C5.
func Categorise(c Columns) (Category, string) {
	if c.NStates <= MinimalMaxStates && c.TotalWastedSteps == 0 && c.StageCoverageV == 0 {
		return Minimal, fmt.Sprintf("n_states %d <= %d, no waste, stage_coverage_V 0", c.NStates, MinimalMaxStates)
	}
	if c.TotalWastedSteps >= BruteForceMinWaste {
		waste := fmt.Sprintf("total_wasted_steps %d >= ", c.TotalWastedSteps)
		enough := waste + strconv.Itoa(BruteForceMinWaste)
		switch {
		case c.BlindRetryCount >= BruteForceRetries:
			return BruteForce, fmt.Sprintf("%s, blind_retry_count %d >= %d", enough, c.BlindRetryCount, BruteForceRetries)
		case c.CyclicPatternCount >= BruteForceCycles:
			return BruteForce, fmt.Sprintf("%s, cyclic_pattern_count %d >= %d", enough, c.CyclicPatternCount, BruteForceCycles)
		case c.TotalWastedSteps >= BruteForceHighWaste:
			return BruteForce, waste + strconv.Itoa(BruteForceHighWaste)
		}
	}
	if c.ExcessiveExploration && c.NStates > ExcessiveMinStates {
		return Excessive, fmt.Sprintf("signal excessive_exploration, n_states %d > %d", c.NStates, ExcessiveMinStates)
	}
	if c.Incomplete {
		return Incomplete, "failure reason incomplete_implementation"
	}
	return DivergentOK, "none of the others"
}
