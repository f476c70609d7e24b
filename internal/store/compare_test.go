package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/schema"
)

// change runs statements on a dataset's SQLite file, with checks off.
func change(t *testing.T, dir string, stmts ...string) {
	t.Helper()
	uri, err := fileURI(DBPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", uri+"?_pragma=ignore_check_constraints(1)&_pragma=journal_mode(off)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, stmt := range stmts {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

// small is a dataset small enough to know by heart: runs a and b of task t by model m.
func small() madeDataset {
	one, text, score := int64(1), "x", 12.5
	return madeDataset{
		{"tasks", ""}:        reflect.ValueOf([]schema.Task{{TaskID: "t", NTrajectories: 2}}),
		{"models", ""}:       reflect.ValueOf([]schema.Model{{Model: "m", PassRate: &score}}),
		{"trajectories", ""}: reflect.ValueOf([]schema.Trajectory{{TrajectoryID: "a", TaskID: "t", Model: "m", Outcome: "pass"}, {TrajectoryID: "b", TaskID: "t", Model: "m", Outcome: "fail"}}),
		{"states", ""}: reflect.ValueOf([]schema.State{
			{TrajectoryID: "a", Step: 0}, {TrajectoryID: "a", Step: 1, InputTokens: &one, Observation: &text}, {TrajectoryID: "a", Step: 2},
			{TrajectoryID: "b", Step: 0}, {TrajectoryID: "b", Step: 1},
		}),
		{"features", "release"}: reflect.ValueOf([]schema.Features{{TaskID: "t", Model: "m", TrajectoryID: "a", F1Score: &score}}),
		{"tiers", "release"}:    reflect.ValueOf([]schema.Tier{{TrajectoryID: "a"}, {TrajectoryID: "b"}}),
	}
}

func TestCompareNamesEveryCorruption(t *testing.T) {
	// replace writes a Parquet file anew, from rows changed by edit.
	replace := func(key [2]string, rows any) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			other := t.TempDir()
			set := small()
			set[key] = reflect.ValueOf(rows)
			set.write(t, other, 10)
			if err := os.Rename(ParquetPath(other, key[0], key[1]), ParquetPath(dir, key[0], key[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	sqlite := func(stmts ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { change(t, dir, stmts...) }
	}
	states := func() []schema.State {
		return append([]schema.State(nil), small()[[2]string{"states", ""}].Interface().([]schema.State)...)
	}
	flipped := states()
	two := int64(2)
	flipped[1].InputTokens = &two
	for name, c := range map[string]struct {
		corrupt func(*testing.T, string)
		want    []string // each is in some problem
	}{
		"value in SQLite":         {sqlite("UPDATE states SET input_tokens = 7 WHERE trajectory_id = 'a' AND step = 1"), []string{`states (trajectory_id "a", step 1) input_tokens: SQLite has 7, Parquet 1`}},
		"null for zero":           {sqlite("UPDATE states SET input_tokens = 0 WHERE trajectory_id = 'a' AND step = 0"), []string{`states (trajectory_id "a", step 0) input_tokens: SQLite has 0, Parquet null`}},
		"empty text for null":     {sqlite("UPDATE states SET observation = '' WHERE trajectory_id = 'b' AND step = 1"), []string{`states (trajectory_id "b", step 1) observation: SQLite has "", Parquet null`}},
		"last bit of a real":      {sqlite("UPDATE features SET f1_score = 12.500000000000002"), []string{`release/features (trajectory_id "a") f1_score: SQLite has 12.500000000000002, Parquet 12.5`}},
		"row gone from a group":   {sqlite("DELETE FROM states WHERE trajectory_id = 'a' AND step = 1"), []string{`states (trajectory_id "a", step 1): only Parquet has the row`}},
		"last row gone":           {sqlite("DELETE FROM states WHERE trajectory_id = 'b' AND step = 1"), []string{`states (trajectory_id "b", step 1): only Parquet has the row`}},
		"group gone":              {sqlite("DELETE FROM tiers WHERE trajectory_id = 'b'"), []string{`release/tiers (trajectory_id "b"): only Parquet has the row`}},
		"row added":               {sqlite("CREATE TEMP TABLE x AS SELECT * FROM states WHERE trajectory_id = 'b' AND step = 1", "UPDATE x SET step = 9", "INSERT INTO states SELECT * FROM x"), []string{`states (trajectory_id "b", step 9): only SQLite has the row`}},
		"group added":             {sqlite("INSERT INTO tasks (task_id, n_trajectories, n_pass, n_fail, n_unknown) VALUES ('u', 0, 0, 0, 0)"), []string{`tasks (task_id "u"): only SQLite has rows of it (1)`}},
		"parent gone":             {sqlite("DELETE FROM models"), []string{`trajectories model: "m" is not in table models`, `models (model "m"): only Parquet has the row`}},
		"value out of range":      {sqlite("UPDATE trajectories SET outcome = 'won', passed = 3 WHERE trajectory_id = 'a'"), []string{`outcome: SQLite has "won", Parquet "pass"`, "passed: SQLite has 3, Parquet null"}},
		"index gone":              {sqlite("DROP INDEX trajectories_task_id"), []string{"SQLite has no index trajectories_task_id"}},
		"view changed":            {sqlite("DROP VIEW signals_release", "CREATE VIEW signals_release AS SELECT 1"), []string{"view signals_release is defined differently"}},
		"table added":             {sqlite("CREATE TABLE notes (a)"), []string{"table notes that does not belong there"}},
		"another profile":         {sqlite("INSERT INTO tiers (profile, trajectory_id) VALUES ('mine', 'a')"), []string{"mine/tiers: SQLite has rows of a profile the dataset does not have"}},
		"value in Parquet":        {replace([2]string{"states", ""}, flipped), []string{`states (trajectory_id "a", step 1) input_tokens: SQLite has 1, Parquet 2`}},
		"row gone from Parquet":   {replace([2]string{"states", ""}, append(states()[:1], states()[2:]...)), []string{`states (trajectory_id "a", step 1): only SQLite has the row`}},
		"group gone from Parquet": {replace([2]string{"states", ""}, states()[:3]), []string{`states (trajectory_id "b"): only SQLite has rows of it (2)`}},
		"Parquet file of no row":  {replace([2]string{"tiers", "release"}, []schema.Tier{}), []string{`release/tiers (trajectory_id "a"): only SQLite has rows of it (1)`}},
		"Parquet file gone":       {func(t *testing.T, dir string) { os.Remove(ParquetPath(dir, "waste", "release")) }, []string{"release/waste: there is no file"}},
		"Parquet file of another": {func(t *testing.T, dir string) {
			os.Rename(ParquetPath(dir, "tasks", ""), ParquetPath(dir, "models", ""))
		}, []string{"models: ", "other columns", "tasks: there is no file"}},
		"Parquet file cut":          {func(t *testing.T, dir string) { os.Truncate(ParquetPath(dir, "states", ""), 300) }, []string{"states: reading"}},
		"file too many":             {func(t *testing.T, dir string) { os.WriteFile(filepath.Join(dir, "data", "x.parquet"), nil, 0o644) }, []string{"x.parquet does not belong"}},
		"bytes of a database page":  {func(t *testing.T, dir string) { overwrite(t, DBPath(dir), "UPDATED") }, []string{"SQLite"}},
		"bytes of a Parquet column": {func(t *testing.T, dir string) { overwrite(t, ParquetPath(dir, "states", ""), "\xff\xff\xff\xff") }, []string{"states"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			small().write(t, dir, 10)
			c.corrupt(t, dir)
			report, err := Compare(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, p := range report.Problems {
				all.WriteString(p.String() + "\n")
			}
			for _, want := range c.want {
				if !strings.Contains(all.String(), want) {
					t.Errorf("no problem says %q:\n%s", want, all.String())
				}
			}
		})
	}
}

// overwrite damages the first row data of a file.
func overwrite(t *testing.T, path, with string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := 40
	if strings.HasSuffix(path, ".db") {
		at = len(data) - 8192 + 3 // the header of the last page
	}
	copy(data[at:], with)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCompareLimitsItsProblems(t *testing.T) {
	dir := t.TempDir()
	consistent(t, 3, 300).write(t, dir, 300)
	change(t, dir, "UPDATE states SET state_id = 'other'")
	report, err := Compare(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(report.Problems); n != maxProblems {
		t.Fatalf("%d problems", n)
	}
	if last := report.Problems[maxProblems-1].String(); !strings.Contains(last, "more problems with this table") {
		t.Errorf("the last one is %s", last)
	}
}
