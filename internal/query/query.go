package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// ErrReadOnly marks a statement that would do more than read.
var ErrReadOnly = errors.New("only reading is possible")

// ErrTimeout marks a query that took longer than it was given.
var ErrTimeout = errors.New("time is up")

// DB is a dataset's SQLite file, open for a user's statements. Its methods are called from
// one goroutine.
type DB struct {
	pool *sql.DB
	conn *sql.Conn

	refused string // what the last statement was refused for
}

// Open opens the dataset in dir.
func Open(ctx context.Context, dir string) (db *DB, err error) {
	err = dataset.Read(dir, func() (err error) {
		db, err = openSQLite(ctx, dir)
		return err
	})
	if err != nil && db != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, err
}

func openSQLite(ctx context.Context, dir string) (*DB, error) {
	known, err := store.Open(ctx, dir) // it must be a dataset of this version
	if err != nil {
		return nil, err
	}
	if err := known.Close(); err != nil {
		return nil, err
	}
	path, err := store.Database(ctx, dir)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=ro&immutable=1&_query_only=1&_dqs=0"}
	pool, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db := &DB{pool: pool}
	if db.conn, err = pool.Conn(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	if _, err = sqlite.Limit(db.conn, sqlite3.SQLITE_LIMIT_ATTACHED, 0); err == nil {
		err = db.conn.Raw(func(c any) error {
			r, ok := c.(sqlite.AuthorizerRegisterer)
			if !ok {
				return errors.New("the SQLite driver cannot refuse operations")
			}
			return r.RegisterAuthorizer(db.authorize)
		})
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close closes the file.
func (db *DB) Close() error { return errors.Join(db.conn.Close(), db.pool.Close()) }

// authorize decides whether a statement may do something.
func (db *DB) authorize(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if !strings.EqualFold(arg2, "load_extension") {
			return sqlite.AuthorizerOK
		}
		db.refused = "loading an extension"
	case sqlite.AuthPragma:
		if readingPragma(arg1) {
			return sqlite.AuthorizerOK
		}
		db.refused = "PRAGMA " + arg1
	case sqlite.AuthAttach, sqlite.AuthDetach:
		db.refused = "attaching another file"
	case sqlite.AuthTransaction, sqlite.AuthSavepoint:
		db.refused = "a transaction"
	default:
		if db.refused == "" { // creating a table inserts into the schema, too
			db.refused = "a statement that changes something"
		}
	}
	return sqlite.AuthorizerDeny
}

// readingPragma reports whether a pragma describes tables and does nothing else.
func readingPragma(name string) bool {
	switch strings.ToLower(name) {
	case "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
		"compile_options", "function_list":
		return true
	}
	return false
}

// Options of Run.
type Options struct {
	Timeout time.Duration // 0 for no limit
	MaxRows int           // 0 for no limit
}

// Sink takes a result.
type Sink interface {
	Columns(names []string) error
	Row(values []any) error // nil, int64, float64, string or []byte; valid during the call
}

// Run runs one statement and hands its rows to the sink. more says that MaxRows left rows
// out. When time runs out the sink has whole rows, and the error is an [ErrTimeout].
func (db *DB) Run(ctx context.Context, text string, opt Options, sink Sink) (more bool, err error) {
	if text, err = single(text); err != nil {
		return false, err
	}
	if opt.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, opt.Timeout, ErrTimeout)
		defer cancel()
	}
	n := 0
	more, err = db.run(ctx, text, opt.MaxRows, sink, &n)
	if err != nil && errors.Is(context.Cause(ctx), ErrTimeout) {
		return false, fmt.Errorf("%w: the query was stopped after %s and %d rows; give it longer with option timeout, or ask for less", ErrTimeout, opt.Timeout, n)
	}
	if err != nil && ctx.Err() != nil {
		return false, ctx.Err()
	}
	return more, err
}

func (db *DB) run(ctx context.Context, text string, limit int, sink Sink, n *int) (bool, error) {
	db.refused = ""
	rows, err := db.conn.QueryContext(ctx, text)
	if err != nil {
		return false, db.explain(ctx, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return false, err
	}
	if len(names) == 0 {
		return false, usage.Errorf("", "%w: the statement has no result; want a SELECT", ErrReadOnly)
	}
	if err := sink.Columns(names); err != nil {
		return false, err
	}
	values := make([]any, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if limit > 0 && *n == limit {
			return true, nil
		}
		if err := rows.Scan(targets...); err != nil {
			return false, err
		}
		if err := sink.Row(values); err != nil {
			return false, err
		}
		*n++
	}
	if err := rows.Err(); err != nil {
		return false, db.explain(ctx, err)
	}
	return false, nil
}

// TableInfo describes a table or view.
type TableInfo struct {
	Name    string   `json:"name"`
	View    bool     `json:"view"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"`
	Doc     string   `json:"doc"`
}

// Tables lists the tables and views, tables first, in the order of the schema.
func (db *DB) Tables(ctx context.Context) ([]TableInfo, error) {
	var tables []TableInfo
	rows, err := db.conn.QueryContext(ctx, `SELECT name, type = 'view' FROM sqlite_schema
		WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY type, rowid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t TableInfo
		if err := rows.Scan(&t.Name, &t.View); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range tables {
		t := &tables[i]
		if err := db.conn.QueryRowContext(ctx, "SELECT count(*) FROM "+quote(t.Name)).Scan(&t.Rows); err != nil {
			return nil, fmt.Errorf("counting the rows of %s: %w", t.Name, err)
		}
		if t.Columns, err = db.columns(ctx, t.Name); err != nil {
			return nil, err
		}
		if s, ok := schema.Lookup(t.Name); ok {
			t.Doc = s.Doc
		} else if base, profile, ok := strings.Cut(t.Name, "_"); ok && t.View {
			t.Doc = fmt.Sprintf("The rows of %s of profile %s, with its own columns.", base, profile)
		}
	}
	return tables, nil
}

func (db *DB) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := db.conn.QueryContext(ctx, "SELECT * FROM "+quote(table)+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err())
}

// single returns a statement without what follows it, which must be nothing.
func single(text string) (string, error) {
	end := endOfStatement(text)
	if strings.TrimSpace(stripComments(text[:end])) == "" {
		return "", usage.Errorf("", "the query is empty; want a SELECT")
	}
	if end < len(text) && strings.TrimSpace(stripComments(text[end+1:])) != "" {
		return "", usage.Errorf("", "more than one statement; want one, such as a SELECT")
	}
	return text[:end], nil
}

// endOfStatement is the index of the first semicolon outside texts, names and comments, or
// the length.
func endOfStatement(text string) int {
	for i := 0; i < len(text); {
		if n := skip(text[i:]); n > 0 {
			i += n
			continue
		}
		if text[i] == ';' {
			return i
		}
		i++
	}
	return len(text)
}

// skip is the length of the comment, text or quoted name that begins here, or 0.
func skip(s string) int {
	until := func(from int, end string) int {
		if i := strings.Index(s[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(s)
	}
	switch {
	case strings.HasPrefix(s, "--"):
		return until(2, "\n")
	case strings.HasPrefix(s, "/*"):
		return until(2, "*/")
	case s[0] == '\'', s[0] == '"', s[0] == '`':
		return until(1, s[:1])
	case s[0] == '[':
		return until(1, "]")
	}
	return 0
}

func stripComments(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := skip(text[i:])
		if n == 0 {
			n = 1
		} else if strings.HasPrefix(text[i:], "--") || strings.HasPrefix(text[i:], "/*") {
			i += n
			continue
		}
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
