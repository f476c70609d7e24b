package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// Reasons why a run has no tier.
const (
	ReasonDonor          = "reference_donor"    // held out: it is part of the task's reference
	ReasonTooFew         = "too_few_references" // fewer than profile.MinReferences other passing runs
	ReasonNoReference    = "no_reference"       // the donors file has no reference for the task
	ReasonOutcomeUnknown = "outcome_unknown"    // scored, but tiers need an outcome
	ReasonEmpty          = "empty"              // the run has no labelled step
)

// Assess judges every run of a task by the references of the plan. Runs without a labelled
// step never become references unless a donors file names them.
func Assess(ctx context.Context, task profile.Task, plan profile.Plan, emit profile.Emitter) error {
	a := assessor{task: task, plan: plan, emit: emit, pool: make(map[string]*pta.Trace)}
	a.order = make([]int, len(task.Runs))
	for i := range a.order {
		a.order[i] = i
	}
	slices.SortFunc(a.order, func(i, j int) int { return strings.Compare(task.Runs[i].ID, task.Runs[j].ID) })
	if err := a.assess(ctx); err != nil {
		return fmt.Errorf("task %s: %w", task.ID, err)
	}
	return nil
}

type assessor struct {
	task  profile.Task
	plan  profile.Plan
	emit  profile.Emitter
	order []int                 // of Runs, by id
	pool  map[string]*pta.Trace // runs that are part of a reference
}

func (a *assessor) assess(ctx context.Context) error {
	judgedBy, reasons, err := a.choose(ctx)
	if err != nil {
		return err
	}
	references := make(map[string]*reference)
	var ids []string
	for _, members := range judgedBy {
		if id := profile.ReferenceID(a.task.ID, members); references[id] == nil {
			references[id] = newReference(a.task.ID, a.plan, id, a.traces(members))
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := a.emit.Reference(references[id].rows()); err != nil {
			return err
		}
	}
	for _, i := range a.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		run := a.task.Runs[i]
		rows := profile.RunRows{Tier: schema.Tier{TrajectoryID: run.ID}}
		if reason := reasons[run.ID]; reason != "" {
			rows.Tier.Reason = &reason
		} else if rows, err = a.judge(i, references[profile.ReferenceID(a.task.ID, judgedBy[run.ID])]); err != nil {
			return err
		}
		if err := a.emit.Run(rows); err != nil {
			return err
		}
	}
	return nil
}

func (a *assessor) judge(i int, ref *reference) (profile.RunRows, error) {
	run := a.task.Runs[i]
	trace := a.pool[run.ID]
	if trace == nil {
		var err error
		if trace, err = a.load(i); err != nil {
			return profile.RunRows{}, err
		}
	}
	reason := ""
	switch {
	case !labelled(trace):
		reason = ReasonEmpty
	case len(ref.paths) == 0:
		reason = ReasonNoReference
	}
	if reason != "" {
		return profile.RunRows{Tier: schema.Tier{TrajectoryID: run.ID, Reason: &reason}}, nil
	}
	return ref.assess(trace, run.Outcome).rows(a.task.ID, run), nil
}

func (a *assessor) load(i int) (*pta.Trace, error) {
	t, err := a.task.Load(i)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", a.task.Runs[i].ID, err)
	}
	return pta.NewTrace(t), nil
}

// labelled reports whether the sequence that is scored has a labelled step.
func labelled(t *pta.Trace) bool {
	for _, s := range t.LongestPath() {
		if s.Stage != trajectory.NoStage {
			return true
		}
	}
	return false
}

func (a *assessor) traces(members []string) []*pta.Trace {
	out := make([]*pta.Trace, len(members))
	for i, id := range members {
		out[i] = a.pool[id]
	}
	return out
}

// choose returns, for every run, either the ordered members of its reference or the reason
// why it has none. It loads the members into the pool.
func (a *assessor) choose(ctx context.Context) (judgedBy map[string][]string, reasons map[string]string, err error) {
	judgedBy, reasons = make(map[string][]string), make(map[string]string)
	assign := func(id string, members []string) {
		if len(members) < profile.MinReferences {
			reasons[id] = ReasonTooFew
		} else {
			judgedBy[id] = members
		}
	}
	if a.plan.Mode == profile.LeaveOneOut {
		first, err := a.firstPassing(ctx, a.plan.K+1)
		if err != nil {
			return nil, nil, err
		}
		for _, run := range a.task.Runs {
			others := slices.DeleteFunc(slices.Clone(first), func(id string) bool { return id == run.ID })
			assign(run.ID, others[:min(len(others), a.plan.K)])
		}
		return judgedBy, reasons, nil
	}
	donors, known, err := a.donors(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, run := range a.task.Runs {
		switch {
		case !known:
			reasons[run.ID] = ReasonNoReference
		case len(donors) >= profile.MinReferences && slices.Contains(donors, run.ID):
			reasons[run.ID] = ReasonDonor
		default:
			assign(run.ID, donors)
		}
	}
	return judgedBy, reasons, nil
}

// donors returns the task's donors in merge order and loads them; known is false when the
// donors file does not have the task.
func (a *assessor) donors(ctx context.Context) (ids []string, known bool, err error) {
	if a.plan.Donors == nil {
		ids, err = a.firstPassing(ctx, a.plan.K)
		return ids, true, err
	}
	ids, known = a.plan.Donors[a.task.ID]
	for _, id := range ids {
		i := slices.IndexFunc(a.task.Runs, func(r profile.Run) bool { return r.ID == id })
		if i < 0 {
			return nil, false, fmt.Errorf("donor %s is not among the task's %d runs: correct the donors file, or add the run to the source", id, len(a.task.Runs))
		}
		if a.pool[id], err = a.load(i); err != nil {
			return nil, false, err
		}
	}
	return ids, known, nil
}

// firstPassing loads the first n passing runs with a labelled step, in hash order.
func (a *assessor) firstPassing(ctx context.Context, n int) ([]string, error) {
	index := make(map[string]int)
	var passing []string
	for i, run := range a.task.Runs {
		if run.Outcome == trajectory.Pass {
			index[run.ID] = i
			passing = append(passing, run.ID)
		}
	}
	var out []string
	for _, id := range profile.HashOrder(passing, "") {
		if len(out) == n {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		trace, err := a.load(index[id])
		if err != nil {
			return nil, err
		}
		if labelled(trace) {
			a.pool[id] = trace
			out = append(out, id)
		}
	}
	return out, nil
}
