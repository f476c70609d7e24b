package atif

import (
	"path"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// resultNote is what Harbor's result.json says about the trial in its folder.
type resultNote struct {
	folder  string
	task    string
	model   string
	outcome trajectory.Outcome
	detail  string
	exit    string // class of the exception that ended the trial
}

func isResult(p *format.Probe) bool {
	return p.Has("agent_info") && (p.Has("verifier_result") || p.Has("exception_info")) && !p.Has("steps")
}

func noteResult(rec format.Record) (resultNote, error) {
	var r struct {
		TaskName lenientjson.Text `json:"task_name"`
		TaskID   taskID           `json:"task_id"`
		Agent    lenientjson.Of[struct {
			Model lenientjson.Of[struct {
				Name     lenientjson.Text `json:"name"`
				Provider lenientjson.Text `json:"provider"`
			}] `json:"model_info"`
		}] `json:"agent_info"`
		Verifier lenientjson.Of[struct {
			Rewards lenientjson.Object `json:"rewards"`
		}] `json:"verifier_result"`
		Exception lenientjson.Of[struct {
			Type lenientjson.Text `json:"exception_type"`
		}] `json:"exception_info"`
	}
	if err := format.Decode(rec.Data, &r); err != nil {
		return resultNote{}, err
	}
	n := resultNote{folder: path.Dir(rec.File), task: string(r.TaskName), exit: string(r.Exception.V.Type)}
	if n.task == "" {
		n.task = string(r.TaskID)
	}
	if m := &r.Agent.V.Model.V; m.Name != "" {
		n.model = string(m.Name)
		if m.Provider != "" {
			n.model = string(m.Provider) + "/" + n.model
		}
	}
	switch rewards := r.Verifier.V.Rewards; {
	case len(rewards) > 0:
		n.outcome = trajectory.Fail
		if full(rewards) {
			n.outcome = trajectory.Pass
		}
	case rec.Probe.Get("exception_info").Kind() == '{':
		n.detail = outcome.Infrastructure
	default:
		n.detail = outcome.Incomplete
	}
	return n, nil
}

// full reports whether the reward is 1 or more; without one of that name, whether all are.
func full(rewards lenientjson.Object) bool {
	if main := rewards.Get("reward"); main != nil {
		return isOne(main)
	}
	for _, m := range rewards {
		if !isOne(m.Value) {
			return false
		}
	}
	return true
}

func isOne(value jsontext.Value) bool {
	n, err := strconv.ParseFloat(string(value), 64)
	return err == nil && n >= 1
}

// taskID is a text, or an object whose path or name tells the task.
type taskID string

func (t *taskID) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*t = ""
	if dec.PeekKind() != '{' {
		return (*lenientjson.Text)(t).UnmarshalJSONFrom(dec)
	}
	var object lenientjson.Object
	if err := object.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	for _, name := range [...]string{"name", "path"} {
		if text := object.Text(name); text != "" && *t == "" {
			*t = taskID(path.Base(text))
		}
	}
	return nil
}
