package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
)

// A name that occurs twice in an object counts as in Python and in Go: the last value holds,
// and nothing of the first one does.
func TestOfARepeatedNameTheLastCounts(t *testing.T) {
	const call = `"tool_calls":[{"tool_call_id":"1","function_name":"bash","arguments":{"command":"x","command":"y"}}]`
	atif := func(rest, command string) string {
		return `{"schema_version":"other","schema_version":"ATIF-v1.5",` + rest + `"steps":[],"steps":[{"source":"agent","message":"",` + strings.Replace(call, `"y"`, `"`+command+`"`, 1) + `}]}`
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"OpenHands V0", map[string]string{"a__b-1.json": `[{"id":1,"source":"agent","action":"message","action":"run","args":{"command":"x","thought":"t"},"args":{"command":"y"}}]`}, "y"},
		{"OpenHands V1", map[string]string{"a__b-1.jsonl": `{"kind":"PauseEvent","kind":"ActionEvent","id":"a","timestamp":"t","tool_name":"terminal","action":{"command":"x","timeout":1},"action":{"command":"y"}}`}, "y"},
		{"ATIF and what continues it", map[string]string{
			"a__b-1/one.json": atif(`"continued_trajectory_ref":"nowhere.json","continued_trajectory_ref":"two.json",`, "y"), "a__b-1/two.json": atif("", "z"),
		}, "y z"},
		{"SWE-agent", map[string]string{"a__b-1.traj": `{"info":{"exit_status":"x"},"info":{},"trajectory":[],"trajectory":[{"action":"x","action":"y","observation":"o"}]}`}, "y"},
		{"mini-swe-agent", map[string]string{"a__b-1.traj.json": `{"trajectory_format":"x","trajectory_format":"mini-swe-agent-1.1","info":{"exit_status":"x"},"info":{},"messages":[{"role":"user","content":"t"},{"role":"user","role":"assistant","content":"","extra":{"actions":[{"command":"x"}]},"extra":{"actions":[{"command":"y"}]}}]}`}, "y"},
	} {
		got := readtest.Read(t, ingest.Options{}, readtest.Files(t, c.files))
		if got.Err != nil || len(got.Runs) != 1 {
			t.Errorf("%s: %v %v, %d runs", c.name, got.Err, got.Refused, len(got.Runs))
			continue
		}
		r := got.Runs[0]
		var commands []string
		for _, s := range r.States[1:] {
			commands = append(commands, s.Command())
			if strings.Contains(s.Log.Args.Raw, "x") || strings.Contains(s.Log.Args.Raw, "timeout") || s.Thought != "" {
				t.Errorf("%s: %s, thought %q", c.name, s.Log.Args.Raw, s.Thought)
			}
		}
		if text := strings.Join(commands, " "); text != c.want || r.TaskID != "a__b-1" || r.ExitStatus == "x" {
			t.Errorf("%s: %q, want %q; task %s, ends %q", c.name, text, c.want, r.TaskID, r.ExitStatus)
		}
	}
	outcomes := settled(t, ingest.Options{}, map[string]string{
		"output.jsonl":       evalLine("a__b-1", "m", "") + evalLine("a__b-2", "m", ""),
		"a__b-1/report.json": `{"a__b-1":{"patch_exists":true,"resolved":true},"a__b-1":{"patch_exists":true,"resolved":false}}`,
		"a__b-2/report.json": `{"resolved":true,"patch_exists":true,"resolved":false}`,
	})
	if want := []string{"a__b-1 m=fail (report.json)", "a__b-2 m=fail (report.json)"}; !slices.Equal(outcomes, want) {
		t.Errorf("%q, want %q", outcomes, want)
	}
}
