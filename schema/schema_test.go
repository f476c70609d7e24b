package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write REFERENCE.md and schema.json anew")

func TestCommittedFilesAreCurrent(t *testing.T) {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{"REFERENCE.md", Reference}, {"schema.json", JSONSchema}} {
		var got bytes.Buffer
		if err := f.write(&got); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(f.name, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is not what the structs say; run go test ./schema -update", f.name)
		}
	}
}

func TestEveryColumn(t *testing.T) {
	name := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[*string](),
		reflect.TypeFor[int64](), reflect.TypeFor[*int64](),
		reflect.TypeFor[float64](), reflect.TypeFor[*float64](),
		reflect.TypeFor[bool](), reflect.TypeFor[*bool](),
	}
	seen := map[string]bool{}
	for _, table := range Tables() {
		if seen[table.Name] || table.Doc == "" {
			t.Errorf("table %s: no documentation, or twice", table.Name)
		}
		seen[table.Name] = true
		for _, v := range table.Variants {
			columns := map[string]bool{ProfileColumn: table.PerProfile}
			if len(v.Key()) == 0 {
				t.Errorf("table %s has no primary key", table.Name)
			}
			for i, c := range v.Columns {
				f := v.Row.Field(i)
				if !slices.Contains(types, f.Type) {
					t.Errorf("%s.%s: type %s", table.Name, c.Name, f.Type)
				}
				if tag := f.Tag.Get("parquet"); c.Kind == Text && !strings.HasSuffix(tag, ",plain") {
					t.Errorf("%s.%s: tag %q, want plain text; see the package comment", table.Name, c.Name, tag)
				}
				if lower := strings.ToLower(c.Name); columns[lower] {
					t.Errorf("%s.%s: twice, as SQLite reads names", table.Name, c.Name)
				} else {
					columns[lower] = true
				}
				if !name.MatchString(c.Name) || c.Doc == "" || strings.Contains(c.Doc, "\n") {
					t.Errorf("%s.%s: bad name or documentation", table.Name, c.Name)
				}
				if c.PK && c.Nullable || c.Enum != nil && c.Kind != Text {
					t.Errorf("%s.%s: a key is never null, a vocabulary is text", table.Name, c.Name)
				}
				if c.Ref != "" && !seen[c.Ref] {
					t.Errorf("%s.%s refers to %s, which is no earlier table", table.Name, c.Name, c.Ref)
				}
			}
		}
	}
}

// The order and types of the release's annotation table.
func TestFeaturesAreTheReleasesColumns(t *testing.T) {
	text := "task_id model trajectory_id quality_tier verdict failure_reasons strengths"
	boolean := "passed stage_order_match"
	real := "coverage_percent precision_percent f1_score coherence_score temporal_profile_score workflow_similarity " +
		"stage_completeness bottleneck_coverage weighted_score stage_coverage_E stage_coverage_I stage_coverage_V " +
		"stage_coverage_O waste_severity divergence_fraction"
	want := strings.Fields(`task_id model trajectory_id passed n_states quality_score quality_tier verdict
		coverage_percent precision_percent f1_score coherence_score temporal_profile_score workflow_similarity
		stage_completeness bottleneck_coverage weighted_score stage_coverage_E stage_coverage_I stage_coverage_V
		stage_coverage_O regression_loop_count regression_loop_waste blind_retry_count blind_retry_waste
		redundant_step_count redundant_step_waste unnecessary_exploration_count unnecessary_exploration_waste
		cyclic_pattern_count cyclic_pattern_waste total_wasted_steps waste_severity wasted_input_tokens
		wasted_output_tokens divergence_step divergence_fraction stage_order_match failure_reasons strengths`)
	if len(want) != 40 {
		t.Fatalf("the test lists %d columns", len(want))
	}
	for _, name := range []string{"features", "published"} {
		table, ok := Lookup(name)
		if !ok {
			t.Fatalf("no table %s", name)
		}
		columns := table.Variants[0].Columns
		if got := names(columns); !slices.Equal(got, want) {
			t.Errorf("%s: columns\n%v, want\n%v", name, got, want)
		}
		for _, c := range columns {
			kind := Integer
			switch {
			case slices.Contains(strings.Fields(text), c.Name):
				kind = Text
			case slices.Contains(strings.Fields(boolean), c.Name):
				kind = Boolean
			case slices.Contains(strings.Fields(real), c.Name):
				kind = Real
			}
			if c.Kind != kind {
				t.Errorf("%s.%s is %s, want %s", name, c.Name, c.Kind, kind)
			}
		}
	}
}

