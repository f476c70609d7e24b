package bench

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// ErrNoRun is returned for a trajectory id that the dataset does not hold.
var ErrNoRun = errors.New("no such run")

// A Report is the structured quality report of one run under one profile.
type Report struct {
	Profile      string  `json:"profile"`
	TrajectoryID string  `json:"trajectory_id"`
	TaskID       string  `json:"task_id"`
	Model        string  `json:"model"`
	Outcome      string  `json:"outcome"`
	OutcomeFrom  *string `json:"outcome_source"`
	States       int64   `json:"n_states"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	Stages       string  `json:"stages"` // strip: a letter per step, - for the initial state

	Tier      *string `json:"tier"`
	TierRule  *string `json:"tier_rule"`
	Category  *string `json:"category"`
	Unjudged  *string `json:"unjudged"` // why there is no tier, null when there is one
	Score     *Score  `json:"score"`    // null when the run was not scored
	Verdict   *string `json:"verdict"`
	Reference *Ref    `json:"reference"`

	StageCoverage []profile.StageCoverage `json:"stage_coverage"`
	Divergence    *DivergencePoint        `json:"divergence"`
	Waste         []WasteSpan             `json:"waste"`
	WastedSteps   *int64                  `json:"total_wasted_steps"`
	WasteSeverity *float64                `json:"waste_severity"`
	Signals       []string                `json:"quality_signals"`
	Reasons       []Reason                `json:"failure_reasons"`
	Strengths     []string                `json:"strengths"`

	LeftOut []string `json:"left_out,omitempty"` // tables and columns of this that the dataset was published without
}

// Score is a score and what it is made of.
type Score struct {
	Column         string         `json:"column"`
	Score          float64        `json:"score"`                 // 0-100, as tiers see it
	WithoutOutcome *float64       `json:"score_without_outcome"` // null for scores that never contain the outcome
	Parts          []profile.Part `json:"parts"`                 // they add up to the score
}

// Ref is the reference a run was judged by, or the pool of runs it was compared with.
type Ref struct {
	PTAID   string        `json:"pta_id"`
	Mode    string        `json:"mode"`
	Members []string      `json:"members"`
	Nodes   int64         `json:"nodes"`
	Paths   int64         `json:"paths"`
	Path    *profile.Path `json:"path"` // null for a pool
	Few     bool          `json:"few_references"`
}

// DivergencePoint is where the run first missed the reference.
type DivergencePoint struct {
	Of       string              `json:"of"`   // what Step counts: reference (path steps) or run (its own steps)
	Step     int64               `json:"step"` // 1-based
	Fraction float64             `json:"fraction"`
	Did      *string             `json:"did"`
	Expected *string             `json:"expected"`
	Segments []DivergenceSegment `json:"segments"`
}

// DivergenceSegment is a run of missed reference states.
type DivergenceSegment struct {
	First    int64   `json:"first_step"`
	Last     int64   `json:"last_step"`
	Stage    *string `json:"stage"`
	Activity int64   `json:"activity"`
}

// WasteSpan is one detected span.
type WasteSpan struct {
	Category     string  `json:"category"`
	First        int64   `json:"first_step"`
	Last         int64   `json:"last_step"`
	Wasted       int64   `json:"wasted_steps"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	Tool         *string `json:"tool"`
	File         *string `json:"file_path"`
}

// Reason is one failure reason.
type Reason struct {
	Reason   string `json:"reason"`
	Detail   string `json:"detail"`
	Severity string `json:"severity"`
}

// Show reads the report of one run from a dataset. name is a profile's, "" for the default one.
func Show(ctx context.Context, dir, id, name string) (r Report, err error) {
	err = dataset.Read(dir, func() (err error) {
		r, err = show(ctx, dir, id, name)
		return err
	})
	return r, err
}

func show(ctx context.Context, dir, id, name string) (Report, error) {
	r := Report{Profile: name, TrajectoryID: id}
	root, err := openDataset(dir)
	if err != nil {
		return r, err
	}
	defer root.Close()
	m, err := readManifest(root)
	if err != nil {
		return r, err
	}
	if r.Profile == "" {
		r.Profile = registry.Default(m.Parameters.Profiles)
	}
	of, err := m.Parameters.Profile(r.Profile)
	if err != nil {
		return r, err
	}
	db, err := store.Open(ctx, dir)
	if err != nil {
		return r, err
	}
	defer db.Close()
	absent, err := store.Absent(dir)
	if err != nil {
		return r, err
	}
	r.LeftOut = leftOut(absent)
	q := reading{ctx: ctx, db: db, id: id}

	run, ok := one[schema.Trajectory](&q, "SELECT %s FROM trajectories WHERE trajectory_id = ?", id)
	if q.err == nil && !ok {
		return r, fmt.Errorf("%w: %s is not in %s%s", ErrNoRun, id, dir, q.closest())
	}
	r.TaskID, r.Model, r.Outcome, r.OutcomeFrom = run.TaskID, run.Model, run.Outcome, run.OutcomeSource
	r.States, r.InputTokens, r.OutputTokens, r.Stages = run.NStates, run.InputTokens, run.OutputTokens, run.StagesRelease
	if of.Capabilities().Labels == "stages_clean" {
		r.Stages = run.StagesClean
	}
	if tier, ok := one[schema.Tier](&q, "SELECT %s FROM tiers WHERE profile = ? AND trajectory_id = ?", r.Profile, id); ok {
		r.Tier, r.TierRule, r.Category, r.Unjudged = tier.Tier, tier.Rule, tier.CategoryName, tier.Reason
	}
	if f, ok := one[schema.Features](&q, "SELECT %s FROM features WHERE profile = ? AND trajectory_id = ?", r.Profile, id); ok {
		r.Verdict, r.WastedSteps, r.WasteSeverity = f.Verdict, f.TotalWastedSteps, f.WasteSeverity
		q.decode(f.FailureReasons, &r.Reasons)
		q.decode(f.Strengths, &r.Strengths)
		r.explain(&q, of, f)
	}
	for _, w := range all[schema.Waste](&q, "SELECT %s FROM waste WHERE profile = ? AND trajectory_id = ? AND report = 'detectors' ORDER BY first_step, category, span", r.Profile, id) {
		r.Waste = append(r.Waste, WasteSpan{w.Category, w.FirstStep, w.LastStep, w.WastedSteps, w.InputTokens, w.OutputTokens, w.Tool, w.FilePath})
	}
	return r, q.err
}

