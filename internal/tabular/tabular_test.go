package tabular

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

const people = `name,age,score,passed,note
ann,30,1.5,True,x
bob,,2,False,"a, b"
cid,41,NA,true,

dan,7,-0.25,FALSE,007
`

func loadText(t testing.TB, text, where string, columns ...string) (*Frame, error) {
	t.Helper()
	return Load(t.Context(), Input{Path: "-", Stdin: strings.NewReader(text), Where: where, Missing: DefaultMissing()}, columns)
}

// cells are the values of a column as text, "-" for missing.
func cells(c *Column) string {
	out := make([]string, c.Len())
	for i := range out {
		if out[i] = c.Text(i); c.Missing(i) {
			out[i] = "-"
		}
	}
	return strings.Join(out, "|")
}

func TestCSV(t *testing.T) {
	f, err := loadText(t, people, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		name  string
		kind  schema.Kind
		cells string
	}{
		{"name", schema.Text, "ann|bob|cid|dan"},
		{"age", schema.Integer, "30|-|41|7"},
		{"score", schema.Real, "1.5|2|-|-0.25"},
		{"passed", schema.Boolean, "true|false|true|false"},
		{"note", schema.Text, "x|a, b|-|007"},
	} {
		c, err := f.Column(want.name)
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind != want.kind || cells(c) != want.cells {
			t.Errorf("%s: %v %s, want %v %s", want.name, c.Kind, cells(c), want.kind, want.cells)
		}
	}
	if f.Place(3) != "line 6" || f.Line(3) != 6 {
		t.Errorf("the last row is %s, want line 6", f.Place(3))
	}
}

func TestCSVDialects(t *testing.T) {
	for name, text := range map[string]string{
		"tab":       "a\tb\n1\t2\n",
		"semicolon": "a;b\n1;2\n",
		"mark":      "\ufeffa,b\n1,2\n",
		"crlf":      "a,b\r\n1,2\r\n",
		"spaces":    " a , b \n 1 , 2 \n",
	} {
		f, err := loadText(t, text, "", "b")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(f.Columns) != 1 || cells(f.Columns[0]) != "2" || f.Columns[0].Kind != schema.Integer {
			t.Errorf("%s: %v", name, cells(f.Columns[0]))
		}
	}
}

