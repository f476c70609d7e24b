package trajectory

import (
	"fmt"
	"sort"
	"strings"
)

// Outcome is the verdict of a task's hidden tests on the run's patch.
type Outcome uint8

// The outcomes. The zero value is Unknown.
const (
	Unknown Outcome = iota
	Pass
	Fail
)

// String returns "unknown", "pass" or "fail".
func (o Outcome) String() string {
	switch o {
	case Pass:
		return "pass"
	case Fail:
		return "fail"
	}
	return "unknown"
}

// Passed is nil for an unknown outcome.
func (o Outcome) Passed() *bool {
	if o == Unknown {
		return nil
	}
	return new(o == Pass)
}

// OutcomeOf is the inverse of Outcome.Passed.
func OutcomeOf(passed *bool) Outcome {
	switch {
	case passed == nil:
		return Unknown
	case *passed:
		return Pass
	}
	return Fail
}

// ParseOutcome is the inverse of Outcome.String.
func ParseOutcome(s string) (Outcome, error) {
	switch s {
	case "pass":
		return Pass, nil
	case "fail":
		return Fail, nil
	case "unknown":
		return Unknown, nil
	}
	return Unknown, fmt.Errorf("outcome %q: want pass, fail or unknown", s)
}

// Int is an optional int64. The zero value is "missing".
type Int struct {
	Value int64
	Valid bool
}

// Some returns a present Int.
func Some(v int64) Int { return Int{Value: v, Valid: true} }

// Or returns the value, or def when it is missing.
func (i Int) Or(def int64) int64 {
	if i.Valid {
		return i.Value
	}
	return def
}

// Ptr returns nil for a missing value.
func (i Int) Ptr() *int64 {
	if !i.Valid {
		return nil
	}
	v := i.Value
	return &v
}

// LineRange is an inclusive range of 1-based lines; Valid is false when the source has none.
type LineRange struct {
	Start, End int64
	Valid      bool
}

// Warning is something a reader had to guess or repair in one trajectory.
type Warning struct {
	Code   string // stable, snake_case
	Detail string
}

// Trajectory is one run of one agent on one task.
type Trajectory struct {
	ID      string // unique in a dataset
	TaskID  string // benchmark instance, such as psf__requests-1724
	Model   string // "" when the source does not say
	Repo    string // owner/name, "" when unknown
	Agent   string // scaffold, such as OpenHands
	Version string // of the agent

	Format        string // id of the reader, such as openhands-v0
	FormatVersion string

	Outcome       Outcome
	OutcomeSource string // which evidence decided, such as report.json
	OutcomeDetail string
	ExitStatus    string // as the log states it, never rewritten

	SourceFile   string // path inside the source, slash-separated
	SourceRecord int64  // 1-based line of a JSON Lines file, 0 when the file is the record
	SourceSHA256 string // hex digest of the record's bytes
	SourceNo     int    // 1-based number of the source among those read together; not part of a dataset

	TaskDescription string // at most 2,000 code points
	Prompt          string // the whole task text; see ingest.Options.Texts
	Closing         string // text of the call that ended the run, "" when there is none; likewise
	Workspace       string // absolute folder the agent worked in, "" for /testbed
	Condensations   int64
	Warnings        []Warning
	Ledger          *Ledger // nil when nobody counted

	States      []State
	Transitions []Transition
}

// State is the situation after one executed tool call, or the initial state.
type State struct {
	ID   string
	Step int64

	Tool    string // canonical name; "" is the release's null tool
	RawTool string // name in the source log

	Observation        string // text as the source holds it
	ObservationChars   int64  // code points of the full text, before any cut of ours
	ObservationHash    string // first 16 hex digits of the MD5 of the full text
	ResultingState     string
	ResultingStateHash string
	ContentHash        string // first 12 hex digits of an MD5
	ContentDescription string

	FilesTouched     []string
	FilePath         string // workspace-relative, lower case
	Lines            LineRange
	RelativePosition string
	OperationType    string
	EditType         string
	FunctionName     string
	ClassName        string
	ScopePath        string

	Stage Stage // release label; for the release source, the stored intent_stage

	Log *LogEntry // nil for the initial state

	EntryID         string
	Thought         string
	ResponsePreview string // at most 500 code points
	Response        string // all that the tool gave back, "" where the source has a preview only; see ingest.Options.Texts
	ResponseGroup   string // model response that issued the call; calls of one response share it
	LogModel        string
	Timestamp       string // as written in the log

	InputTokens  Int
	OutputTokens Int
	CachedTokens Int

	ExitCode    Int
	IsError     Int    // 0 or 1
	ErrorSource string // exit_code, flag, text, or ""

	Initial  bool
	Terminal bool
	Undo     bool // an undo_edit: an explicit revert
}

// LogEntry is the tool call behind a state.
type LogEntry struct {
	Kind string // "toolCall" or "request"
	Tool string
	Args Args
}

// Transition is one edge between two states.
type Transition struct {
	ID         string
	From, To   string
	ActionType string
	Step       int64
}

// ArgSet says which arguments are present (a JSON null counts as present).
type ArgSet uint16

// Members of an ArgSet.
const (
	HasFilePath ArgSet = 1 << iota
	HasPath
	HasCommand
	HasQuery
	HasCode
	HasOldString
	HasNewString
	HasContent
	HasStartLine
	HasEndLine
)

// Args are a tool call's arguments under canonical names. A non-string value of a
// text argument leaves the text empty; Raw always has everything.
type Args struct {
	Raw       string // the JSON object as written, "" when there was none
	Has       ArgSet
	FilePath  string // filePath
	Path      string // path
	Command   string
	Query     string
	Code      string
	OldString string
	NewString string
	Content   string
	StartLine int64 // startLine or start_line, 0 when missing
	EndLine   int64 // endLine or end_line, 0 when missing
}

// Ordered returns the states sorted by step; states with equal steps keep file order.
// The result shares no backing array with t.States.
func (t *Trajectory) Ordered() []*State {
	out := make([]*State, len(t.States))
	for i := range t.States {
		out[i] = &t.States[i]
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Step < out[j].Step })
	return out
}

// Actionable reports whether the state takes part in matching: it has no log entry, or
// one that is not a model request.
func (s *State) Actionable() bool { return s.Log == nil || s.Log.Kind != "request" }

// Command returns the shell command of the state, "" when there is none.
func (s *State) Command() string {
	if s.Log == nil {
		return ""
	}
	return s.Log.Args.Command
}

// StageString returns one letter per ordered state, '-' for an unlabelled one.
func (t *Trajectory) StageString() string {
	var b strings.Builder
	for _, s := range t.Ordered() {
		b.WriteByte(s.Stage.Letter())
	}
	return b.String()
}
