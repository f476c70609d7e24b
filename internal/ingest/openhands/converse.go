package openhands

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Codes of warnings, each with what was met and how often.
const (
	warnUnmapped = "unmapped_action"    // an action no tool is known for; no step
	warnSkipped  = "skipped_action"     // work the step model leaves out, such as browsing
	warnForeign  = "not_by_agent"       // work of the user or the harness; no step
	warnAlone    = "no_observation"     // a step without an observation
	warnStray    = "stray_observation"  // an observation without an action, with its text
	warnSurplus  = "second_observation" // a further observation of one action, with its text
	agent        = "OpenHands"
	maxTaskRunes = 2000
	maxStray     = 2000 // code points of an observation that no action takes
	maxStrays    = 100  // whose texts are kept
	maxParallel  = 64   // calls of one response that an observation without a cause may answer
)

// conversation is what a history says.
type conversation struct {
	calls         []states.Call
	condensations int64
	task          string // text of the first message of the user
	model         string // of the first model response
	version       string // of the agent
	agentClass    string
	finished      bool
	closing       string // what the finish action said
	agentState    string // the last one

	strays  int // observations that no action takes
	ledger  trajectory.Ledger
	dropped map[[2]string]int // by warning code and type
	sum     hash.Hash         // of all events
	scratch []byte            // of digestEvent
}

// turn is an action and its observation.
type turn struct {
	action      *event
	observation *event
}

// converse reads the events of a run.
func converse(history []entry) *conversation {
	c := &conversation{dropped: map[[2]string]int{}, sum: sha256.New()}
	counted := map[string]bool{}
	turns := c.turns(history)
	c.calls = make([]states.Call, 0, len(turns))
	for _, t := range turns {
		c.take(t, counted)
	}
	return c
}

// turns pairs actions with observations, in the order of the actions.
func (c *conversation) turns(history []entry) []turn {
	var turns []turn
	for i := range history {
		for j := range history[i].events {
			if e := &history[i].events[j]; e.isAction() {
				turns = append(turns, turn{action: e})
			}
		}
	}
	var pairs session.Pairing
	var early []*event // observations that stand before their action
	for i := range history {
		before := pairs.Len()
		for j := range history[i].events {
			e := &history[i].events[j]
			c.digestEvent(e)
			if e.isAction() {
				pairs.Call(string(e.ID))
				continue
			}
			c.noteState(e)
			if e.isEmpty() {
				continue
			}
			seen := pairs.Len()
			switch {
			case history[i].pair && seen > before:
				c.answer(turns, seen-1, e)
				pairs.Done(seen - 1)
			case e.Cause == "":
				at := waiting(turns[:seen], e)
				c.answer(turns, at, e)
				if at >= 0 {
					pairs.Done(at)
				}
			default:
				switch at, known := pairs.Answer(string(e.Cause)); {
				case at >= 0:
					c.answer(turns, at, e)
				case known:
					c.stray(warnSurplus, e)
				default:
					early = append(early, e)
				}
			}
		}
	}
	for _, e := range early {
		at, _ := pairs.Answer(string(e.Cause))
		c.answer(turns, at, e)
	}
	return turns
}

// answer gives a turn its observation; at is -1 when no turn is known.
func (c *conversation) answer(turns []turn, at int, e *event) {
	switch {
	case at < 0:
		c.stray(warnStray, e)
	case turns[at].observation != nil:
		c.stray(warnSurplus, e)
	default:
		turns[at].observation = e
	}
}

// stray keeps an observation that no action takes as a warning with its text.
func (c *conversation) stray(code string, e *event) {
	what := string(e.Observation)
	c.ledger.Answers.Skip("no action waits for it", 1)
	if c.strays++; c.strays <= maxStrays {
		what += ": " + session.Cut(strings.TrimSpace(string(e.Content)), maxStray)
	}
	c.drop(code, what)
}

// isEmpty reports whether an event is no action and says nothing about one.
func (e *event) isEmpty() bool {
	switch e.Observation {
	case "", "null", "agent_state_changed", "recall", "condense", "loop_detection":
		return true
	}
	return false
}

// waiting returns the turn that an observation without a cause answers: the first of the
// last turns without an observation that it fits, -1 for none.
func waiting(turns []turn, e *event) int {
	found := -1
	for i := len(turns) - 1; i >= max(0, len(turns)-maxParallel) && turns[i].observation == nil && kindOf(turns[i].action) == work; i-- {
		switch e.Observation {
		case turns[i].action.Action, "error", "user_rejected":
			found = i
		}
	}
	return found
}

