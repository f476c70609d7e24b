package openhandsv1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/openhandsv1"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func event(kind, id, rest string) string {
	return fmt.Sprintf(`{"kind":%q,"id":%q,"timestamp":"2026-01-02T03:04:05.678901","source":"agent"%s}`, kind, id, rest)
}

func action(id, call, response, command string) string {
	return event("ActionEvent", id, fmt.Sprintf(`,"thought":[{"type":"text","text":"t %s"}],"action":{"kind":"TerminalAction","command":%q,"is_input":false},"tool_name":"terminal","tool_call_id":%q,"llm_response_id":%q`,
		id, command, call, response))
}

func observation(id, answers, call, text string, exit string) string {
	return event("ObservationEvent", id, fmt.Sprintf(`,"tool_name":"terminal","tool_call_id":%q,"action_id":%q,"observation":{"kind":"TerminalObservation","content":[{"type":"text","text":%q}],"is_error":false,"exit_code":%s,"metadata":{"exit_code":-1}}`,
		call, answers, text, exit))
}

// states describes the steps of a run: tool, command or path, answer, exit code, error.
func states(r *trajectory.Trajectory) string {
	var out []string
	for _, s := range r.States[1:] {
		about := s.Log.Args.FilePath
		if about == "" {
			about = s.Log.Args.Command
		}
		text := s.Tool + " " + about + " = " + s.ResponsePreview
		if s.ExitCode.Valid {
			text += fmt.Sprintf(" exit %d", s.ExitCode.Value)
		}
		if s.IsError.Or(0) == 1 {
			text += " failed by " + s.ErrorSource
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func warnings(r *trajectory.Trajectory) string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Code+": "+w.Detail)
	}
	return strings.Join(out, "; ")
}

