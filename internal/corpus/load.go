package corpus

import (
	"sync"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/spill"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Labelled is a run with its outcome settled and its release labels set.
type Labelled struct {
	T      *trajectory.Trajectory
	States []*trajectory.State // in the order of steps; Stage holds the release label
	Source []trajectory.Stage  // labels stored in the source, by state
	Rules  []string            // rule behind each release label

	Clean   []stage.CleanStep // the states with a tool, by the clean labeler
	CleanOf []int             // index in Clean of each state, -1 for a state without a tool
}

// A Loader reads the runs of one task, labels them once, and keeps what fits. It may be used
// from many goroutines at once.
type Loader struct {
	spill   *spill.File
	release *stage.Release
	clean   *stage.Clean
	task    *Task
	most    int64 // bytes to keep

	mu    sync.Mutex
	kept  map[int]*Labelled
	bytes int64
}

// read returns a run with its outcome settled.
func read(f *spill.File, r *Run) (*trajectory.Trajectory, error) {
	t, err := f.Load(r.ref)
	if err != nil {
		return nil, err
	}
	t.ID = r.ID
	v := r.Verdict
	t.Outcome, t.OutcomeSource, t.OutcomeDetail = v.Outcome, v.Source, v.Detail
	t.Warnings = append(t.Warnings, v.Warnings...)
	return t, nil
}

// Load returns run i of the task. Runs are shared: the caller must not change them. A run that
// is not kept is another copy each time.
func (l *Loader) Load(i int) (*Labelled, error) {
	l.mu.Lock()
	r, ok := l.kept[i]
	l.mu.Unlock()
	if ok {
		return r, nil
	}
	t, err := read(l.spill, &l.task.Runs[i])
	if err != nil {
		return nil, err
	}
	r = &Labelled{T: t, States: t.Ordered()}
	r.Source = make([]trajectory.Stage, len(r.States))
	for j, s := range r.States {
		r.Source[j] = s.Stage
	}
	var labels []trajectory.Stage
	labels, r.Rules = l.release.LabelStates(r.States)
	var size int64
	for j, s := range r.States {
		s.Stage = labels[j]
		size += 512 + int64(len(s.Observation)+len(s.Thought)+len(s.ResponsePreview)+len(s.ContentDescription))
		if s.Log != nil {
			size += int64(len(s.Log.Args.Raw))
		}
	}
	r.Clean = l.clean.Steps(t)
	r.CleanOf = make([]int, len(r.States))
	for j := range r.CleanOf {
		r.CleanOf[j] = -1
	}
	for j := range r.Clean {
		r.CleanOf[r.Clean[j].Index] = j
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes+size <= l.most {
		l.kept[i] = r
		l.bytes += size
	}
	return r, nil
}

// Task presents the task to a profile.
func (l *Loader) Task() profile.Task {
	t := profile.Task{
		ID:   l.task.ID,
		Runs: make([]profile.Run, len(l.task.Runs)),
		Load: func(i int) (*trajectory.Trajectory, error) {
			r, err := l.Load(i)
			if err != nil {
				return nil, err
			}
			return r.T, nil
		},
		Clean: func(i int) ([]stage.CleanStep, error) {
			r, err := l.Load(i)
			if err != nil {
				return nil, err
			}
			return r.Clean, nil
		},
	}
	for i, r := range l.task.Runs {
		t.Runs[i] = profile.Run{ID: r.ID, Model: r.Model, Outcome: r.Verdict.Outcome}
	}
	return t
}
