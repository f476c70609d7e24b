package completions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/completions"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

// TestRealRuns reads 50 runs with their outcomes from the reports beside them. Two of the
// logs of the evaluation end without a result: there the summary decides.
func TestRealRuns(t *testing.T) {
	archive := conformance.Dir(t, "data", "real-runs.tar.zst")
	got := readtest.Read(t, ingest.Options{Jobs: 2}, readtest.Extract(t, archive, "allhands-openhands-v0/"))
	if got.Err != nil || len(got.Refused) > 0 || len(got.Evidence) != 50+48 {
		t.Fatal(got.Err, got.Refused, len(got.Evidence))
	}
	got.Settle()
	readtest.WantTally(t, got.Runs, `
		runs: 50
		outcome pass: 26
		outcome fail: 24
		steps: 1052
		tool run_in_terminal: 504
		tool read_file: 125
		tool list_dir: 24
		tool create_file: 172
		tool replace_string_in_file: 227
		errors by exit_code: 158
		errors by text: 56
		exit 0: 346
		exit 1: 144
		exit 2: 13
		exit 100: 1
		warning unanswered_response: 5
	`)
	for _, r := range got.Runs {
		want := "swebench_eval.logs"
		switch r.TaskID {
		case "django__django-10097":
			want = "swebench_eval.md"
		case "django__django-11265":
			want = "swebench_eval.md empty_patch"
		}
		if source := strings.TrimSpace(r.OutcomeSource + " " + r.OutcomeDetail); source != want {
			t.Errorf("%s: outcome by %s, want %s", r.TaskID, source, want)
		}
		if r.Model != "litellm_proxy/claude-3-5-sonnet-20241022" || !strings.HasPrefix(r.ID, r.TaskID+"-litellm_proxy__claude") {
			t.Errorf("%s: model %s", r.ID, r.Model)
		}
	}
}

func TestFixture(t *testing.T) {
	got := readtest.Read(t, ingest.Options{}, conformance.Dir(t, "fixtures", "llm-completions"))
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	readtest.WantTally(t, got.Runs, `
		runs: 1
		outcome unknown: 1
		steps: 15
		tool run_in_terminal: 8
		tool read_file: 1
		tool create_file: 3
		tool replace_string_in_file: 3
		errors by exit_code: 2
		errors by text: 2
		exit 0: 6
		exit 1: 1
		exit 2: 1
	`)
	r := got.Runs[0]
	if r.TaskID != "django__django-11099" || r.Repo != "django/django" || r.Workspace != "/workspace/django__django__3.0" || r.ExitStatus != "finish" || !strings.HasPrefix(r.TaskDescription, "UsernameValidator allows") {
		t.Errorf("%s %s %s %s %.40s", r.TaskID, r.Repo, r.Workspace, r.ExitStatus, r.TaskDescription)
	}
}

// log writes a logged call whose dialogue has n answered calls and whose response makes
// another one.
func log(n, time int, model string) string {
	messages := []string{`{"role":"system","content":"s"}`, `{"role":"user","content":[{"type":"text","text":"do it"}]}`}
	call := func(i int) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"execute_bash","arguments":"{\"command\": \"step %d\"}"}}]}`, i, i)
	}
	for i := range n {
		messages = append(messages, call(i), fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":[{"type":"text","text":"out\n[Command finished with exit code %d]"}]}`, i, i))
	}
	return fmt.Sprintf(`{"messages":[%s],"response":{"model":%q,"choices":[{"message":%s}],"usage":{"prompt_tokens":%d,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":3}}},"kwargs":{},"timestamp":%d.5,"cost":0.1}`,
		strings.Join(messages, ","), model, call(n), 100+n, time)
}

func TestFolder(t *testing.T) {
	files := map[string]string{
		"llm_completions/o__r-1/a__m-1733339462.1.json": log(0, 1733339462, "m"),
		"llm_completions/o__r-1/a__m-1733339463.2.json": log(1, 1733339463, "m"),
		"llm_completions/o__r-1/a__m-999999999.json":    log(2, 1733339464, "m"), // the time inside counts
		"llm_completions/o__r-1/b-1733339470.json":      log(7, 1733339470, "condenser"),
		"llm_completions/o__r-2/a__m-1733339462.1.json": log(1, 1, "m"),
	}
	dir := readtest.Files(t, files)
	for seed := range uint64(3) {
		got := readtest.Read(t, ingest.Options{Jobs: 2}, readtest.Tar(t, dir, seed))
		if got.Err != nil || len(got.Runs) != 2 {
			t.Fatal(got.Err, got.Refused)
		}
		r := got.Runs[0]
		if r.TaskID != "o__r-1" || r.Model != "a/m" || len(r.States) != 3 || r.SourceFile != "llm_completions/o__r-1/a__m-999999999.json" {
			t.Errorf("%s %s %d %s", r.TaskID, r.Model, len(r.States), r.SourceFile)
		}
		for i, s := range r.States[1:] {
			if s.InputTokens.Or(0) != int64(100+i) || s.CachedTokens.Or(0) != 3 || s.ExitCode.Or(-1) != int64(i) {
				t.Errorf("step %d: %+v", i, s)
			}
		}
		want := "[{other_model_calls 1 x model call beside the dialogue} {unanswered_response 1 x execute_bash}]"
		if w := fmt.Sprint(r.Warnings); w != want {
			t.Error(w)
		}
		if n := got.Summary.Skipped["superseded by a later record of its run"]; n != 2 || got.Summary.Skipped["part of no run"] != 1 {
			t.Error(got.Summary.Skipped)
		}
	}
}

