package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile/params"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// Signal is one part of a profile's score, in the units in which its weight applies: 0 to 100
// in the paper profile, 0 to 1 in the process profile.
type Signal struct {
	Column
	Weight float64 // in the score as built
	Shown  bool    // it is shown beside the score and never enters it
}

// Dataset is one profile's score in a dataset version and the signals it is made of.
type Dataset struct {
	Profile string
	Runs    []Run // sorted by task and id
	Score   Column
	Signals []Signal
	Scale   float64    // the score is Scale times the weighted sum of the signals
	Params  params.Set // the profile's, as built
}

// Scored returns the signals that enter the score.
func (d Dataset) Scored() []Signal {
	return slices.DeleteFunc(slices.Clone(d.Signals), func(s Signal) bool { return s.Shown })
}

// ReadDataset reads the profile paper or process of the dataset in dir.
func ReadDataset(ctx context.Context, dir, profile string) (Dataset, error) {
	d := Dataset{Profile: profile}
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return d, err
	}
	if profile != "paper" && profile != "process" {
		return d, fmt.Errorf("%w: profile %q has no weights to work on; want paper or process", ErrUsage, profile)
	}
	if !slices.Contains(m.Parameters.Profiles, profile) {
		return d, fmt.Errorf("%w: the dataset %s has no profile %q, only %s; build it with --profile %s", ErrUsage, dir, profile, strings.Join(m.Parameters.Profiles, ", "), profile)
	}
	db, err := store.Open(ctx, dir)
	if err != nil {
		return d, err
	}
	defer db.Close()
	if err := store.Require(dir, "signals process_score A F paper_score"); err != nil {
		return d, err
	}
	at := map[string]int{}
	for t, err := range store.ReadSQL[schema.Trajectory](ctx, db.DB, "SELECT trajectory_id, task_id, model, outcome FROM trajectories ORDER BY task_id, trajectory_id") {
		if err != nil {
			return d, err
		}
		o, err := trajectory.ParseOutcome(t.Outcome)
		if err != nil {
			return d, fmt.Errorf("%s: run %s: %w", dir, t.TrajectoryID, err)
		}
		at[t.TrajectoryID] = len(d.Runs)
		d.Runs = append(d.Runs, Run{t.TrajectoryID, t.TaskID, t.Model, o})
	}
	column := func(name string) Column {
		return Column{name, make([]float64, len(d.Runs)), make([]bool, len(d.Runs))}
	}
	set := func(c Column, i int, v *float64) {
		if v != nil {
			c.Values[i], c.Known[i] = *v, true
		}
	}
	if profile == "paper" {
		d.Params.Paper, d.Scale = m.Parameters.Paper, 1
		w := m.Parameters.Paper.Weights
		d.Score = column("paper_score")
		d.Signals = []Signal{{column("struct"), w.Struct, false}, {column("cov"), w.Cov, false}, {column("coh"), w.Coh, false}, {column("temp"), w.Temp, false}}
		for s, err := range store.ReadSQL[schema.SignalsPaper](ctx, db.DB, "SELECT trajectory_id, struct, cov, coh, temp, paper_score FROM signals_paper") {
			if err != nil {
				return d, err
			}
			i := at[s.TrajectoryID]
			coh, temp := 100*s.Coh, 100*s.Temp
			set(d.Score, i, &s.PaperScore)
			for k, v := range []*float64{&s.Struct, &s.Cov, &coh, &temp} {
				set(d.Signals[k].Column, i, v)
			}
		}
		return d, nil
	}
	d.Params.Process, d.Scale = m.Parameters.Process, 100
	w := m.Parameters.Process.Weights
	d.Score = column("process_score")
	d.Signals = []Signal{{column("A"), w.A, false}, {column("F"), w.F, false}, {column("V"), w.V, false}, {column("S"), 0, true}}
	for s, err := range store.ReadSQL[schema.SignalsProcess](ctx, db.DB, "SELECT trajectory_id, A, F, V, S, process_score FROM signals_process") {
		if err != nil {
			return d, err
		}
		i := at[s.TrajectoryID]
		set(d.Score, i, s.ProcessScore)
		for k, v := range []*float64{s.A, s.F, &s.V, s.S} {
			set(d.Signals[k].Column, i, v)
		}
	}
	return d, nil
}

// mixture is the weighted sum of signals. A run without one of those that weigh something
// has no value. It is left unscaled and summed as the profiles do, so that runs which tie
// there tie here.
func mixture(name string, signals []Signal, weights []float64) Column {
	n := len(signals[0].Values)
	out := Column{name, make([]float64, n), make([]bool, n)}
	for i := range n {
		out.Known[i] = true
		for k, s := range signals {
			if weights[k] == 0 {
				continue
			}
			out.Known[i] = out.Known[i] && s.known(i)
			out.Values[i] += float64(weights[k] * s.Values[i])
		}
	}
	return out
}
