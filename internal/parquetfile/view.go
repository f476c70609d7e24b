package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"

	"github.com/parquet-go/parquet-go/format"
)

// Memory that reading a row group may take at once: what any small file may take, and so many
// times the bytes of a larger one, up to a bound.
const (
	heldAlways = 64 << 20
	heldTimes  = 64
	heldMost   = 4 << 30
)

// Error says what is wrong with a file, and where.
type Error struct {
	Column   string // path of the column, "" when it concerns the whole file
	RowGroup int    // from 1, 0 when it concerns all
	Problem  string
	Err      error // the cause, where it is more than the file
}

func (e *Error) Error() string {
	where := ""
	if e.RowGroup > 0 {
		where = fmt.Sprintf("row group %d: ", e.RowGroup)
	}
	if e.Column != "" {
		where += fmt.Sprintf("column %q: ", e.Column)
	}
	return where + e.Problem
}

func (e *Error) Unwrap() error { return e.Err }

// view is what the library reads: pages that are unpacked and checked when they are asked for.
type view struct {
	file   io.ReaderAt
	chunks []*chunk // by their places
	ends   []byte   // what follows the pages: indexes and the footer
	endsAt int64
	room   int64 // memory of one page's values

	mu   sync.Mutex
	last *chunk // that was read from, or nil
	err  error  // the first one of a page
}

// chunk is a column of a row group.
type chunk struct {
	leaf  *leaf
	group int // from 1
	codec format.CompressionCodec
	rows  int64 // of the row group
	pages []page
	at    int64 // of the first page in the view
	end   int64

	held *page // whose bytes body has, or nil
	body []byte
	seen []int // rows of each page, -1 while it was not read
}

func (c *chunk) fail(err error) *Error {
	return &Error{Column: c.leaf.name, RowGroup: c.group, Problem: err.Error(), Err: err}
}

// entries of the dictionary, -1 for none.
func (c *chunk) entries() int {
	if len(c.pages) > 0 {
		return c.pages[0].entries
	}
	return -1
}

// newView looks at every page's header and lays out the view. It makes m the view's footer.
func newView(r io.ReaderAt, size int64, m *format.FileMetaData, leaves []leaf) (*view, error) {
	v := &view{file: r, room: min(heldAlways+heldTimes*size, heldMost)}
	at := int64(len(mark))
	for g := range m.RowGroups {
		group := &m.RowGroups[g]
		held := int64(0)
		for i := range group.Columns {
			d := &group.Columns[i].MetaData
			c := &chunk{leaf: &leaves[i], group: g + 1, codec: d.Codec, rows: group.NumRows, at: at}
			v.chunks = append(v.chunks, c)
			var err error
			if d.NumValues > 0 && !supported(d.Codec) {
				return nil, c.fail(fmt.Errorf("packed with %s, which is not read", codecName(d.Codec)))
			}
			if c.pages, err = pagesOf(r, d, c.leaf); err != nil {
				return nil, c.fail(err)
			}
			largest := int64(0)
			for j := range c.pages {
				p := &c.pages[j]
				if err := p.place(at); err != nil {
					return nil, c.fail(err)
				}
				at = p.end()
				if p.dictionary() {
					held += p.cost()
				} else {
					largest = max(largest, p.cost())
				}
				c.seen = append(c.seen, -1)
			}
			c.end = at
			if held += largest; held > v.room {
				return nil, c.fail(fmt.Errorf("pages that would take more than %d MiB of memory to read, of a file of %d bytes", v.room>>20, size))
			}
			describe(&group.Columns[i], c)
		}
		group.SortingColumns = nil
	}
	return v, v.finish(m, at)
}

func codecName(c format.CompressionCodec) string {
	if c >= 0 && c <= format.Lz4Raw {
		return c.String()
	}
	return fmt.Sprintf("a codec that is not known (%d)", int32(c))
}

