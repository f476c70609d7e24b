package release

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// Name of the profile.
const Name = "release"

// Profile is the method of the release. It has no parameters.
type Profile struct{}

// New returns the profile.
func New() *Profile { return &Profile{} }

// Name implements profile.Profile.
func (*Profile) Name() string { return Name }

// About implements profile.Profile.
func (*Profile) About() string {
	return "`release` computes what the authors' release computes; its score contains the outcome (10 of 100 points for a pass), so its AUROC is no evidence for anything."
}

// Signals implements profile.Profile.
func (*Profile) Signals() reflect.Type { return reflect.TypeFor[schema.SignalsRelease]() }

// Score implements profile.Profile: tiers are cut on the rounded score.
func (*Profile) Score() profile.Score {
	return profile.Score{Table: "features", Column: "quality_score", SeesOutcome: true, Cuts: taxonomy.ReleaseCuts()}
}

// Capabilities implements profile.Profile.
func (*Profile) Capabilities() profile.Capabilities {
	return profile.Capabilities{References: true, Plan: true, Categories: true, Labels: "stages_release", WastedShare: "features.waste_severity"}
}

// Params implements profile.Profile.
func (*Profile) Params() any { return nil }

// Validate implements profile.Profile.
func (*Profile) Validate() error { return nil }

// Assess implements profile.Profile.
func (*Profile) Assess(ctx context.Context, task *profile.Task, plan profile.Plan, emit profile.Emitter) error {
	return Assess(ctx, *task, plan, emit)
}

// Explain implements profile.Profile. A run that was published without some of the numbers has
// notes only.
func (*Profile) Explain(signals any, f *schema.Features) profile.Explanation {
	s := signals.(*schema.SignalsRelease)
	var out profile.Explanation
	if s.Signals != nil {
		out.Notes = strings.Split(*s.Signals, ",")
	}
	if !complete(f) || f.StageCoverageE == nil || f.StageCoverageI == nil || f.StageCoverageO == nil {
		return out
	}
	part := func(name string, value, weight float64) profile.Part {
		return profile.Part{Name: name, Value: value, Weight: weight, Points: weight * value}
	}
	out.Parts = profile.UpTo(float64(*f.QualityScore), []profile.Part{
		part("coverage", *f.CoveragePercent, WeightCoverage),
		part("coherence", *f.CoherenceScore*100, WeightCoherence),
		part("stage completeness", *f.StageCompleteness*100, WeightCompleteness),
		part("workflow similarity", *f.WorkflowSimilarity*100, WeightWorkflow),
		part("F1", *f.F1Score, WeightF1),
		part("outcome", outcomeValue(trajectory.OutcomeOf(f.Passed)), WeightOutcome),
	}, "rounding")
	out.WithoutOutcome = &s.ScoreWithoutOutcome
	out.Stages = []profile.StageCoverage{
		compare(trajectory.Exploration, *f.StageCoverageE, s.StageTotalE, s.StageMatchedE, s.StageExtraE, s.EffortRatioE),
		compare(trajectory.Implementation, *f.StageCoverageI, s.StageTotalI, s.StageMatchedI, s.StageExtraI, s.EffortRatioI),
		compare(trajectory.Verification, *f.StageCoverageV, s.StageTotalV, s.StageMatchedV, s.StageExtraV, s.EffortRatioV),
		compare(trajectory.Orchestration, *f.StageCoverageO, s.StageTotalO, s.StageMatchedO, s.StageExtraO, s.EffortRatioO),
	}
	if f.DivergenceStep != nil {
		out.Divergence = &profile.Divergence{Of: "reference", Step: *f.DivergenceStep, Fraction: *f.DivergenceFraction, Did: s.DivergenceDescription, Expected: s.DivergenceExpected}
	}
	out.Reference = &profile.Reference{ID: s.PTAID, Path: &profile.Path{Index: s.BestPathIndex, Length: s.GTPathLen, Matched: s.MatchedCount}, Few: s.FewReferences}
	return out
}

func compare(of trajectory.Stage, percent float64, expected, matched, extra int64, effort float64) profile.StageCoverage {
	return profile.StageCoverage{Stage: of.String(), Percent: percent, Expected: expected, Matched: matched, Missing: expected - matched, Extra: extra, Effort: effort}
}

