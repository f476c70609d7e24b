package publish

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// columnChange counts the runs for which one of the 40 columns is not as published.
type columnChange struct {
	column string
	rows   int64
}

// publishedChanges compares features_release with the published columns, run by run. runs is
// the number of runs in both.
func (p *publication) publishedChanges(ctx context.Context) (changes []columnChange, runs int64, err error) {
	db, err := store.Open(ctx, p.dir)
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	t, ok := schema.Lookup("published")
	if !ok {
		return nil, 0, fmt.Errorf("no table published")
	}
	sums := []string{"count(*)"}
	for _, c := range t.Variants[0].Columns {
		if c.PK {
			continue
		}
		changes = append(changes, columnChange{column: c.Name})
		sums = append(sums, fmt.Sprintf("coalesce(sum(f.%s IS NOT p.%[1]s), 0)", c.Name))
	}
	targets := []any{&runs}
	for i := range changes {
		targets = append(targets, &changes[i].rows)
	}
	query := "SELECT " + strings.Join(sums, ", ") + " FROM features_release f JOIN published p USING (trajectory_id)"
	return changes, runs, db.QueryRowContext(ctx, query).Scan(targets...)
}
