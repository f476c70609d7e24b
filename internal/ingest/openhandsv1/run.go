package openhandsv1

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Codes of warnings beside those of package session.
const (
	warnEvent    = "unmapped_event"      // an event of a kind nobody knows, or of work without a known shape
	warnSkipped  = "skipped_event"       // an event that says nothing about the run
	warnMissing  = "missing_event"       // a number without an event
	warnBad      = "bad_event"           // an event that is no JSON, dropped
	warnBranch   = "other_branch"        // an event of a branch that was given up
	warnRoot     = "temporary_root"      // a random folder that is written /testbed
	warnAttempts = "superseded_attempts" // earlier attempts at the same instance
)

const (
	agent     = "OpenHands"
	testbed   = "/testbed"
	family    = "openhands-v1"
	noParent  = "__root__"
	condenser = "condenser"
)

// temporary is a repository in a folder that Python's tempfile named.
var temporary = regexp.MustCompile(`/tmp/tmp[a-z0-9_]{8}/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*`)

// conversation collects the events of a run.
type conversation struct {
	session.Run
	id    string // of the conversation, hex digits
	usage map[lenientjson.Ident]usage
	shape string // the tools tell the version: before or after they got their new names
}

type usage struct{ input, output, cached trajectory.Int }

func (r reader) conversation() *conversation {
	return &conversation{
		Run:   session.Run{Tools: r.table, Family: family, Agent: agent},
		usage: map[lenientjson.Ident]usage{},
		shape: "events",
	}
}

// note takes what a state says about the run. A later one counts more.
func (c *conversation) note(s *state) {
	if id := plainID(string(s.ID)); id != "" {
		c.id = id
	}
	if s.Agent.V.LLM.V.Model != "" {
		c.Model = string(s.Agent.V.LLM.V.Model)
	}
	if status := cmp.Or(string(s.ExecutionStatus), string(s.AgentStatus)); status != "" {
		c.ExitStatus = status
	}
	for _, list := range [...]lenientjson.Object{s.Stats.V.ByUsage, s.Stats.V.ByService, s.ByUsage, s.ByService} {
		for _, member := range list {
			var m lenientjson.Of[metrics]
			// The value was read already, so it is JSON.
			_ = format.Decode(member.Value, &m)
			if c.Model == "" && member.Name != condenser {
				c.Model = string(m.V.Model)
			}
			for _, u := range m.V.Usages {
				if u.Response != "" {
					c.usage[u.Response] = usage{u.Prompt.Int, u.Completion.Int, u.CacheRead.Int}
				}
			}
		}
	}
}

// converse reads the events of a run, in order.
func (c *conversation) converse(events []event) {
	events = c.branch(events)
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case "ConversationStateUpdateEvent":
			if e.Value == nil {
				continue
			}
			c.note(&e.Value.state)
			if e.Value.text != "" && (e.Key == "execution_status" || e.Key == "agent_status") {
				c.ExitStatus = string(e.Value.text)
			}
		case "MessageEvent":
			if e.Source == "user" && c.Description == "" {
				c.Description = e.Message.V.Content.Text
			}
		}
	}
	root := temporary.FindString(c.Description)
	if root != "" {
		c.Warn(warnRoot, root)
	}
	c.Description = session.Between(c.Description, "<issue_description>", "</issue_description>")
	counted := map[lenientjson.Ident]bool{}
	actions := 0
	for i := range events {
		if events[i].Kind == "ActionEvent" {
			actions++
		}
	}
	c.Calls = slices.Grow(c.Calls, actions)
	for i := range events {
		if e := &events[i]; e.Kind == "ActionEvent" {
			c.Calls = append(c.Calls, c.call(e, root, counted))
		}
	}
	c.answers(events, root)
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case "Condensation":
			c.Condensations++
		case "ConversationErrorEvent":
			if e.Code != "" {
				c.ExitStatus = string(e.Code)
			}
		case "HookExecutionEvent", "LLMCompletionLogEvent", "StreamingDeltaEvent", "TokenEvent", "PauseEvent", "InterruptEvent":
			c.Warn(warnSkipped, string(e.Kind))
		case "ObservationEvent", "UserRejectObservation", "AgentErrorEvent":
		case "ActionEvent", "MessageEvent", "SystemPromptEvent", "ConversationStateUpdateEvent", "CondensationRequest", "CondensationSummaryEvent":
		default:
			c.Warn(warnEvent, string(e.Kind))
		}
	}
}

