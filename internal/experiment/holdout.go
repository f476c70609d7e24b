package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/stats"
)

// folding assigns every row to one of n folds, each held out once.
type folding struct {
	of []int
	n  int
}

// foldBy makes one fold per name, or deals the names into at most most folds in the order of
// the hash of "seed:name".
func foldBy(names []string, most int, seed uint64) folding {
	distinct := slices.Compact(slices.Sorted(slices.Values(names)))
	fold := map[string]int{}
	for i, name := range profile.HashOrder(distinct, fmt.Sprintf("%d:", seed)) {
		fold[name] = i % most
	}
	f := folding{make([]int, len(names)), min(most, len(distinct))}
	for i, name := range names {
		f.of[i] = fold[name]
	}
	return f
}

// pairCounter counts how many (pass, fail) pairs a score orders rightly: twice the pairs in
// which the passing run has the higher score, plus those that tie. It counts all rows, and
// for every folding all rows but those of each fold, in one pass over the sorted scores.
type pairCounter struct {
	pass     []bool
	foldings []folding
	order    []int
	npos     int64
	nneg     int64

	all     int64
	without [][]int64 // by folding and fold
	pairs   [][]int64 // pairs there are without the fold

	below  [][]int64 // failing rows of the fold below the score at hand
	tied   [][]int64
	inside [][]int64 // counts of pairs with both rows in the fold
}

func newPairCounter(pass []bool, foldings ...folding) *pairCounter {
	c := &pairCounter{pass: pass, foldings: foldings, order: make([]int, len(pass))}
	for i, p := range pass {
		c.order[i] = i
		if p {
			c.npos++
		} else {
			c.nneg++
		}
	}
	for _, f := range foldings {
		pos, neg := make([]int64, f.n), make([]int64, f.n)
		for i, p := range pass {
			if p {
				pos[f.of[i]]++
			} else {
				neg[f.of[i]]++
			}
		}
		pairs := make([]int64, f.n)
		for g := range pairs {
			pairs[g] = (c.npos - pos[g]) * (c.nneg - neg[g])
		}
		c.pairs = append(c.pairs, pairs)
		for _, to := range []*[][]int64{&c.without, &c.below, &c.tied, &c.inside} {
			*to = append(*to, make([]int64, f.n))
		}
	}
	return c
}

