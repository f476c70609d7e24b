package bench

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
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

	StageCoverage []StageCoverage  `json:"stage_coverage"`
	Divergence    *DivergencePoint `json:"divergence"`
	Waste         []WasteSpan      `json:"waste"`
	WastedSteps   *int64           `json:"total_wasted_steps"`
	WasteSeverity *float64         `json:"waste_severity"`
	Signals       []string         `json:"quality_signals"`
	Reasons       []Reason         `json:"failure_reasons"`
	Strengths     []string         `json:"strengths"`

	LeftOut []string `json:"left_out,omitempty"` // tables and columns of this that the dataset was published without
}

// Score is a score and what it is made of.
type Score struct {
	Score          float64  `json:"score"`                 // 0-100, as tiers see it
	WithoutOutcome *float64 `json:"score_without_outcome"` // release profile; the others never contain the outcome
	Parts          []Part   `json:"parts"`
}

// Part is one term of a score: Points = Weight * Value.
type Part struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"` // 0-100
	Weight float64 `json:"weight"`
	Points float64 `json:"points"`
}

// Ref is the reference a run was judged by, or the pool of runs it was compared with.
type Ref struct {
	PTAID   string   `json:"pta_id"`
	Mode    string   `json:"mode"`
	Members []string `json:"members"`
	Nodes   int64    `json:"nodes"`
	Paths   int64    `json:"paths"`
	Path    *Path    `json:"path"` // null for a pool
	Few     bool     `json:"few_references"`
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

// Show reads the report of one run from a dataset. Profile "" is release where the dataset
// has it, else its first one.
func Show(ctx context.Context, dir, id, profile string) (Report, error) {
	r := Report{Profile: profile, TrajectoryID: id}
	root, err := openDataset(dir)
	if err != nil {
		return r, err
	}
	defer root.Close()
	m, err := readManifest(root)
	if err != nil {
		return r, err
	}
	if profile == "" {
		profile = m.Parameters.Profiles[0]
		if slices.Contains(m.Parameters.Profiles, "release") {
			profile = "release"
		}
		r.Profile = profile
	}
	if !slices.Contains(m.Parameters.Profiles, profile) {
		return r, fmt.Errorf("%w: the dataset has no profile %q, only %s", ErrUsage, profile, strings.Join(m.Parameters.Profiles, ", "))
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
	q := reading{ctx: ctx, db: db, id: id, profile: profile}

	run, ok := one[schema.Trajectory](&q, "SELECT %s FROM trajectories WHERE trajectory_id = ?", id)
	if q.err == nil && !ok {
		return r, fmt.Errorf("%w: %s is not in %s%s", ErrNoRun, id, dir, q.closest())
	}
	r.TaskID, r.Model, r.Outcome, r.OutcomeFrom = run.TaskID, run.Model, run.Outcome, run.OutcomeSource
	r.States, r.InputTokens, r.OutputTokens, r.Stages = run.NStates, run.InputTokens, run.OutputTokens, run.StagesRelease
	if tier, ok := one[schema.Tier](&q, "SELECT %s FROM tiers WHERE profile = ? AND trajectory_id = ?", profile, id); ok {
		r.Tier, r.TierRule, r.Category, r.Unjudged = tier.Tier, tier.Rule, tier.CategoryName, tier.Reason
	}
	if f, ok := one[schema.Features](&q, "SELECT %s FROM features WHERE profile = ? AND trajectory_id = ?", profile, id); ok {
		r.Verdict, r.WastedSteps, r.WasteSeverity = f.Verdict, f.TotalWastedSteps, f.WasteSeverity
		q.decode(f.FailureReasons, &r.Reasons)
		q.decode(f.Strengths, &r.Strengths)
		switch profile {
		case "release":
			r.release(&q, f)
		case "paper":
			r.paper(&q, f, m.Parameters.Paper.Weights)
		case "process":
			r.process(&q, m.Parameters.Process.Weights)
		}
	}
	for _, w := range all[schema.Waste](&q, "SELECT %s FROM waste WHERE profile = ? AND trajectory_id = ? AND report = 'detectors' ORDER BY first_step, category, span", profile, id) {
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

// release fills what the release profile says of a scored run.
func (r *Report) release(q *reading, f schema.Features) {
	s, ok := one[schema.SignalsRelease](q, "SELECT %s FROM signals_release WHERE trajectory_id = ?", r.TrajectoryID)
	if !ok {
		return
	}
	if s.Signals != nil {
		r.Signals = strings.Split(*s.Signals, ",")
	}
	outcome := 50.0
	if f.Passed != nil {
		outcome = 0
		if *f.Passed {
			outcome = 100
		}
	}
	if !complete(f) || f.StageCoverageE == nil || f.StageCoverageI == nil || f.StageCoverageO == nil {
		return // published without some of the numbers
	}
	r.Score = score(float64(*f.QualityScore), []Part{
		{Name: "coverage", Weight: release.WeightCoverage, Value: *f.CoveragePercent},
		{Name: "coherence", Weight: release.WeightCoherence, Value: *f.CoherenceScore * 100},
		{Name: "stage completeness", Weight: release.WeightCompleteness, Value: *f.StageCompleteness * 100},
		{Name: "workflow similarity", Weight: release.WeightWorkflow, Value: *f.WorkflowSimilarity * 100},
		{Name: "F1", Weight: release.WeightF1, Value: *f.F1Score},
		{Name: "outcome", Weight: release.WeightOutcome, Value: outcome},
	})
	r.Score.WithoutOutcome = &s.ScoreWithoutOutcome
	r.StageCoverage = []StageCoverage{
		{"exploration", *f.StageCoverageE, s.StageTotalE, s.StageMatchedE, s.StageTotalE - s.StageMatchedE, s.StageExtraE, s.EffortRatioE},
		{"implementation", *f.StageCoverageI, s.StageTotalI, s.StageMatchedI, s.StageTotalI - s.StageMatchedI, s.StageExtraI, s.EffortRatioI},
		{"verification", *f.StageCoverageV, s.StageTotalV, s.StageMatchedV, s.StageTotalV - s.StageMatchedV, s.StageExtraV, s.EffortRatioV},
		{"orchestration", *f.StageCoverageO, s.StageTotalO, s.StageMatchedO, s.StageTotalO - s.StageMatchedO, s.StageExtraO, s.EffortRatioO},
	}
	if f.DivergenceStep != nil {
		r.Divergence = &DivergencePoint{Of: "reference", Step: *f.DivergenceStep, Fraction: *f.DivergenceFraction, Did: s.DivergenceDescription, Expected: s.DivergenceExpected, Segments: r.segments(q)}
	}
	r.reference(q, s.PTAID, &Path{s.BestPathIndex, s.GTPathLen, s.MatchedCount}, s.FewReferences)
}

// paper fills what the paper profile says of a scored run.
func (r *Report) paper(q *reading, f schema.Features, w paper.Weights) {
	s, ok := one[schema.SignalsPaper](q, "SELECT %s FROM signals_paper WHERE trajectory_id = ?", r.TrajectoryID)
	if !ok {
		return
	}
	r.Score = score(s.PaperScore, []Part{
		{Name: "structural F1", Weight: w.Struct, Value: s.Struct},
		{Name: "set coverage", Weight: w.Cov, Value: s.Cov},
		{Name: "coherence", Weight: w.Coh, Value: s.Coh * 100},
		{Name: "temporal profile", Weight: w.Temp, Value: s.Temp * 100},
	})
	if s.ScoreMean != nil {
		r.Score.Score = *s.ScoreMean
	}
	if f.DivergenceStep != nil && f.DivergenceFraction != nil {
		r.Divergence = &DivergencePoint{Of: "run", Step: *f.DivergenceStep, Fraction: *f.DivergenceFraction, Segments: r.segments(q)}
	}
	r.Signals = flags(s.Flags)
	r.reference(q, s.PTAID, &Path{s.BestPath, s.BestPathLen, s.MatchedSteps}, strings.Contains(textOr(s.Flags), "refs<"))
}

// process fills what the process profile says of a scored run.
func (r *Report) process(q *reading, w process.Weights) {
	s, ok := one[schema.SignalsProcess](q, "SELECT %s FROM signals_process WHERE trajectory_id = ?", r.TrajectoryID)
	if !ok || s.ProcessScore == nil || s.A == nil || s.F == nil {
		return
	}
	r.Score = score(*s.ProcessScore, []Part{
		{Name: "followed steps (A)", Weight: w.A, Value: *s.A * 100},
		{Name: "edited files (F)", Weight: w.F, Value: *s.F * 100},
		{Name: "verified after (V)", Weight: w.V, Value: s.V * 100},
	})
	r.Signals = flags(s.Flags)
	if s.PTAID != nil {
		r.reference(q, *s.PTAID, nil, strings.Contains(textOr(s.Flags), "small_pool"))
	}
}

func flags(text *string) []string {
	if text == nil {
		return nil
	}
	return strings.Split(*text, ",")
}

func score(value float64, parts []Part) *Score {
	for i := range parts {
		parts[i].Points = parts[i].Weight * parts[i].Value
	}
	return &Score{Score: value, Parts: parts}
}

func (r *Report) segments(q *reading) []DivergenceSegment {
	var out []DivergenceSegment
	for _, d := range all[schema.Divergence](q, "SELECT %s FROM divergences WHERE profile = ? AND trajectory_id = ? ORDER BY segment", r.Profile, r.TrajectoryID) {
		out = append(out, DivergenceSegment{d.StartStep, d.EndStep, d.Stage, d.Activity})
	}
	return out
}

func (r *Report) reference(q *reading, id string, path *Path, few bool) {
	r.Reference = &Ref{PTAID: id, Path: path, Few: few}
	p, ok := one[schema.PTA](q, "SELECT %s FROM pta WHERE profile = ? AND pta_id = ?", r.Profile, id)
	if !ok {
		r.Reference = nil // published without references
		return
	}
	r.Reference.Nodes, r.Reference.Mode, r.Reference.Paths = p.NNodes, p.Mode, p.NPaths
	for _, m := range all[schema.PTAMember](q, "SELECT %s FROM pta_members WHERE profile = ? AND pta_id = ? ORDER BY position", r.Profile, id) {
		r.Reference.Members = append(r.Reference.Members, m.TrajectoryID)
	}
}

// A reading is a series of queries about one run; the first error ends it.
type reading struct {
	ctx     context.Context
	db      *store.DB
	id      string
	profile string
	err     error
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
