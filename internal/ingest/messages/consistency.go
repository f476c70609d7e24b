package messages

import (
	"cmp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/sweagent"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// consistency is a task with several runs.
type consistency struct {
	TaskID lenientjson.Ident `json:"task_id"`
	Task   lenientjson.Text  `json:"task"`
	Model  lenientjson.Text  `json:"model"`
	Runs   lenientjson.List[struct {
		RunID      lenientjson.Ident   `json:"run_id"`
		Model      lenientjson.Text    `json:"model"`
		Task       lenientjson.Text    `json:"task"`
		ExitStatus lenientjson.Text    `json:"exit_status"`
		Error      lenientjson.Text    `json:"error"`
		Output     lenientjson.OptText `json:"final_output"`
		Steps      lenientjson.List[struct {
			Number     lenientjson.Ident `json:"step_number"`
			Timestamp  lenientjson.Ident `json:"timestamp"`
			Thought    lenientjson.Text  `json:"thought"`
			Action     lenientjson.Text  `json:"action"`
			Input      arguments         `json:"action_input"`
			Output     lenientjson.Text  `json:"observation"`
			ReturnCode lenientjson.Int   `json:"returncode"`
		}] `json:"steps"`
	}] `json:"runs"`
}

// readConsistency reads the runs of a task. Their success means that a patch was handed in,
// so it is no outcome.
func (r reader) readConsistency(rec format.Record) ([]format.Item, error) {
	var log consistency
	if err := format.Decode(rec.Data, &log); err != nil {
		return nil, err
	}
	var items []format.Item
	for i := range log.Runs {
		of := &log.Runs[i]
		run := &session.Run{
			Tools: r.table, Family: ID, Agent: "mini-swe-agent",
			ID: string(of.RunID), Task: string(log.TaskID),
			Model:       cmp.Or(string(of.Model), string(log.Model)),
			Description: strings.TrimSpace(cmp.Or(string(of.Task), string(log.Task))),
			ExitStatus:  cmp.Or(string(of.ExitStatus), string(of.Error)),
		}
		if run.ID != "" && run.Model != "" {
			run.ID += "-" + strings.ReplaceAll(run.Model, "/", "__")
		}
		for j := range of.Steps {
			s := &of.Steps[j]
			if s.Action == "" {
				run.Warn(session.WarnFormat, "step without an action")
				continue
			}
			call := session.Call{
				ID: string(s.Number), Tool: sweagent.Bash, Answered: true, Timestamp: string(s.Timestamp),
				Thought: strings.TrimSpace(string(s.Thought)), Response: string(s.Output), ExitCode: s.ReturnCode.Int,
			}
			switch {
			case s.Input.object != nil:
				call.Tool, call.Args = string(s.Action), s.Input.object
			case s.Input.raw != "":
				call.Tool = string(s.Action)
				call.Args.SetText("input", s.Input.raw)
			default:
				call.Args.SetText("command", string(s.Action))
			}
			if s.ReturnCode.Or(0) == -1 {
				call.ExitCode, call.Failed = trajectory.Int{}, trajectory.Some(1)
			}
			if j == len(of.Steps)-1 && strings.Contains(string(s.Action), "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT") {
				call.Tool = "submit"
			}
			run.Calls = append(run.Calls, call)
		}
		t := run.Trajectory(IDConsistency, "1")
		items = append(items, format.Item{Trajectory: t})
		if of.Output.Valid && strings.TrimSpace(string(of.Output.Value)) == "" && of.ExitStatus == "Submitted" {
			items = append(items, format.Item{Evidence: &format.Evidence{
				Key: t.ID, Rank: format.RankColumn, Outcome: trajectory.Fail, Source: "final_output", Detail: outcome.EmptyPatch,
			}})
		}
	}
	return items, nil
}