// answers gives the calls what events say about them: by the id of the action's event, else by
// that of its tool call.
func (c *conversation) answers(events []event, root string) {
	var byEvent, byCall session.Pairing
	find := func(e *event) (n int, known bool) {
		n = -1
		if e.ActionID != "" {
			if n, known = byEvent.Answer(string(e.ActionID)); n >= 0 {
				byCall.Done(n)
			}
		}
		if !known && e.ToolCallID != "" {
			if n, known = byCall.Answer(string(e.ToolCallID)); n >= 0 {
				byEvent.Done(n)
			}
		}
		return n, known
	}
	var early []*event // answers that stand before their call
	for i := range events {
		switch e := &events[i]; e.Kind {
		case "ActionEvent":
			byEvent.Call(string(e.ID))
			byCall.Call(string(e.ToolCallID))
		case "ObservationEvent", "UserRejectObservation", "AgentErrorEvent":
			switch n, known := find(e); {
			case n >= 0:
				answer(&c.Calls[n], e, root)
			case known:
				c.Stray(session.WarnSurplus, string(e.ToolName), e.says())
			default:
				early = append(early, e)
			}
		}
	}
	for _, e := range early {
		if n, _ := find(e); n >= 0 {
			answer(&c.Calls[n], e, root)
		} else {
			c.Stray(session.WarnStray, string(e.ToolName), e.says())
		}
	}
}

// says returns the text of an answer.
func (e *event) says() string {
	return cmp.Or(string(e.Error), string(e.Rejection), e.Observation.V.text())
}

// call returns the call of an action. Its response's tokens go to the first of its calls.
func (c *conversation) call(e *event, root string, counted map[lenientjson.Ident]bool) session.Call {
	call := session.Call{
		ID:        string(e.ID),
		Tool:      cmp.Or(string(e.ToolName), string(e.ToolCall.V.Name), string(e.ToolCall.V.Function.V.Name)),
		Thought:   strings.TrimSpace(e.Thought.Text),
		Model:     c.Model,
		Timestamp: string(e.Timestamp),
		Group:     string(e.ResponseID),
	}
	switch call.Tool {
	case "execute_bash", "str_replace_editor":
		c.shape = "events before 1.3"
	case "terminal", "file_editor":
		c.shape = "events from 1.3"
	}
	if call.Thought == "" {
		call.Thought = strings.TrimSpace(string(e.Reasoning))
	}
	switch args, ok := lenientjson.Parse(e.arguments()); {
	case e.Action != nil:
		call.Args = slices.DeleteFunc(e.Action, func(m lenientjson.Member) bool { return m.Name == "kind" })
	case ok:
		call.Args, call.Failed = args, trajectory.Some(1)
	default:
		call.RawArgs, call.Failed = e.arguments(), trajectory.Some(1)
	}
	if root != "" {
		for i := range call.Args {
			call.Args[i].Value = bytes.ReplaceAll(call.Args[i].Value, []byte(root), []byte(testbed))
		}
	}
	if e.ResponseID != "" && !counted[e.ResponseID] && c.Gives(&call) {
		counted[e.ResponseID] = true
		u := c.usage[e.ResponseID]
		call.InputTokens, call.OutputTokens, call.CachedTokens = u.input, u.output, u.cached
	}
	return call
}

// answer gives a call its observation, an error of the agent, or a rejection.
func answer(call *session.Call, e *event, root string) {
	call.Answered = true
	o := &e.Observation.V
	switch e.Kind {
	case "AgentErrorEvent":
		call.Response, call.Failed = string(e.Error), trajectory.Some(1)
	case "UserRejectObservation":
		call.Response, call.Failed = string(e.Rejection), trajectory.Some(1)
	default:
		call.Response = o.text()
		if code := firstInt(o.ExitCode.Int, o.Metadata.V.ExitCode.Int); code.Valid && code.Value != -1 {
			call.ExitCode = code
		}
		switch {
		case o.Error.failed || o.IsError.Is():
			call.Failed = trajectory.Some(1)
		case o.IsError.Valid && !call.Failed.Valid && e.ToolName != "terminal":
			call.Failed = trajectory.Some(0)
		}
	}
	if root != "" {
		call.Response = strings.ReplaceAll(call.Response, root, testbed)
	}
}

// branch returns the events on the way from the first to the last one, when events name
// their parents. What stands before a parent that is missing is kept.
func (c *conversation) branch(events []event) []event {
	at := map[lenientjson.Ident]int{}
	last := -1
	for i := range events {
		at[events[i].ID] = i
		if events[i].Parent != "" {
			last = i
		}
	}
	if last < 0 {
		return events
	}
	on := make([]bool, len(events))
	reached := 0
	for i := last; !on[i]; {
		on[i] = true
		parent, known := at[events[i].Parent]
		if !known {
			if events[i].Parent != noParent {
				reached = i
			}
			break
		}
		i = parent
	}
	kept := make([]event, 0, len(events))
	for i := range events {
		if on[i] || i < reached || events[i].Parent == "" {
			kept = append(kept, events[i])
		} else {
			c.Warn(warnBranch, string(events[i].Kind))
		}
	}
	return kept
}

// trajectory returns the run.
func (c *conversation) trajectory(id string) *trajectory.Trajectory {
	if c.id != "" && c.ID == "" {
		c.ID = strings.Trim(c.Task+"-"+c.id, "-")
	}
	return c.Trajectory(id, c.shape)
}

// plainID returns the hex digits of an id of a conversation, "" when it is none.
func plainID(id string) string {
	id = strings.ReplaceAll(strings.ToLower(id), "-", "")
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

func firstInt(a, b trajectory.Int) trajectory.Int {
	if a.Valid {
		return a
	}
	return b
}