func TestEvents(t *testing.T) {
	const unknown = "task_unknown: 1 x neither the log nor its path names a task"
	for _, tt := range []struct {
		name           string
		events         []string
		states, warned string
	}{
		{
			"paired by action, then by call",
			[]string{action("a", "c1", "r", "ls"), action("b", "c2", "r", "pwd"), observation("o2", "b", "c2", "/x", "0"), observation("o1", "", "c1", "f", "2")},
			"run_in_terminal ls = f exit 2 failed by exit_code; run_in_terminal pwd = /x exit 0", "",
		},
		{
			"answers before their actions, and an action that a crash left alone",
			[]string{observation("o1", "a", "c1", "f", "0"), action("a", "c1", "r", "ls"), observation("o2", "", "c2", "/x", "0"), action("b", "c2", "s", "pwd"), action("c", "c3", "s", "make")},
			"run_in_terminal ls = f exit 0; run_in_terminal pwd = /x exit 0; run_in_terminal make = ", "no_observation: 1 x terminal",
		},
		{
			"exit code -1 and null are unknown",
			[]string{action("a", "c1", "r", "sleep 99"), observation("o1", "a", "c1", "", "-1"), action("b", "c2", "s", "x"), observation("o2", "b", "c2", "", "null")},
			"run_in_terminal sleep 99 = ; run_in_terminal x = ", "",
		},
		{
			"a call that could not be parsed",
			[]string{
				event("ActionEvent", "a", `,"thought":[],"action":null,"tool_name":"terminal","tool_call_id":"c","tool_call":{"id":"c","name":"terminal","arguments":"{\"command\": \"ls","origin":"completion"},"llm_response_id":"r"`),
				event("AgentErrorEvent", "e", `,"error":"Error validating args","tool_name":"terminal","tool_call_id":"c"`),
				event("ActionEvent", "b", `,"action":null,"tool_name":"file_editor","tool_call_id":"d","tool_call":{"id":"d","name":"file_editor","arguments":"{\"command\":\"view\",\"path\":\"/testbed/a.py\"}"}`),
			},
			"run_in_terminal  = Error validating args failed by flag; read_file /a.py = ", "bad_arguments: 1 x terminal; no_observation: 1 x file_editor",
		},
		{
			"rejection, stray, surplus",
			[]string{
				action("a", "c", "r", "rm -rf /"), event("UserRejectObservation", "u", `,"rejection_reason":"no","action_id":"a","tool_call_id":"c","tool_name":"terminal"`),
				observation("o", "a", "c", "late", "0"), observation("p", "gone", "gone", "x", "0"),
			},
			"run_in_terminal rm -rf / = no failed by flag", "second_observation: 1 x terminal: late; stray_observation: 1 x terminal: x",
		},
		{
			"no steps",
			[]string{
				action("a", "c", "r", "ls"), event("Condensation", "x", `,"forgotten_event_ids":["a"],"summary":"s"`), event("CondensationRequest", "y", ""),
				event("PauseEvent", "z", ""), event("NewEvent", "n", ""), event("MessageEvent", "m", `,"llm_message":{"role":"assistant","content":[{"type":"text","text":"hi"}]}`),
				event("ActionEvent", "p", `,"action":{"kind":"TaskTrackerAction","command":"plan"},"tool_name":"task_tracker"`),
				event("ActionEvent", "f", `,"action":{"kind":"FinishAction","message":"done"},"tool_name":"finish"`),
			},
			"run_in_terminal ls = ", "no_observation: 1 x terminal; skipped_action: 1 x task_tracker; skipped_event: 1 x PauseEvent; unmapped_event: 1 x NewEvent",
		},
		{
			"an unknown tool is a step",
			[]string{
				event("ActionEvent", "a", `,"action":{"kind":"MCPToolAction","data":{"q":1}},"tool_name":"fetch_docs","tool_call_id":"c"`),
				event("ObservationEvent", "o", `,"action_id":"a","tool_name":"fetch_docs","observation":{"kind":"MCPToolObservation","content":[{"type":"text","text":"one"},{"type":"image","image_urls":[]},{"type":"text","text":"two"}],"is_error":true}`),
			},
			"fetch_docs  = one\ntwo failed by flag", "unmapped_tool: 1 x fetch_docs",
		},
		{
			"the branch of the last event",
			[]string{
				event("ActionEvent", "a", `,"parent_id":"__root__","action":{"command":"one"},"tool_name":"terminal"`),
				event("ActionEvent", "b", `,"parent_id":"a","action":{"command":"given up"},"tool_name":"terminal"`),
				event("ActionEvent", "c", `,"parent_id":"a","action":{"command":"two"},"tool_name":"terminal"`),
				event("ActionEvent", "d", `,"parent_id":"c","action":{"command":"three"},"tool_name":"terminal"`),
			},
			"run_in_terminal one = ; run_in_terminal two = ; run_in_terminal three = ", "no_observation: 3 x terminal; other_branch: 1 x ActionEvent",
		},
		{
			"a branch with a gap and one in a circle",
			[]string{
				event("ActionEvent", "a", `,"parent_id":"__root__","action":{"command":"one"},"tool_name":"terminal"`),
				event("ActionEvent", "c", `,"parent_id":"lost","action":{"command":"two"},"tool_name":"terminal"`),
				event("ActionEvent", "d", `,"parent_id":"d","action":{"command":"three"},"tool_name":"terminal"`),
			},
			"run_in_terminal three = ", "no_observation: 1 x terminal; other_branch: 2 x ActionEvent",
		},
		{
			"a temporary root",
			[]string{
				event("MessageEvent", "m", `,"source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"in /tmp/tmpab_12cd9/repo.\n<issue_description>fix</issue_description>"}]}`),
				action("a", "c", "r", "cd /tmp/tmpab_12cd9/repo && ls /tmp/x"), observation("o", "a", "c", "/tmp/tmpab_12cd9/repo/a.py", "0"),
				event("ActionEvent", "b", `,"action":{"command":"view","path":"/tmp/tmpab_12cd9/repo/lib/a.py","view_range":[1,2]},"tool_name":"file_editor"`),
			},
			"run_in_terminal cd /testbed && ls /tmp/x = /testbed/a.py exit 0; read_file /lib/a.py = ", "no_observation: 1 x file_editor; temporary_root: 1 x /tmp/tmpab_12cd9/repo",
		},
		{
			"Gemini's tools",
			[]string{
				event("ActionEvent", "a", `,"action":{"kind":"ReadFileAction","file_path":"/testbed/a.py","offset":4,"limit":2},"tool_name":"read_file"`),
				event("ActionEvent", "b", `,"action":{"kind":"EditAction","file_path":"/testbed/a.py","old_string":"x","new_string":"y"},"tool_name":"edit"`),
				event("ActionEvent", "c", `,"action":{"kind":"ListDirectoryAction","dir_path":"/testbed/src"},"tool_name":"list_directory"`),
			},
			"read_file /a.py = ; replace_string_in_file /a.py = ; list_dir /src = ", "no_observation: 1 x edit; no_observation: 1 x list_directory; no_observation: 1 x read_file",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := strings.Join(tt.events, "\n") + "\n"
			dir := map[string]string{}
			for i, e := range tt.events {
				dir[fmt.Sprintf("conv/events/event-%05d-x.json", i)] = e
			}
			for name, files := range map[string]map[string]string{
				"lines": {"e.jsonl": lines}, "lines by another name": {"e.json": lines}, "array": {"e.json": "[" + strings.Join(tt.events, ",\n") + "]"}, "folder": dir,
			} {
				got := readtest.Read(t, ingest.Options{}, readtest.Files(t, files))
				if got.Err != nil || len(got.Runs) != 1 || len(got.Refused) > 0 {
					t.Fatalf("%s: %v, %d runs, %v", name, got.Err, len(got.Runs), got.Refused)
				}
				if s := states(got.Runs[0]); s != tt.states {
					t.Errorf("%s: states\n%s, want\n%s", name, s, tt.states)
				}
				var want []string
				for _, w := range strings.Split(tt.warned+"; "+unknown, "; ") {
					if w != "" {
						want = append(want, w)
					}
				}
				if w := warnings(got.Runs[0]); !sameSet(strings.Split(w, "; "), want) {
					t.Errorf("%s: warnings %s, want %s", name, w, want)
				}
			}
		})
	}
}

