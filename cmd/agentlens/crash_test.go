package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
)

// traced runs the program under strace, in a folder of its own for temporary files.
func traced(t *testing.T, dir string, trace []string, args ...string) (log string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command("strace", slices.Concat([]string{"-f", "-qq", "-y", "-s", "4096", "-o", file}, trace, []string{"agentlens"}, args)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"), cachedir.Variable+"="+filepath.Join(dir, "cache"))
	out, err := cmd.CombinedOutput()
	text, lerr := os.ReadFile(file)
	if lerr != nil {
		t.Fatalf("%v; %s", lerr, out)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return string(text), err
}

// writers are a command of every way to write, after the dataset bench was built.
var writers = []struct {
	out  string
	args []string
}{
	{"new", []string{"build", "--profile", "release", "--out", "new"}},
	{"root/1.0.0", []string{"build", "--profile", "release", "--root", "root"}},
	{"logs", []string{"synth", "--tasks", "1", "--models", "1", "--runs", "2", "--out", "logs"}},
	{"atif", []string{"convert", "source", "--to", "atif", "--out", "atif"}},
	{"csv", []string{"export", "bench", "--tables", "tasks", "--format", "csv", "--out", "csv"}},
	{"db", []string{"export", "bench", "--tables", "tasks", "--format", "sqlite", "--out", "db"}},
	{"set", []string{"curate", "bench", "--target", "ids", "--out", "set"}},
	{"published", []string{"publish", "bench", "--license", "MIT", "--out", "published"}},
	{"figures", []string{"figures", "bench", "--only", "ranks", "--format", "svg", "--out", "figures"}},
	{"sample.csv", []string{"annotate", "sample", "bench", "--out", "sample.csv"}},
	{"p.toml", []string{"calibrate", "bench", "--resamples", "2", "--out", "p.toml"}},
}

// laboratory is a folder with what the writers need.
func laboratory(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("many runs under strace")
	}
	if probe := exec.Command("strace", "-o", os.DevNull, "true"); probe.Run() != nil {
		t.Skip("strace is not there or not allowed")
	}
	dir := t.TempDir()
	for _, name := range []string{"tmp", "cache"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"build", "--profile", "release,process", "--out", "bench"},
		{"synth", "--tasks", "1", "--models", "1", "--runs", "2", "--out", "source"},
	} {
		if _, err := traced(t, dir, []string{"-e", "trace=none"}, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var (
	syncCall   = regexp.MustCompile(`\bf(?:data)?sync\(\d+<([^>]*)>`)
	renameCall = regexp.MustCompile(`\brename(?:at2?)?\((?:AT_FDCWD(?:<[^>]*>)?, )?"([^"]*)", (?:AT_FDCWD(?:<[^>]*>)?, )?"([^"]*)"`)
)

// TestOrderOnDisk: each command flushes all files of its output and then its folders, the
// inner ones first, renames it, and flushes the folder that it is in.
func TestOrderOnDisk(t *testing.T) {
	dir := laboratory(t)
	for _, w := range writers {
		t.Run(strings.Join(w.args[:2], " "), func(t *testing.T) {
			log, err := traced(t, dir, []string{"-e", "trace=fsync,fdatasync,rename,renameat,renameat2"}, w.args...)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, filepath.FromSlash(w.out))
			at, whole := -1, ""
			synced := map[string]int{} // last time a path was flushed before the rename
			after := map[string]bool{}
			for i, line := range strings.Split(log, "\n") {
				if m := renameCall.FindStringSubmatch(line); m != nil && m[2] == out {
					at, whole = i, m[1]
				} else if m := syncCall.FindStringSubmatch(line); m != nil && at < 0 {
					synced[m[1]] = i
				} else if m != nil {
					after[m[1]] = true
				}
			}
			if at < 0 {
				t.Fatalf("no rename to %s:\n%s", out, log)
			}
			if !after[filepath.Dir(out)] {
				t.Errorf("%s was not flushed after the rename:\n%s", filepath.Dir(out), log)
			}
			if err := filepath.WalkDir(out, func(path string, e os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				was := whole + strings.TrimPrefix(path, out)
				when, ok := synced[was]
				if !ok {
					t.Errorf("%s was not flushed before the rename", was)
				}
				if folder, known := synced[filepath.Dir(was)]; path != out && known && folder < when {
					t.Errorf("%s was flushed after its folder", was)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKilled kills each command at system calls of every kind that changes a folder, then runs
// another one in the same places: nothing is half, and nothing is left.
func TestKilled(t *testing.T) {
	dir := laboratory(t)
	list := func(folder string) []string {
		var names []string
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	for _, w := range writers {
		t.Run(strings.Join(w.args[:2], " "), func(t *testing.T) {
			before := list(".")
			for _, call := range []string{"mkdirat", "fsync", "renameat,renameat2", "unlinkat"} {
				_, err := traced(t, dir, []string{"-e", "trace=" + call, "-e", "inject=" + call + ":signal=SIGKILL:when=1"}, w.args...)
				out := filepath.Join(dir, filepath.FromSlash(w.out))
				if info, serr := os.Stat(out); serr == nil && info.IsDir() && w.args[0] != "synth" {
					check := exec.Command("sha256sum", "--quiet", "-c", "SHA256SUMS")
					check.Dir = out
					if text, cerr := check.CombinedOutput(); cerr != nil {
						t.Errorf("killed at %s, and %s is half: %s", call, w.out, text)
					}
				}
				if err == nil {
					continue // the command needs no such call
				}
				if err := os.RemoveAll(out); err != nil {
					t.Fatal(err)
				}
			}
			parent := filepath.Dir(w.out)
			probe := filepath.Join(parent, "probe.csv") // another kind of run in the same parent
			if _, err := traced(t, dir, []string{"-e", "trace=none"}, "annotate", "sample", "bench", "--out", probe); err != nil {
				t.Fatal(err)
			}
			if left := list(parent); parent != "." && !slices.Equal(left, []string{"probe.csv"}) {
				t.Errorf("left in %s: %v", parent, left)
			}
			if err := errors.Join(os.Remove(filepath.Join(dir, probe)), os.RemoveAll(filepath.Join(dir, strings.Split(w.out, "/")[0]))); err != nil {
				t.Fatal(err)
			}
			if after := list("."); !slices.Equal(after, before) {
				t.Errorf("left: %v, was %v", after, before)
			}
			if left := list("tmp"); len(left) > 0 {
				t.Errorf("left among the temporary files: %v", left)
			}
		})
	}
}

// TestRootRace: builds into one root at once make versions whose parents are right.
func TestRootRace(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	var wait sync.WaitGroup
	for _, profiles := range []string{"release", "process", "release,process"} {
		wait.Go(func() {
			if out, err := exec.Command("agentlens", "build", "--profile", profiles, "--root", root).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	text, err := exec.Command("agentlens", "versions", root).Output()
	if err != nil {
		t.Fatal(err)
	}
	out := string(text)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d versions:\n%s", len(lines), out)
	}
	times := []time.Time{}
	for i, line := range lines {
		version, _, _ := strings.Cut(line, " ")
		if i > 0 {
			before, _, _ := strings.Cut(lines[i-1], " ")
			if !strings.Contains(line, "parent "+before+" ") {
				t.Errorf("the parent of %s is not %s:\n%s", version, before, out)
			}
		}
		info, err := os.Stat(filepath.Join(root, version, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, info.ModTime())
	}
	if !slices.IsSortedFunc(times, time.Time.Compare) {
		t.Errorf("a lower version came after a higher one: %v", times)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 3 {
		t.Errorf("in the root: %v, %v", entries, err)
	}
}
