package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/session/sessiontest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

func TestFixtures(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "claude-code")
	for file, want := range map[string]string{
		"claude-code-pomodoro-timer.jsonl": "session 36d9e1bc-63bf-4e97-8a3e-2b20ba8583f2 claude-sonnet-4-5-20250929 | 26 steps, 0 failed, 0 codes: create_file 3 read_file 3 replace_string_in_file 20 | tool_use [{skipped_action 11 x TodoWrite} {task_unknown 1 x neither the log nor its path names a task}]",
		"edge_cases.jsonl":                 "session edge_cases claude-3-sonnet-20240229 | 2 steps, 1 failed, 0 codes: FailingTool 1 replace_string_in_file 1 | tool_use [{bad_line 3 x line that is no JSON object} {no_observation 1 x MultiEdit} {skipped_action 1 x TodoWrite} {task_unknown 1 x neither the log nor its path names a task} {unmapped_tool 1 x FailingTool}]",
		"representative_messages.jsonl":    "session test_session claude-3-sonnet-20240229 | 2 steps, 0 failed, 0 codes: replace_string_in_file 1 run_in_terminal 1 | end_turn [{task_unknown 1 x neither the log nor its path names a task}]",
		"session_b.jsonl":                  "session session_b claude-3-sonnet-20240229 | 0 steps, 0 failed, 0 codes:  | end_turn [{task_unknown 1 x neither the log nor its path names a task}]",
		"todowrite_examples.jsonl":         "session todowrite_session claude-sonnet-4 | 0 steps, 0 failed, 0 codes:  |  [{skipped_action 3 x TodoWrite} {task_unknown 1 x neither the log nor its path names a task}]",
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		run := sessiontest.One(t, Formats(tools.Default()), file, data)
		if got := sessiontest.Summary(run); got != want {
			t.Errorf("%s:\n got %s\nwant %s", file, got, want)
		}
		if run.TaskDescription == "" || strings.HasPrefix(run.TaskDescription, "<") || run.Version == "" || run.Workspace == "" {
			t.Errorf("%s: task %q, version %q, workspace %q", file, run.TaskDescription, run.Version, run.Workspace)
		}
	}
}

// lines writes lines that share a session.
func lines(list ...string) []byte {
	for i, l := range list {
		list[i] = fmt.Sprintf(`{"sessionId":"s","uuid":"u%d","cwd":"/home/u/p","version":"2","timestamp":"t%d",%s}`, i, i, l)
	}
	return []byte(strings.Join(list, "\n"))
}

