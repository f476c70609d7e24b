package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestNameFile(t *testing.T) {
	for file, want := range map[string]string{
		"trajs/sympy__sympy-11618/sympy__sympy-11618.traj.json":                                  "sympy__sympy-11618  unknown",
		"gemini-3/trajs/sympy__sympy-11618/sympy__sympy-11618.traj.json":                         "sympy__sympy-11618 gemini-3 unknown",
		"gpt4__d__default__t-0.00__p-0.95__c-3.00__install-1/pydicom__pydicom-1458.traj":         "pydicom__pydicom-1458 gpt4 unknown",
		"gpt4__t-0.00/psf__requests-1.traj":                                                      "psf__requests-1 gpt4 unknown",
		"a/psf__requests-1724-logs-opus-4.5-pass-3_pta.json":                                     "psf__requests-1724 opus-4.5 pass",
		"a/psf__requests-1724-logs-opus-4.5-fail-3/x.traj.gz":                                    "psf__requests-1724 opus-4.5 fail",
		"run_3/trajectory.json":                                                                  "  unknown",
		"demonstrations/function_calling_simple.traj":                                            "function_calling_simple  unknown",
		"replay__m__m-1867__function_calling__install-1/marshmallow-code__marshmallow-1867.traj": "marshmallow-code__marshmallow-1867 replay__m__m-1867__function_calling__install-1 unknown",
	} {
		n := NameFile(file)
		if got := fmt.Sprintf("%s %s %s", n.Task, n.Model, n.Outcome); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for id, want := range map[string]string{
		"python__mypy-10308_0": "python__mypy-10308", "python__mypy-10308": "python__mypy-10308", "getmoto__moto.694ce1f4.pr_7111": "getmoto__moto.694ce1f4.pr_7111", "x_1": "x_1",
	} {
		if got := Instance(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
	for id, want := range map[string]string{"psf__requests-1724": "psf/requests", "getmoto__moto.694ce1f4.pr_7111": "getmoto/moto", "x": "", "swe-agent__test-repo-i1": "swe-agent/test-repo"} {
		if got := Repository(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

func TestPlace(t *testing.T) {
	for _, tt := range [][4]string{
		{"", "/testbed/a.py", "", "/a.py"}, {"", "a.py", "", "a.py"}, {"/w", "/w", "", "/"}, {"/w", "/w/a", "", "/a"}, {"/w/", "/w/a", "", "/a"},
		{"/w", "/wide/a", "", "/wide/a"}, {"/w", "a/../b.py", "/w/src", "/src/b.py"}, {"/w", "b", "/tmp", "/tmp/b"}, {"/", "/a", "", "/a"}, {"/w", "", "/w", ""},
	} {
		r := Run{Root: tt[0]}
		if got := r.place(tt[1], tt[2]); got != tt[3] {
			t.Errorf("%q: got %q", tt, got)
		}
	}
}

func TestJudge(t *testing.T) {
	code := func(n int64) trajectory.Int { return trajectory.Some(n) }
	for _, tt := range []struct {
		tool string
		call Call
		bare bool // the format has no exit codes
		want string
	}{
		{"bash", Call{ExitCode: code(2), Failed: code(0)}, false, "2 1 exit_code"},
		{"bash", Call{ExitCode: code(-1)}, false, "- - "},
		{"bash", Call{Failed: code(1)}, false, "- 1 flag"},
		{"bash", Call{Response: "x\n[Command finished with exit code 3]"}, false, "3 1 exit_code"},
		{"bash", Call{Response: "[The command completed with exit code 0.]\n[Current working directory: /]"}, false, "0 0 exit_code"},
		{"bash", Call{Response: "[Command finished with exit code -1]"}, false, "- - "},
		{"bash", Call{Response: "Traceback (most recent call last):\n"}, false, "- - "},
		{"bash", Call{Response: "Traceback (most recent call last):\n"}, true, "- 1 text"},
		{"bash", Call{Response: "x\nbash: foo: command not found\n"}, true, "- 1 text"},
		{"bash", Call{Response: "ls: cannot access 'x': No such file or directory\n\nbash-$"}, true, "- 1 text"},
		{"bash", Call{Response: "==== 2 failed, 3 passed in 0.1s ====\n"}, true, "- 1 text"},
		{"bash", Call{Response: "==== 3 passed in 0.1s ====\n"}, true, "- - "},
		{"bash", Call{Response: "all failed\nok"}, true, "- - "},
		{"Edit", Call{Response: "No replacement was performed, old_str"}, false, "- 1 text"},
		{"Edit", Call{Response: "OBSERVATION:\nERROR:\nx"}, false, "- 1 text"},
		{"Edit", Call{Response: "The file /a has been edited."}, false, "- 0 text"},
		{"Read", Call{Response: "File a.py not found\r\n"}, false, "- 1 text"},
		{"Read", Call{Response: "1: File a.py not found"}, false, "- 0 text"},
	} {
		tt.call.Tool, tt.call.Answered = tt.tool, true
		r := Run{Tools: tools.Default(), NoExitCodes: tt.bare, Calls: []Call{tt.call}}
		s := r.Trajectory("x", "").States[1]
		show := func(i trajectory.Int) string {
			if !i.Valid {
				return "-"
			}
			return fmt.Sprint(i.Value)
		}
		if got := show(s.ExitCode) + " " + show(s.IsError) + " " + s.ErrorSource; got != tt.want {
			t.Errorf("%s %+v: %s, want %s", tt.tool, tt.call.Response, got, tt.want)
		}
	}
}

// Calls of one id in a turn are answered in order, one id in two turns from the last turn on;
// a call that was taken back is not answered, and what nobody waits for keeps its text.
func TestAnswer(t *testing.T) {
	r := Run{Tools: tools.Default()}
	r.Calls = []Call{{ID: "a", Tool: "bash"}, {ID: "a", Tool: "bash"}, {ID: "b", Tool: "bash"}}
	r.Turn()
	r.Calls = append(r.Calls, Call{ID: "a", Tool: "bash"})
	for i, want := range []int{3, 0, 1, -1} {
		if c := r.Answer("a", fmt.Sprint("answer ", i)); want < 0 && c != nil || want >= 0 && c != &r.Calls[want] {
			t.Errorf("answer %d: not for call %d", i, want)
		}
	}
	if r.Answer("z", "of nobody") != nil {
		t.Error("an answer to no call")
	}
	r.Drop(2, "not run")
	r.Calls = append(r.Calls, Call{ID: "c", Tool: "bash"})
	if r.Answer("b", "") != nil || r.Answer("c", "") != &r.Calls[2] {
		t.Error("a call that was taken back")
	}
	run := r.Trajectory("x", "")
	for _, want := range []string{"1 x answer to an answered call: answer 3", "1 x answer to an unknown call: of nobody"} {
		if !slices.ContainsFunc(run.Warnings, func(w trajectory.Warning) bool { return w.Detail == want }) {
			t.Errorf("no warning %q in %v", want, run.Warnings)
		}
	}
	if l := run.Ledger; l.Calls.Read != 3 || l.Calls.Skipped["not run"] != 2 || l.Answers.Read != 3 || l.Answers.SkippedAll() != 3 {
		t.Errorf("%+v", l)
	}
}

// Answers without ids go to the calls of the last turn, in order.
func TestAnswerWithoutID(t *testing.T) {
	r := Run{Tools: tools.Default(), Calls: []Call{{Tool: "bash"}, {Tool: "bash", Answered: true}, {Tool: "bash"}}}
	if r.Answer("", "") != &r.Calls[0] || r.Answer("other", "") != &r.Calls[2] || r.Awaits() || r.Answer("", "") != nil {
		t.Error("in order")
	}
	r.Calls = append(r.Calls, Call{Tool: "bash"})
	if !r.Awaits() {
		t.Error("a call after the answers")
	}
	r.Turn()
	if r.Awaits() || r.Answer("", "") != nil {
		t.Error("of an earlier turn")
	}
}

// Every answer of a dialogue finds its call when each turn is answered before the next,
// whatever the ids are.
func TestPairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Pairing
		for range rapid.IntRange(1, 8).Draw(t, "turns") {
			p.Turn()
			ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 5).Draw(t, "ids")
			first := p.Len()
			for _, id := range ids {
				p.Call(id)
			}
			order := rapid.Permutation([]string{"a", "b", "c"}).Draw(t, "order")
			for _, id := range order {
				for i, of := range ids {
					if of != id {
						continue
					}
					if n, _ := p.Answer(id); n != first+i {
						t.Fatalf("answer to %s of %v: call %d, want %d", id, ids, n-first, i)
					}
				}
			}
			if p.Waiting() >= 0 {
				t.Fatal("a call waits")
			}
		}
	})
}

// Every call is a step, or is counted as left out; the id follows from the calls.
func TestNoCallIsLost(t *testing.T) {
	names := append(tools.Default().Tools("x"), "nobody_knows", "mcp__a__b")
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Call {
			var args lenientjson.Object
			args.SetText("command", rapid.String().Draw(t, "command"))
			return Call{Tool: rapid.SampledFrom(names).Draw(t, "tool"), Args: args, Answered: rapid.Bool().Draw(t, "answered"), Response: rapid.String().Draw(t, "response")}
		}), 0, 10).Draw(t, "calls")
		build := func() *trajectory.Trajectory {
			r := Run{Tools: tools.Default(), Task: "a__b-1", Calls: append([]Call(nil), calls...)}
			return r.Trajectory("x", "1")
		}
		run := build()
		if again := build(); again.ID != run.ID {
			t.Fatalf("%s and %s", run.ID, again.ID)
		}
		lost := 0
		for _, w := range run.Warnings {
			if w.Code == WarnSkipped {
				n := 0
				fmt.Sscan(w.Detail, &n)
				lost += n
			}
		}
		if len(calls) > 0 {
			if tool, _ := tools.Default().Lookup("x", calls[len(calls)-1].Tool, calls[len(calls)-1].Args); tool.Canonical == tools.Finish {
				lost++
			}
		}
		if len(run.States)-1+lost != len(calls) {
			t.Fatalf("%d calls, %d steps, %d left out", len(calls), len(run.States)-1, lost)
		}
		for _, s := range run.States[1:] {
			if s.Tool == "" || s.RawTool == "" || s.Tool == states.Think && s.IsError.Valid {
				t.Fatalf("%+v", s)
			}
		}
	})
}

func TestPatchNamesItsFile(t *testing.T) {
	var args lenientjson.Object
	args.SetText("input", "*** Begin Patch\n*** Update File: /w/src/a.py\n@@\n-x\n+y\n*** Add File: b.py\n")
	r := Run{Tools: tools.Default(), Root: "/w", Calls: []Call{{Tool: "apply_patch", Args: args, Answered: true}}}
	s := r.Trajectory("x", "").States[1]
	if s.ResultingState != "file_patched:src/a.py" || s.ContentHash == "" || !strings.Contains(s.Log.Args.Raw, `"filePath":"/src/a.py"`) {
		t.Errorf("%+v", s)
	}
}
