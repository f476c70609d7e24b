package openhands

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/loose"
)

// entry is an element of a history: an event, or a pair of them.
type entry struct {
	events []event
	pair   bool
}

func (e *entry) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*e = entry{}
	switch dec.PeekKind() {
	case '[':
		e.pair = true
		return json.UnmarshalDecode(dec, &e.events)
	case '{':
		e.events = make([]event, 1)
		return e.events[0].UnmarshalJSONFrom(dec)
	}
	return dec.SkipValue()
}

// event is an action or an observation.
type event struct {
	ID          loose.Ident
	Cause       loose.Ident
	Timestamp   loose.Text
	Source      loose.Text
	Action      loose.Text
	Observation loose.Text
	Args        loose.Object
	Content     loose.Text
	Extras      loose.Of[extras]
	Success     loose.Flag
	ExitCode    loose.Int          // of a flattened observation
	ToolCall    loose.Of[toolCall] // of an action
}

// UnmarshalJSONFrom reads an event; of anything but an object nothing. The copy of the
// model response that an observation carries is passed over.
func (e *event) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*e = event{}
	return loose.Members(dec, func(name []byte) error {
		switch string(name) {
		case "id":
			return e.ID.UnmarshalJSONFrom(dec)
		case "cause":
			return e.Cause.UnmarshalJSONFrom(dec)
		case "timestamp":
			return e.Timestamp.UnmarshalJSONFrom(dec)
		case "source":
			return e.Source.UnmarshalJSONFrom(dec)
		case "action":
			return e.Action.UnmarshalJSONFrom(dec)
		case "observation":
			return e.Observation.UnmarshalJSONFrom(dec)
		case "args":
			return e.Args.UnmarshalJSONFrom(dec)
		case "content":
			return e.Content.UnmarshalJSONFrom(dec)
		case "extras":
			return e.Extras.UnmarshalJSONFrom(dec)
		case "success":
			return e.Success.UnmarshalJSONFrom(dec)
		case "exit_code":
			return e.ExitCode.UnmarshalJSONFrom(dec)
		case "tool_call_metadata":
			if e.Observation == "" {
				return e.ToolCall.UnmarshalJSONFrom(dec)
			}
		}
		return dec.SkipValue()
	})
}

type extras struct {
	Metadata loose.Of[struct {
		ExitCode loose.Int `json:"exit_code"`
	}] `json:"metadata"`
	ExitCode   loose.Int  `json:"exit_code"`
	AgentState loose.Text `json:"agent_state"`
}

type toolCall struct {
	FunctionName loose.Text `json:"function_name"`
	Response     loose.Of[struct {
		ID      loose.Text `json:"id"`
		Model   loose.Text `json:"model"`
		Choices loose.List[struct {
			Message loose.Of[struct {
				Content loose.Text `json:"content"`
			}] `json:"message"`
		}] `json:"choices"`
		Usage loose.Of[loose.Usage] `json:"usage"`
	}] `json:"model_response"`
}

// isFlattened reports whether an action's arguments stand beside it, as in the logs of the
// resolver.
func (e *event) isFlattened() bool { return e.isAction() && len(e.Args) == 0 && e.ID == "" }

// unflatten gives flattened actions the other members of their objects as arguments.
func unflatten(history []entry, objects []loose.Object) {
	for i := range min(len(history), len(objects)) {
		for j := range history[i].events {
			if e := &history[i].events[j]; e.isFlattened() {
				e.Args = slices.DeleteFunc(objects[i], func(m loose.Member) bool {
					switch m.Name {
					case "action", "args", "timestamp", "source", "message", "tool_call_metadata", "llm_metrics":
						return true
					}
					return false
				})
			}
		}
	}
}

// isAction reports whether an event is an action. The null action stands in a pair for
// none.
func (e *event) isAction() bool {
	return e.Action != "" && e.Action != "null" && e.Observation == ""
}

// says returns the text of the model response that issued the call.
func (t *toolCall) says() string {
	if len(t.Response.V.Choices) == 0 {
		return ""
	}
	return string(t.Response.V.Choices[0].Message.V.Content)
}
