package openhandsv1

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// event is one event of a run. What its kind does not have is empty.
type event struct {
	Kind        lenientjson.Text
	ID          lenientjson.Ident
	Timestamp   lenientjson.Text
	Source      lenientjson.Text
	Parent      lenientjson.Ident
	Thought     lenientjson.Content
	Reasoning   lenientjson.Text
	Action      lenientjson.Object
	ToolName    lenientjson.Text
	ToolCallID  lenientjson.Ident
	ToolCall    lenientjson.Of[toolCall]
	ResponseID  lenientjson.Ident
	Observation lenientjson.Of[observation]
	ActionID    lenientjson.Ident
	Error       lenientjson.Text
	Rejection   lenientjson.Text
	Message     lenientjson.Of[message]
	Key         lenientjson.Text
	Value       *value // nil for none
	Code        lenientjson.Text
}

type toolCall struct {
	Name      lenientjson.Text `json:"name"`
	Arguments lenientjson.Text `json:"arguments"`
	Function  lenientjson.Of[struct {
		Name      lenientjson.Text `json:"name"`
		Arguments lenientjson.Text `json:"arguments"`
	}] `json:"function"`
}

type message struct {
	Content lenientjson.Content `json:"content"`
}

// UnmarshalJSONFrom reads an event; of anything but an object nothing.
func (e *event) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*e = event{}
	return lenientjson.Members(dec, func(name []byte) error {
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
	Content  lenientjson.Content
	Output   lenientjson.Text // of 2025
	Message  lenientjson.Text
	Error    problem // of 2025
	IsError  lenientjson.Flag
	ExitCode lenientjson.Int
	Metadata lenientjson.Of[struct {
		ExitCode lenientjson.Int `json:"exit_code"`
	}]
}

// UnmarshalJSONFrom reads the observation.
func (o *observation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = observation{}
	return lenientjson.Members(dec, func(name []byte) error {
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
	err := (*lenientjson.Text)(&p.text).UnmarshalJSONFrom(dec)
	p.failed = p.text != ""
	return err
}

// value is what a state update sets: a text, or a part of the state.
type value struct {
	text  lenientjson.Text
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
	ID    lenientjson.Text `json:"id"`
	Agent lenientjson.Of[struct {
		LLM lenientjson.Of[struct {
			Model lenientjson.Text `json:"model"`
		}] `json:"llm"`
	}] `json:"agent"`
	AgentStatus     lenientjson.Text      `json:"agent_status"`
	ExecutionStatus lenientjson.Text      `json:"execution_status"`
	Stats           lenientjson.Of[stats] `json:"stats"`
	stats                                 // a state update has them without the name
}

type stats struct {
	ByUsage   lenientjson.Object `json:"usage_to_metrics"`
	ByService lenientjson.Object `json:"service_to_metrics"`
}

type metrics struct {
	Model  lenientjson.Text `json:"model_name"`
	Usages lenientjson.List[struct {
		Response   lenientjson.Ident `json:"response_id"`
		Prompt     lenientjson.Int   `json:"prompt_tokens"`
		Completion lenientjson.Int   `json:"completion_tokens"`
		CacheRead  lenientjson.Int   `json:"cache_read_tokens"`
	}] `json:"token_usages"`
}