func says(id, more, block string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"model":"m","usage":{"input_tokens":5,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":%s},"content":[%s]}`, id, more, block)
}

func result(id, more string) string {
	return fmt.Sprintf(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,%s}]}`, id, more)
}

func TestSession(t *testing.T) {
	data := lines(
		`"type":"user","isMeta":true,"message":{"content":"Caveat: The messages below were generated"}`,
		`"type":"user","message":{"content":"<command-name>/clear</command-name>"}`,
		`"type":"user","message":{"content":"Fix it"}`,
		says("m1", "1", `{"type":"thinking","thinking":"hm"}`),
		says("m1", "2", `{"type":"text","text":"I look."}`),
		says("m1", "3", `{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"/home/u/p/src/a.py","offset":3,"limit":2}}`),
		says("m1", "9", `{"type":"tool_use","id":"b","name":"Bash","input":{"command":"pytest"}}`),
		result("b", `"is_error":true,"content":"Exit code 2\nboom"`),
		result("a", `"content":[{"type":"text","text":"3 x"},{"type":"image","source":{}}]`),
		`"type":"assistant","isSidechain":true,"message":{"id":"m2","content":[{"type":"tool_use","id":"c","name":"Grep","input":{"pattern":"x"}}]}`,
		says("m3", "1", `{"type":"tool_use","id":"d","name":"mcp__x__y","input":{"q":1}}`),
		says("m3", "1", `{"type":"tool_use","id":"a","name":"Read","input":{}}`),
		result("d", `"content":"ok","is_error":false`),
		result("d", `"content":"again"`),
		result("z", `"content":"?"`),
		says("m4", "1", `{"type":"tool_use","id":"e","name":"MultiEdit","input":{"file_path":"/home/u/p/b.py","edits":[{"old_string":"a","new_string":"b"}]}}`),
		result("e", `"is_error":true,"content":"<tool_use_error>String to replace not found</tool_use_error>"`),
		says("m5", "1", `{"type":"tool_use","id":"f","name":"Bash","input":"no object"}`),
		`"type":"system","subtype":"compact_boundary"`,
		`"type":"user","isCompactSummary":true,"message":{"content":"This session is being continued"}`,
		`"type":"user","message":"error"`,
	)
	data = append(data, "\nnot JSON\n"...)
	run := sessiontest.One(t, Formats(tools.Default()), "p/s.jsonl", data)
	want := "session s m | 5 steps, 2 failed, 1 codes: mcp__x__y 1 read_file 1 replace_string_in_file 1 run_in_terminal 2 |  " +
		"[{bad_arguments 1 x Bash} {bad_line 1 x line that is no JSON object} {delegated 1 x Grep} {no_observation 1 x Bash} {second_observation 1 x answer to an answered call: again} " +
		"{stray_observation 1 x answer to an unknown call: ?} {task_unknown 1 x neither the log nor its path names a task} {unmapped_tool 1 x mcp__x__y}]"
	if got := sessiontest.Summary(run); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	var got []string
	for _, s := range run.States[1:] {
		got = append(got, fmt.Sprintf("%s %q %d/%d/%d %s %s %s %s", s.ResultingState, s.Thought, s.InputTokens.Or(-1), s.OutputTokens.Or(-1), s.CachedTokens.Or(-1), s.ResponseGroup, s.ErrorSource, s.Timestamp, s.Log.Args.Raw))
	}
	if text := strings.Join(got, "\n"); text != `file_read:src/a.py "I look." 115/9/100 m1 flag t5 {"filePath":"/src/a.py","startLine":3,"endLine":4}
terminal:pytest "" -1/-1/-1 m1 exit_code t6 {"command":"pytest"}
tool_result:mcp__x__y:success "" 115/1/100 m3 flag t10 {"q":1}
file_modify_failed:b.py "" 115/1/100 m4 flag t15 {"filePath":"/b.py","edits":[{"old_string":"a","new_string":"b"}],"oldString":"a","newString":"b"}
terminal:unknown "" 115/1/100 m5  t17 "\"no object\""` {
		t.Error(text)
	}
	if run.TaskDescription != "Fix it" || run.Condensations != 1 || run.ID != "s" {
		t.Errorf("%+v", run)
	}
}

func TestSubagentFile(t *testing.T) {
	run := sessiontest.One(t, Formats(tools.Default()), "agent-1.jsonl", lines(
		`"type":"user","isSidechain":true,"agentId":"1","message":{"content":"Look"}`,
		`"type":"assistant","isSidechain":true,"agentId":"1","message":{"id":"m2","model":"m","content":[{"type":"tool_use","id":"c","name":"LS","input":{"path":"/home/u/p"}}]}`,
		`"type":"user","isSidechain":true,"message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"a"}]}`,
	))
	if got := sessiontest.Summary(run); got != "subagent s-agent-1 m | 1 steps, 0 failed, 0 codes: list_dir 1 |  [{task_unknown 1 x neither the log nor its path names a task}]" || run.Agent != "Claude Code/subagent" {
		t.Error(run.Agent, got)
	}
}

func TestNothing(t *testing.T) {
	for _, data := range []string{`{"type":"summary","summary":"x","leafUuid":"u"}`, `{"type":"user","sessionId":"s","uuid":`} {
		if items, err := sessiontest.Read(Formats(tools.Default()), "s.jsonl", []byte(data)); err == nil {
			t.Errorf("%s: %v", data, items)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "claude-code") {
		f.Add(data)
	}
	f.Add(lines(`"type":"user","message":{"content":"x"}`, says("m", "1", `{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}}`), result("a", `"content":"x"`)))
	f.Add([]byte("{\"type\":\"summary\"}\n\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) { sessiontest.Fuzz(t, Formats(tools.Default()), "s.jsonl", data) })
}

func BenchmarkRead(b *testing.B) {
	data := conformance.Read(b, "fixtures", "claude-code", "claude-code-pomodoro-timer.jsonl")
	sessiontest.Bench(b, Formats(tools.Default()), "s.jsonl", data)
}
