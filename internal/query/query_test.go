package query

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// madeDataset makes a small dataset and returns its folder.
func madeDataset(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	w, err := store.Create(dir, []string{"release"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rate := 0.5
	yes := true
	err = errors.Join(
		w.Append("tasks", "", []schema.Task{{TaskID: "t1", NTrajectories: 2, NPass: 1, NUnknown: 1}}),
		w.Append("models", "", []schema.Model{{Model: "m, 1", NTrajectories: 2, NPass: 1, NFail: 1, PassRate: &rate}}),
		w.Append("trajectories", "", []schema.Trajectory{
			{TrajectoryID: "a", TaskID: "t1", Model: "m, 1", Outcome: "pass", Passed: &yes, NStates: 3},
			{TrajectoryID: "b", TaskID: "t1", Model: "m, 1", Outcome: "unknown", NStates: 4},
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func run(t *testing.T, db *DB, text, format string, opt Options) (string, bool, error) {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, format, "")
	more, err := db.Run(t.Context(), text, opt, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), more, err
}

func TestFormats(t *testing.T) {
	db := open(t, madeDataset(t))
	const text = `SELECT trajectory_id AS id, passed, n_states, 1.0 * n_states AS r, '' AS empty, outcome || ', "x"' AS q FROM trajectories ORDER BY id`
	for format, want := range map[string]string{
		"csv": "id,passed,n_states,r,empty,q\na,1,3,3.0,\"\",\"pass, \"\"x\"\"\"\nb,,4,4.0,\"\",\"unknown, \"\"x\"\"\"\n",
		"json": "[\n" + `{"id":"a","passed":1,"n_states":3,"r":3.0,"empty":"","q":"pass, \"x\""}` + ",\n" +
			`{"id":"b","passed":null,"n_states":4,"r":4.0,"empty":"","q":"unknown, \"x\""}` + "\n]\n",
		"jsonl": `{"id":"a","passed":1,"n_states":3,"r":3.0,"empty":"","q":"pass, \"x\""}` + "\n" +
			`{"id":"b","passed":null,"n_states":4,"r":4.0,"empty":"","q":"unknown, \"x\""}` + "\n",
		"table": "id  passed  n_states    r  empty  q\n--  ------  --------  ---  -----  ------------\n" +
			"a        1         3  3.0         pass, \"x\"\nb     NULL         4  4.0         unknown, \"x\"\n",
	} {
		if got, _, err := run(t, db, text, format, Options{}); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, got, want)
		}
	}
	if got, _, err := run(t, db, "SELECT 1 AS x WHERE 0", "json", Options{}); err != nil || got != "[]\n" {
		t.Errorf("no rows: %q, %v", got, err)
	}
	if _, _, err := run(t, db, "SELECT 1 AS x, 2 AS x", "json", Options{}); err == nil || !strings.Contains(err.Error(), "rename one with AS") {
		t.Errorf("two columns of one name: %v", err)
	}
}

func TestOnlyReads(t *testing.T) {
	dir := madeDataset(t)
	before, err := os.ReadFile(store.DBPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, dir)
	other := t.TempDir() + "/other.db"
	for text, want := range map[string]string{
		"DELETE FROM tasks":                          "changes something",
		"UPDATE tasks SET n_pass = 2":                "changes something",
		"INSERT INTO tasks SELECT * FROM tasks":      "changes something",
		"DROP TABLE tasks":                           "changes something",
		"CREATE TEMP TABLE x AS SELECT 1":            "changes something",
		"CREATE VIRTUAL TABLE x USING fts5(a)":       "changes something",
		"ATTACH '" + other + "' AS other":            "attaching another file",
		"VACUUM INTO '" + other + "'":                "attaching another file",
		"PRAGMA writable_schema = 1":                 "PRAGMA writable_schema",
		"PRAGMA query_only = 0":                      "PRAGMA query_only",
		"BEGIN":                                      "a transaction",
		"SAVEPOINT a":                                "a transaction",
		"ANALYZE":                                    "refused",
		"SELECT load_extension('x')":                 "",
		"SELECT 1; DELETE FROM tasks":                "more than one statement",
		"/* DELETE */ -- nothing\n;":                 "the query is empty",
		"":                                           "the query is empty",
		"SELECT * FROM trajectorie":                  "did you mean trajectories?",
		"SELECT * FROM nonsense_zzz":                 "the dataset has tasks, models",
		"SELECT n_state FROM trajectories":           "did you mean n_states (of ",
		"SELECT t.outcom FROM trajectories t":        "did you mean outcome (of trajectories)",
		"SELECT \"qualty_score\" FROM features":      "did you mean quality_score (of ",
		"SELECT pass_rate FROM trajectories":         "pass_rate is a column of models",
		"SELECT tier FROM tiers WHERE tier = \"qq\"": "single quotes",
	} {
		_, _, err := run(t, db, text, "csv", Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if after, err := os.ReadFile(store.DBPath(dir)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed, %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("another file was made")
	}
	for _, text := range []string{
		"PRAGMA table_info(tasks)", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
		"SELECT ';' AS \"a;b\" -- ; comment\n; -- end", "EXPLAIN QUERY PLAN SELECT * FROM tasks", "VALUES (1)",
	} {
		if _, _, err := run(t, db, text, "csv", Options{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A query that is stopped leaves whole rows in every format.
func TestTimeout(t *testing.T) {
	db := open(t, madeDataset(t))
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i * 2 AS j FROM n"
	for _, format := range Formats() {
		start := time.Now()
		text, _, err := run(t, db, endless, format, Options{Timeout: 50 * time.Millisecond})
		if !errors.Is(err, ErrTimeout) {
			t.Fatalf("%s: %v", format, err)
		}
		if time.Since(start) > 30*time.Second {
			t.Errorf("%s: stopped after %s", format, time.Since(start))
		}
		switch format {
		case "json":
			var rows []map[string]int64
			if err := json.Unmarshal([]byte(text), &rows); err != nil {
				t.Errorf("json: %v", err)
			}
		case "csv":
			rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil || len(rows) < 2 || !strings.HasSuffix(text, "\n") {
				t.Errorf("csv: %d rows, %v", len(rows), err)
			}
		}
		db = open(t, madeDataset(t)) // the driver gives up a connection that was interrupted
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Run(ctx, endless, Options{}, NewWriter(new(bytes.Buffer), "csv", "")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestMaxRows(t *testing.T) {
	db := open(t, madeDataset(t))
	for limit, want := range map[int]bool{1: true, 2: false, 3: false, 0: false} {
		_, more, err := run(t, db, "SELECT trajectory_id FROM trajectories", "csv", Options{MaxRows: limit})
		if err != nil || more != want {
			t.Errorf("limit %d: more %v, %v", limit, more, err)
		}
	}
}

func TestTables(t *testing.T) {
	tables, err := open(t, madeDataset(t)).Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]TableInfo{}
	for _, table := range tables {
		got[table.Name] = table
		if len(table.Columns) == 0 || table.Doc == "" {
			t.Errorf("%s has %d columns, doc %q", table.Name, len(table.Columns), table.Doc)
		}
	}
	if n := len(got["features_release"].Columns); n != 40 || !got["features_release"].View {
		t.Errorf("features_release: %+v", got["features_release"])
	}
	if got["trajectories"].Rows != 2 {
		t.Errorf("trajectories: %d rows", got["trajectories"].Rows)
	}
}

// What is cut off a statement is nothing but comments, and nothing makes it panic.
func FuzzSingle(f *testing.F) {
	for _, text := range []string{"SELECT 1;", "SELECT ';' -- ;", "/* ; */ SELECT \"a;b\"; --", "SELECT [a;b]; SELECT 2", "'", "--", "/*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := single(text)
		if err != nil {
			return
		}
		if !strings.HasPrefix(text, got) || strings.Contains(stripComments(got), "--") && !strings.ContainsAny(got, "'\"`[") {
			t.Fatalf("%q gives %q", text, got)
		}
		if rest := strings.TrimLeft(strings.TrimSpace(stripComments(text[len(got):])), ";"); strings.TrimSpace(rest) != "" {
			t.Fatalf("%q is cut off %q", rest, text)
		}
	})
}
