package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Signal is one term of a profile's score, its values times the term's unit.
type Signal struct {
	Column
	Weight float64 // in the score as built
	Shown  bool    // it is shown beside the score and never enters it
}

// Dataset is one profile's score in a dataset version and the signals it is made of.
type Dataset struct {
	Profile profile.Weighted // with its parameters, as built
	Runs    []Run            // sorted by task and id
	Score   Column
	Signals []Signal
	Scale   float64 // the score against one choice of references is Scale times the weighted sum of the signals
	Drawn   bool    // the score is a mean over draws of references, the signals are of the first choice
}

// Scored returns the signals that enter the score.
func (d Dataset) Scored() []Signal {
	return slices.DeleteFunc(slices.Clone(d.Signals), func(s Signal) bool { return s.Shown })
}

// ReadDataset reads a profile with weights of the dataset in dir.
func ReadDataset(ctx context.Context, dir, name string) (d Dataset, err error) {
	err = dataset.Read(dir, func() (err error) {
		d, err = readDataset(ctx, dir, name)
		return err
	})
	return d, err
}

func readDataset(ctx context.Context, dir, name string) (Dataset, error) {
	var d Dataset
	if !slices.Contains(registry.Weighted(), name) {
		return d, usage.Errorf("", "profile %q has no weights to work on; want %s", name, strings.Join(registry.Weighted(), " or "))
	}
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return d, err
	}
	if !slices.Contains(m.Parameters.Profiles, name) {
		return d, usage.Errorf("", "the dataset %s has no profile %q, only %s; build it with option profile %s", dir, name, strings.Join(m.Parameters.Profiles, ", "), name)
	}
	built, err := m.Parameters.Profile(name)
	if err != nil {
		return d, err
	}
	d.Profile = built.(profile.Weighted)
	score := built.Score()
	terms, scale := d.Profile.Terms()
	d.Scale, d.Drawn = scale, score.Drawn
	columns := "x." + score.Column
	for _, t := range terms {
		columns += ", s." + t.Signal
	}
	query := fmt.Sprintf("SELECT r.trajectory_id, r.task_id, r.model, r.outcome, %s FROM trajectories r LEFT JOIN signals_%s s USING (trajectory_id) LEFT JOIN %s x USING (trajectory_id) ORDER BY r.task_id, r.trajectory_id",
		columns, name, score.View(name))
	if err := store.Require(dir, query); err != nil {
		return d, err
	}
	db, err := store.Open(ctx, dir)
	if err != nil {
		return d, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return d, err
	}
	defer rows.Close()
	d.Score = Column{Name: score.Column, Known: []bool{}}
	for _, t := range terms {
		d.Signals = append(d.Signals, Signal{Column{Name: t.Signal, Known: []bool{}}, t.Weight, t.Shown})
	}
	var run Run
	var outcome string
	values := make([]*float64, 1+len(terms))
	into := []any{&run.ID, &run.Task, &run.Model, &outcome}
	for i := range values {
		into = append(into, &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return d, err
		}
		if run.Outcome, err = trajectory.ParseOutcome(outcome); err != nil {
			return d, fmt.Errorf("%s: run %s: %w", dir, run.ID, err)
		}
		d.Runs = append(d.Runs, run)
		d.Score.add(values[0], 1)
		for i, t := range terms {
			d.Signals[i].add(values[1+i], t.Unit)
		}
	}
	return d, rows.Err()
}

// add appends a value times its unit, nil for none.
func (c *Column) add(v *float64, unit float64) {
	known, value := v != nil, 0.0
	if known {
		value = unit * *v
	}
	c.Values, c.Known = append(c.Values, value), append(c.Known, known)
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
