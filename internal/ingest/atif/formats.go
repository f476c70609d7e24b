package atif

import (
	"bytes"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

// ID of the format.
const ID = "atif"

// Formats lists the one format: trajectories and Harbor's results. Tools are mapped by the
// table.
func Formats(table *tools.Table) []format.Format {
	r := reader{table}
	return []format.Format{{
		ID:          ID,
		Description: "ATIF v1.0 to v1.7 (Harbor), with continuations, subagents and result.json",
		Detect:      detect,
		Parts:       &format.Parts{Note: note, Plan: r.plan},
		Read: func(rec format.Record) ([]format.Item, error) {
			return family{reader: r, file: rec.File, links: []links{{}}}.read([]format.Record{rec})
		},
	}}
}

type reader struct{ table *tools.Table }

func detect(p *format.Probe) (string, bool) {
	version, ok := p.Get("schema_version").Text()
	switch {
	case ok && strings.HasPrefix(version, "ATIF-v"):
		return "schema_version ATIF-v", true
	case ok && p.Get("steps").Kind() == '[' && (p.Has("agent") || p.Has("session_id")):
		return "schema_version + steps", true
	}
	return "verifier_result + agent_info", isResult(p)
}

// docNote is what is kept of a document until all are known.
type docNote struct {
	session, trajectory string
	continued           string
	refs                []ref
}

func note(rec format.Record) (format.Note, error) {
	if isResult(rec.Probe) {
		n, err := noteResult(rec)
		return format.Note{Value: n, Informs: true}, err
	}
	if rec.Probe.Get("steps").Kind() != '[' {
		return format.Note{}, noSteps()
	}
	if rec.Line > 0 {
		return format.Note{Alone: true}, nil
	}
	text := func(key string) string {
		s, _ := rec.Probe.Get(key).Text()
		return s
	}
	n := docNote{session: text("session_id"), trajectory: text("trajectory_id"), continued: text("continued_trajectory_ref")}
	if bytes.Contains(rec.Data, []byte("subagent_trajectory_ref")) {
		var doc refs
		if err := format.Decode(rec.Data, &doc); err != nil {
			return format.Note{}, err
		}
		n.refs = doc.all(0)
	}
	return format.Note{Value: n}, nil
}

func noSteps() error {
	return &format.RecordError{
		Code:    "no_steps",
		Message: "the trajectory has no steps: want an array",
		Hint:    "choose another reader with option format",
	}
}
