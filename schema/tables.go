package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

const (
	// Version is the version of the tables. A dataset carries it as SQLite's user_version and
	// in the metadata of each Parquet file. It grows by one whenever a column changes.
	Version = 1

	// ApplicationID marks a dataset's SQLite file (PRAGMA application_id): "AGLB" in ASCII.
	ApplicationID = 0x41474c42

	// ProfileColumn leads every per-profile table in SQLite. Parquet files don't have it:
	// there the folder names the profile.
	ProfileColumn = "profile"
)

// Kind is the type of a column's values.
type Kind uint8

// The four kinds, with their Go, SQLite, Parquet and JSON types.
const (
	Text    Kind = iota // string, TEXT, UTF-8, string
	Integer             // int64, INTEGER, INT64, integer
	Real                // float64, REAL, DOUBLE, number
	Boolean             // bool, INTEGER 0 or 1, BOOLEAN, boolean
)

// String is the kind's name in the column reference.
func (k Kind) String() string { return [...]string{"text", "integer", "real", "boolean"}[k] }

// SQL is the column type in a STRICT table.
func (k Kind) SQL() string { return [...]string{"TEXT", "INTEGER", "REAL", "INTEGER"}[k] }

// JSON is the type in JSON Schema.
func (k Kind) JSON() string { return [...]string{"string", "integer", "number", "boolean"}[k] }

// Column is one column of a table.
type Column struct {
	Name     string
	Kind     Kind
	Nullable bool
	PK       bool     // part of the primary key
	Ref      string   // table whose one-column key the column refers to, or ""
	Index    bool     // has an index of its own
	Enum     []string // closed vocabulary of a text column, or nil
	LogText  bool     // holds text of the log as it is, or a digest of it
	Doc      string
	Field    int // index of the field in the row struct
}

// Optional says whether a published dataset may lack the column: its values are then null, or
// empty where the column has no nulls.
func (c Column) Optional() bool { return !c.PK && (c.Nullable || c.LogText) }

// Variant is a table's columns in one profile.
type Variant struct {
	Profile string       // "" when the columns are the same in every profile
	Row     reflect.Type // the row struct
	Columns []Column     // in the order of the struct's fields
}

// Key returns the primary key: the indexes of its columns, in order, without the profile.
func (v Variant) Key() []int {
	var key []int
	for i, c := range v.Columns {
		if c.PK {
			key = append(key, i)
		}
	}
	return key
}

// Table is one table of a dataset.
type Table struct {
	Name       string
	Doc        string
	PerProfile bool      // one Parquet file per profile, and a leading profile column in SQLite
	Variants   []Variant // one, or one per profile where profiles have different columns
}

// Variant returns the columns the table has in a profile; "" stands for a shared table.
func (t Table) Variant(profile string) (Variant, error) {
	switch {
	case !t.PerProfile && profile != "":
		return Variant{}, fmt.Errorf("table %s is shared by all profiles, it has none named %q", t.Name, profile)
	case t.PerProfile && profile == "":
		return Variant{}, fmt.Errorf("table %s needs a profile", t.Name)
	}
	for _, v := range t.Variants {
		if v.Profile == "" || v.Profile == profile {
			return v, nil
		}
	}
	return Variant{}, fmt.Errorf("table %s has no columns for profile %q", t.Name, profile)
}

// SQLColumns returns the columns of the table in SQLite: the profile for a per-profile
// table, then the union of the variants' columns in order of first appearance. A column
// that some variant lacks may be NULL.
func (t Table) SQLColumns() []Column {
	var union []Column
	if t.PerProfile {
		union = append(union, Column{Name: ProfileColumn, Kind: Text, PK: true, Doc: "Profile of the row.", Field: -1})
	}
	variants := map[string]int{}
	for _, v := range t.Variants {
		for _, c := range v.Columns {
			variants[c.Name]++
			i := slices.IndexFunc(union, func(u Column) bool { return u.Name == c.Name })
			if i < 0 {
				union = append(union, c)
				continue
			}
			u := &union[i]
			if u.Kind != c.Kind || u.PK != c.PK || u.Ref != c.Ref {
				panic(fmt.Sprintf("schema: column %s.%s differs between profiles in more than its values", t.Name, c.Name))
			}
			u.Nullable = u.Nullable || c.Nullable
			u.Index = u.Index || c.Index
			if u.Enum == nil || c.Enum == nil {
				u.Enum = nil
				continue
			}
			u.Enum = slices.Clone(u.Enum)
			for _, e := range c.Enum {
				if !slices.Contains(u.Enum, e) {
					u.Enum = append(u.Enum, e)
				}
			}
		}
	}
	for i, u := range union {
		if u.Name != ProfileColumn && variants[u.Name] < len(t.Variants) {
			union[i].Nullable = true
		}
	}
	return union
}

