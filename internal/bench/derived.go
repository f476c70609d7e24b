package bench

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/store"
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
		{"tiers", "only Lucky passes have a category, and all of them in profiles with categories", `
			SELECT profile || ' ' || trajectory_id FROM tiers
			WHERE category IS NOT NULL AND tier IS NOT 'lucky' OR profile IN (` + categorised() + `) AND tier = 'lucky' AND category IS NULL`},
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
	profiles, err := m.Parameters.With()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range profiles {
		if lacks(absent, "features") || lacks(absent, "signals") || lacks(absent, "tiers") {
			leftOut = append(leftOut, p.Name()+"/features: scores and tiers follow from their parts")
			continue
		}
		more, err := checkProfile(ctx, db, p)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, more...)
	}
	return problems, leftOut, nil
}

// categorised lists the profiles that sort every Lucky pass, as SQL texts.
func categorised() string {
	names := registry.Having(func(c profile.Capabilities) bool { return c.Categories })
	return "'" + strings.Join(names, "', '") + "'"
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

// checkProfile recomputes what a profile derives from other stored columns.
func checkProfile(ctx context.Context, db *store.DB, p profile.Profile) ([]Problem, error) {
	tiers := map[string]schema.Tier{}
	rows, err := collect[schema.Tier](ctx, db, "SELECT %s FROM tiers WHERE profile = ?", p.Name())
	if err != nil {
		return nil, err
	}
	for _, t := range rows {
		tiers[t.TrajectoryID] = t
	}
	found := map[string][]string{} // rule -> keys
	note := func(rule, key string) { found[rule] = append(found[rule], key) }
	signals, err := signalsOf(ctx, db, p)
	if err != nil {
		return nil, err
	}
	for f, err := range store.ReadSQL[schema.Features](ctx, db.DB, "SELECT * FROM features_"+p.Name()+" ORDER BY trajectory_id") {
		if err != nil {
			return nil, err
		}
		s, ok := signals[f.TrajectoryID]
		if !ok {
			note("every scored run has signals", f.TrajectoryID)
			continue
		}
		for _, rule := range p.Check(s, &f, tiers[f.TrajectoryID]) {
			note(rule, f.TrajectoryID)
		}
	}
	var problems []Problem
	for rule, keys := range found {
		problems = append(problems, broken(p.Name()+"/features", rule, keys)...)
	}
	return problems, nil
}

// signalsOf reads the signals of a profile, as pointers to its row struct, by run.
func signalsOf(ctx context.Context, db *store.DB, p profile.Profile) (map[string]any, error) {
	out := map[string]any{}
	for row, err := range store.ReadRows(ctx, db.DB, p.Signals(), "SELECT * FROM signals_"+p.Name()) {
		if err != nil {
			return nil, err
		}
		out[row.Elem().FieldByName("TrajectoryID").String()] = row.Interface()
	}
	return out, nil
}
