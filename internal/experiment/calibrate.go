package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// The methods of Calibrate.
const (
	Grid     = "grid"     // weights on a grid that add up to 1, by micro AUROC
	Logistic = "logistic" // logistic regression of the outcome on the signals
)

// The published split of passing runs, as percentiles: 10.74 % lucky, 20.16 % ideal.
const (
	LowPercentile   = 0.1074
	IdealPercentile = 0.7984
)

// CalibrateOptions say what Calibrate fits.
type CalibrateOptions struct {
	Signals  []string // names; nil for all that enter the score
	Method   string
	Step     float64 // of the grid; 1/Step must be a whole number
	Folds    int     // most folds of tasks, at least 2
	Sampling stats.Resampling
}

// Fold sums up a cross-validation.
type Fold struct {
	Folds int       `json:"folds"`
	Low   []float64 `json:"weights_low"`  // smallest weight over the folds, by signal
	High  []float64 `json:"weights_high"` // largest

	// Undefined says why there is no cross-validation, "" when there is one.
	Undefined string `json:"undefined,omitzero"`
}

// Regression is the logistic model over all runs: the probability of passing is
// 1/(1+exp(-(Intercept + Σ Coef*(signal-Mean)/SD))), signals in the dataset's units.
type Regression struct {
	Intercept float64   `json:"intercept"`
	Coef      []float64 `json:"coef"`
	Mean      []float64 `json:"mean"`
	SD        []float64 `json:"sd"`
	LogLoss   float64   `json:"log_loss"` // mean, nats
}

// Calibration is what Calibrate found.
type Calibration struct {
	Profile string   `json:"profile"`
	Method  string   `json:"method"`
	Signals []string `json:"signals"`

	// Weights, by signal, add up to 1 in absolute value. Those of the logistic regression
	// are its coefficients per unit of the signal; where none is negative the weighted mean
	// orders runs exactly as the regression does, and can stand in a profile file.
	Weights []float64 `json:"weights"`

	Step       float64     `json:"step,omitzero"`   // grid
	Points     int         `json:"points,omitzero"` // grid
	Ties       int         `json:"ties,omitzero"`   // grid: points as good as the best; the first is taken
	Regression *Regression `json:"regression,omitzero"`

	// Tasks and Models say how the weights vary when a fold of tasks, or one model, is held
	// out.
	Tasks  Fold `json:"held_out_tasks"`
	Models Fold `json:"held_out_models"`

	// Separation has the score as built, the calibrated one over the runs it was fitted to,
	// and, where defined, the scores of held-out tasks and held-out models.
	Separation Separation `json:"separation"`

	// Cuts on the calibrated score: its percentiles LowPercentile and IdealPercentile over
	// passing runs. Null when a weight is negative.
	LowCut   *float64 `json:"low_cut"`
	IdealCut *float64 `json:"ideal_cut"`
}

// Calibrate fits weights to the outcomes and measures them on held-out tasks and models.
func Calibrate(ctx context.Context, d Dataset, opt CalibrateOptions) (Calibration, error) {
	out := Calibration{Profile: d.Profile.Name(), Method: opt.Method}
	points, err := opt.points()
	if err != nil {
		return out, err
	}
	signals, err := pick(d, opt.Signals)
	if err != nil {
		return out, err
	}
	columns := []Column{d.Score}
	for _, s := range signals {
		out.Signals = append(out.Signals, s.Name)
		columns = append(columns, s.Column)
	}
	r, unknown, unscored := usable(d.Runs, columns)
	if err := twoOutcomes(r.pass, unknown, unscored); err != nil {
		return out, err
	}
	x := make([][]float64, len(r.at))
	for k, i := range r.at {
		for _, s := range signals {
			x[k] = append(x[k], s.Values[i])
		}
	}
	tasks, models := foldBy(r.task, opt.Folds, opt.Sampling.Seed), foldBy(r.model, len(r.model), opt.Sampling.Seed)
	var whole stats.Logistic
	var held []fitted
	switch opt.Method {
	case Grid:
		var all best
		if all, held, out.Points, err = gridSearch(ctx, x, r.pass, points, tasks, models); err != nil {
			return out, err
		}
		out.Weights, out.Step, out.Ties = all.weights, opt.Step, all.ties
	case Logistic:
		if whole, err = fitLogistic(x, r.pass); err != nil {
			return out, fmt.Errorf("logistic regression on %s: %w", strings.Join(out.Signals, ", "), err)
		}
		out.Weights = slopes(whole)
		out.Regression = &Regression{whole.Intercept, whole.Coef, whole.Mean, whole.Scale, whole.LogLoss}
		held = []fitted{logisticFolds(x, r.pass, tasks), logisticFolds(x, r.pass, models)}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}

	calibrated, err := spread("calibrated, in sample", d, r, func(k int) (float64, error) {
		if slices.Min(out.Weights) < 0 {
			return whole.Predict(x[k])
		}
		return d.Scale * dot(out.Weights, x[k]), nil
	})
	if err != nil {
		return out, err
	}
	scores := []Column{d.Score, calibrated}
	for _, cv := range []struct {
		name  string
		to    *Fold
		folds folding
		model fitted
	}{
		{"calibrated, held-out tasks", &out.Tasks, tasks, held[0]},
		{"calibrated, held-out models", &out.Models, models, held[1]},
	} {
		if *cv.to, err = sumUp(cv.folds, cv.model); err != nil {
			return out, err
		}
		if cv.to.Undefined != "" {
			continue
		}
		column, err := spread(cv.name, d, r, func(k int) (float64, error) { return cv.model.predict(cv.folds.of[k], x[k]) })
		if err != nil {
			return out, err
		}
		scores = append(scores, column)
	}
	// Runs without a signal have no calibrated score, so that all rows are of the same runs.
	if out.Separation, err = Compare(d.Runs, scores, opt.Sampling); err != nil {
		return out, err
	}
	return out, out.cut(r, calibrated)
}

