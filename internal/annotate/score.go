package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// ErrNoSet is returned for a folder that is no annotation set.
var ErrNoSet = errors.New("no annotation set")

// Rules of consensus.
const (
	Majority  = "majority"  // the label with most ratings; a tie has none
	Unanimous = "unanimous" // the label that all ratings agree on
)

// ScoreOptions say how to measure agreement.
type ScoreOptions struct {
	Panel      []string // kinds of raters that rate; rules outside the panel are measured against it
	Consensus  string   // Majority or Unanimous
	Resampling stats.Resampling
}

// Score is the reliability of a set's labels.
type Score struct {
	DatasetSHA256 string      `json:"dataset_sha256"`
	Items         int         `json:"items"`
	Raters        []RaterRow  `json:"raters"`
	Panel         []string    `json:"panel"` // raters, by name
	Agreement     Agreement   `json:"agreement"`
	Terminal      Agreement   `json:"terminal_exploration_or_verification"` // terminal steps that the panel calls nothing but E or V
	Pairs         []RaterPair `json:"pairs"`
	Consensus     Consensus   `json:"consensus"`
	Labelers      []Labeler   `json:"labelers"`
}

// Agreement is how far the panel agrees on a set of items.
type Agreement struct {
	Items       int              `json:"items"`
	Complete    int              `json:"complete"` // items that every rater rated: the ones of every figure but alpha
	Kappa       stats.Figure     `json:"fleiss_kappa"`
	SE          stats.Figure     `json:"fleiss_se"`
	Interval    *stats.Interval  `json:"fleiss_interval"`
	Raw         stats.Figure     `json:"raw_agreement"` // pairs of raters that agree
	Unanimous   stats.Figure     `json:"unanimous"`     // items on which all agree
	NUnanimous  int              `json:"n_unanimous"`
	Alpha       stats.Figure     `json:"krippendorff_alpha"` // over all items with two ratings
	Stages      []StageAgreement `json:"stages"`
	Undefined   string           `json:"undefined,omitzero"` // why there is no kappa
	Undecidable int              `json:"resamples_left_out"` // resamples of the stages' intervals without a kappa
}

// StageAgreement is the agreement on one stage against all others.
type StageAgreement struct {
	Stage    string          `json:"stage"`
	Share    float64         `json:"share"` // of all ratings
	Kappa    stats.Figure    `json:"kappa"`
	Interval *stats.Interval `json:"interval"` // of drawing items with replacement
	NullP    *float64        `json:"null_p"`   // of kappa = 0
	Reason   string          `json:"undefined,omitzero"`
}

// RaterPair is the agreement of two raters of the panel.
type RaterPair struct {
	A     string       `json:"a"`
	B     string       `json:"b"`
	Items int          `json:"items"` // rated by both
	Kappa stats.Figure `json:"cohen_kappa"`
	Raw   stats.Figure `json:"raw_agreement"`
}

// Consensus counts the items that have a label of the panel.
type Consensus struct {
	Rule   string         `json:"rule"`
	Items  int            `json:"items"`
	Ties   int            `json:"ties"`    // without a consensus as labels tie, or not unanimous
	TooFew int            `json:"too_few"` // without a consensus as fewer than two raters rated
	Stages map[string]int `json:"stages"`
}

// Labeler compares a rule with the consensus.
type Labeler struct {
	Rater     string          `json:"rater"`
	Items     int             `json:"items"` // with a consensus and a label
	Unlabeled int             `json:"unlabelled"`
	Confusion [4][4]int       `json:"confusion"` // consensus by label, in the order of the stages
	Correct   int             `json:"correct"`
	Accuracy  stats.Figure    `json:"accuracy"`
	Interval  *stats.Interval `json:"accuracy_interval"` // Wilson
	Kappa     stats.Figure    `json:"cohen_kappa"`
	MacroF1   stats.Figure    `json:"macro_f1"` // mean over the stages that occur or are given
	Stages    []StageFit      `json:"stages"`
}

// StageFit is precision, recall and F1 of one stage.
type StageFit struct {
	Stage     string       `json:"stage"`
	Precision stats.Figure `json:"precision"`
	Recall    stats.Figure `json:"recall"`
	F1        stats.Figure `json:"f1"`
	Support   int          `json:"support"` // items whose consensus it is
}

