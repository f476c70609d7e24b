// Package released reads the published dataset for conformance tests. It is independent of
// the product's own readers on purpose: it knows only the fields the tests compare, so that
// a fault of a reader cannot hide one of a labeler.
package released

import (
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

type content struct {
	States map[string]state `json:"states"`
}

type state struct {
	Step            int64         `json:"step"`
	ObservationHash string        `json:"observation_hash"`
	ResultingState  string        `json:"resulting_state"`
	ContentHash     string        `json:"content_hash"`
	FilesTouched    []string      `json:"files_touched"`
	Tool            string        `json:"tool_used"`
	FilePath        string        `json:"file_path"`
	Lines           []int64       `json:"line_range"`
	ScopePath       string        `json:"scope_path"`
	Stage           string        `json:"intent_stage"`
	Log             *logEntry     `json:"log_entry"`
	Metadata        stateMetadata `json:"metadata"`
}

type stateMetadata struct {
	InputTokens  *int64 `json:"input_tokens"`
	OutputTokens *int64 `json:"output_tokens"`
}

type logEntry struct {
	Kind            string         `json:"kind"`
	Tool            string         `json:"tool"`
	Args            jsontext.Value `json:"args"`
	ResponsePreview string         `json:"response_preview"`
}

type args struct {
	Command   jsontext.Value `json:"command"`
	Code      jsontext.Value `json:"code"`
	OldString jsontext.Value `json:"oldString"`
	NewString jsontext.Value `json:"newString"`
}

// Trajectories returns the set's runs of the tasks, all without any, sorted by id.
func Trajectories(t testing.TB, set *conformance.Set, tasks ...string) []*trajectory.Trajectory {
	t.Helper()
	wanted := func(task string) bool {
		for _, w := range tasks {
			if w == task {
				return true
			}
		}
		return len(tasks) == 0
	}
	var out []*trajectory.Trajectory
	for file, r := range conformance.Files(t, set.Release()) {
		dir, name := path.Split(file)
		folder, task := path.Split(path.Clean(dir))
		if path.Base(folder) != "trajectories" || !wanted(task) {
			continue
		}
		var parsed content
		if err := json.UnmarshalRead(r, &parsed, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, run(t, strings.TrimSuffix(name, ".json"), task, parsed))
	}
	if len(out) == 0 {
		t.Fatal("no trajectories in the archive")
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

func run(t testing.TB, id, task string, f content) *trajectory.Trajectory {
	out := &trajectory.Trajectory{ID: id, TaskID: task}
	for key, s := range f.States {
		stage, err := trajectory.ParseStage(s.Stage)
		if err != nil {
			t.Fatalf("%s %s: %v", id, key, err)
		}
		d := trajectory.State{
			ID: key, Step: s.Step, Tool: s.Tool, ObservationHash: s.ObservationHash, ResultingState: s.ResultingState,
			ContentHash: s.ContentHash, FilesTouched: s.FilesTouched, FilePath: s.FilePath, ScopePath: s.ScopePath, Stage: stage,
		}
		if len(s.Lines) == 2 {
			d.Lines = trajectory.LineRange{Start: s.Lines[0], End: s.Lines[1], Valid: true}
		}
		if n := s.Metadata.InputTokens; n != nil {
			d.InputTokens = trajectory.Some(*n)
		}
		if n := s.Metadata.OutputTokens; n != nil {
			d.OutputTokens = trajectory.Some(*n)
		}
		if s.Log != nil {
			d.ResponsePreview = s.Log.ResponsePreview
			d.Log = &trajectory.LogEntry{Kind: s.Log.Kind, Tool: s.Log.Tool, Args: arguments(t, id, s.Log.Args)}
		}
		out.States = append(out.States, d)
	}
	sort.Slice(out.States, func(i, j int) bool { return out.States[i].Step < out.States[j].Step })
	return out
}

func arguments(t testing.TB, id string, raw jsontext.Value) trajectory.Args {
	out := trajectory.Args{Raw: string(raw)}
	if len(raw) == 0 || raw.Kind() != '{' {
		return out
	}
	var a args
	if err := json.Unmarshal(raw, &a, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	for _, f := range []struct {
		raw  jsontext.Value
		flag trajectory.ArgSet
		to   *string
	}{
		{a.Command, trajectory.HasCommand, &out.Command}, {a.Code, trajectory.HasCode, &out.Code},
		{a.OldString, trajectory.HasOldString, &out.OldString}, {a.NewString, trajectory.HasNewString, &out.NewString},
	} {
		if f.raw == nil {
			continue
		}
		out.Has |= f.flag
		if f.raw.Kind() == '"' {
			if err := json.Unmarshal(f.raw, f.to, jsontext.AllowInvalidUTF8(true)); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
		}
	}
	return out
}
