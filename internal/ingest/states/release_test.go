package states

import (
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// stored is a state as the release stores it.
type stored struct {
	Step               int64    `json:"step"`
	Observation        string   `json:"observation"`
	ObservationHash    string   `json:"observation_hash"`
	ResultingState     string   `json:"resulting_state"`
	ResultingStateHash string   `json:"resulting_state_hash"`
	ContentHash        string   `json:"content_hash"`
	ContentDescription string   `json:"content_description"`
	FilesTouched       []string `json:"files_touched"`
	FilePath           string   `json:"file_path"`
	LineRange          []int64  `json:"line_range"`
	RelativePosition   string   `json:"relative_position"`
	OperationType      string   `json:"operation_type"`
	EditType           string   `json:"edit_type"`
	FunctionName       string   `json:"function_name"`
	ClassName          string   `json:"class_name"`
	ScopePath          string   `json:"scope_path"`
	LogEntry           *struct {
		Tool            string         `json:"tool"`
		Args            jsontext.Value `json:"args"`
		ResponsePreview string         `json:"response_preview"`
	} `json:"log_entry"`
}

// call returns the call behind a stored state. The release's response is the stored
// preview, and what it took for a failure is read off its own words.
func (s *stored) call(t *testing.T) Call {
	t.Helper()
	var args trajectory.Args
	var fields struct {
		FilePath  *string `json:"filePath"`
		Command   *string `json:"command"`
		Content   *string `json:"content"`
		OldString *string `json:"oldString"`
		NewString *string `json:"newString"`
		StartLine *int64  `json:"startLine"`
		EndLine   *int64  `json:"endLine"`
	}
	if err := json.Unmarshal(s.LogEntry.Args, &fields); err != nil {
		t.Fatal(err)
	}
	text := func(from *string, to *string, has trajectory.ArgSet) {
		if from != nil {
			*to, args.Has = *from, args.Has|has
		}
	}
	text(fields.FilePath, &args.FilePath, trajectory.HasFilePath)
	text(fields.Command, &args.Command, trajectory.HasCommand)
	text(fields.Content, &args.Content, trajectory.HasContent)
	text(fields.OldString, &args.OldString, trajectory.HasOldString)
	text(fields.NewString, &args.NewString, trajectory.HasNewString)
	if fields.StartLine != nil && fields.EndLine != nil {
		args.StartLine, args.EndLine = *fields.StartLine, *fields.EndLine
		args.Has |= trajectory.HasStartLine | trajectory.HasEndLine
	}
	// One more character makes our cut of a longer response visible.
	response := s.LogEntry.ResponsePreview
	if utf8.RuneCountInString(response) == maxPreview && strings.HasSuffix(s.Observation, "...") {
		response += "~"
	}
	failed := false
	switch s.LogEntry.Tool {
	case ReplaceString, CreateFile:
		failed = !strings.Contains(response, "success")
	case Think:
		failed = strings.HasSuffix(s.ResultingState, ":error")
	}
	call := Call{Tool: s.LogEntry.Tool, Args: args, Response: response}
	if failed {
		call.IsError = trajectory.Some(1)
	}
	return call
}

// forEachRun calls f with the states of every trajectory of the set.
func forEachRun(t *testing.T, set *conformance.Set, f func(name string, states []stored)) {
	t.Helper()
	for file, r := range conformance.Files(t, set.Release()) {
		if !strings.Contains(file, "/trajectories/") || !strings.HasSuffix(file, ".json") {
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
			t.Fatalf("%s: %v", file, err)
		}
		states := make([]stored, 0, len(run.States))
		for _, s := range run.States {
			states = append(states, s)
		}
		slices.SortFunc(states, func(a, b stored) int { return int(a.Step - b.Step) })
		f(file, states)
	}
}

// Every stored state of the release is derived again from its tool, its arguments and its
// preview. What remains, and why:
//
//   - observation, its hash: 8 texts were anonymised after they were cut and hashed.
//   - resulting_state, its hash: 382 list_dir of a folder below the root, whose name the
//     release loses; 3 edits whose failure is not read off the preview.
//   - function_name, scope_path: 21 of 6,267 edits, all of broken source (prose of a
//     docstring, line feeds written as \\n) that the release's parser recovers from.
//   - content_description: 9 edits of the same kind, or whose imports stand inside a string.
func TestDerivesWhatTheReleaseStores(t *testing.T) { conformance.Each(t, checkDerived) }

func checkDerived(t *testing.T, set *conformance.Set) {
	var total int
	differ := map[string]int{}
	forEachRun(t, set, func(name string, states []stored) {
		calls := make([]Call, 0, len(states))
		for i := range states[1:] {
			calls = append(calls, states[i+1].call(t))
		}
		got, _ := Build(calls)
		for i := range states {
			want := &states[i]
			if i > 0 {
				total++
			}
			s := &got[i]
			check := func(field string, got, want any) {
				if got == want {
					return
				}
				if differ[field]++; differ[field] <= 3 {
					t.Logf("%s step %d %s: got %q, want %q", name, i, field, got, want)
				}
			}
			var lines trajectory.LineRange
			if len(want.LineRange) == 2 {
				lines = trajectory.LineRange{Start: want.LineRange[0], End: want.LineRange[1], Valid: true}
			}
			check("observation", s.Observation, want.Observation)
			check("observation_hash", s.ObservationHash, want.ObservationHash)
			check("resulting_state", s.ResultingState, want.ResultingState)
			check("resulting_state_hash", s.ResultingStateHash, want.ResultingStateHash)
			check("content_hash", s.ContentHash, want.ContentHash)
			check("content_description", sorted(s.ContentDescription), sorted(want.ContentDescription))
			check("files_touched", strings.Join(s.FilesTouched, "\x00"), strings.Join(want.FilesTouched, "\x00"))
			check("file_path", s.FilePath, want.FilePath)
			check("line_range", s.Lines, lines)
			check("relative_position", s.RelativePosition, want.RelativePosition)
			check("operation_type", s.OperationType, want.OperationType)
			check("edit_type", s.EditType, want.EditType)
			check("function_name", s.FunctionName, want.FunctionName)
			check("class_name", s.ClassName, want.ClassName)
			check("scope_path", s.ScopePath, want.ScopePath)
		}
	})
	if want := set.Count(3560, 51388); total != want {
		t.Fatalf("compared %d states, want %d", total, want)
	}
	allowed := map[string]int{
		"observation":          set.Count(0, 8),
		"observation_hash":     set.Count(0, 8),
		"resulting_state":      set.Count(28, 385),
		"resulting_state_hash": set.Count(28, 385),
		"content_description":  set.Count(1, 9),
		"function_name":        set.Count(0, 21),
		"scope_path":           set.Count(0, 21),
	}
	for field, n := range differ {
		t.Logf("%s: %d of %d agree", field, total-n, total)
		if n > allowed[field] {
			t.Errorf("%s: %d of %d differ, at most %d may", field, n, total, allowed[field])
		}
	}
}

// sorted puts the parts of a description in order: the release's order follows a hash.
func sorted(description string) string {
	head, tail, found := strings.Cut(description, "': ")
	if !found || !strings.HasPrefix(head, "In '") {
		return description
	}
	parts := strings.Split(tail, "; ")
	slices.Sort(parts)
	return head + "': " + strings.Join(parts, "; ")
}
