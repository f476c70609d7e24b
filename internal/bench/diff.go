package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// A Side is one of the two things that Compare compares.
type Side struct {
	Dir     string
	Profile string // restricts the comparison to one profile; both sides have one, or none
	DB      string // the folder's SQLite file, where it is known; "" finds or loads it

	// Built are the profiles with their parameters, where the folder has no manifest yet; nil
	// reads it.
	Built []profile.Profile
}

// built are the profiles of the side by name.
func (s Side) built() (map[string]profile.Profile, error) {
	of := s.Built
	if of == nil {
		root, err := openDataset(s.Dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		m, err := readAnyManifest(root)
		if err != nil {
			return nil, err
		}
		if of, err = m.Parameters.With(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Dir, err)
		}
	}
	out := map[string]profile.Profile{}
	for _, p := range of {
		out[p.Name()] = p
	}
	return out, nil
}

func (s Side) open(ctx context.Context) (*store.DB, error) {
	if s.DB != "" {
		return store.OpenFile(s.DB)
	}
	return store.OpenAny(ctx, s.Dir)
}

func (s Side) String() string {
	if s.Profile == "" {
		return s.Dir
	}
	return s.Dir + " profile " + s.Profile
}

// Difference is what changed from side A to side B.
type Difference struct {
	A           string        `json:"a"`
	B           string        `json:"b"`
	Equal       bool          `json:"equal"`
	Tables      []TableChange `json:"tables"` // the changed ones
	Scores      []ScoreChange `json:"scores"`
	Tiers       []Transition  `json:"tiers"`      // of runs judged on both sides, changed or not
	Categories  []Transition  `json:"categories"` // of runs that are Lucky on either side
	Models      []ModelRank   `json:"models"`
	Class       string        `json:"class"` // what changed: values, columns, bytes, or nothing
	unequalSums bool          // the files differ, not counting manifest.json
}

// TableChange counts the changes of one table.
type TableChange struct {
	Table          string         `json:"table"` // profile/table for a table of one profile
	OnlyA          int64          `json:"only_a"`
	OnlyB          int64          `json:"only_b"`
	Changed        int64          `json:"changed"`
	Columns        []ColumnChange `json:"columns"`
	AddedColumns   []string       `json:"added_columns"`
	RemovedColumns []string       `json:"removed_columns"`

	added bool // A was published without the table, or built without the profile
}

// ColumnChange counts rows whose value differs in one column.
type ColumnChange struct {
	Column string `json:"column"`
	Rows   int64  `json:"rows"`
}

// ScoreChange describes one score over the runs that have it on both sides.
type ScoreChange struct {
	Score    string  `json:"score"` // profile and column, of both sides where they are not the same
	Runs     int64   `json:"runs"`
	Changed  int64   `json:"changed"`
	MeanDiff float64 `json:"mean_difference"` // B - A
	MeanAbs  float64 `json:"mean_absolute_difference"`
	MaxAbs   float64 `json:"max_absolute_difference"`
}

// Transition counts runs that went from one tier or category to another; "none" stands for
// no tier or category.
type Transition struct {
	Profile string `json:"profile"` // of side B
	From    string `json:"from"`
	To      string `json:"to"`
	Runs    int64  `json:"runs"`
}

// ModelRank compares a model's mean score over passing runs, 1 is the best rank.
type ModelRank struct {
	Profile string  `json:"profile"` // of side B
	Model   string  `json:"model"`
	MeanA   float64 `json:"mean_a"`
	RankA   int64   `json:"rank_a"`
	MeanB   float64 `json:"mean_b"`
	RankB   int64   `json:"rank_b"`
}

// Compare says what changed from a to b: two versions, or two profiles of one version.
func Compare(ctx context.Context, a, b Side) (d Difference, err error) {
	err = dataset.Read(a.Dir, func() error {
		return dataset.Read(b.Dir, func() (err error) {
			d, err = compare(ctx, a, b)
			return err
		})
	})
	return d, err
}

