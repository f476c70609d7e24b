package stage_test

import (
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// labelInContext labels a terminal command after an edit or not, near the end or not.
func labelInContext(command string, implemented, nearEnd bool) trajectory.Stage {
	state := func(tool, path, cmd string) *trajectory.State {
		return &trajectory.State{
			Tool: tool, FilePath: path, ResultingState: "some",
			Log: &trajectory.LogEntry{Kind: "toolCall", Tool: tool, Args: trajectory.Args{Command: cmd}},
		}
	}
	first, more := state("think", "", ""), 8
	if implemented {
		first = state("create_file", "a.py", "")
	}
	if nearEnd {
		more = 0
	}
	states := []*trajectory.State{first, state("run_in_terminal", "", command)}
	for range more {
		states = append(states, state("think", "", ""))
	}
	if nearEnd { // index 4 of 5 is at 0.8
		states = append([]*trajectory.State{state("think", "", ""), state("think", "", ""), state("think", "", "")}, states...)
	}
	labels, _ := stage.NewRelease().LabelStates(states)
	return labels[len(states)-1-more]
}

type oracleCommand struct {
	Command string  `json:"command"`
	Stages  string  `json:"stages"`
	Pred    string  `json:"pred"`
	Src     *string `json:"src"`
}

func TestOracleCommands(t *testing.T) { conformance.Each(t, checkOracleCommands) }

func checkOracleCommands(t *testing.T, set *conformance.Set) {
	commands := conformance.Lines[oracleCommand](t, set, "oracle", "commands.jsonl")
	for _, want := range commands {
		pred := ""
		for _, p := range predicates(want.Command) {
			pred += map[bool]string{false: "0", true: "1"}[p]
		}
		if pred != want.Pred {
			t.Errorf("%q: predicates %s, want %s", want.Command, pred, want.Pred)
		}
		stages := ""
		for i := range 4 {
			stages += string(labelInContext(want.Command, i >= 2, i%2 == 1).Letter())
		}
		if stages != want.Stages {
			t.Errorf("%q: stages %s, want %s", want.Command, stages, want.Stages)
		}
		if c := stage.ParseCommand(want.Command); c.IsCodeWriting() {
			src := c.SourcePath()
			if want.Src == nil && src != "" || want.Src != nil && *want.Src != src {
				t.Errorf("%q: source path %q, want %v", want.Command, src, want.Src)
			}
		}
		compare(t, want.Command)
	}
	if want := set.Count(581, 6400); len(commands) != want {
		t.Errorf("%d commands, want %d", len(commands), want)
	}
}
