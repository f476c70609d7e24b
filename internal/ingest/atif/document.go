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
	ID          loose.Int             `json:"step_id"`
	Timestamp   loose.Text            `json:"timestamp"`
	Source      loose.Text            `json:"source"`
	Message     loose.Content         `json:"message"`
	Model       loose.Text            `json:"model_name"`
	Reasoning   loose.Content         `json:"reasoning_content"`
	ToolCalls   loose.List[toolCall]  `json:"tool_calls"`
	Observation loose.Of[observation] `json:"observation"`
	Metrics     loose.Of[metrics]     `json:"metrics"`
	Copied      loose.Flag            `json:"is_copied_context"`
	ModelCalls  loose.Int             `json:"llm_call_count"`
	Extra       loose.Of[stepExtra]   `json:"extra"`
}

type stepExtra struct {
	Context loose.Of[struct {
		Type loose.Text `json:"type"`
	}] `json:"context_management"`
	Failed loose.Flag `json:"tool_result_is_error"` // Harbor's converter of Claude Code
}

type metrics struct {
	Prompt     loose.Int `json:"prompt_tokens"`
	Completion loose.Int `json:"completion_tokens"`
	Cached     loose.Int `json:"cached_tokens"`
}

type toolCall struct {
	ID        loose.Ident `json:"tool_call_id"`
	Name      loose.Text  `json:"function_name"`
	Arguments arguments   `json:"arguments"`

	// The names of a dialect.
	OtherID   loose.Ident `json:"id"`
	OtherName loose.Text  `json:"name"`
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
	Results loose.List[result] `json:"results"`

	// A dialect has one result here.
	Content loose.Content `json:"content"`
	Result  loose.Of[struct {
		Success loose.Flag `json:"success"`
		Error   loose.Text `json:"error"`
	}] `json:"result"`
}

type result struct {
	CallID  loose.Ident     `json:"source_call_id"`
	Content loose.Content   `json:"content"`
	Refs    loose.List[ref] `json:"subagent_trajectory_ref"`
	Extra   loose.Of[struct {
		ExitCode loose.Int  `json:"exit_code"`
		IsError  loose.Flag `json:"is_error"`
	}] `json:"extra"`
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
