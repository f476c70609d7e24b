package annotate

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
)

// WriteJSONL writes items one a line.
func WriteJSONL(w io.Writer, items []Item) error {
	for _, it := range items {
		if err := json.MarshalWrite(w, it, json.Deterministic(true)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes items as a sheet. States are text of several lines that begins with [ so that
// a spreadsheet takes no cell for a formula.
func WriteCSV(w io.Writer, items []Item) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"item", "task", "position", "before", "state", "after", "label", "comment"}); err != nil {
		return err
	}
	for _, it := range items {
		err := out.Write([]string{
			it.ID, it.Task, fmt.Sprintf("step %d of %d", it.Position, it.Of),
			steps(it.Before), steps([]Step{it.State}), steps(it.After), it.Label, it.Comment,
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func steps(list []Step) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "[%d] %s", s.Step, s.Tool)
		if s.Edit != "" {
			fmt.Fprintf(&b, " (%s)", s.Edit)
		}
		if s.File != "" {
			fmt.Fprintf(&b, "\n%s", s.File)
			if s.Lines != "" {
				fmt.Fprintf(&b, " lines %s", s.Lines)
			}
		}
		if s.Command != "" {
			b.WriteString("\n$ " + strings.ReplaceAll(s.Command, "\n", "\n  "))
		}
		if s.Observation != "" {
			b.WriteString("\n> " + strings.ReplaceAll(strings.TrimRight(s.Observation, "\r\n"), "\n", "\n> "))
		}
	}
	return b.String()
}
