package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/schema"
)

// checkRoundTrip reads a table back in both forms, in key order.
func checkRoundTrip[T any](t testing.TB, dir string, db *DB, set madeDataset, table, profile string) {
	t.Helper()
	want := set[[2]string{table, profile}].Interface().([]T)
	var got []T
	for row, err := range ReadParquet[T](ParquetPath(dir, table, profile)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	compareRows(t, "Parquet "+table, got, want)

	tab, _ := schema.Lookup(table)
	v, err := tab.Variant(profile)
	if err != nil {
		t.Fatal(err)
	}
	p := part{tab, profile, v}
	query := strings.Replace(p.selectSQL("?"), v.Columns[v.Key()[0]].Name+" = ?", "true", 1)
	if table == "features" || table == "signals" {
		query = "SELECT * FROM " + table + "_" + profile + " ORDER BY trajectory_id"
	}
	got = nil
	for row, err := range ReadSQL[T](context.Background(), db.DB, query) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	compareRows(t, "SQLite "+table, got, want)
}

func compareRows[T any](t testing.TB, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s: row %d is\n%+v, want\n%+v", what, i, got[i], want[i])
		}
	}
}

func checkAll(t testing.TB, dir string, set madeDataset) {
	t.Helper()
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkRoundTrip[schema.Task](t, dir, db, set, "tasks", "")
	checkRoundTrip[schema.Model](t, dir, db, set, "models", "")
	checkRoundTrip[schema.Trajectory](t, dir, db, set, "trajectories", "")
	checkRoundTrip[schema.State](t, dir, db, set, "states", "")
	checkRoundTrip[schema.Published](t, dir, db, set, "published", "")
	checkRoundTrip[schema.PublishedTask](t, dir, db, set, "published_tasks", "")
	checkRoundTrip[schema.PublishedReference](t, dir, db, set, "published_references", "")
	checkRoundTrip[schema.IngestError](t, dir, db, set, "ingest_errors", "")
	checkRoundTrip[schema.Features](t, dir, db, set, "features", "release")
	checkRoundTrip[schema.SignalsRelease](t, dir, db, set, "signals", "release")
	checkRoundTrip[schema.PTA](t, dir, db, set, "pta", "release")
	checkRoundTrip[schema.PTAMember](t, dir, db, set, "pta_members", "release")
	checkRoundTrip[schema.PTANode](t, dir, db, set, "pta_nodes", "release")
	checkRoundTrip[schema.PTAEdge](t, dir, db, set, "pta_edges", "release")
	checkRoundTrip[schema.PTAPath](t, dir, db, set, "pta_paths", "release")
	checkRoundTrip[schema.Alignment](t, dir, db, set, "alignments", "release")
	checkRoundTrip[schema.Divergence](t, dir, db, set, "divergences", "release")
	checkRoundTrip[schema.Waste](t, dir, db, set, "waste", "release")
	checkRoundTrip[schema.ToolWaste](t, dir, db, set, "tool_waste", "release")
	checkRoundTrip[schema.Tier](t, dir, db, set, "tiers", "release")
	for _, profile := range set.profiles() {
		switch profile {
		case "paper":
			checkRoundTrip[schema.SignalsPaper](t, dir, db, set, "signals", profile)
		case "process":
			checkRoundTrip[schema.SignalsProcess](t, dir, db, set, "signals", profile)
			checkRoundTrip[schema.Waste](t, dir, db, set, "waste", profile)
		}
	}
}

// Any values, any number of rows: both forms give back what was written.
func TestRoundTripOfAnyRows(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		flag.Set("rapid.checks", "25") // each writes and syncs two dozen files
	}
	text := rapid.Custom(func(rt *rapid.T) string {
		return strings.ReplaceAll(strings.ToValidUTF8(rapid.StringN(-1, 12, -1).Draw(rt, "text"), "?"), "\x00", "0")
	})
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 6}).Draw(rt, "rows")
		pick := func(label string, options int) int {
			return int(rapid.Uint64Range(0, uint64(options-1)).Draw(rt, label))
		}
		set := generate(t, []string{"release"}, n, func(table string, c schema.Column) any {
			if c.Nullable && pick("null", 4) == 0 {
				return nil
			}
			switch {
			case c.Enum != nil:
				return c.Enum[pick("enum", len(c.Enum))]
			case c.Kind == schema.Integer:
				return rapid.Int64().Draw(rt, "integer")
			case c.Kind == schema.Real:
				return rapid.Float64().Draw(rt, "real") + 0
			case c.Kind == schema.Boolean:
				return rapid.Bool().Draw(rt, "boolean")
			default:
				return text.Draw(rt, "text")
			}
		})
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		stats := set.write(t, dir, 7)
		for _, s := range stats {
			if rows := set[[2]string{s.Table, s.Profile}].Len(); int64(rows) != s.Rows {
				t.Fatalf("%s: Finish counts %d rows of %d", s.Table, s.Rows, rows)
			}
		}
		checkAll(t, dir, set)
	})
}

