package stage

import (
	"strings"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Rules of the release labeler, as stored beside each label.
const (
	RuleInitial       = "initial"                // no label
	RuleLLMResponse   = "llm_response"           // O
	RuleSearchTool    = "search_tool"            // E
	RuleValidation    = "validation_tool"        // V
	RuleOrchestration = "orchestration_tool"     // O
	RuleEditTest      = "edit_test_file"         // V after an edit, else E
	RuleEditSummary   = "edit_summary_file"      // O
	RuleEdit          = "edit_file"              // I
	RuleReadTest      = "read_test_file"         // V after an edit, else E
	RuleReadEdited    = "read_edited_file"       // V
	RuleRead          = "read_file"              // E
	RuleTestCommand   = "test_command"           // V
	RuleCleanup       = "cleanup_command"        // O
	RuleCodeWriting   = "code_writing_command"   // I
	RuleRunAfterEdit  = "run_command_after_edit" // V
	RuleGitReview     = "git_review_after_edit"  // V
	RuleInspection    = "inspection_command"     // E
	RuleCat           = "cat_command"            // E
	RuleNearEnd       = "command_near_end"       // V
	RuleOtherCommand  = "other_command"          // E
	RuleToolHint      = "tool_hint"              // the registry's stage
)

// nearEndFraction is where the last part of a run begins, in which a command that no other
// rule knows counts as verification.
const nearEndFraction = 0.8

// Release is the labeler of the authors' release.
type Release struct{}

// NewRelease returns the release's labeler.
func NewRelease() *Release { return &Release{} }

// Label returns the stage of each state of t.Ordered(), and the rule that decided it.
func (r *Release) Label(t *trajectory.Trajectory) (labels []trajectory.Stage, rules []string) {
	return r.LabelStates(t.Ordered())
}

// LabelStates labels states that are already in the order of their steps, such as the
// nodes of a merged graph. It neither reads nor writes State.Stage.
func (*Release) LabelStates(states []*trajectory.State) (labels []trajectory.Stage, rules []string) {
	labels = make([]trajectory.Stage, len(states))
	rules = make([]string, len(states))
	ctx := context{edited: make(map[string]bool)}
	for i, s := range states {
		ctx.nearEnd = float64(i) >= float64(float64(len(states))*nearEndFraction)
		labels[i], rules[i] = ctx.label(s)
	}
	return labels, rules
}

// context is what the labels of earlier states leave behind.
type context struct {
	implemented bool            // something was edited
	edited      map[string]bool // raw paths
	nearEnd     bool
}

// label labels one state and takes note of what it edited.
func (c *context) label(s *trajectory.State) (trajectory.Stage, string) {
	tool := trajectory.LookupTool(s.Tool)
	path := statePath(s)
	var command Command
	if tool.Exact && tool.Category == trajectory.Execute {
		command = ParseCommand(s.Command())
	}
	stage, rule := c.decide(s.ResultingState, tool, path, &command)
	switch {
	case tool.Category == trajectory.Edit && stage == trajectory.Implementation:
		c.implemented = true
		for piece := range strings.SplitSeq(path, ",") {
			if piece = strings.TrimSpace(piece); piece != "" {
				c.edited[piece] = true
			}
		}
	case command.IsCodeWriting():
		c.implemented = true
		if source := command.SourcePath(); source != "" {
			c.edited[source] = true
		}
	case !c.implemented:
		c.implemented = command.IsModifying()
	}
	return stage, rule
}

// decide applies the rules in order; the first that applies gives the label.
func (c *context) decide(result string, tool trajectory.Tool, path string, command *Command) (trajectory.Stage, string) {
	switch {
	case result == "" || result == "initial":
		return trajectory.NoStage, RuleInitial
	case strings.HasPrefix(result, "llm_response:"):
		return trajectory.Orchestration, RuleLLMResponse
	case !tool.Exact:
		return tool.Hint, RuleToolHint
	case tool.Category == trajectory.Search:
		return trajectory.Exploration, RuleSearchTool
	case tool.Category == trajectory.Validation:
		return trajectory.Verification, RuleValidation
	case !tool.Context && tool.Hint == trajectory.Orchestration:
		return trajectory.Orchestration, RuleOrchestration
	}
	switch tool.Category {
	case trajectory.Edit:
		return c.decideEdit(path)
	case trajectory.Read:
		return c.decideRead(path)
	case trajectory.Execute:
		return c.decideExecute(command)
	}
	return tool.Hint, RuleToolHint
}

func (c *context) decideEdit(path string) (trajectory.Stage, string) {
	switch {
	case IsTestFile(path):
		return c.verifyIfImplemented(), RuleEditTest
	case IsSummaryFile(path):
		return trajectory.Orchestration, RuleEditSummary
	}
	return trajectory.Implementation, RuleEdit
}

func (c *context) decideRead(path string) (trajectory.Stage, string) {
	switch {
	case IsTestFile(path):
		return c.verifyIfImplemented(), RuleReadTest
	case c.implemented && path != "" && c.edited[path]:
		return trajectory.Verification, RuleReadEdited
	}
	return trajectory.Exploration, RuleRead
}

func (c *context) decideExecute(command *Command) (trajectory.Stage, string) {
	switch {
	case command.IsTest():
		return trajectory.Verification, RuleTestCommand
	case command.IsCleanup():
		return trajectory.Orchestration, RuleCleanup
	case command.IsCodeWriting():
		return trajectory.Implementation, RuleCodeWriting
	case c.implemented && command.IsRun():
		return trajectory.Verification, RuleRunAfterEdit
	case c.implemented && command.IsGitReview():
		return trajectory.Verification, RuleGitReview
	case command.IsInspection():
		return trajectory.Exploration, RuleInspection
	case command.IsCat():
		return trajectory.Exploration, RuleCat
	case c.nearEnd:
		return trajectory.Verification, RuleNearEnd
	}
	return trajectory.Exploration, RuleOtherCommand
}

func (c *context) verifyIfImplemented() trajectory.Stage {
	if c.implemented {
		return trajectory.Verification
	}
	return trajectory.Exploration
}

// statePath is the path a state is judged by: its own, else that of its arguments.
func statePath(s *trajectory.State) string {
	switch {
	case s.FilePath != "":
		return s.FilePath
	case s.Log == nil:
		return ""
	case s.Log.Args.Has&trajectory.HasFilePath != 0:
		return s.Log.Args.FilePath
	}
	return s.Log.Args.Path
}
