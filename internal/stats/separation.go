package stats

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Separated is one AUROC of a [Separation] block.
type Separated struct {
	AUROC     Figure
	Interval  *Interval // bootstrap by task; nil when no resamples were asked for, or AUROC is undefined in the data or in all replicates but one
	Undefined int       // bootstrap replicates left out of Interval because they lack this figure
	Pairs     int64     // (pass, fail) pairs compared
	Cells     int       // cells with both outcomes; tasks for Macro, 1 for Micro
}

// Separation is the block that every figure of "the score separates passing from failing
// runs" is printed with. Micro alone is inflated by differences between tasks and models;
// WithinTaskModel is free of both.
type Separation struct {
	N, NPass, NFail int
	Micro           Separated // all pairs
	Macro           Separated // mean over tasks of the AUROC inside the task
	WithinTask      Separated // pairs inside a task, pooled
	WithinModel     Separated // pairs inside a model, pooled
	WithinTaskModel Separated // pairs inside a (task, model) cell, pooled
	Youden          YoudenPoint
	YoudenAccuracy  float64 // of predicting pass iff score >= Youden.Threshold
	YoudenF1        float64 // of the passing class
	KS              float64 // two-sample distance D of passing and failing scores
	MeanPass        float64
	MeanFail        float64
}

// Separate computes the block for n runs: score, outcome, task and model of each. The Youden
// threshold is the lowest score with maximal J ([LowestThreshold]). Intervals are percentile
// intervals over tasks drawn with replacement, for all five AUROCs from the same draws;
// r.Resamples = 0 leaves them out. A task drawn twice counts as two tasks in Macro, WithinTask
// and WithinTaskModel, whose pairs never cross tasks. One outcome only is undefined; the other
// AUROCs may be undefined one by one.
func Separate(scores []float64, pass []bool, task, model []string, r Resampling) (Separation, error) {
	if err := checkLength("scores", len(scores), "tasks", len(task)); err != nil {
		return Separation{}, err
	}
	if err := checkLength("scores", len(scores), "models", len(model)); err != nil {
		return Separation{}, err
	}
	if err := checkFinite("score", scores); err != nil {
		return Separation{}, err
	}
	youden, err := Youden(scores, pass, LowestThreshold)
	if err != nil {
		return Separation{}, err
	}
	var split [2][]float64
	for i, s := range scores {
		side := 0
		if pass[i] {
			side = 1
		}
		split[side] = append(split[side], s)
	}
	failing, passing := split[0], split[1]
	distance := ksDistance(passing, failing)
	confusion, err := Confuse(scores, pass, youden.Threshold)
	if err != nil {
		return Separation{}, err
	}
	s := Separation{
		N: len(scores), NPass: len(passing), NFail: len(failing),
		Youden:   youden,
		KS:       float64(max(distance.max, -distance.min)) / float64(int64(len(passing))*int64(len(failing))),
		MeanPass: mean(passing), MeanFail: mean(failing),
	}
	if s.YoudenAccuracy, err = confusion.Accuracy(); err != nil {
		return Separation{}, err
	}
	if s.YoudenF1, err = confusion.F1(); err != nil {
		return Separation{}, err
	}
	within := func(keys ...[]string) Separated {
		p, err := AUROCWithin(scores, pass, keys...)
		return Separated{AUROC: figure(p.AUROC, err), Pairs: p.Pairs, Cells: p.Cells}
	}
	s.Micro, s.WithinTask, s.WithinModel, s.WithinTaskModel = within(), within(task), within(model), within(task, model)
	macro, err := AUROCMacro(scores, pass, task)
	s.Macro = Separated{AUROC: figure(macro.AUROC, err), Pairs: s.WithinTask.Pairs, Cells: macro.Groups}
	if r.Resamples == 0 {
		return s, nil
	}
	return s, s.bootstrap(scores, pass, task, model, r)
}

// bootstrap fills in the intervals.
func (s *Separation) bootstrap(scores []float64, pass []bool, task, model []string, r Resampling) error {
	tasks, names := groupIDs(task)
	models, _ := groupIDs(model)
	pooled := weightRows(scores, pass, tasks, make([]int, len(scores)))
	byModel := weightRows(scores, pass, tasks, models)
	inTask, inCell := make([]cellCount, len(names)), make([]cellSum, len(names))
	counts, err := cellCounts(scores, pass, task)
	if err != nil {
		return err
	}
	copy(inTask, counts)
	cells, err := cellCounts(scores, pass, task, model)
	if err != nil {
		return err
	}
	ids, _, err := cellIDs(len(scores), task, model)
	if err != nil {
		return err
	}
	taskOf := make([]int, len(cells))
	for i, id := range ids {
		taskOf[id] = tasks[i]
	}
	for id, c := range cells {
		if c.pairs() > 0 {
			inCell[taskOf[id]].twice += c.twice
			inCell[taskOf[id]].pairs += c.pairs()
		}
	}
	parts := []*Separated{&s.Micro, &s.Macro, &s.WithinTask, &s.WithinModel, &s.WithinTaskModel}
	columns, err := r.replicate(len(parts), func() sampler {
		weight := make([]int32, len(names))
		return func(rng *rand.Rand, out []float64) error {
			drawClusters(rng, weight)
			var sum, groups float64
			var wt, wtm cellSum
			for t, w := range weight {
				if w == 0 {
					continue
				}
				if c := inTask[t]; c.pairs() > 0 {
					sum += float64(float64(w) * c.auroc())
					groups += float64(w)
					wt.add(int64(w), cellSum{c.twice, c.pairs()})
				}
				wtm.add(int64(w), inCell[t])
			}
			out[0] = shareOrNaN(weightedWins(pooled, weight))
			out[1] = math.NaN()
			if groups > 0 {
				out[1] = sum / groups
			}
			out[2] = shareOrNaN(wt.twice, wt.pairs)
			out[3] = shareOrNaN(weightedWins(byModel, weight))
			out[4] = shareOrNaN(wtm.twice, wtm.pairs)
			return nil
		}
	})
	if err != nil {
		return err
	}
	for k, p := range parts {
		if !p.AUROC.Defined() {
			continue
		}
		b, err := r.summarise(columns[k])
		if errors.Is(err, ErrUndefined) {
			continue
		}
		if err != nil {
			return err
		}
		p.Interval, p.Undefined = &b.Interval, b.Undefined
	}
	return nil
}

