package paper

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/schema"
)

// Source is what figures are recomputed from. Only Published is required; figures that need
// what is missing are not recomputable.
type Source struct {
	Published    []schema.Published          // the release's 40 columns
	Trajectories []schema.Trajectory         // token totals and stage strips of the published runs; others do no harm
	Tasks        []schema.PublishedTask      // the release's task table
	References   []schema.PublishedReference // the graphs the release ships
	ToolCalls    []ToolCalls
	Rebuilt      []schema.Features     // the 40 columns rebuilt with the release profile
	Paper        []schema.SignalsPaper // the paper profile's signals, one kind of labels
}

// ToolCalls counts a run's states by canonical tool.
type ToolCalls struct {
	TrajectoryID string `parquet:"trajectory_id"`
	Tool         string `parquet:"tool"`
	Calls        int64  `parquet:"calls"`
}

// ErrNoPublished says that a source is not built from the release.
var ErrNoPublished = errors.New("no published columns: the ledger needs a dataset built from the AgentLens-Bench release, which `agentlens fetch agentlens-bench` gets " +
	"(its annotations/trajectories.csv fills the table published)")

// run is one row of a table of 40 columns, with what its states add.
type run struct {
	*schema.Features
	states   *schema.Trajectory // nil when the source has no states of the run
	failures []string           // names of the failure reasons

	category    string // "" unless the tier is lucky
	categoryErr error  // why a Lucky pass has no category
}

// table is a set of runs with the 40 columns, sorted by id.
type table []*run

func newTable(rows []schema.Features, states map[string]*schema.Trajectory) (table, error) {
	t := make(table, len(rows))
	for i := range rows {
		r := &run{Features: &rows[i], states: states[rows[i].TrajectoryID]}
		var err error
		if r.failures, err = failureNames(r.FailureReasons); err != nil {
			return nil, fmt.Errorf("run %s: column failure_reasons: %w", r.TrajectoryID, err)
		}
		if tier := r.QualityTier; tier != nil && *tier == string(taxonomy.Lucky) {
			r.category, r.categoryErr = r.categorise()
		}
		t[i] = r
	}
	slices.SortFunc(t, func(a, b *run) int { return strings.Compare(a.TrajectoryID, b.TrajectoryID) })
	for i := 1; i < len(t); i++ {
		if t[i].TrajectoryID == t[i-1].TrajectoryID {
			return nil, fmt.Errorf("run %s: two rows of the 40 columns", t[i].TrajectoryID)
		}
	}
	return t, nil
}

func failureNames(column *string) ([]string, error) {
	if column == nil {
		return nil, nil
	}
	var list []struct {
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal([]byte(*column), &list); err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.Reason
	}
	return names, nil
}

// categorise returns the category of a Lucky pass. The signal excessive_exploration is worked
// out only where the category hangs on it.
func (r *run) categorise() (string, error) {
	if r.NStates == nil || r.StageCoverageV == nil || r.TotalWastedSteps == nil || r.BlindRetryCount == nil || r.CyclicPatternCount == nil {
		return "", undefined("the columns of a Lucky pass have gaps")
	}
	c := taxonomy.Columns{
		NStates: *r.NStates, StageCoverageV: *r.StageCoverageV, TotalWastedSteps: *r.TotalWastedSteps,
		BlindRetryCount: *r.BlindRetryCount, CyclicPatternCount: *r.CyclicPatternCount,
		Incomplete: slices.Contains(r.failures, "incomplete_implementation"),
	}
	modest, _ := taxonomy.Categorise(c)
	c.ExcessiveExploration = true
	excessive, _ := taxonomy.Categorise(c)
	if modest == excessive {
		return modest.Code, nil
	}
	if r.states == nil {
		return "", missing("missing_states")
	}
	signal, ok := excessiveExploration(r.Features, strings.Count(r.states.StagesRelease, "E"))
	switch {
	case !ok:
		return "", undefined("the columns of " + r.TrajectoryID + " do not tell how far it explored")
	case signal:
		return excessive.Code, nil
	}
	return modest.Code, nil
}

func (r *run) tokens() (int64, error) {
	if r.states == nil {
		return 0, missing("missing_states")
	}
	return r.states.InputTokens + r.states.OutputTokens, nil
}

// fields finds a column's struct field by name.
type fields map[string]int

func newFields(row reflect.Type) fields {
	f := fields{}
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
		f[name] = i
	}
	return f
}

// cell returns a number of a row: a count, a measure, or a flag as 0 and 1. ok is false for
// a null.
func (f fields) cell(row reflect.Value, column string) (x float64, ok bool, err error) {
	i, known := f[column]
	if !known {
		return 0, false, fmt.Errorf("no column %q", column)
	}
	v := row.Field(i)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0, false, nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Int64:
		return float64(v.Int()), true, nil
	case reflect.Float64:
		return v.Float(), true, nil
	}
	return 0, false, fmt.Errorf("column %q holds no numbers", column)
}

// text returns a text cell of a row, "" for a null.
func (f fields) text(row reflect.Value, column string) (string, error) {
	i, known := f[column]
	if !known {
		return "", fmt.Errorf("no column %q", column)
	}
	v := row.Field(i)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.String {
		return "", fmt.Errorf("column %q holds no text", column)
	}
	return v.String(), nil
}

// LuckyPass is a Lucky pass of the published columns with what the 40 columns lack.
type LuckyPass struct {
	Run      *schema.Published
	Category string // C1 to C5
	Tokens   int64  // input and output over all states
}

// LuckyPasses returns the published Lucky passes with category and tokens, sorted by id. It
// needs the trajectories of all of them.
func LuckyPasses(src Source) ([]LuckyPass, error) {
	t, err := newTable(src.Published, byID(src.Trajectories))
	if err != nil {
		return nil, err
	}
	var out []LuckyPass
	for _, r := range t {
		if r.QualityTier == nil || *r.QualityTier != string(taxonomy.Lucky) {
			continue
		}
		if r.categoryErr != nil {
			return nil, fmt.Errorf("run %s: category: %w", r.TrajectoryID, r.categoryErr)
		}
		n, err := r.tokens()
		if err != nil {
			return nil, fmt.Errorf("run %s: tokens: %w", r.TrajectoryID, err)
		}
		out = append(out, LuckyPass{Run: r.Features, Category: r.category, Tokens: n})
	}
	return out, nil
}

func byID(rows []schema.Trajectory) map[string]*schema.Trajectory {
	out := make(map[string]*schema.Trajectory, len(rows))
	for i := range rows {
		out[rows[i].TrajectoryID] = &rows[i]
	}
	return out
}