// points is how many steps make up 1.
func (o CalibrateOptions) points() (int, error) {
	if o.Method != Grid && o.Method != Logistic {
		return 0, usage.Errorf("", "method %q; want %s or %s", o.Method, Grid, Logistic)
	}
	if o.Folds < 2 {
		return 0, usage.Errorf("", "%d folds; want at least 2", o.Folds)
	}
	n := math.Round(1 / o.Step)
	if !(o.Step > 0 && o.Step <= 1) || math.Abs(n*o.Step-1) > 1e-9 {
		return 0, usage.Errorf("", "step %v; want a number that divides 1 into equal parts, such as 0.05", o.Step)
	}
	if n > maxPoints {
		return 0, usage.Errorf("", "step %v gives too fine a grid; want at least %v", o.Step, 1.0/maxPoints)
	}
	return int(n), nil
}

// maxPoints bounds the steps that make up 1: the grid grows with their power.
const maxPoints = 100

// pick finds the named signals, in the order of the profile's formula.
func pick(d Dataset, names []string) ([]Signal, error) {
	if len(names) == 0 {
		return d.Scored(), nil
	}
	var out []Signal
	var all []string
	for _, s := range d.Signals {
		all = append(all, s.Name)
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, s.Name) }) {
			out = append(out, s)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(n, s) }) {
			return nil, usage.Errorf("", "profile %s has no signal %q; want some of %s", d.Profile.Name(), n, strings.Join(all, ", "))
		}
	}
	return out, nil
}

// spread makes a column of the scores of some rows.
func spread(name string, d Dataset, r rows, score func(k int) (float64, error)) (Column, error) {
	c := Column{name, make([]float64, len(d.Runs)), make([]bool, len(d.Runs))}
	for k, i := range r.at {
		v, err := score(k)
		if err != nil {
			return c, err
		}
		c.Values[i], c.Known[i] = v, true
	}
	return c, nil
}

// sumUp gives the range of the weights, or the reason why there is no cross-validation.
func sumUp(f folding, model fitted) (Fold, error) {
	out := Fold{Folds: f.n}
	switch {
	case f.n < 2:
		out.Undefined = "there is only one"
	case errors.Is(model.err, stats.ErrUndefined):
		out.Undefined = model.err.Error()
	case model.err != nil:
		return out, model.err
	default:
		for g := range f.n {
			w := model.weights(g)
			if g == 0 {
				out.Low, out.High = slices.Clone(w), slices.Clone(w)
			}
			for j, v := range w {
				out.Low[j], out.High[j] = min(out.Low[j], v), max(out.High[j], v)
			}
		}
	}
	return out, nil
}

// cut takes the percentiles of the passing runs.
func (c *Calibration) cut(r rows, score Column) error {
	if slices.Min(c.Weights) < 0 {
		return nil
	}
	var passing []float64
	for k, i := range r.at {
		if r.pass[k] {
			passing = append(passing, score.Values[i])
		}
	}
	low, err := stats.Quantile(passing, LowPercentile)
	if err != nil {
		return err
	}
	ideal, err := stats.Quantile(passing, IdealPercentile)
	low, ideal = min(low, 100), min(ideal, 100) // a weighted mean may be above by rounding
	c.LowCut, c.IdealCut = &low, &ideal
	return err
}

// Fitted is the profile with which a build scores runs this way: that of the dataset, with the
// calibrated weights, 0 for signals left out, and the calibrated cuts. It is an error when the
// weights can't stand in a profile.
func (c Calibration) Fitted(d Dataset) (profile.Profile, error) {
	weight := map[string]float64{}
	for i, s := range c.Signals {
		if c.Weights[i] < 0 {
			return nil, fmt.Errorf("the regression gives %s a negative weight (%.3f), which a profile can't have; leave the signal out with option signals, or use option method %s", s, c.Weights[i], Grid)
		}
		weight[s] = c.Weights[i]
	}
	for _, s := range d.Signals {
		if s.Shown && weight[s.Name] > 0 {
			return nil, fmt.Errorf("%s is shown beside the score and can't enter it: it compares solutions, not ways of working; leave it out with option signals", s.Name)
		}
	}
	p := d.Profile.Reweighted(weight, *c.LowCut, *c.IdealCut)
	return p, p.Validate()
}
