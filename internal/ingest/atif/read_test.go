package atif_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/atif"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// doc writes a document: other members of the root, then the steps.
func doc(version, root string, steps ...string) string {
	return fmt.Sprintf(`{"schema_version":%q,%s"agent":{"name":"a","version":"1","model_name":"m"},"extra":{"instance_id":"o__r-1"},"steps":[%s]}`,
		version, root, strings.Join(steps, ","))
}

// agent writes an agent's step from its other members.
func agent(rest string) string { return `{"step_id":1,"source":"agent","message":"msg",` + rest + `}` }

func bash(id, command string) string {
	return fmt.Sprintf(`{"tool_call_id":%q,"function_name":"bash","arguments":{"command":%q}}`, id, command)
}

func calls(list ...string) string { return `"tool_calls":[` + strings.Join(list, ",") + `]` }

func results(list ...string) string {
	return `"observation":{"results":[` + strings.Join(list, ",") + `]}`
}

func result(id, text string) string {
	if id == "" {
		return fmt.Sprintf(`{"content":%q}`, text)
	}
	return fmt.Sprintf(`{"source_call_id":%q,"content":%q}`, id, text)
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct{ name, doc, steps, warned string }{
		{
			"parallel calls, tokens once, cached ones a part",
			doc("ATIF-v1.4", "", agent(calls(bash("1", "a"), bash("2", "b"))+","+results(result("2", "B"), result("1", "A"))+`,"metrics":{"prompt_tokens":9,"cached_tokens":7,"completion_tokens":3}`)),
			"run_in_terminal a (9) = A; run_in_terminal b = B", "",
		},
		{
			"a plan before the work: the tokens go to the work",
			doc("ATIF-v1.4", "", agent(calls(`{"tool_call_id":"0","function_name":"TodoWrite","arguments":{}}`, bash("1", "a"))+","+results(result("0", "ok"), result("", "A"))+`,"metrics":{"prompt_tokens":9}`)),
			"run_in_terminal a (9) = A", "skipped_action: 1 x TodoWrite",
		},
		{
			"results whose id is null",
			doc("ATIF-v1.5", "", agent(calls(bash("1", "a"), bash("2", "b"))+`,"observation":{"results":[{"source_call_id":null,"content":"A"},{"source_call_id":null,"content":"B","subagent_trajectory_ref":null}]},"metrics":null`)),
			"run_in_terminal a = A; run_in_terminal b = B", "",
		},
		{
			"results without an id, as many as calls",
			doc("ATIF-v1.0", "", agent(calls(bash("1", "a"), bash("2", "b"))+","+results(result("", "A"), result("", "B")))),
			"run_in_terminal a = A; run_in_terminal b = B", "",
		},
		{
			"one result without an id for two calls, and the end of the run",
			doc("ATIF-v1.0", "", agent(calls(bash("1", "a"), bash("2", "b"), `{"tool_call_id":"3","function_name":"mark_task_complete","arguments":{}}`)+","+results(result("", "AB")))),
			"run_in_terminal a; run_in_terminal b = AB", "shared_observation: 1 x call without a result of its own",
		},
		{
			"duplicate ids",
			doc("ATIF-v1.2", "", agent(calls(bash("1", "a"), bash("1", "b"))+","+results(result("1", "A"), result("1", "B"), result("1", "more"), result("9", "stray")))),
			"run_in_terminal a = A; run_in_terminal b = B\nmore", "duplicate_call_id: 1 x 1; stray_observation: 1 x answer to an unknown call: stray",
		},
		{
			"content parts",
			doc("ATIF-v1.6", "", `{"step_id":1,"source":"agent","message":[{"type":"text","text":"x"},{"type":"image","source":{"media_type":"image/png","path":"images/a.png"}}],`+
				calls(bash("1", "a"))+`,"observation":{"results":[{"source_call_id":"1","content":[{"type":"text","text":"one"},{"type":"image","source":{"media_type":"image/png","path":"p"}},{"type":"text","text":"two"}]}]}}`),
			"run_in_terminal a = one\ntwo", "",
		},
		{
			"copied context",
			doc("ATIF-v1.5", "", agent(calls(bash("1", "old"))+`,"is_copied_context":true,"metrics":{"prompt_tokens":5}`), agent(calls(bash("1", "new"))+`,"is_copied_context":false`)),
			"run_in_terminal new", "copied_context: 1 x step; no_observation: 1 x bash",
		},
		{
			"totals without the copied context, which has been paid for",
			doc("ATIF-v1.5", `"final_metrics":{"total_prompt_tokens":3,"total_completion_tokens":1},`,
				agent(calls(bash("1", "old"))+`,"is_copied_context":true,"metrics":{"prompt_tokens":5,"completion_tokens":1},`+results(result("1", "O"))),
				agent(calls(bash("2", "new"))+`,"metrics":{"prompt_tokens":3,"completion_tokens":1},`+results(result("2", "N")))),
			"run_in_terminal new (3) = N", "copied_context: 1 x step",
		},
		{
			"no model call",
			doc("ATIF-v1.7", "", agent(calls(bash("1", "a"))+`,"llm_call_count":0,`+results(result("1", "A")))),
			"run_in_terminal a = A", "deterministic_step: 1 x step",
		},
		{
			"calls in the text",
			doc("ATIF-v1.5", "", `{"source":"agent","message":"Look.\n<function=str_replace_editor>\n<parameter=command>view</parameter>\n<parameter=path>/testbed/a.py</parameter>\n</function>",`+results(result("", "ERROR:\nno"))+`}`,
				`{"source":"agent","message":"{\"analysis\":\"x\",\"plan\":\"y\",\"commands\":[{\"keystrokes\":\"ls\\n\"},{\"keystrokes\":\"pwd\\n\"},7],\"task_complete\":true}",`+results(result("", "out"))+`}`,
				`{"source":"agent","message":"{\"commands\": [{\"keystrokes\": \"rm\"}]}",`+results(result("", "Previous response had parsing errors:\n"))+`}`,
				`{"source":"agent","message":"hello"}`),
			"read_file /a.py = ERROR:\nno failed by text; run_in_terminal ls; run_in_terminal pwd = out",
			"format_error: 1 x answer without a call that could be read; shared_observation: 1 x call without a result of its own",
		},
		{
			"arguments as text, an unknown tool, planning",
			doc("ATIF-v1.5", "", agent(calls(`{"tool_call_id":"1","function_name":"bash","arguments":"{\"command\":\"a\"}"}`, `{"tool_call_id":"2","function_name":"bash","arguments":"{\"comm"}`,
				`{"tool_call_id":"3","function_name":"magic","arguments":{"x":1}}`, `{"tool_call_id":"4","function_name":"TodoWrite","arguments":{}}`)+","+
				results(result("1", "A"), result("2", "B"), result("3", "C"), result("4", "D")))),
			"run_in_terminal a = A; run_in_terminal = B; magic = C", "bad_arguments: 1 x bash; skipped_action: 1 x TodoWrite; unmapped_tool: 1 x magic",
		},
		{
			"exit codes and flags",
			doc("ATIF-v1.7", "", agent(calls(bash("1", "a"))+","+results(`{"source_call_id":"1","content":"x","extra":{"exit_code":3}}`)),
				agent(calls(bash("2", "b"))+","+results(result("2", "<returncode>2</returncode>\n<output>\n</output>"))),
				agent(calls(bash("3", "c"))+","+results(result("3", "x"))+`,"extra":{"tool_result_is_error":true}`),
				agent(calls(bash("4", "d"))+","+results(`{"source_call_id":"4","content":"y","extra":{"is_error":false}}`)),
				agent(calls(bash("5", "e"))+","+results(`{"source_call_id":"5","content":"still running","extra":{"exit_code":-1}}`)),
				agent(calls(bash("6", "f"))+","+results(result("6", "<returncode>-1</returncode>")))),
			"run_in_terminal a = x exit 3 failed by exit_code; run_in_terminal b = <returncode>2</returncode>\n<output>\n</output> exit 2 failed by exit_code; run_in_terminal c = x failed by flag; run_in_terminal d = y; run_in_terminal e = still running; run_in_terminal f = <returncode>-1</returncode>", "",
		},
		{
			"others' steps, a condensation, another version and an unknown source",
			doc("ATIF-v1.9", "", `{"source":"user","message":"task"}`, `{"source":"system","message":"","observation":{"results":[{"content":"sum"}]},"extra":{"context_management":{"type":"compaction","boundary":"replace"}}}`,
				`{"source":"robot","message":"x"}`, agent(calls(bash("1", "a"))+","+results(result("1", "")))),
			"run_in_terminal a", "unknown_source: 1 x robot; unknown_version: 1 x ATIF-v1.9",
		},
		{
			"a dialect: results in system steps before the calls",
			doc("1.4", "", `{"source":"system","message":"","observation":{"type":"tool","content":"A","result":{"success":true}}}`, `{"source":"system","observation":{"result":{"success":false,"error":"bad"}}}`,
				agent(calls(`{"id":"1","name":"bash","arguments":{"command":"a"}}`, `{"id":"2","name":"bash","arguments":{"command":"b"}}`))),
			"run_in_terminal a = A; run_in_terminal b = bad failed by flag", "atif_dialect: 1 x schema_version 1.4; atif_dialect: 2 x call with id and name; atif_dialect: 2 x result in a system step",
		},
		{
			"totals are compared",
			doc("ATIF-v1.5", `"final_metrics":{"total_prompt_tokens":10,"total_completion_tokens":2},`, agent(calls(bash("1", "a"))+","+results(result("1", "A"))+`,"metrics":{"prompt_tokens":9,"completion_tokens":2}`)),
			"run_in_terminal a (9) = A", "metrics_differ: 1 x 10 + 2 tokens in all, the steps have 9 + 2",
		},
		{
			"metrics of another shape",
			doc("ATIF-v1.5", "", agent(calls(bash("1", "a"))+`,"metrics":"none","observation":null,"extra":5`), `7`),
			"run_in_terminal a", "no_observation: 1 x bash; unknown_source: 1 x ",
		},
		{
			"an embedded subagent, by id, and one that nobody names",
			doc("ATIF-v1.7", `"subagent_trajectories":[`+doc("ATIF-v1.7", `"trajectory_id":"s1",`, agent(calls(bash("1", "sub"))+","+results(result("1", "S"))))+`,`+
				doc("ATIF-v1.7", `"trajectory_id":"s2",`, agent(calls(bash("1", "left"))+","+results(result("1", "L"))))+`],`,
				agent(calls(bash("1", "before"))+","+results(result("1", "")+``)),
				agent(calls(`{"tool_call_id":"t","function_name":"Task","arguments":{}}`)+`,"observation":{"results":[{"source_call_id":"t","content":"done","subagent_trajectory_ref":[{"trajectory_id":"s1"},{"session_id":"old"}]}]}`),
				agent(calls(bash("1", "after"))+","+results(result("1", "")))),
			"run_in_terminal before; run_in_terminal sub = S; run_in_terminal after; run_in_terminal left = L",
			"delegated: 1 x call of a subagent; missing_trajectory: 1 x subagent old; skipped_action: 1 x Task; subagent_by_session: 1 x old; unlinked_subagent: 1 x s2",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{"trajectory.json": tt.doc}))
			if got.Err != nil || len(got.Runs) != 1 {
				t.Fatal(got.Err, got.Refused)
			}
			if s := steps(got.Runs[0]); s != tt.steps {
				t.Errorf("steps\n%s\nwant\n%s", s, tt.steps)
			}
			if w := warnings(got.Runs[0]); w != tt.warned {
				t.Errorf("warnings\n%s\nwant\n%s", w, tt.warned)
			}
			// A line of a file is the same run.
			line := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{"all.jsonl": tt.doc + "\n"}))
			if line.Err != nil || len(line.Runs) != 1 || steps(line.Runs[0]) != tt.steps || line.Runs[0].ID != got.Runs[0].ID {
				t.Errorf("as a line: %v", line.Err)
			}
		})
	}
}

