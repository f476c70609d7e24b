package states

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func edit(path, before, after string) Call {
	return Call{Tool: ReplaceString, Args: trajectory.Args{
		Has:      trajectory.HasFilePath | trajectory.HasOldString | trajectory.HasNewString,
		FilePath: path, OldString: before, NewString: after,
	}}
}

func run(command string) Call {
	return Call{Tool: RunInTerminal, Args: trajectory.Args{Has: trajectory.HasCommand, Command: command}}
}

func TestChain(t *testing.T) {
	states, transitions := Build([]Call{run("ls"), run("pwd")})
	if len(states) != 3 || len(transitions) != 2 {
		t.Fatalf("%d states, %d transitions", len(states), len(transitions))
	}
	first := states[0]
	if !first.Initial || first.Tool != "" || first.Log != nil || first.ObservationHash != "46118f556e40719e" || first.ResultingStateHash != "cc51b81974287ab7" {
		t.Errorf("initial state: %+v", first)
	}
	if states[1].Terminal || !states[2].Terminal {
		t.Error("the last state alone is terminal")
	}
	if got := fmt.Sprint(transitions); got != "[{trans_0 state_0 state_1 run_in_terminal 1} {trans_1 state_1 state_2 run_in_terminal 2}]" {
		t.Error(got)
	}
	if states, transitions = Build(nil); len(states) != 1 || len(transitions) != 0 || states[0].Terminal {
		t.Error("a run without calls has the initial state alone")
	}
}

