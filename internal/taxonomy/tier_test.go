package taxonomy_test

import (
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestByScore(t *testing.T) {
	for _, tc := range []struct {
		score   int64
		outcome trajectory.Outcome
		want    taxonomy.Tier
		rule    string
	}{
		{100, trajectory.Pass, taxonomy.Ideal, "passed, score 100 >= 70"},
		{70, trajectory.Pass, taxonomy.Ideal, "passed, score 70 >= 70"},
		{69, trajectory.Pass, taxonomy.Solid, "passed, 47 <= score 69 < 70"},
		{47, trajectory.Pass, taxonomy.Solid, "passed, 47 <= score 47 < 70"},
		{46, trajectory.Pass, taxonomy.Lucky, "passed, score 46 < 47"},
		{40, trajectory.Fail, taxonomy.PartialFail, "failed, score 40 >= 40"},
		{39, trajectory.Fail, taxonomy.OffTrack, "failed, score 39 < 40"},
		{90, trajectory.Unknown, "", ""},
	} {
		if got, rule := taxonomy.ByScore(tc.score, tc.outcome); got != tc.want || rule != tc.rule {
			t.Errorf("%d %v: %s by %q, want %s by %q", tc.score, tc.outcome, got, rule, tc.want, tc.rule)
		}
	}
}

func TestByMatch(t *testing.T) {
	for _, tc := range []struct {
		weighted, bottleneck, completeness float64
		terminal                           bool
		want                               taxonomy.Verdict
	}{
		{90, 0, 0.75, true, taxonomy.VerdictLikelyPass}, {90, 0, 0.75, false, taxonomy.VerdictUncertain},
		{59.9, 0, 0.5, true, taxonomy.VerdictLikelyFail}, {39.9, 0, 0.5, true, taxonomy.VerdictFail},
		{75, 10, 0.75, false, taxonomy.VerdictPass}, {75, 10, 0.74, false, taxonomy.VerdictUncertain},
		{60, 10, 0.5, true, taxonomy.VerdictLikelyPass}, {29.9, 10, 1, true, taxonomy.VerdictFail},
		{80, 10, 0.2, true, taxonomy.VerdictFail}, {49, 10, 1, true, taxonomy.VerdictLikelyFail},
		{50, 10, 1, true, taxonomy.VerdictUncertain}, {20, 0, 1, true, taxonomy.VerdictFail},
	} {
		if got := taxonomy.ByMatch(tc.weighted, tc.bottleneck, tc.completeness, tc.terminal); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestSDK(t *testing.T) {
	for _, tc := range []struct {
		verdict                           taxonomy.Verdict
		coverage, coherence, completeness float64
		want                              taxonomy.Tier
	}{
		{taxonomy.VerdictPass, 70, 0.6, 0.75, taxonomy.Ideal}, {taxonomy.VerdictLikelyPass, 69, 0.6, 0.75, taxonomy.Solid},
		{taxonomy.VerdictPass, 50, 0.4, 0.5, taxonomy.Solid}, {taxonomy.VerdictPass, 49, 1, 1, taxonomy.Lucky},
		{taxonomy.VerdictUncertain, 90, 1, 1, taxonomy.PartialFail}, {taxonomy.VerdictFail, 39, 1, 1, taxonomy.OffTrack},
		{taxonomy.VerdictFail, 40, 1, 0.4, taxonomy.OffTrack},
	} {
		if got := taxonomy.SDK(tc.verdict, tc.coverage, tc.coherence, tc.completeness); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestCategorise(t *testing.T) {
	for _, tc := range []struct {
		columns taxonomy.Columns
		want    taxonomy.Category
		rule    string
	}{
		{taxonomy.Columns{NStates: 8, Incomplete: true}, taxonomy.Minimal, "n_states 8 <= 8"},
		{taxonomy.Columns{NStates: 9}, taxonomy.DivergentOK, "none"},
		{taxonomy.Columns{NStates: 5, StageCoverageV: 10}, taxonomy.DivergentOK, "none"},
		{taxonomy.Columns{NStates: 20, TotalWastedSteps: 3, BlindRetryCount: 2}, taxonomy.BruteForce, "blind_retry_count 2 >= 2"},
		{taxonomy.Columns{NStates: 20, TotalWastedSteps: 3, CyclicPatternCount: 1}, taxonomy.BruteForce, "cyclic_pattern_count 1 >= 1"},
		{taxonomy.Columns{NStates: 20, TotalWastedSteps: 8}, taxonomy.BruteForce, "total_wasted_steps 8 >= 8"},
		{taxonomy.Columns{NStates: 20, TotalWastedSteps: 2, CyclicPatternCount: 1}, taxonomy.DivergentOK, "none"},
		{taxonomy.Columns{NStates: 20, TotalWastedSteps: 7, BlindRetryCount: 1}, taxonomy.DivergentOK, "none"},
		{taxonomy.Columns{NStates: 31, ExcessiveExploration: true, Incomplete: true}, taxonomy.Excessive, "n_states 31 > 30"},
		{taxonomy.Columns{NStates: 30, ExcessiveExploration: true, Incomplete: true}, taxonomy.Incomplete, "incomplete_implementation"},
	} {
		got, rule := taxonomy.Categorise(tc.columns)
		if got != tc.want || !strings.Contains(rule, tc.rule) {
			t.Errorf("%+v: %s by %q", tc.columns, got.Code, rule)
		}
	}
}
