package gemini

import (
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/session/sessiontest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

func TestFixture(t *testing.T) {
	data := conformance.Read(t, "fixtures", "gemini", "gemini-cli-pomodoro-timer.json")
	run := sessiontest.One(t, Formats(tools.Default()), "gemini-cli-pomodoro-timer.json", data)
	want := "session 0b23371a-ce2e-4b1c-81a0-44af5d94d9ce gemini-2.5-pro | 11 steps, 1 failed, 0 codes: create_file 3 replace_string_in_file 8 |  [{task_unknown 1 x neither the log nor its path names a task}]"
	if got := sessiontest.Summary(run); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	if !strings.HasPrefix(run.TaskDescription, "Build a simple Pomodoro timer") {
		t.Error(run.TaskDescription)
	}
	last := run.States[len(run.States)-1]
	if !strings.HasPrefix(last.ResultingState, "file_modify_failed:") || last.ErrorSource != "flag" || !strings.HasPrefix(last.ResponsePreview, "A secondary check") {
		t.Errorf("%+v", last)
	}
}

func TestSession(t *testing.T) {
	run := sessiontest.One(t, Formats(tools.Default()), "s.json", []byte(`{"sessionId":"s","projectHash":"h","messages":[
{"id":"0","type":"info","content":"x"},{"id":"1","type":"user","content":"/help"},{"id":"2","type":"user","content":[{"text":"Do"}]},
{"id":"3","type":"gemini","content":"","model":"m","thoughts":[{"subject":"S","description":"D"}],"tokens":{"input":9,"output":1,"cached":2,"thoughts":3},"toolCalls":[
 {"id":"a","name":"run_shell_command","args":{"command":"false"},"status":"success","result":[{"functionResponse":{"response":{"output":"Command: false\nExit Code: 1\nSignal: 0"}}}]},
 {"id":"b","name":"write_todos","args":{},"status":"success"},
 {"id":"c","name":"glob","args":{"pattern":"*.py"},"status":"cancelled","resultDisplay":"no"},
 {"id":"d","name":"read_file","args":{"absolute_path":"/a"}}]},7]}`))
	want := "session s m | 3 steps, 2 failed, 1 codes: file_search 1 read_file 1 run_in_terminal 1 |  " +
		"[{no_observation 1 x read_file} {skipped_action 1 x write_todos} {task_unknown 1 x neither the log nor its path names a task}]"
	if got := sessiontest.Summary(run); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	if s := run.States[1]; s.Thought != "S: D" || s.OutputTokens.Or(0) != 4 || s.InputTokens.Or(0) != 9 || run.States[2].InputTokens.Valid || run.TaskDescription != "Do" {
		t.Errorf("%+v", s)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "gemini") {
		f.Add(data)
	}
	f.Add([]byte(`{"sessionId":"s","messages":[{"type":"gemini","toolCalls":[{"name":"read_file","result":[{}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { sessiontest.Fuzz(t, Formats(tools.Default()), "s.json", data) })
}

func BenchmarkRead(b *testing.B) {
	data := conformance.Read(b, "fixtures", "gemini", "gemini-cli-pomodoro-timer.json")
	sessiontest.Bench(b, Formats(tools.Default()), "s.json", data)
}
