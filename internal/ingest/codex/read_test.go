package codex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/session/sessiontest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

func TestFixture(t *testing.T) {
	data := conformance.Read(t, "fixtures", "codex", "codex-pomodor-timer.jsonl")
	run := sessiontest.One(t, Formats(tools.Default()), "codex-pomodor-timer.jsonl", data)
	want := "rollout 019a085e-04c1-7f81-a09e-9555f6a1fb40 gpt-5-codex | 14 steps, 1 failed, 13 codes: apply_patch 11 run_in_terminal 3 |  [{skipped_action 4 x update_plan} {task_unknown 1 x neither the log nor its path names a task}]"
	if got := sessiontest.Summary(run); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	if !strings.HasPrefix(run.TaskDescription, "Build a simple Pomodoro timer") || run.Version != "0.47.0" || run.ID != "019a085e-04c1-7f81-a09e-9555f6a1fb40" {
		t.Errorf("%+v", run)
	}
	tokens := int64(0)
	for _, s := range run.States[1:] {
		if !s.InputTokens.Valid {
			t.Errorf("step %d: %+v", s.Step, s)
		}
		tokens += s.OutputTokens.Or(0)
	}
	if s := run.States[2]; s.ResultingState != "file_patched:index.html" || s.IsError.Or(-1) != 0 || s.InputTokens.Or(0) != 5481 {
		t.Errorf("%+v", s)
	}
}

func TestSession(t *testing.T) {
	item := func(payload string) string {
		return fmt.Sprintf(`{"timestamp":"t","type":"response_item","payload":{%s}}`, payload)
	}
	count := func(total, last int) string {
		return fmt.Sprintf(`{"timestamp":"t","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":%d,"output_tokens":2,"cached_input_tokens":1}}}}`, total, last)
	}
	run := sessiontest.One(t, Formats(tools.Default()), "x/a__b-1/rollout.jsonl", []byte(strings.Join([]string{
		`{"timestamp":"t","type":"session_meta","payload":{"id":"i","cwd":"/w","cli_version":"1"}}`,
		item(`"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]`),
		item(`"type":"message","role":"user","content":[{"type":"input_text","text":"Do it"}]`),
		`{"timestamp":"t","type":"turn_context","payload":{"cwd":"/w","model":"m"}}`,
		item(`"type":"reasoning","summary":[{"type":"summary_text","text":"why"}]`),
		item(`"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"1"`),
		item(`"type":"function_call","name":"shell_command","arguments":"{\"command\":","call_id":"2"`),
		count(10, 10), count(10, 10),
		item(`"type":"function_call_output","call_id":"2","output":"Exit code: 3\nWall time: 1\nOutput:\nbad"`),
		item(`"type":"function_call_output","call_id":"1","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"`),
		item(`"type":"message","role":"assistant","content":[{"type":"output_text","text":"say"}]`),
		count(15, 5),
		item(`"type":"function_call","name":"shell","arguments":"{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Update File: /w/src/A.py\\n\"]}","call_id":"3"`),
		item(`"type":"function_call_output","call_id":"3","output":{"content":"no","success":false}`),
		item(`"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: b.py\n","call_id":"4"`),
		item(`"type":"custom_tool_call_output","call_id":"4","output":[{"type":"input_text","text":"done"}]`),
		item(`"type":"local_shell_call","call_id":"5","action":{"type":"exec","command":["echo","a b"]}`),
		item(`"type":"web_search_call","status":"completed","action":{"type":"search"}`),
		item(`"type":"ghost_snapshot"`),
		`{"timestamp":"t","type":"compacted","payload":{"message":"m"}}`,
		`{"timestamp":"t","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`,
	}, "\n")))
	want := "rollout a__b-1 m | 5 steps, 2 failed, 2 codes: apply_patch 2 run_in_terminal 3 | interrupted " +
		"[{bad_arguments 1 x shell_command} {no_observation 1 x local_shell} {skipped_action 1 x web_search}]"
	if got := sessiontest.Summary(run); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	var got []string
	for _, s := range run.States[1:] {
		got = append(got, fmt.Sprintf("%s %q %q %d %s", s.ResultingState, s.ResponsePreview, s.Thought, s.InputTokens.Or(-1), s.Command()))
	}
	if text := strings.Join(got, "\n"); text != `terminal:ls "a" "why" 10 ls
terminal:unknown "bad" "" -1 
file_patched:src/a.py "no" "say" -1 
file_patched:b.py "done" "" -1 
terminal:echo "" "" -1 echo 'a b'` {
		t.Error(text)
	}
	if run.TaskDescription != "Do it" || run.Condensations != 1 || run.Repo != "a/b" {
		t.Errorf("%+v", run)
	}
}

func TestWithoutEnvelope(t *testing.T) {
	run := sessiontest.One(t, Formats(tools.Default()), "rollout.jsonl", []byte(`{"id":"i","timestamp":"t","instructions":null,"git":{}}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Do"}]}
{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"1"}
{"type":"function_call_output","call_id":"1","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":1}}"}
`))
	if got := sessiontest.Summary(run); got != "rollout i  | 1 steps, 1 failed, 1 codes: run_in_terminal 1 |  [{task_unknown 1 x neither the log nor its path names a task}]" {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "codex") {
		f.Add(data)
	}
	f.Add([]byte(`{"type":"session_meta","payload":{"id":"i"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"1"}}
{"type":"response_item","payload":{"type":"function_call_output","output":"{}","call_id":"1"}}`))
	f.Fuzz(func(t *testing.T, data []byte) { sessiontest.Fuzz(t, Formats(tools.Default()), "r.jsonl", data) })
}

func BenchmarkRead(b *testing.B) {
	data := conformance.Read(b, "fixtures", "codex", "codex-pomodor-timer.jsonl")
	sessiontest.Bench(b, Formats(tools.Default()), "s.jsonl", data)
}