func TestVerbatimTablesHaveNoForeignKeys(t *testing.T) {
	for _, name := range []string{"published", "published_tasks", "published_references"} {
		table, _ := Lookup(name)
		if sql := createTable(table, Tables()); strings.Contains(sql, "FOREIGN KEY") {
			t.Errorf("%s:\n%s", name, sql)
		}
	}
	features, _ := Lookup("features")
	if sql := createTable(features, Tables()); !strings.Contains(sql, "FOREIGN KEY (trajectory_id) REFERENCES trajectories (trajectory_id)") {
		t.Errorf("features lost its foreign key:\n%s", sql)
	}
}

type signalsA struct {
	TrajectoryID string  `parquet:"trajectory_id" sql:"pk" doc:"Run."`
	Both         int64   `parquet:"both" doc:"In a and b."`
	Level        string  `parquet:"level" sql:"enum=low|high" doc:"In a and b, other words."`
	OnlyA        float64 `parquet:"only_a" doc:"In a."`
}

type signalsB struct {
	TrajectoryID string `parquet:"trajectory_id" sql:"pk" doc:"Run."`
	OnlyB        bool   `parquet:"only_b" doc:"In b."`
	Both         *int64 `parquet:"both,optional" doc:"In a and b."`
	Level        string `parquet:"level" sql:"enum=high|huge" doc:"In a and b, other words."`
}

func TestVariantsShareOneTable(t *testing.T) {
	table := signals(variant[signalsA]("a"), variant[signalsB]("b"))
	tables := []Table{table}
	list, err := objects(tables, []string{"b", "a"})
	if err != nil {
		t.Fatal(err)
	}
	var sql []string
	for _, o := range list {
		sql = append(sql, o.SQL)
	}
	want := []string{
		`CREATE TABLE signals ( -- What a profile computes beyond the 40 columns. Its columns depend on the profile.
  profile TEXT NOT NULL, -- Profile of the row.
  trajectory_id TEXT NOT NULL, -- Run.
  both INTEGER, -- In a and b.
  level TEXT NOT NULL CHECK (level IN ('low', 'high', 'huge')), -- In a and b, other words.
  only_a REAL, -- In a.
  only_b INTEGER CHECK (only_b IN (0, 1)), -- In b.
  PRIMARY KEY (profile, trajectory_id)
) STRICT, WITHOUT ROWID`,
		"CREATE VIEW signals_b AS\nSELECT trajectory_id, only_b, both, level\nFROM signals\nWHERE profile = 'b'",
		"CREATE VIEW signals_a AS\nSELECT trajectory_id, both, level, only_a\nFROM signals\nWHERE profile = 'a'",
	}
	if !slices.Equal(sql, want) {
		t.Errorf("got\n%s", strings.Join(sql, "\n\n"))
	}
	if _, err := objects(tables, []string{"c"}); err == nil {
		t.Error("a profile without signals was taken")
	}
}

func TestForeignKeyOnAPerProfileTable(t *testing.T) {
	table, _ := Lookup("pta_members")
	sql := createTable(table, Tables())
	for _, want := range []string{
		"PRIMARY KEY (profile, pta_id, position)",
		"FOREIGN KEY (profile, pta_id) REFERENCES pta (profile, pta_id)",
		"FOREIGN KEY (trajectory_id) REFERENCES trajectories (trajectory_id)",
	} {
		if !strings.Contains(sql, want) {
			t.Errorf("no %q in\n%s", want, sql)
		}
	}
}

// The JSON names of a row's values, as encoding its columns one by one would give them,
// satisfy the definition: names, order and null.
func TestJSONSchemaHasEveryColumn(t *testing.T) {
	var b bytes.Buffer
	if err := JSONSchema(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Type any
				Enum []any
			}
			Required []string
		} `json:"$defs"`
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	signals := doc.Defs["signals_release"]
	table, _ := Lookup("signals")
	v, _ := table.Variant("release")
	if !slices.Equal(signals.Required, names(v.Columns)) || len(signals.Properties) != len(v.Columns) {
		t.Errorf("signals_release: %d properties, required %v", len(signals.Properties), signals.Required)
	}
	tier := doc.Defs["tiers"].Properties["tier"]
	if !reflect.DeepEqual(tier.Type, []any{"string", "null"}) ||
		!reflect.DeepEqual(tier.Enum, []any{"ideal", "solid", "lucky", "partial_fail", "off_track", nil}) {
		t.Errorf("tiers.tier: %v", tier)
	}
	if n := doc.Defs["trajectories"].Properties["n_states"]; n.Type != "integer" {
		t.Errorf("trajectories.n_states: %v", n)
	}
}

func TestBadTagsPanic(t *testing.T) {
	for name, row := range map[string]any{
		"type":     struct{ A int32 }{},
		"optional": struct{ A *string }{},
		"option": struct {
			A string `parquet:"a" sql:"key"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			columnsOf(reflect.TypeOf(row))
		}()
	}
}
