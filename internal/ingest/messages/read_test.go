package messages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/session/sessiontest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// all lists what a record holds, one line an item.
func all(t testing.TB, file, data string) string {
	t.Helper()
	items, err := sessiontest.Read(Formats(tools.Default()), file, []byte(data))
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, item := range items {
		switch {
		case item.Trajectory != nil:
			lines = append(lines, item.Trajectory.Format+" "+sessiontest.Summary(item.Trajectory))
		case item.Evidence != nil:
			e := item.Evidence
			lines = append(lines, fmt.Sprintf("  %s %s by %s (rank %d)", e.Outcome, e.Detail, e.Source, e.Rank))
		case item.Refused != nil:
			lines = append(lines, fmt.Sprintf("refused %s: %s", item.Refused.Record, item.Refused.Message))
		}
	}
	return strings.Join(lines, "\n")
}

func run(t testing.TB, data string) *trajectory.Trajectory {
	t.Helper()
	return sessiontest.One(t, Formats(tools.Default()), "rows.jsonl", []byte(data))
}

// steps lists what the states of a run say.
func steps(run *trajectory.Trajectory) string {
	var lines []string
	for _, s := range run.States[1:] {
		code := "-"
		if s.ExitCode.Valid {
			code = fmt.Sprint(s.ExitCode.Value)
		}
		lines = append(lines, fmt.Sprintf("%s %s %q %q %s %d %s %s", s.ResultingState, s.Log.Args.Raw, s.ResponsePreview, s.Thought, code, s.IsError.Or(-1), s.ErrorSource, s.ResponseGroup))
	}
	return strings.Join(lines, "\n")
}

func TestNebiusRaw(t *testing.T) {
	data := conformance.Read(t, "fixtures", "messages", "nebius-swe-agent-raw.json")
	const want = `messages swe-agent tomerfiliba__plumbum-366 swe-agent-llama-70b | 5 steps, 0 failed, 0 codes: file_search 1 read_file 1 replace_string_in_file 1 run_in_terminal 2 | submitted []
  pass  by eval_logs (rank 3)
  pass  by target (rank 5)
messages swe-agent tempoCollaboration__OQuPy-74 swe-agent-llama-70b | 13 steps, 3 failed, 0 codes: create_file 1 file_search 1 read_file 1 replace_string_in_file 4 run_in_terminal 6 | submitted []
  pass  by eval_logs (rank 3)
  pass  by target (rank 5)
messages swe-agent marshmallow-code__apispec-811 swe-agent-llama-70b | 4 steps, 0 failed, 0 codes: read_file 1 replace_string_in_file 1 run_in_terminal 2 | submitted []
  pass  by eval_logs (rank 3)
  pass  by target (rank 5)
messages swe-agent brightway-lca__brightway2-analyzer-19 swe-agent-llama-405b | 7 steps, 0 failed, 0 codes: create_file 1 file_search 1 read_file 1 replace_string_in_file 2 run_in_terminal 2 | submitted []
  pass  by eval_logs (rank 3)
  pass  by target (rank 5)
messages swe-agent ReviewNB__treon-25 swe-agent-llama-70b | 15 steps, 4 failed, 0 codes: file_search 1 grep_search 2 read_file 2 replace_string_in_file 5 run_in_terminal 5 | submitted []
  pass  by eval_logs (rank 3)
  pass  by target (rank 5)`
	if got := all(t, "nebius-swe-agent-raw.json", string(data)); got != want {
		t.Errorf(" got\n%s", got)
	}
	items, err := sessiontest.Read(Formats(tools.Default()), "x.json", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		r := item.Trajectory
		if r == nil {
			continue
		}
		if r.Agent != "SWE-agent" || r.TaskDescription == "" || strings.Contains(r.TaskDescription, "INSTRUCTIONS") || r.Workspace == "" {
			t.Errorf("%s: %q %q %q", r.ID, r.Agent, r.Workspace, r.TaskDescription)
		}
		for _, s := range r.States[1:] {
			if strings.Contains(s.Observation, "bash-$") || s.Log.Args.Has == 0 || s.OperationType == "modify" && s.FilePath == "" {
				t.Errorf("%s step %d: %s %s", r.ID, s.Step, s.Log.Args.Raw, s.Observation)
			}
		}
	}
}

