package release

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// automaton is the JSON of a trajectory.
type automaton struct {
	InitialState string       `json:"initial_state"`
	States       stateList    `json:"states"`
	Transitions  []transition `json:"transitions"`
	Metadata     struct {
		SourceFormat    string        `json:"source_format"`
		Generator       string        `json:"generator"`
		Compactions     format.OptInt `json:"compaction_count"`
		TaskDescription string        `json:"task_description"`
		TaskName        string        `json:"task_name"`
		ModelName       string        `json:"model_name"`
		PassFailStatus  string        `json:"pass_fail_status"`
		TrajectoryID    string        `json:"trajectory_id"`
		SourcePath      string        `json:"source_path"`
	} `json:"metadata"`
}

type transition struct {
	ID         string        `json:"transition_id"`
	From       string        `json:"from_state"`
	To         string        `json:"to_state"`
	ActionType string        `json:"action_type"`
	Step       format.OptInt `json:"step"`
}

type state struct {
	StateID            string          `json:"state_id"`
	Step               format.OptInt   `json:"step"`
	Observation        string          `json:"observation"`
	ObservationHash    string          `json:"observation_hash"`
	ResultingState     string          `json:"resulting_state"`
	ResultingStateHash string          `json:"resulting_state_hash"`
	ContentHash        string          `json:"content_hash"`
	ContentDescription string          `json:"content_description"`
	FilesTouched       []string        `json:"files_touched"`
	ToolUsed           string          `json:"tool_used"`
	FilePath           string          `json:"file_path"`
	LineRange          []format.OptInt `json:"line_range"`
	RelativePosition   string          `json:"relative_position"`
	OperationType      string          `json:"operation_type"`
	EditType           string          `json:"edit_type"`
	FunctionName       string          `json:"function_name"`
	ClassName          string          `json:"class_name"`
	ScopePath          string          `json:"scope_path"`
	IntentStage        string          `json:"intent_stage"`
	LogEntry           *logEntry       `json:"log_entry"`
	Metadata           struct {
		EntryID      string        `json:"entry_id"`
		Thought      string        `json:"thought"`
		InputTokens  format.OptInt `json:"input_tokens"`
		OutputTokens format.OptInt `json:"output_tokens"`
		CachedTokens format.OptInt `json:"cached_input_tokens"`
		Model        string        `json:"model"`
		Timestamp    string        `json:"timestamp"`
		Initial      bool          `json:"is_initial"`
		Terminal     bool          `json:"is_terminal"`
	} `json:"metadata"`
}

type logEntry struct {
	Kind            string      `json:"kind"`
	Tool            string      `json:"tool"`
	Args            format.Args `json:"args"`
	ResponsePreview string      `json:"response_preview"`
}

// stateList is an object of states in file order. A repeated key replaces the value where
// the key first stood, as in Python.
type stateList struct {
	keys   []string
	states []state
	index  map[string]int
}

// bytesPerState is a usual length of a state's text, to size a list by.
const bytesPerState = 2500

