package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// A derivation is a check in SQL: the query names the rows that break a rule.
type derivation struct {
	table, rule string
	query       string // gives one text column: the row's key
}

// sharedDerivations hold in every dataset.
func sharedDerivations() []derivation {
	return []derivation{
		{"tasks", "counts of runs follow from trajectories", `
			SELECT task_id FROM tasks t WHERE (n_trajectories, n_pass, n_fail, n_unknown) IS NOT
			(SELECT count(*), coalesce(sum(outcome = 'pass'), 0), coalesce(sum(outcome = 'fail'), 0), coalesce(sum(outcome = 'unknown'), 0)
			 FROM trajectories r WHERE r.task_id = t.task_id)`},
		{"models", "counts of runs follow from trajectories", `
			SELECT model FROM models m WHERE (n_trajectories, n_pass, n_fail, n_unknown) IS NOT
			(SELECT count(*), coalesce(sum(outcome = 'pass'), 0), coalesce(sum(outcome = 'fail'), 0), coalesce(sum(outcome = 'unknown'), 0)
			 FROM trajectories r WHERE r.model = m.model)`},
		{"trajectories", "passed follows from outcome", `
			SELECT trajectory_id FROM trajectories WHERE passed IS NOT CASE outcome WHEN 'pass' THEN 1 WHEN 'fail' THEN 0 END`},
		{"trajectories", "totals follow from states", `
			SELECT t.trajectory_id FROM trajectories t JOIN
			(SELECT trajectory_id, sum(stage_release IS NOT NULL) n, coalesce(sum(input_tokens), 0) i, coalesce(sum(output_tokens), 0) o, coalesce(sum(cached_tokens), 0) c,
			 count(*) states FROM states GROUP BY trajectory_id) s USING (trajectory_id)
			WHERE (t.n_states, t.input_tokens, t.output_tokens, t.cached_tokens, length(t.stages_release)) IS NOT (s.n, s.i, s.o, s.c, s.states)`},
		{"states", "the strip of stages follows from the labels", `
			SELECT s.trajectory_id || ' step ' || s.step FROM states s JOIN trajectories t USING (trajectory_id)
			WHERE substr(t.stages_release, s.step + 1, 1) IS NOT coalesce(upper(substr(s.stage_release, 1, 1)), '-')`},
		{"tiers", "every run has a tier or a reason", `
			SELECT profile || ' ' || trajectory_id FROM tiers WHERE (tier IS NULL) = (reason IS NULL)`},
		{"tiers", "tiers fit the outcome", `
			SELECT profile || ' ' || x.trajectory_id FROM tiers x JOIN trajectories t USING (trajectory_id)
			WHERE x.tier IN ('ideal', 'solid', 'lucky') AND t.outcome <> 'pass' OR x.tier IN ('partial_fail', 'off_track') AND t.outcome <> 'fail'`},
		{"tiers", "only Lucky passes have a category, and all of them in the release profile", `
			SELECT profile || ' ' || trajectory_id FROM tiers
			WHERE category IS NOT NULL AND tier IS NOT 'lucky' OR profile = 'release' AND tier = 'lucky' AND category IS NULL`},
		{"features", "the tier is the one of tiers", `
			SELECT f.profile || ' ' || f.trajectory_id FROM features f LEFT JOIN tiers t USING (profile, trajectory_id) WHERE f.quality_tier IS NOT t.tier`},
		{"pta", "counts follow from members, nodes, edges and paths", `
			SELECT p.profile || ' ' || p.pta_id FROM pta p WHERE (n_members, n_nodes, n_edges, n_paths) IS NOT
			((SELECT count(*) FROM pta_members m WHERE m.profile = p.profile AND m.pta_id = p.pta_id),
			 (SELECT count(*) FROM pta_nodes n WHERE n.profile = p.profile AND n.pta_id = p.pta_id),
			 (SELECT count(*) FROM pta_edges e WHERE e.profile = p.profile AND e.pta_id = p.pta_id),
			 (SELECT count(*) FROM pta_paths x WHERE x.profile = p.profile AND x.pta_id = p.pta_id))`},
		{"pta_members", "members passed the task of their reference", `
			SELECT m.profile || ' ' || m.pta_id FROM pta_members m JOIN pta p USING (profile, pta_id) JOIN trajectories t USING (trajectory_id)
			WHERE t.outcome <> 'pass' OR t.task_id <> p.task_id`},
		{"signals", "no run is judged by a graph it was merged into", `
			SELECT s.profile || ' ' || s.trajectory_id FROM signals s JOIN pta_members m
			ON m.profile = s.profile AND m.pta_id = s.pta_id AND m.trajectory_id = s.trajectory_id
			JOIN pta p ON p.profile = s.profile AND p.pta_id = s.pta_id WHERE p.mode <> 'pool'`},
	}
}