func sameSet(a, b []string) bool {
	n := map[string]int{}
	for _, s := range a {
		n[s]++
	}
	for _, s := range b {
		n[s]--
	}
	for _, v := range n {
		if v != 0 {
			return false
		}
	}
	return true
}

// TestFolder orders by number, not by name, and survives damaged files.
func TestFolder(t *testing.T) {
	files := map[string]string{
		"base_state.json": `{"id":"01234567-89ab-cdef-0123-456789abcdef","agent":{"kind":"Agent","llm":{"model":"m"}},"execution_status":"finished","max_iterations":5,` +
			`"stats":{"usage_to_metrics":{"default":{"model_name":"m","token_usages":[{"response_id":"r","prompt_tokens":10,"completion_tokens":2,"cache_read_tokens":7}]}}}}`,
		"events/event-100000-x.json": action("c", "c3", "s", "three"),
		"events/event-99999-z.json":  action("b", "c2", "r", "two"),
		"events/event-99998-a.json":  action("a", "c1", "r", "one"),
		"events/event-99997-a.json":  `{"kind":"ActionEvent","id":"q","timestamp":"x","action":{`,
		"other.json":                 `{"0123456789abcdef0123456789abcdef":"o__r-1"}`,
	}
	got := readtest.Read(t, ingest.Options{}, readtest.Files(t, files))
	if got.Err != nil || len(got.Runs) != 1 {
		t.Fatal(got.Err, got.Refused)
	}
	r := got.Runs[0]
	if s := states(r); s != "run_in_terminal one = ; run_in_terminal two = ; run_in_terminal three = " {
		t.Error(s)
	}
	if w := warnings(r); w != "bad_event: 1 x file; missing_event: 99997 x numbers without a file; no_observation: 3 x terminal" {
		t.Error(w)
	}
	if r.ID != "o__r-1-0123456789abcdef0123456789abcdef" || r.TaskID != "o__r-1" || r.Repo != "o/r" || r.Model != "m" || r.ExitStatus != "finished" || r.SourceFile != "." {
		t.Errorf("%s %s %s %s %s %s", r.ID, r.TaskID, r.Repo, r.Model, r.ExitStatus, r.SourceFile)
	}
	if a, b := r.States[1], r.States[2]; a.InputTokens.Or(0) != 10 || a.CachedTokens.Or(0) != 7 || a.OutputTokens.Or(0) != 2 || b.InputTokens.Valid || a.ResponseGroup != "r" || b.ResponseGroup != "r" {
		t.Errorf("tokens: %+v %+v", a, b)
	}
}

