package datasets_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// tally counts what the release profile finds in a task's runs.
type tally map[string]int

func (tally) Reference(profile.ReferenceRows) error { return nil }

func (c tally) Run(r profile.RunRows) error {
	if r.Tier.Reason != nil {
		c["reason "+*r.Tier.Reason]++
	}
	if r.Tier.Tier != nil {
		c["tier "+*r.Tier.Tier]++
	}
	if r.Tier.Category != nil {
		c["category "+*r.Tier.Category]++
	}
	if f := r.Features; f != nil {
		c["verdict "+*f.Verdict]++
		for name, n := range map[string]*int64{
			"regression_loop": f.RegressionLoopCount, "blind_retry": f.BlindRetryCount, "redundant_step": f.RedundantStepCount,
			"unnecessary_exploration": f.UnnecessaryExplorationCount, "cyclic_pattern": f.CyclicPatternCount,
		} {
			if n != nil && *n > 0 {
				c["waste "+name]++
			}
		}
	}
	return nil
}

// The sample must show everything the release profile can say, or the commands that show it
// are never tried.
func TestSampleShowsEverything(t *testing.T) {
	var mu sync.Mutex
	runs := map[string]*trajectory.Trajectory{}
	c := tally{}
	_, err := ingest.Read(context.Background(), []string{filepath.Join("sample", datasets.SampleName)}, ingest.Options{Jobs: 2}, func(it ingest.Item) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case it.Trajectory != nil:
			if runs[it.Trajectory.ID] != nil {
				t.Errorf("%s occurs twice", it.Trajectory.ID)
			}
			runs[it.Trajectory.ID] = it.Trajectory
		case it.Refused != nil:
			t.Errorf("refused: %v", it.Refused)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	byTask := map[string]*profile.Task{}
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		r := runs[id]
		task := byTask[r.TaskID]
		if task == nil {
			task = &profile.Task{ID: r.TaskID}
			task.Load = func(i int) (*trajectory.Trajectory, error) { return runs[task.Runs[i].ID], nil }
			byTask[r.TaskID] = task
		}
		task.Runs = append(task.Runs, profile.Run{ID: id, Model: r.Model, Outcome: r.Outcome})
		c["outcome "+r.Outcome.String()]++
		c["condensation"] += int(r.Condensations)
		labels, _ := stage.NewRelease().Label(r)
		for i, s := range r.Ordered() {
			s.Stage = labels[i]
			c["tool "+s.Tool]++
			c["stage "+s.Stage.String()]++
			if s.IsError.Or(0) == 1 {
				c["failed step"]++
			}
			if s.Undo {
				c["undo"]++
			}
		}
		for _, w := range r.Warnings {
			c["warning "+w.Code]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byTask)) {
		if err := release.Assess(context.Background(), *byTask[id], profile.Plan{Mode: profile.LeaveOneOut, K: 5}, c); err != nil {
			t.Fatal(err)
		}
	}
	if want := datasets.SampleTasks * datasets.SampleModels * datasets.SampleRuns; len(runs) != want {
		t.Errorf("%d runs, want %d", len(runs), want)
	}
	for _, want := range []string{
		"outcome pass", "outcome fail", "outcome unknown",
		"tier ideal", "tier solid", "tier lucky", "tier partial_fail", "tier off_track", "reason outcome_unknown",
		"category C1", "category C2", "category C3", "category C4", "category C5",
		"waste regression_loop", "waste blind_retry", "waste redundant_step", "waste unnecessary_exploration", "waste cyclic_pattern",
		"tool run_in_terminal", "tool read_file", "tool replace_string_in_file", "tool create_file", "tool list_dir", "tool think",
		"stage exploration", "stage implementation", "stage verification", "stage orchestration",
		"failed step", "undo", "condensation",
	} {
		if c[want] == 0 {
			t.Errorf("the sample has no %s", want)
		}
	}
	if t.Failed() || testing.Verbose() {
		for _, k := range slices.Sorted(maps.Keys(c)) {
			t.Logf("%5d %s", c[k], k)
		}
	}
}