func TestResultingState(t *testing.T) {
	failed := func(c Call) Call { c.IsError = trajectory.Some(1); return c }
	file := func(tool, path string) Call {
		return Call{Tool: tool, Args: trajectory.Args{Has: trajectory.HasFilePath, FilePath: path}}
	}
	for want, call := range map[string]Call{
		"terminal:grep":                  run("Grep -n x"),
		"terminal:unknown":               run(" "),
		"file_read:a/b.py":               file(ReadFile, "/A/b.py"),
		"dir_listed:":                    file(ListDir, "/"),
		"dir_listed:src":                 file(ListDir, "/workspace/src"),
		"file_created:x.py":              file(CreateFile, "/tmp/x.py"),
		"file_create_failed:x.py":        failed(file(CreateFile, "/x.py")),
		"file_modified:x.py":             edit("/x.py", "a", "b"),
		"file_modify_failed:x.py":        failed(edit("/x.py", "a", "b")),
		"tool_result:think:success":      {Tool: Think},
		"tool_result:fetch:error":        failed(Call{Tool: "fetch"}),
		"file_search:not_found:*.go":     {Tool: FileSearch, Args: trajectory.Args{Query: "*.go"}},
		"grep_search:found_matches":      {Tool: GrepSearch, Response: "a.go:1"},
		"file_patched:a.py":              file(ApplyPatch, "/a.py"),
		"file_modified:testbed/model.py": edit("/testbed/model.py", "a", "b"),
	} {
		states, _ := Build([]Call{call})
		if got := states[1].ResultingState; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRelativePosition(t *testing.T) {
	for r, want := range map[[2]int64]string{
		{0, 10}: "middle", {1, 40}: "middle", {980, 1000}: "middle", {981, 1000}: "late",
		{-1, 100}: "early", {579, -1}: "", {1, 1}: "late",
	} {
		if got := relativePosition(trajectory.LineRange{Start: r[0], End: r[1], Valid: true}); got != want {
			t.Errorf("%v: got %q, want %q", r, got, want)
		}
	}
}

func TestEdit(t *testing.T) {
	for _, tt := range []struct {
		path, before, after               string
		kind, class, function, scope, way string
	}{
		{"/m.py", "class A:\n    def f(self):\n        pass\n", "class A:\n    def g(self):\n        pass\n",
			"replace", "A", "f", "A.f", "renamed function 'f' to 'g'"},
		{"/m.py", "def b(): pass\ndef a(): pass", "def a(): pass", "shrink", "", "a", "a", "removed function 'b'"},
		{"/m.py", "", "import os\n", "add", "", "", "", "modified imports"},
		{"/m.py", "x = 1\n", "", "remove", "", "", "", "removed content"},
		{"/m.py", "x = 1", "x = 2", "replace", "", "", "", "modified content"},
		{"/m.txt", "def a(): pass", "def a(): pass; more and more text", "expand", "", "", "", "added content"},
		{"/m.py", "", "", "", "", "", "", "modified content"},
	} {
		states, _ := Build([]Call{edit(tt.path, tt.before, tt.after)})
		s := states[1]
		if s.EditType != tt.kind || s.ClassName != tt.class || s.FunctionName != tt.function || s.ScopePath != tt.scope {
			t.Errorf("%q: %q %q %q %q", tt.before, s.EditType, s.ClassName, s.FunctionName, s.ScopePath)
		}
		if want := "In '" + base(tt.path) + "': " + tt.way; s.ContentDescription != want {
			t.Errorf("%q: got %q, want %q", tt.before, s.ContentDescription, want)
		}
	}
}

func TestOutlinePython(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"nested", "def f():\n    class A:\n        async def g(self): pass\n", "[f g] [A] [] [{A g}]"},
		{"class ends by indentation", "class A:\n  x = 1\ndef f(): pass", "[f] [A] [] []"},
		{"def in a string", "s = '''\ndef f():\n'''\n", "[] [] [] []"},
		{"def in a comment", "# def f():\n", "[] [] [] []"},
		{"header over lines", "def f(\n    a='(',  # ):\n    b: int = 1,\n) -> None:\n  pass", "[f] [] [] []"},
		{"header cut", "def f(a,", "[] [] [] []"},
		{"begins inside a docstring", "ends here.\n    \"\"\"\n    def f(self):\n        pass", "[f] [] [] []"},
		{"begins inside a docstring, another follows", "ends here.\n    \"\"\"\n    def f(self):\n        \"\"\"Text.\"\"\"\n", "[f] [] [] []"},
		{"begins and ends inside docstrings", "ends here.\n    \"\"\"\n    def f(self):\n        \"\"\"\n        Text", "[f] [] [] []"},
		{"source in a string", "x = 1\ns = \"\"\"\ndef f():\n    pass\n\"\"\"\n", "[] [] [] []"},
		{"def ends a bracket", "x = (1,\ndef f(): pass", "[f] [] [] []"},
		{"imports", "import a\nfrom b import (c,\n  d)\nimportant = 1\nfrom x\n", "[] [] [import a from b import (c,\n  d)] []"},
		{"joined lines", "def \\\n  f(): pass\r\nclass B(\\\nA): pass", "[f] [B] [] []"},
		{"keywords as names", "defined = 1\nclassy(x)\nclass_ = 2", "[] [] [] []"},
		{"tabs", "class A:\n\tdef f(self):\n\t\tpass\n", "[f] [A] [] [{A f}]"},
		{"escaped quote", "a = 'it\\'s'\ndef f(): pass", "[f] [] [] []"},
		{"byte order mark", "\ufeffdef f(): pass", "[f] [] [] []"},
		{"unicode", "def größe(): pass", "[größe] [] [] []"},
	} {
		o := outlinePython(tt.src)
		if got := fmt.Sprint(o.functions, o.classes, o.imports, o.methods); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestStripWorkspace(t *testing.T) {
	for path, want := range map[string]string{
		"/testbed":                          "/",
		"/testbed/":                         "/",
		"/testbed/a.py":                     "/a.py",
		"/testbed2/a.py":                    "/testbed2/a.py",
		"/workspace/psf__requests__2.1/a.c": "/a.c",
		"/workspace/psf__requests__2.1":     "/",
		"/workspace/a.c":                    "/workspace/a.c",
		"a.py":                              "a.py",
	} {
		if got := StripWorkspace(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// Every state's texts are within their limits and the chain is whole, whatever the calls.
func TestBuildProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := []string{RunInTerminal, ReadFile, ReplaceString, CreateFile, ListDir, Think, ApplyPatch, FileSearch, GrepSearch, "other"}
		calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Call {
			return Call{
				Tool:     rapid.SampledFrom(tools).Draw(t, "tool"),
				Response: strings.Repeat(rapid.String().Draw(t, "response"), rapid.IntRange(0, 200).Draw(t, "times")),
				IsError:  trajectory.Some(int64(rapid.IntRange(0, 1).Draw(t, "error"))),
				Args: trajectory.Args{
					Has:      trajectory.ArgSet(rapid.Uint16().Draw(t, "has")),
					FilePath: rapid.StringMatching(`(/|/tmp/|/testbed/)?[A-Za-z/]{0,8}(\.py|\.md)?`).Draw(t, "path"),
					Command:  rapid.String().Draw(t, "command"), Content: rapid.String().Draw(t, "content"),
					OldString: rapid.String().Draw(t, "old"), NewString: rapid.String().Draw(t, "new"),
				},
			}
		}), 0, 8).Draw(t, "calls")
		states, transitions := Build(calls)
		if len(states) != len(calls)+1 || len(transitions) != len(calls) {
			t.Fatalf("%d calls: %d states, %d transitions", len(calls), len(states), len(transitions))
		}
		for i, s := range states {
			if s.Step != int64(i) || int64(utf8.RuneCountInString(s.Observation)) != s.ObservationChars {
				t.Fatalf("state %d: step %d, %d characters", i, s.Step, s.ObservationChars)
			}
			if utf8.RuneCountInString(s.ResponsePreview) > maxPreview || len(s.ObservationHash) != 16 {
				t.Fatalf("state %d: preview or hash of the wrong length", i)
			}
			if i > 0 && (transitions[i-1].To != s.ID || transitions[i-1].From != states[i-1].ID) {
				t.Fatalf("transition %d does not join its states", i-1)
			}
		}
	})
}

