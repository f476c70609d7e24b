package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/nearest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// Names of files.
const (
	ManifestName = "manifest.json" // describes an export
	DatabaseName = "agentlens.db"  // of the format sqlite
)

// Formats of files, which are the endings of their names, too.
func Formats() []string { return []string{"parquet", "csv", "jsonl", "arrow", sqlite} }

// sqlite is the format of one file with all tables.
const sqlite = "sqlite"

// Options of Run.
type Options struct {
	Out         string
	Format      string
	Tables      []string // nil for all
	Profiles    []string // nil for all of the dataset
	Where       string   // condition on a run, as package tabular joins its columns; "" for all rows
	PartitionBy string   // "", task or model
	Null        string   // text of NULL in CSV
}

// Manifest describes an export.
type Manifest struct {
	Tool          string     `json:"tool"`
	ToolVersion   string     `json:"tool_version"`
	SchemaVersion int        `json:"schema_version"`
	Dataset       Dataset    `json:"dataset"`
	Format        string     `json:"format"`
	Where         string     `json:"where,omitzero"`
	PartitionBy   string     `json:"partition_by,omitzero"` // column
	Null          *string    `json:"csv_null,omitzero"`     // field that is NULL; an empty text is ""
	Tables        []TableOut `json:"tables"`
}

// Dataset is what was exported.
type Dataset struct {
	Version         string `json:"version,omitzero"`
	ChecksumsSHA256 string `json:"checksums_sha256"` // of its SHA256SUMS
}

// TableOut is one exported table.
type TableOut struct {
	Table       string      `json:"table"`
	Profile     string      `json:"profile,omitzero"`
	Rows        int64       `json:"rows"`
	PartitionBy string      `json:"partition_by,omitzero"`
	Columns     []ColumnOut `json:"columns"` // in the files
	Key         []string    `json:"key"`     // primary key, by which rows are sorted
	Files       []FileOut   `json:"files"`
}

// ColumnOut is one column of an exported table.
type ColumnOut struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // text, integer, real, boolean
	Nullable bool   `json:"nullable"`
}

// FileOut is one file of an exported table.
type FileOut struct {
	checksum.File
	Rows int64 `json:"rows"`
}

// Run exports a dataset. On an error there is no output.
func Run(ctx context.Context, dir string, opt Options) (m Manifest, err error) {
	if !slices.Contains(Formats(), opt.Format) {
		return m, usage.Errorf("", "format %q: want one of %s", opt.Format, strings.Join(Formats(), ", "))
	}
	e := &exporter{dir: dir, opt: opt}
	switch opt.PartitionBy {
	case "":
	case "task":
		e.column = "task_id"
	case "model":
		e.column = "model"
	default:
		return m, usage.Errorf("partition-by", "%q: want task or model", opt.PartitionBy)
	}
	if opt.Format == sqlite && opt.PartitionBy != "" {
		return m, usage.Errorf("partition-by", "is for files of single tables, and option format sqlite writes one file with all of them")
	}
	if opt.Null != "" && (opt.Format != "csv" || strings.ContainsAny(opt.Null, ",\"\r\n")) {
		return m, usage.Errorf("null", "is for CSV, and holds no comma, quote or line end")
	}
	held, err := dataset.Hold(dir)
	if err != nil {
		return m, err
	}
	defer func() { err = held.Release(err) }()
	source, err := bench.ReadManifest(dir)
	if err != nil {
		return m, err
	}
	parts, err := e.parts(source)
	if err != nil {
		return m, err
	}
	if e.out, err = output.Begin(opt.Out, nil); err != nil {
		return m, err
	}
	defer func() { err = e.out.End(err) }()
	if err := e.index(ctx, parts); err != nil {
		return m, err
	}
	sum, err := bench.ChecksumsDigest(dir)
	if err != nil {
		return m, err
	}
	m = Manifest{
		Tool: "agentlens", ToolVersion: bench.ToolVersion, SchemaVersion: schema.Version,
		Dataset: Dataset{Version: source.Version, ChecksumsSHA256: sum},
		Format:  opt.Format, Where: opt.Where, PartitionBy: e.column,
	}
	if opt.Format == "csv" {
		m.Null = &opt.Null
	}
	if opt.Format == sqlite {
		e.scratch = filepath.Join(e.out.Scratch(), "parquet")
	}
	for _, p := range parts {
		t, err := e.table(ctx, p)
		if err != nil {
			return m, err
		}
		m.Tables = append(m.Tables, t)
	}
	if opt.Format == sqlite {
		if err := e.load(ctx); err != nil {
			return m, err
		}
	}
	files, err := e.out.Files()
	if err != nil {
		return m, err
	}
	byPath := map[string]checksum.File{}
	for _, f := range files {
		byPath[f.Path] = f
	}
	for _, t := range m.Tables {
		for i := range t.Files {
			t.Files[i].File = byPath[t.Files[i].Path]
		}
	}
	text, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "), json.FormatNilSliceAsNull(false))
	if err != nil {
		return m, err
	}
	if err := e.out.Write(ManifestName, append(text, '\n')); err != nil {
		return m, err
	}
	if err := cmp.Or(ctx.Err(), held.Whole(nil)); err != nil {
		return m, err
	}
	return m, e.out.Commit()
}

