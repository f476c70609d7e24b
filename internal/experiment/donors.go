package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Agreement compares the tiers of passing runs under two choices of references, averaged
// over the pairs of choices. A figure is null when no pair has it.
type Agreement struct {
	Pairs      int      `json:"pairs"`
	Kappa      *float64 `json:"kappa"` // Cohen, unweighted; pairs in which all runs share one tier are left out
	KappaPairs int      `json:"kappa_pairs"`
	Flips      *float64 `json:"flip_pct"`      // runs whose tier differs, percent
	Lucky      *float64 `json:"lucky_jaccard"` // lucky under both / lucky under either
	Difference *float64 `json:"mean_abs_diff"` // of the scores
}

// agreement averages over pairs.
type agreement struct{ kappa, flips, lucky, difference []float64 }

// add compares two scores of the same runs, at least one.
func (a *agreement) add(x, y []float64, cuts taxonomy.Cuts) error {
	n := len(x)
	tx, ty := make([]string, n), make([]string, n)
	flips, both, either, difference := 0, 0, 0, 0.0
	for i := range x {
		tx[i], ty[i] = string(cuts.Tier(x[i], trajectory.Pass)), string(cuts.Tier(y[i], trajectory.Pass))
		if tx[i] != ty[i] {
			flips++
		}
		lx, ly := tx[i] == string(taxonomy.Lucky), ty[i] == string(taxonomy.Lucky)
		if lx && ly {
			both++
		}
		if lx || ly {
			either++
		}
		difference += math.Abs(x[i] - y[i])
	}
	a.flips = append(a.flips, 100*float64(flips)/float64(n))
	a.difference = append(a.difference, difference/float64(n))
	if either > 0 {
		a.lucky = append(a.lucky, float64(both)/float64(either))
	}
	k, err := stats.CohenLabels(tx, ty, stats.Unweighted)
	if errors.Is(err, stats.ErrUndefined) {
		return nil
	}
	a.kappa = append(a.kappa, k.Kappa)
	return err
}

func (a *agreement) result() Agreement {
	return Agreement{len(a.flips), meanOf(a.kappa), len(a.kappa), meanOf(a.flips), meanOf(a.lucky), meanOf(a.difference)}
}

// meanOf is nil for no values.
func meanOf(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	return some(mean(x))
}

// PaperDonors says how much the paper profile's score hangs on which passing runs are drawn
// as references. Figures are about single draws unless they say otherwise.
type PaperDonors struct {
	Labels      string `json:"labels"`
	K           int    `json:"k"`
	Draws       int    `json:"draws"`
	OtherModels bool   `json:"other_models"` // references limited to other models
	Passing     int    `json:"passing_runs"` // scored, behind the tiers

	MicroMean *float64 `json:"micro_mean"` // over draws
	MicroSD   *float64 `json:"micro_sd"`   // population standard deviation

	Single   Agreement     `json:"single_draws"` // all pairs of draws
	Means    []MeanOfDraws `json:"means"`
	Flipping *float64      `json:"flipping_at_least_once_pct"` // passing runs with more than one tier over the draws
	ScoreSD  *float64      `json:"score_sd"`                   // population, over draws, mean over passing runs
	Tiers    []TierShare   `json:"tiers_single_draw_pct"`      // of passing runs, mean over draws

	// Separation has the first draw and the mean of all draws.
	Separation Separation `json:"separation"`
}

// MeanOfDraws compares means over disjoint groups of M consecutive draws, the first group
// with the second, the third with the fourth, and so on.
type MeanOfDraws struct {
	M int `json:"m"`
	Agreement
}

// TierShare is one tier's share.
type TierShare struct {
	Tier    taxonomy.Tier `json:"tier"`
	Percent float64       `json:"percent"`
}

// meanSizes are the M of MeanOfDraws that the number of draws allows.
var meanSizes = [...]int{4, 8, 12}

// CheckDraws says which of the parameters AblatePaperDonors can't use.
func CheckDraws(params paper.Params) error {
	if params.Draws < 2 {
		return usage.Errorf("", "%d draws; want at least 2", params.Draws)
	}
	return checkPaper(params)
}

