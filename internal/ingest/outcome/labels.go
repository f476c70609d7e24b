package outcome

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// BadRow is a row of a labels table that can't be used.
type BadRow struct {
	Line   int64
	Reason string
}

// LabelsError lists everything that is wrong with a labels file, by line.
type LabelsError struct {
	File string
	Rows []BadRow
}

// Error names the first ten rows.
func (e *LabelsError) Error() string {
	const shown = 10
	var b strings.Builder
	fmt.Fprintf(&b, "labels file %s can't be used: want columns trajectory_id or instance_id, and passed (true, false, 1, 0, pass, fail, unknown)", e.File)
	for _, r := range e.Rows[:min(shown, len(e.Rows))] {
		fmt.Fprintf(&b, "\n  line %d: %s", r.Line, r.Reason)
	}
	if more := len(e.Rows) - shown; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// ReadLabels reads the text of the file of --labels: CSV with a header, or JSON Lines. One
// with a bad row gives a *LabelsError and no evidence.
func ReadLabels(file string, text []byte) ([]format.Evidence, error) {
	evidence, bad := parseLabels(text)
	if len(bad) > 0 {
		return nil, &LabelsError{File: file, Rows: bad}
	}
	for i := range evidence {
		// Without File: what the file is called does not change a dataset.
		evidence[i].Rank, evidence[i].Source = format.RankLabels, "labels"
	}
	return evidence, nil
}

// IsLabelsHeader reports whether a table's header names runs and their outcome.
func IsLabelsHeader(header []string) bool {
	return (slices.Contains(header, "trajectory_id") || slices.Contains(header, "instance_id")) && slices.Contains(header, "passed")
}

// ReadTable reads a labels table found among the logs. Bad rows are refused one by one.
func ReadTable(rec format.Record) []format.Item {
	evidence, bad := parseLabels(rec.Data)
	items := make([]format.Item, 0, len(evidence)+len(bad))
	for _, e := range evidence {
		e.Rank, e.Source = format.RankColumn, "labels table"
		items = append(items, format.Item{Evidence: &e})
	}
	for _, r := range bad {
		items = append(items, format.Item{Refused: &format.RecordError{
			File: rec.File, Line: r.Line, Code: "bad_row", Message: r.Reason,
			Hint: "want trajectory_id or instance_id, and passed as true, false, 1, 0, pass, fail or unknown",
		}})
	}
	return items
}

// A label is one row.
type label struct {
	line                          int64
	trajectory, instance, outcome string
	model                         string
}

func parseLabels(data []byte) ([]format.Evidence, []BadRow) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	read := csvLabels
	if first(data) == '{' {
		read = jsonLabels
	}
	labels, bad := read(data)
	type key struct{ id, model string }
	seen := map[key]label{}
	var evidence []format.Evidence
	for _, l := range labels {
		id := cmp.Or(l.trajectory, l.instance)
		o, ok := parsePassed(l.outcome)
		switch {
		case id == "":
			bad = append(bad, BadRow{l.line, "no trajectory_id and no instance_id"})
			continue
		case !ok:
			bad = append(bad, BadRow{l.line, fmt.Sprintf("passed is %q", l.outcome)})
			continue
		}
		before, again := seen[key{id, l.model}]
		if again {
			if p, _ := parsePassed(before.outcome); p != o {
				bad = append(bad, BadRow{l.line, fmt.Sprintf("%s is %s here and %s on line %d", id, o, p, before.line)})
			}
			continue
		}
		seen[key{id, l.model}] = l
		evidence = append(evidence, format.Evidence{Key: id, Model: l.model, Outcome: o})
	}
	if len(evidence) == 0 && len(bad) == 0 {
		bad = append(bad, BadRow{1, "no rows"})
	}
	slices.SortFunc(bad, func(a, b BadRow) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Reason, b.Reason))
	})
	return evidence, bad
}

func parsePassed(text string) (trajectory.Outcome, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "pass", "passed":
		return trajectory.Pass, true
	case "false", "0", "fail", "failed":
		return trajectory.Fail, true
	case "unknown":
		return trajectory.Unknown, true
	}
	return trajectory.Unknown, false
}

func csvLabels(data []byte) (labels []label, bad []BadRow) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, []BadRow{{1, "no header: " + csvReason(err)}}
	}
	column := map[string]int{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if _, twice := column[name]; twice {
			bad = append(bad, BadRow{1, fmt.Sprintf("column %q occurs twice", name)})
		}
		column[name] = i
	}
	if !IsLabelsHeader(trimAll(header)) {
		return nil, append(bad, BadRow{1, fmt.Sprintf("the header is %q", strings.Join(header, ","))})
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return labels, bad
		}
		if err != nil {
			var parse *csv.ParseError
			line := int64(0)
			if errors.As(err, &parse) {
				line = int64(parse.StartLine)
			}
			return labels, append(bad, BadRow{line, csvReason(err)})
		}
		at, _ := r.FieldPos(0)
		if len(row) != len(header) {
			bad = append(bad, BadRow{int64(at), fmt.Sprintf("%d fields, the header has %d", len(row), len(header))})
			continue
		}
		cell := func(name string) string {
			if i, ok := column[name]; ok {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		labels = append(labels, label{
			line: int64(at), trajectory: cell("trajectory_id"), instance: cell("instance_id"),
			outcome: cell("passed"), model: cell("model"),
		})
	}
}

func csvReason(err error) string {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return parse.Err.Error()
	}
	return err.Error()
}

func trimAll(fields []string) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = strings.TrimSpace(f)
	}
	return out
}

func jsonLabels(data []byte) (labels []label, bad []BadRow) {
	n := int64(0)
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var row struct {
			Trajectory string         `json:"trajectory_id"`
			Instance   string         `json:"instance_id"`
			Model      string         `json:"model"`
			Passed     jsontext.Value `json:"passed"`
		}
		if err := format.Decode(line, &row); err != nil {
			bad = append(bad, BadRow{n, err.Error()})
			continue
		}
		passed := string(row.Passed)
		if text, ok := format.Value(row.Passed).Text(); ok {
			passed = text
		}
		labels = append(labels, label{line: n, trajectory: row.Trajectory, instance: row.Instance, outcome: passed, model: row.Model})
	}
	return labels, bad
}
