package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

func ptr[T any](v T) *T { return &v }

// madeDataset makes a dataset of runs runs with steps steps, whose groups are not in the order of
// their keys.
func madeDataset(tb testing.TB, runs, steps int) string {
	tb.Helper()
	dir := tb.TempDir()
	w, err := store.Create(dir, []string{"release"})
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Close()
	tasks := []schema.Task{{TaskID: "b/é task"}, {TaskID: "a"}}
	models := []schema.Model{{Model: "m2"}, {Model: "m1", PassRate: ptr(0.25)}}
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	check(errors.Join(w.Append("tasks", "", tasks), w.Append("models", "", models)))
	tools := []string{"run_in_terminal", "read_file", "replace_string_in_file"}
	for i := runs - 1; i >= 0; i-- {
		id := fmt.Sprintf("run-%06d", i)
		t := schema.Trajectory{TrajectoryID: id, TaskID: tasks[i%2].TaskID, Model: models[i/2%2].Model, Outcome: "unknown", NStates: int64(steps)}
		if i%3 > 0 {
			t.Passed, t.Outcome = ptr(i%3 == 1), map[bool]string{true: "pass", false: "fail"}[i%3 == 1]
		}
		check(w.Append("trajectories", "", []schema.Trajectory{t}))
		states := make([]schema.State, steps)
		for j := range states {
			s := &states[j]
			*s = schema.State{TrajectoryID: id, Step: int64(j), StateID: "state_" + strconv.Itoa(j), ResultingState: "terminal:ls", ObservationChars: 40,
				ObservationHash: "0123456789abcdef", Tool: ptr(tools[(i+j)%3]), Observation: ptr(fmt.Sprintf("line %d, \"quoted\"\nof run %d", j, i)), InputTokens: ptr(int64(i*j) << 30)}
			if j%4 == 0 {
				s.InputTokens, s.Tool, s.Observation = nil, nil, ptr("")
			}
			if j%3 > 0 {
				s.IsError = ptr(j%3 == 1)
			}
		}
		check(w.Append("states", "", states))
		check(w.Append("features", "release", []schema.Features{{TaskID: t.TaskID, Model: t.Model, TrajectoryID: id, Passed: t.Passed,
			CoherenceScore: ptr(float64(i) / 4), DivergenceStep: map[bool]*int64{true: ptr(int64(i))}[i%2 == 1]}}))
	}
	tables, err := w.Finish()
	check(err)
	listed, err := json.Marshal(tables)
	check(err)
	check(os.WriteFile(filepath.Join(dir, "manifest.json"), fmt.Appendf(nil, `{"schema_version": %d, "parameters": {"profiles": ["release"]}, "tables": %s}`, schema.Version, listed), 0o644))
	check(checksum.Write(dir))
	return dir
}

func export(tb testing.TB, dir string, opt Options) (string, Manifest) {
	tb.Helper()
	opt.Out = filepath.Join(tb.TempDir(), "out")
	m, err := Run(tb.Context(), dir, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return opt.Out, m
}

// rows reads a table of an export as text: NULL as "-", text quoted, by columns.
func rows(t *testing.T, path string) (names []string, out [][]string) {
	t.Helper()
	switch filepath.Ext(path) {
	case ".csv":
		f, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		marked := strings.ReplaceAll(string(f), `""`, "\x01") // doubled quotes, or an empty text
		marked = strings.NewReplacer(",\x01,", ",EMPTY,", ",\x01\n", ",EMPTY\n").Replace(marked)
		all, err := csv.NewReader(strings.NewReader(strings.ReplaceAll(marked, "\x01", `""`))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all[1:] {
			for i, c := range r {
				switch c {
				case "":
					r[i] = "-"
				case "EMPTY":
					r[i] = ""
				}
			}
			out = append(out, r)
		}
		return all[0], out
	case ".jsonl":
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
			d.UseNumber()
			var row []string
			names = nil
			d.Token()
			for d.More() {
				key, _ := d.Token()
				v, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, key.(string))
				if v == nil {
					v = "-"
				}
				row = append(row, fmt.Sprint(v))
			}
			out = append(out, row)
		}
		return names, out
	case ".arrow":
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := ipc.NewFileReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, field := range r.Schema().Fields() {
			names = append(names, field.Name)
		}
		for i := range r.NumRecords() {
			rec, err := r.RecordBatch(i)
			if err != nil {
				t.Fatal(err)
			}
			for j := range int(rec.NumRows()) {
				row := make([]string, rec.NumCols())
				for k, c := range rec.Columns() {
					switch row[k] = "-"; {
					case c.IsNull(j):
					case c.DataType().ID() == arrow.FLOAT64:
						row[k] = fmt.Sprint(c.(*array.Float64).Value(j))
					default:
						row[k] = c.ValueStr(j)
					}
				}
				out = append(out, row)
			}
		}
		return names, out
	}
	t.Fatalf("%s: unknown format", path)
	return nil, nil
}