func TestConsistentDatasetHasNoProblems(t *testing.T) {
	set := consistent(t, 1, 300)
	dir := filepath.Join(t.TempDir(), "odd # name? 100%")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stats := set.write(t, dir, 1000)
	checkAll(t, dir, set)
	report, err := Compare(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Error(p)
	}
	if !reflect.DeepEqual(report.Tables, stats) {
		t.Errorf("Compare says\n%v, Finish\n%v", report.Tables, stats)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("the folder holds %v", left)
	}
}

// hashes are the digests of every file in dir.
func hashes(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(data), rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSameRowsSameBytes(t *testing.T) {
	set := consistent(t, 2, 3000)
	var first string
	for _, size := range []int{5000, 1, 64, 257} {
		dir := t.TempDir()
		set.write(t, dir, size)
		if got := hashes(t, dir); first == "" {
			first = got
		} else if got != first {
			t.Errorf("batches of %d rows: files\n%s, want\n%s", size, got, first)
		}
	}
	parts, err := partsOf(schema.Profiles())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(first, "\n") != len(parts)+1 {
		t.Errorf("files:\n%s", first)
	}
}

// Row groups end by content, whatever the batches.
func TestRowGroupsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: writes 40,000 rows, and -short is set")
	}
	set := madeDataset{{"states", ""}: reflect.ValueOf(benchStates(20_000))}
	var first string
	for _, size := range []int{20_000, 77} {
		dir := t.TempDir()
		set.write(t, dir, size)
		if got := hashes(t, dir); first == "" {
			first = got
		} else if got != first {
			t.Errorf("batches of %d rows: files\n%s, want\n%s", size, got, first)
		}
		states, _ := schema.Lookup("states")
		file, err := openParquet(dir, part{table: states, variant: states.Variants[0]})
		if err != nil {
			t.Fatal(err)
		}
		groups := file.parquet.RowGroups()
		if groups < 3 {
			t.Errorf("%d row groups", groups)
		}
		for g := range groups {
			if n := file.parquet.RowsOf(g); n > 8000 {
				t.Errorf("a row group of %d rows", n)
			}
		}
		file.close()
	}
}

// Groups may come in any order; the digest and SQLite's bytes do not depend on it.
func TestOrderOfGroupsDoesNotMatter(t *testing.T) {
	a := schema.Alignment{TrajectoryID: "a", CandidateStep: 0}
	a1 := schema.Alignment{TrajectoryID: "a", CandidateStep: 1}
	b := schema.Alignment{TrajectoryID: "b", CandidateStep: 0}
	var dbs [2][]byte
	var digests [2]string
	for i, rows := range [][]schema.Alignment{{a, a1, b}, {b, a, a1}} {
		dir := t.TempDir()
		stats := madeDataset{{"alignments", "release"}: reflect.ValueOf(rows)}.write(t, dir, 2)
		for _, s := range stats {
			if s.Table == "alignments" {
				digests[i] = s.Digest
			}
		}
		dbs[i], _ = os.ReadFile(DBPath(dir))
	}
	if digests[0] != digests[1] || digests[0] == "" {
		t.Errorf("digests %v", digests)
	}
	if !bytes.Equal(dbs[0], dbs[1]) {
		t.Error("the SQLite files differ")
	}
}

// The definition of the digest, written out for two rows.
func TestDigestIsAsDocumented(t *testing.T) {
	path := int64(-2)
	stats := madeDataset{{"alignments", "release"}: reflect.ValueOf([]schema.Alignment{
		{TrajectoryID: "é", CandidateStep: 258, Aligned: true, PathPosition: &path},
	})}.write(t, t.TempDir(), 1)
	row := "\x01\x02\x00\x00\x00\x00\x00\x00\x00é" + "\x02\x02\x01\x00\x00\x00\x00\x00\x00" + "\x04\x01" + "\x00" + "\x02\xfe\xff\xff\xff\xff\xff\xff\xff"
	group := sha256.Sum256([]byte(row))
	want := fmt.Sprintf("%x", sha256.Sum256(append([]byte(fmt.Sprintf("agentlens rows %d\n", schema.Version)), group[:]...)))
	for _, s := range stats {
		if s.Table == "alignments" && s.Digest != want {
			t.Errorf("digest %s, want %s", s.Digest, want)
		}
	}
}

