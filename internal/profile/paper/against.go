package paper

import (
	"context"

	"github.com/agentlens-bench/agentlens/internal/profile/steps"
)

// Against returns f of every run against references that the caller chooses: one row per
// list of members (indexes of task.Runs, in merge order), one entry per run, nil for the
// members themselves and for runs without steps. The params must be valid; K, Draws and
// OtherModels do not count.
func Against(ctx context.Context, task *steps.Task, params Params, lists [][]int) ([][]*float64, error) {
	d := newDonors(task, params)
	refs := make([]*reference, len(lists))
	out := make([][]*float64, len(lists))
	member := make([][]bool, len(lists))
	for l, list := range lists {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		refs[l] = d.merge(list)
		out[l], member[l] = make([]*float64, len(task.Runs)), make([]bool, len(task.Runs))
		for _, r := range list {
			member[l][r] = true
		}
	}
	var c candidate
	for i := range task.Runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(task.Runs[i].Steps) == 0 {
			continue
		}
		c.use(d, i)
		for l, ref := range refs {
			if !member[l][i] {
				f := c.score(ref).f
				out[l][i] = &f
			}
		}
	}
	return out, nil
}
