package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/parquetfile"
	"github.com/agentlens-bench/agentlens/schema"
)

const (
	// rowGroupBytes of canonical row content end a row group: some 6,500 states, or 30,000
	// rows of numbers. It bounds both a writer's memory and what a reader must load at once.
	rowGroupBytes = 8 << 20

	pageBytes = 128 << 10
)

// parquetWriter writes one table's file.
type parquetWriter struct {
	path    string
	writer  *parquet.GenericWriter[any]
	columns []schema.Column
	bytes   int // canonical bytes in the row group so far
	cells   []parquet.Value
}

func newParquetWriter(dir string, p part, more ...parquet.WriterOption) (*parquetWriter, error) {
	path := ParquetPath(dir, p.table.Name, p.profile)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	options := append(ParquetOptions(p.String(), parquetSchema(p), p.variant.Columns), more...)
	return &parquetWriter{
		path:    path,
		writer:  parquet.NewGenericWriter[any](appender(path), options...),
		columns: p.variant.Columns,
		cells:   make([]parquet.Value, 0, chunkRows),
	}, nil
}

// ParquetOptions are the options of a Parquet file whose bytes depend on its rows only. Name
// is that of the table, with its profile.
func ParquetOptions(name string, node *parquet.Schema, columns []schema.Column) []parquet.WriterOption {
	options := []parquet.WriterOption{
		node,
		parquet.CreatedBy("agentlens", strconv.Itoa(schema.Version), "schema"),
		parquet.KeyValueMetadata("agentlens.table", name),
		parquet.KeyValueMetadata("agentlens.schema_version", strconv.Itoa(schema.Version)),
		parquet.Compression(new(snappyCodec)),
		parquet.PageBufferSize(pageBytes),
	}
	for _, c := range columns {
		if c.Kind == schema.Text && !c.PK && !c.Index && c.Ref == "" {
			options = append(options, parquet.SkipPageBounds(c.Name)) // whole texts would end up in the footer
		}
	}
	return options
}

// parquetSchema is the schema of a part's file.
func parquetSchema(p part) *parquet.Schema {
	return parquet.NewSchema(p.table.Name, parquet.SchemaOf(reflect.New(p.variant.Row).Interface()))
}

// write appends rows, given as cells of consecutive rows.
func (w *parquetWriter) write(cells []value) error {
	width := len(w.columns)
	for i, column := range w.writer.ColumnWriters() {
		c := &w.columns[i]
		w.cells = w.cells[:0]
		for j := i; j < len(cells); j += width {
			w.cells = append(w.cells, parquetValue(c, i, cells[j]))
		}
		if _, err := column.WriteRowValues(w.cells); err != nil {
			return w.wrap(err)
		}
	}
	return nil
}

func parquetValue(c *schema.Column, index int, v value) parquet.Value {
	level := 0
	if c.Nullable && !v.null {
		level = 1
	}
	var p parquet.Value
	switch {
	case v.null:
	case c.Kind == schema.Text:
		p = parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(v.s), len(v.s))) // parquet-go only reads it
	case c.Kind == schema.Integer:
		p = parquet.Int64Value(v.n)
	case c.Kind == schema.Real:
		p = parquet.DoubleValue(math.Float64frombits(uint64(v.n)))
	case c.Kind == schema.Boolean:
		p = parquet.BooleanValue(v.n != 0)
	}
	return p.Level(0, level, index)
}

func (w *parquetWriter) endRowGroup() error {
	w.bytes = 0
	return w.wrap(w.writer.Flush())
}

// finish writes the footer.
func (w *parquetWriter) finish() error {
	return w.wrap(w.writer.Close())
}

// appender is the path of a file that every write opens and appends to: a dataset has more
// tables than a process may have files open, and a row group is written at once.
type appender string

func (a appender) Write(p []byte) (int, error) {
	f, err := os.OpenFile(string(a), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(p)
	return n, errors.Join(err, f.Close())
}

func (w *parquetWriter) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: writing %s: %w", w.path, err)
}

// parquetRows reads the rows of one table's file as cells.
type parquetRows struct {
	columns []schema.Column
	at      []int // of each column of the file, in columns
	file    *os.File
	parquet *parquetfile.File
	group   int
	rows    *parquetfile.Rows // of the current group, or nil
	buf     []parquet.Row
	pending []parquet.Row
}

// Table opens the Parquet file of a table of the dataset in dir, which must be as the dataset's
// checksums say where it has any. The caller closes the file.
func Table(dir, table, profile string) (file *os.File, rows *parquetfile.File, err error) {
	path := ParquetPath(dir, table, profile)
	if file, err = os.Open(path); err != nil {
		return nil, nil, err
	}
	if rows, err = checkedTable(dir, file); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, rows, nil
}

