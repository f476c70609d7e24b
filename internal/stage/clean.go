package stage

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Clean labels steps by what their shell commands do and whether they touch the project's
// source (docs/spec/process.md, section 3). It may be used from many goroutines.
type Clean struct{ shell *shell.Parser }

// NewClean returns a labeler that reads commands and classes of paths with the parser.
func NewClean(p *shell.Parser) *Clean { return &Clean{p} }

// CleanStep is one step, that is a state with a tool, with its clean label.
type CleanStep struct {
	State  *trajectory.State
	Index  int // of the state among the run's ordered states
	Stage  trajectory.Stage
	Rule   string // one of the constants below
	Failed bool   // the resulting state says that the call failed

	// Class is that of the file a file tool names; ClassNone for other tools.
	Class shell.PathClass
	// Actions of a step that runs a command, nil for any other.
	Actions []shell.Action
	// SourceEdits are the distinct source files the step edited: the file of a successful
	// file edit, the written paths of a command. A command's success cannot be seen.
	SourceEdits []string
}

// The rules of Clean, as stored with each label.
const (
	CleanOrchestration   = "orchestration_tool"
	CleanSearch          = "search_tool"
	CleanValidation      = "validation_tool"
	CleanReadEdited      = "read_edited_file"
	CleanReadTest        = "read_test_file"
	CleanRead            = "read_file"
	CleanEditSummary     = "edit_summary_file"
	CleanEditOther       = "edit_not_source"
	CleanEditSource      = "edit_source"
	CleanShellSource     = "shell_writes_source"
	CleanShellTest       = "shell_test"
	CleanShellExecute    = "shell_execute"
	CleanShellReadEdited = "shell_reads_edited_file"
	CleanShellInspect    = "shell_inspect"
	CleanShellHousekeep  = "shell_housekeeping"
	CleanShellOther      = "shell_other"
	CleanShellNothing    = "shell_no_action"
)

// Label returns one label and one rule per ordered state of t; NoStage and "" for a state
// without a tool, such as the initial one.
func (c *Clean) Label(t *trajectory.Trajectory) (labels []trajectory.Stage, rules []string) {
	steps := c.Steps(t)
	states := t.Ordered()
	labels = make([]trajectory.Stage, len(states))
	rules = make([]string, len(states))
	for i, s := range states {
		if s.Tool != "" {
			labels[i], rules[i] = steps[0].Stage, steps[0].Rule
			steps = steps[1:]
		}
	}
	return labels, rules
}

// Steps returns the labelled steps of t in order. They point into t; of two copies of a run,
// steps are the same where their indices are. Commands start in the
// run's workspace, or in the parser's root when the run names none.
func (c *Clean) Steps(t *trajectory.Trajectory) []CleanStep {
	steps := make([]CleanStep, 0, len(t.States))
	w := cleanWalk{Clean: &Clean{c.shell.At(t.Workspace)}, edited: map[string]bool{}}
	for i, s := range t.Ordered() {
		if s.Tool == "" {
			continue
		}
		step := CleanStep{State: s, Index: i, Failed: failed(s)}
		w.label(&step)
		for _, p := range step.SourceEdits {
			w.impl = true
			w.edited[p] = true
		}
		steps = append(steps, step)
	}
	return steps
}

// failed reports whether the kind of a resulting state, before its first colon, names a
// failure.
func failed(s *trajectory.State) bool {
	kind, _, _ := strings.Cut(s.ResultingState, ":")
	return strings.Contains(kind, "fail")
}

// cleanWalk is what a run has done so far.
type cleanWalk struct {
	*Clean
	impl   bool // source was edited
	edited map[string]bool
}

// late is Verification once source was edited, Exploration before.
func (w *cleanWalk) late() trajectory.Stage {
	if w.impl {
		return trajectory.Verification
	}
	return trajectory.Exploration
}

func (w *cleanWalk) label(s *CleanStep) {
	tool := trajectory.LookupTool(s.State.Tool)
	switch {
	case tool.Category == trajectory.Edit:
		w.edit(s)
	case tool.Category == trajectory.General || tool.Hint == trajectory.Orchestration:
		s.Stage, s.Rule = trajectory.Orchestration, CleanOrchestration
	case tool.Category == trajectory.Execute:
		w.command(s)
	case tool.Category == trajectory.Validation || tool.Category == trajectory.Read && tool.Hint == trajectory.Verification:
		s.Stage, s.Rule = trajectory.Verification, CleanValidation
	case tool.Category == trajectory.Search || tool.Hint == trajectory.Exploration:
		s.Stage, s.Rule = trajectory.Exploration, CleanSearch
	default:
		w.read(s)
	}
}

