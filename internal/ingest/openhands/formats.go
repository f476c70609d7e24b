package openhands

import (
	"cmp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Ids of the formats.
const (
	IDEvents = "openhands-v0"
	IDPairs  = "openhands-v0-pairs"
	IDOutput = "openhands-output"
)

// Formats lists the records of OpenHands V0, in the order they are tried in.
func Formats() []format.Format {
	return []format.Format{
		{
			ID:          IDOutput,
			Description: "OpenHands V0 evaluation or resolver output.jsonl: one run a line",
			Detect:      detectOutput,
			Read:        readOutput,
		},
		{
			ID:          IDPairs,
			Description: "OpenHands V0: array of [action, observation]",
			Detect: func(p *format.Probe) (string, bool) {
				return "[[action, observation]]", isPair(p.Root.First())
			},
			Read: func(rec format.Record) ([]format.Item, error) { return readList(rec, IDPairs, "pairs") },
		},
		{
			ID:          IDEvents,
			Description: "OpenHands V0: array of events, or an object with such a trajectory",
			Detect: func(p *format.Probe) (string, bool) {
				if list := p.Get("trajectory"); list != nil {
					return "trajectory[0].action|observation", isEvent(list.First()) && !p.Has("info")
				}
				return "[0].action|observation", isEvent(p.Root.First())
			},
			Read: func(rec format.Record) ([]format.Item, error) {
				if rec.Probe.Root.Kind() == '[' {
					return readList(rec, IDEvents, "events")
				}
				return readExport(rec)
			},
		},
	}
}

// isEvent reports whether a value is an event: an action or an observation, with an
// envelope.
func isEvent(v format.Value) bool {
	if v.Kind() != '{' || v.Has("kind") || v.Has("role") {
		return false
	}
	action, observation := v.Get("action").Kind() == '"', v.Get("observation").Kind() == '"'
	if action == observation && !v.Has("action", "observation", "source") {
		return false
	}
	return v.Has("source") || v.Has("timestamp") || v.Has("id")
}

// isPair reports whether a value is an action with its observation. One of them may be null.
func isPair(v format.Value) bool {
	side := v.First()
	if side.Kind() == 'n' {
		side = v.At(1)
	}
	return (side.Has("action") || side.Has("observation")) && !side.Has("kind")
}

func detectOutput(p *format.Probe) (string, bool) {
	history := p.Get("history")
	if history.Kind() != '[' && history.Kind() != 'n' {
		return "", false
	}
	first := history.First()
	if first != nil && !isPair(first) && (first.Has("kind") || first.Has("role") || !first.Has("action") && !first.Has("observation")) {
		return "", false
	}
	switch {
	case p.Has("instance_id") && (first != nil || p.Has("metadata") || p.Has("test_result")):
		return "instance_id + history", true
	case p.Has("issue", "git_patch"):
		return "issue + git_patch + history", true
	case p.Has("id", "instance"):
		return "id + instance + history", true
	}
	return "", false
}

// readList reads a file that is a list of events or pairs.
func readList(rec format.Record, id, version string) ([]format.Item, error) {
	var history []entry
	if err := format.Decode(rec.Data, &history); err != nil {
		return nil, err
	}
	return alone(rec, id, version, history), nil
}

// readExport reads a file whose trajectory is a list of events: the server's export, or a
// user's feedback.
func readExport(rec format.Record) ([]format.Item, error) {
	if rec.Probe.Get("trajectory").Kind() != '[' {
		return nil, noHistory("trajectory")
	}
	var export struct {
		Trajectory []entry          `json:"trajectory"`
		Feedback   lenientjson.Text `json:"feedback"`
	}
	if err := format.Decode(rec.Data, &export); err != nil {
		return nil, err
	}
	version := "events"
	if export.Feedback != "" {
		version = "feedback"
	}
	return alone(rec, IDEvents, version, export.Trajectory), nil
}

// alone returns the run of a file that holds one, known by the file's path.
func alone(rec format.Record, id, version string, history []entry) []format.Item {
	c := converse(history)
	name := nameFile(rec.File)
	t := c.trajectory(id, version)
	t.TaskID = name.task
	t.Model = name.model
	if !name.explicit && c.model != "" {
		t.Model = c.model
	}
	t.Repo = repository(t.TaskID)
	t.ID = name.id
	if t.ID == "" {
		t.ID = strings.Trim(name.task+"-"+c.digest(), "-")
	}
	if t.TaskID == "" {
		t.TaskID = t.ID
		t.Warnings = append(t.Warnings, trajectory.Warning{Code: "task_unknown", Detail: "neither the log nor its path names a task"})
	}
	items := []format.Item{{Trajectory: t}}
	if name.outcome != trajectory.Unknown {
		items = append(items, format.Item{Evidence: &format.Evidence{
			Key: t.ID, Rank: format.RankFileName, Outcome: name.outcome, Source: "file name",
		}})
	}
	return items
}

// output is a line of an evaluation's or the resolver's output.jsonl.
type output struct {
	outcome.Line
	InstanceID  lenientjson.Text         `json:"instance_id"`
	ID          lenientjson.Ident        `json:"id"`
	Instruction lenientjson.Text         `json:"instruction"`
	History     []entry                  `json:"history"`
	GitPatch    lenientjson.OptText      `json:"git_patch"` // the resolver's
	Metadata    lenientjson.Of[metadata] `json:"metadata"`
	Instance    lenientjson.Of[struct {
		Repo lenientjson.Text `json:"repo"`
	}] `json:"instance"`
	Issue lenientjson.Of[struct {
		Owner  lenientjson.Text  `json:"owner"`
		Repo   lenientjson.Text  `json:"repo"`
		Number lenientjson.Ident `json:"number"`
	}] `json:"issue"`
}

type metadata struct {
	AgentClass lenientjson.Text `json:"agent_class"`
	ModelName  lenientjson.Text `json:"model_name"`
	LLMConfig  lenientjson.Of[struct {
		Model lenientjson.Text `json:"model"`
	}] `json:"llm_config"`
}

func readOutput(rec format.Record) ([]format.Item, error) {
	if !rec.Probe.Has("history") {
		return nil, noHistory("history")
	}
	var line output
	if err := format.Decode(rec.Data, &line); err != nil {
		return nil, err
	}
	version := shape(line.History)
	if version == "resolver" {
		var flat struct {
			History []lenientjson.Object `json:"history"`
		}
		if err := format.Decode(rec.Data, &flat); err != nil {
			return nil, err
		}
		unflatten(line.History, flat.History)
	}
	c := converse(line.History)
	t := c.trajectory(IDOutput, version)
	meta := &line.Metadata.V
	t.TaskID = cmp.Or(string(line.InstanceID), string(line.ID), line.issue())
	if t.TaskID == "" {
		return nil, &format.RecordError{
			Code:    "no_instance_id",
			Message: "the line has no instance_id: want the id of its task",
			Hint:    "add instance_id, or give the events alone as a trajectory file",
		}
	}
	t.Model = cmp.Or(string(meta.LLMConfig.V.Model), string(meta.ModelName), c.model)
	t.Repo = cmp.Or(string(line.Instance.V.Repo), repository(t.TaskID))
	if issue := &line.Issue.V; issue.Owner != "" && issue.Repo != "" {
		t.Repo = string(issue.Owner) + "/" + string(issue.Repo)
	}
	if meta.AgentClass != "" {
		t.Agent = agentName(string(meta.AgentClass))
	}
	if t.TaskDescription == "" {
		t.TaskDescription = describe(string(line.Instruction))
		t.Prompt = string(line.Instruction)
	}
	if line.Error != "" {
		t.ExitStatus = session.ExitStatus(string(line.Error))
	}
	t.ID = t.TaskID + "-" + plain(t.Model) + "-" + c.digest()
	items := []format.Item{{Trajectory: t}}
	if e, ok := line.Evidence(line.GitPatch); ok {
		e.Key, e.Rank = t.ID, format.RankReport
		items = append(items, format.Item{Evidence: &e})
	}
	return items, nil
}

func noHistory(key string) error {
	return &format.RecordError{
		Code:    "no_history",
		Message: "the record has no " + key + ": want an array of events",
		Hint:    "choose another reader with option format",
	}
}

func (o *output) issue() string {
	issue := &o.Issue.V
	if issue.Owner == "" || issue.Repo == "" || issue.Number == "" {
		return ""
	}
	return string(issue.Owner) + "__" + string(issue.Repo) + "-" + string(issue.Number)
}

// shape names how the history is written.
func shape(history []entry) string {
	for _, e := range history {
		switch {
		case e.pair:
			return "pairs"
		case len(e.events) > 0 && e.events[0].isFlattened():
			return "resolver"
		}
	}
	return "events"
}
