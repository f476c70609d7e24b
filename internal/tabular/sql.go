package tabular

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// connection is one connection to SQLite that can only read.
type connection struct {
	pool *sql.DB
	*sql.Conn
}

func (c connection) Close() error { return errors.Join(c.Conn.Close(), c.pool.Close()) }

// openSQLite opens a file for reading; immutable says that nobody writes to it meanwhile.
func openSQLite(ctx context.Context, path string, immutable bool) (connection, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return connection{}, err
	}
	query := "mode=ro&_query_only=1&_dqs=0"
	if immutable {
		query += "&immutable=1"
	}
	uri := &url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: query}
	return connect(ctx, uri.String())
}

// connect opens a connection that refuses to attach files, and so to write copies.
func connect(ctx context.Context, dsn string) (connection, error) {
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return connection{}, err
	}
	conn, err := pool.Conn(ctx)
	if err == nil {
		_, err = sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_ATTACHED, 0)
		if err != nil {
			conn.Close()
		}
	}
	if err != nil {
		pool.Close()
		return connection{}, err
	}
	return connection{pool, conn}, nil
}

// relation is what rows are selected from.
type relation struct {
	sql   string // a subquery without its parentheses
	order string // ORDER BY clause or ""
	name  string // for messages

	elsewhere map[string]string // of [inventory]
}

// joined are the tables whose columns a run of a dataset has.
func joined() []string {
	return []string{"trajectories", "features", "tiers", "signals", "published"}
}

// datasetRelation joins what a profile knows of every run: a row per run, by id. A column
// has the name table.column, and its plain name belongs to the first joined table that has it.
func datasetRelation(ctx context.Context, dir, profile string) (relation, error) {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return relation{}, err
	}
	profiles := db.Profiles
	if err := db.Close(); err != nil {
		return relation{}, err
	}
	if profile == "" {
		if len(profiles) == 0 {
			return relation{}, fmt.Errorf("%s has no profile", dir)
		}
		profile = profiles[0]
	}
	if !slices.Contains(profiles, profile) {
		return relation{}, usage.Errorf("", "%s has no profile %q; it has %s", dir, profile, strings.Join(profiles, ", "))
	}
	absent, err := store.Absent(dir)
	if err != nil {
		return relation{}, err
	}
	elsewhere := otherProfiles(profile, profiles)
	var columns []string
	from := "trajectories"
	taken := map[string]bool{}
	for _, name := range joined() {
		t, ok := schema.Lookup(name)
		if !ok {
			return relation{}, fmt.Errorf("no table %s", name)
		}
		of := ""
		if t.PerProfile {
			of = profile
		}
		v, err := t.Variant(of)
		if err != nil {
			return relation{}, err
		}
		if name != "trajectories" {
			from += fmt.Sprintf("\nLEFT JOIN %s ON %s.trajectory_id = trajectories.trajectory_id", name, name)
			if t.PerProfile {
				from += fmt.Sprintf(" AND %s.%s = %s", name, schema.ProfileColumn, quoteText(profile))
			}
		}
		gone := func(c schema.Column) bool { return absent[name] || absent[name+"."+c.Name] }
		for _, c := range v.Columns {
			plain := strings.ToLower(c.Name)
			if gone(c) {
				elsewhere[name+"."+c.Name] = "the dataset was published without it"
			}
			switch {
			case taken[plain]:
			case gone(c):
				elsewhere[c.Name] = "the dataset was published without " + name + "." + c.Name
			default:
				columns = append(columns, fmt.Sprintf("%s.%s AS %s", name, quoteName(c.Name), quoteName(c.Name)))
			}
			taken[plain] = true
		}
		for _, c := range v.Columns {
			if gone(c) {
				continue
			}
			columns = append(columns, fmt.Sprintf("%s.%s AS %s", name, quoteName(c.Name), quoteName(name+"."+c.Name)))
		}
	}
	return relation{
		sql:       "SELECT " + strings.Join(columns, ", ") + "\nFROM " + from,
		order:     `ORDER BY "trajectory_id"`,
		name:      dir,
		elsewhere: elsewhere,
	}, nil
}

// otherProfiles says of the columns that only other profiles have how to get at them. built
// are the profiles of the dataset.
func otherProfiles(profile string, built []string) map[string]string {
	of := map[string][]string{} // profiles by column
	for _, other := range schema.Profiles() {
		for _, name := range joined() {
			t, _ := schema.Lookup(name)
			v, err := t.Variant(other)
			if err != nil || other == profile {
				continue // a table of all profiles
			}
			for _, c := range v.Columns {
				of[c.Name] = append(of[c.Name], other)
				of[t.Name+"."+c.Name] = append(of[t.Name+"."+c.Name], other)
			}
		}
	}
	hints := map[string]string{}
	for column, have := range of {
		belongs := "it belongs to profile " + strings.Join(have, " and ")
		if i := slices.IndexFunc(have, func(p string) bool { return slices.Contains(built, p) }); i >= 0 {
			hints[column] = belongs + "; ask for it with option profile " + have[i]
		} else {
			hints[column] = fmt.Sprintf("%s, which the dataset was built without; build it with option profile %s", belongs, have[0])
		}
	}
	return hints
}