// describe makes the footer's entry of a column that of the view.
func describe(to *format.ColumnChunk, c *chunk) {
	d := to.MetaData
	*to = format.ColumnChunk{MetaData: format.ColumnMetaData{
		Type: d.Type, Encoding: d.Encoding, PathInSchema: d.PathInSchema, Codec: format.Uncompressed, NumValues: d.NumValues,
		TotalUncompressedSize: c.end - c.at, TotalCompressedSize: c.end - c.at, DataPageOffset: c.at,
	}}
	if c.entries() >= 0 {
		to.MetaData.DictionaryPageOffset, to.MetaData.DataPageOffset = c.at, c.pages[0].end()
	}
}

// finish writes the indexes and the footer, which come after the pages.
func (v *view) finish(m *format.FileMetaData, at int64) error {
	v.endsAt = at
	n := 0
	for g := range m.RowGroups {
		for i := range m.RowGroups[g].Columns {
			c := v.chunks[n]
			n++
			if c.leaf.rep > 0 {
				continue
			}
			var index format.OffsetIndex
			for _, p := range c.pages {
				if !p.dictionary() {
					index.PageLocations = append(index.PageLocations, format.PageLocation{Offset: p.offset, CompressedPageSize: int32(p.end() - p.offset), FirstRowIndex: p.first})
				}
			}
			text, err := marshal(&index)
			if err != nil {
				return err
			}
			column := &m.RowGroups[g].Columns[i]
			column.OffsetIndexOffset, column.OffsetIndexLength = v.endsAt+int64(len(v.ends)), int32(len(text))
			v.ends = append(v.ends, text...)
		}
	}
	m.ColumnOrders = nil
	text, err := marshal(m)
	if err != nil {
		return err
	}
	v.ends = append(v.ends, text...)
	v.ends = binary.LittleEndian.AppendUint32(v.ends, uint32(len(text)))
	v.ends = append(v.ends, mark...)
	return nil
}

func (v *view) size() int64 { return v.endsAt + int64(len(v.ends)) }

// ReadAt reads from the view.
func (v *view) ReadAt(p []byte, at int64) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	done := 0
	for done < len(p) {
		n, err := v.read(p[done:], at+int64(done))
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// read reads some bytes.
func (v *view) read(p []byte, at int64) (int, error) {
	switch {
	case at < 0 || at >= v.size():
		return 0, io.EOF
	case at >= v.endsAt:
		return copy(p, v.ends[at-v.endsAt:]), nil
	case at < int64(len(mark)):
		return copy(p, mark[at:]), nil
	}
	i := sort.Search(len(v.chunks), func(i int) bool { return v.chunks[i].end > at })
	c := v.chunks[i]
	v.last = c
	j := sort.Search(len(c.pages), func(j int) bool { return c.pages[j].end() > at })
	q := &c.pages[j]
	if within := at - q.offset; within < int64(len(q.head)) {
		return copy(p, q.head[within:]), nil
	}
	if c.held != q {
		if err := c.hold(v, q, j); err != nil {
			failed := c.fail(fmt.Errorf("page %d: %w", j+1, err))
			if v.err == nil {
				v.err = failed
			}
			return 0, failed
		}
	}
	n := copy(p, c.body[at-q.offset-int64(len(q.head)):])
	if at+int64(n) == q.end() {
		c.held, c.body = nil, nil
	}
	return n, nil
}

func (c *chunk) hold(v *view, p *page, n int) (err error) {
	c.held, c.body = nil, nil
	rows := 0
	if c.body, rows, err = p.open(v.file, c.codec, c.leaf, c.entries(), v.room); err != nil {
		return err
	}
	c.held, c.seen[n] = p, rows
	if c.leaf.rep == 0 {
		return nil
	}
	var sum int64
	for _, rows := range c.seen {
		if rows < 0 {
			return nil
		}
		sum += int64(rows)
	}
	if sum != c.rows {
		return fmt.Errorf("the column has %d rows, its row group %d", sum, c.rows)
	}
	return nil
}

// where is the place that was read from last.
func (v *view) where() (column string, group int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last != nil {
		column, group = v.last.leaf.name, v.last.group
	}
	return column, group, v.err
}

var errPanic = errors.New("its pages do not hold what they say")