func TestRefusedRows(t *testing.T) {
	long := strings.Repeat("x", 300) + "\xff"
	nan, inf, negative := math.NaN(), math.Inf(-1), math.Copysign(0, -1)
	tier := "superb"
	for name, c := range map[string]struct {
		table, profile string
		rows           any
		want           []string
	}{
		"NaN": {"features", "release", []schema.Features{{TrajectoryID: "r1", F1Score: &nan}},
			[]string{"release/features", `trajectory_id "r1"`, "f1_score", "NaN"}},
		"infinity":      {"features", "release", []schema.Features{{TrajectoryID: "r1", F1Score: &inf}}, []string{"f1_score", "infinite"}},
		"negative zero": {"features", "release", []schema.Features{{TrajectoryID: "r1", F1Score: &negative}}, []string{"f1_score", "negative zero"}},
		"UTF-8":         {"states", "", []schema.State{{TrajectoryID: "r1", Step: 3, Observation: &long}}, []string{`(trajectory_id "r1", step 3)`, "observation", "UTF-8"}},
		"NUL":           {"states", "", []schema.State{{TrajectoryID: "r1", StateID: "a\x00b"}}, []string{"state_id", "NUL", `"a\x00b"`}},
		"vocabulary":    {"tiers", "release", []schema.Tier{{TrajectoryID: "r1", Tier: &tier}}, []string{"tier", `"superb"`, "ideal, solid"}},
		"order": {"states", "", []schema.State{{TrajectoryID: "r1", Step: 3}, {TrajectoryID: "r1", Step: 2}},
			[]string{"states", "step 2", "comes after", "step 3"}},
		"torn group": {"states", "", []schema.State{{TrajectoryID: "r1"}, {TrajectoryID: "r2"}, {TrajectoryID: "r1", Step: 1}},
			[]string{`(trajectory_id "r1", step 1)`, "does not follow"}},
		"twice":            {"tasks", "", []schema.Task{{TaskID: "a"}, {TaskID: "b"}, {TaskID: "a"}}, []string{`(task_id "a") comes twice`}},
		"twice in a group": {"states", "", []schema.State{{TrajectoryID: "r1"}, {TrajectoryID: "r1"}}, []string{"comes twice"}},
		"wrong type":       {"tasks", "", []schema.Model{{Model: "a"}}, []string{"[]schema.Model", "schema.Task"}},
		"wrong table":      {"task", "", []schema.Task{{TaskID: "a"}}, []string{`"task"`}},
		"no profile":       {"tiers", "", []schema.Tier{{}}, []string{`"tiers"`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w, err := Create(dir, []string{"release"})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Append(c.table, c.profile, c.rows)
			if err == nil {
				_, err = w.Finish()
			} else {
				w.Close()
			}
			if err == nil {
				t.Fatal("the rows were taken")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, scratchName)); err == nil {
				t.Error("the scratch folder is left")
			}
		})
	}
}

func TestErrorReachesAppend(t *testing.T) {
	w, err := Create(t.TempDir(), []string{"release"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 10_000 {
		if err = w.Append("tasks", "", []schema.Task{{TaskID: "same"}}); err != nil {
			if i == 0 {
				t.Error("the first row was refused")
			}
			return
		}
	}
	t.Errorf("Append never said: %v", err)
}

func TestCreateRefusesAnExistingDataset(t *testing.T) {
	dir := t.TempDir()
	madeDataset{}.write(t, dir, 1)
	if _, err := Create(dir, []string{"release"}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("error %v", err)
	}
	if _, err := Create(t.TempDir(), []string{"realease"}); err == nil || !strings.Contains(err.Error(), "realease") {
		t.Errorf("error %v", err)
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "neither agentlens.db nor") {
		t.Errorf("error %v", err)
	}
	madeDataset{}.write(t, dir, 1)
	change(t, dir, fmt.Sprintf("PRAGMA user_version = %d", schema.Version+1))
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("error %v", err)
	}
	change(t, dir, "PRAGMA application_id = 1")
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "application_id") {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(DBPath(dir), bytes.Repeat([]byte("no database "), 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir); err == nil {
		t.Error("opened a text file")
	}
}

// A database that takes the place of the one that is open is never read beside it.
func TestReplacedDatabase(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	first, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	text, err := os.ReadFile(DBPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	other := DBPath(dir) + ".new"
	if err := errors.Join(os.WriteFile(other, text, 0o644), os.Rename(other, DBPath(dir))); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := first.QueryRowContext(t.Context(), "SELECT count(*) FROM tasks").Scan(&n); err != nil {
		t.Errorf("the connection that was there: %v", err)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM tasks").Scan(&n); !errors.Is(err, dataset.ErrReplaced) {
		t.Errorf("a new connection: %v", err)
	}
}