// Calls of one step share what the model said and when.
func TestThoughtOnceAStep(t *testing.T) {
	for _, written := range []string{"2025-04-30T16:32:57.821635", "2025-04-30T16:32:57", "2025-04-30T16:32:57Z", "2025-04-30T16:32:57.5+02:00"} {
		got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{
			"trajectory.json": doc("ATIF-v1.5", "", agent(calls(bash("1", "a"), bash("2", "b"))+`,"reasoning_content":"why","timestamp":"`+written+`",`+results(result("1", "A"), result("2", "B")))),
		}))
		if got.Err != nil || len(got.Runs) != 1 {
			t.Fatal(got.Err, got.Refused)
		}
		a, b := got.Runs[0].States[1], got.Runs[0].States[2]
		if a.Thought != "msg" || b.Thought != "" || a.ResponseGroup != b.ResponseGroup || a.ResponseGroup == "" || a.Timestamp != written || b.Timestamp != written {
			t.Errorf("%q at %s, %q at %s, want both at %s", a.Thought, a.Timestamp, b.Thought, b.Timestamp, written)
		}
	}
}

// TestFamilies links documents by path, by id and by session, over folders.
func TestFamilies(t *testing.T) {
	work := func(name string) string { return agent(calls(bash("1", name)) + "," + results(result("1", ""))) }
	asks := func(ref string) string {
		return agent(calls(`{"tool_call_id":"t","function_name":"Task","arguments":{}}`) + `,"observation":{"results":[{"source_call_id":"t","content":"","subagent_trajectory_ref":[` + ref + `]}]}`)
	}
	files := map[string]string{
		"m/o__r-1/agent/trajectory.json":        doc("ATIF-v1.5", `"session_id":"S","continued_trajectory_ref":"trajectory.cont-1.json",`, work("1"), asks(`{"session_id":"sub","trajectory_path":"subs/x.json"}`), work("3")),
		"m/o__r-1/agent/trajectory.cont-1.json": doc("ATIF-v1.5", `"session_id":"S","continued_trajectory_ref":"trajectory.cont-2.json",`, agent(calls(bash("1", "1"))+`,"is_copied_context":true`), work("4")),
		"m/o__r-1/agent/trajectory.cont-2.json": doc("ATIF-v1.5", `"session_id":"S",`, work("5"), asks(`{"session_id":"by-session"}`), asks(`{"trajectory_id":"by-id"}`), asks(`{"session_id":"T"}`)),
		"m/o__r-1/agent/subs/x.json":            doc("ATIF-v1.5", `"session_id":"sub",`, work("2")),
		"m/o__r-1/agent/a.json":                 doc("ATIF-v1.5", `"session_id":"by-session",`, work("6")),
		"m/o__r-1/agent/b.json":                 doc("ATIF-v1.7", `"trajectory_id":"by-id",`, work("7"), asks(`{"trajectory_path":"nowhere.json"}`)),
		"m/o__r-2/agent/trajectory.json":        doc("ATIF-v1.5", `"session_id":"T",`, work("8")), // a session of several runs names none
		"m/o__r-3/agent/trajectory.json":        doc("ATIF-v1.5", `"session_id":"T",`, work("9")),
		"m/o__r-1/result.json":                  `{"task_name":"o__r-1","agent_info":{"name":"a","model_info":{"name":"m"}},"verifier_result":{"rewards":{"reward":1.0}},"exception_info":null}`,
		"circle/a.json":                         doc("ATIF-v1.5", `"continued_trajectory_ref":"b.json",`, work("x")),
		"circle/b.json":                         doc("ATIF-v1.5", `"continued_trajectory_ref":"a.json",`, work("y")),
		"alone/self.json":                       doc("ATIF-v1.5", `"continued_trajectory_ref":"self.json",`, work("z")),
	}
	dir := readtest.Files(t, files)
	for seed := range uint64(3) {
		got := readtest.Read(t, ingest.Options{Jobs: 2}, readtest.Tar(t, dir, seed))
		if got.Err != nil || len(got.Refused) > 0 || len(got.Runs) != 5 {
			t.Fatal(got.Err, got.Refused, len(got.Runs))
		}
		bySource := map[string]*trajectory.Trajectory{}
		for _, r := range got.Runs {
			bySource[r.SourceFile] = r
		}
		for file, want := range map[string]string{"m/o__r-1/agent/trajectory.json": "1 2 3 4 5 6 7", "m/o__r-2/agent/trajectory.json": "8", "m/o__r-3/agent/trajectory.json": "9", "circle/a.json": "x y", "alone/self.json": "z"} {
			r := bySource[file]
			if r == nil {
				t.Fatalf("no run of %s", file)
			}
			var list []string
			for i := range r.States[1:] {
				list = append(list, r.States[i+1].Command())
			}
			if text := strings.Join(list, " "); text != want {
				t.Errorf("%s: %s, want %s", file, text, want)
			}
		}
		r := bySource["m/o__r-1/agent/trajectory.json"]
		if r.Outcome != trajectory.Pass || r.OutcomeSource != "result.json" || r.TaskID != "o__r-1" {
			t.Errorf("%s by %q, task %s", r.Outcome, r.OutcomeSource, r.TaskID)
		}
		if w := warnings(r); w != "copied_context: 1 x step; delegated: 4 x call of a subagent; missing_trajectory: 1 x subagent T; missing_trajectory: 1 x subagent nowhere.json; skipped_action: 5 x Task" {
			t.Error(w)
		}
	}
}