// AblatePaperDonors scores every run against params.Draws draws of references, at least 2.
func AblatePaperDonors(ctx context.Context, c Corpus, params paper.Params, sampling stats.Resampling) (PaperDonors, error) {
	out := PaperDonors{Labels: string(params.Labels), K: params.K, Draws: params.Draws, OtherModels: params.OtherModels}
	if err := CheckDraws(params); err != nil {
		return out, err
	}
	type drawn struct {
		runs   []Run
		scores [][]float64
	}
	parts, err := eachSteps(ctx, c, func(ctx context.Context, t *steps.Task) (drawn, error) {
		scores, err := paper.DrawScores(ctx, t, params)
		return drawn{runsOfSteps(t), scores}, err
	})
	if err != nil {
		return out, err
	}
	var runs []Run
	var scores [][]float64 // by run and draw
	for _, p := range parts {
		runs, scores = append(runs, p.runs...), append(scores, p.scores...)
	}
	first := Column{Name: "draw 1", Known: make([]bool, len(runs))}
	all := Column{Name: fmt.Sprintf("mean of %d draws", params.Draws), Known: first.Known}
	for i, s := range scores {
		first.Known[i] = s != nil
		if s == nil {
			s = []float64{0}
		}
		first.Values, all.Values = append(first.Values, s[0]), append(all.Values, mean(s))
	}
	if out.Separation, err = Compare(runs, []Column{first, all}, sampling); err != nil {
		return out, err
	}
	if err := out.micro(runs, scores); err != nil {
		return out, err
	}
	return out, out.stability(runs, scores, taxonomy.Cuts(params.Cuts))
}

func (p *PaperDonors) micro(runs []Run, scores [][]float64) error {
	var aurocs []float64
	for d := range p.Draws {
		var values []float64
		var pass []bool
		for i, run := range runs {
			if scores[i] != nil && run.Outcome != trajectory.Unknown {
				values, pass = append(values, scores[i][d]), append(pass, run.Outcome == trajectory.Pass)
			}
		}
		a, err := stats.AUROC(values, pass)
		if err != nil {
			return err
		}
		aurocs = append(aurocs, a)
	}
	p.MicroMean, p.MicroSD = some(mean(aurocs)), some(math.Sqrt(squares(aurocs)/float64(len(aurocs))))
	return nil
}

func (p *PaperDonors) stability(runs []Run, scores [][]float64, c taxonomy.Cuts) error {
	var passing [][]float64
	for i, run := range runs {
		if run.Outcome == trajectory.Pass && scores[i] != nil {
			passing = append(passing, scores[i])
		}
	}
	p.Passing = len(passing)
	means := func(from, to int) []float64 {
		out := make([]float64, len(passing))
		for i, s := range passing {
			out[i] = mean(s[from:to])
		}
		return out
	}
	var single agreement
	for i := range p.Draws {
		for j := range i {
			if err := single.add(means(j, j+1), means(i, i+1), c); err != nil {
				return err
			}
		}
	}
	p.Single = single.result()
	for _, m := range meanSizes {
		var a agreement
		for from := 0; from+2*m <= p.Draws; from += 2 * m {
			if err := a.add(means(from, from+m), means(from+m, from+2*m), c); err != nil {
				return err
			}
		}
		if r := a.result(); r.Pairs > 0 {
			p.Means = append(p.Means, MeanOfDraws{m, r})
		}
	}
	flipping := 0
	var sds []float64
	count := map[taxonomy.Tier]int{}
	for _, s := range passing {
		changed := false
		for _, f := range s {
			count[c.Tier(f, trajectory.Pass)]++
			changed = changed || c.Tier(f, trajectory.Pass) != c.Tier(s[0], trajectory.Pass)
		}
		if changed {
			flipping++
		}
		sds = append(sds, math.Sqrt(squares(s)/float64(len(s))))
	}
	n := float64(len(passing))
	p.Flipping, p.ScoreSD = some(100*float64(flipping)/n), meanOf(sds)
	for _, t := range []taxonomy.Tier{taxonomy.Ideal, taxonomy.Solid, taxonomy.Lucky} {
		p.Tiers = append(p.Tiers, TierShare{t, 100 * float64(count[t]) / (n * float64(p.Draws))})
	}
	return nil
}

// minPassing is how many passing runs a task needs for its pool to be halved.
const minPassing = 11