func TestFormatsAgree(t *testing.T) {
	dir := madeDataset(t, 9, 7)
	want := slices.Collect(func(yield func(schema.State) bool) {
		for row, err := range store.ReadParquet[schema.State](filepath.Join(must(export(t, dir, Options{Format: "parquet"})), "states.parquet")) {
			if err != nil {
				t.Fatal(err)
			}
			yield(row)
		}
	})
	if len(want) != 63 || !slices.IsSortedFunc(want, func(a, b schema.State) int { return strings.Compare(a.TrajectoryID, b.TrajectoryID) }) {
		t.Fatalf("%d states, or not sorted", len(want))
	}
	for _, format := range []string{"csv", "jsonl", "arrow"} {
		out, m := export(t, dir, Options{Format: format})
		names, got := rows(t, filepath.Join(out, "states."+format))
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows", format, len(got))
		}
		at := func(name string) int { return slices.Index(names, name) }
		for i, w := range want {
			tokens, isError, tool := "-", "-", "-"
			if w.InputTokens != nil {
				tokens = strconv.FormatInt(*w.InputTokens, 10)
			}
			if w.IsError != nil {
				isError = strconv.FormatBool(*w.IsError)
			}
			if w.Tool != nil {
				tool = *w.Tool
			}
			for name, v := range map[string]string{"trajectory_id": w.TrajectoryID, "step": strconv.FormatInt(w.Step, 10), "input_tokens": tokens,
				"is_error": isError, "tool": tool, "observation": *w.Observation} {
				if g := got[i][at(name)]; g != v {
					t.Errorf("%s row %d %s: %q, want %q", format, i, name, g, v)
				}
			}
		}
		if m.Tables[0].Table != "tasks" || m.Tables[3].Rows != 63 {
			t.Errorf("%s: manifest %+v", format, m.Tables[0])
		}
		for _, table := range m.Tables {
			if table.Rows == 0 {
				continue
			}
			name := table.Files[0].Path
			if _, got := rows(t, filepath.Join(out, name)); int64(len(got)) != table.Rows {
				t.Errorf("%s: %d rows, manifest says %d", name, len(got), table.Rows)
			}
		}
	}
}

func must(s string, _ Manifest) string { return s }

