package process

import (
	"context"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/matching"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// AssessSteps emits the pools of a task and one row set per run. The params must be valid.
func AssessSteps(ctx context.Context, task *steps.Task, params Params, emit profile.Emitter) error {
	pools := newPools(task, nil)
	for _, p := range pools.sorted() {
		if err := emit.Reference(p.rows(task, params)); err != nil {
			return err
		}
	}
	for i := range task.Runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		parts := measure(task, i, pools.of(i), params)
		if err := emit.Run(parts.rows(task, params)); err != nil {
			return err
		}
	}
	return nil
}

// Scores returns the score of every run of the task against a restricted pool: only runs
// for which keep is true may be references; nil keeps all. A score is nil where it can't
// be computed.
func Scores(ctx context.Context, task *steps.Task, params Params, keep func(*steps.Run) bool) ([]*float64, error) {
	pools := newPools(task, keep)
	out := make([]*float64, len(task.Runs))
	for i := range task.Runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = measure(task, i, pools.of(i), params).score
	}
	return out, nil
}

// The kinds of pools.
const (
	crossModel = "cross_model"
	sameModel  = "same_model"
	noPool     = "none"
)

// pool is a set of references, sorted by trajectory id. A run is never its own reference,
// member or not.
type pool struct {
	id   string
	kind string
	runs []int
}

// pools are a task's: one per model that leaves other models' runs to compare with, and one
// of all passing runs for the models that don't.
type pools struct {
	task    *steps.Task
	byModel map[string]*pool
}

func newPools(task *steps.Task, keep func(*steps.Run) bool) pools {
	var all []int
	for i := range task.Runs {
		if r := &task.Runs[i]; r.Outcome == trajectory.Pass && (keep == nil || keep(r)) {
			all = append(all, i)
		}
	}
	out := pools{task, map[string]*pool{}}
	for i := range task.Runs {
		model := task.Runs[i].Model
		if out.byModel[model] != nil {
			continue
		}
		p := &pool{kind: crossModel}
		for _, r := range all {
			if task.Runs[r].Model != model {
				p.runs = append(p.runs, r)
			}
		}
		if len(p.runs) == 0 {
			p.kind, p.runs = sameModel, all
		}
		ids := make([]string, len(p.runs))
		for k, r := range p.runs {
			ids[k] = task.Runs[r].ID
		}
		p.id = profile.ReferenceID(task.ID, ids)
		out.byModel[model] = p
	}
	return out
}

func (p pools) of(run int) *pool { return p.byModel[p.task.Runs[run].Model] }

// sorted returns the pools with members, each once, by id.
func (p pools) sorted() []*pool {
	var out []*pool
	for i := range p.task.Runs {
		if q := p.of(i); len(q.runs) > 0 {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b *pool) int { return strings.Compare(a.id, b.id) })
	return slices.CompactFunc(out, func(a, b *pool) bool { return a.id == b.id })
}

// parts are what is measured of one run. A, F, S and the score are nil without a reference.
type parts struct {
	run     *steps.Run
	pool    *pool
	size    int // references: members of the pool but the run itself
	kind    string
	a, f, s *float64
	v       float64
	score   *float64 // 0-100
}

func measure(task *steps.Task, i int, p *pool, params Params) parts {
	run := &task.Runs[i]
	out := parts{run: run, pool: p, kind: p.kind}
	if len(run.Edited) > 0 {
		out.v = verified(run.Verifications)
	}
	followed, files, tokens := make([]float64, 0, len(p.runs)), make([]float64, 0, len(p.runs)), make([]float64, 0, len(p.runs))
	for _, k := range p.runs {
		if k == i {
			continue
		}
		r := &task.Runs[k]
		share := 0.0
		if n := len(r.Steps); n > 0 {
			share = float64(matching.LCS(task.Matches(r, run, steps.Clean), len(run.Steps))) / float64(n)
		}
		followed = append(followed, share)
		files = append(files, fileOverlap(run.Edited, r.Edited))
		tokens = append(tokens, tokenOverlap(run.Added, r.Added, run.AddedTokens, r.AddedTokens))
	}
	out.size = len(followed)
	if out.size == 0 {
		out.kind = noPool
		return out
	}
	a, f, s := expectation(followed, params.K), expectation(files, params.K), expectation(tokens, params.K)
	out.a, out.f, out.s = &a, &f, &s
	if len(run.Steps) > 0 {
		w := params.Weights
		score := 100 * (float64(w.A*a) + float64(w.F*f) + float64(w.V*out.v))
		out.score = &score
	}
	return out
}