func (w *cleanWalk) read(s *CleanStep) {
	s.Class = w.shell.Class(s.State.FilePath)
	s.Stage, s.Rule = trajectory.Exploration, CleanRead
	switch {
	case w.edited[s.State.FilePath]:
		s.Stage, s.Rule = trajectory.Verification, CleanReadEdited
	case w.impl && s.Class == shell.ClassTest:
		s.Stage, s.Rule = trajectory.Verification, CleanReadTest
	}
}

// summaryFile is a report about the work, which is no part of the solution.
var summaryFile = regexp.MustCompile(`(?i)(^|/)((fix_?)?summary|notes?|changelog|report)[^/]*\.(md|txt|rst)$|_(summary|report|notes)\.\w+$`)

func (w *cleanWalk) edit(s *CleanStep) {
	s.Class = w.shell.Class(s.State.FilePath)
	switch {
	case summaryFile.MatchString(s.State.FilePath):
		s.Stage, s.Rule = trajectory.Orchestration, CleanEditSummary
	case s.Class != shell.ClassSource:
		s.Stage, s.Rule = w.late(), CleanEditOther
	default:
		s.Stage, s.Rule = trajectory.Implementation, CleanEditSource
	}
	if s.Class == shell.ClassSource && !s.Failed {
		s.SourceEdits = []string{s.State.FilePath}
	}
}

func (w *cleanWalk) command(s *CleanStep) {
	s.Actions = w.actions(s.State)
	kinds := shell.KindsOf(s.Actions)
	if kinds.Any(shell.Write) {
		for _, p := range shell.Written(s.Actions) {
			if w.shell.Class(p) == shell.ClassSource {
				s.SourceEdits = append(s.SourceEdits, p)
			}
		}
	}
	switch {
	case len(s.SourceEdits) > 0:
		s.Stage, s.Rule = trajectory.Implementation, CleanShellSource
	case kinds.Any(shell.Test):
		s.Stage, s.Rule = trajectory.Verification, CleanShellTest
	case kinds.Any(shell.Run, shell.Code, shell.Write, shell.Lint, shell.GitDiff):
		s.Stage, s.Rule = w.late(), CleanShellExecute
	case kinds.Any(shell.Read) && w.views(s.Actions):
		s.Stage, s.Rule = trajectory.Verification, CleanShellReadEdited
	case kinds.Any(shell.Read, shell.Search, shell.Find, shell.List, shell.GitLog, shell.Info):
		s.Stage, s.Rule = trajectory.Exploration, CleanShellInspect
	case kinds.Any(shell.FS, shell.GitRestore, shell.Install):
		s.Stage, s.Rule = trajectory.Orchestration, CleanShellHousekeep
	case kinds.Any(shell.Other):
		s.Stage, s.Rule = w.late(), CleanShellOther
	default:
		s.Stage, s.Rule = trajectory.Orchestration, CleanShellNothing
	}
}

// views reports whether the actions read a file that was edited before.
func (w *cleanWalk) views(actions []shell.Action) bool {
	for _, p := range shell.Viewed(actions) {
		if w.edited[p] {
			return true
		}
	}
	return false
}

// actions of a step that runs a command or code.
func (w *cleanWalk) actions(s *trajectory.State) []shell.Action {
	if c := s.Command(); c != "" {
		return w.shell.Parse(c).Actions
	}
	if hasCode(s) {
		return []shell.Action{{Kind: shell.Code}}
	}
	return []shell.Action{{Kind: shell.Other}}
}

// hasCode reports whether the call has a code argument other than null.
func hasCode(s *trajectory.State) bool {
	if s.Log == nil || s.Log.Args.Has&trajectory.HasCode == 0 {
		return false
	}
	if s.Log.Args.Code != "" {
		return true
	}
	var raw struct {
		Code jsontext.Value `json:"code"`
	}
	err := json.Unmarshal([]byte(s.Log.Args.Raw), &raw, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	return err != nil || raw.Code.Kind() != 'n'
}
