package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/schema"
)

// maxProblems are listed for one table; of more, only the number is.
const maxProblems = 20

const onlySQLite = "only SQLite has the row"

// Problem is one way in which a dataset is not what it should be.
type Problem struct {
	Table   string // "" when it concerns the whole file
	Profile string // "" for a shared table
	Key     string // key of the row, as (trajectory_id "a", step 3), or ""
	Column  string // or ""
	Detail  string
}

// String puts the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	if p.Profile != "" {
		b.WriteString(p.Profile + "/")
	}
	b.WriteString(p.Table)
	if p.Key != "" {
		b.WriteString(" " + p.Key)
	}
	if p.Column != "" {
		b.WriteString(" " + p.Column)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String() + p.Detail
}

// Report is what Compare found.
type Report struct {
	Tables   []TableStat // of the Parquet files, in the order Writer.Finish gives
	Problems []Problem
}

// Compare reads the whole dataset in dir and checks that the SQLite and the Parquet files
// hold the same rows, with unique keys, existing parents, and values their columns allow,
// and that SQLite's file is sound and has exactly the tables, indexes and views it should
// have. Of a dataset of Parquet files only it checks keys, parents and values of the tables
// that are there. It streams: memory does not grow with the rows. The error is for a dataset
// that can't be opened; everything else is a problem.
func Compare(ctx context.Context, dir string) (report *Report, err error) {
	path := DBPath(dir)
	_, missing := os.Stat(path)
	partial := errors.Is(missing, fs.ErrNotExist)
	if partial {
		temp, terr := output.NewTemp("")
		if terr != nil {
			return nil, terr
		}
		defer func() { err = errors.Join(err, temp.Remove()) }()
		path = filepath.Join(temp.Path, dbName)
		switch err := Load(ctx, dir, path); {
		case errors.Is(err, ErrDamaged):
			return &Report{Problems: []Problem{{Detail: err.Error()}}}, ctx.Err()
		case err != nil:
			return nil, err
		}
	}
	db, err := open(path, true)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	parts, err := partsOf(db.Profiles)
	if err != nil {
		return nil, err
	}
	c := &comparer{ctx: ctx, dir: dir, db: db, partial: partial, found: map[string]int{}}
	for _, check := range []func() error{c.integrity, c.objects, c.profiles, c.parents, func() error { return c.files(parts) }} {
		if err := check(); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			c.problem(Problem{Detail: err.Error()})
		}
	}
	for _, p := range parts {
		if err := c.part(p); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			c.problem(Problem{Table: p.table.Name, Profile: p.profile, Detail: "SQLite: " + err.Error()})
		}
	}
	for i, p := range c.report.Problems {
		if more := c.found[p.Profile+"/"+p.Table] - maxProblems; more > 0 && i == c.lastOf(p) {
			c.report.Problems[i].Detail += fmt.Sprintf("; and %d more problems with this table", more)
		}
	}
	return &c.report, nil
}

type comparer struct {
	ctx     context.Context
	dir     string
	db      *DB
	partial bool // there are Parquet files only, some tables and columns may be missing
	report  Report
	found   map[string]int // problems by profile and table
}

func (c *comparer) problem(p Problem) {
	of := p.Profile + "/" + p.Table
	if c.found[of]++; c.found[of] <= maxProblems {
		c.report.Problems = append(c.report.Problems, p)
	}
}

// lastOf is the index of the last listed problem with p's table.
func (c *comparer) lastOf(p Problem) int {
	last := 0
	for i, q := range c.report.Problems {
		if q.Profile == p.Profile && q.Table == p.Table {
			last = i
		}
	}
	return last
}

func (c *comparer) integrity() error {
	for text, err := range c.texts("PRAGMA integrity_check") {
		if err != nil {
			return err
		}
		if text[0] != "ok" {
			c.problem(Problem{Detail: "SQLite: " + text[0]})
		}
	}
	return nil
}

