package atif

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// document is one trajectory.
type document struct {
	Version      lenientjson.Text  `json:"schema_version"`
	SessionID    lenientjson.Ident `json:"session_id"`
	TrajectoryID lenientjson.Ident `json:"trajectory_id"`
	Agent        lenientjson.Of[struct {
		Name    lenientjson.Text      `json:"name"`
		Version lenientjson.Text      `json:"version"`
		Model   lenientjson.Text      `json:"model_name"`
		Extra   lenientjson.Of[extra] `json:"extra"`
	}] `json:"agent"`
	Steps     lenientjson.List[step]     `json:"steps"`
	Continued lenientjson.Text           `json:"continued_trajectory_ref"`
	Subagents lenientjson.List[document] `json:"subagent_trajectories"`
	Totals    lenientjson.Of[struct {
		Prompt     lenientjson.Int `json:"total_prompt_tokens"`
		Completion lenientjson.Int `json:"total_completion_tokens"`
	}] `json:"final_metrics"`
	Extra lenientjson.Of[extra] `json:"extra"`
}

// extra holds what writers are known to put beside the format.
type extra struct {
	InstanceID lenientjson.Text `json:"instance_id"`
	TaskID     lenientjson.Text `json:"task_id"`
	TaskName   lenientjson.Text `json:"task_name"`
}

type step struct {
	ID          lenientjson.Int
	Timestamp   lenientjson.Text
	Source      lenientjson.Text
	Message     lenientjson.Content
	Model       lenientjson.Text
	Reasoning   lenientjson.Content
	ToolCalls   lenientjson.List[toolCall]
	Observation lenientjson.Of[observation]
	Metrics     lenientjson.Of[metrics]
	Copied      lenientjson.Flag
	ModelCalls  lenientjson.Int
	Extra       lenientjson.Of[stepExtra]
}