// checkCounts compares the manifest's counts with the tables that are there.
func checkCounts(ctx context.Context, db *store.DB, absent map[string]bool, c Counts) (problems []Problem, err error) {
	for _, x := range []struct {
		name, table, query string
		want               int64
	}{
		{"tasks", "tasks", "SELECT count(*) FROM tasks", c.Tasks},
		{"models", "models", "SELECT count(*) FROM models", c.Models},
		{"trajectories", "trajectories", "SELECT count(*) FROM trajectories", c.Trajectories},
		{"pass", "trajectories", "SELECT count(*) FROM trajectories WHERE outcome = 'pass'", c.Pass},
		{"fail", "trajectories", "SELECT count(*) FROM trajectories WHERE outcome = 'fail'", c.Fail},
		{"unknown", "trajectories", "SELECT count(*) FROM trajectories WHERE outcome = 'unknown'", c.Unknown},
		{"states", "states", "SELECT count(*) FROM states", c.States},
		{"labelled_states", "states", "SELECT count(stage_release) FROM states", c.Labelled},
	} {
		if absent[x.table] || x.name == "labelled_states" && absent["states.stage_release"] {
			continue
		}
		var got int64
		if err := db.QueryRowContext(ctx, x.query).Scan(&got); err != nil {
			return nil, err
		}
		if got != x.want {
			problems = append(problems, Problem{"manifest", ManifestName, fmt.Sprintf("counts %d as %s, the table %s has %d", x.want, x.name, x.table, got)})
		}
	}
	return problems, nil
}

// mostRows bounds the rows that one broken rule lists.
const mostRows = 5

// checkDerived checks that derived columns follow from their inputs. Rules that need what the
// dataset was published without are left out and listed.
func checkDerived(ctx context.Context, dir string, m Manifest) (problems []Problem, leftOut []string, err error) {
	absent, err := store.Absent(dir)
	if err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	if problems, err = checkCounts(ctx, db, absent, m.Counts); err != nil {
		return nil, nil, err
	}
	for _, d := range sharedDerivations() {
		if len(store.Named(absent, d.query)) > 0 {
			leftOut = append(leftOut, d.table+": "+d.rule)
			continue
		}
		keys, err := db.Texts(ctx, d.query)
		if err != nil {
			return nil, nil, fmt.Errorf("check that %s: %w", d.rule, err)
		}
		problems = append(problems, broken(d.table, d.rule, keys)...)
	}
	if !slices.Contains(m.Parameters.Profiles, "release") {
		return problems, leftOut, nil
	}
	if lacks(absent, "features") || lacks(absent, "signals") || lacks(absent, "tiers") {
		return problems, append(leftOut, "release/features: scores, tiers, verdicts and totals follow from their parts"), nil
	}
	more, err := checkRelease(ctx, db)
	return append(problems, more...), leftOut, err
}

// lacks reports whether a table or any column of it is absent.
func lacks(absent map[string]bool, table string) bool {
	for name := range absent {
		if of, _, _ := strings.Cut(name, "."); of == table {
			return true
		}
	}
	return false
}

func broken(table, rule string, keys []string) []Problem {
	if len(keys) == 0 {
		return nil
	}
	more := ""
	if n := len(keys) - mostRows; n > 0 {
		keys, more = keys[:mostRows], fmt.Sprintf(" and %d more", n)
	}
	return []Problem{{"derived", table, fmt.Sprintf("%s, but not for %s%s", rule, strings.Join(keys, ", "), more)}}
}