type exporter struct {
	dir     string
	opt     Options
	column  string // of the partitions, "" for none
	out     *output.Folder
	scratch string // Parquet files that SQLite is loaded from, "" for another format

	chosen *choice           // nil for all rows
	task   map[string]string // task of a run, for partitions
	model  map[string]string // model of a run, for partitions
	ptas   map[string]string // task of a reference
}

// choice is the runs for which the condition holds, and what belongs to them.
type choice struct{ runs, tasks, models map[string]bool }

// part is one table of one profile.
type part struct {
	table   schema.Table
	profile string
}

func (p part) String() string { return strings.TrimPrefix(p.profile+"/"+p.table.Name, "/") }

// parts lists what to export, in the order of the schema.
func (e *exporter) parts(source bench.Manifest) ([]part, error) {
	have := source.Parameters.Profiles
	profiles := e.opt.Profiles
	if len(profiles) == 0 {
		profiles = have
	}
	for _, p := range profiles {
		if !slices.Contains(have, p) {
			return nil, usage.Errorf("", "the dataset has no profile %q, only %s", p, strings.Join(have, ", "))
		}
	}
	var names []string
	for _, t := range schema.Tables() {
		names = append(names, t.Name)
	}
	for _, name := range e.opt.Tables {
		if slices.Contains(names, name) {
			continue
		}
		if near := nearest.Names(name, names); len(near) > 0 {
			return nil, usage.Errorf("", "no table %q; did you mean %s?", name, strings.Join(near, " or "))
		}
		return nil, usage.Errorf("", "no table %q, only %s", name, strings.Join(names, ", "))
	}
	var out []part
	for _, profile := range append([]string{""}, profiles...) {
		for _, t := range schema.Tables() {
			if t.PerProfile != (profile != "") || len(e.opt.Tables) > 0 && !slices.Contains(e.opt.Tables, t.Name) {
				continue
			}
			p := part{t, profile}
			switch has := slices.ContainsFunc(source.Tables, func(s store.TableStat) bool { return s.Table == t.Name && s.Profile == profile }); {
			case has:
				out = append(out, p)
			case len(e.opt.Tables) > 0:
				return nil, usage.Errorf("", "the dataset was published without the table %s", p)
			}
		}
	}
	return out, nil
}

// index reads what partitions and the condition need of the dataset, to export these parts.
func (e *exporter) index(ctx context.Context, parts []part) error {
	if e.opt.Where != "" {
		profile := ""
		if len(e.opt.Profiles) > 0 {
			profile = e.opt.Profiles[0]
		}
		f, err := tabular.Load(ctx, tabular.Input{Path: e.dir, Profile: profile, Where: e.opt.Where}, []string{"trajectory_id", "task_id", "model"})
		if err != nil {
			return err
		}
		e.chosen = &choice{map[string]bool{}, map[string]bool{}, map[string]bool{}}
		for i := range f.Rows() {
			e.chosen.runs[f.Columns[0].Text(i)] = true
			e.chosen.tasks[f.Columns[1].Text(i)] = true
			e.chosen.models[f.Columns[2].Text(i)] = true
		}
	}
	if e.opt.Where == "" && e.column == "" {
		return nil
	}
	ofReference := func(p part) bool { v := p.table.Variants[0]; return v.Columns[v.Key()[0]].Name == "pta_id" }
	if e.column != "model" && slices.ContainsFunc(parts, ofReference) {
		if err := store.Require(e.dir, "pta"); err != nil { // it says which task a reference belongs to
			return err
		}
	}
	db, err := store.Open(ctx, e.dir)
	if err != nil {
		return err
	}
	defer db.Close()
	e.task, e.model, e.ptas = map[string]string{}, map[string]string{}, map[string]string{}
	rows, err := db.QueryContext(ctx, `SELECT trajectory_id, task_id, model FROM published
		UNION ALL SELECT trajectory_id, task_id, model FROM trajectories`) // the latter wins
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var run, task, model string
		if err := rows.Scan(&run, &task, &model); err != nil {
			return err
		}
		e.task[run], e.model[run] = task, model
	}
	if err := rows.Err(); err != nil {
		return err
	}
	refs, err := db.QueryContext(ctx, "SELECT DISTINCT pta_id, task_id FROM pta")
	if err != nil {
		return err
	}
	defer refs.Close()
	for refs.Next() {
		var pta, task string
		if err := refs.Scan(&pta, &task); err != nil {
			return err
		}
		e.ptas[pta] = task
	}
	return refs.Err()
}

