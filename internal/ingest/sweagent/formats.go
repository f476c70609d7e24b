package sweagent

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// ID of the format, and the family of its tools.
const ID = "sweagent"

const agent = "SWE-agent"

// Formats lists the records of SWE-agent.
func Formats(table *tools.Table) []format.Format {
	return []format.Format{{
		ID:          ID,
		Description: "SWE-agent .traj: version 0, version 1, or the history alone",
		Detect:      detect,
		Read:        func(rec format.Record) ([]format.Item, error) { return read(rec, table) },
	}}
}

func detect(p *format.Probe) (string, bool) {
	list := p.Get("trajectory")
	first := list.First()
	switch {
	case first.Has("action", "observation") && p.Has("info"):
		return "trajectory[0].action + observation + info", !first.Has("source")
	case list.Kind() == '[' && first == nil && p.Has("info", "history"):
		return "trajectory + history + info", true
	case p.Get("attempts").First().Has("trajectory") && p.Has("info"):
		return "attempts[0].trajectory + info", true
	case list == nil && p.Get("history").First().Has("role") && !p.Has("instance_id"):
		first := p.Get("history").First()
		return "history[0].role + agent|message_type", first.Has("agent") || first.Has("message_type")
	}
	return "", false
}

// attempt is a run, or one of several attempts at its task.
type attempt struct {
	Trajectory lenientjson.List[step] `json:"trajectory"`
	History    jsontext.Value         `json:"history"`
	Info       lenientjson.Of[struct {
		ExitStatus lenientjson.Text    `json:"exit_status"`
		Submission lenientjson.OptText `json:"submission"`
		Version    lenientjson.Text    `json:"swe_agent_version"`
		Best       lenientjson.Int     `json:"best_attempt_idx"`
	}] `json:"info"`
}

type log struct {
	attempt
	Attempts lenientjson.List[attempt] `json:"attempts"`
	Replay   replay                    `json:"replay_config"`
}

type step struct {
	Action      lenientjson.Text `json:"action"`
	Observation lenientjson.Text `json:"observation"`
	Response    lenientjson.Text `json:"response"`
	Thought     lenientjson.Text `json:"thought"`
	State       state            `json:"state"`
}

type historyItem struct {
	Role    lenientjson.Text    `json:"role"`
	Content lenientjson.Content `json:"content"`
	Thought lenientjson.Text    `json:"thought"`
	Action  lenientjson.OptText `json:"action"`
	Demo    lenientjson.Flag    `json:"is_demo"`
	Kind    lenientjson.Text    `json:"message_type"`
}

func read(rec format.Record, table *tools.Table) ([]format.Item, error) {
	var l log
	if err := format.Decode(rec.Data, &l); err != nil {
		return nil, err
	}
	main := &l.attempt
	if all := l.Attempts; len(main.Trajectory) == 0 && len(all) > 0 {
		best := main.Info.V.Best.Or(int64(len(all) - 1))
		main = &all[min(max(best, 0), int64(len(all)-1))]
	}
	var said lenientjson.List[historyItem]
	if len(main.Trajectory) == 0 {
		// The record was read already, so the history is JSON.
		_ = format.Decode(main.History, &said)
	}
	if len(main.Trajectory) == 0 && len(said) == 0 {
		return nil, &format.RecordError{
			Code:    "no_trajectory",
			Message: "the record has no steps: want a trajectory of action and observation, or a history",
			Hint:    "choose another reader with option format",
		}
	}
	name := session.NameFile(taskFile(rec.File))
	info := &l.Info.V
	r := &session.Run{
		Tools: table, Family: ID, Agent: agent, Version: string(info.Version), NoExitCodes: true,
		Task:        cmp.Or(string(l.Replay.Problem.V.ID), name.Task),
		Model:       cmp.Or(string(l.Replay.Agent.V.Model.V.Name), name.Model),
		Description: task(main.History),
		ExitStatus:  cmp.Or(string(info.ExitStatus), string(main.Info.V.ExitStatus)),
	}
	version := "v1"
	switch {
	case len(main.Trajectory) == 0:
		version = "history"
		readHistory(r, said)
	default:
		if main.Trajectory[0].State.text {
			version = "v0"
		}
		readSteps(r, main.Trajectory)
	}
	if n := len(l.Attempts); n > 1 {
		r.WarnN("other_attempt", "attempt that was not the best", n-1)
	}
	t := r.Trajectory(ID, version)
	items := []format.Item{{Trajectory: t}}
	if e, ok := evidence(t.ExitStatus, info.Submission); ok {
		e.Key = t.ID
		items = append(items, format.Item{Evidence: &e})
	}
	return append(items, name.Evidence(t.ID)...), nil
}

// evidence returns what the end of a run says about its outcome.
func evidence(status string, submission lenientjson.OptText) (format.Evidence, bool) {
	switch {
	case status == "exit_api" || status == "exit_environment_error":
		return format.Evidence{Rank: format.RankReport, Source: "exit_status", Detail: outcome.Infrastructure}, true
	case submission.Valid && strings.TrimSpace(string(submission.Value)) == "":
		return format.Evidence{Rank: format.RankReport, Source: "submission", Outcome: trajectory.Fail, Detail: outcome.EmptyPatch}, true
	}
	return format.Evidence{}, false
}

// taskFile returns the path with the file's own name for the task: some collections put the
// name of the folder before it.
func taskFile(file string) string {
	dir, base := path.Split(file)
	if at := strings.LastIndex(base, "--"); at > 0 {
		return dir + base[:at] + "/" + base[at+2:]
	}
	return file
}

// task returns the text of the first message of the user that is no demonstration. The
// history behind it is not read.
func task(history jsontext.Value) string {
	text := ""
	dec := jsontext.NewDecoder(bytes.NewBuffer(history), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	found := errors.New("found")
	err := lenientjson.Elements(dec, func() error {
		var h lenientjson.Of[historyItem]
		if err := h.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		if h.V.Role == "user" && !h.V.Demo.Is() && h.V.Kind != "demonstration" {
			text = Task(h.V.Content.Text)
			return found
		}
		return nil
	})
	if err != found {
		return ""
	}
	return text
}

// Task returns the issue between the instructions that SWE-agent's first message puts
// around it.
func Task(text string) string {
	for _, mark := range [...]string{"\nISSUE:", "\nTASK:", "\nCTF TASK:"} {
		if _, rest, ok := strings.Cut(text, mark); ok {
			if inside, _, ok := strings.Cut(rest, "\nINSTRUCTIONS:"); ok {
				return strings.TrimSpace(inside)
			}
		}
	}
	return strings.TrimSpace(session.Between(text, "<pr_description>", "</pr_description>"))
}
