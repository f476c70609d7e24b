package figures

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/paper"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/waste"
	"github.com/agentlens-bench/agentlens/schema"
)

// Source is where a figure's values come from.
type Source string

// Published are the columns the release published. Other sources are what the profile of that
// name computed.
const Published Source = "published"

// Sources lists them, the preferred first.
func Sources() []Source {
	sources := []Source{Published}
	for _, name := range registry.Names() {
		sources = append(sources, Source(name))
	}
	return sources
}

// ListSources names them, for people.
func ListSources() string { return join(Sources()) }

// ParseSource accepts the name of a source.
func ParseSource(name string) (Source, error) {
	if s := Source(name); slices.Contains(Sources(), s) {
		return s, nil
	}
	return "", fmt.Errorf("unknown source %q: want one of %s", name, join(Sources()))
}

func join[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}

// words describe a source in a title.
func (s Source) words() string {
	if s == Published {
		return "published columns"
	}
	return "profile " + string(s)
}

// wasteKind is one of the five detectors, in the order of the waste columns.
type wasteKind struct {
	kind waste.Kind
	name string
}

var wasteKinds = [...]wasteKind{
	{waste.RegressionLoop, "regression loop"},
	{waste.BlindRetry, "blind retry"},
	{waste.RedundantStep, "redundant step"},
	{waste.UnnecessaryExploration, "unnecessary exploration"},
	{waste.CyclicPattern, "cyclic pattern"},
}

// run is what the figures know of a run.
type run struct {
	id, task, model string
	passed          *bool
	score           *float64 // 0-100
	tier            taxonomy.Tier
	category        string // C1 to C5 or ""
	states          *int64
	waste           []wasted // by wasteKinds; nil when the source has no waste columns
	tokens          int64    // input and output; 0 when the log has none
	stages          string   // a letter per labelled step; "" without the run's log
}

type wasted struct{ events, steps int64 }

// cut is a threshold of a score.
type cut struct {
	name  string
	score float64
}

// data are the runs of one source, sorted by id.
type data struct {
	source     Source
	score      profile.Score // with a profile's
	spans      bool          // whether the source says in which steps a run wasted
	runs       []run
	cuts       []cut
	categories error // why Lucky passes have no category; nil when they have
}

// row is a run as the queries give it.
type row struct {
	TrajectoryID string   `parquet:"trajectory_id"`
	TaskID       string   `parquet:"task_id"`
	Model        string   `parquet:"model"`
	Passed       *bool    `parquet:"passed"`
	Score        *float64 `parquet:"score"`
	Tier         *string  `parquet:"tier"`
	Category     *string  `parquet:"category"`
	States       *int64   `parquet:"n_states"`
	Tokens       *int64   `parquet:"tokens"`
	Stages       *string  `parquet:"stages"`

	RegressionLoopCount         *int64 `parquet:"regression_loop_count"`
	RegressionLoopWaste         *int64 `parquet:"regression_loop_waste"`
	BlindRetryCount             *int64 `parquet:"blind_retry_count"`
	BlindRetryWaste             *int64 `parquet:"blind_retry_waste"`
	RedundantStepCount          *int64 `parquet:"redundant_step_count"`
	RedundantStepWaste          *int64 `parquet:"redundant_step_waste"`
	UnnecessaryExplorationCount *int64 `parquet:"unnecessary_exploration_count"`
	UnnecessaryExplorationWaste *int64 `parquet:"unnecessary_exploration_waste"`
	CyclicPatternCount          *int64 `parquet:"cyclic_pattern_count"`
	CyclicPatternWaste          *int64 `parquet:"cyclic_pattern_waste"`
}

// Queries of the runs of a source. %[1]s is the column of the score and %[2]s the strip of
// stages.
const publishedQuery = `SELECT f.trajectory_id, f.task_id, f.model, f.passed, CAST(f.%[1]s AS REAL) AS score, f.quality_tier AS tier, NULL AS category, ` + shared + `
		FROM published f LEFT JOIN trajectories t USING (trajectory_id) ORDER BY f.trajectory_id`

const shared = `f.n_states, t.input_tokens + t.output_tokens AS tokens, t.%[2]s AS stages,
		f.regression_loop_count, f.regression_loop_waste, f.blind_retry_count, f.blind_retry_waste, f.redundant_step_count, f.redundant_step_waste,
		f.unnecessary_exploration_count, f.unnecessary_exploration_waste, f.cyclic_pattern_count, f.cyclic_pattern_waste`

const profileQuery = `SELECT f.trajectory_id, f.task_id, f.model, f.passed, CAST(s.%[1]s AS REAL) AS score, q.tier, q.category, ` + shared + `
		FROM features_%[3]s f JOIN %[4]s s USING (trajectory_id) JOIN trajectories t USING (trajectory_id)
		JOIN tiers q ON q.profile = '%[3]s' AND q.trajectory_id = f.trajectory_id ORDER BY f.trajectory_id`

