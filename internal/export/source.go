package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// blockRows is the number of rows handed on at a time.
const blockRows = 4096

// table is one table of one profile, open for reading.
type table struct {
	schema.Table
	profile string
	variant schema.Variant
	file    *os.File
	parquet *parquet.File
}

func (t *table) String() string {
	if t.profile == "" {
		return t.Name
	}
	return t.profile + "/" + t.Name
}

func openTable(dir string, s schema.Table, profile string) (*table, error) {
	v, err := s.Variant(profile)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(store.ParquetPath(dir, s.Name, profile))
	if err != nil {
		return nil, err
	}
	t := &table{Table: s, profile: profile, variant: v, file: file}
	info, err := file.Stat()
	if err == nil {
		t.parquet, err = parquet.OpenFile(file, info.Size())
	}
	var at []int
	if err == nil {
		at, err = store.ColumnsOf(t.parquet, v)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading %s: %w", file.Name(), err), file.Close())
	}
	columns := make([]schema.Column, len(at))
	for i, c := range at {
		columns[i] = v.Columns[c]
	}
	t.variant.Columns = columns
	return t, nil
}

func (t *table) close() error { return t.file.Close() }

// span is consecutive rows of a row group that have the same first key.
type span struct {
	key      string
	number   int64 // the key, where it is a number
	group    int
	from, to int64
}

// spans lists the rows by first key, in the order of the keys.
func (t *table) spans(ctx context.Context) ([]span, error) {
	key := t.variant.Key()[0]
	number := t.variant.Columns[key].Kind == schema.Integer
	var out []span
	for g := range t.parquet.RowGroups() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := t.column(g, key)
		at := int64(0)
		for n := t.parquet.RowGroups()[g].NumRows(); at < n; {
			values, err := c.read(int(min(blockRows, n-at)))
			if err != nil {
				return nil, errors.Join(t.wrap(err), c.close())
			}
			for _, v := range values {
				s := span{group: g, from: at, to: at + 1}
				if number {
					s.number = v.Int64()
				} else if text := v.ByteArray(); len(out) > 0 && out[len(out)-1].key == string(text) {
					s.key = out[len(out)-1].key
				} else {
					s.key = string(text)
				}
				at++
				if last := len(out) - 1; last >= 0 && out[last].group == g && out[last].key == s.key && out[last].number == s.number {
					out[last].to = at
					continue
				}
				out = append(out, s)
			}
		}
		if err := c.close(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b span) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.number, b.number))
	})
	return out, nil
}

// columnReader reads the values of one column of a row group.
type columnReader struct {
	pages parquet.Pages
	page  parquet.ValueReader // nil before a page
	buf   []parquet.Value
	at    int64 // next row
}

func (t *table) column(group, column int) *columnReader {
	return &columnReader{pages: t.parquet.RowGroups()[group].ColumnChunks()[column].Pages()}
}

// seek moves to a row of the group.
func (c *columnReader) seek(row int64) error {
	if c.at == row {
		return nil
	}
	c.page, c.at = nil, row
	return c.pages.SeekToRow(row)
}

// read returns the next n values; they are valid until the next call, the texts for ever.
func (c *columnReader) read(n int) (values []parquet.Value, err error) {
	defer func() {
		if p := recover(); p != nil { // parquet-go panics on some malformed pages
			err = fmt.Errorf("malformed page: %v", p)
		}
	}()
	if cap(c.buf) < n {
		c.buf = make([]parquet.Value, max(n, blockRows))
	}
	values = c.buf[:n]
	for have := 0; have < n; {
		if c.page == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
			c.page = page.Values()
		}
		got, err := c.page.ReadValues(values[have:])
		have += got
		c.at += int64(got)
		if err == io.EOF {
			c.page = nil
		} else if err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (c *columnReader) close() error { return c.pages.Close() }

// block is some rows: the values of each wanted column.
type block struct {
	rows    int
	columns [][]parquet.Value
}

// scan hands on the rows of the spans in their order, with the wanted columns.
func (t *table) scan(ctx context.Context, spans []span, wanted []int, yield func(block) error) (err error) {
	readers := make([]*columnReader, len(wanted))
	group := -1
	closeAll := func() error {
		var err error
		for i, r := range readers {
			if r != nil {
				err = errors.Join(err, r.close())
			}
			readers[i] = nil
		}
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	b := block{columns: make([][]parquet.Value, len(wanted))}
	for i := 0; i < len(spans); {
		s := spans[i]
		for i++; i < len(spans) && spans[i].group == s.group && spans[i].from == s.to; i++ {
			s.to = spans[i].to
		}
		if s.group != group {
			if err := closeAll(); err != nil {
				return err
			}
			group = s.group
			for j, c := range wanted {
				readers[j] = t.column(group, c)
			}
		}
		for at := s.from; at < s.to; {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.rows = int(min(blockRows, s.to-at))
			for j, r := range readers {
				if err := r.seek(at); err != nil {
					return t.wrap(err)
				}
				if b.columns[j], err = r.read(b.rows); err != nil {
					return t.wrap(err)
				}
			}
			at += int64(b.rows)
			if err := yield(b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *table) wrap(err error) error { return fmt.Errorf("reading %s: %w", t.file.Name(), err) }
