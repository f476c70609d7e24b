package tabular

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/schema"
)

// DefaultMissing are the cells of a CSV file that hold no value, besides the empty one.
func DefaultMissing() []string {
	return []string{"NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "None"}
}

// readCSV reads a header and rows. The separator is the comma, semicolon or tab that the
// header has most of. Spaces around a cell do not count. A column is of integers, reals or
// truth values (true and false in any case) when all its values are; numbers with leading
// zeros are text.
func readCSV(r *bufio.Reader, name string, wanted []string, where string, missing []string) (*Frame, error) {
	separator, err := sniffSeparator(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	in := csv.NewReader(r)
	in.Comma = separator
	in.ReuseRecord = true
	header, err := in.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s is empty; want a header line and rows", name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	names, err := headerNames(header)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
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
	}
	none := map[string]bool{"": true}
	for _, m := range missing {
		none[m] = true
	}
	var lines []int
	for {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			if errors.Is(err, csv.ErrFieldCount) {
				return nil, fmt.Errorf("reading %s: %w: %d, the header has %d", name, err, len(record), len(names))
			}
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		lines = append(lines, line)
		for i, j := range at {
			cell := strings.TrimSpace(record[j])
			if none[cell] {
				columns[i].addMissing()
				continue
			}
			if known, ok := columns[i].seen[cell]; ok {
				cell = known
			} else {
				cell = strings.Clone(cell) // a cell shares memory with its whole record
			}
			columns[i].addText(cell)
		}
	}
	for i, c := range columns {
		columns[i] = c.parsed()
	}
	return frameOf(known, columns, len(lines), "line", lines), nil
}

func sniffSeparator(r *bufio.Reader) (rune, error) {
	if mark, err := r.Peek(3); err == nil && string(mark) == "\ufeff" {
		r.Discard(3)
	}
	start, err := r.Peek(r.Size())
	if err != nil && err != io.EOF {
		return 0, err
	}
	line, _, _ := strings.Cut(string(start), "\n")
	best := ','
	for _, s := range []rune{'\t', ';'} {
		if strings.Count(line, string(s)) > strings.Count(line, string(best)) {
			best = s
		}
	}
	return best, nil
}

func headerNames(header []string) ([]string, error) {
	names := make([]string, len(header))
	for i, h := range header {
		names[i] = strings.Clone(strings.TrimSpace(h))
		if names[i] == "" {
			names[i] = fmt.Sprintf("column_%d", i+1)
		}
		if j := slices.Index(names[:i], names[i]); j >= 0 {
			return nil, fmt.Errorf("columns %d and %d are both named %q; rename one", j+1, i+1, names[i])
		}
	}
	return names, nil
}

// parsed returns a column of text as the narrowest kind that all its values allow.
func (c *Column) parsed() *Column {
	for _, kind := range []schema.Kind{schema.Integer, schema.Real, schema.Boolean} {
		if p, ok := c.parsedAs(kind); ok {
			return p
		}
	}
	return c
}

func (c *Column) parsedAs(kind schema.Kind) (*Column, bool) {
	p := newColumn(c.Name)
	for i, missing := range c.missing {
		if missing {
			p.addMissing()
			continue
		}
		s := c.texts[i]
		switch kind {
		case schema.Integer:
			v, err := strconv.ParseInt(s, 10, 64)
			if err != nil || leadingZero(s) {
				return nil, false
			}
			p.addInteger(v)
		case schema.Real:
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || leadingZero(s) || strings.ContainsAny(s, "xX_") {
				return nil, false
			}
			p.addReal(v)
		default:
			isTrue := strings.EqualFold(s, "true")
			if !isTrue && !strings.EqualFold(s, "false") {
				return nil, false
			}
			p.addBoolean(isTrue)
		}
	}
	return p, true
}

// leadingZero reports whether a number is written as an identifier, such as 007.
func leadingZero(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9'
}
