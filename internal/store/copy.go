package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/schema"
)

// CopyTable writes the Parquet file of a table of the dataset in dir anew in the folder out,
// with less speed and more compression, and without the optional columns that drop names. The
// digest is that of the rows as a reader of the new file sees them. A table without a file is
// an error wrapping fs.ErrNotExist.
func CopyTable(ctx context.Context, dir, out string, table schema.Table, profile string, drop func(schema.Column) bool) (TableStat, error) {
	v, err := table.Variant(profile)
	if err != nil {
		return TableStat{}, fmt.Errorf("store: %w", err)
	}
	p := part{table, profile, v}
	file, err := openChecked(dir, p)
	if err != nil {
		return TableStat{}, fmt.Errorf("store: %w", err)
	}
	defer file.close()
	kept := p
	var at []int
	kept.variant, at = withColumns(v, func(i int) bool {
		return file.has(i) && !(v.Columns[i].Optional() && drop(v.Columns[i]))
	})
	if err := os.MkdirAll(filepath.Dir(ParquetPath(out, table.Name, profile)), 0o755); err != nil {
		return TableStat{}, fmt.Errorf("store: %w", err)
	}
	w, err := newParquetWriter(out, kept, parquet.Compression(new(tightSnappyCodec)))
	if err != nil {
		return TableStat{}, err
	}
	d := newDigester(v)
	if err := copyRows(ctx, file, w, d, at); err != nil {
		return TableStat{}, err
	}
	return TableStat{Table: table.Name, Profile: profile, Rows: d.rows, Digest: d.sum()}, w.finish()
}

// copyRows copies the columns at those places and empties the others.
func copyRows(ctx context.Context, from *parquetRows, to *parquetWriter, d *digester, at []int) error {
	row := make([]value, len(from.columns))
	copied := make([]value, len(from.columns))
	for i, c := range from.columns {
		copied[i] = value{null: c.Nullable}
	}
	var cells []value
	for {
		err := from.next(row)
		if err == io.EOF {
			return to.write(cells)
		}
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		for _, i := range at {
			copied[i] = row[i]
			cells = append(cells, row[i])
		}
		size, err := d.add(copied)
		if err != nil {
			return fmt.Errorf("store: %s: %w", from.file.Name(), err)
		}
		full := len(cells) == chunkRows*len(at)
		if to.bytes += size; to.bytes < rowGroupBytes && !full {
			continue
		}
		if err := errors.Join(ctx.Err(), to.write(cells)); err != nil {
			return err
		}
		cells = cells[:0]
		if to.bytes >= rowGroupBytes {
			if err := to.endRowGroup(); err != nil {
				return err
			}
		}
	}
}

// withColumns returns the variant with some of its columns, and which they are.
func withColumns(v schema.Variant, keep func(i int) bool) (schema.Variant, []int) {
	var at []int
	var fields []reflect.StructField
	out := schema.Variant{Profile: v.Profile, Row: v.Row}
	for i, c := range v.Columns {
		if !keep(i) {
			continue
		}
		at = append(at, i)
		fields = append(fields, v.Row.Field(c.Field))
		c.Field = len(fields) - 1
		out.Columns = append(out.Columns, c)
	}
	if len(fields) < len(v.Columns) {
		out.Row = reflect.StructOf(fields)
	}
	return out, at
}
