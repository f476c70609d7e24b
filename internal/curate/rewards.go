package curate

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/store"
)

// judged is what a profile knows of the steps of a run.
type judged struct {
	stages  string         // strip of release labels, a letter per state
	wasted  map[int64]bool // labelled steps from 1 on, of the five detectors
	aligned map[int64]bool // states, 0 the initial one
}

// judge looks up steps.
type judge struct {
	db                       *store.DB
	stages, waste, alignment *sql.Stmt
}

func newJudge(ctx context.Context, dir, profile string) (*judge, error) {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	j := &judge{db: db}
	quoted := "'" + profile + "'" // one of the known profiles
	for _, s := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&j.stages, "SELECT stages_release FROM trajectories WHERE trajectory_id = ?"},
		{&j.waste, "SELECT last_step, wasted_steps FROM waste WHERE report = 'detectors' AND profile = " + quoted + " AND trajectory_id = ?"},
		{&j.alignment, "SELECT candidate_step FROM alignments WHERE aligned AND profile = " + quoted + " AND trajectory_id = ?"},
	} {
		if err = store.Require(dir, s.query); err == nil {
			*s.to, err = db.PrepareContext(ctx, s.query)
		}
		if err != nil {
			db.Close()
			return nil, err
		}
	}
	return j, nil
}

func (j *judge) close() error { return j.db.Close() }

func (j *judge) run(ctx context.Context, id string) (*judged, error) {
	out := &judged{wasted: map[int64]bool{}, aligned: map[int64]bool{}}
	if err := j.stages.QueryRowContext(ctx, id).Scan(&out.stages); err != nil {
		return nil, fmt.Errorf("steps of %s: %w", id, err)
	}
	err := eachRow(ctx, j.waste, id, func(rows *sql.Rows) error {
		var last, wasted int64
		if err := rows.Scan(&last, &wasted); err != nil {
			return err
		}
		for n := last - wasted + 1; n <= last; n++ { // the end of a span is what is wasted
			out.wasted[n] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, eachRow(ctx, j.alignment, id, func(rows *sql.Rows) error {
		var step int64
		err := rows.Scan(&step)
		out.aligned[step] = true
		return err
	})
}

func eachRow(ctx context.Context, stmt *sql.Stmt, id string, take func(*sql.Rows) error) error {
	rows, err := stmt.QueryContext(ctx, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rewardRow is a run with a reward for every step.
type rewardRow struct {
	TrajectoryID string       `json:"trajectory_id"`
	TaskID       string       `json:"task_id"`
	Outcome      string       `json:"outcome"`
	Total        float64      `json:"total"`
	Steps        []rewardStep `json:"steps"`
}

type rewardStep struct {
	Step    int     `json:"step"` // of states, the initial one is 0
	Stage   string  `json:"stage"`
	Aligned bool    `json:"aligned"`
	Wasted  bool    `json:"wasted"`
	Reward  float64 `json:"reward"`
}

// rewards gives every labelled step of a run its reward.
func (r *Rules) rewards(x *run, j *judged) rewardRow {
	row := rewardRow{TrajectoryID: x.id, TaskID: x.task, Outcome: x.outcome}
	for i, letter := range j.stages {
		if letter == '-' {
			continue
		}
		n := int64(len(row.Steps) + 1)
		s := rewardStep{Step: i, Stage: string(letter), Aligned: j.aligned[int64(i)], Wasted: j.wasted[n]}
		if s.Aligned {
			s.Reward += r.RewardAligned
		}
		if s.Wasted {
			s.Reward += r.RewardWasted
		}
		row.Steps = append(row.Steps, s)
	}
	if last := len(row.Steps) - 1; last >= 0 {
		switch x.outcome {
		case "pass":
			row.Steps[last].Reward += r.RewardOutcome
		case "fail":
			row.Steps[last].Reward -= r.RewardOutcome
		}
	}
	for _, s := range row.Steps {
		row.Total += s.Reward
	}
	return row
}
