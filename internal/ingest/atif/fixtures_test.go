package atif_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func warnings(r *trajectory.Trajectory) string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Code+": "+w.Detail)
	}
	return strings.Join(out, "; ")
}

// steps describes the states of a run.
func steps(r *trajectory.Trajectory) string {
	var out []string
	for _, s := range r.States[1:] {
		about := s.Log.Args.FilePath
		if about == "" {
			about = s.Log.Args.Command
		}
		text := strings.TrimSpace(s.Tool + " " + about)
		if s.InputTokens.Valid {
			text += fmt.Sprintf(" (%d)", s.InputTokens.Value)
		}
		if s.ResponsePreview != "" {
			text += " = " + s.ResponsePreview
		}
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

// TestFixtures reads ten golden files: six runs, one with a continuation, one with three
// subagents that sum up.
func TestFixtures(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "atif")
	got := readtest.Read(t, ingest.Options{Jobs: 2}, dir)
	if got.Err != nil || len(got.Refused) > 0 || len(got.Summary.Skipped) > 0 {
		t.Fatal(got.Err, got.Refused, got.Summary.Skipped)
	}
	readtest.WantTally(t, got.Runs, `
		runs: 6
		steps: 16
		tool run_in_terminal: 15
		tool create_file: 1
		exit 0: 1
		outcome unknown: 6
		condensations: 2
		input tokens: 11471
		output tokens: 1505
		warning copied_context: 12
		warning format_error: 1
		warning metrics_differ: 1
		warning missing_trajectory: 3
		warning skipped_action: 3
	`)
	commands := map[string]string{
		"hello-world-context-summarization-linear-history.trajectory": "mkdir test_dir|echo 'test1' > test_dir/file1.txt|echo 'test2' > test_dir/file2.txt|printf 'Hello, world!\\n' > hello.txt|cat hello.txt",
		"hello-world-context-summarization.trajectory":                "mkdir test_dir|echo 'test1' > test_dir/file1.txt|echo 'test2' > test_dir/file2.txt|printf 'Hello, world!\\n' > hello.txt|cat hello.txt",
		"hello-world-invalid-json.trajectory":                         "printf 'Hello, world!\\n' > hello.txt",
		"hello-world-timeout.trajectory":                              "echo 'Hello, world!'|sleep 50|sleep 50",
		"hello-world.trajectory":                                      "create",
		"hello-world.trajectory.no_function_calling":                  "cat > /app/hello.txt << 'EOF'\nHello, world!\nEOF",
	}
	for _, r := range got.Runs {
		var list []string
		for i := range r.States[1:] {
			list = append(list, r.States[i+1].Command())
		}
		if text := strings.Join(list, "|"); text != commands[r.TaskID] || r.FormatVersion != "1.5" || r.SourceFile != r.TaskID+".json" {
			t.Errorf("%s %s %s: %q", r.TaskID, r.FormatVersion, r.SourceFile, text)
		}
	}
	for seed := range uint64(3) {
		if again := readtest.Read(t, ingest.Options{}, readtest.Tar(t, dir, seed)); !reflect.DeepEqual(again, got) {
			t.Errorf("seed %d: another reading", seed)
		}
	}
}