// checkRelease recomputes what the release profile derives from other stored columns.
func checkRelease(ctx context.Context, db *store.DB) ([]Problem, error) {
	signals := map[string]schema.SignalsRelease{}
	for s, err := range store.ReadSQL[schema.SignalsRelease](ctx, db.DB, "SELECT * FROM signals_release") {
		if err != nil {
			return nil, err
		}
		signals[s.TrajectoryID] = s
	}
	tiers := map[string]schema.Tier{}
	rows, err := collect[schema.Tier](ctx, db, "SELECT %s FROM tiers WHERE profile = 'release'")
	if err != nil {
		return nil, err
	}
	for _, t := range rows {
		tiers[t.TrajectoryID] = t
	}
	found := map[string][]string{} // rule -> keys
	for f, err := range store.ReadSQL[schema.Features](ctx, db.DB, "SELECT * FROM features_release ORDER BY trajectory_id") {
		if err != nil {
			return nil, err
		}
		s, ok := signals[f.TrajectoryID]
		if !ok {
			found["every scored run has signals"] = append(found["every scored run has signals"], f.TrajectoryID)
			continue
		}
		if !complete(f) {
			const rule = "a scored run has every number that its score and tier follow from"
			found[rule] = append(found[rule], f.TrajectoryID)
			continue
		}
		for _, rule := range brokenRules(f, s, tiers[f.TrajectoryID]) {
			found[rule] = append(found[rule], f.TrajectoryID)
		}
	}
	var problems []Problem
	for rule, keys := range found {
		problems = append(problems, broken("release/features", rule, keys)...)
	}
	return problems, nil
}

// complete reports whether a row has the numbers that brokenRules computes with.
func complete(f schema.Features) bool {
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

// brokenRules recomputes one complete row (docs/spec/release.md, sections 7, 8, 11).
func brokenRules(f schema.Features, s schema.SignalsRelease, tier schema.Tier) []string {
	var out []string
	check := func(ok bool, rule string) {
		if !ok {
			out = append(out, rule)
		}
	}
	outcome := trajectory.Unknown
	if f.Passed != nil {
		outcome = trajectory.Fail
		if *f.Passed {
			outcome = trajectory.Pass
		}
	}
	p, c := *f.PrecisionPercent, *f.CoveragePercent
	f1 := 0.0
	if p+c != 0 {
		f1 = 2 * p * c / (p + c)
	}
	check(*f.F1Score == f1, "f1_score is the harmonic mean of coverage and precision")
	check(c == float64(s.MatchedCount)/float64(s.GTPathLen)*100, "coverage_percent follows from matched_count and gt_path_len")
	check(p == float64(s.MatchedCount)/float64(s.CandidateStates)*100, "precision_percent follows from matched_count and candidate_states")
	bare := release.Parts{Coverage: c, F1: *f.F1Score, Coherence: *f.CoherenceScore, Completeness: *f.StageCompleteness, Workflow: *f.WorkflowSimilarity}.WithoutOutcome()
	check(s.ScoreWithoutOutcome == bare, "score_without_outcome follows from its parts")
	full := release.AddOutcome(bare, outcome)
	check(s.ScoreWithOutcomeUnrounded == full, "score_with_outcome_unrounded adds the outcome term")
	check(*f.QualityScore == release.Round(full), "quality_score is the rounded score")
	want, _ := taxonomy.ByScore(*f.QualityScore, outcome)
	check(textOr(f.QualityTier) == string(want), "quality_tier follows from quality_score and passed")
	check(textOr(f.Verdict) == string(taxonomy.ByMatch(*f.WeightedScore, *f.BottleneckCoverage, *f.StageCompleteness, s.TerminalStateMatch)), "verdict follows from the match")
	total := *f.RegressionLoopWaste + *f.BlindRetryWaste + *f.RedundantStepWaste + *f.UnnecessaryExplorationWaste + *f.CyclicPatternWaste
	check(*f.TotalWastedSteps == total, "total_wasted_steps is the sum of the five wastes")
	check(*f.WasteSeverity == fourDecimals(float64(total)/float64(max(*f.NStates, 1))), "waste_severity is total_wasted_steps / n_states")
	if f.DivergenceStep != nil {
		check(s.DivergenceIndex != nil && *f.DivergenceStep == *s.DivergenceIndex+1, "divergence_step is divergence_index + 1")
		check(*f.DivergenceFraction == fourDecimals(float64(*f.DivergenceStep)/float64(*f.NStates)), "divergence_fraction is divergence_step / n_states")
	}
	if want == taxonomy.Lucky {
		category, _ := taxonomy.Categorise(taxonomy.Columns{
			NStates: *f.NStates, StageCoverageV: *f.StageCoverageV, TotalWastedSteps: *f.TotalWastedSteps,
			BlindRetryCount: *f.BlindRetryCount, CyclicPatternCount: *f.CyclicPatternCount,
			ExcessiveExploration: strings.Contains(textOr(s.Signals), "excessive_exploration"),
			Incomplete:           strings.Contains(textOr(s.FailureReasonNames), "incomplete_implementation"),
		})
		check(textOr(tier.Category) == category.Code, "the Lucky category follows from its columns")
	}
	return out
}

func fourDecimals(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 4, 64), 64)
	if err != nil {
		panic(err) // what FormatFloat writes parses
	}
	return v
}

func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
