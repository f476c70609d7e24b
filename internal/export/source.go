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

	"github.com/agentlens-bench/agentlens/internal/parquetfile"
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
	parquet *parquetfile.File
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
	file, rows, err := store.Table(dir, s.Name, profile)
	if err != nil {
		return nil, err
	}
	t := &table{Table: s, profile: profile, variant: v, file: file, parquet: rows}
	at, err := store.ColumnsOf(rows.Schema(), v)
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
	values := make([]parquet.Value, blockRows)
	for g := range t.parquet.RowGroups() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := t.column(g, key)
		if err != nil {
			return nil, t.wrap(err)
		}
		at := int64(0)
		for n := t.parquet.RowsOf(g); at < n; {
			values = values[:min(blockRows, n-at)]
			if err := c.read(at, values); err != nil {
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

// columnReader reads the values of one column of a row group. Rows near the last ones read
// cost nothing, in whatever order they are asked for: a page is decoded as a whole and kept
// until another one is needed.
type columnReader struct {
	column *parquetfile.Column
	text   bool
	values []parquet.Value // of the page
	from   int64           // its first row
}

func (t *table) column(group, column int) (*columnReader, error) {
	c, err := t.parquet.Column(group, column)
	return &columnReader{column: c, text: t.variant.Columns[column].Kind == schema.Text}, err
}

// read fills values with those from a row on. Their texts stay as they are for ever.
func (c *columnReader) read(row int64, values []parquet.Value) error {
	for len(values) > 0 {
		if row < c.from || row >= c.from+int64(len(c.values)) {
			if err := c.load(row); err != nil {
				return err
			}
		}
		n := copy(values, c.values[row-c.from:])
		values, row = values[n:], row+int64(n)
	}
	return nil
}

// load decodes the page with a row.
func (c *columnReader) load(row int64) (err error) {
	next := c.from + int64(len(c.values))
	c.values = c.values[:0]
	if row != next {
		if next, err = c.column.SeekToRow(row); err != nil {
			return err
		}
	}
	for {
		if c.values, err = c.column.Page(c.values, c.text); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		n := int64(len(c.values))
		if c.from, next = next, next+n; row < next {
			return nil
		}
	}
}

func (c *columnReader) close() error { return c.column.Close() }

// block is some rows: the values of each wanted column.
type block struct {
	rows    int
	columns [][]parquet.Value
}

// scan hands on the rows of the spans in their order, with the wanted columns. A block is
// valid until the next one; while it is used, the next one is read.
func (t *table) scan(ctx context.Context, spans []span, wanted []int, yield func(block) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	blocks, used := make(chan block), make(chan block, 2)
	for range cap(used) {
		used <- block{columns: make([][]parquet.Value, len(wanted))}
	}
	var failed error // to read; set before blocks is closed
	go func() {
		defer close(blocks)
		failed = t.read(ctx, spans, wanted, used, blocks)
	}()
	var err error
	for b := range blocks { // to the end also after an error, so that the reader ends
		if err == nil {
			if err = yield(b); err != nil {
				cancel()
			}
		}
		used <- b
	}
	return cmp.Or(err, failed)
}

// read sends the rows of the spans, in blocks that it takes from used.
func (t *table) read(ctx context.Context, spans []span, wanted []int, used <-chan block, blocks chan<- block) (err error) {
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
				var err error
				if readers[j], err = t.column(group, c); err != nil {
					return t.wrap(err)
				}
			}
		}
		for at := s.from; at < s.to; {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := <-used
			b.rows = int(min(blockRows, s.to-at))
			for j, r := range readers {
				b.columns[j] = slices.Grow(b.columns[j][:0], b.rows)[:b.rows]
				if err := r.read(at, b.columns[j]); err != nil {
					return t.wrap(err)
				}
			}
			at += int64(b.rows)
			blocks <- b
		}
	}
	return nil
}

func (t *table) wrap(err error) error { return fmt.Errorf("reading %s: %w", t.file.Name(), err) }
