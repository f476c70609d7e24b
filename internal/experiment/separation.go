package experiment

import (
	"errors"
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Run names a run and says how it ended.
type Run struct {
	ID, Task, Model string
	Outcome         trajectory.Outcome
}

// Column is a named value of every run.
type Column struct {
	Name   string
	Values []float64
	Known  []bool // false where a run has no value; nil when all have one
}

func (c Column) known(i int) bool { return c.Known == nil || c.Known[i] }

// Area is one AUROC of a Block, null where it does not exist. Low and High are the ends of
// the bootstrap interval, null when none was asked for or the figure is undefined in nearly
// all replicates.
type Area struct {
	AUROC *float64 `json:"auroc"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Pairs int64    `json:"pairs"` // (pass, fail) pairs compared
	Cells int      `json:"cells"` // cells with both outcomes; tasks for Macro, 1 for Micro
}

// Block is what a score's separation of passing from failing runs is printed with. Micro
// alone is inflated by differences between tasks and between models; WithinTaskModel is
// free of both.
type Block struct {
	Name            string  `json:"name"`
	N               int     `json:"n"`
	Pass            int     `json:"n_pass"`
	Fail            int     `json:"n_fail"`
	Micro           Area    `json:"micro"`             // all pairs
	Macro           Area    `json:"macro"`             // mean over tasks of the AUROC inside the task
	WithinTask      Area    `json:"within_task"`       // pairs inside a task, pooled
	WithinModel     Area    `json:"within_model"`      // pairs inside a model, pooled
	WithinTaskModel Area    `json:"within_task_model"` // pairs inside a (task, model) cell, pooled
	Threshold       float64 `json:"youden_threshold"`  // lowest with the largest TPR - FPR
	Accuracy        float64 `json:"youden_accuracy"`   // of predicting pass at or above it
	F1              float64 `json:"youden_f1"`
	KS              float64 `json:"ks_d"`
	MeanPass        float64 `json:"mean_pass"`
	MeanFail        float64 `json:"mean_fail"`
}

// Separation compares scores over the same runs.
type Separation struct {
	Scores []Block `json:"scores"`

	// Oracle knows of a run only the pass rates of its model on other tasks and of its
	// task's other runs. A score with a lower micro AUROC has not shown that it knows more.
	// Null when no run has both rates, or those that have them share one outcome.
	Oracle     *Block `json:"oracle"`
	OracleLeft int    `json:"oracle_left_out"` // runs without one of the rates

	Unknown   int     `json:"left_out_unknown_outcome"`
	Unscored  int     `json:"left_out_without_score"` // outcome known, but some score missing
	Level     float64 `json:"level"`                  // coverage of the intervals, which are over tasks
	Resamples int     `json:"resamples"`
	Seed      uint64  `json:"seed"`
}

// rows are the parallel columns that statistics take.
type rows struct {
	at          []int // indexes of the runs
	pass        []bool
	task, model []string
}

func (r *rows) add(i int, run Run) {
	r.at = append(r.at, i)
	r.pass = append(r.pass, run.Outcome == trajectory.Pass)
	r.task = append(r.task, run.Task)
	r.model = append(r.model, run.Model)
}

func (r *rows) of(values []float64) []float64 {
	out := make([]float64, len(r.at))
	for k, i := range r.at {
		out[k] = values[i]
	}
	return out
}

// usable keeps the runs with a known outcome and every value, and counts the others.
func usable(runs []Run, columns []Column) (r rows, unknown, unscored int) {
	for i, run := range runs {
		if run.Outcome == trajectory.Unknown {
			unknown++
			continue
		}
		scored := true
		for _, c := range columns {
			scored = scored && c.known(i)
		}
		if !scored {
			unscored++
			continue
		}
		r.add(i, run)
	}
	return r, unknown, unscored
}

// Compare makes the separation blocks of the columns, over the runs that have them all.
func Compare(runs []Run, columns []Column, sampling stats.Resampling) (Separation, error) {
	r, unknown, unscored := usable(runs, columns)
	out := Separation{Unknown: unknown, Unscored: unscored, Level: sampling.Level, Resamples: sampling.Resamples, Seed: sampling.Seed}
	if err := twoOutcomes(r.pass, unknown, unscored); err != nil {
		return out, err
	}
	for _, c := range columns {
		b, err := separate(c.Name, r.of(c.Values), r, sampling)
		if err != nil {
			return out, err
		}
		out.Scores = append(out.Scores, b)
	}
	var err error
	out.Oracle, out.OracleLeft, err = oracle(r, sampling)
	return out, err
}

func twoOutcomes(pass []bool, unknown, unscored int) error {
	n := 0
	for _, p := range pass {
		if p {
			n++
		}
	}
	if n > 0 && n < len(pass) {
		return nil
	}
	return fmt.Errorf("no separation of passing from failing runs: %d runs pass and %d fail, but both outcomes are needed (left out: %d runs with unknown outcome, %d without a score)",
		n, len(pass)-n, unknown, unscored)
}

func separate(name string, scores []float64, r rows, sampling stats.Resampling) (Block, error) {
	s, err := stats.Separate(scores, r.pass, r.task, r.model, sampling)
	if err != nil {
		return Block{}, fmt.Errorf("%s: %w", name, err)
	}
	return Block{
		Name: name, N: s.N, Pass: s.NPass, Fail: s.NFail,
		Micro: area(s.Micro), Macro: area(s.Macro), WithinTask: area(s.WithinTask),
		WithinModel: area(s.WithinModel), WithinTaskModel: area(s.WithinTaskModel),
		Threshold: s.Youden.Threshold, Accuracy: s.YoudenAccuracy, F1: s.YoudenF1,
		KS: s.KS, MeanPass: s.MeanPass, MeanFail: s.MeanFail,
	}, nil
}

func area(s stats.Separated) Area {
	a := Area{Pairs: s.Pairs, Cells: s.Cells, AUROC: optional(s.AUROC)}
	if s.Interval != nil {
		a.Low, a.High = &s.Interval.Low, &s.Interval.High
	}
	return a
}

// optional is nil for a figure that does not exist.
func optional(f stats.Figure) *float64 {
	if !f.Defined() {
		return nil
	}
	return &f.Value
}

// oracle adds the logits of the two rates. Runs that lack one are left out.
func oracle(r rows, sampling stats.Resampling) (*Block, int, error) {
	rates, err := stats.LeaveOneOut(r.pass, r.task, r.model)
	if err != nil {
		return nil, 0, err
	}
	var scores []float64
	var have rows
	for i, ok := range rates.OK {
		if !ok {
			continue
		}
		scores = append(scores, stats.OracleLogit(rates.Model[i])+stats.OracleLogit(rates.Task[i]))
		have.pass, have.task, have.model = append(have.pass, r.pass[i]), append(have.task, r.task[i]), append(have.model, r.model[i])
	}
	left := len(r.pass) - len(scores)
	b, err := separate("oracle", scores, have, sampling)
	if errors.Is(err, stats.ErrUndefined) {
		return nil, left, nil
	}
	if err != nil {
		return nil, left, err
	}
	return &b, left, nil
}
