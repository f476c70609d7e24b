package stats

import (
	"errors"
	"iter"
)

// UnitSumWeights yields every vector of k non-negative multiples of 1/steps that sum to 1,
// first weight ascending slowest: C(steps+k-1, k-1) of them (steps = 20 is a grid of 0.05).
// The slice is reused; clone it to keep it.
func UnitSumWeights(k, steps int) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		if k <= 0 || steps <= 0 {
			return
		}
		w := make([]float64, k)
		var fill func(j, left int) bool
		fill = func(j, left int) bool {
			if j == k-1 {
				w[j] = float64(left) / float64(steps)
				return yield(w)
			}
			for c := range left + 1 {
				w[j] = float64(c) / float64(steps)
				if !fill(j+1, left-c) {
					return false
				}
			}
			return true
		}
		fill(0, steps)
	}
}

// GridResult is the best point of a grid.
type GridResult struct {
	Weights   []float64
	Value     float64
	Ties      int // points that reach Value
	Points    int
	Undefined int // points at which the objective is undefined
}

// GridSearch maximises an objective over [UnitSumWeights]; of equal values the first point
// wins. Points whose error wraps [ErrUndefined] are counted and skipped, any other error ends
// the search; when no point is left the result is undefined.
func GridSearch(k, steps int, objective func(weights []float64) (float64, error)) (GridResult, error) {
	if k <= 0 || steps <= 0 {
		return GridResult{}, invalid("a grid of %d weights in %d steps", k, steps)
	}
	var res GridResult
	for w := range UnitSumWeights(k, steps) {
		res.Points++
		v, err := objective(w)
		switch {
		case errors.Is(err, ErrUndefined):
			res.Undefined++
		case err != nil:
			return GridResult{}, err
		case res.Weights == nil || v > res.Value:
			res.Weights, res.Value, res.Ties = append([]float64(nil), w...), v, 1
		case v == res.Value:
			res.Ties++
		}
	}
	if res.Weights == nil {
		return GridResult{}, undefined("the objective exists at none of %d points", res.Points)
	}
	return res, nil
}