// The rows of SWE-Gym and nebius OpenHands: calls in parallel, answers by id in any order,
// arguments that are no JSON, nudges of the user, a finish without an answer.
func TestToolCalls(t *testing.T) {
	const data = `{"instance_id":"python__mypy-10308_0","run_id":"gpt-4o_maxiter_30_N_v2.1","resolved":false,"test_result":{"git_patch":"d","report":{"resolved":true,"failed_apply_patch":false}},"messages":[
{"role":"system","content":"s","tool_calls":null},{"role":"user","content":[{"type":"text","text":"<issue_description>\nBroken\n</issue_description> more"}]},
{"role":"assistant","content":"All at once","tool_calls":[
 {"id":"1","type":"function","function":{"name":"execute_bash","arguments":"{\"command\":\"ls\"}"}},
 {"id":"2","type":"function","function":{"name":"str_replace_editor","arguments":"{\"command\":\"view\",\"path\":\"/workspace/python__mypy__0.820/a.py\",\"view_range\":[1,2]}"}},
 {"id":"3","type":"function","function":{"name":"execute_bash","arguments":"{\"command\": \"cat"}}]},
{"role":"tool","tool_call_id":"2","name":"str_replace_editor","content":"ERROR:\nInvalid ` + "`path`" + ` parameter"},
{"role":"tool","tool_call_id":"1","content":"OBSERVATION:\na\n[Command finished with exit code 2]"},
{"role":"tool","tool_call_id":"3","content":"x"},{"role":"tool","tool_call_id":"9","content":"?"},
{"role":"user","content":"Please continue working on the task"},
{"role":"assistant","content":"I think","tool_calls":[{"id":"4","function":{"name":"think","arguments":{"thought":"hm"}}}]},
{"role":"tool","tool_call_id":"4","content":"Your thought has been logged."},
{"role":"assistant","content":"","tool_calls":[{"id":"5","function":{"name":"finish","arguments":"{}"}}]}]}`
	const want = `messages tool_calls python__mypy-10308 gpt-4o | 4 steps, 2 failed, 1 codes: read_file 1 run_in_terminal 2 think 1 | finish [{bad_arguments 1 x execute_bash} {stray_observation 1 x answer to an unknown call: ?}]
  pass  by test_result.report (rank 3)
  fail  by resolved (rank 5)`
	if got := all(t, "rows.jsonl", data); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const wantSteps = `terminal:ls {"command":"ls"} "a\n[Command finished with exit code 2]" "All at once" 2 1 exit_code message 3
file_read:a.py {"command":"view","filePath":"/a.py","startLine":1,"endLine":2} "ERROR:\nInvalid ` + "`path`" + ` parameter" "" - 1 text message 3
terminal:unknown "{\"command\": \"cat" "x" "" - -1  message 3
tool_result:think:success {"thought":"hm"} "Your thought has been logged." "I think" - -1  `
	r := run(t, data)
	if got := steps(r); got != wantSteps {
		t.Errorf("got\n%s\nwant\n%s", got, wantSteps)
	}
	if r.TaskDescription != "Broken" || r.Agent != "OpenHands" || r.Repo != "python/mypy" || r.Workspace != "/workspace/python__mypy__0.820" && r.Workspace != "" {
		t.Errorf("%+v", r)
	}
}