// nStages is the number of stages; in this file a stage is its place among them.
const nStages = 4

func stageNames() []string {
	names := make([]string, nStages)
	for i, s := range trajectory.Stages() {
		names[i] = s.String()
	}
	return names
}

// loaded is an annotation set in memory.
type loaded struct {
	manifest Manifest
	items    []ItemRow
	stage    map[string]map[key]int // by rater
}

// Measure reads an annotation set and measures agreement. The set's files are checked first.
func Measure(ctx context.Context, dir string, opt ScoreOptions) (Score, error) {
	if opt.Consensus != Majority && opt.Consensus != Unanimous {
		return Score{}, usage.Errorf("", "consensus %q: want %s or %s", opt.Consensus, Majority, Unanimous)
	}
	for _, kind := range opt.Panel {
		if kind != Human && kind != LLM && kind != Rule {
			return Score{}, usage.Errorf("", "panel of %q: want some of %s, %s, %s", kind, Human, LLM, Rule)
		}
	}
	set, err := load(ctx, dir)
	if err != nil {
		return Score{}, err
	}
	s := Score{
		DatasetSHA256: set.manifest.DatasetSHA256, Items: len(set.items), Raters: set.manifest.Raters,
		Panel: []string{}, Pairs: []RaterPair{}, Labelers: []Labeler{},
	}
	var rules []string
	for _, r := range set.manifest.Raters {
		if slices.Contains(opt.Panel, r.Kind) {
			s.Panel = append(s.Panel, r.Rater)
		} else if r.Kind == Rule {
			rules = append(rules, r.Rater)
		}
	}
	if len(s.Panel) == 0 {
		return Score{}, usage.Errorf("", "the set has no rater of the kinds %s", strings.Join(opt.Panel, ", "))
	}
	var all, terminal [][]int
	for _, it := range set.items {
		row := set.ratings(it, s.Panel)
		all = append(all, row)
		if it.Tool != nil && trajectory.LookupTool(*it.Tool).Operation == "terminal" && onlyEV(row) {
			terminal = append(terminal, row)
		}
	}
	if s.Agreement, err = agree(all, opt.Resampling); err != nil {
		return Score{}, err
	}
	if s.Terminal, err = agree(terminal, opt.Resampling); err != nil {
		return Score{}, err
	}
	for i, a := range s.Panel {
		for _, b := range s.Panel[i+1:] {
			pair, err := set.pair(a, b)
			if err != nil {
				return Score{}, err
			}
			s.Pairs = append(s.Pairs, pair)
		}
	}
	var consensus []int
	s.Consensus, consensus = agreed(all, opt.Consensus)
	for _, rule := range rules {
		l, err := set.labeler(rule, consensus, opt.Resampling.Level)
		if err != nil {
			return Score{}, err
		}
		s.Labelers = append(s.Labelers, l)
	}
	return s, nil
}

func load(ctx context.Context, dir string) (*loaded, error) {
	path := filepath.Join(dir, DBName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w at %s: it has no %s; make one with `agentlens annotate import`", ErrNoSet, dir, DBName)
	} else if err != nil {
		return nil, err
	}
	problems, err := bench.CheckFiles(dir)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s is not as it was written: %s", dir, problems[0])
	}
	set := &loaded{stage: map[string]map[key]int{}}
	manifest, err := os.ReadFile(filepath.Join(dir, bench.ManifestName))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(manifest, &set.manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", bench.ManifestName, err)
	}
	if set.manifest.Version != Version {
		return nil, fmt.Errorf("%w: %s has version %d of the tables, this program reads version %d", ErrNoSet, dir, set.manifest.Version, Version)
	}
	db, err := openDB(path, "mode=ro&immutable=1")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for it, err := range store.ReadSQL[ItemRow](ctx, db, "SELECT * FROM items ORDER BY trajectory_id, step") {
		if err != nil {
			return nil, err
		}
		set.items = append(set.items, it)
	}
	names := stageNames()
	for r, err := range store.ReadSQL[RatingRow](ctx, db, "SELECT * FROM ratings") {
		if err != nil {
			return nil, err
		}
		if set.stage[r.Rater] == nil {
			set.stage[r.Rater] = map[key]int{}
		}
		set.stage[r.Rater][key{r.TrajectoryID, r.Step}] = slices.Index(names, r.Stage)
	}
	return set, nil
}

