package baseline

import (
	"context"

	"github.com/agentlens-bench/agentlens/internal/matching"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Score is a run's similarity to its closest reference.
type Score struct {
	ID    string
	Value float64 // 0-1
	Ref   string  // the first reference with that value
	Index int     // its 0-based place among the references; -1 when there are too few to score
}

// Individual matches runs with single references, step by step under strict_t: the harmonic
// mean of the ordered recall of the reference and the precision of the run. One score per
// run of the task.
func Individual(ctx context.Context, task *steps.Task, labels steps.LabelSet, k int) ([]Score, error) {
	runs := make([]profile.Run, len(task.Runs))
	for i := range task.Runs {
		runs[i] = task.Runs[i].Run
	}
	var matcher matching.Matcher
	return best(ctx, runs, k, func(c, r int) float64 {
		run, ref := &task.Runs[c], &task.Runs[r]
		if len(run.Steps) == 0 || len(ref.Steps) == 0 {
			return 0
		}
		rows := task.Matches(ref, run, labels)
		recall := float64(matching.Scan(rows)) / float64(len(ref.Steps))
		precision := float64(matcher.Size(rows, len(run.Steps))) / float64(len(run.Steps))
		return harmonic(recall, precision)
	})
}

// best scores every run against its references, in order.
func best(ctx context.Context, runs []profile.Run, k int, similarity func(c, r int) float64) ([]Score, error) {
	at := map[string]int{}
	var passing []string
	for i, r := range runs {
		at[r.ID] = i
		if r.Outcome == trajectory.Pass {
			passing = append(passing, r.ID)
		}
	}
	order := profile.HashOrder(passing, "")
	out := make([]Score, len(runs))
	for c, run := range runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[c] = Score{ID: run.ID, Index: -1}
		refs := references(order, run.ID, k)
		if len(refs) < profile.MinReferences {
			continue
		}
		for i, id := range refs {
			if v := similarity(c, at[id]); i == 0 || v > out[c].Value {
				out[c].Value, out[c].Ref, out[c].Index = v, id, i
			}
		}
	}
	return out, nil
}

// references returns the first k ids but the run's own.
func references(order []string, id string, k int) []string {
	out := make([]string, 0, k)
	for _, r := range order {
		if r != id && len(out) < k {
			out = append(out, r)
		}
	}
	return out
}

func harmonic(p, q float64) float64 {
	if p+q == 0 {
		return 0
	}
	return 2 * p * q / (p + q)
}