// SWE-smith's rows: calls as XML in the text, answers as turns of the user.
func TestXML(t *testing.T) {
	const data = `{"instance_id":"getmoto__moto.694ce1f4.pr_7111","traj_id":"t1","model":"m","resolved":true,"patch":"d","messages":[
{"role":"system","content":"s"},{"role":"user","content":"<pr_description>\nP\n</pr_description>"},
{"role":"assistant","content":"Look.\n\n<function=str_replace_editor>\n<parameter=command>view</parameter>\n<parameter=path>/testbed</parameter>\n</function>"},
{"role":"user","content":"OBSERVATION:\nHere's the files and directories up to 2 levels deep in /testbed, excluding hidden items:\n/testbed"},
{"role":"assistant","content":"<function=bash>\n<parameter=command>echo 1</parameter>\n</function>"},
{"role":"user","content":[{"type":"text","text":"EXECUTION RESULT of [bash]:\n1"}]},
{"role":"assistant","content":"<function=submit>\n</function>"}]}`
	r := run(t, data)
	if got := sessiontest.Summary(r); got != "xml getmoto__moto.694ce1f4.pr_7111 m | 2 steps, 0 failed, 0 codes: list_dir 1 run_in_terminal 1 | finish []" {
		t.Error(got)
	}
	if got := steps(r); got != `dir_listed: {"command":"view","filePath":"/"} "Here's the files and directories up to 2 levels deep in /testbed, excluding hidden items:\n/testbed" "Look." - 0 text `+"\n"+
		`terminal:echo {"command":"echo 1"} "1" "" - -1  ` {
		t.Error(got)
	}
	if r.ID != "t1" || r.Repo != "getmoto/moto" || r.TaskDescription != "P" {
		t.Errorf("%+v", r)
	}
}