// ratings returns the stage that each rater gives an item, -1 for none.
func (set *loaded) ratings(it ItemRow, raters []string) []int {
	row := make([]int, len(raters))
	for i, r := range raters {
		row[i] = set.of(r, it)
	}
	return row
}

func (set *loaded) of(rater string, it ItemRow) int {
	if stage, ok := set.stage[rater][key{it.TrajectoryID, it.Step}]; ok {
		return stage
	}
	return -1
}

// onlyEV reports whether an item was rated, and as nothing but exploration and verification.
func onlyEV(row []int) bool {
	n := 0
	for _, s := range row {
		switch s {
		case -1:
		case 0, 2:
			n++
		default:
			return false
		}
	}
	return n > 0
}

func countsOf(row []int) []int {
	c := make([]int, nStages)
	for _, s := range row {
		if s >= 0 {
			c[s]++
		}
	}
	return c
}

// agree measures the agreement on items; rows are their ratings by rater.
func agree(rows [][]int, r stats.Resampling) (Agreement, error) {
	a := Agreement{Items: len(rows), Stages: []StageAgreement{}}
	var all, complete [][]int
	for _, row := range rows {
		c := countsOf(row)
		all = append(all, c)
		if !slices.Contains(row, -1) {
			complete = append(complete, c)
			if slices.Contains(c, len(row)) {
				a.NUnanimous++
			}
		}
	}
	a.Complete = len(complete)
	var err error
	if a.Alpha, err = figure(stats.Krippendorff(all)); err != nil {
		return a, err
	}
	table, err := stats.NewAgreement(complete)
	if errors.Is(err, stats.ErrUndefined) {
		return a.none(err), nil
	}
	if err != nil {
		return a, err
	}
	a.Raw.Value, a.Unanimous.Value = table.Raw(), table.Unanimous()
	if a.Kappa, err = figure(table.FleissKappa()); err != nil {
		return a, err
	}
	if a.SE, err = figure(table.FleissSE()); err != nil {
		return a, err
	}
	if a.Interval, err = interval(table.FleissInterval(r.Level)); err != nil {
		return a, err
	}
	if a.Kappa.Err != nil {
		a.Undefined = a.Kappa.Err.Error()
	}
	for i, c := range table.FleissCategories() {
		s := StageAgreement{Stage: stageNames()[i], Share: c.Share, Kappa: c.Kappa}
		if c.Null != nil {
			s.NullP = &c.Null.P
		}
		if c.Kappa.Err != nil {
			s.Reason = c.Kappa.Err.Error()
		} else if r.Resamples > 0 {
			b, err := stats.Bootstrap(len(complete), stageKappa(complete, i), r)
			if err == nil {
				s.Interval = &b.Interval
				a.Undecidable += b.Undefined
			} else if !errors.Is(err, stats.ErrUndefined) {
				return a, err
			}
		}
		a.Stages = append(a.Stages, s)
	}
	return a, nil
}

// none is the agreement whose figures are undefined for one reason.
func (a Agreement) none(err error) Agreement {
	fig := stats.Figure{Err: err}
	a.Kappa, a.SE, a.Raw, a.Unanimous, a.Undefined = fig, fig, fig, fig, err.Error()
	return a
}

// stageKappa is the kappa of a stage over drawn items.
func stageKappa(items [][]int, stage int) func(rows []int) (float64, error) {
	return func(rows []int) (float64, error) {
		drawn := make([][]int, len(rows))
		for i, r := range rows {
			drawn[i] = items[r]
		}
		table, err := stats.NewAgreement(drawn)
		if err != nil {
			return 0, err
		}
		k := table.FleissCategories()[stage].Kappa
		return k.Value, k.Err
	}
}

// pair compares two raters over the items both rated.
func (set *loaded) pair(a, b string) (RaterPair, error) {
	p := RaterPair{A: a, B: b}
	table := make([][]int, nStages)
	for i := range table {
		table[i] = make([]int, nStages)
	}
	for _, it := range set.items {
		if x, y := set.of(a, it), set.of(b, it); x >= 0 && y >= 0 {
			table[x][y]++
			p.Items++
		}
	}
	return p, cohen(table, p.Items, &p.Kappa, &p.Raw)
}