func TestResult(t *testing.T) {
	for _, tt := range []struct{ name, result, want string }{
		{"pass", `{"task_id":{"path":"tasks/o__r-1"},"agent_info":{},"verifier_result":{"rewards":{"reward":1}}}`, "pass  "},
		{"half", `{"task_id":"o__r-1","agent_info":{},"verifier_result":{"rewards":{"reward":0.5,"other":1}}}`, "fail  "},
		{"all", `{"agent_info":{},"verifier_result":{"rewards":{"a":1,"b":2}}}`, "pass  "},
		{"not all", `{"agent_info":{},"verifier_result":{"rewards":{"a":1,"b":"1"}}}`, "fail  "},
		{"failed although broken off", `{"agent_info":{},"verifier_result":{"rewards":{"reward":0}},"exception_info":{"exception_type":"AgentTimeoutError"}}`, "fail  AgentTimeoutError"},
		{"infrastructure", `{"agent_info":{},"verifier_result":null,"exception_info":{"exception_type":"DockerError"}}`, "unknown infrastructure DockerError"},
		{"not verified", `{"agent_info":{},"verifier_result":null,"exception_info":null}`, "unknown incomplete "},
	} {
		got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{
			"o__r-1__aB3dE9x/agent/trajectory.json": doc("ATIF-v1.5", "", agent(calls(bash("1", "a")))),
			"o__r-1__aB3dE9x/result.json":           tt.result,
		}))
		if got.Err != nil || len(got.Runs) != 1 {
			t.Fatal(tt.name, got.Err, got.Refused)
		}
		r := got.Runs[0]
		if text := fmt.Sprintf("%s %s %s", r.Outcome, r.OutcomeDetail, r.ExitStatus); text != tt.want || r.TaskID != "o__r-1" {
			t.Errorf("%s: %q, want %q, task %s", tt.name, text, tt.want, r.TaskID)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ data, code string }{
		{`{"schema_version":"ATIF-v1.5"}`, "no_steps"}, {`{"schema_version":"ATIF-v1.5","steps":{}}`, "no_steps"},
		{`{"schema_version":"ATIF-v1.5","steps":[{"source":]}`, "bad_json"},
		{`{"schema_version":"ATIF-v1.5","steps":[{"metrics":NaN}]}`, "non_finite_number"},
	} {
		for _, name := range []string{"t.json", "t.jsonl"} {
			got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{name: tt.data}))
			if got.Err == nil || len(got.Refused) != 1 || got.Refused[0].Code != tt.code || got.Refused[0].File != name {
				t.Errorf("%s %s: %v %v", name, tt.data, got.Err, got.Refused)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "atif") {
		f.Add(data)
	}
	f.Add([]byte(doc("ATIF-v1.7", `"subagent_trajectories":[`+doc("ATIF-v1.7", `"trajectory_id":"s",`, agent(calls(bash("1", "x"))))+`],`,
		agent(calls(bash("1", "a"), bash("1", "b"))+`,"observation":{"results":[{"source_call_id":"1","subagent_trajectory_ref":[{"trajectory_id":"s"}]}]}`))))
	f.Add([]byte(doc("1.4", "", `{"source":"system","observation":{"result":{"success":false}}}`, agent(calls(`{"id":"1","name":"bash"}`)))))
	f.Add([]byte(`{"schema_version":"ATIF-v1.5","steps":[{"source":"agent","message":"{\"commands\":[{\"keystrokes\":\"x\"}]}"}]}`))
	f.Add([]byte(`{"agent_info":{},"verifier_result":{"rewards":{"reward":1}},"task_id":{"path":"x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fm := atif.Formats(tools.Default())[0]
		for line := range int64(2) {
			rec := format.Record{File: "t/agent/trajectory.json", Line: line, Data: data, Probe: format.NewProbe("t.json", data)}
			fm.Detect(rec.Probe)
			note, err := fm.Parts.Note(rec)
			if err != nil {
				continue
			}
			read := fm.Read
			if !note.Alone {
				runs := fm.Parts.Plan([]format.Part{{File: rec.File, Note: note.Value, Kept: !note.Informs}})
				if len(runs) == 0 {
					continue
				}
				read = func(rec format.Record) ([]format.Item, error) { return runs[0].Read([]format.Record{rec}) }
			}
			items, err := read(rec)
			if err == nil && (items[0].Trajectory.ID == "" || len(items[0].Trajectory.States) != len(items[0].Trajectory.Transitions)+1) {
				t.Error(items)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var list []string
	for i := range 200 {
		id := fmt.Sprint(i)
		list = append(list, agent(calls(bash(id, "grep -rn something src/ | head -20"))+","+results(result(id, strings.Repeat("src/module.py:12: something = compute(value)\n", 40)))+`,"metrics":{"prompt_tokens":9,"completion_tokens":3}`))
	}
	data := []byte(doc("ATIF-v1.5", "", list...))
	fm := atif.Formats(tools.Default())[0]
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		rec := format.Record{File: "t.json", Data: data, Probe: format.NewProbe("t.json", data)}
		note, err := fm.Parts.Note(rec)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fm.Parts.Plan([]format.Part{{File: rec.File, Note: note.Value, Kept: true}})[0].Read([]format.Record{rec}); err != nil {
			b.Fatal(err)
		}
	}
}