// cellSum accumulates twice the wins and the pairs of cells.
type cellSum struct{ twice, pairs int64 }

func (c *cellSum) add(w int64, d cellSum) {
	c.twice += w * d.twice
	c.pairs += w * d.pairs
}

// OracleRates are the pass rates that know nothing of a run but its model and task. Rates
// are undefined (OK false) for a model seen on one task only and for the only run of a task.
type OracleRates struct {
	Model []float64 // pass rate of the run's model on other tasks
	Task  []float64 // pass rate of the other runs of the run's task
	OK    []bool
}

// LeaveOneOut returns the oracle rates of every run. Leaving the run out ties the rates
// inversely to the outcome inside their own group: Task inside a task, and Model inside a
// model, separate worse than chance. Only the pooled AUROC, and for Model the macro and
// inside-task ones, mean something.
func LeaveOneOut(pass []bool, task, model []string) (OracleRates, error) {
	n := len(pass)
	if err := checkLength("outcomes", n, "tasks", len(task)); err != nil {
		return OracleRates{}, err
	}
	if err := checkLength("outcomes", n, "models", len(model)); err != nil {
		return OracleRates{}, err
	}
	tasks, taskNames := groupIDs(task)
	models, modelNames := groupIDs(model)
	byTask, byModel := make([]rate, len(taskNames)), make([]rate, len(modelNames))
	cells := make([]rate, len(taskNames)*len(modelNames))
	cell := func(i int) *rate { return &cells[tasks[i]*len(modelNames)+models[i]] }
	for i, p := range pass {
		byTask[tasks[i]].count(p)
		byModel[models[i]].count(p)
		cell(i).count(p)
	}
	o := OracleRates{make([]float64, n), make([]float64, n), make([]bool, n)}
	for i, p := range pass {
		elsewhere := byModel[models[i]].minus(*cell(i))
		var self rate
		self.count(p)
		others := byTask[tasks[i]].minus(self)
		if elsewhere.n == 0 || others.n == 0 {
			continue
		}
		o.Model[i], o.Task[i], o.OK[i] = elsewhere.share(), others.share(), true
	}
	return o, nil
}

type rate struct{ pass, n int }

func (r *rate) count(pass bool) {
	r.n++
	if pass {
		r.pass++
	}
}

func (r rate) minus(s rate) rate { return rate{r.pass - s.pass, r.n - s.n} }
func (r rate) share() float64    { return float64(r.pass) / float64(r.n) }

// OracleLogit returns ln((p+0.02)/(1.02-p)), the transform in which the two rates are added.
func OracleLogit(p float64) float64 { return math.Log((p + 0.02) / (1.02 - p)) }

// Oracles are the separation blocks of predictors that see only which model ran which task.
// A score whose pooled AUROC is below that of Combined has not shown that it carries
// information about the process.
type Oracles struct {
	Model    Separation // pass rate of the model on other tasks
	Task     Separation // pass rate of the other runs of the task
	Combined Separation // sum of the logits of both ([OracleLogit])
	Left     int        // runs left out because a rate is undefined
}

// SeparateOracles computes the blocks of the oracles over the runs that have both rates.
func SeparateOracles(pass []bool, task, model []string, r Resampling) (Oracles, error) {
	rates, err := LeaveOneOut(pass, task, model)
	if err != nil {
		return Oracles{}, err
	}
	var o Oracles
	var byModel, byTask, both []float64
	var p []bool
	var t, m []string
	for i, ok := range rates.OK {
		if !ok {
			o.Left++
			continue
		}
		byModel = append(byModel, rates.Model[i])
		byTask = append(byTask, rates.Task[i])
		both = append(both, OracleLogit(rates.Model[i])+OracleLogit(rates.Task[i]))
		p, t, m = append(p, pass[i]), append(t, task[i]), append(m, model[i])
	}
	for _, b := range []struct {
		block  *Separation
		scores []float64
	}{{&o.Model, byModel}, {&o.Task, byTask}, {&o.Combined, both}} {
		if *b.block, err = Separate(b.scores, p, t, m, r); err != nil {
			return Oracles{}, err
		}
	}
	return o, nil
}