// leftOut lists what is absent of the tables that a report reads.
func leftOut(absent map[string]bool) []string {
	read := []string{"trajectories", "tiers", "features", "signals", "waste", "divergences", "pta", "pta_members"}
	var names []string
	for name := range absent {
		if table, _, _ := strings.Cut(name, "."); slices.Contains(read, table) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// explain fills in what the profile says of a scored run.
func (r *Report) explain(q *reading, of profile.Profile, f schema.Features) {
	signals, ok := q.signals(of)
	if !ok {
		return
	}
	e := of.Explain(signals, &f)
	r.Signals, r.StageCoverage = e.Notes, e.Stages
	s := of.Score()
	if score, ok := s.Of(signals, &f); ok && profile.CheckSum(s.Column, score, e.Parts) == nil { // else published without some of the numbers
		r.Score = &Score{Column: s.Column, Score: score, WithoutOutcome: e.WithoutOutcome, Parts: e.Parts}
	}
	if d := e.Divergence; d != nil {
		r.Divergence = &DivergencePoint{Of: d.Of, Step: d.Step, Fraction: d.Fraction, Did: d.Did, Expected: d.Expected, Segments: r.segments(q)}
	}
	if ref := e.Reference; ref != nil {
		r.reference(q, ref)
	}
}

func (r *Report) segments(q *reading) []DivergenceSegment {
	var out []DivergenceSegment
	for _, d := range all[schema.Divergence](q, "SELECT %s FROM divergences WHERE profile = ? AND trajectory_id = ? ORDER BY segment", r.Profile, r.TrajectoryID) {
		out = append(out, DivergenceSegment{d.StartStep, d.EndStep, d.Stage, d.Activity})
	}
	return out
}

func (r *Report) reference(q *reading, ref *profile.Reference) {
	r.Reference = &Ref{PTAID: ref.ID, Path: ref.Path, Few: ref.Few}
	p, ok := one[schema.PTA](q, "SELECT %s FROM pta WHERE profile = ? AND pta_id = ?", r.Profile, ref.ID)
	if !ok {
		r.Reference = nil // published without references
		return
	}
	r.Reference.Nodes, r.Reference.Mode, r.Reference.Paths = p.NNodes, p.Mode, p.NPaths
	for _, m := range all[schema.PTAMember](q, "SELECT %s FROM pta_members WHERE profile = ? AND pta_id = ? ORDER BY position", r.Profile, ref.ID) {
		r.Reference.Members = append(r.Reference.Members, m.TrajectoryID)
	}
}

// A reading is a series of queries about one run; the first error ends it.
type reading struct {
	ctx context.Context
	db  *store.DB
	id  string
	err error
}

// signals reads the run's row of the profile's signals, as a pointer to its struct.
func (q *reading) signals(of profile.Profile) (any, bool) {
	if q.err != nil {
		return nil, false
	}
	for row, err := range store.ReadRows(q.ctx, q.db.DB, of.Signals(), "SELECT * FROM signals_"+of.Name()+" WHERE trajectory_id = ?", q.id) {
		q.err = err
		return row.Interface(), err == nil
	}
	return nil, false
}

// all returns the rows of a query whose %s stands for T's columns.
func all[T any](q *reading, query string, args ...any) []T {
	if q.err != nil {
		return nil
	}
	rows, err := collect[T](q.ctx, q.db, query, args...)
	q.err = err
	return rows
}

// collect runs a query whose %s stands for T's columns.
func collect[T any](ctx context.Context, db *store.DB, query string, args ...any) ([]T, error) {
	row := reflect.TypeFor[T]()
	names := make([]string, row.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
	}
	var rows []T
	for r, err := range store.ReadSQL[T](ctx, db.DB, fmt.Sprintf(query, strings.Join(names, ", ")), args...) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func one[T any](q *reading, query string, args ...any) (T, bool) {
	rows := all[T](q, query, args...)
	if len(rows) == 0 {
		var zero T
		return zero, false
	}
	return rows[0], true
}

func (q *reading) decode(text *string, into any) {
	if text == nil || q.err != nil {
		return
	}
	if err := json.Unmarshal([]byte(*text), into); err != nil {
		q.err = fmt.Errorf("run %s: stored JSON is damaged: %w", q.id, err)
	}
}

// closest suggests ids that contain what was asked for.
func (q *reading) closest() string {
	rows := all[schema.Trajectory](q, "SELECT %s FROM trajectories WHERE instr(trajectory_id, ?) > 0 ORDER BY trajectory_id LIMIT 3", q.id)
	if len(rows) == 0 {
		rows = all[schema.Trajectory](q, "SELECT %s FROM trajectories ORDER BY trajectory_id LIMIT 3")
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.TrajectoryID
	}
	if len(ids) == 0 {
		return ""
	}
	return "; it holds " + strings.Join(ids, ", ") + ", ..."
}
