package publish

import (
	"context"
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/params"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
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

// Tiers, the best first.
func tiers() []string { return []string{"ideal", "solid", "lucky", "partial_fail", "off_track"} }

// gather counts what the documents say, in the whole dataset.
func (p *publication) gather(ctx context.Context) error {
	db, err := store.Open(ctx, p.dir)
	if err != nil {
		return err
	}
	defer db.Close()
	profiles, err := p.manifest.Parameters.With()
	if err != nil {
		return err
	}
	needs := "trajectories passed agent tiers tier"
	for _, of := range profiles {
		needs += " " + of.Score().Name()
	}
	if err := store.Require(p.dir, needs); err != nil {
		return fmt.Errorf("the documents count the whole dataset, from which option without leaves out: %w", err)
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
	for _, of := range profiles {
		facts, err := profileOf(ctx, db, of)
		if err != nil {
			return fmt.Errorf("profile %s: %w", of.Name(), err)
		}
		f.Profiles = append(f.Profiles, facts)
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

func profileOf(ctx context.Context, db *store.DB, of profile.Profile) (profileFacts, error) {
	score := of.Score()
	f := profileFacts{Name: of.Name(), About: of.About(), Score: score.Column, Blind: !score.SeesOutcome, Tiers: map[string]int64{}}
	defaults, err := registry.New(of.Name())
	if err != nil {
		return f, err
	}
	f.Own = params.Own(of, defaults)
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`SELECT s.%s, t.passed FROM %s s JOIN trajectories t USING (trajectory_id)
		WHERE s.%[1]s IS NOT NULL ORDER BY t.trajectory_id`, score.Column, score.View(of.Name())))
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
	counts, err := db.QueryContext(ctx, "SELECT tier, count(*) FROM tiers WHERE profile = ? AND tier IS NOT NULL GROUP BY tier", of.Name())
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
