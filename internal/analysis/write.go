package analysis

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/agentlens-bench/agentlens/internal/terminal"
)

// Report is what a command says.
type Report struct {
	Analysis   string            `json:"analysis"`
	Input      string            `json:"input"`
	Parameters map[string]string `json:"parameters"`
	By         string            `json:"by,omitzero"`
	Without    int               `json:"rows_without_by,omitzero"` // rows in no result, as they have no value of By
	Results    []Result          `json:"results"`
}

// WriteText writes results for people: numbers with six significant digits.
func (rep Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for i, r := range rep.Results {
		if r.By != nil {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s %s\n", rep.By, terminal.Escape(*r.By))
		}
		if len(r.LeftOut) > 0 {
			parts := make([]string, len(r.LeftOut))
			for i, l := range r.LeftOut {
				parts[i] = fmt.Sprintf("%d %s", l.Rows, l.Reason)
			}
			fmt.Fprintf(&b, "%d of %d rows used; left out: %s\n", r.Used, r.Rows, strings.Join(parts, ", "))
		}
		writeFigures(&b, r.Figures)
		for _, t := range r.Tables {
			writeTable(&b, t)
		}
		for _, warning := range r.Warnings {
			fmt.Fprintf(&b, "warning: %s\n", warning)
		}
	}
	if rep.Without > 0 {
		fmt.Fprintf(&b, "\n%d rows in no result, as they have no %s\n", rep.Without, rep.By)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFigures(b *strings.Builder, figures []Figure) {
	wide := 0
	for _, f := range figures {
		wide = max(wide, len(f.Name))
	}
	for _, f := range figures {
		value := short(f.Value)
		if f.Undefined != "" {
			value = "undefined: " + f.Undefined
		}
		fmt.Fprintf(b, "%-*s  %s", wide, f.Name, value)
		if iv := f.Interval; iv != nil {
			fmt.Fprintf(b, "  [%s, %s] %s%%", short(iv.Low), short(iv.High), short(100*iv.Level))
		}
		if f.Note != "" {
			fmt.Fprintf(b, "  (%s)", f.Note)
		}
		b.WriteByte('\n')
	}
}

func writeTable(b *strings.Builder, t Table) {
	if !t.Main {
		fmt.Fprintf(b, "%s\n", t.Name)
	}
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(t.Columns, "\t"))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = short(v)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	tw.Flush() // a strings.Builder takes everything
}

// WriteCSV writes the main table of the results that have one, or when none has, the figures
// one a line. The first column is the value of By when rows are split.
func (rep Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	tables := slices.ContainsFunc(rep.Results, func(r Result) bool { return r.main() != nil })
	var header []string
	for _, r := range rep.Results {
		if tables && r.main() == nil {
			continue
		}
		names, rows := r.csv()
		if rep.By != "" {
			names = append([]string{rep.By}, names...)
		}
		if header == nil {
			header = names
			if err := out.Write(header); err != nil {
				return err
			}
		}
		for _, row := range rows {
			if rep.By != "" {
				row = append([]string{*r.By}, row...)
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// main is the table that was asked for, or nil.
func (r Result) main() *Table {
	for i := range r.Tables {
		if r.Tables[i].Main {
			return &r.Tables[i]
		}
	}
	return nil
}

func (r Result) csv() (header []string, rows [][]string) {
	if t := r.main(); t != nil {
		for _, row := range t.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = full(v)
			}
			rows = append(rows, cells)
		}
		return t.Columns, rows
	}
	for _, f := range r.Figures {
		var low, high string
		if f.Interval != nil {
			low, high = full(f.Interval.Low), full(f.Interval.High)
		}
		rows = append(rows, []string{f.Name, full(f.Value), low, high, f.Undefined})
	}
	return []string{"figure", "value", "low", "high", "undefined"}, rows
}

// short is a value for people.
func short(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return terminal.Escape(fmt.Sprint(v))
}

// full is a value that reads back the same.
func full(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
