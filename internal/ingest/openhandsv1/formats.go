package openhandsv1

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

// Ids of the formats.
const (
	IDFolder = "openhands-v1-dir"
	IDEvents = "openhands-v1"
	IDOutput = "openhands-v1-output"
)

// Formats lists the records of OpenHands V1, in the order they are tried in. Tools are
// mapped by the table.
func Formats(table *tools.Table) []format.Format {
	r := reader{table}
	return []format.Format{
		{
			ID:          IDOutput,
			Description: "OpenHands V1 benchmark output.jsonl: one attempt at an instance a line",
			Detect:      detectOutput,
			Parts:       &format.Parts{Note: noteOutput, Plan: r.planOutput},
			Read:        func(rec format.Record) ([]format.Item, error) { return r.readOutput(rec, 0) },
		},
		{
			ID:          IDEvents,
			Description: "OpenHands V1: events as JSON Lines or as an array",
			Detect:      detectEvents,
			Joined:      func(first *format.Probe) bool { return isEvent(first.Root) },
			Read:        r.readEvents,
		},
		{
			ID:          IDFolder,
			Description: "OpenHands V1: folder with base_state.json and one file per event",
			Detect:      detectFolder,
			Parts:       &format.Parts{Note: noteFolder, Plan: r.planFolder},
		},
	}
}

// reader reads with a mapping of tools.
type reader struct{ table *tools.Table }

// isEvent reports whether a value is an event: it has a kind and an envelope.
func isEvent(v format.Value) bool {
	kind, ok := v.Get("kind").Text()
	if !ok || !v.Has("id", "timestamp") || v.Has("role") {
		return false
	}
	return strings.HasSuffix(kind, "Event") || strings.HasPrefix(kind, "Condensation") || kind == "UserRejectObservation"
}

func detectEvents(p *format.Probe) (string, bool) {
	if p.Root.Kind() == '[' {
		return "[0].kind", isEvent(p.Root.First())
	}
	if !isEvent(p.Root) || numbered.MatchString(path.Base(p.File)) {
		return "", false
	}
	return "first line: kind + id", isLines(p.File) || !format.Complete(p.Root)
}

func isLines(file string) bool {
	return strings.HasSuffix(file, ".jsonl") || strings.HasSuffix(file, ".ndjson")
}

func (r reader) readEvents(rec format.Record) ([]format.Item, error) {
	c := r.conversation()
	var events lenientjson.List[event]
	if rec.Probe.Root.Kind() == '[' {
		if err := format.Decode(rec.Data, &events); err != nil {
			return nil, err
		}
	} else {
		var bad error
		events = make([]event, 0, bytes.Count(rec.Data, []byte{'\n'})+1)
		for line := range bytes.Lines(rec.Data) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			events = append(events, event{})
			if err := format.Decode(line, &events[len(events)-1]); err != nil {
				bad = err
				c.Warn(warnBad, "line")
				events = events[:len(events)-1]
			}
		}
		if len(events) == 0 && bad != nil {
			return nil, bad
		}
	}
	if !holdsEvents(events) {
		return nil, noEvents("want an array, or lines, of events with a kind")
	}
	name := session.NameFile(rec.File)
	if session.IsInstance(name.Task) {
		c.Task = name.Task
	}
	c.converse(events)
	if c.Model == "" {
		c.Model = name.Model
	}
	t := c.trajectory(IDEvents)
	return append([]format.Item{{Trajectory: t}}, name.Evidence(t.ID)...), nil
}

func holdsEvents(events []event) bool {
	for i := range events {
		if events[i].Kind != "" {
			return true
		}
	}
	return false
}

func noEvents(want string) error {
	return &format.RecordError{
		Code:    "no_events",
		Message: fmt.Sprintf("the record holds no event of OpenHands V1: %s", want),
		Hint:    "choose another reader with option format",
	}
}
