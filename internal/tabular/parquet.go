package tabular

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/agentlens-bench/agentlens/internal/parquetfile"
)

// readParquet reads columns of a Parquet file. Lists and maps have no one value per row and
// are no columns; a field of a group is named by its path, joined by dots.
func readParquet(file *os.File, wanted []string, where string) (*Frame, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	pq, err := parquetfile.Open(file, info.Size())
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
		for group := range pq.RowGroups() {
			if err := readChunk(columns[i], pq, group, leaves[j]); err != nil {
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

func readChunk(c *Column, pq *parquetfile.File, group int, leaf parquet.LeafColumn) error {
	integer, ok := logicalType(leaf.Node.Type()).(*format.IntType)
	unsigned := ok && !integer.IsSigned
	decimal, _ := logicalType(leaf.Node.Type()).(*format.DecimalType)
	pages, err := pq.Column(group, leaf.ColumnIndex)
	if err != nil {
		return err
	}
	defer pages.Close()
	var buf []parquet.Value
	for {
		buf, err = pages.Page(buf, false)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, v := range buf {
			if decimal != nil && !v.IsNull() {
				err = addDecimal(c, v, decimal.Scale)
			} else {
				err = addParquet(c, v, unsigned)
			}
			if err != nil {
				return err
			}
		}
	}
}

// addDecimal adds a DECIMAL: a whole number where it is one that fits, else the real number
// next to it.
func addDecimal(c *Column, v parquet.Value, scale int32) error {
	text, err := parquetfile.Decimal(v, scale)
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		c.addInteger(n)
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("the DECIMAL %s is out of the range of a real number", text)
	}
	c.addReal(x)
	return nil
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
