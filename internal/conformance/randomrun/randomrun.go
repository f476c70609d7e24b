// Package randomrun makes small runs of made-up work for property tests and benchmarks:
// few files and few commands, so that runs resemble each other and themselves.
package randomrun

import (
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Source returns a number from 0 to n-1.
type Source func(n int) int

var commands = []string{
	"cd /testbed && python -m pytest tests/test_a.py", "grep -rn \"def parse\" src", "grep -rn 'def parse_all' src",
	"ls -la", "python repro.py", "cd /testbed && python3 repro.py", "cat src/a.py", "sed -n 1,40p src/b.py",
	"git diff", "rm -f repro.py", "cat > fix.py << 'EOF'\nx = 1\nEOF", "sed -i 's/a/b/' src/a.py", "echo done > /tmp/x",
	"find . -name '*.py'", "python -c \"print(1)\"", "make", "npm i", "git status",
}

var files = []string{"src/a.py", "src/b.py", "src/c.py", "tests/test_a.py", "notes.md", "repro.py"}

// New makes a run with steps states after the initial one, labelled by the release's
// labeler.
func New(id, task string, outcome trajectory.Outcome, steps int, pick Source) *trajectory.Trajectory {
	t := &trajectory.Trajectory{ID: id, TaskID: task, Model: fmt.Sprintf("model-%d", pick(3)), Outcome: outcome}
	t.States = append(t.States, trajectory.State{
		ID: "state_0", Observation: "<initial>", ResultingState: "initial", Initial: true,
	})
	for n := 1; n <= steps; n++ {
		s := state(pick)
		s.ID, s.Step = fmt.Sprintf("state_%d", n), int64(n)
		s.InputTokens, s.OutputTokens = trajectory.Some(int64(pick(5000))), trajectory.Some(int64(pick(300)))
		t.States = append(t.States, s)
		t.Transitions = append(t.Transitions, trajectory.Transition{
			ID: fmt.Sprintf("trans_%d", n-1), From: fmt.Sprintf("state_%d", n-1), To: s.ID, ActionType: s.Tool, Step: s.Step,
		})
	}
	labels, _ := stage.NewRelease().Label(t)
	for i, l := range labels {
		t.States[i].Stage = l
	}
	return t
}

func state(pick Source) trajectory.State {
	file := files[pick(len(files))]
	seen := fmt.Sprintf("seen %d", pick(40))
	hash := fmt.Sprintf("%x", pick(12))
	call := func(tool string, args trajectory.Args, s trajectory.State) trajectory.State {
		args.Raw = fmt.Sprintf(`{"n":%d}`, pick(9))
		s.Tool, s.Observation, s.Log = tool, seen, &trajectory.LogEntry{Kind: "toolCall", Tool: tool, Args: args}
		return s
	}
	switch pick(10) {
	case 0:
		return call("think", trajectory.Args{}, trajectory.State{ResultingState: "tool_result:think:success"})
	case 1:
		args := trajectory.Args{Path: "/testbed/" + file, Has: trajectory.HasPath}
		return call("list_dir", args, trajectory.State{ResultingState: "dir_listed:src"})
	case 2, 3:
		start := int64(1 + pick(60))
		args := trajectory.Args{FilePath: "/" + file, Has: trajectory.HasFilePath, StartLine: start, EndLine: start + 20}
		return call("read_file", args, trajectory.State{
			FilePath: file, ResultingState: "file_read:" + file,
			Lines: trajectory.LineRange{Start: start, End: start + 20, Valid: true},
		})
	case 4:
		args := trajectory.Args{FilePath: "/" + file, Has: trajectory.HasFilePath}
		return call("replace_string_in_file", args, trajectory.State{
			FilePath: file, ResultingState: "file_modified:" + file, ContentHash: hash,
			ContentDescription: "In 'a.py': modified function " + string(rune('f'+pick(4))),
		})
	case 5:
		args := trajectory.Args{FilePath: "/" + file, Has: trajectory.HasFilePath}
		return call("create_file", args, trajectory.State{FilePath: file, ResultingState: "file_created:" + file})
	}
	command := commands[pick(len(commands))]
	return call("run_in_terminal", trajectory.Args{Command: command, Has: trajectory.HasCommand}, trajectory.State{
		ResultingState: "terminal:" + command[:2], ContentHash: hash,
	})
}
