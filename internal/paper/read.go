package paper

import (
	"context"
	"database/sql"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// Read fills a Source from a dataset. Rebuilt and Paper stay empty when the dataset was built
// without those profiles, and hold published runs only, so that other logs in the same
// dataset change no figure. Without published columns the error is ErrNoPublished.
func Read(ctx context.Context, db *store.DB) (Source, error) {
	const published = " WHERE trajectory_id IN (SELECT trajectory_id FROM published)"
	var src Source
	var err error
	if src.Published, err = rows[schema.Published](ctx, db.DB, "SELECT * FROM published"); err != nil {
		return Source{}, err
	}
	if len(src.Published) == 0 {
		return Source{}, ErrNoPublished
	}
	if src.Trajectories, err = rows[schema.Trajectory](ctx, db.DB, "SELECT * FROM trajectories"+published); err != nil {
		return Source{}, err
	}
	if src.Tasks, err = rows[schema.PublishedTask](ctx, db.DB, "SELECT * FROM published_tasks"); err != nil {
		return Source{}, err
	}
	if src.References, err = rows[schema.PublishedReference](ctx, db.DB, "SELECT * FROM published_references"); err != nil {
		return Source{}, err
	}
	if src.ToolCalls, err = rows[ToolCalls](ctx, db.DB,
		"SELECT trajectory_id, tool, count(*) AS calls FROM states"+published+" AND tool IS NOT NULL GROUP BY 1, 2"); err != nil {
		return Source{}, err
	}
	if slices.Contains(db.Profiles, release.Name) {
		if src.Rebuilt, err = rows[schema.Features](ctx, db.DB, "SELECT * FROM features_release"+published); err != nil {
			return Source{}, err
		}
	}
	if slices.Contains(db.Profiles, paper.Name) {
		if src.Paper, err = rows[schema.SignalsPaper](ctx, db.DB, "SELECT * FROM signals_paper"+published); err != nil {
			return Source{}, err
		}
	}
	return src, nil
}

func rows[T any](ctx context.Context, db *sql.DB, query string) ([]T, error) {
	var out []T
	for row, err := range store.ReadSQL[T](ctx, db, query) {
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}
