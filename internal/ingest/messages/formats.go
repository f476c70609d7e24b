package messages

import (
	"fmt"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

// IDs of the formats.
const (
	ID            = "messages"
	IDADP         = "adp"
	IDConsistency = "agent-consistency"
)

// Formats lists the records of data sets, in the order they are tried in. They are the most
// general of all: other formats are tried before.
func Formats(table *tools.Table) []format.Format {
	r := reader{table}
	return []format.Format{
		{
			ID:          IDADP,
			Description: "Agent Data Protocol, standardized: rows of id and content items",
			Detect: func(p *format.Probe) (string, bool) {
				return "content[0].class_", anyRow(p, func(v format.Value) bool {
					first := v.Get("content").First()
					return v.Has("id") && (first.Has("class_") || first.Has("content", "source") || first.Has("function", "kwargs"))
				})
			},
			Read: r.readADP,
		},
		{
			ID:          IDConsistency,
			Description: "agent-consistency logs: one object a task, with task_id and runs, each with its steps",
			Detect: func(p *format.Probe) (string, bool) {
				return "task_id + runs[0].steps", p.Has("task_id", "runs") && p.Get("runs").First().Has("steps")
			},
			Read: r.readConsistency,
		},
		{
			ID:          ID,
			Description: "rows with messages of role and content: OpenAI tool calls, XML calls or fenced commands",
			Detect: func(p *format.Probe) (string, bool) {
				if isMessage(p.Root.First()) {
					return "[0].role", true
				}
				if isMessage(p.Root) && !isRow(p.Root) {
					return "role + content, by lines", true
				}
				for _, key := range listKeys {
					if anyRow(p, func(v format.Value) bool { return isMessage(firstOf(v.Get(key))) }) {
						return key + "[0].role", true
					}
				}
				return "", false
			},
			Joined: func(first *format.Probe) bool { return isMessage(first.Root) && !isRow(first.Root) },
			Read:   r.readRows,
		},
	}
}

// listKeys are the names a row's list of messages goes by.
var listKeys = [...]string{"messages", "trajectory", "conversations", "conversation"}

// isMessage reports whether an object is a message: it says who speaks and what.
func isMessage(v format.Value) bool {
	if v.Kind() != '{' {
		return false
	}
	if v.Has("role") || v.Has("from") {
		for _, key := range [...]string{"content", "text", "value", "tool_calls", "parts", "function_call"} {
			if v.Has(key) {
				return true
			}
		}
		return false
	}
	switch kind, _ := v.Get("type").Text(); kind {
	case "human", "ai", "system": // LangChain
		return v.Has("content") || v.Get("data").Has("content")
	case "constructor":
		return v.Get("kwargs").Has("content")
	case "function_call":
		return v.Has("call_id", "arguments")
	}
	return false
}

// isRow reports whether an object holds a list of messages.
func isRow(v format.Value) bool {
	for _, key := range listKeys {
		if isMessage(firstOf(v.Get(key))) {
			return true
		}
	}
	return false
}

// firstOf returns the first element of an array, or of the array that a text holds.
func firstOf(v format.Value) format.Value {
	if v.Kind() == '"' && startsList(v) {
		text, _ := v.Text()
		return format.Value(strings.TrimSpace(text)).First()
	}
	return v.First()
}

// anyRow asks about a record that is a row, else about the first row of a list.
func anyRow(p *format.Probe, is func(format.Value) bool) bool {
	if p.Root.Kind() == '[' {
		return is(p.Root.First())
	}
	return p.Root.Kind() == '{' && is(p.Root)
}

type reader struct{ table *tools.Table }

// rows calls read for a record that is a row, or for every row of a list. A row that can't
// be read is refused alone.
func rows[T any](rec format.Record, read func(*T) ([]format.Item, error)) ([]format.Item, error) {
	if rec.Probe.Root.Kind() != '[' {
		var row T
		if err := format.Decode(rec.Data, &row); err != nil {
			return nil, err
		}
		return read(&row)
	}
	var list lenientjson.List[T]
	if err := format.Decode(rec.Data, &list); err != nil {
		return nil, err
	}
	var items []format.Item
	for i := range list {
		of, err := read(&list[i])
		if err != nil {
			if len(list) == 1 {
				return nil, err
			}
			items = append(items, refused(i, err))
			continue
		}
		items = append(items, of...)
	}
	return items, nil
}

// refused returns the item of a row that could not be read.
func refused(i int, err error) format.Item {
	e, ok := err.(*format.RecordError)
	if !ok {
		e = &format.RecordError{Code: "bad_row", Message: err.Error()}
	}
	out := *e
	out.Record = fmt.Sprintf("row %d", i+1)
	return format.Item{Refused: &out}
}