func checkedTable(dir string, file *os.File) (*parquetfile.File, error) {
	name, err := filepath.Rel(dir, file.Name())
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	size, err := io.Copy(h, file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	switch sums, err := checksum.Read(dir); {
	case errors.Is(err, fs.ErrNotExist): // one that is being made
	case err != nil:
		return nil, err
	case sums[filepath.ToSlash(name)] != hex.EncodeToString(h.Sum(nil)):
		return nil, fmt.Errorf("%w: %s is not as %s says; copy it again from where it came (agentlens verify lists all that is wrong)", ErrDamaged, file.Name(), checksumsName)
	}
	rows, err := parquetfile.Open(file, size)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file.Name(), err)
	}
	return rows, nil
}

// openParquet opens a part's file and checks that it has the part's columns. Optional columns
// may be missing; their cells are null, or empty where no null is allowed.
func openParquet(dir string, p part) (*parquetRows, error) {
	file, err := os.Open(ParquetPath(dir, p.table.Name, p.profile))
	if err != nil {
		return nil, err
	}
	return (&parquetRows{file: file}).opened(p)
}

// openChecked is openParquet of a file that is as the dataset's checksums say.
func openChecked(dir string, p part) (*parquetRows, error) {
	file, rows, err := Table(dir, p.table.Name, p.profile)
	if err != nil {
		return nil, err
	}
	return (&parquetRows{file: file, parquet: rows}).opened(p)
}

func (r *parquetRows) opened(p part) (*parquetRows, error) {
	r.columns, r.buf = p.variant.Columns, make([]parquet.Row, 256)
	if err := r.open(p); err != nil {
		return nil, errors.Join(err, r.file.Close())
	}
	return r, nil
}

func (r *parquetRows) open(p part) error {
	var err error
	if r.parquet == nil {
		info, err := r.file.Stat()
		if err != nil {
			return err
		}
		if r.parquet, err = parquetfile.Open(r.file, info.Size()); err != nil {
			return fmt.Errorf("reading %s: %w", r.file.Name(), err)
		}
	}
	if r.at, err = ColumnsOf(r.parquet.Schema(), p.variant); err != nil {
		return fmt.Errorf("%s: %w", r.file.Name(), err)
	}
	return nil
}

// ColumnsOf says which of a table's columns each column of its file is. The file has them
// all, in order, but for optional ones.
func ColumnsOf(file *parquet.Schema, v schema.Variant) ([]int, error) {
	got, want := file.Fields(), parquet.SchemaOf(reflect.New(v.Row).Interface()).Fields()
	var at []int
	for i, c := range v.Columns {
		switch n := len(at); {
		case n < len(got) && got[n].Name() == c.Name && parquet.EqualNodes(got[n], want[i]):
			at = append(at, i)
		case c.Optional() && (n == len(got) || got[n].Name() != c.Name):
		default:
			has := "nothing more"
			if n < len(got) {
				has = got[n].Name() + " " + got[n].Type().String()
			}
			return nil, fmt.Errorf("other columns than version %d of the tables: want %s %s, the file has %s", schema.Version, c.Name, want[i].Type(), has)
		}
	}
	if len(at) < len(got) {
		return nil, fmt.Errorf("a column %s, which version %d of the tables does not have", got[len(at)].Name(), schema.Version)
	}
	return at, nil
}

// has says whether the file has a column of the table.
func (r *parquetRows) has(column int) bool { return slices.Contains(r.at, column) }

// next fills out with the next row, or returns io.EOF.
func (r *parquetRows) next(out []value) error {
	for len(r.pending) == 0 {
		if err := r.more(); err == io.EOF {
			return err
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", r.file.Name(), err)
		}
	}
	for i, c := range r.columns {
		out[i] = value{null: c.Nullable}
	}
	for j, v := range r.pending[0] {
		i := r.at[j]
		switch {
		case v.IsNull():
			out[i] = value{null: true}
		case r.columns[i].Kind == schema.Text:
			out[i] = value{s: string(v.ByteArray())}
		case r.columns[i].Kind == schema.Integer:
			out[i] = value{n: v.Int64()}
		case r.columns[i].Kind == schema.Real:
			out[i] = value{n: int64(math.Float64bits(v.Double()))}
		case r.columns[i].Kind == schema.Boolean:
			out[i] = value{n: boolBit(v.Boolean())}
		}
	}
	r.pending = r.pending[1:]
	return nil
}

// more reads some rows, or ends a row group. It returns io.EOF after the last one.
func (r *parquetRows) more() (err error) {
	if r.rows == nil {
		if r.group == r.parquet.RowGroups() {
			return io.EOF
		}
		if r.rows, err = r.parquet.Rows(r.group); err != nil {
			return err
		}
		r.group++
	}
	n, err := r.rows.Read(r.buf)
	r.pending = r.buf[:n]
	if err == io.EOF {
		err = r.rows.Close()
		r.rows = nil
	}
	return err
}

func (r *parquetRows) close() error {
	if r.rows != nil {
		r.rows.Close()
	}
	return r.file.Close()
}
