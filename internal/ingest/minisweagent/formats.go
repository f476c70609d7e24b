package minisweagent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// ID of the format.
const ID = "mini-sweagent"

// Formats lists the records of mini-swe-agent, in the order they are tried in.
func Formats(table *tools.Table) []format.Format {
	return []format.Format{
		{
			ID:          ID,
			Description: "mini-swe-agent .traj.json: version 1, 1.1, or a bare list of messages",
			Detect:      detect,
			Read:        func(rec format.Record) ([]format.Item, error) { return read(rec, table) },
		},
		{
			ID:          "mini-sweagent-summary",
			Description: "summary of an evaluation: instances with resolved",
			Companion:   true,
			Detect: func(p *format.Probe) (string, bool) {
				return "instances[0].resolved", p.Has("total", "instances") && p.Get("instances").First().Has("instance_id", "resolved")
			},
			Read: readSummary,
		},
	}
}

// detect knows a bare list by its texts, which other lists of messages do not have.
func detect(p *format.Probe) (string, bool) {
	if version, ok := p.Get("trajectory_format").Text(); ok && strings.HasPrefix(version, "mini-swe-agent") {
		return "trajectory_format", true
	}
	if p.Get("messages").First().Has("role") && p.Get("info").Has("mini_version") {
		return "info.mini_version", true
	}
	first := p.Root.First()
	if !first.Has("role", "content") {
		return "", false
	}
	text, _ := first.Get("content").Text()
	return "[0].content", strings.HasSuffix(p.File, ".traj.json") || strings.Contains(text, "mswea") || strings.Contains(text, "ONE bash code block")
}

type log struct {
	Format     lenientjson.Text          `json:"trajectory_format"`
	InstanceID lenientjson.Text          `json:"instance_id"`
	Messages   lenientjson.List[message] `json:"messages"`
	Info       lenientjson.Of[status]    `json:"info"`
}

type status struct {
	ExitStatus lenientjson.Text    `json:"exit_status"`
	Submission lenientjson.OptText `json:"submission"`
	Version    lenientjson.Text    `json:"mini_version"`
	Config     lenientjson.Of[struct {
		Model lenientjson.Of[struct {
			Name   lenientjson.Text `json:"model_name"`
			Action lenientjson.Text `json:"action_regex"`
		}] `json:"model"`
		Environment lenientjson.Of[struct {
			Dir lenientjson.Text `json:"cwd"`
		}] `json:"environment"`
		Agent lenientjson.Of[struct {
			Action lenientjson.Text `json:"action_regex"`
		}] `json:"agent"`
	}] `json:"config"`
}

type message struct {
	Role       lenientjson.Text          `json:"role"`
	Content    lenientjson.Content       `json:"content"`
	ToolCallID lenientjson.Text          `json:"tool_call_id"`
	ToolCalls  lenientjson.List[toolUse] `json:"tool_calls"`
	Extra      lenientjson.Of[extra]     `json:"extra"`
}

type toolUse struct {
	ID       lenientjson.Text `json:"id"`
	Function lenientjson.Of[struct {
		Name      lenientjson.Text `json:"name"`
		Arguments lenientjson.Text `json:"arguments"`
	}] `json:"function"`
}

type extra struct {
	Actions lenientjson.List[struct {
		Command lenientjson.OptText `json:"command"`
		ID      lenientjson.Text    `json:"tool_call_id"`
	}] `json:"actions"`
	Response lenientjson.Of[struct {
		ID    lenientjson.Text                  `json:"id"`
		Model lenientjson.Text                  `json:"model"`
		Usage lenientjson.Of[lenientjson.Usage] `json:"usage"`
	}] `json:"response"`
	Timestamp  lenientjson.Ident   `json:"timestamp"`
	RawOutput  lenientjson.OptText `json:"raw_output"`
	ReturnCode lenientjson.Int     `json:"returncode"`
	Exception  lenientjson.Text    `json:"exception_info"`
	Interrupt  lenientjson.Text    `json:"interrupt_type"`
	ExitStatus lenientjson.Text    `json:"exit_status"`
	Submission lenientjson.OptText `json:"submission"`
}

