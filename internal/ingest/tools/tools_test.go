package tools_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func parse(t *testing.T, text string) lenientjson.Object {
	t.Helper()
	o, ok := lenientjson.Parse(text)
	if !ok {
		t.Fatal(text)
	}
	return o
}

func TestDefault(t *testing.T) {
	for _, tt := range []struct{ family, tool, args, canonical, want string }{
		{"messages", "execute_bash", `{"command":"ls","is_input":"false"}`, "run_in_terminal", `{"command":"ls","is_input":"false"}`},
		{"messages", "str_replace_editor", `{"command":"view","path":"/testbed/a.py","view_range":[3,-1]}`, "read_file", `{"command":"view","filePath":"/a.py","startLine":3,"endLine":-1}`},
		{"messages", "str_replace_editor", `{"command":"view","path":"/a.py","view_range":"[1, 20]"}`, "read_file", `{"command":"view","filePath":"/a.py","startLine":1,"endLine":20}`},
		{"messages", "str_replace_editor", `{"command":"create","path":"/testbed/a.py","file_text":"x","old_str":null}`, "create_file", `{"command":"create","filePath":"/a.py","content":"x"}`},
		{"messages", "str_replace_editor", `{"command":"undo_edit","path":"/a"}`, "replace_string_in_file", `{"command":"undo_edit","filePath":"/a"}`},
		{"messages", "str_replace_editor", `{"path":"/a"}`, "replace_string_in_file", `{"filePath":"/a"}`},
		{"claude-code", "Read", `{"file_path":"/a","offset":10,"limit":5}`, "read_file", `{"filePath":"/a","startLine":10,"endLine":14}`},
		{"claude-code", "Read", `{"file_path":"/a","limit":5}`, "read_file", `{"filePath":"/a","startLine":1,"endLine":5}`},
		{"gemini", "read_file", `{"absolute_path":"/a","offset":9,"limit":"5"}`, "read_file", `{"filePath":"/a","startLine":10,"endLine":14}`},
		{"claude-code", "MultiEdit", `{"file_path":"/a","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"},7]}`, "replace_string_in_file",
			`{"filePath":"/a","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"},7],"oldString":"a\nc\n","newString":"b\nd\n"}`},
		{"codex", "shell", `{"command":["zsh","-lc","ls -l | wc"],"workdir":"/w"}`, "run_in_terminal", `{"command":"ls -l | wc","workdir":"/w"}`},
		{"codex", "shell", `{"command":["grep","a b","it's"]}`, "run_in_terminal", `{"command":"grep 'a b' 'it'\\''s'"}`},
		{"claude-code", "TodoWrite", `{}`, tools.LeftOut, `{}`},
		{"messages", "finish", `{"message":"done"}`, tools.Finish, `{"message":"done"}`},
		{"claude-code", "Grep", `{"pattern":"x","path":"/testbed/src"}`, "grep_search", `{"query":"x","path":"/src"}`},
	} {
		args := parse(t, tt.args)
		tool, ok := tools.Default().Lookup(tt.family, tt.tool, args)
		if !ok || tool.Canonical != tt.canonical {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.args, tool.Canonical, tt.canonical)
		}
		if got := tool.Args(args, states.StripWorkspace).Raw; got != tt.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.tool, tt.args, got, tt.want)
		}
	}
	if tool, ok := tools.Default().Lookup("messages", "nobody_knows", nil); ok || tool.Canonical != "nobody_knows" {
		t.Errorf("%+v %v", tool, ok)
	}
}

func TestLoad(t *testing.T) {
	table, err := tools.Load(strings.NewReader("\ufeff# mine\r\n\r\n*\tcat_file\tread_file\tname=filePath\r\nclaude-code\tTask\trun_in_terminal\n"))
	if err != nil {
		t.Fatal(err)
	}
	args := parse(t, `{"name":"/testbed/a"}`)
	if tool, ok := table.Lookup("x", "cat_file", args); !ok || tool.Args(args, states.StripWorkspace).FilePath != "/a" {
		t.Errorf("%+v", tool)
	}
	if tool, _ := table.Lookup("claude-code", "Task", nil); tool.Canonical != "run_in_terminal" {
		t.Errorf("%+v", tool)
	}
	if tool, _ := table.Lookup("codex", "Task", nil); tool.Canonical != tools.LeftOut {
		t.Errorf("%+v", tool)
	}
	if _, ok := tools.Default().Lookup("x", "cat_file", nil); ok {
		t.Error("the shipped table changed")
	}
	for text, says := range map[string]string{
		"a\tb":                    "2 fields",
		"\n*\tx\tno_such_tool\t-": "line 2: canonical tool \"no_such_tool\"",
		"*\tx\tread_file\tpath":   "want old=new",
		"*\tx[a]\tread_file\t-":   "tool[argument=value]",
		"*\tstr_replace_editor[mode=x]\tread_file\t-": `narrowed by "command"`,
		"\t\tread_file\t-":                            "empty",
	} {
		if _, err := tools.Load(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// Arguments are never lost: every value of a call stands in what becomes of it, unless it
// is null.
func TestArgsKeepValues(t *testing.T) {
	table := tools.Default()
	rapid.Check(t, func(t *rapid.T) {
		family := rapid.SampledFrom([]string{"messages", "codex", "gemini"}).Draw(t, "family")
		name := rapid.SampledFrom(append(table.Tools(family), "other")).Draw(t, "tool")
		var args lenientjson.Object
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			key := rapid.SampledFrom([]string{"command", "path", "file_path", "a", "offset", "limit", "view_range", "edits", "content"}).Draw(t, "name")
			args.SetText(key, "v"+rapid.StringMatching(`[a-z"\\ \n]{0,6}`).Draw(t, "value"))
		}
		tool, _ := table.Lookup(family, name, args)
		out := tool.Args(args, func(s string) string { return s })
		if format.Check([]byte(out.Raw)) != nil {
			t.Fatalf("not JSON: %s", out.Raw)
		}
		if tool.Canonical == "run_in_terminal" && args.Text("command") != out.Command && args.Get("keystrokes") == nil && args.Get("cmd") == nil {
			t.Fatalf("command %q became %q", args.Text("command"), out.Command)
		}
	})
}

func TestUnread(t *testing.T) {
	if got := tools.Unread(`{"a": `); got != (trajectory.Args{Raw: `"{\"a\": "`}) {
		t.Errorf("%+v", got)
	}
}
