package experiment

import (
	"context"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/baseline"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// A Method scores the runs of one task; see package baseline.
type Method func(ctx context.Context, task profile.Task) ([]baseline.Score, error)

// Individual compares runs with single references, step by step.
func Individual(labels steps.LabelSet, k int) Method {
	return func(ctx context.Context, task profile.Task) ([]baseline.Score, error) {
		t, err := steps.Load(ctx, task, shell.New(shell.Options{}))
		if err != nil {
			return nil, err
		}
		return baseline.Individual(ctx, t, labels, k)
	}
}

// TFIDF compares runs by the words of their steps.
func TFIDF(k int) Method {
	return func(ctx context.Context, task profile.Task) ([]baseline.Score, error) {
		return baseline.TFIDF(ctx, task, k)
	}
}

// Dense compares runs by vectors of their steps.
func Dense(k int, embed baseline.Embed) Method {
	return func(ctx context.Context, task profile.Task) ([]baseline.Score, error) {
		return baseline.Dense(ctx, task, k, embed)
	}
}

// Baseline is the separation of one method (the paper's Table 12).
type Baseline struct {
	Method     string     `json:"method"`
	K          int        `json:"k"` // references per run
	Separation Separation `json:"separation"`
}

// CheckReferences says whether k references are enough for a baseline.
func CheckReferences(k int) error {
	if k < profile.MinReferences {
		return usage.Errorf("", "k is %d, want at least %d references", k, profile.MinReferences)
	}
	return nil
}

// RunBaseline scores every run by the method.
func RunBaseline(ctx context.Context, c Corpus, name string, k int, method Method, sampling stats.Resampling) (Baseline, error) {
	out := Baseline{Method: name, K: k}
	if err := CheckReferences(k); err != nil {
		return out, err
	}
	type scored struct {
		runs   []Run
		scores map[string]baseline.Score
	}
	parts, err := each(ctx, c, func(ctx context.Context, task profile.Task) (scored, error) {
		scores, err := method(ctx, task)
		s := scored{runsOf(task.ID, task.Runs), map[string]baseline.Score{}}
		for _, b := range scores {
			s.scores[b.ID] = b
		}
		return s, err
	})
	if err != nil {
		return out, err
	}
	var runs []Run
	column := Column{Name: name, Known: []bool{}}
	for _, p := range parts {
		for _, r := range p.runs {
			b := p.scores[r.ID]
			runs = append(runs, r)
			column.Values = append(column.Values, b.Value)
			column.Known = append(column.Known, b.Index >= 0)
		}
	}
	out.Separation, err = Compare(runs, []Column{column}, sampling)
	return out, err
}