// cohen fills in Cohen's kappa and the share of equal labels of a table of n items.
func cohen(table [][]int, n int, kappa, raw *stats.Figure) error {
	if n == 0 {
		*kappa = stats.Figure{Err: fmt.Errorf("%w: no item has both labels", stats.ErrUndefined)}
		*raw = *kappa
		return nil
	}
	same := 0
	for i := range table {
		same += table[i][i]
	}
	raw.Value = float64(same) / float64(n)
	c, err := stats.CohenKappa(table, stats.Unweighted)
	*kappa, err = figure(c.Kappa, err)
	return err
}

// agreed returns the consensus stage of each item, -1 for none.
func agreed(rows [][]int, rule string) (Consensus, []int) {
	c := Consensus{Rule: rule, Stages: map[string]int{}}
	names := stageNames()
	for _, n := range names {
		c.Stages[n] = 0
	}
	of := make([]int, len(rows))
	for i, row := range rows {
		of[i] = -1
		counts := countsOf(row)
		total := counts[0] + counts[1] + counts[2] + counts[3]
		if total < 2 {
			c.TooFew++
			continue
		}
		most := slices.Max(counts)
		best := slices.Index(counts, most)
		tie := slices.Contains(counts[best+1:], most)
		if tie || rule == Unanimous && most < total {
			c.Ties++
			continue
		}
		of[i] = best
		c.Items++
		c.Stages[names[best]]++
	}
	return c, of
}

// labeler compares a rule's labels with the consensus of each item.
func (set *loaded) labeler(rule string, consensus []int, level float64) (Labeler, error) {
	l := Labeler{Rater: rule}
	for i, it := range set.items {
		if consensus[i] < 0 {
			continue
		}
		stage := set.of(rule, it)
		if stage < 0 {
			l.Unlabeled++
			continue
		}
		l.Items++
		l.Confusion[consensus[i]][stage]++
		if consensus[i] == stage {
			l.Correct++
		}
	}
	table := make([][]int, nStages)
	for i := range table {
		table[i] = l.Confusion[i][:]
	}
	if err := cohen(table, l.Items, &l.Kappa, &l.Accuracy); err != nil {
		return l, err
	}
	var err error
	if l.Interval, err = interval(stats.Wilson(l.Correct, l.Items, level)); err != nil {
		return l, err
	}
	sum, occurring := 0.0, 0
	for i, name := range stageNames() {
		c := stats.Confusion{TP: l.Confusion[i][i]}
		for j := range nStages {
			if j != i {
				c.FN += l.Confusion[i][j]
				c.FP += l.Confusion[j][i]
			}
		}
		c.TN = l.Items - c.TP - c.FN - c.FP
		fit := StageFit{Stage: name, Support: c.TP + c.FN}
		for _, m := range []struct {
			to *stats.Figure
			of func() (float64, error)
		}{{&fit.Precision, c.Precision}, {&fit.Recall, c.Recall}, {&fit.F1, c.F1}} {
			if *m.to, err = figure(m.of()); err != nil {
				return l, err
			}
		}
		if fit.F1.Defined() {
			sum += fit.F1.Value
			occurring++
		}
		l.Stages = append(l.Stages, fit)
	}
	if occurring == 0 {
		l.MacroF1.Err = fmt.Errorf("%w: no item has both labels", stats.ErrUndefined)
	} else {
		l.MacroF1.Value = sum / float64(occurring)
	}
	return l, nil
}

// figure keeps a value or the reason why it is undefined; other errors are returned.
func figure(v float64, err error) (stats.Figure, error) {
	if err != nil && !errors.Is(err, stats.ErrUndefined) {
		return stats.Figure{}, err
	}
	return stats.Figure{Value: v, Err: err}, nil
}

// interval keeps an interval, nil when it is undefined; other errors are returned.
func interval(iv stats.Interval, err error) (*stats.Interval, error) {
	if errors.Is(err, stats.ErrUndefined) {
		return nil, nil
	}
	return &iv, err
}
