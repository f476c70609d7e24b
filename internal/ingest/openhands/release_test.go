package openhands

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// stored is a state of the release with what it was made of.
type stored struct {
	Step               int64   `json:"step"`
	Observation        string  `json:"observation"`
	ResultingState     string  `json:"resulting_state"`
	ContentHash        string  `json:"content_hash"`
	ContentDescription string  `json:"content_description"`
	FilePath           string  `json:"file_path"`
	LineRange          []int64 `json:"line_range"`
	EditType           string  `json:"edit_type"`
	LogEntry           *struct {
		ID   string             `json:"id"`
		Tool string             `json:"tool"`
		Args lenientjson.Object `json:"args"`
		// Cut at 500 code points; the events below are made of it, so ours are cut alike.
		Response string `json:"response_preview"`
	} `json:"log_entry"`
	Metadata struct {
		Timestamp string `json:"timestamp"`
		Thought   string `json:"thought"`
		Input     int64  `json:"input_tokens"`
		Output    int64  `json:"output_tokens"`
		Model     string `json:"model"`
	} `json:"metadata"`
}

// events writes the action and the observation that a stored state was made of.
func (s *stored) events(t *testing.T) []string {
	t.Helper()
	kind := map[string]string{"run_in_terminal": "run", "read_file": "read", "list_dir": "read", "think": "think", "create_file": "edit", "replace_string_in_file": "edit"}[s.LogEntry.Tool]
	args := lenientjson.Object{}
	var view [2]jsontext.Value
	for _, m := range s.LogEntry.Args {
		switch m.Name {
		case "filePath":
			args.Set("path", lenientjson.Quote("/testbed"+lenientjson.Unquote(m.Value)))
		case "oldString":
			args.Set("old_str", m.Value)
		case "newString":
			args.Set("new_str", m.Value)
		case "startLine":
			view[0] = m.Value
		case "endLine":
			view[1] = m.Value
		case "code":
			kind = "run_ipython"
			args.Set(m.Name, m.Value)
		default:
			args.Set(m.Name, m.Value)
		}
	}
	if view[0] != nil {
		args.Set("view_range", jsontext.Value("["+string(view[0])+","+string(view[1])+"]"))
	}
	if kind == "edit" {
		args.Set("file_text", jsontext.Value("null"))
	}
	written := "{"
	for i, m := range args {
		if i > 0 {
			written += ","
		}
		written += string(lenientjson.Quote(m.Name)) + ":" + string(m.Value)
	}
	// The editor's own text stands behind the sentence the release puts before it.
	content := strings.TrimPrefix(s.LogEntry.Response, "The file was edited successfully. ")
	id := s.LogEntry.ID
	action := fmt.Sprintf(`{"id":%s,"timestamp":%q,"source":"agent","message":"","action":%q,"args":%s},"tool_call_metadata":{"model_response":`+
		`{"id":"r%s","model":%q,"usage":{"prompt_tokens":%d,"completion_tokens":%d}}}}`,
		id, s.Metadata.Timestamp, kind, written, id, s.Metadata.Model, s.Metadata.Input, s.Metadata.Output)
	observation := fmt.Sprintf(`{"id":%s0,"timestamp":"","source":"agent","cause":%s,"observation":%q,"content":%s,"extras":{}}`, id, id, kind, lenientjson.Quote(content))
	return []string{action, observation}
}

// Raw logs made of the release's entries give back the fields the release derived. Known
// differences: the outcome of an edit is read off its text, not off the word success; a
// listed folder has its name; a thought that mentions an error is no failure.
func TestRawLogsGiveBackTheRelease(t *testing.T) { conformance.Each(t, checkRawLogs) }

func checkRawLogs(t *testing.T, set *conformance.Set) {
	runs, steps := 0, 0
	differ := map[string]int{}
	n := 0
	for file, r := range conformance.Files(t, set.Release()) {
		if !strings.Contains(file, "/trajectories/") || !strings.HasSuffix(file, ".json") {
			continue
		}
		if n++; n%set.Count(1, 8) != 0 {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var run struct {
			States map[string]stored `json:"states"`
		}
		if err := json.Unmarshal(data, &run); err != nil {
			t.Fatal(err)
		}
		var want []stored
		for _, s := range run.States {
			if s.LogEntry != nil {
				want = append(want, s)
			}
		}
		slices.SortFunc(want, func(a, b stored) int { return int(a.Step - b.Step) })
		var events []string
		for i := range want {
			events = append(events, want[i].events(t)...)
		}
		runs++
		name := path.Base(file)
		got, _ := one(t, name, list(events...))
		if id := strings.TrimSuffix(name, "_pta.json"); got.ID != id {
			t.Errorf("id %q, want %q", got.ID, id)
		}
		if len(got.States) != len(want)+1 || len(got.Warnings) > 0 {
			t.Errorf("%s: %d steps, want %d; %v", name, len(got.States)-1, len(want), got.Warnings)
			continue
		}
		for i := range want {
			w, s := &want[i], &got.States[i+1]
			steps++
			check := func(field string, got, want any) {
				if got != want {
					if differ[field]++; differ[field] <= 3 {
						t.Logf("%s step %d, %s: got %q, want %q", name, w.Step, field, got, want)
					}
				}
			}
			check("tool", s.Tool, w.LogEntry.Tool)
			if w.LogEntry.Response == strings.TrimPrefix(w.LogEntry.Response, "The file was edited successfully. ") && len(w.LogEntry.Response) < 500 {
				check("observation", s.Observation, w.Observation)
			}
			check("content_hash", s.ContentHash, w.ContentHash)
			check("file_path", s.FilePath, w.FilePath)
			check("edit_type", s.EditType, w.EditType)
			check("lines", s.Lines.Valid, len(w.LineRange) == 2)
			if s.Lines.Valid && len(w.LineRange) == 2 {
				check("line_range", [2]int64{s.Lines.Start, s.Lines.End}, [2]int64{w.LineRange[0], w.LineRange[1]})
			}
			switch s.Tool {
			case "list_dir", "think":
			case "create_file", "replace_string_in_file":
				_, got, _ := strings.Cut(s.ResultingState, ":")
				_, want, _ := strings.Cut(w.ResultingState, ":")
				check("resulting_state", got, want)
				failed := strings.HasPrefix(strings.TrimPrefix(w.LogEntry.Response, "The file was edited successfully. "), "ERROR:")
				check("failed", strings.Contains(s.ResultingState, "_failed:"), failed)
			default:
				check("resulting_state", s.ResultingState, w.ResultingState)
				check("content_description", s.ContentDescription, w.ContentDescription)
			}
			check("timestamp", s.Timestamp, w.Metadata.Timestamp)
			check("thought", s.Thought, w.Metadata.Thought)
			check("model", s.LogModel, w.Metadata.Model)
			check("input_tokens", s.InputTokens.Or(-1), w.Metadata.Input)
			check("output_tokens", s.OutputTokens.Or(-1), w.Metadata.Output)
			check("entry_id", s.EntryID, w.LogEntry.ID)
		}
	}
	if runs != set.Count(149, 226) || steps < set.Count(3000, 5000) {
		t.Errorf("%d runs, %d steps", runs, steps)
	}
	for field, n := range differ {
		t.Errorf("%s: %d of %d differ", field, n, steps)
	}
}
