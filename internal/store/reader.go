package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"os"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/parquetfile"
	"github.com/agentlens-bench/agentlens/schema"
)

// DB is a dataset's SQLite file, open for reading.
type DB struct {
	*sql.DB
	Profiles []string // in the order the file was built with
}

// Open opens the dataset in dir. A file that is no dataset, or of another version of the
// tables, is an error.
func Open(ctx context.Context, dir string) (*DB, error) {
	return openOf(ctx, dir, true)
}

// OpenAny opens the dataset in dir whatever the version of its tables, for comparing it with
// another one.
func OpenAny(ctx context.Context, dir string) (*DB, error) {
	return openOf(ctx, dir, false)
}

func openOf(ctx context.Context, dir string, current bool) (*DB, error) {
	path, err := Database(ctx, dir)
	if err != nil {
		return nil, err
	}
	db, err := open(path, current)
	if err != nil && path != DBPath(dir) {
		return nil, fmt.Errorf("%w; the file was made of Parquet files: remove it, and it is made again", err)
	}
	return db, err
}

// OpenFile opens a dataset's SQLite file, wherever it lies, whatever the version of its tables.
func OpenFile(path string) (*DB, error) { return open(path, false) }

func open(path string, current bool) (*DB, error) {
	uri, err := fileURI(path)
	if err != nil {
		return nil, err
	}
	// A dataset never changes, so readers need no locks and no write access to the folder.
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	any, err := sql.Open("sqlite", uri)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer any.Close() // it gives the driver
	db := &DB{DB: sql.OpenDB(&connector{driver: any.Driver(), path: path, uri: uri + "?mode=ro&immutable=1", info: info})}
	if err := db.identify(current); err != nil {
		db.Close()
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	return db, nil
}

// connector opens further connections to the very file that was opened first: a database that
// took its place is another version.
type connector struct {
	driver    driver.Driver
	path, uri string
	info      os.FileInfo
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.uri)
	if err != nil {
		return nil, err
	}
	if now, err := os.Stat(c.path); err != nil || !os.SameFile(now, c.info) {
		return nil, errors.Join(dataset.ErrReplaced, conn.Close())
	}
	return conn, nil
}

func (db *DB) identify(current bool) error {
	var application, version int
	if err := db.QueryRow("PRAGMA application_id").Scan(&application); err != nil {
		return err
	}
	if application != schema.ApplicationID {
		return fmt.Errorf("not a dataset: application_id is %d, expected %d", application, schema.ApplicationID)
	}
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if current && version != schema.Version {
		return fmt.Errorf("version %d of the tables, this program reads version %d: build the dataset anew, or use the program that built it", version, schema.Version)
	}
	const prefix = "features_"
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB ? ORDER BY rowid", prefix+"*")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		db.Profiles = append(db.Profiles, strings.TrimPrefix(name, prefix))
	}
	return rows.Err()
}

// Texts returns the first column of a query's rows, which are texts.
func (db *DB) Texts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// ReadSQL runs a query and yields its rows as T, a row struct or any struct with the same
// kind of parquet tags. Each column of the result needs a field of that name; fields without
// a column stay zero. After an error nothing more is yielded.
func ReadSQL[T any](ctx context.Context, db *sql.DB, query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range ReadRows(ctx, db, reflect.TypeFor[T](), query, args...) {
			if !yield(*row.Interface().(*T), err) {
				return
			}
		}
	}
}

// ReadRows is ReadSQL for a row struct that is known when the program runs. It yields pointers
// to new structs.
func ReadRows(ctx context.Context, db *sql.DB, row reflect.Type, query string, args ...any) iter.Seq2[reflect.Value, error] {
	return func(yield func(reflect.Value, error) bool) {
		fail := func(err error) { yield(reflect.New(row), err) }
		rows, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			fail(fmt.Errorf("store: %w", err))
			return
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			fail(fmt.Errorf("store: %w", err))
			return
		}
		fields, err := fieldsOf(row, names)
		if err != nil {
			fail(err)
			return
		}
		targets := make([]any, len(fields))
		for rows.Next() {
			v := reflect.New(row)
			for i, f := range fields {
				targets[i] = v.Elem().Field(f).Addr().Interface()
			}
			if err := rows.Scan(targets...); err != nil {
				fail(fmt.Errorf("store: %w", err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			fail(fmt.Errorf("store: %w", err))
		}
	}
}

// fieldsOf finds the field for each column by its parquet tag.
func fieldsOf(row reflect.Type, names []string) ([]int, error) {
	byName := map[string]int{}
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
		byName[name] = i
	}
	fields := make([]int, len(names))
	for i, name := range names {
		f, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("store: the query gives a column %s, which %s does not have", name, row)
		}
		fields[i] = f
	}
	return fields, nil
}

// ReadParquet yields the rows of a Parquet file as T, the row struct the file was written
// from, in the order of the file. After an error nothing more is yielded.
func ReadParquet[T any](path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		if err := readParquet(path, func(row T) bool { return yield(row, nil) }); err != nil {
			yield(zero, fmt.Errorf("store: reading %s: %w", path, err))
		}
	}
}

func readParquet[T any](path string, yield func(T) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := parquetfile.Open(file, info.Size())
	if err != nil {
		return err
	}
	if want := parquet.SchemaOf(new(T)); !parquet.EqualNodes(f.Schema(), want) {
		return fmt.Errorf("the file does not have the columns of %s", reflect.TypeFor[T]())
	}
	for row, err := range parquetfile.Read[T](f) {
		if err != nil || !yield(row) {
			return err
		}
	}
	return nil
}
