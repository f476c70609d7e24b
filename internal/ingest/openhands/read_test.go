package openhands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// records cuts a file as the ingest does: a line of JSON Lines is a record, other files
// are one.
func records(file string, data []byte) []format.Record {
	parts := [][]byte{data}
	if strings.HasSuffix(file, ".jsonl") {
		parts = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	}
	var out []format.Record
	for i, part := range parts {
		out = append(out, format.Record{File: file, Line: int64(i + 1), Data: part, Probe: format.NewProbe(file, part)})
	}
	return out
}

// read sniffs and reads a record; it returns the format's id and what was read.
func read(rec format.Record) (id string, items []format.Item, err error) {
	for _, f := range Formats() {
		if _, ok := f.Detect(rec.Probe); ok {
			items, err = f.Read(rec)
			return f.ID, items, err
		}
	}
	return "", nil, nil
}

// one reads a record that holds one run, with what it says about the outcome.
func one(t *testing.T, file, data string) (*trajectory.Trajectory, *format.Evidence) {
	t.Helper()
	id, items, err := read(records(file, []byte(data))[0])
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	if len(items) == 0 {
		t.Fatalf("%s is not recognised", file)
	}
	var evidence *format.Evidence
	for _, item := range items[1:] {
		evidence = item.Evidence
		if evidence.Key != items[0].Trajectory.ID {
			t.Errorf("evidence about %q, the run is %q", evidence.Key, items[0].Trajectory.ID)
		}
	}
	return items[0].Trajectory, evidence
}

// summary counts a run's steps by tool, its failed steps and its known exit codes.
func summary(t *trajectory.Trajectory) string {
	var tools []string
	count := map[string]int{}
	failed, codes := 0, 0
	for _, s := range t.States[1:] {
		if count[s.Tool]++; count[s.Tool] == 1 {
			tools = append(tools, s.Tool)
		}
		if s.IsError.Or(0) == 1 {
			failed++
		}
		if s.ExitCode.Valid {
			codes++
		}
	}
	text := fmt.Sprintf("%d steps, %d failed, %d codes:", len(t.States)-1, failed, codes)
	for _, tool := range tools {
		text += fmt.Sprintf(" %s %d", tool, count[tool])
	}
	return text
}