func read(rec format.Record, table *tools.Table) ([]format.Item, error) {
	var l log
	version := "list"
	if rec.Probe.Root.Kind() == '[' {
		if err := format.Decode(rec.Data, &l.Messages); err != nil {
			return nil, err
		}
	} else {
		if err := format.Decode(rec.Data, &l); err != nil {
			return nil, err
		}
		version = strings.TrimPrefix(strings.TrimPrefix(string(l.Format), "mini-swe-agent"), "-")
	}
	if len(l.Messages) == 0 {
		return nil, &format.RecordError{
			Code:    "no_messages",
			Message: "the record has no messages: want an array of role and content",
			Hint:    "choose another reader with option format",
		}
	}
	name := session.NameFile(rec.File)
	info := &l.Info.V
	d := dialogue{
		run: &session.Run{
			Tools: table, Family: ID, Agent: "mini-swe-agent", Version: string(info.Version),
			Task:       cmp.Or(string(l.InstanceID), name.Task),
			Model:      string(info.Config.V.Model.V.Name),
			Root:       root(string(info.Config.V.Environment.V.Dir)),
			ExitStatus: string(info.ExitStatus),
		},
		submission: info.Submission,
	}
	d.mark(cmp.Or(string(info.Config.V.Agent.V.Action), string(info.Config.V.Model.V.Action)))
	for i := range l.Messages {
		d.take(&l.Messages[i], i == len(l.Messages)-1)
	}
	d.run.Model = cmp.Or(d.run.Model, d.model, name.Model)
	t := d.run.Trajectory(ID, version)
	items := []format.Item{{Trajectory: t}}
	if e, ok := d.evidence(t.ExitStatus); ok {
		e.Key = t.ID
		items = append(items, format.Item{Evidence: &e})
	}
	return append(items, name.Evidence(t.ID)...), nil
}

// root returns the folder of the repository, "" for none that could be stripped.
func root(dir string) string {
	if strings.Trim(dir, "/.") == "" {
		return ""
	}
	return dir
}

// evidence returns what the end of the run says about its outcome.
func (d *dialogue) evidence(status string) (format.Evidence, bool) {
	e := format.Evidence{Rank: format.RankReport, Source: "submission"}
	switch status {
	case "Submitted", "submitted", "LimitsExceeded", "TimeExceeded", "RepeatedFormatError", "":
	default:
		e.Detail, e.Source = outcome.Infrastructure, "exit_status"
		return e, true
	}
	if d.submission.Valid && strings.TrimSpace(string(d.submission.Value)) == "" {
		e.Outcome, e.Detail = trajectory.Fail, outcome.EmptyPatch
		return e, true
	}
	return e, false
}

// IsSummaryHeader reports whether a table's header is that of results_summary.csv, which has
// nothing that results_summary.json has not.
func IsSummaryHeader(header []string) bool {
	return slices.Equal(header, []string{"instance_id", "resolved", "patch_applied"})
}

func readSummary(rec format.Record) ([]format.Item, error) {
	var summary struct {
		Instances lenientjson.List[struct {
			ID       lenientjson.Text `json:"instance_id"`
			Resolved lenientjson.Flag `json:"resolved"`
		}] `json:"instances"`
	}
	if err := format.Decode(rec.Data, &summary); err != nil {
		return nil, err
	}
	var items []format.Item
	for _, instance := range summary.Instances {
		if instance.ID == "" || !instance.Resolved.Valid {
			continue
		}
		e := format.Evidence{Key: string(instance.ID), Rank: format.RankSummary, Outcome: trajectory.Fail, Source: "run summary"}
		if instance.Resolved.Value {
			e.Outcome = trajectory.Pass
		}
		items = append(items, format.Item{Evidence: &e})
	}
	return items, nil
}
