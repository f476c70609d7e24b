package minisweagent

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

// one reads a record that holds one run, with what it says about the outcome.
func one(t testing.TB, file, data string) (*trajectory.Trajectory, *format.Evidence) {
	t.Helper()
	return sessiontest.Judged(t, Formats(tools.Default()), file, []byte(data))
}

// summary counts a run's steps, its failed steps and its known exit codes.
func summary(t *trajectory.Trajectory, e *format.Evidence) string {
	failed, codes := 0, 0
	for _, s := range t.States[1:] {
		if s.IsError.Or(0) == 1 {
			failed++
		}
		if s.ExitCode.Valid {
			codes++
		}
	}
	text := fmt.Sprintf("%s %s %s %s | %d steps, %d failed, %d codes | %s", t.Format, t.FormatVersion, t.TaskID, t.Model, len(t.States)-1, failed, codes, t.ExitStatus)
	if e != nil {
		text += fmt.Sprintf(" %s %s %s", e.Outcome, e.Detail, e.Source)
	}
	return text + fmt.Sprint(" ", t.Warnings)
}

func TestFixtures(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "mini-sweagent")
	for file, want := range map[string]string{
		"github_issue.traj.json":              "mini-sweagent list github_issue  | 9 steps, 2 failed, 9 codes | Submitted []",
		"local.traj.json":                     "mini-sweagent list local  | 1 steps, 0 failed, 1 codes | Submitted fail empty_patch submission []",
		"mini-1-rfc.traj.json":                "mini-sweagent 1 mini-1-rfc anthropic/claude-3-5-sonnet-20241022 | 2 steps, 0 failed, 2 codes | Submitted fail empty_patch submission []",
		"mini-1-sympy__sympy-11618.traj.json": "mini-sweagent 1 sympy__sympy-11618 google/gemini-3-pro-preview | 43 steps, 0 failed, 43 codes | Submitted []",
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		run, e := one(t, file, string(data))
		if got := summary(run, e); got != want {
			t.Errorf("%s:\n got %s\nwant %s", file, got, want)
		}
		if run.TaskDescription == "" || strings.Contains(run.ID, "/") {
			t.Errorf("%s: task %q, id %q", file, run.TaskDescription, run.ID)
		}
		for _, s := range run.States[1:] {
			if s.Tool != "run_in_terminal" || s.Command() == "" || strings.Contains(s.Observation, "<returncode>") {
				t.Errorf("%s step %d: %s %q", file, s.Step, s.Tool, s.Observation)
			}
		}
	}
}

