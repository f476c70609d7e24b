package annotate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

const (
	// DBName is the SQLite file of an annotation set.
	DBName = "annotations.db"

	// ApplicationID marks it (PRAGMA application_id): "AGLA" in ASCII.
	ApplicationID = 0x41474c41

	// Version is the version of its tables (PRAGMA user_version).
	Version = 1
)

// Kinds of raters.
const (
	Human = "human"
	LLM   = "llm"
	Rule  = "rule"
)

// Labelers are the rules whose labels of the states become ratings, by the column of states.
func Labelers() []string { return []string{"release", "clean", "source"} }

// ItemRow is a rated state (table items).
type ItemRow struct {
	TrajectoryID string  `parquet:"trajectory_id"` // run; states.trajectory_id of the dataset
	Step         int64   `parquet:"step"`          // states.step of the dataset
	Item         string  `parquet:"item"`          // opaque id that raters saw
	TaskID       string  `parquet:"task_id"`
	Tool         *string `parquet:"tool,optional"`
}

// RaterRow is a rater (table raters).
type RaterRow struct {
	Rater  string  `parquet:"rater" json:"rater"`
	Kind   string  `parquet:"kind" json:"kind"`              // human, llm or rule
	File   *string `parquet:"file,optional" json:"file"`     // name of the rater's file; null for a rule
	SHA256 *string `parquet:"sha256,optional" json:"sha256"` // of that file, hex
	Labels int64   `parquet:"labels" json:"labels"`          // states rated
}

// RatingRow is a rating (table ratings).
type RatingRow struct {
	TrajectoryID string  `parquet:"trajectory_id"`
	Step         int64   `parquet:"step"`
	Rater        string  `parquet:"rater"`
	Kind         string  `parquet:"kind"`  // of the rater
	Stage        string  `parquet:"stage"` // exploration, implementation, verification or orchestration
	Comment      *string `parquet:"comment,optional"`
}

const ddl = `
CREATE TABLE items ( -- A rated state.
  trajectory_id TEXT NOT NULL, -- Run; states.trajectory_id of the dataset.
  step INTEGER NOT NULL, -- Step; states.step of the dataset.
  item TEXT NOT NULL UNIQUE, -- Opaque id that raters saw.
  task_id TEXT NOT NULL, -- Task of the run.
  tool TEXT, -- Canonical tool of the step.
  PRIMARY KEY (trajectory_id, step)
) STRICT, WITHOUT ROWID;
CREATE TABLE raters ( -- Who rated.
  rater TEXT NOT NULL PRIMARY KEY, -- Name: that of the file without its ending, or of the labeler.
  kind TEXT NOT NULL CHECK (kind IN ('human', 'llm', 'rule')), -- What the rater is.
  file TEXT, -- Name of the rater's file; null for a rule.
  sha256 TEXT, -- SHA-256 of that file, hex.
  labels INTEGER NOT NULL -- States rated.
) STRICT, WITHOUT ROWID;
CREATE TABLE ratings ( -- What a rater says of a state.
  trajectory_id TEXT NOT NULL, -- Run.
  step INTEGER NOT NULL, -- Step.
  rater TEXT NOT NULL REFERENCES raters (rater), -- Rater.
  kind TEXT NOT NULL CHECK (kind IN ('human', 'llm', 'rule')), -- What the rater is.
  stage TEXT NOT NULL CHECK (stage IN ('exploration', 'implementation', 'verification', 'orchestration')), -- The label.
  comment TEXT, -- The rater's comment.
  PRIMARY KEY (trajectory_id, step, rater),
  FOREIGN KEY (trajectory_id, step) REFERENCES items (trajectory_id, step)
) STRICT, WITHOUT ROWID;
`

// ImportOptions say what to import.
type ImportOptions struct {
	Dataset string            // folder of the dataset
	Files   []string          // raters' files
	Sample  string            // file of the states every rater was given; "" for all that any rated
	Kinds   map[string]string // kind of a rater by name; Human when not named
	Out     string            // folder to make
	Partial bool              // import what is right and report the rest
}

