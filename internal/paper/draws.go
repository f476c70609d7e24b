package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/schema"
)

// paperLabels are the stage labels the paper's method has. Scores under other labels are a
// rebuild worth showing, but their spread says nothing about the paper's figures.
const paperLabels = "release"

// draws are the scores of the paper profile and their spread over redrawn references.
type draws struct {
	rows    []*schema.SignalsPaper // with an outcome, sorted by id
	passed  []bool
	columns fields
	n       int64 // draws behind every row; 0 when some row has none, or other labels than the paper's
	cache   map[string]spread
}

func newDraws(rows []schema.SignalsPaper) *draws {
	d := &draws{columns: newFields(reflect.TypeFor[schema.SignalsPaper]()), n: math.MaxInt64, cache: map[string]spread{}}
	for i := range rows {
		if rows[i].Passed != nil {
			d.rows = append(d.rows, &rows[i])
		}
	}
	if len(d.rows) == 0 {
		return nil
	}
	slices.SortFunc(d.rows, func(a, b *schema.SignalsPaper) int { return strings.Compare(a.TrajectoryID, b.TrajectoryID) })
	for _, r := range d.rows {
		d.passed = append(d.passed, *r.Passed)
		if r.ScoreMean == nil || r.ScoreSD == nil || r.Labels != paperLabels {
			d.n = 0
		}
		d.n = min(d.n, r.Draws)
	}
	return d
}

// spread is a statistic of the score: of the one reference every run was judged by, and over
// redrawn references.
type spread struct {
	single   float64
	mean, sd float64
	draws    int64 // 0 when the spread is unknown
}

// Simulated data sets, and how many of their standard deviations around their mean count as
// variation between draws.
const (
	simulations = 100
	bandWidth   = 3
)

func (s spread) band() (low, high float64) {
	return s.mean - float64(bandWidth*s.sd), s.mean + float64(bandWidth*s.sd)
}

func (s spread) explain(decimals int) string {
	low, high := s.band()
	return fmt.Sprintf("the score of Eq. 1 over %d redrawn references gives %.*f to %.*f", s.draws, decimals+1, low, decimals+1, high)
}

// statistic computes what a call of the recipe draws asks for.
func (d *draws) statistic(a args) (spread, error) {
	key := fmt.Sprint(a)
	if s, ok := d.cache[key]; ok {
		return s, nil
	}
	scores := make([]float64, len(d.rows))
	for i, r := range d.rows {
		x, ok, err := d.columns.cell(reflect.ValueOf(r).Elem(), a.get("column"))
		if err != nil {
			return spread{}, err
		}
		if !ok {
			return spread{}, undefined("the column is null")
		}
		scores[i] = x
	}
	single, err := d.figure(a, scores)
	if err != nil {
		return spread{}, err
	}
	s := spread{single: single}
	if a.get("simulate") == "true" && d.n >= 2 {
		if err := d.simulate(a, &s); err != nil {
			return spread{}, err
		}
	}
	d.cache[key] = s
	return s, nil
}

// simulate estimates the spread of a figure of the paper score over the draws: every run's score
// is drawn from a normal distribution with its mean and standard deviation over the draws,
// all runs independently. Since runs of a task share references, this understates the true
// spread.
func (d *draws) simulate(a args, s *spread) error {
	random := rand.New(rand.NewPCG(1, 0))
	scores, values := make([]float64, len(d.rows)), make([]float64, simulations)
	for k := range values {
		for i, r := range d.rows {
			scores[i] = *r.ScoreMean + float64(*r.ScoreSD*random.NormFloat64())
		}
		var err error
		if values[k], err = d.figure(a, scores); err != nil {
			return err
		}
	}
	var err error
	if s.mean, err = stats.Mean(values); err != nil {
		return err
	}
	s.sd, err = stats.PopulationSD(values)
	s.draws = d.n
	return err
}

func (d *draws) figure(a args, scores []float64) (float64, error) {
	switch of := a.get("of"); of {
	case "auroc":
		return stats.AUROC(scores, d.passed)
	case "ks_p":
		r, err := ks(scores, d.passed)
		return r.P, err
	case "youden":
		p, err := stats.Youden(scores, d.passed, stats.LowestThreshold)
		return p.Threshold, err
	case "accuracy", "f1":
		threshold, err := strconv.ParseFloat(a.get("threshold"), 64)
		if err != nil {
			return 0, err
		}
		c, err := stats.Confuse(scores, d.passed, threshold)
		if err != nil {
			return 0, err
		}
		x, err := c.Accuracy()
		if of == "f1" {
			x, err = c.F1()
		}
		return scale(x, a), err
	default:
		return 0, fmt.Errorf("of=%q: unknown", of)
	}
}
