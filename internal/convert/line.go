package convert

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// run is a run as a line. Numbers that are not known are null.
type run struct {
	TrajectoryID  string `json:"trajectory_id"`
	TaskID        string `json:"task_id"`
	Model         string `json:"model"`
	Repo          string `json:"repo"`
	Agent         string `json:"agent"`
	AgentVersion  string `json:"agent_version"`
	Format        string `json:"source_format"`
	FormatVersion string `json:"source_format_version"`
	SourceFile    string `json:"source_file"`
	SourceRecord  int64  `json:"source_record"`
	SourceSHA256  string `json:"source_sha256"`
	Outcome       string `json:"outcome"`
	OutcomeSource string `json:"outcome_source"`
	OutcomeDetail string `json:"outcome_detail"`
	ExitStatus    string `json:"exit_status"`
	Task          string `json:"task_description"`
	Closing       string `json:"closing"`
	Workspace     string `json:"workspace"`
	Condensations int64  `json:"condensations"`

	Warnings    []warning    `json:"warnings"`
	States      []state      `json:"states"`
	Transitions []transition `json:"transitions"`
}

type warning struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

type transition struct {
	ID         string `json:"id"`
	From       string `json:"from"`
	To         string `json:"to"`
	ActionType string `json:"action_type"`
	Step       int64  `json:"step"`
}

type state struct {
	ID                 string         `json:"state_id"`
	Step               int64          `json:"step"`
	Tool               string         `json:"tool"`
	RawTool            string         `json:"raw_tool"`
	Args               jsontext.Value `json:"args"` // null when there are none
	Observation        string         `json:"observation"`
	ObservationChars   int64          `json:"observation_chars"`
	ObservationHash    string         `json:"observation_hash"`
	Response           string         `json:"response"`
	ResultingState     string         `json:"resulting_state"`
	ResultingStateHash string         `json:"resulting_state_hash"`
	ContentHash        string         `json:"content_hash"`
	ContentDescription string         `json:"content_description"`
	FilesTouched       []string       `json:"files_touched"`
	FilePath           string         `json:"file_path"`
	LineStart          *int64         `json:"line_start"`
	LineEnd            *int64         `json:"line_end"`
	RelativePosition   string         `json:"relative_position"`
	OperationType      string         `json:"operation_type"`
	EditType           string         `json:"edit_type"`
	FunctionName       string         `json:"function_name"`
	ClassName          string         `json:"class_name"`
	ScopePath          string         `json:"scope_path"`
	Stage              string         `json:"stage"`
	LogKind            string         `json:"log_kind"` // "" when there is no call
	LogTool            string         `json:"log_tool"`
	EntryID            string         `json:"entry_id"`
	Thought            string         `json:"thought"`
	ResponseGroup      string         `json:"response_group"`
	Model              string         `json:"model"`
	Timestamp          string         `json:"timestamp"`
	InputTokens        *int64         `json:"input_tokens"`
	OutputTokens       *int64         `json:"output_tokens"`
	CachedTokens       *int64         `json:"cached_tokens"`
	ExitCode           *int64         `json:"exit_code"`
	IsError            *int64         `json:"is_error"`
	ErrorSource        string         `json:"error_source"`
	Initial            bool           `json:"initial"`
	Terminal           bool           `json:"terminal"`
	Undo               bool           `json:"undo"`
}

// ToLine returns a run as a line of JSON Lines, with all that is known of it.
func ToLine(t *trajectory.Trajectory) ([]byte, error) {
	r := run{
		TrajectoryID: t.ID, TaskID: t.TaskID, Model: t.Model, Repo: t.Repo, Agent: t.Agent, AgentVersion: t.Version,
		Format: t.Format, FormatVersion: t.FormatVersion, SourceFile: t.SourceFile, SourceRecord: t.SourceRecord, SourceSHA256: t.SourceSHA256,
		Outcome: t.Outcome.String(), OutcomeSource: t.OutcomeSource, OutcomeDetail: t.OutcomeDetail, ExitStatus: t.ExitStatus,
		Task: task(t), Closing: t.Closing, Workspace: t.Workspace, Condensations: t.Condensations,
		States: make([]state, len(t.States)),
	}
	for _, w := range t.Warnings {
		r.Warnings = append(r.Warnings, warning(w))
	}
	for _, e := range t.Transitions {
		r.Transitions = append(r.Transitions, transition(e))
	}
	for i := range t.States {
		r.States[i] = stateOf(&t.States[i])
	}
	out, err := json.Marshal(r, json.Deterministic(true), json.FormatNilSliceAsNull(false),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

func stateOf(s *trajectory.State) state {
	out := state{
		ID: s.ID, Step: s.Step, Tool: s.Tool, RawTool: s.RawTool,
		Observation: s.Observation, ObservationChars: s.ObservationChars, ObservationHash: s.ObservationHash,
		Response: response(s, &Losses{}), ResultingState: s.ResultingState, ResultingStateHash: s.ResultingStateHash,
		ContentHash: s.ContentHash, ContentDescription: s.ContentDescription, FilesTouched: s.FilesTouched, FilePath: s.FilePath,
		RelativePosition: s.RelativePosition, OperationType: s.OperationType, EditType: s.EditType,
		FunctionName: s.FunctionName, ClassName: s.ClassName, ScopePath: s.ScopePath, Stage: s.Stage.String(),
		EntryID: s.EntryID, Thought: s.Thought, ResponseGroup: s.ResponseGroup, Model: s.LogModel, Timestamp: s.Timestamp,
		InputTokens: s.InputTokens.Ptr(), OutputTokens: s.OutputTokens.Ptr(), CachedTokens: s.CachedTokens.Ptr(),
		ExitCode: s.ExitCode.Ptr(), IsError: s.IsError.Ptr(), ErrorSource: s.ErrorSource,
		Initial: s.Initial, Terminal: s.Terminal, Undo: s.Undo,
	}
	if s.Lines.Valid {
		start, end := s.Lines.Start, s.Lines.End
		out.LineStart, out.LineEnd = &start, &end
	}
	if s.Log != nil {
		out.LogKind, out.LogTool = s.Log.Kind, s.Log.Tool
		if s.Log.Args.Raw != "" {
			out.Args = jsontext.Value(s.Log.Args.Raw)
		}
	}
	return out
}
