package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

const (
	mark       = "PAR1"
	markSealed = "PARE"
	tail       = 8 // the length of the footer and a mark

	largestFooter = 256 << 20
	mostElements  = 1 << 20 // in all lists of a footer: columns, row groups, column chunks
	deepestSchema = 64
	widestValue   = 1 << 20 // bytes of a fixed length
)

// leaf is a column that holds values.
type leaf struct {
	name     string // its path, joined by points
	kind     format.Type
	width    int // bytes of a value of fixed width, 0 for the others
	def, rep int // greatest levels
	element  int // in the schema
}

// readFooter returns what the file says of itself, as far as it could be checked without
// looking at the pages.
func readFooter(r io.ReaderAt, size int64) (*format.FileMetaData, []leaf, error) {
	var end [tail]byte
	if size < tail+int64(len(mark)) {
		return nil, nil, errors.New("the file is too short to be Parquet")
	}
	var start [len(mark)]byte
	if err := readFull(r, end[:], size-tail); err != nil {
		return nil, nil, err
	}
	if err := readFull(r, start[:], 0); err != nil {
		return nil, nil, err
	}
	switch {
	case string(end[4:]) == markSealed:
		return nil, nil, errors.New("the file is encrypted, and there is no key; decrypt it first")
	case string(end[4:]) != mark:
		return nil, nil, fmt.Errorf("the file does not end as Parquet does, with %s", mark)
	case string(start[:]) != mark:
		return nil, nil, fmt.Errorf("the file does not begin as Parquet does, with %s", mark)
	}
	length := int64(binary.LittleEndian.Uint32(end[:4]))
	if length > size-tail-int64(len(mark)) {
		return nil, nil, fmt.Errorf("its footer would take %d bytes of %d", length, size)
	}
	if length > largestFooter {
		return nil, nil, fmt.Errorf("its footer has %d bytes, more than the %d that are read", length, int64(largestFooter))
	}
	text := make([]byte, length)
	if err := readFull(r, text, size-tail-length); err != nil {
		return nil, nil, err
	}
	n, err := measure(text, min(mostElements, len(text)/4+1024))
	if err != nil {
		return nil, nil, fmt.Errorf("its footer %w", err)
	}
	m := new(format.FileMetaData)
	if err := unmarshal(text[:n], m); err != nil {
		return nil, nil, fmt.Errorf("its footer %w", errMalformed)
	}
	if m.EncryptionAlgorithm.Value != nil || n < len(text) {
		return nil, nil, errors.New("the file is signed or encrypted, and there is no key; decrypt it first")
	}
	leaves, err := leavesOf(m.Schema)
	if err != nil {
		return nil, nil, err
	}
	return m, leaves, checkGroups(m, leaves, size-tail-length)
}