func TestTypes(t *testing.T) {
	out, _ := export(t, madeDataset(t, 9, 7), Options{Format: "arrow", Tables: []string{"states", "features"}})
	for name, want := range map[string]map[string]string{
		"states.arrow":           {"input_tokens": "int64", "is_error": "bool", "tool": "dictionary", "observation": "utf8", "step": "int64"},
		"release/features.arrow": {"divergence_step": "int64", "coherence_score": "float64", "passed": "bool", "task_id": "dictionary"},
	} {
		f, err := os.Open(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewFileReader(f)
		if err != nil {
			t.Fatal(err)
		}
		for column, typ := range want {
			if fields, ok := r.Schema().FieldsByName(column); !ok || fields[0].Type.Name() != typ {
				t.Errorf("%s %s: %v, want %s", name, column, fields, typ)
			}
		}
		r.Close()
		f.Close()
	}
}

// The same dataset and options give the same bytes, and the checksums hold.
func TestSameBytes(t *testing.T) {
	dir := madeDataset(t, 9, 7)
	for _, format := range Formats() {
		for _, by := range []string{"", "task", "model"} {
			if format == sqlite && by != "" {
				continue
			}
			one, _ := export(t, dir, Options{Format: format, PartitionBy: by})
			two, _ := export(t, dir, Options{Format: format, PartitionBy: by})
			sums := [2][]byte{}
			for i, out := range []string{one, two} {
				var err error
				if sums[i], err = os.ReadFile(filepath.Join(out, checksum.Name)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(sums[0], sums[1]) {
				t.Errorf("%s by %q: two exports differ", format, by)
			}
			if program, err := exec.LookPath("sha256sum"); err == nil {
				cmd := exec.Command(program, "--quiet", "-c", checksum.Name)
				cmd.Dir = one
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s by %q: %v\n%s", format, by, err, text)
				}
			}
		}
	}
}

// SQLite is the dataset's own file again; a condition leaves rows out and nothing else.
func TestSQLite(t *testing.T) {
	dir := madeDataset(t, 12, 5)
	out, m := export(t, dir, Options{Format: sqlite})
	got, err := os.ReadFile(filepath.Join(out, DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(store.DBPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the file differs from the dataset's")
	}
	for _, table := range m.Tables {
		if f := table.Files[0]; f.Path != DatabaseName || f.Bytes != int64(len(want)) || f.Rows != table.Rows {
			t.Errorf("%s: file %v", table.Table, f)
		}
	}

	out, _ = export(t, dir, Options{Format: sqlite, Tables: []string{"states", "trajectories"}, Where: "outcome = 'pass'"})
	db, err := store.Open(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var states, runs, tasks int
	if err := db.QueryRow("SELECT (SELECT count(*) FROM states), (SELECT count(*) FROM trajectories), (SELECT count(*) FROM tasks)").Scan(&states, &runs, &tasks); err != nil {
		t.Fatal(err)
	}
	if states != 20 || runs != 4 || tasks != 0 {
		t.Errorf("%d states of %d runs, %d tasks", states, runs, tasks)
	}
}

func TestPartitions(t *testing.T) {
	dir := madeDataset(t, 9, 7)
	whole, _ := export(t, dir, Options{Format: "csv"})
	names, all := rows(t, filepath.Join(whole, "states.csv"))
	out, m := export(t, dir, Options{Format: "csv", PartitionBy: "task"})
	var got [][]string
	for _, part := range []string{"states/task_id=a/part-0.csv", "states/task_id=b%2F%C3%A9%20task/part-0.csv"} {
		n, rs := rows(t, filepath.Join(out, part))
		if !slices.Equal(n, names) {
			t.Fatalf("%s has other columns", part)
		}
		got = append(got, rs...)
	}
	less := func(a, b []string) int {
		if c := strings.Compare(a[0], b[0]); c != 0 {
			return c
		}
		return strings.Compare(a[1], b[1])
	}
	slices.SortFunc(got, less)
	slices.SortFunc(all, less)
	if !slices.EqualFunc(got, all, func(a, b []string) bool { return slices.Equal(a, b) }) {
		t.Error("the partitions do not add up to the table")
	}
	n, _ := rows(t, filepath.Join(out, "release/features/task_id=a/part-0.csv"))
	if slices.Contains(n, "task_id") || len(n) != 39 {
		t.Errorf("a partition's column is in its file: %v", n)
	}
	for _, table := range m.Tables {
		if table.Table == "models" && (table.PartitionBy != "" || len(table.Files) != 1) {
			t.Errorf("models have no task: %+v", table)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "models.csv")); err != nil {
		t.Error(err)
	}
	parquet, _ := export(t, dir, Options{Format: "parquet", PartitionBy: "model", Tables: []string{"features"}})
	for _, part := range []string{"m1", "m2"} {
		if _, err := os.Stat(filepath.Join(parquet, "release/features/model="+part+"/part-0.parquet")); err != nil {
			t.Error(err)
		}
	}
}

func TestWhere(t *testing.T) {
	dir := madeDataset(t, 9, 7)
	out, m := export(t, dir, Options{Format: "csv", Where: "passed AND task_id = 'a'"})
	_, got := rows(t, filepath.Join(out, "trajectories.csv"))
	var ids []string
	for _, r := range got {
		ids = append(ids, r[0])
	}
	if want := []string{"run-000001", "run-000007"}; !slices.Equal(ids, want) {
		t.Errorf("runs %v, want %v", ids, want)
	}
	for _, table := range m.Tables {
		if want, ok := map[string]int64{"tasks": 1, "states": 14, "features": 2}[table.Table]; ok && table.Rows != want {
			t.Errorf("%s: %d rows, want %d", table.Table, table.Rows, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := madeDataset(t, 2, 2)
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		ctx  context.Context
		opt  Options
		want string
	}{
		{t.Context(), Options{Out: taken, Format: "csv"}, "is not empty"},
		{t.Context(), Options{Out: out, Format: "xml"}, "want one of parquet"},
		{t.Context(), Options{Out: out, Format: "csv", Tables: []string{"state"}}, "did you mean states"},
		{t.Context(), Options{Out: out, Format: "csv", Profiles: []string{"paper"}}, "no profile"},
		{t.Context(), Options{Out: out, Format: "csv", PartitionBy: "day"}, "want task or model"},
		{t.Context(), Options{Out: out, Format: "csv", Where: "pased"}, "did you mean passed"},
		{t.Context(), Options{Out: out, Format: "parquet", Null: "NA"}, "option null is for CSV"},
		{cancelled, Options{Out: out, Format: "csv"}, "canceled"},
	} {
		if _, err := Run(c.ctx, dir, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
	left, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A million states.
func BenchmarkStates(b *testing.B) {
	dir := madeDataset(b, 20_000, 50)
	for _, format := range Formats() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				_, m := export(b, dir, Options{Format: format, Tables: []string{"states"}})
				b.ReportMetric(float64(m.Tables[0].Rows), "rows")
			}
		})
	}
}

func openStates(t *testing.T, dir string) *table {
	t.Helper()
	all := schema.Tables()
	states, err := openTable(dir, all[slices.IndexFunc(all, func(s schema.Table) bool { return s.Name == "states" })], "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { states.close() })
	return states
}

// Rows are read in whatever order, over the ends of pages, with the values they have in order.
func TestReadAnywhere(t *testing.T) {
	states := openStates(t, madeDataset(t, 300, 50))
	n := int(states.parquet.RowsOf(0))
	for _, name := range []string{"step", "tool", "is_error", "observation"} {
		column := slices.IndexFunc(states.variant.Columns, func(c schema.Column) bool { return c.Name == name })
		inOrder := make([]parquet.Value, n)
		c, err := states.column(0, column)
		if err != nil {
			t.Fatal(err)
		}
		if c.read(int64(n-1), inOrder[:1]); name == "observation" && c.from < int64(n/3) {
			t.Fatalf("a column of few pages tests little: the last one begins with row %d of %d", c.from, n)
		}
		if err := c.read(0, inOrder); err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			from := rapid.IntRange(0, n-1).Draw(t, "from")
			got := make([]parquet.Value, rapid.IntRange(1, min(n-from, 3000)).Draw(t, "rows"))
			if err := c.read(int64(from), got); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if !parquet.DeepEqual(v, inOrder[from+i]) {
					t.Fatalf("%s of row %d: %v, want %v", name, from+i, v, inOrder[from+i])
				}
			}
		})
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An error of the writer or a cancelled context ends a scan, which then hands on nothing more.
func TestScanEnds(t *testing.T) {
	states := openStates(t, madeDataset(t, 20, 5))
	spans, err := states.spans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		yield func() error
		want  error
	}{
		{func() error { return full }, full},
		{func() error { cancel(); return nil }, context.Canceled},
	} {
		blocks := 0
		err := states.scan(ctx, spans, []int{0, 1}, func(block) error {
			if blocks++; blocks == 3 {
				return c.yield()
			}
			return nil
		})
		if !errors.Is(err, c.want) || blocks < 3 || blocks > 4 {
			t.Errorf("%v after %d blocks, want %v after 3", err, blocks, c.want)
		}
	}
}

// One changed bit of a table is an error, not fewer rows.
func TestDamagedTable(t *testing.T) {
	dir := madeDataset(t, 3, 5)
	path := store.ParquetPath(dir, "states", "")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{5, len(data) / 2, len(data) - 20} {
		damaged := slices.Clone(data)
		damaged[at] ^= 1
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		_, err := Run(t.Context(), dir, Options{Out: out, Format: "csv", Tables: []string{"states"}})
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "states.parquet") {
			t.Errorf("byte %d: %v", at, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("byte %d: there is an output", at)
		}
	}
}
