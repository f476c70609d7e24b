package stage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance/randomrun"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestReleaseRules(t *testing.T) {
	step := func(tool, path, command string) trajectory.State {
		return trajectory.State{
			Tool: tool, FilePath: path, ResultingState: "done",
			Log: &trajectory.LogEntry{Kind: "toolCall", Tool: tool, Args: trajectory.Args{Command: command}},
		}
	}
	run := func(command string) trajectory.State { return step("run_in_terminal", "", command) }
	states := []trajectory.State{
		{ResultingState: "initial"},
		{ResultingState: "llm_response:planning"},
		step("list_dir", "", ""),
		step("get_errors", "", ""),
		step("think", "", ""),
		step("read_file", "src/a.py", ""),
		step("read_file", "tests/test_a.py", ""),
		run("python repro.py"),
		run("git diff"),
		step("replace_string_in_file", "src/a.py, src/b.py", ""),
		step("read_file", "src/b.py", ""),
		step("read_file", "tests/test_a.py", ""),
		step("create_file", "tests/test_b.py", ""),
		step("create_file", "CHANGELOG.md", ""),
		run("cd /testbed && python repro.py"),
		run("git diff"),
		run("pytest"),
		run("rm -f repro.py"),
		run("cat > src/c.py << 'EOF'\nx = 1\nEOF"),
		step("read_file", "src/c.py", ""),
		run("ls"),
		run("cat x"),
		run("true"),
		step("unheard_of", "", ""),
		step("mcp_pylance_new", "", ""),
		step("renderMermaidDiagram", "", ""),
	}
	for len(states) < 31 {
		states = append(states, run("true")) // from index 24.8 on near the end
	}
	want := []string{
		"- initial", "O llm_response", "E search_tool", "V validation_tool", "O orchestration_tool", "E read_file",
		"E read_test_file", "E other_command", "E other_command", "I edit_file", "V read_edited_file", "V read_test_file",
		"V edit_test_file", "O edit_summary_file", "V run_command_after_edit", "V git_review_after_edit", "V test_command",
		"O cleanup_command", "I code_writing_command", "V read_edited_file", "E inspection_command", "E cat_command",
		"E other_command", "O tool_hint", "E tool_hint", "I tool_hint",
		"V command_near_end", "V command_near_end", "V command_near_end", "V command_near_end", "V command_near_end",
	}
	for i := range states {
		states[i].Step = int64(i)
	}
	labels, rules := stage.NewRelease().Label(&trajectory.Trajectory{States: states})
	for i := range states {
		if got := fmt.Sprintf("%c %s", labels[i].Letter(), rules[i]); got != want[i] {
			t.Errorf("state %d: %s, want %s", i, got, want[i])
		}
	}
}

func BenchmarkLabel(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	run := randomrun.New("a", "task", trajectory.Pass, 1000, rng.IntN)
	labeler := stage.NewRelease()
	b.ReportAllocs()
	for b.Loop() {
		labeler.Label(run)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1001, "ns/state")
}
