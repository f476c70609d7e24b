package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
)

// ErrData is returned for values that a statistic can't use, such as a label that is neither
// true nor false.
var ErrData = errors.New("unusable value")

// Result holds the figures of one set of rows.
type Result struct {
	By       *string   // value of the column the rows are split by, nil for all rows
	Rows     int       // rows of the set
	Used     int       // rows the statistic used
	LeftOut  []LeftOut // rows that lack a value
	Figures  []Figure
	Tables   []Table
	Warnings []string
}

// LeftOut counts rows that were not used because a column has no value there.
type LeftOut struct {
	Reason string `json:"reason"`
	Rows   int    `json:"rows"`
}

// Figure is one named number or word.
type Figure struct {
	Name      string
	Value     any             // float64, int or string; nil when undefined
	Interval  *stats.Interval // nil for none
	Undefined string          // why there is no value
	Note      string          // how the value came about, or ""
	count     bool            // describes the rows: no figure that was asked for
}

// Table is a result of many rows.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]any // float64, int, string, or nil for a missing cell
	Main    bool    // what was asked for, so what CSV shows
	Matrix  bool    // the first column and the header name categories
}

// Computed reports whether any figure that was asked for has a value.
func (r *Result) Computed() bool {
	for _, f := range r.Figures {
		if !f.count && f.Value != nil {
			return true
		}
	}
	t := r.main()
	return t != nil && len(t.Rows) > 0
}

// FirstUndefined returns the reason of the first undefined figure, or "".
func (r *Result) FirstUndefined() string {
	for _, f := range r.Figures {
		if f.Undefined != "" {
			return f.Name + ": " + f.Undefined
		}
	}
	return ""
}

func (r *Result) count(name string, n int) {
	r.Figures = append(r.Figures, Figure{Name: name, Value: n, count: true})
}

func (r *Result) word(name, value string) {
	r.Figures = append(r.Figures, Figure{Name: name, Value: value, count: true})
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// figure adds a value, or the reason why it is undefined. Any other error is returned.
func (r *Result) figure(name string, value any, err error, note string) error {
	f := Figure{Name: name, Value: value, Note: note}
	if err != nil {
		if !errors.Is(err, stats.ErrUndefined) {
			return err
		}
		f.Value, f.Undefined = nil, reason(err)
	}
	r.Figures = append(r.Figures, f)
	return nil
}

// interval adds an interval to the last figure; an undefined one is left out with a note.
func (r *Result) interval(iv stats.Interval, err error) error {
	f := &r.Figures[len(r.Figures)-1]
	switch {
	case f.Value == nil:
	case err == nil:
		f.Interval = &iv
	case errors.Is(err, stats.ErrUndefined):
		f.Note = strings.TrimPrefix(f.Note+"; no interval: "+reason(err), "; ")
	default:
		return err
	}
	return nil
}

// reason is the error without the word undefined.
func reason(err error) string {
	return strings.TrimPrefix(err.Error(), stats.ErrUndefined.Error()+": ")
}

// Split calls an analysis for all rows, or once for every value of a column; rows that have
// no value there are counted.
func Split(f *tabular.Frame, by string, analyse func(*tabular.Frame) (Result, error)) (results []Result, without int, err error) {
	if by == "" {
		r, err := analyse(f)
		if err != nil {
			return nil, 0, err
		}
		r.Rows = f.Rows()
		return []Result{r}, 0, nil
	}
	column, err := f.Column(by)
	if err != nil {
		return nil, 0, err
	}
	rows := map[string][]int{}
	for i := range f.Rows() {
		if column.Missing(i) {
			without++
			continue
		}
		rows[column.Text(i)] = append(rows[column.Text(i)], i)
	}
	for _, value := range distinct(column) {
		set := f.Take(rows[value])
		r, err := analyse(set)
		if err != nil {
			return nil, 0, fmt.Errorf("%s %s: %w", by, value, err)
		}
		r.By, r.Rows = &value, set.Rows()
		results = append(results, r)
	}
	return results, without, nil
}

// distinct returns the values of a column as text: numbers by value, text by name.
func distinct(c *tabular.Column) []string {
	type entry struct {
		text   string
		number float64
	}
	seen := map[string]bool{}
	var entries []entry
	for i := range c.Len() {
		if c.Missing(i) || seen[c.Text(i)] {
			continue
		}
		seen[c.Text(i)] = true
		e := entry{text: c.Text(i)}
		if c.Numeric() {
			e.number = c.Float(i)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
	})
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.text
	}
	return texts
}

// object is a JSON object with its members in order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSONTo implements json.MarshalerTo.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// MarshalJSON writes the figures as an object: a name each, name_low and name_high for an
// interval, null for an undefined one, whose reason is in the object undefined. A table is an
// array of objects, a contingency table an object of rows, columns and cells; a threshold
// above every score is null.
func (r Result) MarshalJSON() ([]byte, error) {
	var o object
	if r.By != nil {
		o = append(o, member{"by", *r.By})
	}
	o = append(o, member{"rows", r.Rows}, member{"used", r.Used}, member{"left_out", nonNil(r.LeftOut)})
	var figures, undefined object
	for _, f := range r.Figures {
		figures = append(figures, member{f.Name, jsonValue(f.Value)})
		if f.Interval != nil {
			figures = append(figures, member{f.Name + "_low", f.Interval.Low}, member{f.Name + "_high", f.Interval.High})
		}
		if f.Undefined != "" {
			undefined = append(undefined, member{f.Name, f.Undefined})
		}
	}
	o = append(o, member{"figures", figures}, member{"undefined", undefined})
	for _, t := range r.Tables {
		o = append(o, member{t.Name, t.json()})
	}
	o = append(o, member{"warnings", nonNil(r.Warnings)})
	return json.Marshal(o, jsontext.AllowInvalidUTF8(true))
}

func (t Table) json() any {
	if t.Matrix {
		m := struct {
			Rows    []any    `json:"rows"`
			Columns []string `json:"columns"`
			Cells   [][]any  `json:"cells"`
		}{[]any{}, t.Columns[1:], [][]any{}}
		for _, row := range t.Rows {
			m.Rows, m.Cells = append(m.Rows, row[0]), append(m.Cells, row[1:])
		}
		return m
	}
	rows := make([]object, len(t.Rows))
	for i, row := range t.Rows {
		for j, v := range row {
			rows[i] = append(rows[i], member{t.Columns[j], jsonValue(v)})
		}
	}
	return rows
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// jsonValue is the value itself; JSON has no infinity.
func jsonValue(v any) any {
	if f, ok := v.(float64); ok && math.IsInf(f, 0) {
		return nil
	}
	return v
}
