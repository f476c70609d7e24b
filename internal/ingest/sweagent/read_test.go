package sweagent

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

// summary counts a run's steps by tool and its failed steps.
func summary(t *trajectory.Trajectory) string {
	var tools []string
	count := map[string]int{}
	failed := 0
	for _, s := range t.States[1:] {
		if count[s.Tool]++; count[s.Tool] == 1 {
			tools = append(tools, s.Tool)
		}
		if s.IsError.Or(0) == 1 {
			failed++
		}
	}
	text := fmt.Sprintf("%s %s %s | %d steps, %d failed:", t.FormatVersion, t.TaskID, t.Model, len(t.States)-1, failed)
	for _, tool := range tools {
		text += fmt.Sprintf(" %s %d", tool, count[tool])
	}
	return text + fmt.Sprintf(" | %s %v", t.ExitStatus, t.Warnings)
}

func TestFixtures(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "sweagent")
	want := map[string]string{
		"crypto--BabyEncryption.traj":                  "v0 BabyEncryption crypto | 15 steps, 5 failed: read_file 3 create_file 1 replace_string_in_file 7 run_in_terminal 4 | submitted []",
		"demonstrations--function_calling_simple.traj": "history function_calling_simple  | 4 steps, 0 failed: file_search 1 read_file 1 replace_string_in_file 1 run_in_terminal 1 | finish []",
		"gpt4__swe-agent__test-repo__default_from_url__t-0.00__p-0.95--swe-agent__test-repo-i1.traj":            "v0 swe-agent__test-repo-i1 gpt4 | 4 steps, 0 failed: file_search 1 read_file 1 replace_string_in_file 1 run_in_terminal 1 | submitted []",
		"gpt4__swe-bench-dev-easy_first_only__default__t-0.00__p-0.95--pydicom__pydicom-1458.traj":              "v0 pydicom__pydicom-1458 gpt4 | 11 steps, 4 failed: create_file 1 replace_string_in_file 5 run_in_terminal 3 file_search 1 read_file 1 | submitted []",
		"replay__marshmallow-code__marshmallow-1867__default__t-0.20_--marshmallow-code__marshmallow-1867.traj": "v0 marshmallow-code__marshmallow-1867 replay | 13 steps, 1 failed: run_in_terminal 6 read_file 2 create_file 1 replace_string_in_file 3 file_search 1 | submitted []",
		"replay__marshmallow-code__marshmallow-1867__default_sys-env_--marshmallow-code__marshmallow-1867.traj": "v0 marshmallow-code__marshmallow-1867 replay__marshmallow-code__marshmallow-1867__default_sys-env_ | 11 steps, 1 failed: create_file 1 replace_string_in_file 3 run_in_terminal 4 file_search 1 read_file 2 | submitted []",
		"replay__marshmallow-code__marshmallow-1867__function_calling--marshmallow-code__marshmallow-1867.traj": "v1 marshmallow-code__marshmallow-1867 gpt-4o | 10 steps, 1 failed: create_file 1 replace_string_in_file 3 run_in_terminal 4 file_search 1 read_file 1 | submitted []",
		"replay__marshmallow-code__marshmallow-1867__xml_sys-env_curs--marshmallow-code__marshmallow-1867.traj": "v0 marshmallow-code__marshmallow-1867 replay__marshmallow-code__marshmallow-1867__xml_sys-env_curs | 11 steps, 1 failed: create_file 1 replace_string_in_file 3 run_in_terminal 4 file_search 1 read_file 2 | submitted []",
		"replay__marshmallow-code__marshmallow-1867__xml_sys-env_wind--marshmallow-code__marshmallow-1867.traj": "v0 marshmallow-code__marshmallow-1867 gpt-4o | 10 steps, 1 failed: create_file 1 replace_string_in_file 3 run_in_terminal 4 file_search 1 read_file 1 | submitted []",
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		run, e := one(t, file.Name(), string(data))
		if got := summary(run); got != want[file.Name()] {
			t.Errorf("%s:\n got %s\nwant %s", file.Name(), got, want[file.Name()])
		}
		if e != nil || run.TaskDescription == "" || strings.Contains(run.ID, "/") {
			t.Errorf("%s: evidence %v, task %q, id %q", file.Name(), e, run.TaskDescription, run.ID)
		}
		for _, s := range run.States[1:] {
			if s.Log.Args.Has == 0 || s.ExitCode.Valid {
				t.Errorf("%s step %d: %s %s", file.Name(), s.Step, s.Tool, s.Log.Args.Raw)
			}
		}
	}
	if len(files) != len(want) {
		t.Errorf("%d files, want %d", len(files), len(want))
	}
}

