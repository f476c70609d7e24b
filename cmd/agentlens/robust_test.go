package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentlens-bench/agentlens/internal/bench"
)

// start runs the program as a process of its own.
func start(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("agentlens", args...)
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

func buildSample(t *testing.T, out string, more ...string) time.Duration {
	t.Helper()
	begin := time.Now()
	cmd, text := start(t, append([]string{"build", "--out", out}, more...)...)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("build: %v\n%s", err, text)
	}
	return time.Since(begin)
}

// killPoints is how many moments of a build are tried.
const killPoints = 12

func TestKilledBuildLeavesTheOutputWhole(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "bench")
	whole := buildSample(t, out)
	before, err := os.ReadFile(filepath.Join(out, bench.ChecksumsName))
	if err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{true, false} {
		buildSample(t, out, "--force")
		for i := range killPoints {
			if fresh {
				if err := os.RemoveAll(out); err != nil {
					t.Fatal(err)
				}
			}
			// Another k makes other bytes, so that a mix would be seen.
			cmd, _ := start(t, "build", "--out", out, "--force", "--k", "3")
			time.Sleep(whole * time.Duration(i+1) / killPoints)
			if err := cmd.Process.Kill(); err != nil && cmd.ProcessState == nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed, or just done
			if _, err := os.Stat(out); os.IsNotExist(err) && fresh {
				continue
			}
			if problems, err := bench.CheckFiles(out); err != nil || len(problems) > 0 {
				t.Fatalf("kill point %d (fresh %v): the output is damaged: %v %v", i, fresh, err, problems)
			}
		}
	}
	buildSample(t, out, "--force")
	after, err := os.ReadFile(filepath.Join(out, bench.ChecksumsName))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("a build after the killed ones gives other bytes")
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("leftovers of killed builds beside the output: %v", entries)
	}
}

// TestKilledOutputsLeaveNothing kills commands as soon as they work on their output, and runs
// them again: nothing is left beside the output then.
func TestKilledOutputsLeaveNothing(t *testing.T) {
	dataset := filepath.Join(t.TempDir(), "bench")
	buildSample(t, dataset)
	for _, args := range [][]string{
		{"export", dataset, "--format", "jsonl"},
		{"publish", dataset, "--license", "MIT"},
		{"curate", dataset, "--target", "rewards"},
		{"synth", "--tasks", "30", "--runs", "6"},
	} {
		parent := t.TempDir()
		args = append(args, "--out", filepath.Join(parent, "out"))
		begun := func() bool {
			parts, err := filepath.Glob(filepath.Join(parent, ".agentlens-*.tmp", "whole"))
			return err == nil && len(parts) > 0
		}
		cmd, text := start(t, args...)
		for deadline := time.Now().Add(time.Minute); !begun() && time.Now().Before(deadline); {
			time.Sleep(100 * time.Microsecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if !begun() {
			t.Fatalf("%s was not killed at work: %s", args[0], text)
		}
		cmd, text = start(t, args...)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, text)
		}
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
			t.Errorf("%s: left beside the output: %v %v", args[0], entries, err)
		}
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("skipped: needs the right to mount a small tmpfs (%v: %s)", err, bytes.TrimSpace(out))
	}
	defer func() {
		if err := exec.Command("umount", dir).Run(); err != nil {
			t.Errorf("umount: %v", err)
		}
	}()
	cmd, text := start(t, "build", "--out", filepath.Join(dir, "bench"))
	if err := cmd.Wait(); err == nil {
		t.Fatal("a build on a full disk succeeded")
	}
	if code := cmd.ProcessState.ExitCode(); code != exitFailure {
		t.Errorf("exit code %d, want %d", code, exitFailure)
	}
	if !strings.Contains(text.String(), "no space left on device") && !strings.Contains(text.String(), "disk is full") {
		t.Errorf("the message does not say that the disk is full: %s", text)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left on the full disk: %v %v", entries, err)
	}
}

func TestReaderNeverSeesAMix(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bench")
	buildSample(t, out)
	for _, k := range []string{"3", "4", "5"} {
		cmd, text := start(t, "build", "--out", out, "--force", "--k", k)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		for reading := true; reading; {
			select {
			case err := <-done:
				if err != nil {
					t.Fatalf("build: %v\n%s", err, text)
				}
				reading = false
			default:
			}
			problems, err := bench.CheckFiles(out)
			if err == nil && len(problems) > 0 {
				t.Fatalf("a reader saw a mix: %v", problems)
			}
		}
	}
}
