package steps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/matching"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// ID stands for a text of a Task; 0 is the empty text.
type ID uint32

// LabelSet says whose stage labels are used.
type LabelSet string

// The label sets.
const (
	Release LabelSet = "release" // as stored in the source, or by the release labeler
	Clean   LabelSet = "clean"   // docs/spec/process.md, section 3
)

// Step is one step of a run.
type Step struct {
	State     int32 // index among the run's ordered states; the initial state is 0
	Number    int64 // step number in the source
	Tool      ID
	File      ID // file_path
	StateID   ID
	Resulting ID // resulting state

	InputTokens, OutputTokens int64 // missing counted as 0

	strict equiv.StrictStep
}

// Count is a token and how often it occurs.
type Count struct {
	Token ID
	N     int32
}

// Run is what is kept of a trajectory.
type Run struct {
	profile.Run
	Steps []Step

	Edited        []ID    // source files edited, without repeats, sorted by ID
	Added         []Count // tokens of the lines added to source files, sorted by token
	AddedTokens   int64   // size of that multiset
	Verifications int64   // test, run and code actions after the last source edit; 0 without an edit

	labels map[LabelSet][]trajectory.Stage
}

// Labels returns one label per step.
func (r *Run) Labels(set LabelSet) []trajectory.Stage { return r.labels[set] }

// Task is the runs of one task, sorted by trajectory id.
type Task struct {
	ID   string
	Runs []Run

	names []string
}

// Name returns the text of an ID.
func (t *Task) Name(id ID) string { return t.names[id] }

// Signature is equal for steps of the task with equal tool, file and label.
func (s *Step) Signature(label trajectory.Stage) uint64 {
	return uint64(s.Tool)<<35 | uint64(s.File)<<3 | uint64(label)
}

// Of returns a task's steps, loaded once for all profiles that judge it.
func Of(ctx context.Context, task *profile.Task) (*Task, error) {
	return profile.Derived(task, func() (*Task, error) { return Load(ctx, *task, shell.New(shell.Options{})) })
}

// Load reads every run of a task. Commands start in the run's workspace, or in parser's root.
func Load(ctx context.Context, task profile.Task, parser *shell.Parser) (*Task, error) {
	l := loader{
		parser: parser,
		clean:  stage.NewClean(parser),
		strict: equiv.NewStrictTable(),
		ids:    map[string]ID{"": 0},
		names:  []string{""},
	}
	out := &Task{ID: task.ID, Runs: make([]Run, len(task.Runs))}
	for i := range task.Runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		labelled, err := l.labelled(task, i)
		if err != nil {
			return nil, fmt.Errorf("task %s, run %s: %w", task.ID, task.Runs[i].ID, err)
		}
		out.Runs[i] = l.run(labelled)
		out.Runs[i].Run = task.Runs[i]
	}
	slices.SortFunc(out.Runs, func(a, b Run) int { return strings.Compare(a.ID, b.ID) })
	out.names = l.names
	return out, nil
}

type loader struct {
	parser *shell.Parser
	clean  *stage.Clean
	strict *equiv.StrictTable
	ids    map[string]ID
	names  []string
}

func (l *loader) id(text string) ID {
	if id, ok := l.ids[text]; ok {
		return id
	}
	id := ID(len(l.names))
	text = strings.Clone(text) // a substring would keep its whole record alive
	l.ids[text] = id
	l.names = append(l.names, text)
	return id
}

func (l *loader) intern(text string) string { return l.names[l.id(text)] }

func (l *loader) labelled(task profile.Task, i int) ([]stage.CleanStep, error) {
	if task.Clean != nil {
		return task.Clean(i)
	}
	t, err := task.Load(i)
	if err != nil {
		return nil, err
	}
	return l.clean.Steps(t), nil
}

func (l *loader) run(labelled []stage.CleanStep) Run {
	r := Run{Steps: make([]Step, len(labelled))}
	release := make([]trajectory.Stage, len(labelled))
	clean := make([]trajectory.Stage, len(labelled))
	added := map[ID]int32{}
	for i := range labelled {
		step := &labelled[i]
		s := step.State
		strict := l.strict.Step(s, trajectory.NoStage, step.Actions) // labels are compared by Matches
		strict.Class, strict.Path, strict.Group = l.intern(strict.Class), l.intern(strict.Path), l.intern(strict.Group)
		r.Steps[i] = Step{
			State:        int32(step.Index),
			Number:       s.Step,
			Tool:         l.id(s.Tool),
			File:         l.id(s.FilePath),
			StateID:      l.id(s.ID),
			Resulting:    l.id(s.ResultingState),
			InputTokens:  s.InputTokens.Or(0),
			OutputTokens: s.OutputTokens.Or(0),
			strict:       strict,
		}
		release[i], clean[i] = labelOr(s.Stage), labelOr(step.Stage)
		if len(step.SourceEdits) > 0 {
			for _, p := range step.SourceEdits {
				r.Edited = append(r.Edited, l.id(p))
			}
			r.Verifications = 0
			l.addedTokens(step, added)
			continue
		}
		for _, a := range step.Actions {
			if len(r.Edited) > 0 && (a.Kind == shell.Test || a.Kind == shell.Run || a.Kind == shell.Code) {
				r.Verifications++
			}
		}
	}
	slices.Sort(r.Edited)
	r.Edited = slices.Compact(r.Edited)
	for token, n := range added {
		r.Added = append(r.Added, Count{token, n})
		r.AddedTokens += int64(n)
	}
	slices.SortFunc(r.Added, func(a, b Count) int { return cmp.Compare(a.Token, b.Token) })
	r.labels = map[LabelSet][]trajectory.Stage{Release: release, Clean: clean}
	return r
}

func labelOr(s trajectory.Stage) trajectory.Stage {
	if s == trajectory.NoStage {
		return trajectory.Orchestration
	}
	return s
}

// Matches says which steps of run b are equivalent to each step of run a under the labels:
// one row per step of a, one column per step of b.
func (t *Task) Matches(a, b *Run, set LabelSet) []matching.Row {
	rows := matching.NewRows(len(a.Steps), len(b.Steps))
	la, lb := a.labels[set], b.labels[set]
	for i := range a.Steps {
		x, row := &a.Steps[i].strict, rows[i]
		for j := range b.Steps {
			if la[i] != lb[j] {
				continue
			}
			if same, _, _ := equiv.StrictT(x, &b.Steps[j].strict); same {
				row.Set(j)
			}
		}
	}
	return rows
}
