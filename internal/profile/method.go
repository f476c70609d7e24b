package profile

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// A Profile is one way of judging runs, with its parameters. What a command needs to know of
// a profile it asks the value; the names are those of the registry.
//
// A value may be shared by goroutines once its parameters are set.
type Profile interface {
	Name() string

	// About says what the score is, a sentence of Markdown that a dataset's card prints.
	About() string

	// Signals is the row struct of the profile's signals table.
	Signals() reflect.Type

	Score() Score
	Capabilities() Capabilities

	// Params points to the parameters, a struct whose fields have toml and json tags and hold
	// the defaults in a new value; nil for a profile without parameters. A field with a tag
	// flag is also an option of the command line of that name, with the tag usage as its help.
	Params() any

	// Validate names the first parameter whose value can't be used.
	Validate() error

	// Assess emits a task's references and one row set per run. The plan is that of the build;
	// profiles whose capabilities don't say Plan have references of their own.
	Assess(ctx context.Context, task *Task, plan Plan, emit Emitter) error

	// Explain says how the score of a stored run comes about. It takes a pointer to the
	// profile's signals row and the features row of a scored run.
	Explain(signals any, features *schema.Features) Explanation

	// Check recomputes what the stored columns of a scored run follow from each other. It
	// returns the rules that are broken, and takes what Explain does.
	Check(signals any, features *schema.Features, tier schema.Tier) []string
}

// Weighted is a profile whose score is a weighted sum of signals, so that its weights can be
// fitted and ablated.
type Weighted interface {
	Profile

	// Terms are the signals, in the order of the sum: the score against one choice of
	// references is scale times the sum of Weight * Unit * signal.
	Terms() (terms []Term, scale float64)

	// Reweighted is a copy with other weights, by signal, 0 for those left out, and other
	// cuts: passing runs are Lucky below low and Ideal from ideal on, and failing ones off
	// track below low.
	Reweighted(weights map[string]float64, low, ideal float64) Weighted
}

// Score says which stored number is THE score of a profile, 0-100: the one that tiers are cut
// on, that is explained, compared and published.
type Score struct {
	Table, Column string // features or signals, and its column
	SeesOutcome   bool   // whether the run's own outcome is part of it
	Drawn         bool   // it is the mean over draws of references, while the signals are against one choice
	Cuts          taxonomy.Cuts
}

// Name is table.column.
func (s Score) Name() string { return s.Table + "." + s.Column }

// View is the table of the database that has the score of a profile's runs.
func (s Score) View(profile string) string { return s.Table + "_" + profile }

// Of returns the score from a run's rows, as Explain takes them; false without one.
func (s Score) Of(signals any, features *schema.Features) (float64, bool) {
	row := reflect.ValueOf(features)
	if s.Table == "signals" {
		row = reflect.ValueOf(signals)
	}
	row = row.Elem()
	for i := range row.NumField() {
		if name, _, _ := strings.Cut(row.Type().Field(i).Tag.Get("parquet"), ","); name != s.Column {
			continue
		}
		v := row.Field(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return 0, false
			}
			v = v.Elem()
		}
		if v.CanInt() {
			return float64(v.Int()), true
		}
		return v.Float(), true
	}
	panic(fmt.Sprintf("profile: %s has no column %s", row.Type(), s.Column)) // a test reads every score
}

// Capabilities say what else a profile does.
type Capabilities struct {
	References  bool   // it compares a run with passing runs of the task, so it needs several
	Plan        bool   // it takes its references from the Plan of the build
	Draws       bool   // its score can be the mean over several draws of references
	Categories  bool   // it sorts Lucky passes into categories
	Labels      string // column of trajectories with the stage labels that it reads
	WastedShare string // column table.column with the wasted share of a run's steps, whose spans are in waste; "" when it looks for none
	Verified    string // column of signals that is above 0 for a run that verified its last edit; "" when it does not say
}

// Term is one signal of a weighted score.
type Term struct {
	Signal string // column of the signals table
	Name   string // in words
	Unit   float64
	Weight float64
	Shown  bool // it is shown beside the score and never enters it
}

// Explanation says how a run's score comes about. All but Parts may be missing.
type Explanation struct {
	Parts          []Part   // their points add up to the score, in this order
	WithoutOutcome *float64 // the score before its outcome term, of a score that has one
	Reference      *Reference
	Stages         []StageCoverage
	Divergence     *Divergence
	Notes          []string // short marks, such as quality signals and flags
}

// Part is one term of a score: Points = Weight * Value.
type Part struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"` // 0-100; of what is added to the other parts, such as rounding, a difference of scores
	Weight float64 `json:"weight"`
	Points float64 `json:"points"`
}

// Reference names what a run was compared with.
type Reference struct {
	ID   string
	Path *Path // the path that fits the run best; nil for a pool of runs
	Few  bool  // fewer runs than asked for
}

// Path is the path of a reference that fits the run best.
type Path struct {
	Index   int64 `json:"index"`
	Length  int64 `json:"length"`
	Matched int64 `json:"matched"`
}

// StageCoverage compares one stage of the run with the reference path.
type StageCoverage struct {
	Stage    string  `json:"stage"`
	Percent  float64 `json:"percent"`
	Expected int64   `json:"expected"` // states of the path
	Matched  int64   `json:"matched"`
	Missing  int64   `json:"missing"`
	Extra    int64   `json:"extra"`  // states of the run that are not aligned
	Effort   float64 `json:"effort"` // states of the run per state of the path
}

// Divergence is where the run first missed the reference.
type Divergence struct {
	Of       string  // what Step counts: reference (path steps) or run (its own steps)
	Step     int64   // 1-based
	Fraction float64 // of the run
	Did      *string
	Expected *string
}

// Parts are those of a weighted sum, of the values of its terms in their order. Terms that are
// only shown are left out.
func Parts(terms []Term, scale float64, values ...float64) []Part {
	var parts []Part
	for i, t := range terms {
		if t.Shown {
			continue
		}
		value := float64(t.Unit*values[i]) * scale
		parts = append(parts, Part{t.Name, value, t.Weight, t.Weight * value})
	}
	return parts
}

// Total adds up points, in order.
func Total(parts []Part) float64 {
	sum := 0.0
	for _, p := range parts {
		sum += p.Points
	}
	return sum
}

// UpTo appends the part that is missing to the score.
func UpTo(score float64, parts []Part, name string) []Part {
	missing := score - Total(parts)
	return append(parts, Part{name, missing, 1, missing})
}

// sumTolerance is the rounding that sums of a few numbers up to 100 allow.
const sumTolerance = 1e-9

// CheckSum is the rule that points add up to a score, for Check.
func CheckSum(column string, score float64, parts []Part) []string {
	if math.Abs(Total(parts)-score) <= sumTolerance {
		return nil
	}
	return []string{column + " is the weighted sum of its signals"}
}

// CheckTier is the rule that a tier follows from the score, for Check.
func CheckTier(s Score, score float64, features *schema.Features, tier schema.Tier) []string {
	if want := string(s.Cuts.Tier(score, trajectory.OutcomeOf(features.Passed))); tier.Tier != nil && *tier.Tier == want || tier.Tier == nil && want == "" {
		return nil
	}
	return []string{"the tier follows from " + s.Column + " and passed"}
}
