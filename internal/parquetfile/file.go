package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"sort"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// File is an open Parquet file.
type File struct {
	view     *view
	file     *parquet.File
	unpacked int64
}

// Open looks at the footer and at the header of every page of a file of the given size. The
// reader must stay open while the File is used.
func Open(r io.ReaderAt, size int64) (*File, error) {
	m, leaves, err := readFooter(r, size)
	if err != nil {
		return nil, damaged(err)
	}
	f := &File{}
	for _, g := range m.RowGroups {
		f.unpacked += g.TotalByteSize
	}
	if f.view, err = newView(r, size, m, leaves); err != nil {
		return nil, damaged(err)
	}
	if err := f.open(); err != nil {
		return nil, err
	}
	if f.misfits(m, leaves) {
		f.view.ends = nil
		if err := f.view.finish(m, f.view.endsAt); err != nil {
			return nil, damaged(err)
		}
		return f, f.open()
	}
	return f, nil
}

func (f *File) open() error {
	return f.guard(func() (err error) {
		f.file, err = parquet.OpenFile(f.view, f.view.size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
}

// misfits takes away what columns say of their meaning where the library would read other
// values for it than the column has.
func (f *File) misfits(m *format.FileMetaData, leaves []leaf) bool {
	any := false
	i := 0
	var visit func(c *parquet.Column)
	visit = func(c *parquet.Column) {
		if c.Leaf() {
			l := &leaves[i]
			i++
			if !reads(c.Type(), l) {
				forget(&m.Schema[l.element])
				any = true
			}
		}
		for _, child := range c.Columns() {
			visit(child)
		}
	}
	visit(f.file.Root())
	return any
}

// reads reports whether the library reads the values of a leaf for what they are. The types of
// groups panic when they stand at a leaf.
func reads(t parquet.Type, l *leaf) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return format.Type(t.Kind()) == l.kind && (l.kind != format.FixedLenByteArray || t.Length() == l.width)
}

func damaged(err error) error {
	if of := new(Error); errors.As(err, &of) {
		return err
	}
	return &Error{Problem: err.Error(), Err: err}
}

// guard runs what calls the library.
func (f *File) guard(run func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		cause := recover()
		if cause == nil && (err == nil || err == io.EOF) {
			return
		}
		column, group, failed := f.view.where()
		switch {
		case failed != nil:
			err = failed
		case cause != nil:
			err = &Error{Column: column, RowGroup: group, Problem: errPanic.Error(), Err: errPanic}
		default:
			err = &Error{Column: column, RowGroup: group, Problem: "its pages can't be decoded: " + err.Error(), Err: err}
		}
	}()
	return run()
}

// Schema of the rows.
func (f *File) Schema() *parquet.Schema { return f.file.Schema() }

// NumRows of the file.
func (f *File) NumRows() int64 { return f.file.NumRows() }

// Unpacked is the number of bytes that the file says its columns take unpacked.
func (f *File) Unpacked() int64 { return f.unpacked }

// RowGroups is the number of row groups.
func (f *File) RowGroups() int { return len(f.file.RowGroups()) }

// RowsOf is the number of rows of a row group, from 0.
func (f *File) RowsOf(group int) int64 { return f.file.RowGroups()[group].NumRows() }

// Rows reads the rows of a row group.
type Rows struct {
	file *File
	rows parquet.Rows
	left int64
}

// Rows returns a reader of the rows of a row group, from 0.
func (f *File) Rows(group int) (*Rows, error) {
	r := &Rows{file: f, left: f.RowsOf(group)}
	return r, f.guard(func() error {
		r.rows = f.file.RowGroups()[group].Rows()
		return nil
	})
}

// Read fills rows. It returns io.EOF after the last one, and only when there were as many as
// the file counts.
func (r *Rows) Read(rows []parquet.Row) (n int, err error) {
	if int64(len(rows)) > r.left {
		rows = rows[:r.left]
	}
	if len(rows) == 0 {
		return 0, io.EOF
	}
	err = r.file.guard(func() (err error) {
		n, err = r.rows.ReadRows(rows)
		if r.left -= int64(n); err == io.EOF && r.left > 0 || err == nil && n == 0 {
			err = fmt.Errorf("%d rows are missing", r.left)
		}
		return err
	})
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// Close ends the reading.
func (r *Rows) Close() error { return r.file.guard(r.rows.Close) }

// Column reads the values of one column of a row group, page by page.
type Column struct {
	file  *File
	pages parquet.Pages
	index parquet.OffsetIndex // nil for a column within a list
	held  parquet.Page        // that the values of Page lie in, or nil
}

// Column returns a reader of a column of a row group, both from 0; columns count as in
// Schema().Columns().
func (f *File) Column(group, column int) (*Column, error) {
	c := &Column{file: f}
	return c, f.guard(func() error {
		chunk := f.file.RowGroups()[group].ColumnChunks()[column]
		if index, err := chunk.OffsetIndex(); err == nil {
			c.index = index
		}
		c.pages = chunk.Pages()
		return nil
	})
}

// SeekToRow makes Page read on with the page that has the row, which must be one of the row group,
// and returns that page's first row. The column must not be within a list.
func (c *Column) SeekToRow(row int64) (first int64, err error) {
	i := sort.Search(c.index.NumPages(), func(i int) bool { return c.index.FirstRowIndex(i) > row }) - 1
	first = c.index.FirstRowIndex(i)
	return first, c.file.guard(func() error { return c.pages.SeekToRow(first) })
}

// Page returns the values of the next page, in into or in a slice that is larger, or io.EOF.
// Texts stay as they are when keep is set, else until the next call.
func (c *Column) Page(into []parquet.Value, keep bool) (out []parquet.Value, err error) {
	err = c.file.guard(func() error {
		c.release()
		page, err := c.pages.ReadPage()
		if err != nil {
			return err
		}
		n := int(page.NumValues())
		if cap(into) < n {
			into = make([]parquet.Value, n)
		}
		out = into[:n]
		got, err := page.Values().ReadValues(out)
		if got < n {
			return errors.Join(fmt.Errorf("page of %d values has only %d", n, got), err)
		}
		if !keep {
			c.held = page
		}
		return nil
	})
	return out, err
}

func (c *Column) release() {
	if c.held != nil {
		parquet.Release(c.held)
		c.held = nil
	}
}

// Close ends the reading.
func (c *Column) Close() error {
	return c.file.guard(func() error {
		c.release()
		return c.pages.Close()
	})
}

// Read yields the rows of a file as T, whose fields are columns of it. After an error nothing
// more is yielded.
func Read[T any](f *File) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var r *parquet.GenericReader[T]
		var zero T
		if err := f.guard(func() error { r = parquet.NewGenericReader[T](f.file); return nil }); err != nil {
			yield(zero, err)
			return
		}
		defer r.Close()
		buf := make([]T, 256)
		for left := f.NumRows(); left > 0; {
			clear(buf)
			var n int
			err := f.guard(func() (err error) {
				if n, err = r.Read(buf); n == 0 && (err == nil || err == io.EOF) {
					return fmt.Errorf("%d rows are missing", left)
				}
				return err
			})
			for _, row := range buf[:n] {
				if !yield(row, nil) {
					return
				}
			}
			if left -= int64(n); err != nil && err != io.EOF {
				yield(zero, err)
				return
			}
		}
	}
}
