package steps

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func state(tool, file string, args trajectory.Args) trajectory.State {
	return trajectory.State{Tool: tool, FilePath: file, Log: &trajectory.LogEntry{Kind: "toolCall", Tool: tool, Args: args}}
}

func shellStep(command string) trajectory.State {
	return state("run_in_terminal", "", trajectory.Args{Has: trajectory.HasCommand, Command: command})
}

func editStep(file, before, after string) trajectory.State {
	s := state("replace_string_in_file", file, trajectory.Args{
		Has: trajectory.HasOldString | trajectory.HasNewString, OldString: before, NewString: after})
	s.ResultingState = "file_modified:" + file
	return s
}

func loadOne(t *testing.T, states ...trajectory.State) (*Task, *Run) {
	t.Helper()
	trace := &trajectory.Trajectory{ID: "r", States: append([]trajectory.State{{Initial: true}}, states...)}
	for i := range trace.States {
		trace.States[i].Step = int64(i)
	}
	task, err := Load(context.Background(), profile.Task{
		ID: "t", Runs: []profile.Run{{ID: "r"}},
		Load: func(int) (*trajectory.Trajectory, error) { return trace, nil },
	}, shell.New(shell.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return task, &task.Runs[0]
}

func texts(task *Task, counts []Count) map[string]int32 {
	out := map[string]int32{}
	for _, c := range counts {
		out[task.Name(c.Token)] = c.N
	}
	return out
}

func TestAddedTokens(t *testing.T) {
	failed := editStep("src/a.py", "", "never")
	failed.ResultingState = "file_modify_failed:src/a.py"
	created := state("create_file", "src/new.py", trajectory.Args{Has: trajectory.HasContent, Content: "made"})
	for _, c := range []struct {
		name  string
		steps []trajectory.State
		want  string
	}{
		{"lines of the old text and comments do not count",
			[]trajectory.State{editStep("src/a.py", "keep me\n", "  keep me\nadd x1  # why\n\nadd")}, "add:2 x1:1"},
		{"only source files count", []trajectory.State{editStep("tests/test_a.py", "", "test"), editStep("tmp/x.py", "", "scratch")}, ""},
		{"a failed edit adds nothing", []trajectory.State{failed}, ""},
		{"a new file is all new", []trajectory.State{created}, "made:1"},
		{"text a command writes", []trajectory.State{shellStep("cat > src/a.py <<'EOF'\nhello = 1\nEOF\n")}, "1:1 hello:1"},
		{"a patch adds its marked lines",
			[]trajectory.State{shellStep("git apply <<'EOF'\n+++ b/src/a.py\n-old\n+fresh\n same\nEOF\n")}, "fresh:1"},
		{"a command that writes no source", []trajectory.State{shellStep("echo hi > out.txt")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			task, run := loadOne(t, c.steps...)
			var got []string
			total := int64(0)
			for name, n := range texts(task, run.Added) {
				got = append(got, name+":"+string('0'+n))
				total += int64(n)
			}
			slices.Sort(got)
			if s := strings.Join(got, " "); s != c.want || total != run.AddedTokens {
				t.Errorf("tokens %q of %d, want %q", s, run.AddedTokens, c.want)
			}
		})
	}
}

func TestVerificationsFollowTheLastSourceEdit(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []trajectory.State
		want  int64
	}{
		{"no edit", []trajectory.State{shellStep("pytest")}, 0},
		{"before the edit", []trajectory.State{shellStep("pytest"), editStep("src/a.py", "", "x")}, 0},
		{"after it", []trajectory.State{editStep("src/a.py", "", "x"), shellStep("pytest && python run.py"), shellStep("ls")}, 2},
		{"between edits", []trajectory.State{editStep("src/a.py", "", "x"), shellStep("pytest"), editStep("src/a.py", "x", "y"), shellStep("python -c 'f()'")}, 1},
		{"a test edit does not begin anew", []trajectory.State{editStep("src/a.py", "", "x"), shellStep("pytest"), editStep("tests/test_a.py", "", "y")}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, run := loadOne(t, c.steps...); run.Verifications != c.want {
				t.Errorf("%d verifications, want %d", run.Verifications, c.want)
			}
		})
	}
}

func TestLoadKeepsStepsOnly(t *testing.T) {
	think := state("think", "", trajectory.Args{})
	think.InputTokens = trajectory.Some(7)
	read := state("read_file", "src/a.py", trajectory.Args{})
	read.Stage = trajectory.Exploration
	task, run := loadOne(t, think, trajectory.State{}, read)
	if len(run.Steps) != 2 {
		t.Fatalf("%d steps, want the two with a tool", len(run.Steps))
	}
	first, second := run.Steps[0], run.Steps[1]
	if first.State != 1 || second.State != 3 || first.InputTokens != 7 || task.Name(second.File) != "src/a.py" {
		t.Errorf("%+v, %+v", first, second)
	}
	if got := run.Labels(Release); got[0] != trajectory.Orchestration || got[1] != trajectory.Exploration {
		t.Errorf("release labels %v: an unlabelled step counts as orchestration", got)
	}
}

func TestMatchesRespectLabels(t *testing.T) {
	a := state("read_file", "src/a.py", trajectory.Args{})
	a.Lines = trajectory.LineRange{Start: 1, End: 10, Valid: true}
	a.Stage = trajectory.Exploration
	b := a
	b.Stage = trajectory.Verification
	task, run := loadOne(t, a, b)
	rows := task.Matches(run, run, Release)
	if !rows[0].Has(0) || rows[0].Has(1) || rows[1].Has(0) {
		t.Errorf("release labels: %v", rows)
	}
	if rows = task.Matches(run, run, Clean); !rows[0].Has(1) {
		t.Errorf("clean labels are equal, so the steps are: %v", rows)
	}
}

func TestLoadErrors(t *testing.T) {
	broken := errors.New("torn page")
	task := profile.Task{ID: "t", Runs: []profile.Run{{ID: "r"}}, Load: func(int) (*trajectory.Trajectory, error) { return nil, broken }}
	_, err := Load(context.Background(), task, shell.New(shell.Options{}))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "run r") {
		t.Errorf("error %v, want one that names the run", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, task, shell.New(shell.Options{})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want a cancelled one", err)
	}
}