func TestShapes(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"mini-swe-agent in a data set", `{"instance_id":"a__b-1","reward":1.0,"conversations":[{"from":"human","value":"t"},{"from":"gpt","value":"THOUGHT: x\n` + "```bash\\nls\\n```" + `"},{"from":"human","value":"<returncode>1</returncode>\n<output>\ny\n</output>"},{"from":"gpt","value":"no"},{"from":"gpt","value":"` + "```bash\\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\\n```" + `"}]}`,
			"messages mini-swe-agent a__b-1  | 1 steps, 1 failed, 1 codes: run_in_terminal 1 | finish [{format_error 1 x turn without a command}]\n  pass  by reward (rank 5)"},
		{"the older mark of mini-swe-agent's end", `{"instance_id":"a__b-1","messages":[{"role":"user","content":"t"},{"role":"assistant","content":"` + "```bash\\nls\\n```" + `"},{"role":"user","content":"<returncode>0</returncode>\n<output>\n</output>"},{"role":"assistant","content":"` + "```bash\\necho MINI_SWE_AGENT_FINAL_OUTPUT\\n```" + `"}]}`,
			"messages mini-swe-agent a__b-1  | 1 steps, 0 failed, 1 codes: run_in_terminal 1 | finish []"},
		{"a command of mini-swe-agent that did not end", `{"instance_id":"a__b-1","messages":[{"role":"user","content":"t"},{"role":"assistant","content":"` + "```bash\\nsleep 99\\n```" + `"},{"role":"user","content":"<returncode>-1</returncode>\n<output>\n</output>"}]}`,
			"messages mini-swe-agent a__b-1  | 1 steps, 1 failed, 0 codes: run_in_terminal 1 |  []"},
		{"a bare dialogue", `[{"role":"user","content":"t"},{"role":"assistant","content":"","function_call":{"name":"cat_file","arguments":"{\"a\":1}"}},{"role":"function","name":"cat_file","content":"x"},{"role":"tool","content":"y"}]`,
			"messages function_call unknown-67bdf3ad7392  | 1 steps, 0 failed, 0 codes: cat_file 1 |  [{stray_observation 1 x answer to an unknown call: y} {task_unknown 1 x neither the log nor its path names a task} {unmapped_tool 1 x cat_file}]"},
		{"rows of a list, one bad", `[{"instance_id":"a__b-1","messages":[{"role":"user","content":"t"}],"resolved":0},{"instance_id":"a__b-2","messages":[]},5]`,
			"messages no calls a__b-1  | 0 steps, 0 failed, 0 codes:  |  []\n  fail  by resolved (rank 5)\nrefused row 2: the row has no messages: want an array of role and content under messages, trajectory or conversations\n" +
				"refused row 3: the row has no messages: want an array of role and content under messages, trajectory or conversations"},
		{"an empty patch", `{"instance_id":"a__b-1","model_patch":"\n","trajectory":[{"role":"user","content":"t"}]}`,
			"messages no calls a__b-1  | 0 steps, 0 failed, 0 codes:  |  []\n  fail empty_patch by patch (rank 5)"},
		{"messages in a text", `{"instance_id":"a__b-1","messages":"[{\"role\":\"user\",\"content\":\"t\"},{\"role\":\"assistant\",\"content\":\"<function=bash><parameter=command>ls</parameter></function>\"}]"}`,
			"messages xml a__b-1  | 1 steps, 0 failed, 0 codes: run_in_terminal 1 |  [{no_observation 1 x bash}]"},
		{"a reward between", `{"instance_id":"a__b-1","reward":0.5,"trajectory":[{"role":"user","content":"t"}]}`,
			"messages no calls a__b-1  | 0 steps, 0 failed, 0 codes:  |  []"},
	} {
		if got := all(t, "x.json", tt.data); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// The converter's verdict and farewell are dropped; quotes around texts too.
func TestADP(t *testing.T) {
	const data = `[{"id":"a__b-1","details":{"model_name":"m","exit_status":"submitted","eval_logs":"x\nAll tests passed.\n"},"content":[
{"class_":"text_observation","source":"user","content":"ISSUE:\nI\n\nINSTRUCTIONS:\n(Open file: n/a)\n(Current directory: /b)\nbash-$"},
{"class_":"api_action","function":"open","kwargs":{"path":"\"src/a.py\"","line_number":"3"},"description":"D"},
{"class_":"text_observation","source":"user","content":"[File: /b/src/a.py (9 lines total)]\n1:x\n2:y\n\n(Open file: /b/src/a.py)\n(Current directory: /b)\nbash-$"},
{"class_":"api_action","function":"edit","kwargs":{"start_line":1,"end_line":2,"replacement_text":"\"z\n\""},"description":null},
{"class_":"text_observation","source":"user","content":"Your proposed edit has introduced new syntax error(s).\n(Open file: /b/src/a.py)\n(Current directory: /b)\nbash-$"},
{"class_":"code_action","language":"bash","content":"python a.py","description":""},
{"class_":"text_observation","source":"user","content":"Traceback (most recent call last):\n  E\n(Open file: /b/src/a.py)\n(Current directory: /b)\nbash-$"},
{"class_":"api_action","function":"submit","kwargs":{}},
{"class_":"text_observation","source":"user","content":"Your solution has been verified as correct."},
{"class_":"message_action","content":"<finish> Done </finish>"}]}]`
	want := `adp standardized a__b-1 m | 3 steps, 2 failed, 0 codes: read_file 1 replace_string_in_file 1 run_in_terminal 1 | submitted [{synthetic_message 2 x item behind the end of the run}]
  pass  by eval_logs (rank 3)`
	if got := all(t, "x.json", data); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = `file_read:src/a.py {"filePath":"/src/a.py","line_number":"3","startLine":1,"endLine":2} "[File: /b/src/a.py (9 lines total)]\n1:x\n2:y\n" "D" - 0 text 
file_modify_failed:src/a.py {"startLine":1,"endLine":2,"newString":"z\n","filePath":"/src/a.py"} "Your proposed edit has introduced new syntax error(s)." "" - 1 text 
terminal:python {"command":"python a.py"} "Traceback (most recent call last):\n  E" "" - 1 text `
	if got := steps(run(t, data)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Actions without a class, and an answer that is not synthetic before a farewell.
	const other = `{"id":"a__b-1_3","details":{"resolved":"True"},"content":[{"content":"","source":"user"},{"function":"str_replace_editor","kwargs":{"command":"view","path":"/a"},"description":"d"},
{"content":"OBSERVATION:\nfile","source":"environment"},{"content":"print(1)","language":"python","description":""},{"content":"1","source":"environment"},{"content":"<finish> ok </finish>","description":""}]}`
	want = "adp standardized a__b-1  | 2 steps, 0 failed, 0 codes: read_file 1 run_in_terminal 1 | finish []\n  pass  by resolved (rank 5)"
	if got := all(t, "x.json", other); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestConsistency(t *testing.T) {
	const data = `{"task_id":"a__b-1","task":"T","model":"m/x","runs":[
{"run_id":"a__b-1_run_01","success":true,"exit_status":"Submitted","final_output":"d","steps":[
 {"step_number":1,"timestamp":1.5,"thought":"t","action":"cat <<'E' > a\nx\nE","observation":"","returncode":0},
 {"step_number":2,"thought":"","action":"sleep 9","observation":"","returncode":-1},
 {"step_number":3,"thought":"","action":"x","observation":"not found","returncode":127},
 {"step_number":4,"action":"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT","observation":""}]},
{"run_id":"a__b-1_run_02","success":true,"exit_status":"Submitted","final_output":"","steps":[]},
{"run_id":"a__b-1_run_03","success":false,"error":"boom\nx","steps":[]}]}`
	const want = `agent-consistency 1 a__b-1 m/x | 3 steps, 2 failed, 2 codes: run_in_terminal 3 | Submitted []
agent-consistency 1 a__b-1 m/x | 0 steps, 0 failed, 0 codes:  | Submitted []
  fail empty_patch by final_output (rank 5)
agent-consistency 1 a__b-1 m/x | 0 steps, 0 failed, 0 codes:  | boom []`
	if got := all(t, "x.json", data); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r := run(t, data); r.ID != "a__b-1_run_01-m__x" || r.States[1].Timestamp != "1.5" || r.TaskDescription != "T" {
		t.Errorf("%+v", r)
	}
}

// Half of a surrogate pair becomes U+FFFD, of duplicate keys the last counts, and large
// numbers in ids keep their digits.
func TestOddJSON(t *testing.T) {
	r := run(t, `{"instance_id":9007199254740993,"instance_id":9007199254740995,"messages":[{"role":"user","content":"a\ud83db"},{"role":"assistant","tool_calls":[{"id":"1","id":"2","function":{"name":"bash","arguments":"{\"command\":\"a\",\"command\":\"b\"}"}}]},{"role":"tool","tool_call_id":"2","content":"x"}]}`)
	if r.TaskID != "9007199254740995" || r.TaskDescription != "a\ufffdb" || r.States[1].Command() != "b" || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "messages") {
		f.Add(data)
	}
	for _, seed := range []string{
		`[{"id":"a","content":[{"class_":"api_action","function":"open","kwargs":{"path":"\""}},{"class_":"message_action","content":"<finish>"}]}]`,
		`{"messages":[{"role":"user","content":"x bash-$"},{"role":"assistant","content":"` + "```\\nedit 1:2\\n```" + `"},{"role":"user","content":"(Open file: n/a)\n(Current directory: /a)\nbash-$"}]}`,
		`{"messages":[{"role":"assistant","content":"<function=a><parameter=b>"}]}`,
		`{"task_id":1,"runs":[{"steps":[{"action":"ls"}]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sessiontest.Fuzz(t, Formats(tools.Default()), "r.json", data) })
}

func BenchmarkRead(b *testing.B) {
	data := conformance.Read(b, "fixtures", "messages", "nebius-swe-agent-raw.json")
	read := Formats(tools.Default())[2].Read
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(format.Record{File: "x.json", Data: data, Probe: format.NewProbe("x.json", data)}); err != nil {
			b.Fatal(err)
		}
	}
}