func compare(ctx context.Context, a, b Side) (Difference, error) {
	d := Difference{A: a.String(), B: b.String()}
	if (a.Profile == "") != (b.Profile == "") {
		return d, usage.Errorf("", "compare two versions, or two profiles")
	}
	dbA, err := a.open(ctx)
	if err != nil {
		return d, err
	}
	defer dbA.Close()
	dbB, err := b.open(ctx)
	if err != nil {
		return d, err
	}
	defer dbB.Close()
	c := &comparison{ctx: ctx, a: dbA, b: dbB, d: &d}
	if c.absentA, err = store.Absent(a.Dir); err != nil {
		return d, err
	}
	if c.absentB, err = store.Absent(b.Dir); err != nil {
		return d, err
	}
	if c.builtA, err = a.built(); err != nil {
		return d, err
	}
	if c.builtB, err = b.built(); err != nil {
		return d, err
	}
	if a.Profile == "" {
		err = c.versions(a.Dir, b.Dir)
	} else {
		err = c.profiles(a.Profile, b.Profile)
	}
	d.Equal = err == nil && len(d.Tables) == 0 && !d.unequalSums
	d.Class = d.class()
	return d, err
}

// class names the largest kind of change; it decides the next version. A table that one side
// was published without counts as its columns do, and so do those of a profile.
func (d *Difference) class() string {
	class := "nothing"
	if d.unequalSums {
		class = "bytes"
	}
	for _, t := range d.Tables {
		switch {
		case t.added:
			class = "columns"
		case t.OnlyA+t.OnlyB+t.Changed > 0 || len(t.RemovedColumns) > 0:
			return "values"
		case len(t.AddedColumns) > 0:
			class = "columns"
		}
	}
	return class
}

type comparison struct {
	ctx              context.Context
	a, b             *store.DB
	absentA, absentB map[string]bool // tables and columns that a side was published without
	builtA, builtB   map[string]profile.Profile
	d                *Difference
}