// UnmarshalJSONFrom reads the step.
func (s *step) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*s = step{}
	return lenientjson.Members(dec, func(name []byte) error {
		switch string(name) {
		case "step_id":
			return s.ID.UnmarshalJSONFrom(dec)
		case "timestamp":
			return s.Timestamp.UnmarshalJSONFrom(dec)
		case "source":
			return s.Source.UnmarshalJSONFrom(dec)
		case "message":
			return s.Message.UnmarshalJSONFrom(dec)
		case "model_name":
			return s.Model.UnmarshalJSONFrom(dec)
		case "reasoning_content":
			return s.Reasoning.UnmarshalJSONFrom(dec)
		case "tool_calls":
			return s.ToolCalls.UnmarshalJSONFrom(dec)
		case "observation":
			return s.Observation.UnmarshalJSONFrom(dec)
		case "metrics":
			return s.Metrics.UnmarshalJSONFrom(dec)
		case "is_copied_context":
			return s.Copied.UnmarshalJSONFrom(dec)
		case "llm_call_count":
			return s.ModelCalls.UnmarshalJSONFrom(dec)
		case "extra":
			return s.Extra.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

type stepExtra struct {
	Context lenientjson.Of[struct {
		Type lenientjson.Text `json:"type"`
	}] `json:"context_management"`
	Failed lenientjson.Flag `json:"tool_result_is_error"` // Harbor's converter of Claude Code
}

type metrics struct {
	Prompt     lenientjson.Int
	Completion lenientjson.Int
	Cached     lenientjson.Int
}

// UnmarshalJSONFrom reads the metrics.
func (m *metrics) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*m = metrics{}
	return lenientjson.Members(dec, func(name []byte) error {
		switch string(name) {
		case "prompt_tokens":
			return m.Prompt.UnmarshalJSONFrom(dec)
		case "completion_tokens":
			return m.Completion.UnmarshalJSONFrom(dec)
		case "cached_tokens":
			return m.Cached.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

type toolCall struct {
	ID        lenientjson.Ident
	Name      lenientjson.Text
	Arguments arguments

	// The names of a dialect.
	OtherID   lenientjson.Ident
	OtherName lenientjson.Text
}

// UnmarshalJSONFrom reads the toolCall.
func (c *toolCall) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = toolCall{}
	return lenientjson.Members(dec, func(name []byte) error {
		switch string(name) {
		case "tool_call_id":
			return c.ID.UnmarshalJSONFrom(dec)
		case "function_name":
			return c.Name.UnmarshalJSONFrom(dec)
		case "arguments":
			return c.Arguments.UnmarshalJSONFrom(dec)
		case "id":
			return c.OtherID.UnmarshalJSONFrom(dec)
		case "name":
			return c.OtherName.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

// arguments are an object; a text, as OpenAI has it, is read as one.
type arguments struct {
	object lenientjson.Object
	text   string // when it is no object
}

func (a *arguments) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*a = arguments{}
	switch dec.PeekKind() {
	case '{':
		return a.object.UnmarshalJSONFrom(dec)
	case '"':
		var text lenientjson.Text
		err := text.UnmarshalJSONFrom(dec)
		object, ok := lenientjson.Parse(string(text))
		if ok {
			a.object = object
		} else {
			a.text = string(text)
		}
		return err
	}
	value, err := dec.ReadValue()
	if err == nil && value.Kind() != 'n' {
		a.text = string(value)
	}
	return err
}

type observation struct {
	Results lenientjson.List[result]

	// A dialect has one result here.
	Content lenientjson.Content
	Result  lenientjson.Of[struct {
		Success lenientjson.Flag `json:"success"`
		Error   lenientjson.Text `json:"error"`
	}]
}

// UnmarshalJSONFrom reads the observation.
func (o *observation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = observation{}
	return lenientjson.Members(dec, func(name []byte) error {
		switch string(name) {
		case "results":
			return o.Results.UnmarshalJSONFrom(dec)
		case "content":
			return o.Content.UnmarshalJSONFrom(dec)
		case "result":
			return o.Result.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

type result struct {
	CallID  lenientjson.Ident
	Content lenientjson.Content
	Refs    lenientjson.List[ref]
	Extra   lenientjson.Of[struct {
		ExitCode lenientjson.Int  `json:"exit_code"`
		IsError  lenientjson.Flag `json:"is_error"`
	}]
}

// UnmarshalJSONFrom reads the result.
func (r *result) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*r = result{}
	return lenientjson.Members(dec, func(name []byte) error {
		switch string(name) {
		case "source_call_id":
			return r.CallID.UnmarshalJSONFrom(dec)
		case "content":
			return r.Content.UnmarshalJSONFrom(dec)
		case "subagent_trajectory_ref":
			return r.Refs.UnmarshalJSONFrom(dec)
		case "extra":
			return r.Extra.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

// ref names the trajectory of a subagent.
type ref struct {
	TrajectoryID lenientjson.Ident `json:"trajectory_id"`
	Path         lenientjson.Text  `json:"trajectory_path"`
	SessionID    lenientjson.Ident `json:"session_id"`
}

// refs is the part of a document that names others.
type refs struct {
	Steps lenientjson.List[struct {
		Observation lenientjson.Of[struct {
			Results lenientjson.List[struct {
				Refs lenientjson.List[ref] `json:"subagent_trajectory_ref"`
			}] `json:"results"`
		}] `json:"observation"`
	}] `json:"steps"`
	Subagents lenientjson.List[refs] `json:"subagent_trajectories"`
}

// all returns the references of a document and its embedded subagents.
func (d *refs) all(depth int) []ref {
	var list []ref
	for i := range d.Steps {
		for _, result := range d.Steps[i].Observation.V.Results {
			list = append(list, result.Refs...)
		}
	}
	for i := range d.Subagents {
		if depth < maxNesting {
			list = append(list, d.Subagents[i].all(depth+1)...)
		}
	}
	return list
}
