package experiment

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/shell"
)

// Corpus gives an experiment its tasks, sorted by id. A task is opened when a worker takes
// it and is free to be forgotten when the worker is done.
type Corpus struct {
	Tasks    []func() profile.Task
	Jobs     int                   // workers, at least 1
	Progress func(done, total int) // called from one goroutine at a time; may be nil
}

// each does the work on every task, in parallel, and returns the results in the order of
// the tasks.
func each[T any](ctx context.Context, c Corpus, work func(ctx context.Context, task profile.Task) (T, error)) ([]T, error) {
	out := make([]T, len(c.Tasks))
	g, inside := errgroup.WithContext(ctx)
	g.SetLimit(c.Jobs)
	var mu sync.Mutex
	done := 0
	for i, open := range c.Tasks {
		g.Go(func() error {
			if err := inside.Err(); err != nil {
				return err
			}
			result, err := work(inside, open())
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			out[i] = result
			done++
			if c.Progress != nil {
				c.Progress(done, len(c.Tasks))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// eachSteps is each over the tasks' steps.
func eachSteps[T any](ctx context.Context, c Corpus, work func(ctx context.Context, task *steps.Task) (T, error)) ([]T, error) {
	return each(ctx, c, func(ctx context.Context, task profile.Task) (T, error) {
		var none T
		t, err := steps.Load(ctx, task, shell.New(shell.Options{}))
		if err != nil {
			return none, err
		}
		return work(ctx, t)
	})
}

func runsOf(task string, runs []profile.Run) []Run {
	out := make([]Run, len(runs))
	for i, r := range runs {
		out[i] = Run{r.ID, task, r.Model, r.Outcome}
	}
	return out
}

func runsOfSteps(task *steps.Task) []Run {
	out := make([]Run, len(task.Runs))
	for i, r := range task.Runs {
		out[i] = Run{r.ID, task.ID, r.Model, r.Outcome}
	}
	return out
}