// one reads a run from its events.
func one(t *testing.T, events ...string) *trajectory.Trajectory {
	t.Helper()
	got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{"e.jsonl": strings.Join(events, "\n") + "\n"}))
	if got.Err != nil || len(got.Runs) != 1 {
		t.Fatal(got.Err, got.Refused)
	}
	return got.Runs[0]
}

// Calls of one response share its tokens and its thought. The totals of a state grow with
// the run, and are told again and again.
func TestTokensAndThoughtOnceAResponse(t *testing.T) {
	stats := event("ConversationStateUpdateEvent", "s", `,"source":"environment","key":"stats","value":{"usage_to_metrics":{"agent":{"model_name":"m","accumulated_token_usage":{"prompt_tokens":9999,"completion_tokens":999},`+
		`"token_usages":[{"response_id":"r","prompt_tokens":100,"completion_tokens":7,"cache_read_tokens":3},{"response_id":"s","prompt_tokens":200,"completion_tokens":8,"cache_read_tokens":4}]}}}`)
	call := func(id, response, thought string) string {
		return event("ActionEvent", id, fmt.Sprintf(`,"thought":%s,"reasoning_content":null,"action":{"kind":"TerminalAction","command":%q},"tool_name":"terminal","tool_call_id":%q,"llm_response_id":%q`, thought, id, id, response))
	}
	run := one(t, call("a", "r", `[{"type":"text","text":"two at once"}]`), call("b", "r", `[]`), observation("o", "a", "a", "x", "0"), observation("p", "b", "b", "y", "0"), stats,
		call("c", "s", `[{"type":"text","text":"then"}]`), observation("q", "c", "c", "z", "0"), stats)
	var got []string
	for _, s := range run.States[1:] {
		got = append(got, fmt.Sprintf("%s %q %d %d %d", s.ResponseGroup, s.Thought, s.InputTokens.Or(-1), s.OutputTokens.Or(-1), s.CachedTokens.Or(-1)))
	}
	if text := strings.Join(got, ", "); text != `r "two at once" 100 7 3, r "" -1 -1 -1, s "then" 200 8 4` {
		t.Error(text)
	}
}

// In V1 an edit's old_content and new_content are the whole file before and after; what was
// edited is in the action alone.
func TestContentsOfAnEditObservationAreNotTheEdit(t *testing.T) {
	edit := event("ActionEvent", "a", `,"action":{"kind":"FileEditorAction","command":"str_replace","path":"/testbed/a.py","old_str":"a","new_str":"b"},"tool_name":"file_editor","tool_call_id":"c"`)
	shown := func(contents string) trajectory.State {
		return one(t, edit, event("ObservationEvent", "o", `,"tool_name":"file_editor","tool_call_id":"c","action_id":"a","observation":{"kind":"FileEditorObservation","command":"str_replace","content":[{"type":"text","text":"done"}],"is_error":false`+contents+`}`)).States[1]
	}
	a, b := shown(``), shown(`,"path":"/testbed/a.py","prev_exist":true,"old_content":"x = 1\nclass A: pass\na\n","new_content":"x = 1\nclass A: pass\nb\n"`)
	if args := b.Log.Args; args.OldString != "a" || args.NewString != "b" || args.Content != "" || args.Raw != a.Log.Args.Raw || a.ContentHash != b.ContentHash || a.ContentDescription != b.ContentDescription || a.ClassName != b.ClassName || a.Observation != b.Observation {
		t.Errorf("%+v\nwant %+v", b, a)
	}
}