// The outline of any text has names that stand in it, methods that are functions, and
// takes one pass.
func FuzzOutlinePython(f *testing.F) {
	for _, seed := range []string{"class A:\n  def f(self): pass", "'''", "x = \"\"\"\ndef f(", "from a import \\\n b", "\\", "(((", "async def f():"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		o := outlinePython(src)
		for _, names := range [][]string{o.functions, o.classes, o.imports} {
			for _, name := range names {
				if name == "" || !strings.Contains(src, name) {
					t.Errorf("%q is not in %q", name, src)
				}
			}
		}
		for _, m := range o.methods {
			if !strings.Contains(strings.Join(o.functions, "\n")+"\n", m.name+"\n") {
				t.Errorf("method %q is no function", m.name)
			}
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	body := strings.Repeat("    def method(self, a, b=')'):\n        \"\"\"Text.\"\"\"\n        return [a, b]\n\n", 20)
	calls := []Call{run("grep -rn needle /testbed"), edit("/a.py", "class A:\n"+body, "class B:\n"+body), {Tool: Think, Response: body}}
	b.SetBytes(int64(4 * len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Build(calls)
	}
}

func TestWorkspace(t *testing.T) {
	for _, c := range []struct {
		want     string
		commands []string
	}{
		{"", nil},
		{"", []string{"ls", "cd /testbed && ls"}},
		{"/workspace/psf__requests__2.1", []string{"ls", "cd /workspace/psf__requests__2.1 && ls"}},
		{"/workspace/psf__requests__2.1", []string{"ls /workspace/x", "cat '/workspace/psf__requests__2.1'"}},
		{"/workspace", []string{"python /workspace/game.py"}},
	} {
		var calls []Call
		for _, command := range c.commands {
			calls = append(calls, Call{Tool: RunInTerminal, Args: trajectory.Args{Command: command}})
		}
		if got := Workspace(calls); got != c.want {
			t.Errorf("Workspace(%q) = %q, want %q", c.commands, got, c.want)
		}
	}
}