func TestFixtures(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "openhands-v0")
	want := map[string]string{
		"basic.json 1":              "openhands-v0 events basic claude-3-5-sonnet-20241022 | 1 steps, 0 failed, 0 codes: create_file 1 | finish []",
		"basic_gui_mode.json 1":     "openhands-v0 events basic_gui_mode claude-3-5-sonnet-20241022 | 4 steps, 0 failed, 1 codes: run_in_terminal 2 create_file 2 | awaiting_user_input []",
		"basic_interactions.json 1": "openhands-v0 events basic_interactions gpt-4o-2024-08-06 | 0 steps, 0 failed, 0 codes: | finish []",
		"multi-swe-bench-output.jsonl 1": "openhands-output events ponylang__ponyc-4595 openai/openrouter-llama-4-maverick | " +
			"22 steps, 6 failed, 13 codes: run_in_terminal 13 read_file 6 replace_string_in_file 2 think 1 | finish []",
		"multi-swe-bench-output.jsonl 2": "openhands-output events ponylang__ponyc-4593 openai/openrouter-llama-4-maverick | " +
			"32 steps, 13 failed, 12 codes: run_in_terminal 12 read_file 9 replace_string_in_file 11 | finish [{stray_observation 1 x error}]",
		"multi-swe-bench-output.jsonl 3": "openhands-output events ponylang__ponyc-4588 openai/openrouter-llama-4-maverick | " +
			"49 steps, 24 failed, 24 codes: run_in_terminal 24 read_file 8 think 1 replace_string_in_file 16 | " +
			"RuntimeError: Agent reached maximum iteration in headless mode. Current iteration: 50, max iteration: 50 [{stray_observation 1 x error}]",
		"openhands-0.58-trajectory.json 1": "openhands-v0 events openhands-0.58-trajectory gpt-5-2025-08-07 | 1 steps, 0 failed, 1 codes: run_in_terminal 1 | finish []",
		"pairs-output.jsonl 1":             "openhands-output pairs ProntoQA_1 gpt-4o-2024-05-13 | 2 steps, 0 failed, 0 codes: run_in_terminal 2 | finish []",
		"pairs-output.jsonl 2":             "openhands-output pairs ProntoQA_2 gpt-4o-2024-05-13 | 2 steps, 0 failed, 0 codes: run_in_terminal 2 | finish []",
		"pairs-output.jsonl 3":             "openhands-output pairs ProntoQA_3 gpt-4o-2024-05-13 | 2 steps, 0 failed, 0 codes: run_in_terminal 2 | finish []",
		"pairs-output.jsonl 4":             "openhands-output pairs ProntoQA_4  | 2 steps, 0 failed, 0 codes: run_in_terminal 2 | finish []",
		"pairs-output.jsonl 5":             "openhands-output pairs ProntoQA_5  | 2 steps, 0 failed, 0 codes: run_in_terminal 2 | finish []",
		"resolver-output.jsonl 1":          "openhands-output resolver neubig__pr-viewer-5  | 3 steps, 0 failed, 2 codes: run_in_terminal 3 | finish []",
		"resolver-output.jsonl 2":          "openhands-output resolver neubig__pr-viewer-1  | 21 steps, 0 failed, 1 codes: run_in_terminal 21 | finish []",
		"wrong_initial_state.json 1":       "openhands-v0 events wrong_initial_state claude-3-5-sonnet-20241022 | 3 steps, 0 failed, 1 codes: list_dir 2 run_in_terminal 1 | finish []",
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	seen := 0
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range records(file.Name(), data) {
			at := fmt.Sprintf("%s %d", rec.File, rec.Line)
			id, items, err := read(rec)
			if err != nil || len(items) == 0 || items[0].Trajectory == nil {
				t.Errorf("%s: %q %v %v", at, id, items, err)
				continue
			}
			seen++
			run := items[0].Trajectory
			for i := range run.Warnings { // without the texts of observations
				run.Warnings[i].Detail, _, _ = strings.Cut(run.Warnings[i].Detail, ": ")
			}
			got := fmt.Sprintf("%s %s %s %s | %s | %s %v", run.Format, run.FormatVersion, run.TaskID, run.Model, summary(run), run.ExitStatus, run.Warnings)
			if got != want[at] {
				t.Errorf("%s:\n got %s\nwant %s", at, got, want[at])
			}
			if other := ids[run.ID]; other != "" {
				t.Errorf("%s and %s have the id %s", at, other, run.ID)
			}
			ids[run.ID] = at
			if strings.Contains(run.ID, "/") || run.TaskDescription == "" {
				t.Errorf("%s: id %q, task description %q", at, run.ID, run.TaskDescription)
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d records, want %d", seen, len(want))
	}
}

func TestDetail(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "openhands-v0")
	data, err := os.ReadFile(filepath.Join(dir, "multi-swe-bench-output.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	_, items, err := read(records("output.jsonl", data)[0])
	if err != nil {
		t.Fatal(err)
	}
	run := items[0].Trajectory
	if run.Repo != "ponylang/ponyc" || run.Agent != "OpenHands/CodeActAgent" || run.Version != "0.35.0" {
		t.Errorf("repo %q, agent %q, version %q", run.Repo, run.Agent, run.Version)
	}
	s := run.States[12]
	if s.ResultingState != "file_modify_failed:src/libponyc/ast/parser.c" || s.FilePath != "src/libponyc/ast/parser.c" ||
		s.IsError.Or(0) != 1 || s.ErrorSource != "text" || s.RawTool != "str_replace_editor" || s.Undo {
		t.Errorf("failed edit: %+v", s)
	}
	if !s.InputTokens.Valid || s.ResponseGroup == "" || s.LogModel == "" || s.Timestamp == "" || s.Thought == "" {
		t.Errorf("what the model response says is missing: %+v", s)
	}
	if s := run.States[11]; s.Lines != (trajectory.LineRange{Start: 650, End: 655, Valid: true}) {
		t.Errorf("lines of a view: %+v", s.Lines)
	}
	if last := run.States[len(run.States)-1]; !last.Terminal || last.Tool != "think" || last.ResultingState != "tool_result:think:success" {
		t.Errorf("last state: %+v", last)
	}
}

const envelope = `"timestamp":"2025-01-01T00:00:00","source":"agent"`

// list writes events into a trajectory file.
func list(events ...string) string { return "[" + strings.Join(events, ",") + "]" }

func action(id int, kind, args string, more ...string) string {
	return fmt.Sprintf(`{"id":%d,%s,"action":%q,"args":%s%s}`, id, envelope, kind, args, strings.Join(more, ""))
}

func answer(id, cause int, kind, content, extras string, more ...string) string {
	return fmt.Sprintf(`{"id":%d,%s,"cause":%d,"observation":%q,"content":%q,"extras":%s%s}`, id, envelope, cause, kind, content, extras, strings.Join(more, ""))
}

func response(id string, prompt int, says string) string {
	return fmt.Sprintf(`,"tool_call_metadata":{"function_name":"execute_bash","model_response":{"id":%q,"model":"m","choices":[{"message":{"content":%q}}],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":3}}}}`, id, says, prompt)
}

func TestFailedEditKeepsItsType(t *testing.T) {
	run, _ := one(t, "t.json", list(
		action(1, "edit", `{"path":"/testbed/a.py","command":"str_replace","old_str":"a","new_str":"b","file_text":null,"content":"","start":1,"end":-1}`),
		answer(2, 1, "edit", "ERROR:\nNo replacement was performed, old_str `a` did not appear verbatim in /testbed/a.py.", `{"prev_exist":false}`),
		action(3, "edit", `{"path":"/testbed/b.py","command":"create","file_text":"x = 1\n","content":"","start":1,"end":-1}`),
		answer(4, 3, "edit", "File created successfully at: /testbed/b.py", `{}`),
		action(5, "edit", `{"path":"/testbed/b.py","command":"undo_edit"}`),
		answer(6, 5, "edit", "Last edit to /testbed/b.py undone successfully.", `{}`),
		action(7, "read", `{"path":"/testbed/no.py","start":0,"end":-1,"view_range":[5,-1]}`),
		answer(8, 7, "read", "ERROR:\nInvalid `path` parameter: /testbed/no.py", `{}`),
	))
	var got []string
	for _, s := range run.States[1:] {
		got = append(got, fmt.Sprintf("%s %d %s %v", s.ResultingState, s.IsError.Value, s.ErrorSource, s.Undo))
	}
	want := "file_modify_failed:a.py 1 text false, file_created:b.py 0 text false, file_modified:b.py 0 text true, file_read:no.py 1 text false"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
	if raw := run.States[1].Log.Args.Raw; raw != `{"filePath":"/a.py","command":"str_replace","oldString":"a","newString":"b","content":"","start":1,"end":-1}` {
		t.Error(raw)
	}
	created := run.States[2].Log.Args
	if created.Content != "x = 1\n" || created.Raw != `{"filePath":"/b.py","command":"create","content":"x = 1\n","start":1,"end":-1}` {
		t.Errorf("%+v", created)
	}
	if s := run.States[4]; !s.Lines.Valid || s.Lines.Start != 5 || s.Lines.End != -1 {
		t.Errorf("%+v", s.Lines)
	}
}

// In V0 an edit's old_content and new_content repeat what the action said, or hold whole
// files; what was edited is in the action alone.
func TestContentsOfAnEditObservationAreNotTheEdit(t *testing.T) {
	edit := action(1, "edit", `{"path":"/testbed/a.py","command":"str_replace","old_str":"a","new_str":"b"}`)
	const done = "The file /testbed/a.py has been edited."
	plain, _ := one(t, "t.json", list(edit, answer(2, 1, "edit", done, `{}`)))
	whole, _ := one(t, "t.json", list(edit, answer(2, 1, "edit", done, `{"old_content":"a whole file\nbefore","new_content":"a whole file\nafter"}`)))
	a, b := plain.States[1], whole.States[1]
	if b.Log.Args.OldString != "a" || b.Log.Args.NewString != "b" || a.ContentHash != b.ContentHash || a.Lines != b.Lines || a.Log.Args.Raw != b.Log.Args.Raw {
		t.Errorf("%+v\nwant %+v", b.Log.Args, a.Log.Args)
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct{ name, content, extras, more, code, failed string }{
		{"in metadata", "", `{"metadata":{"exit_code":2},"exit_code":0}`, `,"success":true`, "2", "1 exit_code"},
		{"not finished", "", `{"metadata":{"exit_code":-1}}`, `,"success":false`, "none", "none "},
		{"before 2025", "", `{"exit_code":1}`, "", "1", "1 exit_code"},
		{"success alone", "", `{}`, `,"success":true`, "0", "0 exit_code"},
		{"failure alone", "", `{}`, `,"success":false`, "none", "1 flag"},
		{"footer", "x\n[The command completed with exit code 127.]", `{}`, "", "127", "1 exit_code"},
		{"older footer", "x\n[Command finished with exit code 0]", `{}`, "", "0", "0 exit_code"},
		{"nothing", "x", `{}`, "", "none", "none "},
		{"wrong types", "x", `{"metadata":"none","exit_code":"1"}`, `,"success":"maybe"`, "none", "none "},
	} {
		run, _ := one(t, "t.json", list(action(1, "run", `{"command":"ls"}`), answer(2, 1, "run", tt.content, tt.extras, tt.more)))
		s := run.States[1]
		show := func(i trajectory.Int) string {
			if !i.Valid {
				return "none"
			}
			return fmt.Sprint(i.Value)
		}
		if show(s.ExitCode) != tt.code || show(s.IsError)+" "+s.ErrorSource != tt.failed {
			t.Errorf("%s: code %s, failed %s %s", tt.name, show(s.ExitCode), show(s.IsError), s.ErrorSource)
		}
	}
}

func TestInputFlagAsText(t *testing.T) {
	for _, written := range []string{`true`, `"true"`, `"True"`} {
		run, _ := one(t, "t.json", list(action(1, "run", `{"command":"C-c","is_input":`+written+`}`)))
		if raw := run.States[1].Log.Args.Raw; raw != `{"command":"C-c","is_input":true}` {
			t.Errorf("%s: %s", written, raw)
		}
	}
}

func TestTokensOnceAResponse(t *testing.T) {
	cumulative := `,"llm_metrics":{"accumulated_token_usage":{"prompt_tokens":99999,"completion_tokens":9999}}`
	run, _ := one(t, "t.json", list(
		action(1, "run", `{"command":"ls","thought":"two at once"}`, response("r1", 100, "two at once"), cumulative),
		action(2, "run", `{"command":"pwd","thought":""}`, response("r1", 100, "two at once"), cumulative),
		answer(3, 1, "run", "a", `{}`, response("r1", 100, "")),
		answer(4, 2, "run", "b", `{}`),
		action(5, "run", `{"command":"id"}`, response("r2", 200, "from the message"), cumulative),
		answer(6, 5, "run", "c", `{}`),
	))
	var input, thoughts []string
	for _, s := range run.States[1:] {
		input = append(input, fmt.Sprint(s.InputTokens.Or(-1), s.OutputTokens.Or(-1), s.CachedTokens.Or(-1)))
		thoughts = append(thoughts, s.Thought)
	}
	if got := strings.Join(input, ", "); got != "100 7 3, -1 -1 -1, 200 7 3" {
		t.Error(got)
	}
	if got := strings.Join(thoughts, "|"); got != "two at once||from the message" {
		t.Error(got)
	}
	if run.States[1].ResponsePreview != "a" || run.States[2].ResponsePreview != "b" {
		t.Error("observations are not paired by cause")
	}
}

func TestObservationsOutOfPlace(t *testing.T) {
	run, _ := one(t, "t.json", list(
		answer(0, 1, "run", "before its action", `{}`),
		action(1, "run", `{"command":"first"}`),
		answer(2, 1, "run", "again", `{}`),
		answer(3, 77, "run", "of nothing", `{}`),
		`{"id":4,`+envelope+`,"observation":"error","content":"no call could be read","extras":{}}`,
		action(5, "run", `{"command":"crashed"}`),
		action(6, "finish", `{"final_thought":"done"}`),
	))
	if len(run.States) != 3 || run.States[1].ResponsePreview != "again" || run.States[2].ResponsePreview != "" {
		t.Errorf("%+v", run.States)
	}
	if got := fmt.Sprint(run.Warnings); got != "[{no_observation 1 x run} {stray_observation 1 x error: no call could be read} {stray_observation 1 x run: before its action} {stray_observation 1 x run: of nothing}]" {
		t.Error(got)
	}
	if run.ExitStatus != "finish" {
		t.Error(run.ExitStatus)
	}
}

func TestErrorAnswersTheActionBefore(t *testing.T) {
	run, _ := one(t, "t.json", list(
		action(1, "run", `{"command":"a; b"}`),
		`{"id":2,`+envelope+`,"observation":"error","content":"ERROR: Cannot execute multiple commands at once.","extras":{}}`,
		action(3, "run", `{"command":"rm"}`),
		answer(4, 3, "user_rejected", "no", `{}`),
	))
	for _, s := range run.States[1:] {
		if s.IsError.Or(0) != 1 || s.ErrorSource != "flag" {
			t.Errorf("%+v", s)
		}
	}
	if len(run.Warnings) != 0 {
		t.Error(run.Warnings)
	}
}

func TestPairsWithoutIDs(t *testing.T) {
	null := `{"message":"No observation","observation":"null","content":"","extras":{}}`
	run, _ := one(t, "t.json", `[
		[{"action":"message","source":"user","args":{"content":"the task"}},`+null+`],
		[{"action":"run","args":{"command":"ls"}},{"observation":"run","content":"a.py","extras":{"exit_code":0}}],
		[{"action":"null","args":{}},{"observation":"run","content":"late"}],
		[{"action":"run","args":{"command":"pwd"}},`+null+`],
		[null,3]]`)
	if run.FormatVersion != "pairs" || run.TaskDescription != "the task" || summary(run) != "2 steps, 0 failed, 1 codes: run_in_terminal 2" {
		t.Errorf("%s %q %s", run.FormatVersion, run.TaskDescription, summary(run))
	}
	if got := fmt.Sprint(run.Warnings); got != "[{no_observation 1 x run} {stray_observation 1 x run: late}]" {
		t.Error(got)
	}
}

// A side of a pair that is missing is null, or an event of that name. An observation alone
// answers the action that still waits for one.
func TestPairsWithASideMissing(t *testing.T) {
	for name, missing := range map[string][2]string{
		"null":   {`null`, `null`},
		"events": {`{"action":"null","args":{}}`, `{"message":"No observation","observation":"null","content":"","extras":{}}`},
	} {
		history := list(
			list(missing[0], `{"observation":"agent_state_changed","content":"","extras":{"agent_state":"running"}}`),
			list(`{"action":"run","args":{"command":"ls"}}`, missing[1]),
			list(missing[0], `{"observation":"run","content":"a.py","extras":{"exit_code":0}}`),
			list(`{"action":"run","args":{"command":"pwd"}}`, `{"observation":"run","content":"/w","extras":{"exit_code":0}}`),
			list(`{"action":"finish","args":{}}`, missing[1]),
		)
		for file, data := range map[string]string{"t.json": history, "output.jsonl": `{"instance_id":"a__b-1","test_result":{},"history":` + history + `}`} {
			run, _ := one(t, file, data)
			if got := summary(run); got != "2 steps, 0 failed, 2 codes: run_in_terminal 2" || run.FormatVersion != "pairs" || run.ExitStatus != "running" {
				t.Errorf("%s in %s: %s, %s, ends %s", name, file, run.FormatVersion, got, run.ExitStatus)
			}
			if a, b := run.States[1], run.States[2]; a.ResponsePreview != "a.py" || b.ResponsePreview != "/w" {
				t.Errorf("%s in %s: answers %q and %q", name, file, a.ResponsePreview, b.ResponsePreview)
			}
		}
	}
}

func TestFeedbackExport(t *testing.T) {
	event := func(action, args, observation, content string) string {
		return fmt.Sprintf(`{"action":%s,"args":%s,"observation":%s,"content":%s,"extras":null,"id":null,"message":null,"source":"agent","timestamp":null}`, action, args, observation, content)
	}
	run, evidence := one(t, "f.json", `{"version":"1","feedback":"positive","permissions":"private","trajectory":[`+strings.Join([]string{
		event(`null`, `null`, `null`, `"ok"`),
		event(`"run"`, `{"command":"ls"}`, `null`, `null`),
		event(`"run"`, `{"command":"pwd"}`, `null`, `null`),
		event(`null`, `null`, `"run"`, `"a.py"`),
		event(`null`, `null`, `"run"`, `"/w"`),
	}, ",")+`],"id":"x"}`)
	if run.FormatVersion != "feedback" || len(run.States) != 3 || run.States[1].ResponsePreview != "a.py" || run.States[2].ResponsePreview != "/w" {
		t.Errorf("%s %+v", run.FormatVersion, run.States)
	}
	if evidence != nil {
		t.Error("a user's feedback is no outcome")
	}
}

func TestTimestampsAsWritten(t *testing.T) {
	for _, written := range []string{"2025-04-30T16:32:57.821635", "2025-04-30T16:32:57", "2025-04-30T16:32:57Z", "2025-04-30T16:32:57+02:00"} {
		run, _ := one(t, "t.json", `[{"id":1,"source":"agent","timestamp":"`+written+`","action":"run","args":{"command":"ls"}}]`)
		if got := run.States[1].Timestamp; got != written {
			t.Errorf("got %q, want %q", got, written)
		}
	}
}

func TestActionsThatAreNoSteps(t *testing.T) {
	run, _ := one(t, "t.json", list(
		action(0, "system", `{"content":"s","openhands_version":"0.58.0","agent_class":"CodeActAgent"}`),
		`{"id":1,"timestamp":"x","source":"user","action":"message","args":{"content":"`+strings.Repeat("ä", 2001)+`"}}`,
		action(2, "condensation", `{"forgotten_event_ids":[1]}`),
		action(3, "condensation", `{"forgotten_events_start_id":1}`),
		action(4, "task_tracking", `{"command":"plan"}`),
		action(5, "browse_interactive", `{"browser_actions":"goto()"}`),
		action(6, "call_tool_mcp", `{"name":"fetch"}`),
		action(7, "delegate", `{}`), action(8, "delegate", `{}`),
		`{"id":9,"timestamp":"x","source":"user","action":"run","args":{"command":"git status"}}`,
		`{"id":10,"timestamp":"x","source":"environment","observation":"agent_state_changed","content":"","extras":{"agent_state":"error"}}`,
	))
	if len(run.States) != 1 || run.Condensations != 2 || run.Version != "0.58.0" || run.ExitStatus != "error" || len([]rune(run.TaskDescription)) != 2000 {
		t.Errorf("%d states, %d condensations, version %q, exit %q", len(run.States), run.Condensations, run.Version, run.ExitStatus)
	}
	want := "[{not_by_agent 1 x run} {skipped_action 1 x browse_interactive} {skipped_action 1 x task_tracking} {unmapped_action 1 x call_tool_mcp} {unmapped_action 2 x delegate}]"
	if got := fmt.Sprint(run.Warnings); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestEditorInsideIPython(t *testing.T) {
	run, _ := one(t, "t.json", list(
		action(1, "run_ipython", `{"code":"print(file_editor(**{'command': 'str_replace', 'path': '/testbed/a.py', 'old_str': 'it\\'s', 'new_str': \"\\\"x\\\"\\n\", 'insert_line': None}))","thought":"fix"}`),
		answer(2, 1, "run_ipython", "The file /testbed/a.py has been edited.", `{}`),
		action(3, "run_ipython", `{"code":"print(file_editor(**{'command': 'view', 'path': '/testbed', 'view_range': [1, -1]}))"}`),
		answer(4, 3, "run_ipython", "Here's the files and directories up to 2 levels deep in /testbed", `{}`),
		action(5, "edit", `{"path":"/testbed/b.py","content":"","translated_ipython_code":"print(file_editor(**{'command': 'create', 'path': '/testbed/b.py', 'file_text': 'x'}))"}`),
		action(6, "run_ipython", `{"code":"print(1)"}`),
	))
	var tools []string
	for _, s := range run.States[1:] {
		tools = append(tools, s.Tool)
	}
	if got := strings.Join(tools, " "); got != "replace_string_in_file list_dir create_file run_in_terminal" {
		t.Fatal(got)
	}
	s := run.States[1]
	if a := s.Log.Args; a.FilePath != "/a.py" || a.OldString != "it's" || a.NewString != "\"x\"\n" || s.Thought != "fix" || s.RawTool != "str_replace_editor" {
		t.Errorf("%+v", a)
	}
	if got := run.States[3].Log.Args.Content; got != "x" {
		t.Errorf("created %q", got)
	}
	if got := run.States[4].Log.Args.Code; got != "print(1)" {
		t.Errorf("code %q", got)
	}
}

func TestOlderArguments(t *testing.T) {
	run, _ := one(t, "t.json", list(
		action(1, "run", `{"command":"ls","is_confirmed":"confirmed","keep_prompt":true,"images_urls":["u"],"cwd":null}`),
		action(2, "edit", `{"path":"/testbed/a.py","content":"new text","start":3,"end":9,"impl_source":"llm_based_edit"}`),
		action(3, "write", `{"path":"/testbed/a.py","content":"all"}`),
		action(4, "read", `{"path":"/testbed/a.py","start":3,"end":9}`),
	))
	for i, want := range []string{
		`{"command":"ls","confirmation_state":"confirmed","image_urls":["u"]}`,
		`{"filePath":"/a.py","newString":"new text","start":3,"end":9,"impl_source":"llm_based_edit"}`,
		`{"filePath":"/a.py","content":"all"}`,
		`{"filePath":"/a.py","startLine":3,"endLine":9}`,
	} {
		if got := run.States[i+1].Log.Args.Raw; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestOddJSON(t *testing.T) {
	run, _ := one(t, "t.json", `[{"id":9007199254740993,"source":"agent","timestamp":"t","action":"x","action":"run","args":{"command":"a","command":"b\ud83d!"},"extras":[],"tool_call_metadata":"none","success":1},
		{"id":9007199254740992,"source":"agent","timestamp":"t","action":"run","args":{"command":5}},
		{"id":3,"source":"agent","timestamp":"t","cause":9007199254740993,"observation":"run","content":"of the first"},
		null, 7, [], "text"]`)
	if len(run.States) != 3 || run.States[1].Log.Args.Command != "b\ufffd!" || run.States[1].ResponsePreview != "of the first" || run.States[1].EntryID != "9007199254740993" {
		t.Errorf("%+v", run.States)
	}
	if a := run.States[2].Log.Args; a.Command != "" || a.Raw != `{"command":5}` {
		t.Errorf("%+v", a)
	}
}

func TestOutcomes(t *testing.T) {
	line := func(more string) string {
		return `{"instance_id":"o__r-1","metadata":{"llm_config":{"model":"p/m"}},"history":[` + action(1, "run", `{"command":"ls"}`) + `]` + more + `}`
	}
	for _, tt := range []struct{ name, more, want string }{
		{"resolved", `,"test_result":{"git_patch":"d","report":{"resolved":true}}`, "pass test_result.report "},
		{"not resolved", `,"report":{"resolved":false}`, "fail report "},
		{"empty generation", `,"report":{"resolved":false,"empty_generation":true}`, "fail report empty_patch"},
		{"harness error", `,"test_result":{"report":{"resolved":false,"error_eval":true}}`, "unknown test_result.report harness_error"},
		{"timeout", `,"test_result":{"report":{"resolved":false,"test_timeout":true}}`, "unknown test_result.report timeout"},
		{"beside the patch", `,"test_result":{"resolved":true}`, "pass test_result "},
		{"empty patch", `,"test_result":{"git_patch":" \n"}`, "fail git_patch empty_patch"},
		{"infrastructure", `,"error":"STATUS$ERROR: AgentRuntimeDisconnectedError: gone\n trace","test_result":{"git_patch":""}`, "unknown error infrastructure"},
		{"agent failure", `,"error":"AgentStuckInLoopError: Agent got stuck in a loop","test_result":{"git_patch":"d"}`, "none"},
		{"a patch alone", `,"test_result":{"git_patch":"d"}`, "none"},
		{"odd types", `,"report":[1],"test_result":"x","error":{}`, "none"},
	} {
		run, e := one(t, "output.jsonl", line(tt.more))
		got := "none"
		if e != nil {
			if e.Rank != format.RankReport {
				t.Errorf("%s: rank %d", tt.name, e.Rank)
			}
			got = fmt.Sprintf("%s %s %s", e.Outcome, e.Source, e.Detail)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if tt.name == "infrastructure" && run.ExitStatus != "STATUS$ERROR: AgentRuntimeDisconnectedError: gone" {
			t.Error(run.ExitStatus)
		}
	}
}

func TestIdentityOfALine(t *testing.T) {
	line := func(model, command string) string {
		return `{"instance_id":"o__r-1","metadata":{"llm_config":{"model":"` + model + `"}},"history":[` + action(1, "run", `{"command":"`+command+`"}`) + `]}`
	}
	a, _ := one(t, "x/output.jsonl", line("p/m", "ls"))
	b, _ := one(t, "y/z/output.swebench_eval.jsonl", line("p/m", "ls"))
	if a.ID != b.ID || !strings.HasPrefix(a.ID, "o__r-1-p__m-") {
		t.Errorf("one run in two files: %q, %q", a.ID, b.ID)
	}
	for _, other := range []string{line("p/n", "ls"), line("p/m", "pwd")} {
		if o, _ := one(t, "x/output.jsonl", other); o.ID == a.ID {
			t.Errorf("two runs have the id %q", o.ID)
		}
	}
	_, items, err := read(records("output.jsonl", []byte(`{"instance_id":"","history":[`+action(1, "run", `{}`)+`]}`))[0])
	if err == nil || items != nil {
		t.Error("a line without an instance id is refused")
	}
}

func TestIdentityOfAFile(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"psf__requests-1724-logs-gpt-4o-2024-11-20-pass-25007092492.json", "psf__requests-1724-logs-gpt-4o-2024-11-20-pass-25007092492 psf__requests-1724 gpt-4o-2024-11-20 psf/requests pass"},
		{"x/psf__requests-1724-logs-m-fail-1/output/trajectories/trajectory_openhands.json", "psf__requests-1724-logs-m-fail-1 psf__requests-1724 m psf/requests fail"},
		{"psf__requests-1724-logs-m-fail-1_pta.json", "psf__requests-1724-logs-m-fail-1 psf__requests-1724 m psf/requests fail"},
		{"gpt-4/django__django-1/run_3/trajectory.json", "gpt-4--django__django-1--run_3--trajectory django__django-1 logged django/django unknown"},
		{"django__django-1/gpt-4/2.json", "django__django-1--gpt-4--2 django__django-1 logged django/django unknown"},
		{"mine.json", "mine mine logged  unknown"},
		{"trajectory.json", "2c6e0c5c0acb 2c6e0c5c0acb logged  unknown"},
	} {
		run, e := one(t, tt.file, list(action(1, "run", `{"command":"ls"}`, `,"tool_call_metadata":{"model_response":{"model":"logged"}}`)))
		outcome := trajectory.Unknown
		if e != nil {
			outcome = e.Outcome
		}
		if got := fmt.Sprintf("%s %s %s %s %s", run.ID, run.TaskID, run.Model, run.Repo, outcome); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.file, got, tt.want)
		}
	}
	// Without a model in the log the folders name it.
	for file, want := range map[string]string{"gpt-4/django__django-1/run_3/trajectory.json": "gpt-4", "django__django-1/gpt-4/2.json": "gpt-4", "mine.json": ""} {
		if run, _ := one(t, file, list(action(1, "run", `{"command":"ls"}`))); run.Model != want {
			t.Errorf("%s: model %q, want %q", file, run.Model, want)
		}
	}
}

func TestDetect(t *testing.T) {
	for data, want := range map[string]string{
		`[]`: "", `{}`: "", `[1]`: "", `[[]]`: "", `[{"role":"user","content":"x"}]`: "",
		`[{"kind":"ActionEvent","id":"a","source":"agent","action":{"kind":"x"}}]`:                          "",
		`{"instance_id":"a","history":[{"kind":"ActionEvent","source":"agent"}]}`:                           "",
		`{"instance_id":"a","messages":[]}`:                                                                 "",
		`{"trajectory":[{"action":"ls","observation":"x","response":"r","state":"{}"}],"info":{}}`:          "",
		`{"trajectory":[{"action":"ls","observation":"x","response":"r","state":"{}"}]}`:                    "",
		`{"trajectory":[{"role":"user","content":"x"}]}`:                                                    "",
		`{"instance_id":"a","history":null,"metadata":{},"error":"AgentRuntimeError"}`:                      IDOutput,
		`{"instance_id":"a","history":[],"test_result":{}}`:                                                 IDOutput,
		`{"history":[{"id":1,"action":"run","args":{}}],"instance_id":"a"}`:                                 IDOutput,
		`{"instance_id":"a","history":[[{"action":"run","args":{}},{"observation":"run"}]]}`:                IDOutput,
		`{"issue":{},"git_patch":"","history":[{"action":"run"}]}`:                                          IDOutput,
		`[[{"action":"run","args":{}},{"observation":"run"}]]`:                                              IDPairs,
		`[{"id":1,"source":"user","action":"message"}]`:                                                     IDEvents,
		`{"trajectory":[{"id":1,"source":"environment","observation":"agent_state_changed","content":""}]}`: IDEvents,
	} {
		id := ""
		for _, f := range Formats() {
			if _, ok := f.Detect(format.NewProbe("x.json", []byte(data))); ok {
				id = f.ID
				break
			}
		}
		if id != want {
			t.Errorf("%s: got %q, want %q", data, id, want)
		}
	}
}

func TestForcedOnSomethingElse(t *testing.T) {
	for _, f := range Formats() {
		for _, data := range []string{`{"messages":[]}`, `"text"`, `{"trajectory":`} {
			items, err := f.Read(records("x.json", []byte(data))[0])
			var refused *format.RecordError
			if !errors.As(err, &refused) || refused.Code == "" || items != nil {
				t.Errorf("%s of %s: %v, %v", f.ID, data, items, err)
			}
		}
	}
}

func TestLiterals(t *testing.T) {
	for code, want := range map[string]string{
		`print(file_editor(**{'command': 'view', 'path': '/a', 'view_range': [1, 20], 'x': None, 'y': True, 'z': -3, }))`: `command="view" path="/a" view_range=[1,20] x=null y=true z=-3`,
		`print(file_editor(**{"command": "a\tb\\n\x41\u00e9\U0001f600\q\x00"}))`:                                          `command="a\tb\\nAé😀\\q�"`,
		"print(file_editor(**{'command': '''a'b\nc'''}))":                                                                 `command="a'b\nc"`,
		`print(file_editor(**{'path': '/a'}))`:                                                                            "",
		`print(file_editor(**{'command': 'view'})); x()`:                                                                  "",
		`print(file_editor(**{'command': 'vi`:                                                                             "",
		`print(file_editor(**{'command': open('x')}))`:                                                                    "",
		`print(1)`: "",
	} {
		args, ok := editorCall(code)
		var parts []string
		for _, m := range args {
			parts = append(parts, m.Name+"="+string(m.Value))
		}
		if got := strings.Join(parts, " "); got != want || ok != (want != "") {
			t.Errorf("%s: got %s", code, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "openhands-v0") {
		f.Add(data)
	}
	f.Add([]byte(list(action(1, "run", `{"command":"ls"}`), answer(2, 1, "run", "x", `{"metadata":{"exit_code":-1}}`))))
	f.Add([]byte(`{"instance_id":"a","history":[[{"action":"run","args":{}},{"observation":"null"}]],"error":null}`))
	f.Add([]byte(`{"issue":{},"git_patch":"","history":[{"action":"run","command":"ls"},{"observation":"run","exit_code":0}]}`))
	f.Add([]byte(`{"trajectory":[{"action":null,"observation":"run","source":"agent","id":null}]}`))
	f.Add([]byte(list(action(1, "run_ipython", `{"code":"print(file_editor(**{'command': 'create', 'path': 'a'}))"}`))))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, rec := range records("a/b.json", data) {
			for _, fm := range Formats() {
				// Every reader is tried, as --format does.
				items, err := fm.Read(rec)
				if err != nil || len(items) == 0 {
					continue
				}
				run := items[0].Trajectory
				if run.ID == "" || run.TaskID == "" || len(run.States) != len(run.Transitions)+1 {
					t.Errorf("%s: id %q, task %q, %d states, %d transitions", fm.ID, run.ID, run.TaskID, len(run.States), len(run.Transitions))
				}
				for i := range run.States[1:] {
					if raw := run.States[i+1].Log.Args.Raw; !format.Complete([]byte(raw)) {
						t.Errorf("%s: arguments %s", fm.ID, raw)
					}
				}
			}
		}
	})
}
