package openhandsv1

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/loose"
)

// event is one event of a run. What its kind does not have is empty.
type event struct {
	Kind        loose.Text
	ID          loose.Ident
	Timestamp   loose.Text
	Source      loose.Text
	Parent      loose.Ident
	Thought     loose.Content
	Reasoning   loose.Text
	Action      loose.Object
	ToolName    loose.Text
	ToolCallID  loose.Ident
	ToolCall    loose.Of[toolCall]
	ResponseID  loose.Ident
	Observation loose.Of[observation]
	ActionID    loose.Ident
	Error       loose.Text
	Rejection   loose.Text
	Message     loose.Of[message]
	Key         loose.Text
	Value       *value // nil for none
	Code        loose.Text
}

type toolCall struct {
	Name      loose.Text `json:"name"`
	Arguments loose.Text `json:"arguments"`
	Function  loose.Of[struct {
		Name      loose.Text `json:"name"`
		Arguments loose.Text `json:"arguments"`
	}] `json:"function"`
}

type message struct {
	Content loose.Content `json:"content"`
}

// UnmarshalJSONFrom reads an event; of anything but an object nothing.
func (e *event) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*e = event{}
	return loose.Members(dec, func(name []byte) error {
		switch string(name) {
		case "kind":
			return e.Kind.UnmarshalJSONFrom(dec)
		case "id":
			return e.ID.UnmarshalJSONFrom(dec)
		case "timestamp":
			return e.Timestamp.UnmarshalJSONFrom(dec)
		case "source":
			return e.Source.UnmarshalJSONFrom(dec)
		case "parent_id":
			return e.Parent.UnmarshalJSONFrom(dec)
		case "thought":
			return e.Thought.UnmarshalJSONFrom(dec)
		case "reasoning_content":
			return e.Reasoning.UnmarshalJSONFrom(dec)
		case "action":
			return e.Action.UnmarshalJSONFrom(dec)
		case "tool_name":
			return e.ToolName.UnmarshalJSONFrom(dec)
		case "tool_call_id":
			return e.ToolCallID.UnmarshalJSONFrom(dec)
		case "tool_call":
			return e.ToolCall.UnmarshalJSONFrom(dec)
		case "llm_response_id":
			return e.ResponseID.UnmarshalJSONFrom(dec)
		case "observation":
			return e.Observation.UnmarshalJSONFrom(dec)
		case "action_id":
			return e.ActionID.UnmarshalJSONFrom(dec)
		case "error":
			return e.Error.UnmarshalJSONFrom(dec)
		case "rejection_reason":
			return e.Rejection.UnmarshalJSONFrom(dec)
		case "llm_message":
			return e.Message.UnmarshalJSONFrom(dec)
		case "key":
			return e.Key.UnmarshalJSONFrom(dec)
		case "value":
			e.Value = new(value)
			return e.Value.UnmarshalJSONFrom(dec)
		case "code":
			return e.Code.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

// arguments returns the text of the arguments as the model wrote them.
func (e *event) arguments() string {
	if call := &e.ToolCall.V; call.Arguments != "" {
		return string(call.Arguments)
	}
	return string(e.ToolCall.V.Function.V.Arguments)
}

type observation struct {
	Content  loose.Content
	Output   loose.Text // of 2025
	Message  loose.Text
	Error    problem // of 2025
	IsError  loose.Flag
	ExitCode loose.Int
	Metadata loose.Of[struct {
		ExitCode loose.Int `json:"exit_code"`
	}]
}

// UnmarshalJSONFrom reads the observation.
func (o *observation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = observation{}
	return loose.Members(dec, func(name []byte) error {
		switch string(name) {
		case "content":
			return o.Content.UnmarshalJSONFrom(dec)
		case "output":
			return o.Output.UnmarshalJSONFrom(dec)
		case "message":
			return o.Message.UnmarshalJSONFrom(dec)
		case "error":
			return o.Error.UnmarshalJSONFrom(dec)
		case "is_error":
			return o.IsError.UnmarshalJSONFrom(dec)
		case "exit_code":
			return o.ExitCode.UnmarshalJSONFrom(dec)
		case "metadata":
			return o.Metadata.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

// text returns what the tool said.
func (o *observation) text() string {
	said := string(o.Output)
	if o.Content.Valid {
		said = o.Content.Text
	}
	switch {
	case said == "":
		return o.Error.text
	case o.Error.text == "":
		return said
	}
	return said + "\n" + o.Error.text
}

// problem is an error's text, or a flag.
type problem struct {
	text   string
	failed bool
}

func (p *problem) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = problem{}
	if dec.PeekKind() == 't' {
		p.failed = true
		return dec.SkipValue()
	}
	err := (*loose.Text)(&p.text).UnmarshalJSONFrom(dec)
	p.failed = p.text != ""
	return err
}

// value is what a state update sets: a text, or a part of the state.
type value struct {
	text  loose.Text
	state state
}

func (v *value) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*v = value{}
	if dec.PeekKind() == '{' {
		return json.UnmarshalDecode(dec, &v.state)
	}
	return v.text.UnmarshalJSONFrom(dec)
}

// state is a base_state.json, or a part of one.
type state struct {
	ID    loose.Text `json:"id"`
	Agent loose.Of[struct {
		LLM loose.Of[struct {
			Model loose.Text `json:"model"`
		}] `json:"llm"`
	}] `json:"agent"`
	AgentStatus     loose.Text      `json:"agent_status"`
	ExecutionStatus loose.Text      `json:"execution_status"`
	Stats           loose.Of[stats] `json:"stats"`
	stats                           // a state update has them without the name
}

type stats struct {
	ByUsage   loose.Object `json:"usage_to_metrics"`
	ByService loose.Object `json:"service_to_metrics"`
}

type metrics struct {
	Model  loose.Text `json:"model_name"`
	Usages loose.List[struct {
		Response   loose.Ident `json:"response_id"`
		Prompt     loose.Int   `json:"prompt_tokens"`
		Completion loose.Int   `json:"completion_tokens"`
		CacheRead  loose.Int   `json:"cache_read_tokens"`
	}] `json:"token_usages"`
}
