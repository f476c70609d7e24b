package atif

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/loose"
)

// document is one trajectory.
type document struct {
	Version      loose.Text  `json:"schema_version"`
	SessionID    loose.Ident `json:"session_id"`
	TrajectoryID loose.Ident `json:"trajectory_id"`
	Agent        loose.Of[struct {
		Name    loose.Text      `json:"name"`
		Version loose.Text      `json:"version"`
		Model   loose.Text      `json:"model_name"`
		Extra   loose.Of[extra] `json:"extra"`
	}] `json:"agent"`
	Steps     loose.List[step]     `json:"steps"`
	Continued loose.Text           `json:"continued_trajectory_ref"`
	Subagents loose.List[document] `json:"subagent_trajectories"`
	Totals    loose.Of[struct {
		Prompt     loose.Int `json:"total_prompt_tokens"`
		Completion loose.Int `json:"total_completion_tokens"`
	}] `json:"final_metrics"`
	Extra loose.Of[extra] `json:"extra"`
}

// extra holds what writers are known to put beside the format.
type extra struct {
	InstanceID loose.Text `json:"instance_id"`
	TaskID     loose.Text `json:"task_id"`
	TaskName   loose.Text `json:"task_name"`
}

type step struct {
	ID          loose.Int
	Timestamp   loose.Text
	Source      loose.Text
	Message     loose.Content
	Model       loose.Text
	Reasoning   loose.Content
	ToolCalls   loose.List[toolCall]
	Observation loose.Of[observation]
	Metrics     loose.Of[metrics]
	Copied      loose.Flag
	ModelCalls  loose.Int
	Extra       loose.Of[stepExtra]
}

// UnmarshalJSONFrom reads the step.
func (s *step) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*s = step{}
	return loose.Members(dec, func(name []byte) error {
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
	Context loose.Of[struct {
		Type loose.Text `json:"type"`
	}] `json:"context_management"`
	Failed loose.Flag `json:"tool_result_is_error"` // Harbor's converter of Claude Code
}

type metrics struct {
	Prompt     loose.Int
	Completion loose.Int
	Cached     loose.Int
}

// UnmarshalJSONFrom reads the metrics.
func (m *metrics) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*m = metrics{}
	return loose.Members(dec, func(name []byte) error {
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
	ID        loose.Ident
	Name      loose.Text
	Arguments arguments

	// The names of a dialect.
	OtherID   loose.Ident
	OtherName loose.Text
}

// UnmarshalJSONFrom reads the toolCall.
func (c *toolCall) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = toolCall{}
	return loose.Members(dec, func(name []byte) error {
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
	object loose.Object
	text   string // when it is no object
}

func (a *arguments) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*a = arguments{}
	switch dec.PeekKind() {
	case '{':
		return a.object.UnmarshalJSONFrom(dec)
	case '"':
		var text loose.Text
		err := text.UnmarshalJSONFrom(dec)
		object, ok := loose.Parse(string(text))
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
	Results loose.List[result]

	// A dialect has one result here.
	Content loose.Content
	Result  loose.Of[struct {
		Success loose.Flag `json:"success"`
		Error   loose.Text `json:"error"`
	}]
}

// UnmarshalJSONFrom reads the observation.
func (o *observation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = observation{}
	return loose.Members(dec, func(name []byte) error {
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
	CallID  loose.Ident
	Content loose.Content
	Refs    loose.List[ref]
	Extra   loose.Of[struct {
		ExitCode loose.Int  `json:"exit_code"`
		IsError  loose.Flag `json:"is_error"`
	}]
}

// UnmarshalJSONFrom reads the result.
func (r *result) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*r = result{}
	return loose.Members(dec, func(name []byte) error {
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
	TrajectoryID loose.Ident `json:"trajectory_id"`
	Path         loose.Text  `json:"trajectory_path"`
	SessionID    loose.Ident `json:"session_id"`
}

// refs is the part of a document that names others.
type refs struct {
	Steps loose.List[struct {
		Observation loose.Of[struct {
			Results loose.List[struct {
				Refs loose.List[ref] `json:"subagent_trajectory_ref"`
			}] `json:"results"`
		}] `json:"observation"`
	}] `json:"steps"`
	Subagents loose.List[refs] `json:"subagent_trajectories"`
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