const before = `"state":"{\"open_file\": \"/r__n/a.py\", \"working_dir\": \"/r__n\"}\n","response":"R","thought":"T"`

// list writes a run of steps with the given actions and answers.
func list(info string, steps ...string) string {
	var texts []string
	for i := 0; i < len(steps); i += 2 {
		texts = append(texts, fmt.Sprintf(`{"action":%q,"observation":%q,%s}`, steps[i], steps[i+1], before))
	}
	return `{"environment":"swe_main","trajectory":[` + strings.Join(texts, ",") + `],"history":[{"role":"system","content":"s","agent":"a"},` +
		`{"role":"user","content":"demo","agent":"a","is_demo":true},{"role":"user","content":"fix it","agent":"a"}],"info":` + info + `}`
}

func TestCommands(t *testing.T) {
	run, _ := one(t, "gpt4__d__c__t-0.00__p-0.95/r__n-1.traj", list(`{"exit_status":"submitted (exit_cost)","submission":"d"}`,
		"edit 3:4\n    x = 1\n\nend_of_edit\n", "Your proposed edit has introduced new syntax error(s).",
		"edit 3:4\nx\nend_of_edit", "File updated.\n[File: /r__n/a.py (2 lines total)]\n1:x\n2:y\n",
		"edit 'it''s' \"a\\\"b\nc\"", "Text replaced.",
		"open b.py 20", "[File: /r__n/b.py (30 lines total)]\n(9 more lines above)\n10:a\n11:b\n(19 more lines below)",
		"goto 1", "[File: /r__n/a.py (30 lines total)]\n1:a\n2:b",
		"scroll_down", "[File: /r__n/a.py (30 lines total)]\n3:a",
		"create src/new.py", "[File: /r__n/src/new.py (1 lines total)]\n1:",
		"create src/new.py", "Error: File 'src/new.py' already exists.",
		`search_dir "a b" src`, "Found 1 matches",
		"search_file needle", "No matches",
		"find_file x.py && ls", "x.py",
		"str_replace_editor view /r__n/a.py --view_range 3 -1", "Here's the result of running `cat -n` on /r__n/a.py:\n",
		"str_replace_editor str_replace /r__n/a.py --old_str 'a\nb' --new_str ''", "No replacement was performed, old_str `a` did not appear verbatim",
		"str_replace_editor undo_edit /r__n/a.py", "Last edit to /r__n/a.py undone successfully.",
		"str_replace_editor view /r__n", "Here's the files and directories up to 2 levels deep in /r__n, excluding hidden items:\n/r__n/a.py",
		"open nowhere.py", "File nowhere.py not found",
		"python <<'E'\nprint(1)\nE", "Traceback (most recent call last):\n  x",
		"ls | wc", "3",
		"DISCUSSION\nI think", "",
		"exit_cost", "Exited",
		"", "",
		"submit\n", "diff",
	))
	var got []string
	for _, s := range run.States[1:] {
		got = append(got, fmt.Sprintf("%s %s %v %d", s.ResultingState, s.Log.Args.Raw, s.Undo, s.IsError.Or(-1)))
	}
	want := []string{
		`file_modify_failed:a.py {"startLine":3,"endLine":4,"newString":"    x = 1\n","filePath":"/a.py"} false 1`,
		`file_modified:a.py {"startLine":3,"endLine":4,"newString":"x","filePath":"/a.py"} false 0`,
		`file_modified:a.py {"oldString":"its","newString":"a\"b\nc","filePath":"/a.py"} false 0`,
		`file_read:b.py {"filePath":"/b.py","line_number":"20","startLine":10,"endLine":11} false 0`,
		`file_read:a.py {"line_number":"1","filePath":"/a.py","startLine":1,"endLine":2} false 0`,
		`file_read:a.py {"filePath":"/a.py","startLine":3,"endLine":3} false 0`,
		`file_created:src/new.py {"filePath":"/src/new.py"} false 0`,
		`file_create_failed:src/new.py {"filePath":"/src/new.py"} false 1`,
		`grep_search:found_matches {"query":"a b","path":"/src"} false 0`,
		`grep_search:found_matches {"query":"needle","filePath":"/a.py"} false 0`,
		`terminal:find_file {"command":"find_file x.py && ls"} false -1`,
		`file_read:a.py {"command":"view","filePath":"/a.py","startLine":3,"endLine":-1} false 0`,
		`file_modify_failed:a.py {"command":"str_replace","filePath":"/a.py","oldString":"a\nb","newString":""} false 1`,
		`file_modified:a.py {"command":"undo_edit","filePath":"/a.py"} true 0`,
		`dir_listed: {"command":"view","filePath":"/"} false 0`,
		`file_read:nowhere.py {"filePath":"/nowhere.py"} false 1`,
		`terminal:python {"command":"python <<'E'\nprint(1)\nE"} false 1`,
		`terminal:ls {"command":"ls | wc"} false -1`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("step %d:\n got %s\nwant %s", i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
		}
	}
	if run.ExitStatus != "submitted (exit_cost)" || run.TaskDescription != "fix it" || run.Model != "gpt4" || run.TaskID != "r__n-1" || run.Repo != "r/n" || run.Workspace != "/r__n" || run.States[1].Thought != "T" || run.States[1].ErrorSource != "text" {
		t.Errorf("%+v", run)
	}
	if got := fmt.Sprint(run.Warnings); got != "[{format_error 1 x DISCUSSION} {pseudo_action 1 x empty action} {pseudo_action 1 x exit_cost}]" {
		t.Error(got)
	}
}

