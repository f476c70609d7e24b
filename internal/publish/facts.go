package publish

import (
	"context"
	"fmt"
	"reflect"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/store"
)

// facts are what the documents say of the data.
type facts struct {
	Repos    int
	Agents   []string
	Formats  []string
	Models   []modelFacts
	Profiles []profileFacts
}

type modelFacts struct {
	Model               string
	Runs, Pass, Fail    int64
	Ideal, Solid, Lucky int64 // passes, by the first profile
}

// profileFacts describe one profile's score over the runs with an outcome.
type profileFacts struct {
	Name   string
	About  string // what the score is
	Own    string // parameters that are not the defaults, "" for none
	Score  string // column
	Blind  bool   // whether the score never contains the outcome
	Scored int64
	Mean   float64
	AUROC  *float64 // how well the score separates passes from failures; nil when there is only one kind
	Tiers  map[string]int64
}

// about says what a profile's score is.
func about(profile string) string {
	switch profile {
	case "paper":
		return "`paper` is the method as the paper writes it."
	case "process":
		return "`process` never sees the run's own outcome."
	}
	return "`release` computes what the authors' release computes; its score contains the outcome (10 of 100 points for a pass), so its AUROC is no evidence for anything."
}

// own says with which parameters of its own a profile was computed, "" for the defaults.
func own(profile string, p bench.Parameters) string {
	switch {
	case profile == "paper" && p.Paper != nil && !reflect.DeepEqual(*p.Paper, paper.DefaultParams()):
		w, c := p.Paper.Weights, p.Paper.Cuts
		return fmt.Sprintf("k %d, %s labels, weights struct %g, cov %g, coh %g, temp %g, cuts %g, %g and %g, %d draws", p.Paper.K, p.Paper.Labels,
			w.Struct, w.Cov, w.Coh, w.Temp, c.Ideal, c.Solid, c.PartialFail, p.Paper.Draws)
	case profile == "process" && p.Process != nil && !reflect.DeepEqual(*p.Process, process.DefaultParams()):
		w, c := p.Process.Weights, p.Process.Cuts
		return fmt.Sprintf("k %d, weights A %g, F %g, V %g, cuts %g and %g", p.Process.K, w.A, w.F, w.V, c.Ideal, c.Low)
	}
	return ""
}

// Tiers, the best first.
func tiers() []string { return []string{"ideal", "solid", "lucky", "partial_fail", "off_track"} }

// scores are the profiles' scores: the table's column, and whether it is blind to the outcome.
func scores(profile string) (column, table string, blind bool) {
	switch profile {
	case "paper":
		return "paper_score", "signals_paper", true
	case "process":
		return "process_score", "signals_process", true
	}
	return "quality_score", "features_release", false
}

// gather counts what the documents say, in the whole dataset.
func (p *publication) gather(ctx context.Context) error {
	db, err := store.Open(ctx, p.dir)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := store.Require(p.dir, "trajectories passed agent tiers tier signals process_score features quality_score"); err != nil {
		return fmt.Errorf("the documents count the whole dataset, from which --without leaves out: %w", err)
	}
	f := &p.facts
	if err := db.QueryRowContext(ctx, "SELECT count(DISTINCT repo) FROM tasks").Scan(&f.Repos); err != nil {
		return err
	}
	if f.Agents, err = db.Texts(ctx, "SELECT DISTINCT agent FROM trajectories WHERE agent IS NOT NULL ORDER BY 1"); err != nil {
		return err
	}
	if f.Formats, err = db.Texts(ctx, "SELECT DISTINCT format FROM trajectories ORDER BY 1"); err != nil {
		return err
	}
	for _, profile := range db.Profiles {
		of, err := profileOf(ctx, db, profile)
		if err != nil {
			return fmt.Errorf("profile %s: %w", profile, err)
		}
		of.About, of.Own = about(profile), own(profile, p.manifest.Parameters)
		f.Profiles = append(f.Profiles, of)
	}
	first := ""
	if len(db.Profiles) > 0 {
		first = db.Profiles[0]
	}
	rows, err := db.QueryContext(ctx, `SELECT r.model, count(*), sum(r.outcome = 'pass'), sum(r.outcome = 'fail'),
		coalesce(sum(t.tier = 'ideal'), 0), coalesce(sum(t.tier = 'solid'), 0), coalesce(sum(t.tier = 'lucky'), 0)
		FROM trajectories r LEFT JOIN tiers t ON t.profile = ? AND t.trajectory_id = r.trajectory_id GROUP BY r.model ORDER BY r.model`, first)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m modelFacts
		if err := rows.Scan(&m.Model, &m.Runs, &m.Pass, &m.Fail, &m.Ideal, &m.Solid, &m.Lucky); err != nil {
			return err
		}
		f.Models = append(f.Models, m)
	}
	return rows.Err()
}

func profileOf(ctx context.Context, db *store.DB, profile string) (profileFacts, error) {
	column, table, blind := scores(profile)
	f := profileFacts{Name: profile, Score: column, Blind: blind, Tiers: map[string]int64{}}
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`SELECT s.%s, t.passed FROM %s s JOIN trajectories t USING (trajectory_id)
		WHERE s.%[1]s IS NOT NULL ORDER BY t.trajectory_id`, column, table))
	if err != nil {
		return f, err
	}
	defer rows.Close()
	var judged []float64
	var passed []bool
	var sum float64
	for rows.Next() {
		var score float64
		var pass *bool
		if err := rows.Scan(&score, &pass); err != nil {
			return f, err
		}
		f.Scored++
		sum += score
		if pass != nil {
			judged, passed = append(judged, score), append(passed, *pass)
		}
	}
	if err := rows.Err(); err != nil {
		return f, err
	}
	if f.Scored > 0 {
		f.Mean = sum / float64(f.Scored)
	}
	if auroc, err := stats.AUROC(judged, passed); err == nil { // else there is one kind of outcome only
		f.AUROC = &auroc
	}
	counts, err := db.QueryContext(ctx, "SELECT tier, count(*) FROM tiers WHERE profile = ? AND tier IS NOT NULL GROUP BY tier", profile)
	if err != nil {
		return f, err
	}
	defer counts.Close()
	for counts.Next() {
		var tier string
		var n int64
		if err := counts.Scan(&tier, &n); err != nil {
			return f, err
		}
		f.Tiers[tier] = n
	}
	return f, counts.Err()
}
