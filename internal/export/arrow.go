package export

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/schema"
)

// maxDictionary is the most texts of a dictionary.
const maxDictionary = 4096

// dictionary holds the different texts of a column, sorted.
type dictionary struct {
	index  map[string]int32
	values arrow.Array
}

// readDictionaries fills in the dictionaries of a layout: for columns of text with at most
// maxDictionary different values, each of them twice or more on average, in all rows.
func (l *layout) readDictionaries(ctx context.Context, t *table, spans []span, wanted []int) error {
	l.dicts = make([]*dictionary, len(l.columns))
	for i, c := range l.columns {
		if c.Kind != schema.Text {
			continue
		}
		d, err := t.dictionary(ctx, spans, wanted[i])
		if err != nil {
			return err
		}
		l.dicts[i] = d
	}
	return nil
}

// tooMany ends a scan.
type tooMany struct{}

func (tooMany) Error() string { return "too many texts for a dictionary" }

func (t *table) dictionary(ctx context.Context, spans []span, column int) (*dictionary, error) {
	seen := map[string]int32{}
	n := 0
	err := t.scan(ctx, spans, []int{column}, func(b block) error {
		for _, v := range b.columns[0] {
			if v.IsNull() {
				continue
			}
			n++
			if _, ok := seen[text(v)]; ok {
				continue
			}
			if len(seen) == maxDictionary {
				return tooMany{}
			}
			seen[strings.Clone(text(v))] = 0
		}
		return nil
	})
	if errors.As(err, new(tooMany)) {
		return nil, nil
	}
	if err != nil || n < 2*len(seen) || n == 0 {
		return nil, err
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for i, name := range names {
		seen[name] = int32(i)
		b.Append(name)
	}
	return &dictionary{index: seen, values: b.NewArray()}, nil
}

type arrowSink struct {
	file    *os.File
	w       *ipc.FileWriter
	l       *layout
	schema  *arrow.Schema
	columns []array.Builder
	rows    int64
	bytes   int
	batches int
}

var dictionaryType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

func newArrow(path string, l *layout) (sink, error) {
	s := &arrowSink{l: l}
	fields := make([]arrow.Field, len(l.columns))
	memory := memory.NewGoAllocator()
	for i, c := range l.columns {
		f := arrow.Field{Name: c.Name, Nullable: c.Nullable}
		var b array.Builder
		switch {
		case l.dicts[i] != nil:
			f.Type, b = dictionaryType, array.NewInt32Builder(memory)
		case c.Kind == schema.Text:
			f.Type, b = arrow.BinaryTypes.String, array.NewStringBuilder(memory)
		case c.Kind == schema.Integer:
			f.Type, b = arrow.PrimitiveTypes.Int64, array.NewInt64Builder(memory)
		case c.Kind == schema.Real:
			f.Type, b = arrow.PrimitiveTypes.Float64, array.NewFloat64Builder(memory)
		default:
			f.Type, b = arrow.FixedWidthTypes.Boolean, array.NewBooleanBuilder(memory)
		}
		fields[i] = f
		s.columns = append(s.columns, b)
	}
	metadata := arrow.NewMetadata([]string{"agentlens.table", "agentlens.schema_version"}, []string{l.name, strconv.Itoa(schema.Version)})
	s.schema = arrow.NewSchema(fields, &metadata)
	var err error
	if s.file, err = os.Create(path); err != nil {
		return nil, err
	}
	if s.w, err = ipc.NewFileWriter(s.file, ipc.WithSchema(s.schema), ipc.WithAllocator(memory)); err != nil {
		s.file.Close()
		return nil, err
	}
	return s, nil
}

func (s *arrowSink) write(b block) error {
	for i, values := range b.columns {
		appendValues(s.columns[i], values, s.l.dicts[i])
	}
	s.rows += int64(b.rows)
	if s.bytes += b.size(); s.bytes < rowGroupBytes {
		return nil
	}
	return s.flush()
}

func appendValues(b array.Builder, values []parquet.Value, d *dictionary) {
	b.Reserve(len(values))
	for _, v := range values {
		if v.IsNull() {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Int32Builder:
			b.Append(d.index[text(v)])
		case *array.StringBuilder:
			b.Append(text(v))
		case *array.Int64Builder:
			b.Append(v.Int64())
		case *array.Float64Builder:
			b.Append(v.Double())
		case *array.BooleanBuilder:
			b.Append(v.Boolean())
		}
	}
}

func (s *arrowSink) flush() error {
	arrays := make([]arrow.Array, len(s.columns))
	for i, b := range s.columns {
		arrays[i] = b.NewArray()
		if d := s.l.dicts[i]; d != nil {
			arrays[i] = array.NewDictionaryArray(dictionaryType, arrays[i], d.values)
		}
	}
	err := s.w.Write(array.NewRecordBatch(s.schema, arrays, s.rows))
	s.rows, s.bytes = 0, 0
	s.batches++
	return err
}

func (s *arrowSink) close() error {
	var err error
	if s.rows > 0 || s.batches == 0 { // a file without a batch would lack its dictionaries
		err = s.flush()
	}
	if cerr := s.w.Close(); err == nil {
		err = cerr
	}
	if cerr := s.file.Close(); err == nil {
		err = cerr
	}
	return err
}
