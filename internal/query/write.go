package query

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/rowtext"
	"github.com/agentlens-bench/agentlens/internal/terminal"
)

// Formats of a result.
func Formats() []string { return []string{"table", "csv", "json", "jsonl"} }

// Writer is a sink that writes. Close ends what was begun, so that the text is whole whatever
// stopped the query.
type Writer interface {
	Sink
	Close() error
}

// NewWriter returns a writer of one of Formats. In CSV, NULL is written as null.
func NewWriter(w io.Writer, format, null string) Writer {
	out := bufio.NewWriter(w)
	switch format {
	case "csv":
		return &csvWriter{out: out, null: null}
	case "json", "jsonl":
		return &jsonWriter{out: out, array: format == "json"}
	}
	return &tableWriter{out: out}
}

type csvWriter struct {
	out  *bufio.Writer
	null string
	line []byte
}

func (w *csvWriter) Columns(names []string) error {
	values := make([]any, len(names))
	for i, n := range names {
		values[i] = n
	}
	return w.Row(values)
}

func (w *csvWriter) Row(values []any) error {
	w.line = w.line[:0]
	for i, v := range values {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.line = rowtext.AppendCSV(w.line, v, w.null)
	}
	_, err := w.out.Write(append(w.line, '\n'))
	return err
}

func (w *csvWriter) Close() error { return w.out.Flush() }

type jsonWriter struct {
	out   *bufio.Writer
	array bool
	keys  [][]byte
	line  []byte
	rows  int
}

func (w *jsonWriter) Columns(names []string) error {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return fmt.Errorf("two columns of the result are named %q, which an object of JSON cannot have; rename one with AS", n)
		}
		key, err := rowtext.AppendJSON(nil, n)
		if err != nil {
			return err
		}
		w.keys = append(w.keys, append(key, ':'))
	}
	return nil
}

func (w *jsonWriter) Row(values []any) error {
	w.line = w.line[:0]
	if w.array {
		if w.rows == 0 {
			w.line = append(w.line, "[\n"...)
		} else {
			w.line = append(w.line, ",\n"...)
		}
	}
	w.rows++
	w.line = append(w.line, '{')
	for i, v := range values {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.line = append(w.line, w.keys[i]...)
		var err error
		if w.line, err = rowtext.AppendJSON(w.line, v); err != nil {
			return err
		}
	}
	w.line = append(w.line, '}')
	if !w.array {
		w.line = append(w.line, '\n')
	}
	_, err := w.out.Write(w.line)
	return err
}

func (w *jsonWriter) Close() error {
	switch {
	case !w.array || w.keys == nil: // no array, or no result
	case w.rows == 0:
		w.out.WriteString("[]\n")
	default:
		w.out.WriteString("\n]\n")
	}
	return w.out.Flush()
}

const (
	maxCell    = 60   // code points of a cell of a table
	widthsFrom = 1000 // rows that decide how wide the columns are
)

// tableWriter aligns columns by the first rows; later rows may stand out.
type tableWriter struct {
	out    *bufio.Writer
	held   [][]string
	right  []bool // columns of numbers
	widths []int
}

func (w *tableWriter) Columns(names []string) error {
	w.widths = make([]int, len(names))
	w.right = make([]bool, len(names))
	for i := range w.right {
		w.right[i] = true
	}
	head := make([]string, len(names))
	for i, n := range names {
		head[i] = cell(n)
	}
	w.held = append(w.held, head)
	return nil
}

func (w *tableWriter) Row(values []any) error {
	row := make([]string, len(values))
	for i, v := range values {
		switch v.(type) {
		case nil:
			row[i] = "NULL"
		case int64, float64:
			row[i] = rowtext.Text(v)
		default:
			row[i] = cell(rowtext.Text(v))
			if w.held != nil {
				w.right[i] = false
			}
		}
	}
	if w.held == nil {
		return w.print(row)
	}
	if w.held = append(w.held, row); len(w.held) > widthsFrom {
		return w.release()
	}
	return nil
}

// release prints the rows that were held to measure them.
func (w *tableWriter) release() error {
	for _, row := range w.held {
		for i, c := range row {
			w.widths[i] = max(w.widths[i], utf8.RuneCountInString(c))
		}
	}
	held := w.held
	w.held = nil
	for i, row := range held {
		if err := w.print(row); err != nil {
			return err
		}
		if i == 0 {
			rule := make([]string, len(row))
			for j, n := range w.widths {
				rule[j] = strings.Repeat("-", n)
			}
			if err := w.print(rule); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *tableWriter) print(row []string) error {
	var b strings.Builder
	for i, c := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", max(0, w.widths[i]-utf8.RuneCountInString(c)))
		if w.right[i] {
			b.WriteString(pad + c)
		} else {
			b.WriteString(c + pad)
		}
	}
	_, err := w.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	return err
}

func (w *tableWriter) Close() error {
	if w.held != nil {
		if err := w.release(); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

// cell shows a text on one line, cut.
func cell(s string) string {
	s = terminal.Escape(strings.ReplaceAll(s, "\r\n", "\n"))
	n := 0
	for i := range s {
		if n == maxCell {
			return s[:i] + "..."
		}
		n++
	}
	return s
}