func (c *comparison) versions(dirA, dirB string) error {
	sumsA, err := tableSums(dirA)
	if err != nil {
		return err
	}
	sumsB, err := tableSums(dirB)
	if err != nil {
		return err
	}
	c.d.unequalSums = !maps.Equal(sumsA, sumsB)
	tables, err := c.tables()
	if err != nil {
		return err
	}
	profiles := union(c.a.Profiles, c.b.Profiles)
	for _, t := range tables {
		if !t.perProfile {
			if err := c.table(t, "", "", t.name); err != nil {
				return err
			}
			continue
		}
		for _, p := range profiles {
			if err := c.table(t, p, p, p+"/"+t.name); err != nil {
				return err
			}
		}
	}
	for _, p := range profiles {
		if !slices.Contains(c.a.Profiles, p) || !slices.Contains(c.b.Profiles, p) {
			continue
		}
		if err := c.meaning(p, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) profiles(a, b string) error {
	for _, side := range []struct {
		db      *store.DB
		profile string
	}{{c.a, a}, {c.b, b}} {
		if !slices.Contains(side.db.Profiles, side.profile) {
			return usage.Errorf("", "no profile %q, only %s", side.profile, strings.Join(side.db.Profiles, ", "))
		}
	}
	tables, err := c.tables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.name == "features" || t.name == "tiers" {
			if err := c.table(t, a, b, t.name); err != nil {
				return err
			}
		}
	}
	return c.meaning(a, b)
}

// A diffTable is a table of either side. Columns are those of both sides, the key first.
type diffTable struct {
	name           string
	perProfile     bool
	inA, inB       bool
	key, values    []string
	added, removed []string
}

func (c *comparison) tables() ([]diffTable, error) {
	namesA, err := c.a.Texts(c.ctx, listTables)
	if err != nil {
		return nil, err
	}
	namesB, err := c.b.Texts(c.ctx, listTables)
	if err != nil {
		return nil, err
	}
	namesA = slices.DeleteFunc(namesA, func(name string) bool { return c.absentA[name] })
	namesB = slices.DeleteFunc(namesB, func(name string) bool { return c.absentB[name] })
	var out []diffTable
	for _, name := range union(namesA, namesB) {
		t := diffTable{name: name, inA: slices.Contains(namesA, name), inB: slices.Contains(namesB, name)}
		key, colsA, err := columnsOf(c.ctx, c.a, name)
		if err != nil {
			return nil, err
		}
		keyB, colsB, err := columnsOf(c.ctx, c.b, name)
		if err != nil {
			return nil, err
		}
		colsA = slices.DeleteFunc(colsA, func(col string) bool { return c.absentA[name+"."+col] })
		colsB = slices.DeleteFunc(colsB, func(col string) bool { return c.absentB[name+"."+col] })
		if !t.inA {
			key, colsA = keyB, colsB
		}
		if !t.inB {
			colsB = colsA
		}
		for _, col := range colsA {
			switch {
			case col == "profile":
				t.perProfile = true
			case slices.Contains(key, col):
				t.key = append(t.key, col)
			case slices.Contains(colsB, col):
				t.values = append(t.values, col)
			default:
				t.removed = append(t.removed, col)
			}
		}
		for _, col := range colsB {
			if !slices.Contains(colsA, col) {
				t.added = append(t.added, col)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

const listTables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"

func columnsOf(ctx context.Context, db *store.DB, table string) (key, all []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", table)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var pk int
		if err := rows.Scan(&name, &pk); err != nil {
			return nil, nil, err
		}
		all = append(all, name)
		if pk > 0 {
			key = append(key, name)
		}
	}
	return key, all, rows.Err()
}

// table merges the rows of both sides by key.
func (c *comparison) table(t diffTable, profileA, profileB, label string) error {
	change := TableChange{Table: label, AddedColumns: t.added, RemovedColumns: t.removed, added: !t.inA || t.perProfile && !slices.Contains(c.a.Profiles, profileA)}
	a, err := openSide(c.ctx, c.a, t, t.inA, profileA)
	if err != nil {
		return err
	}
	defer a.close()
	b, err := openSide(c.ctx, c.b, t, t.inB, profileB)
	if err != nil {
		return err
	}
	defer b.close()
	changed := make([]int64, len(t.values))
	for a.ok || b.ok {
		switch order := compareKeys(a, b, len(t.key)); {
		case order < 0:
			change.OnlyA++
			a.next()
		case order > 0:
			change.OnlyB++
			b.next()
		default:
			differs := false
			for i := range t.values {
				if a.row[len(t.key)+i] != b.row[len(t.key)+i] {
					changed[i]++
					differs = true
				}
			}
			if differs {
				change.Changed++
			}
			a.next()
			b.next()
		}
	}
	if err := cmp.Or(a.err, b.err); err != nil {
		return err
	}
	for i, n := range changed {
		if n > 0 {
			change.Columns = append(change.Columns, ColumnChange{t.values[i], n})
		}
	}
	if change.OnlyA+change.OnlyB+change.Changed > 0 || len(t.added)+len(t.removed) > 0 {
		c.d.Tables = append(c.d.Tables, change)
	}
	return nil
}

// A side of a merge: a cursor over rows in key order.
type cursor struct {
	rows interface {
		Next() bool
		Scan(...any) error
		Err() error
		Close() error
	}
	row []any
	ok  bool
	err error
}

func openSide(ctx context.Context, db *store.DB, t diffTable, present bool, profile string) (*cursor, error) {
	s := &cursor{}
	if !present {
		return s, nil
	}
	var columns []string
	for _, col := range append(slices.Clone(t.key), t.values...) {
		columns = append(columns, `"`+col+`"`)
	}
	query := fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), t.name)
	var args []any
	if t.perProfile {
		query += " WHERE profile = ?"
		args = append(args, profile)
	}
	query += " ORDER BY " + strings.Join(columns[:len(t.key)], ", ")
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	s.rows, s.row = rows, make([]any, len(columns))
	s.next()
	return s, nil
}

func (s *cursor) next() {
	if s.ok = s.rows.Next(); !s.ok {
		s.err = s.rows.Err()
		return
	}
	into := make([]any, len(s.row))
	for i := range s.row {
		into[i] = &s.row[i]
	}
	if s.err = s.rows.Scan(into...); s.err != nil {
		s.ok = false
	}
}

func (s *cursor) close() {
	if s.rows != nil {
		s.rows.Close()
	}
}

// compareKeys orders the cursors' rows as SQLite does: keys are texts or integers. A side
// that has ended comes last.
func compareKeys(a, b *cursor, n int) int {
	switch {
	case !a.ok:
		return 1
	case !b.ok:
		return -1
	}
	for i := range n {
		var order int
		switch x := a.row[i].(type) {
		case int64:
			order = cmp.Compare(x, b.row[i].(int64))
		case string:
			order = cmp.Compare(x, b.row[i].(string))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// judged is what meaning compares of a run.
type judged struct {
	model          string
	passed         bool
	score          *float64
	tier, category string
}

// meaning compares scores, tiers, categories and model ranks.
func (c *comparison) meaning(profileA, profileB string) error {
	of, to := c.builtA[profileA], c.builtB[profileB]
	if of == nil || to == nil {
		return fmt.Errorf("%w: the manifest does not name the profile %s", store.ErrDamaged, cmp.Or(profileA, profileB))
	}
	runsA, err := judgements(c.ctx, c.a, of)
	if err != nil {
		return err
	}
	runsB, err := judgements(c.ctx, c.b, to)
	if err != nil {
		return err
	}
	score := ScoreChange{Score: profileB + " " + to.Score().Column}
	if from := profileA + " " + of.Score().Column; from != score.Score {
		score.Score = from + " to " + score.Score
	}
	tiers, categories := map[[2]string]int64{}, map[[2]string]int64{}
	for id, a := range runsA {
		b, ok := runsB[id]
		if !ok {
			continue
		}
		if a.score != nil && b.score != nil {
			score.Runs++
			diff := *b.score - *a.score
			score.MeanDiff += diff
			score.MeanAbs += math.Abs(diff)
			score.MaxAbs = max(score.MaxAbs, math.Abs(diff))
			if diff != 0 {
				score.Changed++
			}
		}
		tiers[[2]string{a.tier, b.tier}]++
		if a.category != "none" || b.category != "none" {
			categories[[2]string{a.category, b.category}]++
		}
	}
	if score.Runs > 0 {
		score.MeanDiff /= float64(score.Runs)
		score.MeanAbs /= float64(score.Runs)
		c.d.Scores = append(c.d.Scores, score)
	}
	c.d.Tiers = append(c.d.Tiers, transitions(profileB, tiers)...)
	c.d.Categories = append(c.d.Categories, transitions(profileB, categories)...)
	c.d.Models = append(c.d.Models, ranks(profileB, runsA, runsB)...)
	return nil
}

func judgements(ctx context.Context, db *store.DB, of profile.Profile) (map[string]judged, error) {
	score := of.Score()
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`
		SELECT r.trajectory_id, r.model, r.outcome = 'pass', s.%s, coalesce(t.tier, 'none'), coalesce(t.category, 'none')
		FROM trajectories r
		LEFT JOIN %s s ON s.trajectory_id = r.trajectory_id
		LEFT JOIN tiers t ON t.profile = ?1 AND t.trajectory_id = r.trajectory_id
		ORDER BY r.trajectory_id`, score.Column, score.View(of.Name())), of.Name())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]judged{}
	for rows.Next() {
		var id string
		var j judged
		if err := rows.Scan(&id, &j.model, &j.passed, &j.score, &j.tier, &j.category); err != nil {
			return nil, err
		}
		out[id] = j
	}
	return out, rows.Err()
}

func transitions(profile string, counts map[[2]string]int64) []Transition {
	out := make([]Transition, 0, len(counts))
	for k, n := range counts {
		out = append(out, Transition{profile, k[0], k[1], n})
	}
	slices.SortFunc(out, func(x, y Transition) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	return out
}

func ranks(profile string, a, b map[string]judged) []ModelRank {
	meansA, meansB := modelMeans(a), modelMeans(b)
	var out []ModelRank
	for model, meanA := range meansA {
		meanB, ok := meansB[model]
		if !ok {
			continue
		}
		out = append(out, ModelRank{Profile: profile, Model: model, MeanA: meanA, RankA: rankOf(meanA, meansA), MeanB: meanB, RankB: rankOf(meanB, meansB)})
	}
	slices.SortFunc(out, func(x, y ModelRank) int {
		return cmp.Or(cmp.Compare(x.RankB, y.RankB), cmp.Compare(x.Model, y.Model))
	})
	return out
}

// modelMeans are mean scores over passing runs, added up in the order of run ids.
func modelMeans(runs map[string]judged) map[string]float64 {
	ids := make([]string, 0, len(runs))
	for id := range runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	sum, n := map[string]float64{}, map[string]float64{}
	for _, id := range ids {
		if r := runs[id]; r.passed && r.score != nil {
			sum[r.model] += *r.score
			n[r.model]++
		}
	}
	for model := range sum {
		sum[model] /= n[model]
	}
	return sum
}

func rankOf(mean float64, of map[string]float64) int64 {
	rank := int64(1)
	for _, other := range of {
		if other > mean {
			rank++
		}
	}
	return rank
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}