// queryRelation is a query of the user, or the only table of a file.
func queryRelation(ctx context.Context, conn connection, path, query string) (relation, error) {
	if query = strings.TrimRight(strings.TrimSpace(query), "; \t\n"); query != "" {
		return relation{sql: query, name: "the query on " + path}, nil
	}
	var tables []string
	rows, err := conn.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err != nil {
		return relation{}, fmt.Errorf("reading %s: %w", path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return relation{}, err
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		return relation{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(tables) == 1 {
		return relation{sql: "SELECT * FROM " + quoteName(tables[0]), name: path}, nil
	}
	return relation{}, usage.Errorf("", "say which rows of %s with option query, such as option query %q; its tables: %s",
		path, "SELECT * FROM t", strings.Join(tables, ", "))
}

// readSQL reads the wanted columns of a relation where a condition holds.
func readSQL(ctx context.Context, conn connection, rel relation, wanted []string, where string) (*Frame, error) {
	names, err := columnsOf(ctx, conn, rel)
	if err != nil {
		return nil, err
	}
	known := inventory{names, rel.elsewhere}
	at, err := known.choose(wanted)
	if err != nil {
		return nil, err
	}
	columns := make([]*Column, len(at))
	quoted := make([]string, len(at))
	for i, j := range at {
		columns[i] = newColumn(names[j])
		quoted[i] = "+" + quoteName(names[j]) // without its declared type, which the driver would read dates by
	}
	query := fmt.Sprintf("SELECT %s FROM (%s\n)", strings.Join(quoted, ", "), rel.sql)
	if where != "" {
		query += fmt.Sprintf(" WHERE (%s\n)", where)
	}
	rows, err := conn.QueryContext(ctx, query+" "+rel.order)
	if err != nil {
		return nil, sqlError(err, rel.name, known)
	}
	defer rows.Close()
	values := make([]any, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(targets...); err != nil {
			return nil, fmt.Errorf("reading %s: %w", rel.name, err)
		}
		for i, v := range values {
			columns[i].addSQL(v)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, sqlError(err, rel.name, known)
	}
	return frameOf(known, columns, n, "row", nil), nil
}

func columnsOf(ctx context.Context, conn connection, rel relation) ([]string, error) {
	rows, err := conn.QueryContext(ctx, fmt.Sprintf("SELECT * FROM (%s\n) LIMIT 0", rel.sql))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", rel.name, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

func (c *Column) addSQL(v any) {
	switch v := v.(type) {
	case nil:
		c.addMissing()
	case int64:
		c.addInteger(v)
	case float64:
		c.addReal(v)
	case []byte:
		c.addText(string(v))
	default:
		c.addText(fmt.Sprint(v))
	}
}

// unknownColumn is how SQLite names a column it does not know.
var unknownColumn = regexp.MustCompile(`no such column: "?([^" (]+)`)

// sqlError adds to SQLite's complaint about an unknown column what there is instead.
func sqlError(err error, name string, known inventory) error {
	if m := unknownColumn.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("the condition: %w", known.lacks(m[1]))
	}
	return fmt.Errorf("reading %s: %w", name, err)
}

// filter returns the rows of a frame for which a condition holds, which SQLite decides.
func (f *Frame) filter(ctx context.Context, where string) (*Frame, error) {
	conn, err := connect(ctx, "file::memory:?_dqs=0")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := f.copyTo(ctx, conn); err != nil {
		return nil, fmt.Errorf("the condition: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf("SELECT rowid FROM data WHERE (%s\n) ORDER BY rowid", where))
	if err != nil {
		return nil, sqlError(err, "the condition", f.known)
	}
	defer rows.Close()
	var keep []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		keep = append(keep, id-1)
	}
	if err := rows.Err(); err != nil {
		return nil, sqlError(err, "the condition", f.known)
	}
	return f.Take(keep), nil
}

// copyTo makes the table data of the frame's rows, row i as rowid i+1.
func (f *Frame) copyTo(ctx context.Context, conn connection) error {
	declared := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		declared[i] = quoteName(c.Name) + " " + c.Kind.SQL()
	}
	create := fmt.Sprintf("CREATE TABLE data (%s)", strings.Join(declared, ", "))
	if _, err := conn.ExecContext(ctx, create); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(f.Columns)), ", ") + ")"
	chunk := max(1, min(100, 30_000/len(f.Columns)))
	insert := func(rows int) string {
		return "INSERT INTO data VALUES " + strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
	}
	many, err := tx.PrepareContext(ctx, insert(chunk))
	if err != nil {
		return err
	}
	defer many.Close()
	args := make([]any, 0, chunk*len(f.Columns))
	for i := range f.rows {
		for _, c := range f.Columns {
			args = append(args, c.sqlValue(i))
		}
		if len(args) == cap(args) {
			if _, err := many.ExecContext(ctx, args...); err != nil {
				return err
			}
			args = args[:0]
		}
	}
	if len(args) > 0 {
		if _, err := tx.ExecContext(ctx, insert(len(args)/len(f.Columns)), args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (c *Column) sqlValue(i int) any {
	switch {
	case c.missing[i]:
		return nil
	case c.Kind == schema.Text:
		return c.texts[i]
	case c.Kind == schema.Real:
		return c.reals[i]
	}
	return c.ints[i]
}

// withMentioned adds the columns whose names occur in a condition.
func withMentioned(at []int, names []string, where string) []int {
	if where == "" {
		return at
	}
	where = strings.ToLower(where)
	for i, n := range names {
		if !slices.Contains(at, i) && (strings.Contains(where, strings.ToLower(n)) || strings.Contains(n, `"`)) {
			at = append(at, i)
		}
	}
	return at
}

func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
