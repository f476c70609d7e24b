package messages

import (
	"cmp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/sweagent"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

// adpRow is a run in the Agent Data Protocol's standardized form.
type adpRow struct {
	ID      lenientjson.Ident     `json:"id"`
	Content lenientjson.List[adp] `json:"content"`
	Details lenientjson.Of[struct {
		RunID      lenientjson.Text `json:"run_id"`
		Model      lenientjson.Text `json:"model"`
		ModelName  lenientjson.Text `json:"model_name"`
		ExitStatus lenientjson.Text `json:"exit_status"`
		verdict
	}] `json:"details"`
}

// adp is an item of such a run.
type adp struct {
	Class       lenientjson.Text   `json:"class_"`
	Function    lenientjson.Text   `json:"function"`
	Kwargs      lenientjson.Object `json:"kwargs"`
	Language    lenientjson.Text   `json:"language"`
	Content     lenientjson.Text   `json:"content"`
	Source      lenientjson.Text   `json:"source"`
	Description lenientjson.Text   `json:"description"`
}

// class returns what kind of item it is; some versions leave the name out of actions.
func (a *adp) class() string {
	switch {
	case a.Class != "":
		return string(a.Class)
	case a.Function != "":
		return "api_action"
	case a.Source != "":
		return "text_observation"
	case a.Language != "":
		return "code_action"
	}
	return "message_action"
}

func (r reader) readADP(rec format.Record) ([]format.Item, error) {
	return rows(rec, func(row *adpRow) ([]format.Item, error) {
		if len(row.Content) == 0 {
			return nil, &format.RecordError{
				Code:    "no_content",
				Message: "the row has no content: want an array of items",
				Hint:    "choose another reader with option format",
			}
		}
		details := &row.Details.V
		run := &session.Run{
			Tools: r.table, Family: sweagent.ID, NoExitCodes: true,
			Task:       session.Instance(string(row.ID)),
			Model:      cmp.Or(string(details.Model), string(details.ModelName), modelOf(string(details.RunID))),
			ExitStatus: string(details.ExitStatus),
		}
		replay(run, row.Content)
		t := run.Trajectory(IDADP, "standardized")
		return append([]format.Item{{Trajectory: t}}, details.evidence(t.ID)...), nil
	})
}

// replay turns items into calls.
func replay(run *session.Run, items []adp) {
	items = withoutVerdict(run, items)
	openFile, folder := "", ""
	for i := range items {
		a := &items[i]
		call := session.Call{Thought: strings.TrimSpace(string(a.Description)), Dir: folder}
		switch a.class() {
		case "api_action":
			call.Tool, call.Args = string(a.Function), unwrapped(string(a.Function), a.Kwargs)
			if call.Args == nil {
				call.Args = lenientjson.Object{}
			}
		case "code_action":
			call.Tool = sweagent.Bash
			if a.Language == "python" {
				call.Tool = "execute_ipython_cell"
				call.Args.SetText("code", string(a.Content))
			} else {
				call.Args.SetText("command", string(a.Content))
			}
		case "text_observation":
			text, file, dir := sweagent.Prompt(string(a.Content))
			if run.Root == "" {
				run.Root = sweagent.Root(dir)
			}
			switch {
			case run.Awaits():
				call := run.Answer("", strings.TrimPrefix(text, "OBSERVATION:\n"))
				sweagent.Place(call.Tool, &call.Args, cmp.Or(openFile, file), text)
				if dir != "" {
					run.Agent = "SWE-agent"
				}
			case len(run.Calls) == 0 && a.Source != "system" && run.Description == "":
				run.Description = task(string(a.Content))
			}
			openFile, folder = file, dir
			continue
		default:
			if strings.Contains(string(a.Content), "<finish>") {
				run.Finished = true
			}
			run.Turn()
			continue
		}
		run.Calls = append(run.Calls, call)
	}
}

// withoutVerdict drops what a converter wrote behind a run: an answer to the call that ended
// it, and the farewell after that.
func withoutVerdict(run *session.Run, items []adp) []adp {
	n := len(items)
	if n == 0 || items[n-1].class() != "message_action" || !strings.Contains(string(items[n-1].Content), "<finish>") {
		return items
	}
	run.Finished = true
	kept := items[:n-1]
	if n >= 3 && items[n-2].class() == "text_observation" {
		ended := items[n-3].class() != "code_action"
		if items[n-3].class() == "api_action" {
			tool, _ := run.Tools.Lookup(run.Family, string(items[n-3].Function), items[n-3].Kwargs)
			ended = tool.Canonical == tools.Finish
		}
		if ended {
			kept = items[:n-2]
			run.WarnN(session.WarnSynthetic, "item behind the end of the run", 2)
		}
	}
	return kept
}

// unwrapped removes the quotes that stand around the texts of SWE-agent's commands.
func unwrapped(function string, kwargs lenientjson.Object) lenientjson.Object {
	switch function {
	case "open", "create", "edit", "find_file", "search_dir", "search_file", "insert":
	default:
		return kwargs
	}
	for i, m := range kwargs {
		if text := lenientjson.Unquote(m.Value); len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
			kwargs[i].Value = lenientjson.Quote(text[1 : len(text)-1])
		}
	}
	return kwargs
}