func (c *comparer) objects() error {
	want, err := schema.Objects(c.db.Profiles)
	if err != nil {
		return err
	}
	got := map[string]string{}
	for text, err := range c.texts("SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name") {
		if err != nil {
			return err
		}
		got[text[0]] = text[1]
		if !slices.ContainsFunc(want, func(o schema.Object) bool { return o.Type+" "+o.Name == text[0] }) {
			c.problem(Problem{Detail: "SQLite has a " + text[0] + " that does not belong there"})
		}
	}
	for _, o := range want {
		switch sql, ok := got[o.Type+" "+o.Name]; {
		case !ok:
			c.problem(Problem{Detail: "SQLite has no " + o.Type + " " + o.Name})
		case sql != o.SQL:
			c.problem(Problem{Detail: "SQLite's " + o.Type + " " + o.Name + " is defined differently"})
		}
	}
	return nil
}

// profiles finds rows of profiles that the dataset has no views of.
func (c *comparer) profiles() error {
	for _, t := range schema.Tables() {
		if !t.PerProfile {
			continue
		}
		for text, err := range c.texts("SELECT DISTINCT " + schema.ProfileColumn + " FROM " + t.Name) {
			if err != nil {
				return err
			}
			if !slices.Contains(c.db.Profiles, text[0]) {
				c.problem(Problem{Table: t.Name, Profile: text[0], Detail: "SQLite has rows of a profile the dataset does not have"})
			}
		}
	}
	return nil
}

// parents finds foreign keys without a parent.
func (c *comparer) parents() error {
	for _, t := range schema.Tables() {
		for _, col := range t.SQLColumns() {
			if col.Ref == "" {
				continue
			}
			parent, ok := schema.Lookup(col.Ref)
			if !ok {
				return fmt.Errorf("no table %s", col.Ref)
			}
			if c.partial && !c.present(parent) {
				continue
			}
			v := parent.Variants[0]
			match := "p." + v.Columns[v.Key()[0]].Name + " = c." + col.Name
			if parent.PerProfile {
				match += " AND p." + schema.ProfileColumn + " = c." + schema.ProfileColumn
			}
			profile := "''"
			if t.PerProfile {
				profile = "c." + schema.ProfileColumn
			}
			query := fmt.Sprintf("SELECT DISTINCT %s, c.%s FROM %s c WHERE c.%s IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s p WHERE %s)",
				profile, col.Name, t.Name, col.Name, parent.Name, match)
			for text, err := range c.texts(query) {
				if err != nil {
					return err
				}
				c.problem(Problem{Table: t.Name, Profile: text[0], Column: col.Name,
					Detail: fmt.Sprintf("%q is not in table %s", shorten(text[1]), parent.Name)})
			}
		}
	}
	return nil
}

// present says whether a table has Parquet files.
func (c *comparer) present(t schema.Table) bool {
	profiles := []string{""}
	if t.PerProfile {
		profiles = c.db.Profiles
	}
	for _, p := range profiles {
		if _, err := os.Stat(ParquetPath(c.dir, t.Name, p)); err != nil {
			return false
		}
	}
	return true
}