// Manifest says what an annotation set follows from.
type Manifest struct {
	Tool          string     `json:"tool"`
	ToolVersion   string     `json:"tool_version"`
	Version       int        `json:"annotations_version"`
	DatasetSHA256 string     `json:"dataset_sha256"` // of the dataset's SHA256SUMS
	SampleSHA256  string     `json:"sample_sha256,omitzero"`
	Items         int        `json:"items"`
	Ratings       int        `json:"ratings"`
	Raters        []RaterRow `json:"raters"`
	LeftOut       int        `json:"rows_left_out"` // problems of the raters' files
}

// Imported is what an import did.
type Imported struct {
	Out      string    `json:"out"` // "" when nothing was written
	Manifest Manifest  `json:"manifest"`
	Problems []Problem `json:"problems"` // by file and line
}

// ErrProblems is returned when raters' files have problems and nothing was imported.
var ErrProblems = errors.New("raters' files have problems, nothing was imported")

// Import reads raters' files, checks every row, and writes an annotation set. With problems
// it returns them, and ErrProblems unless opt.Partial allows them.
func Import(ctx context.Context, opt ImportOptions) (done Imported, err error) {
	done.Problems = []Problem{}
	names, err := opt.raterNames()
	if err != nil {
		return done, err
	}
	if err := absent(opt.Out); err != nil {
		return done, err
	}
	out, err := output.Begin(opt.Out, nil)
	if err != nil {
		return done, err
	}
	defer func() { err = out.End(err) }()
	var sample *sheet
	if opt.Sample != "" {
		s, problems, err := readSheet(ctx, opt.Sample, false)
		if err != nil {
			return done, err
		}
		if len(problems) > 0 {
			return done, fmt.Errorf("the sample: %s", problems[0])
		}
		sample = &s
		done.Manifest.SampleSHA256 = s.sha256
	}
	sheets := make([]sheet, len(opt.Files))
	wanted := map[string]bool{}
	for i, path := range opt.Files {
		var problems []Problem
		if sheets[i], problems, err = readSheet(ctx, path, true); err != nil {
			return done, err
		}
		done.Problems = append(done.Problems, problems...)
		for _, r := range sheets[i].rows {
			wanted[r.item] = true
		}
	}
	var expected []string
	if sample != nil {
		line := map[string]int{}
		for _, r := range sample.rows {
			if before, again := line[r.item]; again {
				return done, fmt.Errorf("the sample %s: lines %d and %d both name item %s", opt.Sample, before, r.line, r.item)
			}
			line[r.item], wanted[r.item] = r.line, true
			expected = append(expected, r.item)
		}
	}
	states, err := resolve(ctx, opt.Dataset, wanted)
	if err != nil {
		return done, err
	}
	known := map[string]key{}
	for id, s := range states {
		known[id] = s.key
	}
	if sample == nil {
		expected = ratedByAny(sheets, known)
	}
	for _, id := range expected {
		if _, ok := known[id]; !ok {
			return done, fmt.Errorf("the sample: item %s is no labelled state of %s; was it drawn from another dataset?", id, opt.Dataset)
		}
	}
	set := newSet(states, expected)
	for i := range sheets {
		if sheets[i].rows == nil {
			continue // a bad file
		}
		ratings, problems := sheets[i].check(known, expected)
		done.Problems = append(done.Problems, problems...)
		set.add(names[i], opt.kind(names[i]), &sheets[i], ratings)
	}
	slices.SortStableFunc(done.Problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	if len(done.Problems) > 0 && !opt.Partial {
		return done, ErrProblems
	}
	if len(set.raters) == 0 {
		return done, fmt.Errorf("%w: no rating is left", ErrProblems)
	}
	set.addLabelers()
	set.sort()
	if done.Manifest.DatasetSHA256, err = bench.ChecksumsDigest(opt.Dataset); err != nil {
		return done, err
	}
	done.Manifest.Tool, done.Manifest.ToolVersion, done.Manifest.Version = "agentlens", bench.ToolVersion, Version
	done.Manifest.Items, done.Manifest.Ratings, done.Manifest.Raters = len(set.items), len(set.ratings), set.raters
	done.Manifest.LeftOut = len(done.Problems)
	if err := set.write(ctx, out, done.Manifest); err != nil {
		return done, err
	}
	done.Out = opt.Out
	return done, nil
}

// raterNames are the names of the raters' files without their endings.
func (opt ImportOptions) raterNames() ([]string, error) {
	if len(opt.Files) == 0 {
		return nil, usage.Errorf("", "no rater's file")
	}
	names := make([]string, len(opt.Files))
	for i, path := range opt.Files {
		base := filepath.Base(path)
		names[i] = strings.TrimSuffix(base, filepath.Ext(base))
		if j := slices.Index(names[:i], names[i]); j >= 0 {
			return nil, usage.Errorf("", "%s and %s both name the rater %s; rename one", opt.Files[j], path, names[i])
		}
		if slices.Contains(Labelers(), names[i]) {
			return nil, usage.Errorf("", "%s: the name %s stands for a labeler; rename the file", path, names[i])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opt.Kinds)) {
		if !slices.Contains(names, name) {
			return nil, usage.Errorf("", "a kind is given for the rater %s, the files name %s", name, strings.Join(names, ", "))
		}
		if k := opt.Kinds[name]; k != Human && k != LLM && k != Rule {
			return nil, usage.Errorf("", "kind %q of the rater %s: want %s, %s or %s", k, name, Human, LLM, Rule)
		}
	}
	return names, nil
}

func (opt ImportOptions) kind(rater string) string {
	if k, ok := opt.Kinds[rater]; ok {
		return k
	}
	return Human
}

// absent checks that a folder may be made.
func absent(out string) error {
	if out == "" {
		return usage.Errorf("", "no folder for the annotations")
	}
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("%s exists; an annotation set is never changed, choose another folder", out)
	}
	return nil
}