// UnmarshalJSONFrom reads the object.
func (l *stateList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '{' {
		return fmt.Errorf("want an object of states by id")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	l.index = make(map[string]int, cap(l.states))
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := token.String()
		i, again := l.index[key]
		if !again {
			i = len(l.states)
			l.index[key] = i
			l.keys = append(l.keys, key)
			l.states = append(l.states, state{})
		}
		l.states[i] = state{}
		if err := json.UnmarshalDecode(dec, &l.states[i]); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// readTrajectory reads one run.
func readTrajectory(rec format.Record) ([]format.Item, error) {
	var a automaton
	a.States.states = make([]state, 0, 8+len(rec.Probe.Get("states"))/bytesPerState)
	if err := format.Decode(rec.Data, &a); err != nil {
		return nil, err
	}
	t := &trajectory.Trajectory{
		ID:              a.name(rec),
		TaskID:          a.Metadata.TaskName,
		Model:           a.Metadata.ModelName,
		Format:          ID,
		FormatVersion:   a.Metadata.Generator,
		TaskDescription: a.Metadata.TaskDescription,
		Condensations:   a.Metadata.Compactions.Value,
	}
	if a.Metadata.SourceFormat == "openhands" {
		t.Agent = "OpenHands"
	}
	if len(a.States.states) == 0 {
		return nil, &format.RecordError{
			Record: t.ID, Code: "no_states", Message: "states is empty: a trajectory has at least its initial state",
			Hint: "remove the file, or export the run again",
		}
	}
	name, named := parseName(t.ID)
	if err := identify(t, name, named, rec.File); err != nil {
		return nil, err
	}
	if t.ID == "" {
		sum := sha256.Sum256(rec.Data)
		t.ID = t.TaskID + "-" + strings.ReplaceAll(cmp.Or(t.Model, "unknown"), "/", "__") + "-" + hex.EncodeToString(sum[:6])
	}
	if err := a.convertStates(t); err != nil {
		return nil, err
	}
	if err := a.convertTransitions(t); err != nil {
		return nil, err
	}
	a.checkInitial(t)

	items := []format.Item{{Trajectory: t}}
	say := func(rank format.Rank, source string, o trajectory.Outcome) {
		items = append(items, format.Item{Evidence: &format.Evidence{Key: t.ID, Rank: rank, Outcome: o, Source: source}})
	}
	switch a.Metadata.PassFailStatus {
	case "passed":
		say(format.RankMetadata, "metadata", trajectory.Pass)
	case "failed":
		say(format.RankMetadata, "metadata", trajectory.Fail)
	case "":
	default:
		warn(t, "unknown_status", fmt.Sprintf("pass_fail_status is %q: want passed or failed", a.Metadata.PassFailStatus))
	}
	if named {
		say(format.RankFileName, "file name", name.outcome)
	}
	return items, nil
}

// name returns the name of the run: that of its file, and of a line, whose file has many
// runs, the one in its metadata, or "". The release's metadata have the name of the archive
// that the run was in, which ends in .zip where the run's name ends in _pta.
func (a *automaton) name(rec format.Record) string {
	if rec.Line == 0 {
		return strings.TrimSuffix(path.Base(rec.File), ".json")
	}
	if id := a.Metadata.TrajectoryID; id != "" {
		bare := strings.TrimSuffix(id, ".zip")
		if _, ok := parseName(bare + "_pta"); ok {
			return bare + "_pta"
		}
		return bare
	}
	for part := range strings.FieldsFuncSeq(a.Metadata.SourcePath, func(r rune) bool { return r == '/' || r == '\\' }) {
		if _, ok := parseName(part + "_pta"); ok {
			return part + "_pta"
		}
	}
	return ""
}

func warn(t *trajectory.Trajectory, code, detail string) {
	t.Warnings = append(t.Warnings, trajectory.Warning{Code: code, Detail: detail})
}

type fileName struct {
	task, model string
	outcome     trajectory.Outcome
}

// parseName takes <task>-logs-<model>-<pass|fail>-<digits>_pta apart.
func parseName(id string) (fileName, bool) {
	rest, ok := strings.CutSuffix(id, "_pta")
	if !ok {
		return fileName{}, false
	}
	task, rest, ok := strings.Cut(rest, "-logs-")
	if !ok || task == "" {
		return fileName{}, false
	}
	cut := strings.LastIndexByte(rest, '-')
	if cut < 0 || cut == len(rest)-1 || strings.Trim(rest[cut+1:], "0123456789") != "" {
		return fileName{}, false
	}
	rest = rest[:cut]
	name := fileName{task: task, outcome: trajectory.Pass}
	if name.model, ok = strings.CutSuffix(rest, "-pass"); !ok {
		name.outcome = trajectory.Fail
		name.model, ok = strings.CutSuffix(rest, "-fail")
	}
	return name, ok && name.model != ""
}

// identify settles task and model between metadata and the name of the run.
func identify(t *trajectory.Trajectory, name fileName, named bool, file string) error {
	if named {
		if t.TaskID != "" && t.TaskID != name.task {
			warn(t, "name_conflict", fmt.Sprintf("metadata says task %s, the name of the run says %s; metadata holds", t.TaskID, name.task))
		}
		if t.Model != "" && t.Model != name.model {
			warn(t, "name_conflict", fmt.Sprintf("metadata says model %s, the name of the run says %s; metadata holds", t.Model, name.model))
		}
		if t.TaskID == "" {
			t.TaskID = name.task
		}
		if t.Model == "" {
			t.Model = name.model
		}
	}
	if t.TaskID == "" {
		if t.TaskID = path.Base(path.Dir(file)); t.TaskID == "." {
			return &format.RecordError{
				Record: t.ID, Code: "no_task",
				Message: "neither metadata.task_name nor the file name nor its folder names the task",
				Hint:    "add metadata.task_name, or put the file into a folder named after the task",
			}
		}
		warn(t, "guessed_task", "the task is the name of the folder")
	}
	return nil
}

func (a *automaton) convertStates(t *trajectory.Trajectory) error {
	t.States = make([]trajectory.State, len(a.States.states))
	for i := range a.States.states {
		s := &a.States.states[i]
		stage, err := trajectory.ParseStage(s.IntentStage)
		if err != nil {
			return &format.RecordError{
				Record: t.ID, Code: "bad_stage", Message: fmt.Sprintf("state %s: intent_stage: %v", a.States.keys[i], err),
			}
		}
		out := trajectory.State{
			ID:                 s.StateID,
			Step:               s.Step.Or(int64(i)),
			Tool:               s.ToolUsed,
			Observation:        s.Observation,
			ObservationChars:   int64(utf8.RuneCountInString(s.Observation)),
			ObservationHash:    s.ObservationHash,
			ResultingState:     s.ResultingState,
			ResultingStateHash: s.ResultingStateHash,
			ContentHash:        s.ContentHash,
			ContentDescription: s.ContentDescription,
			FilesTouched:       s.FilesTouched,
			FilePath:           s.FilePath,
			RelativePosition:   s.RelativePosition,
			OperationType:      s.OperationType,
			EditType:           s.EditType,
			FunctionName:       s.FunctionName,
			ClassName:          s.ClassName,
			ScopePath:          s.ScopePath,
			Stage:              stage,
			EntryID:            s.Metadata.EntryID,
			Thought:            s.Metadata.Thought,
			LogModel:           s.Metadata.Model,
			Timestamp:          s.Metadata.Timestamp,
			InputTokens:        s.Metadata.InputTokens.Int,
			OutputTokens:       s.Metadata.OutputTokens.Int,
			CachedTokens:       s.Metadata.CachedTokens.Int,
			Initial:            s.Metadata.Initial,
			Terminal:           s.Metadata.Terminal,
		}
		if out.ID == "" {
			out.ID = a.States.keys[i]
		}
		if !s.Step.Valid {
			warn(t, "missing_step", fmt.Sprintf("state %s has no step; its place in the file counts", out.ID))
		}
		if r := s.LineRange; len(r) == 2 && r[0].Valid && r[1].Valid {
			out.Lines = trajectory.LineRange{Start: r[0].Value, End: r[1].Value, Valid: true}
		} else if len(r) > 0 {
			warn(t, "bad_line_range", fmt.Sprintf("state %s: line_range is not [first, last]; left out", out.ID))
		}
		if l := s.LogEntry; l != nil {
			out.RawTool = l.Tool
			out.ResponsePreview = l.ResponsePreview
			out.Log = &trajectory.LogEntry{Kind: l.Kind, Tool: l.Tool, Args: l.Args.Args}
			out.Undo = l.Args.Command == "undo_edit"
		}
		if strings.Contains(s.ResultingState, "_failed") {
			out.IsError, out.ErrorSource = trajectory.Some(1), "text"
		}
		t.States[i] = out
	}
	return nil
}

// convertTransitions also checks the shape: a single trace is a chain through the states in
// file order, which is the order of their steps. The method is defined for nothing else. A
// run without transitions gets those of the chain.
func (a *automaton) convertTransitions(t *trajectory.Trajectory) error {
	broken := func(text string, args ...any) error {
		return &format.RecordError{
			Record: t.ID, Code: "not_a_chain",
			Message: fmt.Sprintf(text, args...) + "; want one transition from each state to the next in file order, with rising steps",
			Hint:    "export the run again",
		}
	}
	for i := 1; i < len(t.States); i++ {
		if t.States[i].Step < t.States[i-1].Step {
			return broken("state %s has step %d after step %d", t.States[i].ID, t.States[i].Step, t.States[i-1].Step)
		}
	}
	if len(a.Transitions) == 0 && len(t.States) > 1 {
		warn(t, "no_transitions", "the states are taken as a chain in file order")
		for i := 1; i < len(t.States); i++ {
			t.Transitions = append(t.Transitions, trajectory.Transition{
				ID: fmt.Sprintf("trans_%d", i-1), From: a.States.keys[i-1], To: a.States.keys[i], ActionType: t.States[i].Tool, Step: t.States[i].Step,
			})
		}
		return nil
	}
	if len(a.Transitions) != len(t.States)-1 {
		return broken("%d states have %d transitions", len(t.States), len(a.Transitions))
	}
	t.Transitions = make([]trajectory.Transition, len(a.Transitions))
	for i, tr := range a.Transitions {
		from, okFrom := a.States.index[tr.From]
		to, okTo := a.States.index[tr.To]
		if !okFrom || !okTo || from != i || to != i+1 {
			return broken("transition %d leads from %q to %q", i+1, tr.From, tr.To)
		}
		t.Transitions[i] = trajectory.Transition{ID: tr.ID, From: tr.From, To: tr.To, ActionType: tr.ActionType, Step: tr.Step.Value}
	}
	return nil
}

// checkInitial warns when the file names another initial state than its first.
func (a *automaton) checkInitial(t *trajectory.Trajectory) {
	if initial, ok := a.States.index[a.InitialState]; !ok || initial != 0 {
		warn(t, "initial_state", fmt.Sprintf("initial_state %q is not the first state", a.InitialState))
	}
}