func TestTimestampsAsWritten(t *testing.T) {
	for _, written := range []string{"2025-04-30T16:32:57.821635", "2025-04-30T16:32:57", "2025-04-30T16:32:57Z", "2025-04-30T16:32:57.5+02:00"} {
		run := one(t, `{"kind":"ActionEvent","id":"a","timestamp":"`+written+`","source":"agent","action":{"command":"ls"},"tool_name":"terminal"}`)
		if got := run.States[1].Timestamp; got != written {
			t.Errorf("got %q, want %q", got, written)
		}
	}
}

func TestOutput(t *testing.T) {
	line := func(id, attempt, rest string, events ...string) string {
		return fmt.Sprintf(`{"instance_id":%q,%s"test_result":{"git_patch":"diff"%s},"instruction":"do","metadata":{"llm":{"model":"m"}},"history":[%s],"error":null,"instance":{"repo":"o/r"}}`,
			id, attempt, rest, strings.Join(events, ","))
	}
	one, two := action("a", "c", "r", "one"), action("b", "c", "r", "two")
	files := map[string]string{"output.jsonl": strings.Join([]string{
		line("o__r-1", `"attempt":2,`, `,"report":{"resolved":true}`, one, two),
		line("o__r-1", `"attempt":1,`, `,"report":{"resolved":false}`, one),
		line("o__r-2", ``, `,"report":{"resolved":false}`, one),
		`{"instance_id":"o__r-3","attempt":1,"history":[],"error":"AgentRuntimeTimeoutError: gone","metadata":{}}`,
		`{"instance_id":"o__r-4","attempt":1,"history":null,"test_result":{"git_patch":" "}}`,
		`{"instance_id":"o__r-5","attempt":1,"history":[{"kind":"ActionEvent","id":1,"timestamp":2,"action":7,"thought":9}]}`,
	}, "\n")}
	dir := readtest.Files(t, files)
	describe := func(opt ingest.Options) string {
		got := readtest.Read(t, opt, dir)
		if got.Err != nil || len(got.Refused) > 0 {
			t.Fatal(got.Err, got.Refused)
		}
		var out []string
		for _, r := range got.Runs {
			id := strings.Split(r.ID, "-")
			out = append(out, fmt.Sprintf("%s %s %s %d %d %s", r.TaskID, r.Outcome, r.OutcomeDetail, len(r.States)-1, r.SourceRecord, id[len(id)-1][:7]))
		}
		return strings.Join(out, "\n")
	}
	last := "o__r-1 pass  2 1 attempt\n"
	rest := func(s string) string {
		return s[strings.Index(s, "o__r-2"):]
	}
	got := describe(ingest.Options{})
	if !strings.HasPrefix(got, last+"o__r-2 fail  1 3 ") || !strings.Contains(got, "o__r-3 unknown infrastructure 0 4") || !strings.Contains(got, "o__r-4 fail empty_patch 0 5") || !strings.Contains(got, "o__r-5 unknown  1 6") {
		t.Error(got)
	}
	all := describe(ingest.Options{AllAttempts: true})
	if !strings.Contains(all, last) || !strings.Contains(all, "o__r-1 fail  1 2 attempt\n") || rest(all) != rest(got) {
		t.Error(all)
	}
	runs := readtest.Read(t, ingest.Options{}, dir).Runs
	if w := warnings(runs[0]); !strings.Contains(w, "superseded_attempts: 1 x") {
		t.Error(w)
	}
}