func TestShapes(t *testing.T) {
	step := `{"action":"ls","observation":"a","state":%s,"query":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":"x"}],"execution_time":0.5}`
	for _, tt := range []struct{ name, data, want string }{
		{"state that is no JSON", fmt.Sprintf(`{"trajectory":[`+step+`],"info":{}}`, `"not JSON"`), "v0 x  | 1 steps, 0 failed: run_in_terminal 1 |  []"},
		{"empty state", fmt.Sprintf(`{"trajectory":[`+step+`],"info":{}}`, `""`), "v0 x  | 1 steps, 0 failed: run_in_terminal 1 |  []"},
		{"state as an object, configuration as a text", fmt.Sprintf(`{"trajectory":[`+step+`],"info":{"exit_status":null},"replay_config":%q}`, `{"working_dir":"/testbed"}`,
			`{"agent":{"model":{"name":"m"}},"problem_statement":{"id":"a__b-1"}}`), "v1 a__b-1 m | 1 steps, 0 failed: run_in_terminal 1 |  []"},
		{"no state", fmt.Sprintf(`{"trajectory":[`+step+`],"info":{},"replay_config":"{"}`, `null`), "v1 x  | 1 steps, 0 failed: run_in_terminal 1 |  []"},
		{"attempts", fmt.Sprintf(`{"attempts":[{"trajectory":[`+step+`],"history":[]},{"trajectory":[]}],"info":{"best_attempt_idx":0,"exit_status":"submitted"}}`, `null`),
			"v1 x  | 1 steps, 0 failed: run_in_terminal 1 | submitted [{other_attempt 1 x attempt that was not the best}]"},
		{"history", `{"history":[{"role":"assistant","agent":"main","action":"bad","is_demo":true},{"role":"assistant","action":"ls -F","content":"c"},{"role":"tool","content":[{"type":"text","text":"a\r\n(Open file: n/a)\n(Current directory: /repo)\nbash-$"}]},{"role":"assistant","content":"no"}]}`,
			"history x  | 1 steps, 0 failed: run_in_terminal 1 |  [{format_error 1 x turn without an action}]"},
		{"other types", `{"trajectory":[{"action":5,"observation":null},{"action":"ls","observation":[]},7],"info":{},"history":{}}`, "v1 x  | 1 steps, 0 failed: run_in_terminal 1 |  [{pseudo_action 2 x empty action}]"},
	} {
		run, _ := one(t, "x.traj", tt.data)
		if got := summary(run); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// The state beside a step is an object or its text, and says the same in both; the messages
// the model was asked with, under either name, are no part of the run.
func TestStateAsTextOrObject(t *testing.T) {
	const inside = `{"open_file":"/r__n/src/a.py","working_dir":"/r__n/src"}`
	for name, state := range map[string]string{"a text": fmt.Sprintf("%q", inside), "an object": inside} {
		for _, asked := range []string{"query", "messages"} {
			run, _ := one(t, "x.traj", `{"trajectory":[{"action":"edit 3:4\nx\nend_of_edit","observation":"File updated.","thought":"t","response":"r","state":`+state+
				`,"`+asked+`":[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","content":"`+"```\\nrm -rf /\\n```"+`"}]},
				{"action":"open b.py","observation":"","state":`+state+`}],"history":[{"role":"user","content":"the task"}],"info":{}}`)
			a, b := run.States[1], run.States[len(run.States)-1]
			if len(run.States) != 3 || run.Workspace != "/r__n" || a.FilePath != "src/a.py" || b.FilePath != "src/b.py" || a.Thought != "t" || run.TaskDescription != "the task" {
				t.Errorf("%s, %s: %d states, files %q and %q, task %q", name, asked, len(run.States), a.FilePath, b.FilePath, run.TaskDescription)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	for info, want := range map[string]string{
		`{"exit_status":"submitted (exit_cost)","submission":"diff"}`: "none",
		`{"exit_status":"submitted (exit_context)","submission":""}`:  "fail empty_patch",
		`{"exit_status":"submitted","submission":"diff"}`:             "none",
		`{"exit_status":"submitted","submission":" "}`:                "fail empty_patch",
		`{"exit_status":"exit_cost","submission":null}`:               "none",
		`{"exit_status":"exit_environment_error","submission":""}`:    "unknown infrastructure",
	} {
		_, e := one(t, "x.traj", list(info, "ls", "a"))
		got := "none"
		if e != nil {
			got = fmt.Sprintf("%s %s", e.Outcome, e.Detail)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", info, got, want)
		}
	}
}

func FuzzCommand(f *testing.F) {
	for _, seed := range []string{"edit 1:2\nx\nend_of_edit", "edit 'a' 'b'", "edit\nend_of_edit", `str_replace_editor view "/a b" --view_range 1 2`, "open a\\ b 3", "ls | wc", "submit", "'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		tool, args := Command(line)
		if raw := args.Append(nil); tool == "" || format.Check(raw) != nil {
			t.Errorf("%q: %s %s", line, tool, raw)
		}
		Place(tool, &args, "", line)
		Prompt(line)
	})
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "sweagent") {
		f.Add(data)
	}
	f.Add([]byte(list("{}", "ls", "a", "edit 1:1\nx\nend_of_edit", "b")))
	f.Add([]byte(`{"history":[{"role":"assistant","agent":"a","action":"ls"},{"role":"tool","content":"x"}]}`))
	f.Add([]byte(`{"attempts":[{"trajectory":[]}],"info":{"best_attempt_idx":9}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := read(format.Record{File: "a.traj", Data: data, Probe: format.NewProbe("a.traj", data)}, tools.Default())
		if err == nil && (len(items) == 0 || len(items[0].Trajectory.States) != len(items[0].Trajectory.Transitions)+1) {
			t.Errorf("%v", items)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	file := "gpt4__swe-bench-dev-easy_first_only__default__t-0.00__p-0.95--pydicom__pydicom-1458.traj"
	data := conformance.Read(b, "fixtures", "sweagent", file)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(format.Record{File: file, Data: data, Probe: format.NewProbe(file, data)}, tools.Default()); err != nil {
			b.Fatal(err)
		}
	}
}
