package release

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance/randomrun"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// someRuns makes runs p0, p1, ... that passed, then f0 that failed and u0 without outcome.
func someRuns(passing int) []*trajectory.Trajectory {
	rng := rand.New(rand.NewPCG(3, 4))
	var runs []*trajectory.Trajectory
	add := func(id string, o trajectory.Outcome) {
		runs = append(runs, randomrun.New(id, "task", o, 6+rng.IntN(6), rng.IntN))
	}
	for i := range passing {
		add(fmt.Sprintf("p%d", i), trajectory.Pass)
	}
	add("f0", trajectory.Fail)
	add("u0", trajectory.Unknown)
	return runs
}

// reasons returns the reason by run, "" for a run with a tier.
func (c *collector) reasons() map[string]string {
	out := make(map[string]string)
	for _, r := range c.runs {
		out[r.Tier.TrajectoryID] = ""
		if r.Tier.Reason != nil {
			out[r.Tier.TrajectoryID] = *r.Tier.Reason
		}
	}
	return out
}

func count(m map[string]string, value string) int {
	n := 0
	for _, v := range m {
		if v == value {
			n++
		}
	}
	return n
}

func TestLeaveOneOutReferences(t *testing.T) {
	for _, tc := range []struct {
		passing, k       int
		references       int
		tooFew, unjudged int // unjudged: the failing run and the one without outcome
	}{
		{passing: 0, k: 5, tooFew: 2}, {passing: 1, k: 5, tooFew: 3},
		{passing: 2, k: 5, references: 1, tooFew: 2}, // the passing ones have one other each
		{passing: 3, k: 5, references: 4}, {passing: 8, k: 5, references: 6},
	} {
		c := assessAll(t, newTask("task", someRuns(tc.passing)), profile.Plan{Mode: profile.LeaveOneOut, K: tc.k})
		if len(c.references) != tc.references {
			t.Errorf("%d passing: %d references, want %d", tc.passing, len(c.references), tc.references)
		}
		if got := count(c.reasons(), ReasonTooFew); got != tc.tooFew {
			t.Errorf("%d passing: %d runs with too few references, want %d", tc.passing, got, tc.tooFew)
		}
		for _, r := range c.runs {
			if r.Features == nil {
				continue
			}
			s := r.Signals.(*schema.SignalsRelease)
			if s.FewReferences != (s.NReferences < int64(tc.k)) {
				t.Errorf("%s: %d references, flag %v", s.TrajectoryID, s.NReferences, s.FewReferences)
			}
		}
		if tc.passing < 2 {
			continue
		}
		unknown := c.runs[slices.IndexFunc(c.runs, func(r profile.RunRows) bool { return r.Tier.TrajectoryID == "u0" })]
		if *unknown.Tier.Reason != ReasonOutcomeUnknown || unknown.Features == nil || unknown.Features.QualityTier != nil {
			t.Errorf("run without outcome: %+v", unknown.Tier)
		}
		s := unknown.Signals.(*schema.SignalsRelease)
		if s.ScoreWithOutcomeUnrounded != s.ScoreWithoutOutcome+5 {
			t.Errorf("unknown outcome adds %v", s.ScoreWithOutcomeUnrounded-s.ScoreWithoutOutcome)
		}
	}
}

func TestReferencesAreInHashOrder(t *testing.T) {
	runs := someRuns(9)
	c := assessAll(t, newTask("task", runs), profile.Plan{Mode: profile.Donors, K: 4})
	var passing []string
	for _, r := range runs {
		if r.Outcome == trajectory.Pass {
			passing = append(passing, r.ID)
		}
	}
	want := profile.HashOrder(passing, "")[:4]
	var got []string
	for _, m := range c.references[0].Members {
		got = append(got, m.TrajectoryID)
	}
	if len(c.references) != 1 || !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	for _, id := range want {
		if got := c.reasons()[id]; got != ReasonDonor {
			t.Errorf("donor %s: reason %q", id, got)
		}
	}
}

func TestDonorsFile(t *testing.T) {
	plan := func(donors ...string) profile.Plan {
		return profile.Plan{Mode: profile.Donors, K: 3, Donors: map[string][]string{"task": donors}}
	}
	task := newTask("task", someRuns(5))
	c := assessAll(t, task, plan("p3", "p1"))
	if m := c.references[0].Members; m[0].TrajectoryID != "p3" || m[1].TrajectoryID != "p1" {
		t.Errorf("members %v", m)
	}
	if got := count(c.reasons(), ReasonDonor); got != 2 {
		t.Errorf("%d donors held out", got)
	}
	c = assessAll(t, task, plan("p3"))
	if got := count(c.reasons(), ReasonTooFew); got != len(task.Runs) || len(c.references) != 0 {
		t.Errorf("%d runs with too few references of %d", got, len(task.Runs))
	}
	c = assessAll(t, task, profile.Plan{Mode: profile.Donors, K: 3, Donors: map[string][]string{}})
	if got := count(c.reasons(), ReasonNoReference); got != len(task.Runs) {
		t.Errorf("%d runs without reference of %d", got, len(task.Runs))
	}
	err := Assess(context.Background(), task, plan("p3", "nobody"), &collector{})
	if err == nil || !strings.Contains(err.Error(), "nobody") || !strings.Contains(err.Error(), "donors file") {
		t.Errorf("unknown donor: %v", err)
	}
}

func TestEmptyRunsAreNoReferences(t *testing.T) {
	runs := someRuns(4)
	for i, r := range runs {
		if r.ID == "p1" {
			runs[i].States, runs[i].Transitions = r.States[:1], nil
		}
		if r.ID == "p2" {
			runs[i].States, runs[i].Transitions = nil, nil
		}
	}
	c := assessAll(t, newTask("task", runs), profile.Plan{Mode: profile.LeaveOneOut, K: 5})
	if got := c.reasons(); got["p1"] != ReasonEmpty || got["p2"] != ReasonEmpty || got["f0"] != "" {
		t.Errorf("reasons %v", got)
	}
	for _, r := range c.references {
		for _, m := range r.Members {
			if m.TrajectoryID == "p1" || m.TrajectoryID == "p2" {
				t.Errorf("empty run in reference %v", r.Members)
			}
		}
	}
	named := profile.Plan{Mode: profile.Donors, K: 2, Donors: map[string][]string{"task": {"p2", "p1", "p0", "p3"}}}
	assessAll(t, newTask("task", runs), named) // an explicit list is taken as it is
}

func TestErrorsStop(t *testing.T) {
	task := newTask("task", someRuns(4))
	broken := errors.New("broken store")
	load := task.Load
	task.Load = func(i int) (*trajectory.Trajectory, error) {
		if task.Runs[i].ID == "p2" {
			return nil, broken
		}
		return load(i)
	}
	plan := profile.Plan{Mode: profile.LeaveOneOut, K: 5}
	err := Assess(context.Background(), task, plan, &collector{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "p2") || !strings.Contains(err.Error(), "task") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Assess(ctx, newTask("task", someRuns(4)), plan, &collector{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