// Version 1.1: native calls, several at once, refused turns, a command that did not end,
// and the end of the run as a message of its own.
func TestNativeCalls(t *testing.T) {
	call := func(id, command string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"bash","arguments":%q}}`, id, fmt.Sprintf(`{"command":%q}`, command))
	}
	run, e := one(t, "m/a__b-1/a__b-1.traj.json", `{"trajectory_format":"mini-swe-agent-1.1","instance_id":"a__b-1",
"info":{"exit_status":"Submitted","submission":"","mini_version":"2.2.4","config":{"model":{"model_name":"m/x"},"environment":{"cwd":"/testbed"}}},
"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"<pr_description>\nConsider the following PR description:\nBroken.\n</pr_description> do"}]},
{"role":"user","content":"Tool call error","extra":{"interrupt_type":"FormatError"}},
{"role":"user","content":"Tool call error","extra":{"interrupt_type":"FormatError"}},
{"role":"assistant","content":"Two at once","tool_calls":[`+call("c1", "ls")+`,`+call("c2", "cat <<'E' > a\nx\nE")+`],
 "extra":{"actions":[{"command":"ls","tool_call_id":"c1"},{"command":"cat <<'E' > a\nx\nE","tool_call_id":"c2"}],"timestamp":17.5,
 "response":{"id":"r1","model":"x","usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}}},
{"role":"tool","tool_call_id":"c2","content":"<returncode>0</returncode>\n<output>\n</output>","extra":{"raw_output":"","returncode":0,"timestamp":18}},
{"role":"tool","tool_call_id":"c1","content":"<returncode>0</returncode>\n<output>\na\n</output>","extra":{"raw_output":"a\n","returncode":0}},
{"role":"assistant","content":"wait","tool_calls":[`+call("c3", "sleep 99")+`]},
{"role":"tool","tool_call_id":"c3","content":"<returncode>-1</returncode>\n","extra":{"raw_output":"","returncode":-1,"exception_info":"timed out"}},
{"role":"assistant","content":"done","tool_calls":[`+call("c4", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat p")+`]},
{"role":"exit","content":"","extra":{"exit_status":"Submitted","submission":""}}]}`)
	want := "mini-sweagent 1.1 a__b-1 m/x | 3 steps, 1 failed, 2 codes | Submitted fail empty_patch submission [{format_error 2 x FormatError}]"
	if got := summary(run, e); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	var got []string
	for _, s := range run.States[1:] {
		got = append(got, fmt.Sprintf("%s %q %q %s %d %s %q", s.EntryID, s.Command(), s.ResponsePreview, s.ErrorSource, s.InputTokens.Or(-1), s.ResponseGroup, s.Thought))
	}
	if text := strings.Join(got, "; "); text != `c1 "ls" "a\n" exit_code 10 r1 "Two at once"; c2 "cat <<'E' > a\nx\nE" "" exit_code -1 r1 ""; c3 "sleep 99" "timed out" flag -1  "wait"` {
		t.Error(text)
	}
	if run.TaskDescription != "Broken." || run.Repo != "a/b" || run.Workspace != "" || run.States[1].Timestamp != "17.5" {
		t.Errorf("%+v", run)
	}
}

// The earliest logs are the messages alone, known by the file's name or by what the model is
// told.
func TestMessagesAlone(t *testing.T) {
	say := func(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }
	const want = "mini-sweagent list a__b-1  | 2 steps, 1 failed, 2 codes | Submitted fail empty_patch submission []"
	for name, system := range map[string]string{"a__b-1/a__b-1.traj.json": "s", "a__b-1.json": "Your response must contain exactly ONE bash code block."} {
		run, e := one(t, name, "["+strings.Join([]string{
			say("system", system), say("user", "the task"),
			say("assistant", "THOUGHT: look\n```bash\nls\n```"), say("user", "<returncode>0</returncode>\n<output>\na.py\n</output>"),
			say("assistant", "THOUGHT: go\n```bash\nmake\n```"), say("user", "<returncode>2</returncode>\n<output>\nno\n</output>"),
			say("assistant", "THOUGHT: done\n```bash\necho MINI_SWE_AGENT_FINAL_OUTPUT\n```"), say("user", ""),
		}, ",")+"]")
		if got := summary(run, e); got != want {
			t.Errorf("%s: got %s\nwant %s", name, got, want)
		}
		if s := run.States[1]; s.Command() != "ls" || s.ResponsePreview != "a.py\n" || s.Thought != "look" || run.TaskDescription != "the task" {
			t.Errorf("%s: %q = %q, thought %q, task %q", name, s.Command(), s.ResponsePreview, s.Thought, run.TaskDescription)
		}
	}
}

func TestTurns(t *testing.T) {
	say := func(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }
	for _, tt := range []struct{ name, status, messages, want string }{
		{"two blocks are refused", "LimitsExceeded", say("assistant", "```bash\na\n```\n```bash\nb\n```") + "," + say("user", "Please always provide EXACTLY ONE action"),
			"0 steps, 0 failed, 0 codes | LimitsExceeded [{format_error 1 x turn without exactly one command}]"},
		{"the last answer is missing", "LimitsExceeded", say("assistant", "```bash\na\n```"), "1 steps, 0 failed, 0 codes | LimitsExceeded [{no_observation 1 x bash}]"},
		{"the platform failed", "APIError", say("assistant", "```bash\na\n```") + "," + say("user", "<returncode>2</returncode>\n<output>\nx\n</output>"),
			"1 steps, 1 failed, 1 codes | APIError unknown infrastructure exit_status []"},
		{"a timeout", "Submitted", say("assistant", "```bash\na\n```") + "," + say("user", "The last command <command>a</command> timed out and has been killed.") + "," + say("user", "more"),
			"1 steps, 1 failed, 0 codes | Submitted [{stray_observation 1 x answer to an unknown call: more}]"},
		{"a command that did not end", "Submitted", say("assistant", "```bash\na\n```") + "," + say("user", "<returncode>-1</returncode>\n<output>\n</output>"),
			"1 steps, 1 failed, 0 codes | Submitted []"},
		{"the end as a message of its own", "", say("assistant", "```bash\na\n```") + "," + say("user", "<returncode>0</returncode>\n<output>\n</output>") + `,{"role":"exit","content":"why","extra":{"exit_status":"LimitsExceeded","submission":""}}`,
			"1 steps, 0 failed, 1 codes | LimitsExceeded fail empty_patch submission []"},
		{"the mark alone does not end a run", "", say("assistant", "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT x\n```") + "," + say("user", "<returncode>1</returncode>\n<output>\nx\n</output>"),
			"1 steps, 1 failed, 1 codes |  []"},
		{"another template", "", say("assistant", "```bash\na\n```") + "," + say("user", "Observation: x"), "1 steps, 0 failed, 0 codes |  []"},
		{"other types", "", `{"role":"assistant","content":5,"tool_calls":{},"extra":[]},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"bash","arguments":"{\"command\": "}}]}`,
			"1 steps, 0 failed, 0 codes |  [{bad_arguments 1 x bash} {no_observation 1 x bash}]"},
	} {
		run, e := one(t, "t.traj.json", `{"trajectory_format":"mini-swe-agent-1","info":{"exit_status":"`+tt.status+`"},"messages":[`+say("user", "task")+","+tt.messages+`]}`)
		if _, got, _ := strings.Cut(summary(run, e), " | "); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestSummary(t *testing.T) {
	data := []byte(`{"total":2,"passed":1,"instances":[{"instance_id":"a__b-1","resolved":true},{"instance_id":"a__b-2","resolved":false},{"instance_id":"a__b-3"}]}`)
	f := Formats(tools.Default())[1]
	rec := format.Record{Data: data, Probe: format.NewProbe("results_summary.json", data)}
	if _, ok := f.Detect(rec.Probe); !ok {
		t.Fatal("not recognised")
	}
	items, err := f.Read(rec)
	if err != nil || len(items) != 2 || items[0].Evidence.Outcome != trajectory.Pass || items[1].Evidence.Outcome != trajectory.Fail || items[1].Evidence.Key != "a__b-2" {
		t.Errorf("%v %v", items, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "mini-sweagent") {
		f.Add(data)
	}
	f.Add([]byte(`{"trajectory_format":"mini-swe-agent-1","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"` + "```bash\\nls\\n```" + `"},{"role":"user","content":"<returncode>0</returncode>"}]}`))
	f.Add([]byte(`{"trajectory_format":"mini-swe-agent-1.1","messages":[{"role":"assistant","extra":{"actions":[{"command":"a","tool_call_id":"1"}]}},{"role":"tool","tool_call_id":"1"},{"role":"exit"}]}`))
	f.Add([]byte(`[{"role":"user","content":"` + "```" + `"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := read(format.Record{File: "a.traj.json", Data: data, Probe: format.NewProbe("a.traj.json", data)}, tools.Default())
		if err == nil && (len(items) == 0 || len(items[0].Trajectory.States) != len(items[0].Trajectory.Transitions)+1) {
			t.Errorf("%v", items)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	data := conformance.Read(b, "fixtures", "mini-sweagent", "mini-1-sympy__sympy-11618.traj.json")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(format.Record{File: "a.traj.json", Data: data, Probe: format.NewProbe("a.traj.json", data)}, tools.Default()); err != nil {
			b.Fatal(err)
		}
	}
}
