package openhands

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
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
	ID          lenientjson.Ident
	Cause       lenientjson.Ident
	Timestamp   lenientjson.Text
	Source      lenientjson.Text
	Action      lenientjson.Text
	Observation lenientjson.Text
	Args        lenientjson.Object
	Content     lenientjson.Text
	Extras      lenientjson.Of[extras]
	Success     lenientjson.Flag
	ExitCode    lenientjson.Int          // of a flattened observation
	ToolCall    lenientjson.Of[toolCall] // of an action
}

// UnmarshalJSONFrom reads an event; of anything but an object nothing. The copy of the
// model response that an observation carries is passed over.
func (e *event) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*e = event{}
	return lenientjson.Members(dec, func(name []byte) error {
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
	Metadata lenientjson.Of[struct {
		ExitCode lenientjson.Int `json:"exit_code"`
	}] `json:"metadata"`
	ExitCode   lenientjson.Int  `json:"exit_code"`
	AgentState lenientjson.Text `json:"agent_state"`
}

type toolCall struct {
	FunctionName lenientjson.Text `json:"function_name"`
	Response     lenientjson.Of[struct {
		ID      lenientjson.Text `json:"id"`
		Model   lenientjson.Text `json:"model"`
		Choices lenientjson.List[struct {
			Message lenientjson.Of[struct {
				Content lenientjson.Text `json:"content"`
			}] `json:"message"`
		}] `json:"choices"`
		Usage lenientjson.Of[lenientjson.Usage] `json:"usage"`
	}] `json:"model_response"`
}

// isFlattened reports whether an action's arguments stand beside it, as in the logs of the
// resolver.
func (e *event) isFlattened() bool { return e.isAction() && len(e.Args) == 0 && e.ID == "" }

// unflatten gives flattened actions the other members of their objects as arguments.
func unflatten(history []entry, objects []lenientjson.Object) {
	for i := range min(len(history), len(objects)) {
		for j := range history[i].events {
			if e := &history[i].events[j]; e.isFlattened() {
				e.Args = slices.DeleteFunc(objects[i], func(m lenientjson.Member) bool {
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
