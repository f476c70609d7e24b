package ingest_test

import (
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
)

// The same work reads alike out of every format: one run of the task, the task's words, the
// model, and the same steps. Formats differ in what they tell of tokens and exit codes, in
// whether files are edited by tools of their own, and in whether they name the workspace.
func TestOneStoryInEveryFormat(t *testing.T) {
	const byTools = "terminal:grep file_read:src/abacus.py file_created:tests/test_halve.py terminal:python! file_modified:src/abacus.py terminal:python"
	steps := map[string]string{
		"codex":         "terminal:grep terminal:cat file_patched:tests/test_halve.py terminal:python! file_patched:src/abacus.py terminal:python",
		"mini-sweagent": "terminal:grep terminal:cat terminal:cat terminal:python! terminal:sed terminal:python terminal:echo",
		"sweagent":      strings.ReplaceAll(byTools, "!", ""), // which tells no exit code
	}
	for _, format := range conformance.LogFormats() {
		t.Run(format, func(t *testing.T) {
			got := readtest.Read(t, ingest.Options{Jobs: 2}, conformance.Logs(t, format))
			if got.Err != nil || len(got.Refused) > 0 || len(got.Runs) != 1 {
				t.Fatal(got.Err, got.Refused, len(got.Runs))
			}
			run := got.Runs[0]
			if run.TaskID != "acme__abacus-7" || run.Model != "tally-1" || !strings.Contains(run.TaskDescription, "Make it round down and add a test.") {
				t.Errorf("task %s %q, model %s", run.TaskID, run.TaskDescription, run.Model)
			}
			var text []string
			input, output, cached := int64(0), int64(0), int64(0)
			for _, s := range run.States[1:] {
				step := strings.Replace(s.ResultingState, ":abacus/", ":", 1)
				if s.IsError.Or(0) == 1 {
					step += "!"
				}
				text = append(text, step)
				input, output, cached = input+s.InputTokens.Or(0), output+s.OutputTokens.Or(0), cached+s.CachedTokens.Or(0)
				if s.Thought == "" || s.Log == nil {
					t.Errorf("step %d has no thought or no call: %+v", s.Step, s)
				}
			}
			want := byTools
			if other, ok := steps[format]; ok {
				want = other
			}
			if got := strings.Join(text, " "); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			switch format {
			case "messages", "mini-sweagent", "sweagent":
			default:
				if input != 750 || output != 75 || cached != 75 {
					t.Errorf("%d, %d and %d tokens, want 750, 75 and 75", input, output, cached)
				}
			}
			if got.Settle(); format == "messages" || format == "openhands-v0" {
				if run.Outcome.String() != "pass" {
					t.Errorf("outcome %s, the log says it passed", run.Outcome)
				}
			} else if run.Outcome.String() != "unknown" {
				t.Errorf("outcome %s of a log that tells none", run.Outcome)
			}
		})
	}
}
