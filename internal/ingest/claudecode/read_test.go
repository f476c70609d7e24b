package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/session/sessiontest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestFixtures(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "claude-code")
	for file, want := range map[string]string{
		"claude-code-pomodoro-timer.jsonl": "session 36d9e1bc-63bf-4e97-8a3e-2b20ba8583f2 claude-sonnet-4-5-20250929 | 26 steps, 0 failed, 0 codes: create_file 3 read_file 3 replace_string_in_file 20 | tool_use [{skipped_action 11 x TodoWrite} {task_unknown 1 x neither the log nor its path names a task}]",
		"edge_cases.jsonl":                 "session edge_cases claude-3-sonnet-20240229 | 2 steps, 1 failed, 0 codes: FailingTool 1 replace_string_in_file 1 | tool_use [{bad_line 3 x line that is no JSON object} {no_observation 1 x MultiEdit} {skipped_action 1 x TodoWrite} {task_unknown 1 x neither the log nor its path names a task} {unknown_record 1 x record without a type} {unmapped_tool 1 x FailingTool}]",
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

func calls(run *trajectory.Trajectory) string {
	var ids []string
	for _, s := range run.States[1:] {
		ids = append(ids, s.EntryID)
	}
	return strings.Join(ids, " ")
}

func bash(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls %s"}}`, id, id)
}

// chain writes lines of a session whose parents are given by number, -1 for none.
func chain(parents []int, list ...string) []byte {
	for i, l := range list {
		parent := "null"
		if parents[i] >= 0 {
			parent = fmt.Sprintf(`"u%d"`, parents[i])
		}
		list[i] = fmt.Sprintf(`"parentUuid":%s,%s`, parent, l)
	}
	return lines(list...)
}

func TestRewind(t *testing.T) {
	prompt := func(text string) string { return fmt.Sprintf(`"type":"user","message":{"content":%q}`, text) }
	for name, c := range map[string]struct {
		parents []int
		lines   []string
		want    string
		skipped int64
	}{
		"to the start": {
			[]int{-1, 0, 1, -1, 3, 4},
			[]string{prompt("A"), says("m1", "1", bash("a")), result("a", `"content":"x"`), prompt("B"), says("m2", "1", bash("b")), result("b", `"content":"y"`)},
			"b B", 1,
		},
		"into the middle": {
			[]int{-1, 0, 1, 2, 3, 4, 2, 6, 7},
			[]string{prompt("A"), says("m1", "1", bash("a")), result("a", `"content":"x"`), prompt("B"), says("m2", "1", bash("b")), result("b", `"content":"y"`), prompt("C"), says("m3", "1", bash("c")), result("c", `"content":"z"`)},
			"a c A", 1,
		},
		"twice": {
			[]int{-1, 0, 1, -1, 3, 4, -1, 6, 7},
			[]string{prompt("A"), says("m1", "1", bash("a")), result("a", `"content":"x"`), prompt("B"), says("m2", "1", bash("b")), result("b", `"content":"y"`), prompt("C"), says("m3", "1", bash("c")), result("c", `"content":"z"`)},
			"c C", 2,
		},
		"calls side by side are no branch": {
			[]int{-1, 0, 1, 2, 1, 4, 5, 6},
			[]string{prompt("A"), says("m1", "1", bash("a")), says("m1", "1", bash("b")), result("b", `"content":"y"`), result("a", `"content":"x"`), says("m2", "1", `{"type":"text","text":"Done."}`), prompt("B"), says("m3", "1", bash("c"))},
			"a b c A", 0,
		},
		"a summary is no branch": {
			[]int{-1, 0, 1, -1, 3, 4},
			[]string{prompt("A"), says("m1", "1", bash("a")), result("a", `"content":"x"`), `"type":"system","subtype":"compact_boundary","logicalParentUuid":"u2"`, `"type":"user","isCompactSummary":true,"message":{"content":"So far"}`, says("m2", "1", bash("b"))},
			"a b A", 0,
		},
		"a parent that is not there": {
			[]int{-1, 0, 1, 99, 3},
			[]string{prompt("A"), says("m1", "1", bash("a")), result("a", `"content":"x"`), prompt("B"), says("m2", "1", bash("b"))},
			"a b A", 0,
		},
		"no parents at all": {
			[]int{-1, -1, -1, -1, -1},
			[]string{prompt("A"), says("m1", "1", bash("a")), result("a", `"content":"x"`), prompt("B"), says("m2", "1", bash("b"))},
			"a b A", 0,
		},
	} {
		run := sessiontest.One(t, Formats(tools.Default()), "s.jsonl", chain(c.parents, c.lines...))
		if got := calls(run) + " " + run.TaskDescription; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		var skipped int64
		for _, n := range run.Ledger.Calls.Skipped {
			skipped += n
		}
		if skipped != c.skipped {
			t.Errorf("%s: %d calls skipped, want %d", name, skipped, c.skipped)
		}
	}
}

func TestOpeningRecords(t *testing.T) {
	for _, first := range []string{
		`{"type":"permission-mode","permissionMode":"default","sessionId":"s"}`, `{"type":"mode","mode":"normal","sessionId":"s"}`,
		`{"type":"last-prompt","lastPrompt":"x","sessionId":"s"}`, `{"type":"ai-title","aiTitle":"x","sessionId":"s"}`,
		`{"type":"custom-title","customTitle":"x","sessionId":"s"}`, `{"type":"agent-name","agentName":"x","sessionId":"s"}`,
		`{"type":"pr-link","prNumber":1,"sessionId":"s"}`, `{"type":"queue-operation","operation":"enqueue","sessionId":"s"}`,
		`{"type":"summary","summary":"x","leafUuid":"u"}`, `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`,
		`{"type":"of-tomorrow","sessionId":"s"}`,
	} {
		data := append([]byte(first+"\n"), lines(`"type":"user","message":{"content":"Fix"}`, says("m", "1", bash("a")))...)
		if p := format.NewProbe("s.jsonl", []byte(first)); !Formats(tools.Default())[0].Joined(p) {
			t.Errorf("%s does not open a session", first)
		}
		run := sessiontest.One(t, Formats(tools.Default()), "s.jsonl", data)
		if calls(run) != "a" || strings.Contains(fmt.Sprint(run.Warnings), "{unknown_record 1 x of-tomorrow}") != strings.Contains(first, "of-tomorrow") {
			t.Errorf("%s: %s %v", first, calls(run), run.Warnings)
		}
	}
}

// TestResumed: a session that goes on in a new file begins with the lines of the old one.
func TestResumed(t *testing.T) {
	old := string(lines(`"type":"user","message":{"content":"Fix"}`, says("m1", "1", bash("a"))))
	data := []byte(old + "\n" + strings.ReplaceAll(string(lines(`"type":"user","message":{"content":"Go on"}`, says("m2", "1", bash("b")))), `"sessionId":"s"`, `"sessionId":"s2"`))
	for file, want := range map[string]string{"s2.jsonl": "s2", "p/s.jsonl": "s", "renamed.jsonl": "s2"} {
		if run := sessiontest.One(t, Formats(tools.Default()), file, data); run.ID != want || calls(run) != "a b" {
			t.Errorf("%s: %s %s", file, run.ID, calls(run))
		}
	}
}

func TestSubagentBetween(t *testing.T) {
	run := sessiontest.One(t, Formats(tools.Default()), "s.jsonl", lines(
		says("m1", "1", `{"type":"text","text":"I look."}`),
		`"type":"assistant","isSidechain":true,"agentId":"1","message":{"id":"m2","content":[{"type":"text","text":"Me too."},{"type":"tool_use","id":"c","name":"Grep","input":{}}]}`,
		says("m1", "1", bash("a")),
	))
	if calls(run) != "a" || run.States[1].Thought != "I look." {
		t.Errorf("%s: %q", calls(run), run.States[1].Thought)
	}
}

func TestAPIError(t *testing.T) {
	failed := `"type":"assistant","isApiErrorMessage":true,"message":{"id":"x","model":"<synthetic>","stop_reason":"stop_sequence","content":[{"type":"text","text":"API Error: 529 overloaded\nmore"}]}`
	run := sessiontest.One(t, Formats(tools.Default()), "s.jsonl", lines(says("m", "1", bash("a")), failed))
	if run.ExitStatus != "API Error: 529 overloaded" || run.Model != "m" {
		t.Errorf("%q of %s", run.ExitStatus, run.Model)
	}
	again := strings.Replace(says("m2", "1", bash("b")), `"model"`, `"stop_reason":"end_turn","model"`, 1)
	if run := sessiontest.One(t, Formats(tools.Default()), "s.jsonl", lines(says("m", "1", bash("a")), failed, again)); run.ExitStatus != "end_turn" {
		t.Errorf("an error that the run got over is its end: %q", run.ExitStatus)
	}
}

func TestWindows(t *testing.T) {
	for _, file := range []string{`C:\\w\\p\\src\\a.py`, `c:/w/p/src/a.py`, `src\\a.py`, `/c/w/p/src/a.py`, `/mnt/c/w/p/src/a.py`} {
		data := strings.ReplaceAll(string(lines(says("m", "1", fmt.Sprintf(`{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"%s"}}`, file)))), `"/home/u/p"`, `"C:\\w\\p"`)
		if run := sessiontest.One(t, Formats(tools.Default()), "s.jsonl", []byte(data)); run.States[1].FilePath != "src/a.py" {
			t.Errorf("%s is %q", file, run.States[1].FilePath)
		}
	}
}

func TestStreamJSON(t *testing.T) {
	run := sessiontest.One(t, Formats(tools.Default()), "out.jsonl", []byte(strings.Join([]string{
		`{"type":"system","subtype":"init","session_id":"s","uuid":"1","cwd":"/w","model":"big","claude_code_version":"2.1"}`,
		`{"type":"assistant","session_id":"s","uuid":"2","parent_tool_use_id":null,"message":{"id":"m1","model":"big","content":[{"type":"tool_use","id":"a","name":"Task","input":{"prompt":"x"}}]}}`,
		`{"type":"assistant","session_id":"s","uuid":"3","parent_tool_use_id":"a","message":{"id":"m2","model":"small","content":[` + bash("b") + `]}}`,
		`{"type":"user","session_id":"s","uuid":"4","parent_tool_use_id":"a","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]}}`,
		`{"type":"user","session_id":"s","uuid":"5","parent_tool_use_id":null,"message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"done"}]}}`,
		`{"type":"assistant","session_id":"s","uuid":"6","parent_tool_use_id":null,"message":{"id":"m3","model":"big","content":[` + bash("c") + `]}}`,
		`{"type":"result","subtype":"error_max_turns","is_error":true,"session_id":"s","uuid":"7","num_turns":3}`,
	}, "\n")))
	if got := fmt.Sprint(run.ID, run.Model, run.Version, run.Workspace, run.FormatVersion, run.ExitStatus); got != "sbig2.1/wstream-jsonerror_max_turns" || !strings.HasSuffix(calls(run), "c") || strings.Contains(calls(run), "b") {
		t.Errorf("%s: %s", got, calls(run))
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
