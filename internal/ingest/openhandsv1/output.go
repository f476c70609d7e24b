package openhandsv1

import (
	"cmp"
	"fmt"
	"path"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
)

// output is a line of a benchmark's output.jsonl.
type output struct {
	outcome.Line
	InstanceID  lenientjson.Text        `json:"instance_id"`
	Attempt     lenientjson.Int         `json:"attempt"`
	Instruction lenientjson.Text        `json:"instruction"`
	History     lenientjson.List[event] `json:"history"`
	Metadata    lenientjson.Of[struct {
		LLM       lenientjson.Of[model] `json:"llm"`
		LLMConfig lenientjson.Of[model] `json:"llm_config"`
	}] `json:"metadata"`
	Instance lenientjson.Of[struct {
		Repo lenientjson.Text `json:"repo"`
	}] `json:"instance"`
}

type model struct {
	Model lenientjson.Text `json:"model"`
}

// detectOutput knows a line by its history of V1 events; one without events by the members
// that V0 did not have.
func detectOutput(p *format.Probe) (string, bool) {
	if !p.Has("instance_id", "history") {
		return "", false
	}
	history := p.Get("history")
	if first := history.First(); first != nil {
		return "instance_id + history[0].kind", isEvent(first)
	}
	return "instance_id + attempt", (history.Kind() == '[' || history.Kind() == 'n') && (p.Has("attempt") || p.Has("runtime_runs"))
}

// outputNote says whose attempt a line is.
type outputNote struct {
	key     string
	attempt int64
}

func noteOutput(rec format.Record) (format.Note, error) {
	var line struct {
		InstanceID lenientjson.Text `json:"instance_id"`
		Attempt    lenientjson.Int  `json:"attempt"`
	}
	if err := format.Decode(rec.Data, &line); err != nil {
		return format.Note{}, err
	}
	if !line.Attempt.Valid || line.InstanceID == "" {
		return format.Note{Alone: true}, nil
	}
	key := path.Dir(rec.File) + "\x00" + string(line.InstanceID)
	return format.Note{
		Value: outputNote{key, line.Attempt.Value},
		Slot:  key, Order: float64(line.Attempt.Value), Attempt: true,
	}, nil
}

// planOutput makes a run of every attempt that was kept.
func (r reader) planOutput(parts []format.Part) []format.Run {
	dropped := map[string]int{}
	for _, p := range parts {
		if !p.Kept {
			dropped[p.Note.(outputNote).key]++
		}
	}
	var runs []format.Run
	for i, p := range parts {
		if !p.Kept {
			continue
		}
		superseded := dropped[p.Note.(outputNote).key]
		runs = append(runs, format.Run{File: p.File, Line: p.Line, Parts: []int{i}, Read: func(records []format.Record) ([]format.Item, error) {
			return r.readOutput(records[0], superseded)
		}})
	}
	return runs
}

func (r reader) readOutput(rec format.Record, superseded int) ([]format.Item, error) {
	var line output
	if err := format.Decode(rec.Data, &line); err != nil {
		return nil, err
	}
	if line.InstanceID == "" {
		return nil, &format.RecordError{
			Code:    "no_instance_id",
			Message: "the line has no instance_id: want the id of its task",
			Hint:    "add instance_id, or give the events alone as a file",
		}
	}
	c := r.conversation()
	c.Task = string(line.InstanceID)
	c.Repo = string(line.Instance.V.Repo)
	meta := &line.Metadata.V
	c.Model = cmp.Or(string(meta.LLM.V.Model), string(meta.LLMConfig.V.Model))
	c.converse(line.History)
	if c.Description == "" {
		c.Description = string(line.Instruction)
	}
	if line.Error != "" {
		c.ExitStatus = string(line.Error)
	}
	c.WarnN(warnAttempts, "earlier attempt at the instance", superseded)
	t := c.trajectory(IDOutput)
	if line.Attempt.Valid {
		t.ID += fmt.Sprintf("-attempt%d", line.Attempt.Value)
	}
	items := []format.Item{{Trajectory: t}}
	if e, ok := line.Evidence(); ok {
		e.Key, e.Rank = t.ID, format.RankReport
		items = append(items, format.Item{Evidence: &e})
	}
	return items, nil
}