// ratedByAny lists the states of the dataset that any sheet has, by id.
func ratedByAny(sheets []sheet, known map[string]key) []string {
	ids := map[string]bool{}
	for _, s := range sheets {
		for _, r := range s.rows {
			if _, ok := known[r.item]; ok {
				ids[r.item] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// state is a state of the dataset with the labels of its labelers, in the order of Labelers.
type state struct {
	key
	task   string
	tool   *string
	labels []*string
}

// resolve finds the labelled states with the wanted ids.
func resolve(ctx context.Context, dir string, wanted map[string]bool) (map[string]state, error) {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT s.trajectory_id, s.step, t.task_id, s.tool, s.stage_release, s.stage_clean, s.stage_source
FROM states s JOIN trajectories t ON t.trajectory_id = s.trajectory_id WHERE s.stage_release IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]state{}
	for rows.Next() {
		s := state{labels: make([]*string, len(Labelers()))}
		if err := rows.Scan(&s.trajectory, &s.step, &s.task, &s.tool, &s.labels[0], &s.labels[1], &s.labels[2]); err != nil {
			return nil, err
		}
		if id := s.id(); wanted[id] {
			found[id] = s
		}
	}
	return found, rows.Err()
}

// set is an annotation set to be written.
type set struct {
	states  []state
	items   []ItemRow
	raters  []RaterRow
	ratings []RatingRow
	byID    map[string]state
}

func newSet(states map[string]state, ids []string) *set {
	s := &set{byID: states}
	for _, id := range ids {
		st := states[id]
		s.states = append(s.states, st)
		s.items = append(s.items, ItemRow{st.trajectory, st.step, id, st.task, st.tool})
	}
	return s
}

// add adds a rater, unless no rating is left of the file.
func (s *set) add(rater, kind string, from *sheet, ratings map[string]rating) {
	if len(ratings) == 0 {
		return
	}
	file := filepath.Base(from.path)
	s.raters = append(s.raters, RaterRow{rater, kind, &file, &from.sha256, int64(len(ratings))})
	for id, r := range ratings {
		k := s.byID[id].key
		row := RatingRow{TrajectoryID: k.trajectory, Step: k.step, Rater: rater, Kind: kind, Stage: r.stage.String()}
		if r.comment != "" {
			row.Comment = &r.comment
		}
		s.ratings = append(s.ratings, row)
	}
}

// addLabelers adds the labels that the dataset has of the set's states.
func (s *set) addLabelers() {
	for i, labeler := range Labelers() {
		n := 0
		for _, st := range s.states {
			if st.labels[i] == nil || *st.labels[i] == trajectory.NoStage.String() {
				continue
			}
			n++
			s.ratings = append(s.ratings, RatingRow{TrajectoryID: st.trajectory, Step: st.step, Rater: labeler, Kind: Rule, Stage: *st.labels[i]})
		}
		if n > 0 {
			s.raters = append(s.raters, RaterRow{Rater: labeler, Kind: Rule, Labels: int64(n)})
		}
	}
}

func (s *set) sort() {
	slices.SortFunc(s.items, func(a, b ItemRow) int {
		return cmp.Or(strings.Compare(a.TrajectoryID, b.TrajectoryID), cmp.Compare(a.Step, b.Step))
	})
	slices.SortFunc(s.raters, func(a, b RaterRow) int { return strings.Compare(a.Rater, b.Rater) })
	slices.SortFunc(s.ratings, func(a, b RatingRow) int {
		return cmp.Or(strings.Compare(a.TrajectoryID, b.TrajectoryID), cmp.Compare(a.Step, b.Step), strings.Compare(a.Rater, b.Rater))
	})
}

// write fills the folder and puts it in its place.
func (s *set) write(ctx context.Context, out *output.Folder, m Manifest) error {
	text, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	dir := out.Root()
	steps := []func() error{
		func() error { return s.writeSQLite(ctx, filepath.Join(dir, DBName)) },
		func() error { return writeParquet(filepath.Join(dir, "items.parquet"), s.items) },
		func() error { return writeParquet(filepath.Join(dir, "raters.parquet"), s.raters) },
		func() error { return writeParquet(filepath.Join(dir, "ratings.parquet"), s.ratings) },
		func() error { return out.Write(bench.ManifestName, append(text, '\n')) },
		out.Commit,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func writeParquet[T any](path string, rows []T) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := parquet.NewGenericWriter[T](f, parquet.CreatedBy("agentlens", bench.ToolVersion, "annotations"))
	_, err = w.Write(rows)
	return errors.Join(err, w.Close(), f.Close())
}

func (s *set) writeSQLite(ctx context.Context, path string) error {
	db, err := openDB(path, "_pragma=journal_mode(off)&_pragma=foreign_keys(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	run := func(query string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, query, args...)
		}
	}
	run(fmt.Sprintf("PRAGMA application_id = %d", ApplicationID))
	run(fmt.Sprintf("PRAGMA user_version = %d", Version))
	run(ddl)
	for _, r := range s.items {
		run("INSERT INTO items VALUES (?, ?, ?, ?, ?)", r.TrajectoryID, r.Step, r.Item, r.TaskID, r.Tool)
	}
	for _, r := range s.raters {
		run("INSERT INTO raters VALUES (?, ?, ?, ?, ?)", r.Rater, r.Kind, r.File, r.SHA256, r.Labels)
	}
	for _, r := range s.ratings {
		run("INSERT INTO ratings VALUES (?, ?, ?, ?, ?, ?)", r.TrajectoryID, r.Step, r.Rater, r.Kind, r.Stage, r.Comment)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return tx.Commit()
}

func openDB(path, query string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	uri := &url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: query}
	return sql.Open("sqlite", uri.String())
}