// Tables returns every table of a dataset: parents before the tables that refer to them,
// the shared ones first.
func Tables() []Table {
	return []Table{
		shared[Task]("tasks", "Benchmark instances: one row per task."),
		shared[Model]("models", "Language models: one row per model."),
		shared[Trajectory]("trajectories", "Runs: identity, outcome and where it came from, totals. One row per run."),
		shared[State]("states", "Steps: one row per state of a run, the initial state included."),
		withoutRefs(shared[Published]("published", "The 40 annotation columns the release published, verbatim. A run named here need not be in trajectories.")),
		withoutRefs(shared[PublishedTask]("published_tasks", "The task table the release published, verbatim.")),
		withoutRefs(shared[PublishedReference]("published_references", "The merged graphs the release ships, summarised.")),
		shared[IngestError]("ingest_errors", "Records of the source that were refused, and why."),

		perProfile[Features]("features", "The release's 40 columns, computed by the profile. One row per judged run."),
		perProfile[PTA]("pta", "References: one row for each set of runs that others were judged by, merged into a graph but in the process profile."),
		signals(variant[SignalsRelease]("release"), variant[SignalsPaper]("paper"), variant[SignalsProcess]("process")),
		perProfile[PTAMember]("pta_members", "Which runs, in which order, were merged into a reference."),
		perProfile[PTANode]("pta_nodes", "States of the references."),
		perProfile[PTAEdge]("pta_edges", "Transitions of the references."),
		perProfile[PTAPath]("pta_paths", "Enumerated paths of the references."),
		perProfile[Alignment]("alignments", "Each state of a judged run against its best reference path."),
		perProfile[Divergence]("divergences", "Maximal runs of reference states that a run never matched."),
		perProfile[Waste]("waste", "Detected spans of wasted steps."),
		perProfile[ToolWaste]("tool_waste", "Wasted steps by tool, each step counted once."),
		perProfile[Tier]("tiers", "Tier and Lucky category of every run, and the rule that decided."),
	}
}

// Lookup returns the table of that name.
func Lookup(name string) (Table, bool) {
	tables := Tables()
	if i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == name }); i >= 0 {
		return tables[i], true
	}
	return Table{}, false
}

// Profiles returns the names of the profiles, in the order of their variants in signals.
func Profiles() []string {
	t, _ := Lookup("signals")
	names := make([]string, len(t.Variants))
	for i, v := range t.Variants {
		names[i] = v.Profile
	}
	return names
}

func signals(variants ...Variant) Table {
	return Table{
		Name:       "signals",
		Doc:        "What a profile computes beyond the 40 columns. Its columns depend on the profile.",
		PerProfile: true,
		Variants:   variants,
	}
}

func shared[T any](name, doc string) Table {
	return Table{Name: name, Doc: doc, Variants: []Variant{variant[T]("")}}
}

func perProfile[T any](name, doc string) Table {
	return Table{Name: name, Doc: doc, PerProfile: true, Variants: []Variant{variant[T]("")}}
}

func variant[T any](profile string) Variant {
	row := reflect.TypeFor[T]()
	return Variant{Profile: profile, Row: row, Columns: columnsOf(row)}
}

// withoutRefs drops the foreign keys: rows taken over verbatim may name runs we don't have.
func withoutRefs(t Table) Table {
	for _, v := range t.Variants {
		for i := range v.Columns {
			v.Columns[i].Ref = ""
		}
	}
	return t
}

// columnsOf reads the columns off a row struct. It panics when a field breaks the rules of
// the package comment, which a test rules out.
func columnsOf(row reflect.Type) []Column {
	columns := make([]Column, row.NumField())
	for i := range columns {
		f := row.Field(i)
		fail := func(what string) {
			panic(fmt.Sprintf("schema: field %s.%s: %s", row.Name(), f.Name, what))
		}
		c := Column{Field: i, Doc: f.Tag.Get("doc")}
		name, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		c.Name = name
		typ := f.Type
		if c.Nullable = typ.Kind() == reflect.Pointer; c.Nullable {
			typ = typ.Elem()
		}
		switch typ {
		case reflect.TypeFor[string]():
			c.Kind = Text
		case reflect.TypeFor[int64]():
			c.Kind = Integer
		case reflect.TypeFor[float64]():
			c.Kind = Real
		case reflect.TypeFor[bool]():
			c.Kind = Boolean
		default:
			fail("type " + f.Type.String() + " is none of string, int64, float64, bool and pointers to them")
		}
		if slices.Contains(strings.Split(options, ","), "optional") != c.Nullable {
			fail("the parquet tag says optional exactly when the field is a pointer")
		}
		for option := range strings.SplitSeq(f.Tag.Get("sql"), ",") {
			key, arg, _ := strings.Cut(option, "=")
			switch key {
			case "":
			case "pk":
				c.PK = true
			case "index":
				c.Index = true
			case "logtext":
				c.LogText = true
			case "ref":
				c.Ref = arg
			case "enum":
				c.Enum = strings.Split(arg, "|")
			default:
				fail("unknown sql option " + option)
			}
		}
		columns[i] = c
	}
	return columns
}
