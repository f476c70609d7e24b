package openhandsv1

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/loose"
)

// event is one event of a run. What its kind does not have is empty.
type event struct {
	Kind       loose.Text    `json:"kind"`
	ID         loose.Ident   `json:"id"`
	Timestamp  loose.Text    `json:"timestamp"`
	Source     loose.Text    `json:"source"`
	Parent     loose.Ident   `json:"parent_id"`
	Thought    loose.Content `json:"thought"`
	Reasoning  loose.Text    `json:"reasoning_content"`
	Action     loose.Object  `json:"action"`
	ToolName   loose.Text    `json:"tool_name"`
	ToolCallID loose.Ident   `json:"tool_call_id"`
	ToolCall   loose.Of[struct {
		Name      loose.Text `json:"name"`
		Arguments loose.Text `json:"arguments"`
		Function  loose.Of[struct {
			Name      loose.Text `json:"name"`
			Arguments loose.Text `json:"arguments"`
		}] `json:"function"`
	}] `json:"tool_call"`
	ResponseID  loose.Ident           `json:"llm_response_id"`
	Observation loose.Of[observation] `json:"observation"`
	ActionID    loose.Ident           `json:"action_id"`
	Error       loose.Text            `json:"error"`
	Rejection   loose.Text            `json:"rejection_reason"`
	Message     loose.Of[struct {
		Content loose.Content `json:"content"`
	}] `json:"llm_message"`
	Key   loose.Text `json:"key"`
	Value value      `json:"value"`
	Code  loose.Text `json:"code"`
}

// arguments returns the text of the arguments as the model wrote them.
func (e *event) arguments() string {
	if call := &e.ToolCall.V; call.Arguments != "" {
		return string(call.Arguments)
	}
	return string(e.ToolCall.V.Function.V.Arguments)
}

type observation struct {
	Content  loose.Content `json:"content"`
	Output   loose.Text    `json:"output"` // of 2025
	Message  loose.Text    `json:"message"`
	Error    problem       `json:"error"` // of 2025
	IsError  loose.Flag    `json:"is_error"`
	ExitCode loose.Int     `json:"exit_code"`
	Metadata loose.Of[struct {
		ExitCode loose.Int `json:"exit_code"`
	}] `json:"metadata"`
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