// count fills all and without for the scores.
func (c *pairCounter) count(scores []float64) {
	slices.SortFunc(c.order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	for k := range c.foldings {
		clear(c.without[k])
		clear(c.below[k])
		clear(c.inside[k])
	}
	c.all = 0
	var posBelow, negBelow int64
	for from := 0; from < len(c.order); {
		to := from
		var pos, neg int64
		for to < len(c.order) && scores[c.order[to]] == scores[c.order[from]] {
			if c.pass[c.order[to]] {
				pos++
			} else {
				neg++
			}
			to++
		}
		block := c.order[from:to]
		c.all += pos * (2*negBelow + neg)
		for k, f := range c.foldings {
			clear(c.tied[k])
			for _, i := range block {
				if !c.pass[i] {
					c.tied[k][f.of[i]]++
				}
			}
			for _, i := range block {
				g := f.of[i]
				// Pairs of the row with all others leave with its fold.
				if c.pass[i] {
					c.without[k][g] += 2*negBelow + neg
					c.inside[k][g] += 2*c.below[k][g] + c.tied[k][g]
				} else {
					c.without[k][g] += 2*(c.npos-posBelow-pos) + pos
				}
			}
			for g, n := range c.tied[k] {
				c.below[k][g] += n
			}
		}
		posBelow += pos
		negBelow += neg
		from = to
	}
	for k := range c.foldings {
		for g := range c.without[k] {
			// A pair with both rows in the fold was taken out twice.
			c.without[k][g] = c.all - c.without[k][g] + c.inside[k][g]
		}
	}
}

// best is the point of a grid with the most pairs in order; of equal ones the first.
type best struct {
	count   int64
	weights []float64
	ties    int
}

func (b *best) offer(count int64, weights []float64) {
	switch {
	case b.weights == nil || count > b.count:
		*b = best{count, slices.Clone(weights), 1}
	case count == b.count:
		b.ties++
	}
}

// fitted is one model per fold, fitted to the rows outside it.
type fitted struct {
	predict func(fold int, row []float64) (float64, error) // score of a row of signals
	weights func(fold int) []float64                       // they add up to 1 in absolute value
	err     error                                          // why there is none, wrapping stats.ErrUndefined
}

// gridSearch maximises the micro AUROC over weights that are multiples of 1/points and add
// up to 1: over all rows, and without each fold of each folding. It also returns how many
// points it tried.
func gridSearch(ctx context.Context, x [][]float64, pass []bool, points int, foldings ...folding) (all best, without []fitted, n int, err error) {
	c := newPairCounter(pass, foldings...)
	held := make([][]best, len(foldings))
	for k, f := range foldings {
		held[k] = make([]best, f.n)
	}
	scores := make([]float64, len(x))
	for w := range stats.UnitSumWeights(len(x[0]), points) {
		if n%64 == 0 && ctx.Err() != nil {
			return best{}, nil, 0, ctx.Err()
		}
		n++
		for i, row := range x {
			scores[i] = dot(w, row)
		}
		c.count(scores)
		all.offer(c.all, w)
		for k := range held {
			for g := range held[k] {
				held[k][g].offer(c.without[k][g], w)
			}
		}
	}
	for k := range foldings {
		of := func(fold int) []float64 { return held[k][fold].weights }
		m := fitted{
			predict: func(fold int, row []float64) (float64, error) { return dot(of(fold), row), nil },
			weights: of,
		}
		if g := slices.Index(c.pairs[k], 0); g >= 0 {
			m.err = fmt.Errorf("without fold %d of %d one outcome is left: %w", g+1, foldings[k].n, stats.ErrUndefined)
		}
		without = append(without, m)
	}
	return all, without, n, nil
}

func dot(w, row []float64) float64 {
	sum := 0.0
	for j, v := range row {
		sum += float64(w[j] * v)
	}
	return sum
}

// penalty of the logistic regression, on standardised signals; the usual default.
const penalty = 1

// logisticFolds fits a regression without each fold.
func logisticFolds(x [][]float64, pass []bool, f folding) fitted {
	models := make([]stats.Logistic, f.n)
	for g := range models {
		var rest [][]float64
		var outcome []bool
		for i, row := range x {
			if f.of[i] != g {
				rest, outcome = append(rest, row), append(outcome, pass[i])
			}
		}
		var err error
		if models[g], err = fitLogistic(rest, outcome); err != nil {
			return fitted{err: fmt.Errorf("without fold %d of %d: %w", g+1, f.n, err)}
		}
	}
	return fitted{
		predict: func(fold int, row []float64) (float64, error) { return models[fold].Predict(row) },
		weights: func(fold int) []float64 { return slopes(models[fold]) },
	}
}

func fitLogistic(x [][]float64, pass []bool) (stats.Logistic, error) {
	if len(x) == 0 {
		return stats.Logistic{}, fmt.Errorf("no runs: %w", stats.ErrUndefined)
	}
	return stats.FitLogistic(x, pass, penalty)
}

// slopes are the coefficients per unit of each signal, scaled so that their absolute values
// add up to 1. Where none is negative, the mean of the signals with these weights orders
// runs exactly as the regression does.
func slopes(m stats.Logistic) []float64 {
	out := make([]float64, len(m.Coef))
	sum := 0.0
	for j, c := range m.Coef {
		out[j] = c / m.Scale[j]
		sum += math.Abs(out[j])
	}
	for j := range out {
		out[j] /= sum
	}
	return out
}