// ProcessDonors says how much the process profile's score hangs on which passing runs there
// are to compare with. For each seed the passing runs of a task are dealt into two halves by
// the hash of "half<seed>:" and their id, and each half is the whole pool once.
type ProcessDonors struct {
	Halvings int `json:"halvings"`
	Passing  int `json:"passing_runs"` // of tasks with at least 11, scored in every half
	Left     int `json:"left_out"`     // passing runs of other tasks, or without a score in some half

	Disjoint Agreement `json:"disjoint_halves"`
	Full     Agreement `json:"half_and_full_pool"` // the first half

	// Separation is that of the score with the full pool.
	Separation Separation `json:"separation"`
}

// CheckHalvings says what AblateProcessDonors can't use.
func CheckHalvings(params process.Params, halvings int) error {
	if halvings < 1 {
		return usage.Errorf("", "%d halvings; want at least 1", halvings)
	}
	if err := params.Validate(); err != nil {
		return usage.Errorf("", "%w", err)
	}
	return nil
}

// AblateProcessDonors halves the pools, with seeds 1 to halvings.
func AblateProcessDonors(ctx context.Context, c Corpus, params process.Params, halvings int, sampling stats.Resampling) (ProcessDonors, error) {
	out := ProcessDonors{Halvings: halvings}
	if err := CheckHalvings(params, halvings); err != nil {
		return out, err
	}
	parts, err := eachSteps(ctx, c, func(ctx context.Context, t *steps.Task) (halved, error) { return halve(ctx, t, params, halvings) })
	if err != nil {
		return out, err
	}
	var runs []Run
	score := Column{Name: process.With(params).Score().Column, Known: []bool{}}
	var full []float64
	halves := make([][2][]float64, halvings)
	for _, p := range parts {
		for i, run := range p.runs {
			runs = append(runs, run)
			known, value := p.full[i] != nil, 0.0
			if known {
				value = *p.full[i]
			}
			score.Values, score.Known = append(score.Values, value), append(score.Known, known)
			if run.Outcome != trajectory.Pass {
				continue
			}
			if p.halves == nil || !known || !p.scored(i) {
				out.Left++
				continue
			}
			full = append(full, value)
			for s := range halves {
				for h := range 2 {
					halves[s][h] = append(halves[s][h], *p.halves[s][h][i])
				}
			}
		}
	}
	if out.Separation, err = Compare(runs, []Column{score}, sampling); err != nil {
		return out, err
	}
	out.Passing = len(full)
	if out.Passing == 0 {
		return out, nil
	}
	c2 := process.With(params).Score().Cuts
	var disjoint, whole agreement
	for _, h := range halves {
		if err := errors.Join(disjoint.add(h[0], h[1], c2), whole.add(h[0], full, c2)); err != nil {
			return out, err
		}
	}
	out.Disjoint, out.Full = disjoint.result(), whole.result()
	return out, nil
}

// halved are the scores of one task's runs.
type halved struct {
	runs   []Run
	full   []*float64
	halves [][2][]*float64 // by seed; nil when the task has too few passing runs
}

func (h halved) scored(i int) bool {
	for _, pair := range h.halves {
		if pair[0][i] == nil || pair[1][i] == nil {
			return false
		}
	}
	return true
}

func halve(ctx context.Context, t *steps.Task, params process.Params, halvings int) (halved, error) {
	out := halved{runs: runsOfSteps(t)}
	var err error
	if out.full, err = process.Scores(ctx, t, params, nil); err != nil {
		return out, err
	}
	var passing []string
	for _, r := range out.runs {
		if r.Outcome == trajectory.Pass {
			passing = append(passing, r.ID)
		}
	}
	if len(passing) < minPassing {
		return out, nil
	}
	for seed := 1; seed <= halvings; seed++ {
		half := map[string]int{}
		for i, id := range profile.HashOrder(passing, fmt.Sprintf("half%d:", seed)) {
			half[id] = i % 2
		}
		var pair [2][]*float64
		for h := range pair {
			if pair[h], err = process.Scores(ctx, t, params, func(r *steps.Run) bool { return half[r.ID] == h }); err != nil {
				return out, err
			}
		}
		out.halves = append(out.halves, pair)
	}
	return out, nil
}
