//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentlens-bench/agentlens/internal/bench"
)

// TestSignalsEndWaits: a command that waits for a pipe that nobody writes to ends soon after
// the first signal, with the exit code that shells give it, and leaves nothing.
func TestSignalsEndWaits(t *testing.T) {
	waits := map[string]func(pipe, out string) []string{
		"labels": func(pipe, out string) []string { return []string{"build", "--labels", pipe, "--out", out} },
		"tools":  func(pipe, out string) []string { return []string{"build", "--tools", pipe, "--out", out} },
		"donors": func(pipe, out string) []string {
			return []string{"build", "--reference", "donors", "--donors", pipe, "--out", out}
		},
		"validate": func(pipe, _ string) []string { return []string{"validate", pipe} },
		"stats":    func(pipe, _ string) []string { return []string{"stats", "auroc", pipe, "--score", "s", "--label", "l"} },
	}
	signals := map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129}
	for name, args := range waits {
		for sig, want := range signals {
			if name != "labels" && sig != syscall.SIGTERM {
				continue
			}
			t.Run(name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				pipe := filepath.Join(dir, "pipe")
				if err := unix.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
				cmd, stderr := start(t, args(pipe, filepath.Join(dir, "out"))...)
				time.Sleep(500 * time.Millisecond) // it waits by now, or ends with the same code when it comes to it
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err, stderr)
				}
				begin := time.Now()
				err := cmd.Wait()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != want {
					t.Errorf("%v, want exit code %d: %s", err, want, stderr)
				}
				if took := time.Since(begin); took > patience {
					t.Errorf("ended %v after the signal", took)
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
					t.Errorf("left: %v, %v", left, err)
				}
			})
		}
	}
}

// TestPipesAreReadOnce builds with an outcomes file that comes through a pipe, under another
// name each time: the dataset states its digest, and is the same.
func TestPipesAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "local.traj.json")
	text := `{"trajectory_format":"mini-swe-agent-1.1","info":{"exit_status":"Submitted","submission":""},"instance_id":"a__b-1","messages":[
{"role":"system","content":"You can interact with a computer."},{"role":"user","content":"Solve it."},
{"role":"assistant","content":"x\n\n` + "```bash\\nls\\n```" + `"},{"role":"user","content":"<returncode>0</returncode>\n<output>\nf\n</output>"}]}`
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	piped := func(name string, args ...string) string {
		t.Helper()
		pipe := filepath.Join(dir, name)
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := start(t, append(args, "--labels", pipe)...)
		writer, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			_, err = writer.WriteString("instance_id,passed\na__b-1,true\n")
			err = errors.Join(err, writer.Close())
		}
		if err := errors.Join(err, cmd.Wait()); err != nil {
			t.Fatal(err, stderr)
		}
		return stderr.String()
	}
	out := filepath.Join(dir, "out")
	piped("one", "build", log, "--out", out)
	m, err := bench.ReadManifest(out)
	if err != nil || m.Parameters.LabelsSHA256 != "5bd82b62e95f490f7d4b85a52aafaab554c974c283942342d4360db79efac12d" || m.Counts.Pass != 1 {
		t.Errorf("%+v, %v", m.Parameters, err)
	}
	if said := piped("two", "verify", out, "--rebuild", log); strings.Contains(said, "problem") {
		t.Error(said)
	}
}
