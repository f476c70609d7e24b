package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/agentlens-bench/agentlens/schema"
)

// sqliteWriter loads the scratch file. It talks to the driver itself: database/sql's checks
// of every argument cost a third of the load.
type sqliteWriter struct {
	final string
	conn  driver.Conn
}

// newSQLiteWriter writes the file final, which does not exist, by way of the file scratch.
func newSQLiteWriter(final, scratch string, profiles []string) (*sqliteWriter, error) {
	w := &sqliteWriter{final: final}
	if _, err := os.Lstat(w.final); err == nil {
		return nil, fmt.Errorf("store: %s exists already", w.final)
	}
	dsn, err := fileURI(scratch)
	if err != nil {
		return nil, err
	}
	if w.conn, err = new(sqlite.Driver).Open(dsn); err != nil {
		return nil, fmt.Errorf("store: opening the scratch database: %w", err)
	}
	objects, err := schema.Objects(profiles)
	if err != nil {
		w.conn.Close()
		return nil, fmt.Errorf("store: %w", err)
	}
	script := []string{
		"PRAGMA page_size = 8192",
		"PRAGMA journal_mode = OFF",
		"PRAGMA synchronous = OFF",
		"PRAGMA locking_mode = EXCLUSIVE",
		"PRAGMA cache_size = -4096",
		fmt.Sprintf("PRAGMA application_id = %d", schema.ApplicationID),
		fmt.Sprintf("PRAGMA user_version = %d", schema.Version),
	}
	for _, o := range objects {
		script = append(script, o.SQL)
	}
	for _, stmt := range append(script, "BEGIN EXCLUSIVE") {
		if err := w.exec(stmt); err != nil {
			w.conn.Close()
			return nil, err
		}
	}
	return w, nil
}

func (w *sqliteWriter) exec(stmt string, args ...driver.NamedValue) error {
	_, err := w.conn.(driver.ExecerContext).ExecContext(context.Background(), stmt, args)
	if err != nil {
		line, _, _ := strings.Cut(stmt, "\n")
		return fmt.Errorf("store: writing %s: %s: %w", w.final, line, err)
	}
	return nil
}

// finish ends the load and copies the scratch file into its final place.
func (w *sqliteWriter) finish() error {
	for _, stmt := range []string{"COMMIT", "PRAGMA analysis_limit = 1000", "ANALYZE"} {
		if err := w.exec(stmt); err != nil {
			return err
		}
	}
	if err := w.exec("VACUUM INTO ?", driver.NamedValue{Ordinal: 1, Value: w.final}); err != nil {
		return err
	}
	if err := w.conn.Close(); err != nil {
		return fmt.Errorf("store: closing the scratch database: %w", err)
	}
	return nil
}

// inserter adds the rows of one part. It prepares its statements when first needed.
type inserter struct {
	w         *sqliteWriter
	part      part
	one, many driver.Stmt
	args      []driver.NamedValue
}

func newInserter(w *sqliteWriter, p part) *inserter {
	args := make([]driver.NamedValue, chunkRows*len(p.variant.Columns))
	for i := range args {
		args[i].Ordinal = i + 1
	}
	return &inserter{w: w, part: p, args: args}
}

// insert adds rows given as cells of consecutive rows: a whole chunk in one statement, fewer
// rows one by one.
func (in *inserter) insert(cells []value) error {
	width := len(in.part.variant.Columns)
	for i, v := range cells {
		in.args[i].Value = driverValue(&in.part.variant.Columns[i%width], v)
	}
	if len(cells) == len(in.args) {
		return in.run(&in.many, chunkRows, in.args)
	}
	args := make([]driver.NamedValue, width)
	for i := 0; i < len(cells); i += width {
		for j := range args {
			args[j] = driver.NamedValue{Ordinal: j + 1, Value: in.args[i+j].Value}
		}
		if err := in.run(&in.one, 1, args); err != nil {
			return err
		}
	}
	return nil
}

func (in *inserter) run(stmt *driver.Stmt, rows int, args []driver.NamedValue) error {
	ctx := context.Background()
	if *stmt == nil {
		var err error
		if *stmt, err = in.w.conn.(driver.ConnPrepareContext).PrepareContext(ctx, in.part.insertSQL(rows)); err != nil {
			return fmt.Errorf("store: %s: %w", in.part, err)
		}
	}
	if _, err := (*stmt).(driver.StmtExecContext).ExecContext(ctx, args); err != nil {
		return fmt.Errorf("store: writing %s to %s: %w", in.part, in.w.final, err)
	}
	return nil
}

func (in *inserter) close() {
	for _, stmt := range []driver.Stmt{in.one, in.many} {
		if stmt != nil {
			stmt.Close()
		}
	}
}

// insertSQL is an INSERT of that many rows.
func (p part) insertSQL(rows int) string {
	var names []string
	row := "("
	if p.profile != "" {
		names = append(names, schema.ProfileColumn)
		row = "('" + p.profile + "', "
	}
	for _, c := range p.variant.Columns {
		names = append(names, c.Name)
	}
	row += strings.TrimSuffix(strings.Repeat("?, ", len(p.variant.Columns)), ", ") + ")"
	return "INSERT INTO " + p.table.Name + " (" + strings.Join(names, ", ") + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

func driverValue(c *schema.Column, v value) driver.Value {
	switch {
	case v.null:
		return nil
	case c.Kind == schema.Text:
		return v.s
	case c.Kind == schema.Real:
		return math.Float64frombits(uint64(v.n))
	default:
		return v.n
	}
}

// fileURI names a file to SQLite whatever characters its path holds.
func fileURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs)}).String(), nil
}
