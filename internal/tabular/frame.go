package tabular

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/nearest"
)

// ErrNoColumn is returned for a column that the input does not have.
var ErrNoColumn = errors.New("no column")

// Frame is a table in memory.
type Frame struct {
	Columns []*Column

	rows  int
	unit  string // what place counts: line or row
	place []int  // line or row of each row of the frame
	known inventory
}

// inventory is what columns an input has.
type inventory struct {
	names     []string
	elsewhere map[string]string // where columns are that the input lacks, by name
}

// Rows returns the number of rows.
func (f *Frame) Rows() int { return f.rows }

// Place names the place of row i in the input, such as "line 12".
func (f *Frame) Place(i int) string { return fmt.Sprintf("%s %d", f.unit, f.place[i]) }

// Line returns the number of row i in the input: the line of a CSV file, else the row.
func (f *Frame) Line(i int) int { return f.place[i] }

// Column returns the column of that name, or an error wrapping [ErrNoColumn].
func (f *Frame) Column(name string) (*Column, error) {
	for _, c := range f.Columns {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, f.known.lacks(name)
}

// Take returns the frame of the given rows, in the order given.
func (f *Frame) Take(rows []int) *Frame {
	t := &Frame{rows: len(rows), unit: f.unit, place: pick(f.place, rows), known: f.known}
	for _, c := range f.Columns {
		t.Columns = append(t.Columns, c.take(rows))
	}
	return t
}

// frameOf puts columns of equal length together.
func frameOf(known inventory, columns []*Column, rows int, unit string, place []int) *Frame {
	if place == nil {
		place = make([]int, rows)
		for i := range place {
			place[i] = i + 1
		}
	}
	for _, c := range columns {
		c.seen = nil
	}
	return &Frame{Columns: columns, rows: rows, unit: unit, place: place, known: known}
}

// choose returns the positions of the wanted columns, all for none wanted.
func (k inventory) choose(wanted []string) ([]int, error) {
	if wanted == nil {
		all := make([]int, len(k.names))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	var at []int
	for _, w := range wanted {
		i := slices.Index(k.names, w)
		if i < 0 {
			return nil, k.lacks(w)
		}
		if !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	return at, nil
}

// lacks says where a column is that the input has not, or what the input has instead.
func (k inventory) lacks(name string) error {
	if where := k.elsewhere[name]; where != "" {
		return fmt.Errorf("%w %q; %s", ErrNoColumn, name, where)
	}
	if near := nearest.Names(name, k.names); len(near) > 0 {
		return fmt.Errorf("%w %q; did you mean %s?", ErrNoColumn, name, strings.Join(near, " or "))
	}
	const most = 20
	listed := k.names
	if len(listed) > most {
		listed = append(slices.Clone(listed[:most]), fmt.Sprintf("and %d more", len(k.names)-most))
	}
	return fmt.Errorf("%w %q; the input has %s", ErrNoColumn, name, strings.Join(listed, ", "))
}
