package tabular

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// readParquet reads columns of a Parquet file. Lists and maps have no one value per row and
// are no columns; a field of a group is named by its path, joined by dots.
func readParquet(file *os.File, wanted []string, where string) (f *Frame, err error) {
	defer func() {
		if p := recover(); p != nil { // parquet-go panics on some malformed pages
			f, err = nil, fmt.Errorf("reading %s: malformed page: %v", file.Name(), p)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	pq, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file.Name(), err)
	}
	var names []string
	var leaves []parquet.LeafColumn
	for _, path := range pq.Schema().Columns() {
		if leaf, ok := pq.Schema().Lookup(path...); ok && leaf.MaxRepetitionLevel == 0 {
			names = append(names, strings.Join(path, "."))
			leaves = append(leaves, leaf)
		}
	}
	known := inventory{names: names}
	at, err := known.choose(wanted)
	if err != nil {
		return nil, err
	}
	at = withMentioned(at, names, where)
	columns := make([]*Column, len(at))
	for i, j := range at {
		columns[i] = newColumn(names[j])
		if _, ok := logicalType(leaves[j].Node.Type()).(*format.DecimalType); ok {
			return nil, fmt.Errorf("%s: column %s is a DECIMAL, which is not read; cast it to DOUBLE", file.Name(), names[j])
		}
		for _, group := range pq.RowGroups() {
			if err := readChunk(columns[i], group.ColumnChunks()[leaves[j].ColumnIndex]); err != nil {
				return nil, fmt.Errorf("reading %s: column %s: %w", file.Name(), names[j], err)
			}
		}
		if got, want := columns[i].Len(), int(pq.NumRows()); got != want {
			return nil, fmt.Errorf("reading %s: column %s has %d values for %d rows", file.Name(), names[j], got, want)
		}
	}
	return frameOf(known, columns, int(pq.NumRows()), "row", nil), nil
}

// logicalType is the type's annotation, nil for none.
func logicalType(t parquet.Type) format.LogicalTypeValue {
	if logical := t.LogicalType(); logical != nil {
		return logical.Value
	}
	return nil
}

func readChunk(c *Column, chunk parquet.ColumnChunk) error {
	integer, ok := logicalType(chunk.Type()).(*format.IntType)
	unsigned := ok && !integer.IsSigned
	pages := chunk.Pages()
	defer pages.Close()
	buf := make([]parquet.Value, 512)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buf)
			for _, v := range buf[:n] {
				if err := addParquet(c, v, unsigned); err != nil {
					return err
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}

func addParquet(c *Column, v parquet.Value, unsigned bool) error {
	switch {
	case v.IsNull():
		c.addMissing()
		return nil
	case unsigned && v.Kind() == parquet.Int32:
		c.addInteger(int64(v.Uint32()))
		return nil
	case unsigned && v.Kind() == parquet.Int64 && v.Int64() < 0:
		c.addReal(float64(v.Uint64()))
		return nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		c.addBoolean(v.Boolean())
	case parquet.Int32:
		c.addInteger(int64(v.Int32()))
	case parquet.Int64:
		c.addInteger(v.Int64())
	case parquet.Float:
		c.addReal(float64(v.Float()))
	case parquet.Double:
		c.addReal(v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		if known, ok := c.seen[string(v.ByteArray())]; ok { // no copy for a text seen before
			c.addText(known)
		} else {
			c.addText(string(v.ByteArray()))
		}
	default:
		return fmt.Errorf("values of type %s are not read; cast them to INT64 or DOUBLE", v.Kind())
	}
	return nil
}