// noteState keeps what a control event says about the run.
func (c *conversation) noteState(e *event) {
	if state := e.Extras.V.AgentState; state != "" {
		c.agentState = string(state)
	}
}

// take adds the step of a turn, or notes what its action says.
func (c *conversation) take(t turn, counted map[string]bool) {
	e := t.action
	name := string(e.Action)
	if c.model == "" {
		c.model = string(e.ToolCall.V.Response.V.Model)
	}
	if kind := kindOf(e); kind != work {
		c.note(e, kind)
		return
	}
	if e.Source == "user" || e.Source == "environment" {
		c.ledger.Calls.Skip("not by the agent", 1)
		c.drop(warnForeign, name)
		return
	}
	if t.observation == nil {
		c.drop(warnAlone, name)
	} else {
		c.ledger.Answers.Read++
	}
	call := newCall(t)
	response := &e.ToolCall.V.Response.V
	call.ResponseGroup = string(response.ID)
	call.Model = string(response.Model)
	if call.ResponseGroup == "" || !counted[call.ResponseGroup] {
		usage := &response.Usage.V
		call.InputTokens = usage.Prompt.Int
		call.OutputTokens = usage.Completion.Int
		call.CachedTokens = usage.Details.V.Cached.Int
		if call.Thought == "" {
			call.Thought = e.ToolCall.V.says()
		}
		counted[call.ResponseGroup] = true
	}
	c.calls = append(c.calls, call)
}

// note keeps what an action that is no step says about the run.
func (c *conversation) note(e *event, kind actionKind) {
	switch e.Action {
	case "system":
		c.version = e.Args.Text("openhands_version")
		c.agentClass = e.Args.Text("agent_class")
	case "message":
		if c.task == "" && (e.Source == "user" || e.Source == "") {
			c.task = e.Args.Text("content")
		}
	case "finish":
		c.ledger.Calls.Skip("ends the run", 1)
		c.finished = true
		c.closing = cmp.Or(e.Args.Text("final_thought"), e.Args.Text("message"), e.Args.Text("thought"))
	case "condensation":
		c.condensations++
	}
	switch kind {
	case leftOut:
		c.ledger.Calls.Skip("left out by the table of tools", 1)
		c.drop(warnSkipped, string(e.Action))
	case unknownAction:
		c.ledger.Calls.Skip("unknown action", 1)
		c.drop(warnUnmapped, string(e.Action))
	}
}

func (c *conversation) drop(code, what string) { c.dropped[[2]string{code, what}]++ }

func (c *conversation) warnings() []trajectory.Warning {
	var out []trajectory.Warning
	for key, n := range c.dropped {
		out = append(out, trajectory.Warning{Code: key[0], Detail: fmt.Sprintf("%d x %s", n, key[1])})
	}
	slices.SortFunc(out, func(a, b trajectory.Warning) int {
		return strings.Compare(a.Code+"\x00"+a.Detail, b.Code+"\x00"+b.Detail)
	})
	return out
}

// trajectory returns the run without its identity.
func (c *conversation) trajectory(id, version string) *trajectory.Trajectory {
	t := &trajectory.Trajectory{
		Agent:           agentName(c.agentClass),
		Version:         c.version,
		Format:          id,
		FormatVersion:   version,
		ExitStatus:      c.agentState,
		TaskDescription: describe(c.task),
		Prompt:          c.task,
		Closing:         c.closing,
		Workspace:       states.Workspace(c.calls),
		Condensations:   c.condensations,
		Warnings:        c.warnings(),
	}
	if t.ExitStatus == "" && c.finished {
		t.ExitStatus = "finish"
	}
	c.ledger.Calls.Read = int64(len(c.calls))
	t.Ledger = &c.ledger
	t.States, t.Transitions = states.Build(c.calls)
	return t
}

func agentName(class string) string {
	if class == "" {
		return agent
	}
	return agent + "/" + class
}

// digestEvent adds an event to the digest that tells runs apart.
func (c *conversation) digestEvent(e *event) {
	b := c.scratch[:0]
	for _, part := range [...]string{string(e.ID), string(e.Timestamp), string(e.Action), string(e.Observation), string(e.Content)} {
		b = append(b, part...)
		b = append(b, 0)
	}
	for _, m := range e.Args {
		b = append(b, m.Value...)
		b = append(b, 0)
	}
	c.sum.Write(b)
	c.scratch = b
}

// digest returns 12 hex digits that follow from the events.
func (c *conversation) digest() string { return hex.EncodeToString(c.sum.Sum(nil))[:12] }