// keep reports whether rows with a first key belong to chosen runs. Rows that belong to no
// run, task or model are kept.
func (e *exporter) keep(column, key string) bool {
	if e.chosen == nil {
		return true
	}
	switch column {
	case "trajectory_id":
		return e.chosen.runs[key]
	case "task_id":
		return e.chosen.tasks[key]
	case "model":
		return e.chosen.models[key]
	case "pta_id":
		return e.chosen.tasks[e.ptas[key]]
	}
	return true
}

// partition returns the partition of rows with a first key; ok is false for a table whose
// rows belong to none.
func (e *exporter) partition(column, key string) (value string, ok bool) {
	switch {
	case e.column == "":
		return "", false
	case column == e.column:
		return key, true
	case column == "trajectory_id" && e.column == "task_id":
		return e.task[key], true
	case column == "trajectory_id":
		return e.model[key], true
	case column == "pta_id" && e.column == "task_id":
		return e.ptas[key], true
	}
	return "", false
}

// table exports one table.
func (e *exporter) table(ctx context.Context, p part) (out TableOut, err error) {
	t, err := openTable(e.dir, p.table, p.profile)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	key := t.variant.Columns[t.variant.Key()[0]].Name
	spans, err := t.spans(ctx)
	if err != nil {
		return out, err
	}
	spans = slices.DeleteFunc(spans, func(s span) bool { return !e.keep(key, s.key) })
	without := ""
	if _, ok := e.partition(key, ""); ok {
		without = e.column
	}
	l, wanted := layoutOf(t, without)
	l.null = e.opt.Null
	if e.opt.Format == "arrow" {
		if err := l.readDictionaries(ctx, t, spans, wanted); err != nil {
			return out, err
		}
	}
	out = TableOut{Table: p.table.Name, Profile: p.profile, PartitionBy: without, Columns: []ColumnOut{}, Files: []FileOut{}}
	for _, c := range l.columns {
		out.Columns = append(out.Columns, ColumnOut{c.Name, c.Kind.String(), c.Nullable})
	}
	for _, k := range t.variant.Key() {
		out.Key = append(out.Key, t.variant.Columns[k].Name)
	}
	write := func(name string, spans []span) error {
		n, err := e.file(ctx, t, l, wanted, name, spans)
		out.Rows += n
		out.Files = append(out.Files, FileOut{File: checksum.File{Path: name}, Rows: n})
		return err
	}
	if e.opt.Format == sqlite {
		return out, write(DatabaseName, spans)
	}
	if without == "" {
		return out, write(t.String()+"."+e.opt.Format, spans)
	}
	byValue := map[string][]span{}
	var values []string
	for _, s := range spans {
		v, _ := e.partition(key, s.key)
		if byValue[v] == nil {
			values = append(values, v)
		}
		byValue[v] = append(byValue[v], s)
	}
	slices.Sort(values)
	for _, v := range values {
		if err := write(fmt.Sprintf("%s/%s=%s/part-0.%s", t, without, encode(v), e.opt.Format), byValue[v]); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (e *exporter) file(ctx context.Context, t *table, l *layout, wanted []int, name string, spans []span) (rows int64, err error) {
	path, err := e.out.Path(name)
	if e.opt.Format == sqlite {
		path = store.ParquetPath(e.scratch, t.Name, t.profile)
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return 0, err
	}
	var s sink
	switch e.opt.Format {
	case "parquet", sqlite:
		s, err = newParquet(path, l)
	case "arrow":
		s, err = newArrow(path, l)
	default:
		s, err = newText(path, l, e.opt.Format == "jsonl")
	}
	if err != nil {
		return 0, err
	}
	err = t.scan(ctx, spans, wanted, func(b block) error {
		rows += int64(b.rows)
		return s.write(b)
	})
	if cerr := s.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return rows, fmt.Errorf("writing %s: %w", name, err)
	}
	return rows, nil
}

// load makes the SQLite file of the Parquet files written so far.
func (e *exporter) load(ctx context.Context) error {
	manifest, err := os.ReadFile(filepath.Join(e.dir, bench.ManifestName))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(e.scratch, bench.ManifestName), manifest, 0o644); err != nil {
		return err
	}
	path, err := e.out.Path(DatabaseName)
	if err != nil {
		return err
	}
	return store.Load(ctx, e.scratch, path)
}

// encode makes a partition's value safe in a path.
func encode(v string) string {
	if v == "" {
		return "__HIVE_DEFAULT_PARTITION__"
	}
	var b strings.Builder
	for i := range len(v) {
		switch c := v[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