func TestCSVKinds(t *testing.T) {
	for text, want := range map[string]schema.Kind{
		"1 2 3": schema.Integer, "1 2.0": schema.Real, "1e3": schema.Real, "inf": schema.Real,
		"007 8": schema.Text, "0x10": schema.Text, "1_000": schema.Text, "true 1": schema.Text,
		"0 1": schema.Integer, "true FALSE": schema.Boolean, "1e999": schema.Text, "NA nan": schema.Real,
		"9223372036854775808": schema.Real, "- 1": schema.Text,
	} {
		f, err := loadText(t, "c\n"+strings.ReplaceAll(text, " ", "\n")+"\n", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Columns[0].Kind; got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func TestWhere(t *testing.T) {
	for where, want := range map[string]string{
		"age > 10":                     "ann|cid",
		"age IS NULL OR score < 0":     "bob|dan",
		"passed":                       "ann|cid",
		"note = '007' -- a comment":    "dan",
		`"name" LIKE '%n%' AND passed`: "ann",
		"0":                            "",
	} {
		f, err := loadText(t, people, where, "name")
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if c, _ := f.Column("name"); cells(c) != want {
			t.Errorf("%s: %s, want %s", where, cells(c), want)
		}
	}
	if f, err := loadText(t, people, "name = 'dan'", "name"); err != nil || f.Place(0) != "line 6" {
		t.Errorf("a filtered row lost its line: %v, %v", f, err)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct {
		in      Input
		columns []string
		want    string
		is      error
	}{
		{Input{Path: "-", Stdin: strings.NewReader("score,label\n1,2\n")}, []string{"scor"}, `no column "scor"; did you mean score?`, ErrNoColumn},
		{Input{Path: "-", Stdin: strings.NewReader("score,label\n1,2\n")}, []string{"Label"}, "did you mean label?", ErrNoColumn},
		{Input{Path: "-", Stdin: strings.NewReader("score,label\n1,2\n")}, []string{"zzzzzz"}, "the input has score, label", ErrNoColumn},
		{Input{Path: "-", Stdin: strings.NewReader("score,label\n1,2\n"), Where: "labl = 2"}, nil, `the condition: no column "labl"; did you mean label?`, ErrNoColumn},
		{Input{Path: "-", Stdin: strings.NewReader("score,label\n1,2\n"), Where: `"labl" = 2`}, nil, "did you mean label?", ErrNoColumn},
		{Input{Path: "-", Stdin: strings.NewReader("score,label\n1,2\n"), Where: "score >"}, nil, "the condition", nil},
		{Input{Path: "-", Stdin: strings.NewReader("a,a\n1,2\n")}, nil, `columns 1 and 2 are both named "a"`, nil},
		{Input{Path: "-", Stdin: strings.NewReader("a,b\n1,2\n1\n")}, nil, "line 3", nil},
		{Input{Path: "-", Stdin: strings.NewReader("")}, nil, "standard input is empty", nil},
		{Input{Path: "-", Stdin: strings.NewReader("a\n"), Query: "SELECT 1"}, nil, "option query needs SQLite", nil},
		{Input{Path: "-", Stdin: strings.NewReader("a\n"), Profile: "paper"}, nil, "option profile needs a dataset folder", nil},
		{Input{Path: filepath.Join(dir, "nowhere")}, nil, "nowhere", os.ErrNotExist},
		{Input{Path: dir}, nil, "holds no dataset", nil},
		{Input{Path: write("x.jsonl", "{}\n")}, nil, "looks like JSON", nil},
		{Input{Path: write("x.csv.gz", "\x1f\x8b\x08")}, nil, "is compressed", nil},
		{Input{Path: write("x.bin", "a\x00b")}, nil, "is no text", nil},
		{Input{Path: write("x.parquet", "PAR1 and no more")}, nil, "x.parquet", nil},
		{Input{Path: write("x.db", "SQLite format 3\x00 and no more")}, nil, "x.db", nil},
	} {
		_, err := Load(t.Context(), tc.in, tc.columns)
		if err == nil || !strings.Contains(err.Error(), tc.want) || tc.is != nil && !errors.Is(err, tc.is) {
			t.Errorf("%+v %v: %v, want %s (%v)", tc.in, tc.columns, err, tc.want, tc.is)
		}
	}
}

// sqliteFile makes a database by a script.
func sqliteFile(t testing.TB, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some file?.db")
	conn, err := openWritable(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Exec(script); err != nil {
		t.Fatal(err)
	}
	return path
}

func openWritable(path string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+strings.ReplaceAll(path, "?", "%3f"))
}

func TestSQLite(t *testing.T) {
	path := sqliteFile(t, `CREATE TABLE runs (id TEXT, score, ok BOOLEAN, day DATE, mixed);
INSERT INTO runs VALUES ('a', 1, 1, '2024-01-02', 1), ('b', 2.5, 0, NULL, 'x'), ('c', NULL, NULL, '2024-01-03', 2.5);`)
	f, err := Load(t.Context(), Input{Path: path}, nil) // the only table
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a|b|c", "1|2.5|-", "1|0|-", "2024-01-02|-|2024-01-03", "1|x|2.5"}
	for i, c := range f.Columns {
		if cells(c) != want[i] {
			t.Errorf("%s: %s, want %s", c.Name, cells(c), want[i])
		}
	}
	f, err = Load(t.Context(), Input{Path: path, Query: "SELECT id, score * 2 AS twice FROM runs ORDER BY id DESC -- all", Where: "twice > 1"}, []string{"twice", "id"})
	if err != nil {
		t.Fatal(err)
	}
	if cells(f.Columns[0]) != "5|2" || cells(f.Columns[1]) != "b|a" {
		t.Errorf("%s, %s", cells(f.Columns[0]), cells(f.Columns[1]))
	}

	path = sqliteFile(t, "CREATE TABLE a (x); CREATE TABLE b (x);")
	if _, err := Load(t.Context(), Input{Path: path}, nil); !usage.Is(err) || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("two tables: %v", err)
	}
}

// TestSQLOnlyReads tries to change the file and to make another by queries.
func TestSQLOnlyReads(t *testing.T) {
	path := sqliteFile(t, "CREATE TABLE runs (id TEXT); INSERT INTO runs VALUES ('a');")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	for _, query := range []string{
		"DELETE FROM runs RETURNING id",
		"SELECT 1); DELETE FROM runs; SELECT * FROM (SELECT 1",
		"SELECT 1); PRAGMA query_only = 0; DELETE FROM runs; SELECT * FROM (SELECT 1",
		fmt.Sprintf("SELECT 1); ATTACH '%s' AS o; CREATE TABLE o.t (x); SELECT * FROM (SELECT 1", other),
		fmt.Sprintf("SELECT 1); VACUUM INTO '%s'; SELECT * FROM (SELECT 1", other),
	} {
		_, err := Load(t.Context(), Input{Path: path, Query: query}, nil)
		if err == nil {
			t.Errorf("no error: %s", query)
		}
	}
	for _, where := range []string{
		fmt.Sprintf("1); ATTACH '%s' AS o; CREATE TABLE o.t (x); SELECT (1", other),
		fmt.Sprintf("1); VACUUM INTO '%s'; SELECT (1", other),
	} {
		if _, err := loadText(t, people, where); err == nil {
			t.Errorf("no error: %s", where)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file changed (%v)", err)
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a query made a file (%v)", err)
	}
}

type record struct {
	Name   string   `parquet:"name"`
	Age    *int64   `parquet:"age,optional"`
	Small  int32    `parquet:"small"`
	Big    uint64   `parquet:"big"`
	Score  float64  `parquet:"score"`
	Narrow float32  `parquet:"narrow"`
	Passed *bool    `parquet:"passed,optional"`
	Tags   []string `parquet:"tags,list"`
	Inner  struct {
		X *int64 `parquet:"x,optional"`
	} `parquet:"inner"`
	Price int64 `parquet:"price,decimal(2:18)"`
}

func parquetFile(t testing.TB, rows []record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquet.WriteFile(path, rows, parquet.MaxRowsPerRowGroup(2)); err != nil {
		t.Fatal(err)
	}
	return path
}

func ptr[T any](v T) *T { return &v }

func TestParquet(t *testing.T) {
	rows := []record{
		{Name: "ann", Age: ptr(int64(30)), Small: -1, Big: 7, Score: 1.5, Narrow: 0.5, Passed: ptr(true), Tags: []string{"a", "b"}},
		{Name: "bob", Small: 2, Big: 8, Score: math.NaN(), Narrow: 2},
		{Name: "cid", Age: ptr(int64(41)), Big: math.MaxUint64, Score: -2, Passed: ptr(false)},
	}
	rows[2].Inner.X = ptr(int64(5))
	rows[0].Price, rows[1].Price = 1234, -5
	path := parquetFile(t, rows)
	wanted := []string{"name", "age", "small", "big", "score", "narrow", "passed", "inner.x"}
	f, err := Load(t.Context(), Input{Path: path}, wanted)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ann|bob|cid", "30|-|41", "-1|2|0", "7|8|1.8446744073709552e+19", "1.5|-|-2", "0.5|2|0", "true|-|false", "-|-|5"}
	for i, c := range f.Columns {
		if cells(c) != want[i] {
			t.Errorf("%s: %s, want %s", c.Name, cells(c), want[i])
		}
	}
	f, err = Load(t.Context(), Input{Path: path, Where: "passed = 0"}, []string{"name"})
	if err != nil {
		t.Fatal(err)
	}
	if cells(f.Columns[0]) != "cid" || f.Place(0) != "row 3" {
		t.Errorf("%s at %s", cells(f.Columns[0]), f.Place(0))
	}
	if f, err = Load(t.Context(), Input{Path: path}, []string{"price"}); err != nil || cells(f.Columns[0]) != "12.34|-0.05|0" {
		t.Errorf("decimals: %v, %v", f, err)
	}
	if _, err := Load(t.Context(), Input{Path: path}, []string{"tags"}); !errors.Is(err, ErrNoColumn) {
		t.Errorf("a list is no column: %v", err)
	}
}

// TestWidening adds values of any kinds and compares with a plain list of them.
func TestWidening(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newColumn("c")
		widest, typed := schema.Boolean, false
		var want []any
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			var kind schema.Kind
			var v any
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				want = append(want, nil)
				c.addMissing()
				continue
			case 1:
				b := rapid.Bool().Draw(t, "b")
				c.addBoolean(b)
				kind, v = schema.Boolean, b
			case 2:
				n := rapid.Int64Range(-1000, 1000).Draw(t, "i")
				c.addInteger(n)
				kind, v = schema.Integer, n
			case 3:
				x := float64(rapid.IntRange(-100, 100).Draw(t, "r")) / 4
				c.addReal(x)
				kind, v = schema.Real, x
			default:
				s := rapid.SampledFrom([]string{"", "a", "1"}).Draw(t, "s")
				c.addText(s)
				kind, v = schema.Text, s
			}
			want, typed = append(want, v), true
			if width(kind) > width(widest) {
				widest = kind
			}
		}
		if typed && c.Kind != widest {
			t.Fatalf("kind %v, want %v for %v", c.Kind, widest, want)
		}
		if c.Len() != len(want) {
			t.Fatalf("%d values, want %d", c.Len(), len(want))
		}
		for i, v := range want {
			if (v == nil) != c.Missing(i) {
				t.Fatalf("value %d of %v: missing %v", i, want, c.Missing(i))
			}
			if v == nil {
				continue
			}
			if c.Numeric() {
				x, isNumber := v.(float64)
				if n, ok := v.(int64); ok {
					x, isNumber = float64(n), true
				}
				if v == true {
					x = 1
				}
				if c.Float(i) != x {
					t.Fatalf("value %d of %v is %v (a number: %v)", i, want, c.Float(i), isNumber)
				}
			} else if s, ok := v.(string); ok && c.Text(i) != s {
				t.Fatalf("value %d of %v is %q", i, want, c.Text(i))
			}
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{people, "a\n1\n", "a;b\n\"x", "\ufeff", "a,b\n1\n", ",\n,\n", "a\n0e-999\n+1\n"} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, text, column string) {
		fr, err := Load(context.Background(), Input{Path: "-", Stdin: strings.NewReader(text), Missing: DefaultMissing()}, nil)
		if err != nil {
			return
		}
		for _, c := range fr.Columns {
			if c.Len() != fr.Rows() {
				t.Fatalf("%s has %d values, the frame %d rows", c.Name, c.Len(), fr.Rows())
			}
			for i := range c.Len() {
				if c.Numeric() && !c.Missing(i) && math.IsNaN(c.Float(i)) {
					t.Fatalf("%s row %d is NaN", c.Name, i)
				}
			}
		}
		one, err := Load(context.Background(), Input{Path: "-", Stdin: strings.NewReader(text), Missing: DefaultMissing()}, []string{column})
		if has := slices.ContainsFunc(fr.Columns, func(c *Column) bool { return c.Name == column }); (err == nil) != has {
			t.Fatalf("column %q: %v, the input has it: %v", column, err, has)
		}
		if err == nil {
			c, _ := fr.Column(column)
			if cells(one.Columns[0]) != cells(c) {
				t.Fatalf("column %q read alone differs", column)
			}
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	var text strings.Builder
	text.WriteString("id,task,model,score,passed\n")
	for i := range 100_000 {
		fmt.Fprintf(&text, "run-%d,task-%d,model-%d,%.6f,%t\n", i, i%500, i%8, float64(i*7919%100_003)/100_003, i%3 > 0)
	}
	for name, where := range map[string]string{"all": "", "where": "model <> 'model-3'"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := loadText(b, text.String(), where, "score", "passed"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
