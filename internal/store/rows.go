package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/schema"
)

// value is one cell. n holds an integer, a boolean as 0 or 1, or the bits of a real.
type value struct {
	null bool
	n    int64
	s    string
}

// readRow takes a row struct apart into out, which has one cell per column.
func readRow(row reflect.Value, columns []schema.Column, out []value) {
	for i := range columns {
		c := &columns[i]
		f := row.Field(c.Field)
		if c.Nullable {
			if f.IsNil() {
				out[i] = value{null: true}
				continue
			}
			f = f.Elem()
		}
		switch c.Kind {
		case schema.Text:
			out[i] = value{s: f.String()}
		case schema.Integer:
			out[i] = value{n: f.Int()}
		case schema.Real:
			out[i] = value{n: int64(math.Float64bits(f.Float()))}
		case schema.Boolean:
			out[i] = value{n: boolBit(f.Bool())}
		}
	}
}

func boolBit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// checkCell says why a cell can't be stored, or returns "".
func checkCell(c *schema.Column, v value) string {
	if v.null {
		if !c.Nullable {
			return "null in a column that has no nulls"
		}
		return ""
	}
	switch c.Kind {
	case schema.Text:
		switch {
		case !utf8.ValidString(v.s):
			return fmt.Sprintf("text that is not UTF-8: %s", shorten(strconv.Quote(v.s)))
		case strings.IndexByte(v.s, 0) >= 0:
			return fmt.Sprintf("text with a NUL byte: %s", shorten(strconv.Quote(v.s)))
		case c.Enum != nil && !slices.Contains(c.Enum, v.s):
			return fmt.Sprintf("%q is none of %s", shorten(v.s), strings.Join(c.Enum, ", "))
		}
	case schema.Real:
		switch f := math.Float64frombits(uint64(v.n)); {
		case math.IsNaN(f):
			return "NaN, where a number or null is expected"
		case math.IsInf(f, 0):
			return "an infinite number, where a finite one or null is expected"
		case f == 0 && v.n != 0:
			return "negative zero, where zero is expected"
		}
	case schema.Boolean:
		if v.n != 0 && v.n != 1 {
			return fmt.Sprintf("%d, where 0 or 1 is expected", v.n)
		}
	}
	return ""
}

// show writes a cell for a message.
func show(c *schema.Column, v value) string {
	switch {
	case v.null:
		return "null"
	case c.Kind == schema.Text:
		return shorten(strconv.Quote(v.s))
	case c.Kind == schema.Real:
		return strconv.FormatFloat(math.Float64frombits(uint64(v.n)), 'g', -1, 64)
	case c.Kind == schema.Boolean && (v.n == 0 || v.n == 1):
		return strconv.FormatBool(v.n == 1)
	default:
		return strconv.FormatInt(v.n, 10)
	}
}

func shorten(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	cut := limit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

// showKey writes a row's key for a message, as (trajectory_id "a", step 3).
func showKey(columns []schema.Column, key []int, row []value) string {
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = columns[k].Name + " " + show(&columns[k], row[k])
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// appendCanonical appends a row's canonical bytes.
func appendCanonical(b []byte, columns []schema.Column, row []value) []byte {
	for i, v := range row {
		if v.null {
			b = append(b, 0)
			continue
		}
		kind := columns[i].Kind
		b = append(b, byte(kind)+1)
		switch kind {
		case schema.Text:
			b = binary.LittleEndian.AppendUint64(b, uint64(len(v.s)))
			b = append(b, v.s...)
		case schema.Boolean:
			b = append(b, byte(v.n))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(v.n))
		}
	}
	return b
}

// digester computes a table's digest and enforces the order of its rows.
type digester struct {
	columns []schema.Column
	key     []int
	rows    int64
	group   hash.Hash // over the rows of the group so far
	last    []value   // key of the last row
	sums    [][sha256.Size]byte
	seed    maphash.Seed
	seen    map[uint64]struct{} // hashes of the groups' keys
	buf     []byte
}

func newDigester(v schema.Variant) *digester {
	return &digester{
		columns: v.Columns,
		key:     v.Key(),
		group:   sha256.New(),
		seed:    maphash.MakeSeed(),
		seen:    map[uint64]struct{}{},
	}
}

// startsGroup says whether the row begins another group than the last one added.
func (d *digester) startsGroup(row []value) bool {
	return d.last == nil || row[d.key[0]] != d.last[0]
}

// add takes the next row and returns the number of its canonical bytes. A row out of order is
// an error.
func (d *digester) add(row []value) (int, error) {
	if d.startsGroup(row) {
		d.endGroup()
		first := row[d.key[0]]
		h := maphash.Comparable(d.seed, first)
		if _, ok := d.seen[h]; ok {
			if len(d.key) == 1 {
				return 0, fmt.Errorf("row %s comes twice", showKey(d.columns, d.key, row))
			}
			return 0, fmt.Errorf("row %s does not follow the other rows of its %s", showKey(d.columns, d.key, row), d.columns[d.key[0]].Name)
		}
		d.seen[h] = struct{}{}
	} else if c := d.compareLast(row); c == 0 {
		return 0, fmt.Errorf("row %s comes twice", showKey(d.columns, d.key, row))
	} else if c < 0 {
		return 0, fmt.Errorf("row %s comes after %s: within a %s, rows ascend by key", showKey(d.columns, d.key, row), d.lastKey(), d.columns[d.key[0]].Name)
	}
	if d.last == nil {
		d.last = make([]value, len(d.key))
	}
	for i, k := range d.key {
		d.last[i] = row[k]
	}
	d.buf = appendCanonical(d.buf[:0], d.columns, row)
	d.group.Write(d.buf)
	d.rows++
	return len(d.buf), nil
}

// compareLast compares the row's key with the last one's.
func (d *digester) compareLast(row []value) int {
	for i, k := range d.key {
		if c := compareCells(row[k], d.last[i]); c != 0 {
			return c
		}
	}
	return 0
}

// compareKeys compares two rows by key, as SQLite orders them.
func compareKeys(key []int, a, b []value) int {
	for _, k := range key {
		if c := compareCells(a[k], b[k]); c != 0 {
			return c
		}
	}
	return 0
}

// compareCells compares texts or integers.
func compareCells(a, b value) int {
	return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.s, b.s))
}

func (d *digester) lastKey() string {
	columns := make([]schema.Column, len(d.key))
	key := make([]int, len(d.key))
	for i, k := range d.key {
		columns[i], key[i] = d.columns[k], i
	}
	return showKey(columns, key, d.last)
}

func (d *digester) endGroup() {
	if d.last == nil {
		return
	}
	d.sums = append(d.sums, [sha256.Size]byte(d.group.Sum(nil)))
	d.group.Reset()
}

// sum ends the table and returns its digest in hex.
func (d *digester) sum() string {
	d.endGroup()
	d.last = nil
	slices.SortFunc(d.sums, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	fmt.Fprintf(h, "agentlens rows %d\n", schema.Version)
	for _, s := range d.sums {
		h.Write(s[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