// files finds Parquet files that don't belong to the dataset.
func (c *comparer) files(parts []part) error {
	expected := map[string]bool{}
	for _, p := range parts {
		expected[ParquetPath(c.dir, p.table.Name, p.profile)] = true
	}
	return filepath.WalkDir(filepath.Join(c.dir, dataName), func(path string, d fs.DirEntry, err error) error {
		if err == nil && checksum.Hidden(d) {
			return checksum.Skip(d)
		}
		if err == nil && !d.IsDir() && !expected[path] {
			c.problem(Problem{Detail: path + " does not belong to the dataset"})
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// part compares one Parquet file with its rows in SQLite, group by group: the file has a
// group's rows together and in key order, SQLite finds them by the first key column.
func (c *comparer) part(p part) error {
	columns := p.variant.Columns
	file, err := openParquet(c.dir, p)
	if c.partial && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		detail := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			detail = "there is no file " + ParquetPath(c.dir, p.table.Name, p.profile)
		}
		c.problem(Problem{Table: p.table.Name, Profile: p.profile, Detail: detail})
		return nil
	}
	defer file.close()
	for i, column := range columns {
		if !c.partial && !file.has(i) {
			c.problem(Problem{Table: p.table.Name, Profile: p.profile, Column: column.Name, Detail: "Parquet lacks the column"})
		}
	}
	groups, err := c.db.PrepareContext(c.ctx, p.selectSQL("?"))
	if err != nil {
		return err
	}
	defer groups.Close()

	d := newDigester(p.variant)
	g := newSQLGroup(c, p)
	row := make([]value, len(columns))
	var inSQL int64
	for {
		err := file.next(row)
		if err != nil && err != io.EOF {
			c.problem(Problem{Table: p.table.Name, Profile: p.profile, Detail: err.Error()})
			return g.close()
		}
		if err == io.EOF || d.startsGroup(row) {
			if err := g.rest(); err != nil {
				return err
			}
			inSQL += g.count
			if err == io.EOF {
				break
			}
			if err := g.start(groups, row); err != nil {
				return err
			}
		}
		for i, v := range row {
			if reason := checkCell(&columns[i], v); reason != "" {
				g.problemAt(row, columns[i].Name, "Parquet has "+reason)
			}
		}
		if _, err := d.add(row); err != nil {
			g.problemAt(row, "", "Parquet: "+err.Error())
		}
		if err := g.match(row); err != nil {
			return err
		}
	}
	if err := c.otherGroups(p, d, inSQL); err != nil {
		return err
	}
	c.report.Tables = append(c.report.Tables, TableStat{Table: p.table.Name, Profile: p.profile, Rows: d.rows, Digest: d.sum()})
	return nil
}

// otherGroups finds rows whose group the Parquet file does not have at all. inSQL is the
// number of SQLite's rows in the groups it has.
func (c *comparer) otherGroups(p part, d *digester, inSQL int64) error {
	first := p.variant.Columns[d.key[0]]
	where := ""
	if p.profile != "" {
		where = " WHERE " + schema.ProfileColumn + " = '" + p.profile + "'"
	}
	var total int64
	if err := c.db.QueryRowContext(c.ctx, "SELECT count(*) FROM "+p.table.Name+where).Scan(&total); err != nil {
		return err
	}
	if total == inSQL {
		return nil
	}
	rows, err := c.db.QueryContext(c.ctx, fmt.Sprintf("SELECT %s, count(*) FROM %s%s GROUP BY 1", first.Name, p.table.Name, where))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var raw any
		var n int64
		if err := rows.Scan(&raw, &n); err != nil {
			return err
		}
		v, ok := cellOf(&first, raw)
		if _, seen := d.seen[maphash.Comparable(d.seed, v)]; ok && !seen {
			c.problem(Problem{p.table.Name, p.profile, "(" + first.Name + " " + show(&first, v) + ")", "",
				fmt.Sprintf("only SQLite has rows of it (%d)", n)})
		}
	}
	return rows.Err()
}

// sqlGroup walks SQLite's rows of one group beside Parquet's.
type sqlGroup struct {
	*comparer
	part  part
	key   []int
	rows  *sql.Rows // nil before the first group
	raw   []any     // the current row as the driver gives it
	scan  []any     // pointers to raw's elements
	row   []value   // the current row, when have is true
	have  bool
	count int64 // rows of the group so far
}

func newSQLGroup(c *comparer, p part) *sqlGroup {
	n := len(p.variant.Columns)
	g := &sqlGroup{comparer: c, part: p, key: p.variant.Key(), raw: make([]any, n), scan: make([]any, n), row: make([]value, n)}
	for i := range g.raw {
		g.scan[i] = &g.raw[i]
	}
	return g
}

func (g *sqlGroup) problemAt(row []value, column, detail string) {
	g.problem(Problem{g.part.table.Name, g.part.profile, showKey(g.part.variant.Columns, g.key, row), column, detail})
}

func (g *sqlGroup) start(stmt *sql.Stmt, row []value) (err error) {
	first := g.key[0]
	g.count = 0
	if g.rows, err = stmt.QueryContext(g.ctx, driverValue(&g.part.variant.Columns[first], row[first])); err != nil {
		return err
	}
	return g.advance()
}

func (g *sqlGroup) advance() error {
	if g.have = g.rows.Next(); !g.have {
		return g.rows.Err()
	}
	g.count++
	if err := g.rows.Scan(g.scan...); err != nil {
		return err
	}
	for i := range g.raw {
		column := &g.part.variant.Columns[i]
		v, ok := cellOf(column, g.raw[i])
		if !ok {
			g.problem(Problem{Table: g.part.table.Name, Profile: g.part.profile, Column: column.Name,
				Detail: fmt.Sprintf("SQLite has %v of type %T, where %s is expected", g.raw[i], g.raw[i], column.Kind)})
		}
		g.row[i] = v
	}
	return nil
}

// match compares the next Parquet row with SQLite's.
func (g *sqlGroup) match(row []value) error {
	columns := g.part.variant.Columns
	for g.have {
		switch c := compareKeys(g.key, g.row, row); {
		case c < 0:
			g.problemAt(g.row, "", onlySQLite)
			if err := g.advance(); err != nil {
				return err
			}
			continue
		case c == 0:
			for i, v := range row {
				if v != g.row[i] {
					g.problemAt(row, columns[i].Name, "SQLite has "+show(&columns[i], g.row[i])+", Parquet "+show(&columns[i], v))
				}
			}
			return g.advance()
		}
		break
	}
	g.problemAt(row, "", "only Parquet has the row")
	return nil
}

// rest ends the group: rows that are left are not in Parquet.
func (g *sqlGroup) rest() error {
	if g.rows == nil {
		return nil
	}
	for g.have {
		g.problemAt(g.row, "", onlySQLite)
		if err := g.advance(); err != nil {
			return err
		}
	}
	return g.close()
}

func (g *sqlGroup) close() error {
	if g.rows == nil {
		return nil
	}
	err := g.rows.Close()
	g.rows = nil
	return err
}

// selectSQL selects a group's rows in key order, given its first key column's value.
func (p part) selectSQL(first string) string {
	columns := p.variant.Columns
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	key := p.variant.Key()
	order := make([]string, len(key))
	for i, k := range key {
		order[i] = columns[k].Name
	}
	where := columns[key[0]].Name + " = " + first
	if p.profile != "" {
		where = schema.ProfileColumn + " = '" + p.profile + "' AND " + where
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s", strings.Join(names, ", "), p.table.Name, where, strings.Join(order, ", "))
}

// cellOf turns a value as the driver gives it into a cell, or says that it is of another type.
func cellOf(c *schema.Column, raw any) (value, bool) {
	switch x := raw.(type) {
	case nil:
		return value{null: true}, true
	case string:
		return value{s: x}, c.Kind == schema.Text
	case int64:
		return value{n: x}, c.Kind == schema.Integer || c.Kind == schema.Boolean
	case float64:
		return value{n: int64(math.Float64bits(x))}, c.Kind == schema.Real
	}
	return value{}, false
}

// texts yields a query's rows as text.
func (c *comparer) texts(query string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		rows, err := c.db.QueryContext(c.ctx, query)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			yield(nil, err)
			return
		}
		for rows.Next() {
			text := make([]string, len(names))
			targets := make([]any, len(names))
			for i := range text {
				targets[i] = &text[i]
			}
			if err := rows.Scan(targets...); err != nil {
				yield(nil, err)
				return
			}
			if !yield(text, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
