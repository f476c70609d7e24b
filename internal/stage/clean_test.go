package stage

import (
	"strings"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/conformance/released"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func newClean() *Clean { return NewClean(shell.New(shell.Options{})) }

func TestCleanConformance(t *testing.T) { conformance.Each(t, checkCleanConformance) }

func checkCleanConformance(t *testing.T, set *conformance.Set) {
	rows := set.Table(t, "oracle", "profiles", "clean_labels.tsv")
	runs := released.Trajectories(t, set)
	if want := set.Count(149, 1815); len(rows) != want || len(runs) != want {
		t.Fatalf("%d runs, %d expected, want %d", len(runs), len(rows), want)
	}
	c := newClean()
	total, wrong := 0, 0
	for i, run := range runs {
		if rows[i]["trajectory_id"] != run.ID {
			t.Fatalf("row %d is %s, want %s", i, rows[i]["trajectory_id"], run.ID)
		}
		labels, rules := c.Label(run)
		steps := c.Steps(run)
		want := rows[i]["clean"]
		if len(steps) != len(want) {
			t.Errorf("%s: %d steps, want %d", run.ID, len(steps), len(want))
			continue
		}
		next := 0
		for j, s := range run.Ordered() {
			if s.Tool == "" {
				if labels[j] != trajectory.NoStage || rules[j] != "" {
					t.Errorf("%s: state %d without a tool got %s by %s", run.ID, j, labels[j], rules[j])
				}
				continue
			}
			total++
			if labels[j].Letter() != want[next] || rules[j] == "" || steps[next].Stage != labels[j] {
				if wrong++; wrong < 20 {
					t.Errorf("%s step %d: %c by %s, want %c: %s %q %q", run.ID, next, labels[j].Letter(), rules[j], want[next],
						s.Tool, s.FilePath, s.Command())
				}
			}
			next++
		}
	}
	t.Logf("%d steps, %d wrong", total, wrong)
	commands, failing := map[string]bool{}, 0
	for _, run := range runs {
		for i := range run.States {
			if command := run.States[i].Command(); run.States[i].Tool == "run_in_terminal" && command != "" && !commands[command] {
				commands[command] = true
				if !c.shell.Parse(command).OK {
					failing++
				}
			}
		}
	}
	if len(commands) != set.Count(1532, 18372) || failing != set.Count(12, 106) {
		t.Errorf("%d of %d distinct commands are not bash", failing, len(commands))
	}
	if want := set.Count(3560, 51388); total != want {
		t.Errorf("%d steps, want %d", total, want)
	}
}

// call makes a state: tool, then file path, command, or one of the special arguments below.
func call(tool, text string) trajectory.State {
	s := trajectory.State{Tool: tool, ResultingState: "done", Log: &trajectory.LogEntry{Kind: "toolCall", Tool: tool}}
	switch {
	case tool == "":
		s.Log = nil
	case text == "code null":
		s.Log.Args = trajectory.Args{Has: trajectory.HasCode, Raw: `{"code": null}`}
	case text == "code number":
		s.Log.Args = trajectory.Args{Has: trajectory.HasCode, Raw: `{"code": 1}`}
	case text == "code empty":
		s.Log.Args = trajectory.Args{Has: trajectory.HasCode, Raw: `{"code": ""}`}
	case trajectory.LookupTool(tool).Category == trajectory.Execute:
		s.Log.Args = trajectory.Args{Has: trajectory.HasCommand, Command: text}
	default:
		s.FilePath = text
	}
	return s
}

func TestCleanRules(t *testing.T) {
	edit := call("replace_string_in_file", "lib/a.py")
	failedEdit := edit
	failedEdit.ResultingState = "edit_failed:lib/a.py"
	colonFail := edit
	colonFail.ResultingState = "file_modified:fail.py"
	terminal := func(command string) trajectory.State { return call("run_in_terminal", command) }
	for _, c := range []struct {
		name   string
		before []trajectory.State
		state  trajectory.State
		stage  trajectory.Stage
		rule   string
	}{
		{"initial", nil, call("", ""), trajectory.NoStage, ""},
		{"think", nil, call("think", ""), trajectory.Orchestration, CleanOrchestration},
		{"unknown tool", nil, call("quantum_leap", ""), trajectory.Orchestration, CleanOrchestration},
		{"list", nil, call("list_dir", "lib"), trajectory.Exploration, CleanSearch},
		{"search", nil, call("grep_search", ""), trajectory.Exploration, CleanSearch},
		{"fetch", nil, call("fetch_webpage", ""), trajectory.Exploration, CleanSearch},
		{"validation", nil, call("get_errors", ""), trajectory.Verification, CleanValidation},
		{"stop terminal", nil, call("kill_terminal", ""), trajectory.Orchestration, CleanOrchestration},
		{"read", nil, call("read_file", "lib/a.py"), trajectory.Exploration, CleanRead},
		{"read other file later", []trajectory.State{edit}, call("read_file", "lib/b.py"), trajectory.Exploration, CleanRead},
		{"read edited", []trajectory.State{edit}, call("read_file", "lib/a.py"), trajectory.Verification, CleanReadEdited},
		{"view of another scaffold", []trajectory.State{edit}, call("view", "lib/a.py"), trajectory.Verification, CleanReadEdited},
		{"read test", nil, call("read_file", "tests/test_a.py"), trajectory.Exploration, CleanRead},
		{"read test later", []trajectory.State{edit}, call("read_file", "tests/test_a.py"), trajectory.Verification, CleanReadTest},
		{"edit", nil, edit, trajectory.Implementation, CleanEditSource},
		{"edit of another scaffold", nil, call("Edit", "lib/a.py"), trajectory.Implementation, CleanEditSource},
		{"failed edit", nil, failedEdit, trajectory.Implementation, CleanEditSource},
		{"read after failed edit", []trajectory.State{failedEdit}, call("read_file", "lib/a.py"), trajectory.Exploration, CleanRead},
		{"read after edit of fail.py", []trajectory.State{colonFail}, call("read_file", "lib/a.py"), trajectory.Verification, CleanReadEdited},
		{"create scratch", nil, call("create_file", "repro.py"), trajectory.Exploration, CleanEditOther},
		{"create scratch later", []trajectory.State{edit}, call("create_file", "repro.py"), trajectory.Verification, CleanEditOther},
		{"scratch is no edit", []trajectory.State{call("create_file", "repro.py")}, call("create_file", "b.py"), trajectory.Exploration, CleanEditOther},
		{"edit test", []trajectory.State{edit}, call("create_file", "tests/test_b.py"), trajectory.Verification, CleanEditOther},
		{"summary", nil, call("create_file", "FIX_SUMMARY.md"), trajectory.Orchestration, CleanEditSummary},
		{"summary by suffix", nil, call("create_file", "docs/my_report.html"), trajectory.Orchestration, CleanEditSummary},
		{"shell writes source", nil, terminal("sed -i s/a/b/ lib/a.py && pytest"), trajectory.Implementation, CleanShellSource},
		{"read after shell write", []trajectory.State{terminal("sed -i s/a/b/ lib/a.py")}, call("read_file", "lib/a.py"), trajectory.Verification, CleanReadEdited},
		{"test", nil, terminal("pytest x"), trajectory.Verification, CleanShellTest},
		{"run", nil, terminal("python repro.py"), trajectory.Exploration, CleanShellExecute},
		{"run later", []trajectory.State{edit}, terminal("python repro.py"), trajectory.Verification, CleanShellExecute},
		{"shell of another scaffold", []trajectory.State{edit}, call("Bash", "git diff"), trajectory.Verification, CleanShellExecute},
		{"shell scratch", nil, terminal("cat > r.py <<E\nx\nE"), trajectory.Exploration, CleanShellExecute},
		{"shell reads edited", []trajectory.State{edit}, terminal("cat lib/a.py"), trajectory.Verification, CleanShellReadEdited},
		{"shell reads other", []trajectory.State{edit}, terminal("cat lib/b.py"), trajectory.Exploration, CleanShellInspect},
		{"housekeeping", []trajectory.State{edit}, terminal("rm x"), trajectory.Orchestration, CleanShellHousekeep},
		{"other", nil, terminal("frobnicate"), trajectory.Exploration, CleanShellOther},
		{"other later", []trajectory.State{edit}, terminal("frobnicate"), trajectory.Verification, CleanShellOther},
		{"no action", nil, terminal("cd /"), trajectory.Orchestration, CleanShellNothing},
		{"no command", nil, terminal(""), trajectory.Exploration, CleanShellOther},
		{"null code", nil, call("run_in_terminal", "code null"), trajectory.Exploration, CleanShellOther},
		{"code", nil, call("run_in_terminal", "code number"), trajectory.Exploration, CleanShellExecute},
		{"empty code", nil, call("run_in_terminal", "code empty"), trajectory.Exploration, CleanShellExecute},
	} {
		run := &trajectory.Trajectory{}
		for i, s := range append(c.before, c.state) {
			s.Step = int64(i)
			run.States = append(run.States, s)
		}
		labels, rules := newClean().Label(run)
		last := len(labels) - 1
		if labels[last] != c.stage || rules[last] != c.rule {
			t.Errorf("%s: %s by %q, want %s by %q", c.name, labels[last], rules[last], c.stage, c.rule)
		}
	}
}

func TestCleanSourceEdits(t *testing.T) {
	failedEdit := call("create_file", "lib/c.py")
	failedEdit.ResultingState = "create_failed:x"
	run := &trajectory.Trajectory{States: []trajectory.State{
		call("create_file", "lib/a.py"), failedEdit, call("create_file", "tests/test_a.py"),
		call("run_in_terminal", "echo x > lib/b.py; echo y > lib/b.py; cp lib/b.py lib/d.py; cp lib/b.py /tmp/d.py"),
	}}
	var got []string
	for i := range run.States {
		run.States[i].Step = int64(i)
	}
	for _, s := range newClean().Steps(run) {
		got = append(got, strings.Join(s.SourceEdits, " "))
	}
	if want := "lib/a.py|||lib/b.py lib/d.py"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCleanIsConcurrent(t *testing.T) {
	c := newClean()
	run := &trajectory.Trajectory{States: []trajectory.State{call("run_in_terminal", "cd lib && sed -i s/a/b/ a.py | tee x")}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if labels, _ := c.Label(run); labels[0] != trajectory.Implementation {
					t.Error(labels)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkClean(b *testing.B) {
	runs := released.Trajectories(b, conformance.Whole(b))
	c := newClean()
	b.ReportAllocs()
	for b.Loop() {
		for _, run := range runs {
			c.Steps(run)
		}
	}
}
