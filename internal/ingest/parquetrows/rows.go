package parquetrows

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/internal/parquetfile"
)

// File is an open Parquet file.
type File struct {
	file    *parquetfile.File
	columns []*node
	leaves  int
}

// Open opens a file of the given size.
func Open(r io.ReaderAt, size int64) (*File, error) {
	file, err := parquetfile.Open(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	for _, field := range file.Schema().Fields() {
		f.columns = append(f.columns, f.outline(field, 0, 0))
	}
	return f, nil
}

// Has reports whether one of the names is a column.
func (f *File) Has(names ...string) bool {
	return slices.ContainsFunc(f.columns, func(n *node) bool { return slices.Contains(names, n.name) })
}

// Rows calls yield for every row, with a buffer from fresh that holds it as JSON. The
// buffer belongs to yield. An error of yield ends the reading and is returned as it is.
func (f *File) Rows(fresh func() []byte, yield func(row int64, json []byte) error) error {
	n := int64(0)
	for group := range f.file.RowGroups() {
		var yielded error
		err := f.group(group, fresh, func(json []byte) error {
			n++
			yielded = yield(n, json)
			return yielded
		})
		if yielded != nil {
			return yielded
		}
		if err != nil {
			return fmt.Errorf("after row %d: %w", n, err)
		}
	}
	return nil
}

func (f *File) group(group int, fresh func() []byte, yield func(json []byte) error) error {
	rows, err := f.file.Rows(group)
	if err != nil {
		return err
	}
	defer rows.Close()
	buf := make([]parquet.Row, 8)
	for {
		n, err := rows.Read(buf)
		for i, row := range buf[:n] {
			json, err := f.json(fresh(), row)
			if err != nil {
				return err
			}
			if err := yield(json); err != nil {
				return err
			}
			buf[i] = row[:0]
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

var errApart = errors.New("the columns of a list have different lengths")

// node is a column, or a group of them, with the levels of its values.
type node struct {
	name             string
	optional, repeat bool
	list             bool // a group that stands for the list inside it
	children         []*node
	first, last      int // leaves
	def, rep         int // levels from which a value is there, and repeats
}

func (f *File) outline(field parquet.Field, def, rep int) *node {
	n := &node{name: field.Name(), optional: field.Optional(), repeat: field.Repeated(), first: f.leaves}
	if n.optional || n.repeat {
		def++
	}
	if n.repeat {
		rep++
	}
	n.def, n.rep = def, rep
	if field.Leaf() {
		f.leaves++
	} else {
		fields := field.Fields()
		for _, child := range fields {
			n.children = append(n.children, f.outline(child, def, rep))
		}
		n.list = len(fields) == 1 && fields[0].Repeated() && isList(field)
	}
	n.last = f.leaves
	return n
}

// isList knows a list by its annotation, or by the names of its levels.
func isList(field parquet.Field) bool {
	if t := field.Type().LogicalType(); t != nil && t.String() == "LIST" {
		return true
	}
	name := field.Fields()[0].Name()
	return name == "list" || name == "bag"
}

// assembler writes one row.
type assembler struct {
	out    []byte
	leaves [][]parquet.Value
}

// json writes a row. Columns of one list that have different lengths make the assembler run
// over the end of one.
func (f *File) json(out []byte, row parquet.Row) (json []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errApart
		}
	}()
	a := assembler{out: out, leaves: make([][]parquet.Value, f.leaves)}
	row.Range(func(column int, values []parquet.Value) bool {
		a.leaves[column] = values
		return true
	})
	a.object(f.columns)
	return a.out, nil
}

func (a *assembler) object(children []*node) {
	a.out = append(a.out, '{')
	for i, child := range children {
		if i > 0 {
			a.out = append(a.out, ',')
		}
		a.out, _ = jsontext.AppendQuote(a.out, child.name)
		a.out = append(a.out, ':')
		a.node(child)
	}
	a.out = append(a.out, '}')
}

// node writes the value of a node that stands next in its leaves.
func (a *assembler) node(n *node) {
	if n.repeat {
		a.array(n, false)
		return
	}
	if n.optional && a.next(n).DefinitionLevel() < n.def {
		a.skip(n)
		a.out = append(a.out, "null"...)
		return
	}
	a.present(n)
}

// present writes a value that is there.
func (a *assembler) present(n *node) {
	switch {
	case n.list:
		inner := n.children[0]
		// A group of one member stands around each element, except in the old form that
		// these names mark.
		a.array(inner, len(inner.children) == 1 && inner.name != "array" && !strings.HasSuffix(inner.name, "_tuple"))
	case len(n.children) > 0:
		a.object(n.children)
	default:
		a.value(a.next(n))
		a.skip(n)
	}
}

// array writes the values of a repeated node; with wrapped set, of the one member of each.
func (a *assembler) array(n *node, wrapped bool) {
	a.out = append(a.out, '[')
	if a.next(n).DefinitionLevel() < n.def {
		a.skip(n)
		a.out = append(a.out, ']')
		return
	}
	element := func() { a.present(n) }
	if wrapped {
		element = func() { a.node(n.children[0]) }
	}
	element()
	for len(a.leaves[n.first]) > 0 && a.next(n).RepetitionLevel() == n.rep {
		a.out = append(a.out, ',')
		element()
	}
	a.out = append(a.out, ']')
}

func (a *assembler) next(n *node) parquet.Value { return a.leaves[n.first][0] }

// skip passes over one value of every leaf.
func (a *assembler) skip(n *node) {
	for i := n.first; i < n.last; i++ {
		a.leaves[i] = a.leaves[i][1:]
	}
}

func (a *assembler) value(v parquet.Value) {
	switch v.Kind() {
	case parquet.Boolean:
		a.out = strconv.AppendBool(a.out, v.Boolean())
	case parquet.Int32:
		a.out = strconv.AppendInt(a.out, int64(v.Int32()), 10)
	case parquet.Int64:
		a.out = strconv.AppendInt(a.out, v.Int64(), 10)
	case parquet.Float:
		a.float(float64(v.Float()))
	case parquet.Double:
		a.float(v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		a.out, _ = jsontext.AppendQuote(a.out, v.ByteArray()) // what is no UTF-8 becomes U+FFFD
	default:
		if v.IsNull() {
			a.out = append(a.out, "null"...)
			return
		}
		a.out, _ = jsontext.AppendQuote(a.out, v.String())
	}
}

func (a *assembler) float(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		a.out = append(a.out, "null"...)
		return
	}
	a.out = strconv.AppendFloat(a.out, x, 'g', -1, 64)
}
