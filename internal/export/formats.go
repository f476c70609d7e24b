package export

import (
	"bufio"
	"os"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/internal/rowtext"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// rowGroupBytes of content end a row group or batch.
const rowGroupBytes = 16 << 20

// sink writes the rows of one file.
type sink interface {
	write(block) error
	close() error // ends the file
}

// layout is what all files of a table have in common.
type layout struct {
	name    string
	columns []schema.Column
	row     reflect.Type // with exactly those columns
	null    string       // CSV only
	dicts   []*dictionary
}

// layoutOf leaves out one column, "" for none. It also returns the positions of the others.
func layoutOf(t *table, without string) (*layout, []int) {
	l := &layout{name: t.String()}
	var wanted []int
	var fields []reflect.StructField
	for i, c := range t.variant.Columns {
		if c.Name == without {
			continue
		}
		wanted = append(wanted, i)
		l.columns = append(l.columns, c)
		fields = append(fields, t.variant.Row.Field(c.Field))
	}
	l.row = t.variant.Row
	if len(fields) < t.variant.Row.NumField() {
		l.row = reflect.StructOf(fields)
	}
	return l, wanted
}

// text is a text of a value without copying it; the page it lies in is never written again.
func text(v parquet.Value) string {
	b := v.ByteArray()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// size is about the bytes of a block.
func (b block) size() int {
	n := 8 * b.rows * len(b.columns)
	for _, values := range b.columns {
		if values[0].Kind() == parquet.ByteArray || values[len(values)-1].Kind() == parquet.ByteArray {
			for _, v := range values {
				if !v.IsNull() {
					n += len(v.ByteArray())
				}
			}
		}
	}
	return n
}

type parquetSink struct {
	file  *os.File
	w     *parquet.GenericWriter[any]
	bytes int
}

func newParquet(path string, l *layout) (sink, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	node := parquet.NewSchema(l.name, parquet.SchemaOf(reflect.New(l.row).Interface()))
	return &parquetSink{file: file, w: parquet.NewGenericWriter[any](file, store.ParquetOptions(l.name, node, l.columns)...)}, nil
}

func (s *parquetSink) write(b block) error {
	for i, c := range s.w.ColumnWriters() {
		values := b.columns[i]
		if values[0].Column() != i { // a partition's file lacks a column before this one
			for j := range values {
				values[j] = values[j].Level(0, values[j].DefinitionLevel(), i)
			}
		}
		if _, err := c.WriteRowValues(values); err != nil {
			return err
		}
	}
	if s.bytes += b.size(); s.bytes < rowGroupBytes {
		return nil
	}
	s.bytes = 0
	return s.w.Flush()
}

func (s *parquetSink) close() error {
	if err := s.w.Close(); err != nil {
		s.file.Close()
		return err
	}
	return s.file.Close()
}

// textSink writes CSV or JSON Lines.
type textSink struct {
	file *os.File
	out  *bufio.Writer
	l    *layout
	json bool
	keys []string // what stands before each value
	line []byte
}

func newText(path string, l *layout, json bool) (sink, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	s := &textSink{file: file, out: bufio.NewWriterSize(file, 1<<16), l: l, json: json, keys: make([]string, len(l.columns))}
	for i, c := range l.columns {
		switch {
		case json && i == 0:
			s.keys[i] = "{" + strconv.Quote(c.Name) + ":"
		case json:
			s.keys[i] = "," + strconv.Quote(c.Name) + ":"
		case i > 0:
			s.keys[i] = ","
		}
	}
	if !json {
		for i, c := range l.columns {
			s.line = rowtext.AppendCSV(append(s.line, s.keys[i]...), c.Name, l.null)
		}
		s.out.Write(append(s.line, '\n'))
	}
	return s, nil
}

func (s *textSink) write(b block) error {
	for r := range b.rows {
		s.line = s.line[:0]
		for i := range s.l.columns {
			s.line = append(s.line, s.keys[i]...)
			var err error
			if s.line, err = s.append(s.line, s.l.columns[i].Kind, b.columns[i][r]); err != nil {
				return err
			}
		}
		if s.json {
			s.line = append(s.line, '}')
		}
		if _, err := s.out.Write(append(s.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (s *textSink) append(line []byte, kind schema.Kind, v parquet.Value) ([]byte, error) {
	var value any
	switch {
	case v.IsNull():
	case kind == schema.Text:
		value = text(v)
	case kind == schema.Integer:
		return strconv.AppendInt(line, v.Int64(), 10), nil
	case kind == schema.Boolean:
		return strconv.AppendBool(line, v.Boolean()), nil
	case kind == schema.Real:
		value = v.Double()
	}
	if s.json {
		return rowtext.AppendJSON(line, value)
	}
	return rowtext.AppendCSV(line, value, s.l.null), nil
}

func (s *textSink) close() error {
	if err := s.out.Flush(); err != nil {
		s.file.Close()
		return err
	}
	return s.file.Close()
}