// complete reports whether a row has the numbers that Check computes with.
func complete(f *schema.Features) bool {
	reals := []*float64{
		f.CoveragePercent, f.PrecisionPercent, f.F1Score, f.CoherenceScore, f.StageCompleteness, f.WorkflowSimilarity,
		f.WeightedScore, f.BottleneckCoverage, f.StageCoverageV, f.WasteSeverity,
	}
	whole := []*int64{
		f.NStates, f.QualityScore, f.RegressionLoopWaste, f.BlindRetryWaste, f.RedundantStepWaste, f.UnnecessaryExplorationWaste,
		f.CyclicPatternWaste, f.TotalWastedSteps, f.BlindRetryCount, f.CyclicPatternCount,
	}
	return !slices.Contains(reals, nil) && !slices.Contains(whole, nil) && (f.DivergenceStep == nil) == (f.DivergenceFraction == nil)
}

// Check implements profile.Profile (docs/spec/release.md, sections 7, 8, 11).
func (*Profile) Check(signals any, f *schema.Features, tier schema.Tier) []string {
	s := signals.(*schema.SignalsRelease)
	if !complete(f) {
		return []string{"a scored run has every number that its score and tier follow from"}
	}
	var out []string
	check := func(ok bool, rule string) {
		if !ok {
			out = append(out, rule)
		}
	}
	outcome := trajectory.OutcomeOf(f.Passed)
	p, c := *f.PrecisionPercent, *f.CoveragePercent
	check(*f.F1Score == f1(p, c), "f1_score is the harmonic mean of coverage and precision")
	check(c == float64(s.MatchedCount)/float64(s.GTPathLen)*100, "coverage_percent follows from matched_count and gt_path_len")
	check(p == float64(s.MatchedCount)/float64(s.CandidateStates)*100, "precision_percent follows from matched_count and candidate_states")
	bare := Parts{Coverage: c, F1: *f.F1Score, Coherence: *f.CoherenceScore, Completeness: *f.StageCompleteness, Workflow: *f.WorkflowSimilarity}.WithoutOutcome()
	check(s.ScoreWithoutOutcome == bare, "score_without_outcome follows from its parts")
	full := AddOutcome(bare, outcome)
	check(s.ScoreWithOutcomeUnrounded == full, "score_with_outcome_unrounded adds the outcome term")
	check(*f.QualityScore == Round(full), "quality_score is the rounded score")
	want, _ := taxonomy.ByScore(*f.QualityScore, outcome)
	check(or(f.QualityTier) == string(want), "quality_tier follows from quality_score and passed")
	check(or(f.Verdict) == string(taxonomy.ByMatch(*f.WeightedScore, *f.BottleneckCoverage, *f.StageCompleteness, s.TerminalStateMatch)), "verdict follows from the match")
	total := *f.RegressionLoopWaste + *f.BlindRetryWaste + *f.RedundantStepWaste + *f.UnnecessaryExplorationWaste + *f.CyclicPatternWaste
	check(*f.TotalWastedSteps == total, "total_wasted_steps is the sum of the five wastes")
	check(*f.WasteSeverity == profile.Round4(float64(total)/float64(max(*f.NStates, 1))), "waste_severity is total_wasted_steps / n_states")
	if f.DivergenceStep != nil {
		check(s.DivergenceIndex != nil && *f.DivergenceStep == *s.DivergenceIndex+1, "divergence_step is divergence_index + 1")
		check(*f.DivergenceFraction == profile.Round4(float64(*f.DivergenceStep)/float64(*f.NStates)), "divergence_fraction is divergence_step / n_states")
	}
	if want == taxonomy.Lucky {
		category, _ := taxonomy.Categorise(taxonomy.Columns{
			NStates: *f.NStates, StageCoverageV: *f.StageCoverageV, TotalWastedSteps: *f.TotalWastedSteps,
			BlindRetryCount: *f.BlindRetryCount, CyclicPatternCount: *f.CyclicPatternCount,
			ExcessiveExploration: strings.Contains(or(s.Signals), signalExcessive),
			Incomplete:           strings.Contains(or(s.FailureReasonNames), reasonIncomplete),
		})
		check(or(tier.Category) == category.Code, "the Lucky category follows from its columns")
	}
	return out
}

// or is "" for an absent text.
func or(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