func TestDialogue(t *testing.T) {
	const tail = `"response":{"choices":[{"message":{"role":"assistant","content":"<function=finish></function>"}}]},"timestamp":null}`
	for _, tt := range []struct{ name, data, want string }{
		{
			"calls in the text, their answers by the user",
			`{"messages":[{"role":"user","content":"do <function=example></function>"},{"role":"assistant","content":"Look.\n<function=execute_bash>\n<parameter=command>ls</parameter>\n</function>"},
			{"role":"user","content":"EXECUTION RESULT of [execute_bash]:\na.py\n[Command finished with exit code 1]"},{"role":"assistant","content":"hm"},{"role":"user","content":"EXECUTION RESULT of [x]:\nno"}],` + tail,
			`run_in_terminal {"command":"ls"} exit 1 Look.`,
		},
		{
			"the dialogue with calls counts",
			`{"messages":[{"role":"user","content":"x"}],"fncall_messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"execute_bash","arguments":"{\"command\":\"pwd\"}"}}]}],` + tail,
			`run_in_terminal {"command":"pwd"} exit -9 `,
		},
		{
			"parallel calls, bad arguments, a nudge",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"two"}],"tool_calls":[{"id":"1","function":{"name":"execute_bash","arguments":"{\"command\""}},{"id":"2","function":{"name":"think","arguments":"{\"thought\":\"t\"}"}}]},
			{"role":"tool","tool_call_id":"2","content":"logged"},{"role":"tool","tool_call_id":"1","content":"[Command finished with exit code 0]"},{"role":"user","content":"Please continue"},{"role":"tool","tool_call_id":"9","content":"stray"}],` + tail,
			`run_in_terminal "{\"command\"" exit 0 two; think {"thought":"t"} exit -9 t`,
		},
	} {
		got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{"o__r-1.json": tt.data}))
		if got.Err != nil || len(got.Runs) != 1 {
			t.Fatalf("%s: %v %v", tt.name, got.Err, got.Refused)
		}
		var steps []string
		for _, s := range got.Runs[0].States[1:] {
			steps = append(steps, fmt.Sprintf("%s %s exit %d %s", s.Tool, s.Log.Args.Raw, s.ExitCode.Or(-9), s.Thought))
		}
		if text := strings.Join(steps, "; "); text != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, text, tt.want)
		}
	}
	got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{"calls.jsonl": `{"messages":[{"role":"user","content":"x"}],` + tail}))
	if got.Err == nil || len(got.Refused) != 1 || got.Refused[0].Code != "no_folder" {
		t.Error(got.Err, got.Refused)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "completions") {
		f.Add(data)
	}
	f.Add([]byte(log(2, 1, "m")))
	f.Add([]byte(`{"messages":[{"role":"assistant","content":"<function=a><parameter=b>c"}],"response":{"choices":[{"message":{"tool_calls":[{}]}}]},"timestamp":"1e3"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fm := completions.Formats(tools.Default())[0]
		rec := format.Record{File: "o__r-1/m-1733339462.json", Data: data, Probe: format.NewProbe("o__r-1/m-1733339462.json", data)}
		fm.Detect(rec.Probe)
		note, err := fm.Parts.Note(rec)
		if err != nil {
			return
		}
		for _, run := range fm.Parts.Plan([]format.Part{{File: rec.File, Note: note.Value, Kept: true}}) {
			items, err := run.Read([]format.Record{rec})
			if err == nil && (len(items) != 1 || items[0].Trajectory.ID == "") {
				t.Error(items)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	data := []byte(strings.ReplaceAll(log(200, 1, "m"), `"out`, `"`+strings.Repeat(`src/module.py:12: something_or_other = compute(value)\n`, 30)))
	fm := completions.Formats(tools.Default())[0]
	rec := format.Record{File: "o__r-1/m-1733339462.json", Data: data, Probe: format.NewProbe("o__r-1/m-1733339462.json", data)}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		note, err := fm.Parts.Note(rec)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fm.Parts.Plan([]format.Part{{File: rec.File, Note: note.Value, Kept: true}})[0].Read([]format.Record{rec}); err != nil {
			b.Fatal(err)
		}
	}
}
