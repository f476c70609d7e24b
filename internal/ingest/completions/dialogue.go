package completions

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/ingest/xmlcall"
)

// Codes of warnings beside those of package session.
const (
	warnLast   = "unanswered_response" // a call of the last response; no step
	warnOthers = "other_model_calls"   // model calls that are not of the dialogue
)

const (
	family = "messages"

	// executed begins the answer to a call that stood in the text of a message.
	executed = "EXECUTION RESULT of ["
)

// message is a message of the dialogue, or of a response.
type message struct {
	Role       lenientjson.Text    `json:"role"`
	Content    lenientjson.Content `json:"content"`
	ToolCallID lenientjson.Ident   `json:"tool_call_id"`
	ToolCalls  lenientjson.List[struct {
		ID       lenientjson.Ident `json:"id"`
		Function lenientjson.Of[struct {
			Name      lenientjson.Text `json:"name"`
			Arguments lenientjson.Text `json:"arguments"`
		}] `json:"function"`
	}] `json:"tool_calls"`
}

// dialogue is the plan of a run.
type dialogue struct {
	reader
	call   call           // the last one
	byID   map[string]int // tool calls to what their response cost
	tokens []tokens
	others int // calls of other models
}

// read reads the record of the last call.
func (d dialogue) read(records []format.Record) ([]format.Item, error) {
	var log struct {
		Messages lenientjson.List[message] `json:"messages"`
		Response lenientjson.Of[response]  `json:"response"`

		// What a model without tool calls was asked in their place.
		WithCalls lenientjson.List[message] `json:"fncall_messages"`
		Answer    lenientjson.Of[response]  `json:"fncall_response"`
	}
	if err := format.Decode(records[0].Data, &log); err != nil {
		return nil, err
	}
	if len(log.WithCalls) > 0 {
		log.Messages, log.Response = log.WithCalls, log.Answer
	}
	run := session.Run{
		Tools: d.table, Family: family, Agent: "OpenHands/CodeActAgent",
		Task: d.call.task, Model: d.call.model,
	}
	run.WarnN(warnOthers, "model call beside the dialogue", d.others)
	counted := make([]bool, len(d.tokens))
	var waiting []string // calls in the text of the last message
	for i := range log.Messages {
		switch m := &log.Messages[i]; m.Role {
		case "user":
			switch header, text, ok := strings.Cut(m.Content.Text, "\n"); {
			case ok && strings.HasPrefix(header, executed) && len(waiting) > 0:
				run.Answer(waiting[0], text)
				waiting = waiting[1:]
			case run.Description == "":
				run.Description = m.Content.Text
			}
		case "assistant":
			waiting = d.calls(&run, m, i, counted)
		case "tool":
			run.Answer(string(m.ToolCallID), m.Content.Text)
		}
	}
	run.Description = session.Between(run.Description, "<pr_description>", "</pr_description>")
	for _, choice := range log.Response.V.Choices {
		for _, made := range choice.Message.V.ToolCalls {
			name := string(made.Function.V.Name)
			if tool, _ := d.table.Lookup(family, name, nil); tool.Canonical == tools.Finish {
				run.Finished = true
			} else {
				run.Warn(warnLast, name)
			}
		}
	}
	return []format.Item{{Trajectory: run.Trajectory(ID, "")}}, nil
}

// calls adds the calls of a message, and returns the ids of those in its text. What the
// response cost and said goes to its first call.
func (d dialogue) calls(run *session.Run, m *message, number int, counted []bool) (inText []string) {
	run.Turn()
	group, said := "message "+strconv.Itoa(number), false
	add := func(c session.Call, thought string) {
		c.Model, c.Group = d.call.model, group
		if run.Gives(&c) && !said {
			said = true
			c.Thought = strings.TrimSpace(thought)
		}
		if at, known := d.byID[c.ID]; known && !counted[at] && run.Gives(&c) {
			counted[at] = true
			c.InputTokens, c.OutputTokens, c.CachedTokens = d.tokens[at].input, d.tokens[at].output, d.tokens[at].cached
		}
		run.Calls = append(run.Calls, c)
	}
	for _, made := range m.ToolCalls {
		c := session.Call{ID: string(made.ID), Tool: string(made.Function.V.Name)}
		text := string(made.Function.V.Arguments)
		if args, ok := lenientjson.Parse(text); ok {
			c.Args = args
		} else {
			c.RawArgs = text
		}
		add(c, m.Content.Text)
	}
	if len(m.ToolCalls) > 0 {
		return nil
	}
	thought, calls := xmlcall.Parse(m.Content.Text)
	for i, made := range calls {
		id := fmt.Sprintf("%s, call %d", group, i)
		add(session.Call{ID: id, Tool: made.Name, Args: made.Args}, thought)
		inText = append(inText, id)
	}
	return inText
}

// seconds is a time in seconds, 0 for none.
type seconds float64

func (s *seconds) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*s = 0
	value, err := dec.ReadValue()
	if err != nil || value.Kind() != '0' && value.Kind() != '"' {
		return err
	}
	if n, err := strconv.ParseFloat(strings.Trim(string(value), `"`), 64); err == nil {
		*s = seconds(n)
	}
	return nil
}