func readFull(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// leavesOf lists the columns of a schema, which is a tree written out depth first.
func leavesOf(schema []format.SchemaElement) ([]leaf, error) {
	if len(schema) == 0 {
		return nil, errors.New("its footer has no schema")
	}
	t := tree{schema: schema}
	if schema[0].Type.Valid {
		return nil, errors.New("its schema begins with a column, want a group")
	}
	if err := t.children(schema[0].NumChildren.V, nil, 0, 0); err != nil {
		return nil, err
	}
	if t.next+1 != len(schema) {
		return nil, fmt.Errorf("its schema has %d elements, the groups name %d", len(schema), t.next+1)
	}
	return t.leaves, nil
}

type tree struct {
	schema []format.SchemaElement
	next   int // elements after the root that were seen
	leaves []leaf
}

func (t *tree) children(n int32, path []string, def, rep int) error {
	if len(path) > deepestSchema {
		return fmt.Errorf("its schema is more than %d levels deep", deepestSchema)
	}
	for range n {
		if t.next++; t.next >= len(t.schema) {
			return errors.New("its schema has fewer columns than its groups name")
		}
		s := &t.schema[t.next]
		path := append(path[:len(path):len(path)], s.Name)
		def, rep := def, rep
		switch s.RepetitionType.V {
		case format.Required:
		case format.Optional:
			def++
		case format.Repeated:
			def, rep = def+1, rep+1
		default:
			return fmt.Errorf("column %q is neither required, optional nor repeated", strings.Join(path, "."))
		}
		if !s.Type.Valid {
			if s.NumChildren.V < 0 {
				return fmt.Errorf("group %q has %d columns", strings.Join(path, "."), s.NumChildren.V)
			}
			if err := t.children(s.NumChildren.V, path, def, rep); err != nil {
				return err
			}
			continue
		}
		l := leaf{name: strings.Join(path, "."), kind: s.Type.V, def: def, rep: rep, element: t.next}
		switch s.Type.V {
		case format.Boolean, format.ByteArray:
		case format.Int32, format.Float:
			l.width = 4
		case format.Int64, format.Double:
			l.width = 8
		case format.Int96:
			l.width = 12
		case format.FixedLenByteArray:
			if l.width = int(s.TypeLength.V); l.width <= 0 || l.width > widestValue {
				return fmt.Errorf("column %q has values of %d bytes; from 1 to %d are read", l.name, l.width, widestValue)
			}
		default:
			return fmt.Errorf("column %q is of a type that is not known (%d)", l.name, int32(s.Type.V))
		}
		if s.NumChildren.V > 0 {
			return fmt.Errorf("column %q has values and columns of its own", l.name)
		}
		fit(s)
		t.leaves = append(t.leaves, l)
	}
	return nil
}

// fit takes away what a column says of its meaning where its type can't mean that.
func fit(s *format.SchemaElement) {
	decimal := s.ConvertedType.Valid && s.ConvertedType.V == deprecated.Decimal
	if _, ok := s.LogicalType.Value.(*format.DecimalType); ok {
		decimal = true
	}
	if !decimal {
		return
	}
	switch s.Type.V {
	case format.Int32, format.Int64, format.ByteArray, format.FixedLenByteArray:
	default:
		forget(s)
	}
}

func forget(s *format.SchemaElement) {
	s.LogicalType, s.ConvertedType.Valid = format.LogicalType{}, false
}

// checkGroups checks numbers and places; data is where the pages end.
func checkGroups(m *format.FileMetaData, leaves []leaf, data int64) error {
	var rows, bytes int64
	for g := range m.RowGroups {
		group := &m.RowGroups[g]
		fail := func(form string, args ...any) error {
			return fmt.Errorf("row group %d: %s", g+1, fmt.Sprintf(form, args...))
		}
		if group.NumRows < 0 || group.NumRows > math.MaxInt64-rows {
			return fail("it has %d rows", group.NumRows)
		}
		rows += group.NumRows
		if len(group.Columns) != len(leaves) {
			return fail("it has %d columns, the schema has %d", len(group.Columns), len(leaves))
		}
		for i := range group.Columns {
			c, l := &group.Columns[i], &leaves[i]
			d := &c.MetaData
			start, _ := extent(d)
			switch {
			case c.CryptoMetadata.Value != nil || len(c.EncryptedColumnMetadata) > 0:
				return fail("column %q is encrypted, and there is no key; decrypt it first", l.name)
			case c.FilePath != "":
				return fail("column %q is in another file", l.name)
			case d.Type != l.kind:
				return fail("column %q is of another type than in the schema", l.name)
			case d.NumValues < 0 || d.TotalCompressedSize < 0 || start < int64(len(mark)) || start > data || d.TotalCompressedSize > data-start:
				return fail("column %q lies outside of the file", l.name)
			case l.rep == 0 && d.NumValues != group.NumRows:
				return fail("column %q has %d values for %d rows", l.name, d.NumValues, group.NumRows)
			}
			if bytes += d.TotalCompressedSize; bytes > data {
				return fail("its columns take more bytes than the file has")
			}
		}
	}
	if rows != m.NumRows {
		return fmt.Errorf("its footer counts %d rows, its row groups %d", m.NumRows, rows)
	}
	return nil
}

// extent is where a column's pages begin and end.
func extent(d *format.ColumnMetaData) (start, end int64) {
	start = d.DataPageOffset
	if d.DictionaryPageOffset > 0 && d.DictionaryPageOffset < start {
		start = d.DictionaryPageOffset
	}
	return start, start + d.TotalCompressedSize
}