// dataset reads the sources of one dataset.
type dataset struct {
	dir      string
	db       *store.DB
	manifest bench.Manifest
	have     []Source
}

// openDataset opens the dataset in dir. The caller closes its db.
func openDataset(ctx context.Context, dir string) (*dataset, error) {
	manifest, err := bench.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	d := &dataset{dir: dir, db: db, manifest: manifest}
	var published int64
	if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM published)").Scan(&published); err != nil {
		db.Close()
		return nil, err
	}
	for _, s := range Sources() {
		if s == Published && published == 1 || slices.Contains(db.Profiles, string(s)) {
			d.have = append(d.have, s)
		}
	}
	return d, nil
}

// cutsOf are the thresholds between tiers, ascending.
func cutsOf(c taxonomy.Cuts) []cut {
	return []cut{{"partial fail", c.PartialFail}, {"solid", c.Solid}, {"ideal", c.Ideal}}
}

// read loads the runs of a source.
func (d *dataset) read(ctx context.Context, s Source) (*data, error) {
	out := &data{source: s}
	var text string
	if s == Published {
		score := release.New().Score() // that the release published
		out.score, out.cuts = score, cutsOf(score.Cuts)
		text = fmt.Sprintf(publishedQuery, score.Column, release.New().Capabilities().Labels)
	} else {
		of, err := d.manifest.Parameters.Profile(string(s))
		if err != nil {
			return nil, err
		}
		score, can := of.Score(), of.Capabilities()
		out.score, out.cuts, out.spans = score, cutsOf(score.Cuts), can.WastedShare != ""
		if !can.Categories {
			out.categories = fmt.Errorf("the %s profile sorts no Lucky passes into categories", s)
		}
		text = fmt.Sprintf(profileQuery, score.Column, can.Labels, s, score.View(string(s)))
	}
	if err := store.Require(d.dir, text); err != nil {
		return nil, err
	}
	for r, err := range store.ReadSQL[row](ctx, d.db.DB, text) {
		if err != nil {
			return nil, err
		}
		out.runs = append(out.runs, r.run())
	}
	if s == Published {
		categories, err := d.publishedCategories(ctx)
		out.categories = err
		for i := range out.runs {
			out.runs[i].category = categories[out.runs[i].id]
		}
	}
	return out, nil
}

// publishedCategories works out the categories of the published Lucky passes.
func (d *dataset) publishedCategories(ctx context.Context) (map[string]string, error) {
	src, err := paper.Read(ctx, d.db)
	if err != nil {
		return nil, err
	}
	passes, err := paper.LuckyPasses(src)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(passes))
	for _, p := range passes {
		out[p.Run.TrajectoryID] = p.Category
	}
	return out, nil
}

func (r *row) run() run {
	out := run{
		id: r.TrajectoryID, task: r.TaskID, model: r.Model, passed: r.Passed, score: r.Score,
		tier: taxonomy.Tier(or(r.Tier)), category: or(r.Category), states: r.States, tokens: or(r.Tokens),
		stages: strings.ReplaceAll(or(r.Stages), "-", ""),
	}
	columns := [len(wasteKinds)][2]*int64{
		{r.RegressionLoopCount, r.RegressionLoopWaste}, {r.BlindRetryCount, r.BlindRetryWaste},
		{r.RedundantStepCount, r.RedundantStepWaste}, {r.UnnecessaryExplorationCount, r.UnnecessaryExplorationWaste},
		{r.CyclicPatternCount, r.CyclicPatternWaste},
	}
	for _, c := range columns {
		if c[0] == nil || c[1] == nil {
			out.waste = nil
			break
		}
		out.waste = append(out.waste, wasted{*c[0], *c[1]})
	}
	return out
}

// or returns what p points to, or the zero value.
func or[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// spans reads the wasted spans of a run, as a profile's detectors found them.
func (d *dataset) spans(ctx context.Context, s Source, id string) ([]schema.Waste, error) {
	var out []schema.Waste
	if s == Published {
		return nil, nil
	}
	const query = `SELECT trajectory_id, span, report, category, first_step, last_step, wasted_steps FROM waste
		WHERE profile = ? AND trajectory_id = ? AND report = 'detectors' ORDER BY span`
	if err := store.Require(d.dir, query); err != nil {
		return nil, err
	}
	for w, err := range store.ReadSQL[schema.Waste](ctx, d.db.DB, query, string(s), id) {
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// percent is 100*n/of, and 0 of none.
func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// mean is sum/n; ok is false of none.
func mean(sum float64, n int) (m float64, ok bool) {
	if n == 0 {
		return math.NaN(), false
	}
	return sum / float64(n), true
}