func TestRefused(t *testing.T) {
	for name, data := range map[string]string{
		"e.jsonl": `{"kind":"ActionEvent","id":"a","timestamp":"x",}`, "a.json": `[{"kind":"ActionEvent","id":"a","timestamp":"x"}`,
	} {
		got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{name: data}))
		if got.Err == nil || len(got.Refused) != 1 || got.Refused[0].Code != "bad_json" || got.Refused[0].File != name {
			t.Errorf("%s: %v %v", name, got.Err, got.Refused)
		}
	}
	for _, id := range []string{openhandsv1.IDEvents, openhandsv1.IDFolder, openhandsv1.IDOutput} {
		got := readtest.Read(t, ingest.Options{Format: id}, readtest.Files(t, map[string]string{"x.json": `{"hello":1}`}))
		if got.Err == nil || len(got.Refused) != 1 {
			t.Errorf("%s: %v, %d runs", id, got.Err, len(got.Runs))
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range conformance.LogFiles(f, "openhands-v1") {
		f.Add(data)
	}
	f.Add([]byte("[" + action("a", "c", "r", "ls") + "," + observation("o", "a", "c", "x", "0") + "]"))
	f.Add([]byte(action("a", "c", "r", "ls") + "\n" + event("AgentErrorEvent", "e", `,"error":"x","tool_call_id":"c"`)))
	f.Add([]byte(`{"instance_id":"x","attempt":1,"history":[` + action("a", "c", "r", "ls") + `],"test_result":{"report":{"resolved":1}}}`))
	f.Add([]byte(`{"id":"01234567-89ab-cdef-0123-456789abcdef","agent":{"llm":{"model":"m"}},"stats":{"usage_to_metrics":{"a":{"token_usages":[{"response_id":"r"}]}}}}`))
	f.Add([]byte(`{"0123456789abcdef0123456789abcdef":"o__r-1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec := format.Record{File: "c/events/event-00001-x.json", Data: data, Probe: format.NewProbe("c/events/event-00001-x.json", data)}
		for _, fm := range openhandsv1.Formats(tools.Default()) {
			if fm.Joined != nil {
				fm.Joined(rec.Probe)
			}
			fm.Detect(rec.Probe)
			if fm.Read != nil {
				checkItems(t, fm.Read, rec)
			}
			if fm.Parts == nil {
				continue
			}
			note, err := fm.Parts.Note(rec)
			if err != nil || note.Alone {
				continue
			}
			for _, run := range fm.Parts.Plan([]format.Part{{File: rec.File, Note: note.Value, Kept: !note.Informs}}) {
				checkItems(t, func(rec format.Record) ([]format.Item, error) { return run.Read([]format.Record{rec}) }, rec)
			}
		}
	})
}

func checkItems(t *testing.T, read func(format.Record) ([]format.Item, error), rec format.Record) {
	items, err := read(rec)
	if err != nil {
		return
	}
	for _, item := range items {
		if r := item.Trajectory; r != nil && (len(r.States) != len(r.Transitions)+1 || r.ID == "" || r.TaskID == "") {
			t.Errorf("%q: %d states, %d transitions", r.ID, len(r.States), len(r.Transitions))
		}
	}
}

func BenchmarkReadEvents(b *testing.B) {
	var lines []string
	for i := range 500 {
		id := fmt.Sprintf("id-%d", i)
		lines = append(lines, action(id, "c"+id, "r"+id, "grep -rn something_or_other src/ | head -20"), observation("o"+id, id, "c"+id, strings.Repeat("src/module.py:12: something_or_other = compute(value)\n", 30), "0"))
	}
	data := []byte(strings.Join(lines, "\n"))
	rec := format.Record{File: "e.jsonl", Data: data, Probe: format.NewProbe("e.jsonl", data)}
	read := openhandsv1.Formats(tools.Default())[1].Read
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := read(rec); err != nil {
			b.Fatal(err)
		}
	}
}
