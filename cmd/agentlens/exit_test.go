package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
)

// commands are all commands that do something, by what is typed.
func commands(cmd *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.HasParent() && c.Runnable() && !c.HasSubCommands() {
			all[strings.TrimPrefix(c.CommandPath(), "agentlens ")] = c
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cmd)
	return all
}

// call runs the program and returns the exit code and what it said to people.
func call(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), args, &stdout, &stderr)
	return code, stderr.String()
}

// goWords are words of Go and its libraries that no message has.
var goWords = regexp.MustCompile(`%!|strconv|panic|goroutine|runtime error|nil pointer|\*errors|fs\.PathError|pflag|0x[0-9a-f]{6}`)

func TestEveryNumberHasEnds(t *testing.T) {
	all := spans()
	n := 0
	for typed, cmd := range commands(newRoot()) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !numeric(f) {
				return
			}
			s, ok := spanOf(all, cmd, f.Name)
			if !ok {
				t.Errorf("%s --%s has no ends", typed, f.Name)
				return
			}
			n++
			values := []string{"", "x", "NaN", "Inf", "-Inf", "1e400", "0x", "--"}
			if f.Value.Type() != "uint64" && s.high < math.MaxFloat64 {
				values = append(values, "99999999999999999999999", fmt.Sprint(int64(s.high)+1), fmt.Sprint(int64(s.low)-1))
			}
			if f.Value.Type() == "duration" {
				values = []string{"", "x", "-1s", "30", "999999h", "1e400h"}
			}
			if def := f.DefValue; def != "" && def != "0" && def != "[]" {
				if err := f.Value.Set(strings.Trim(def, "[]")); err != nil {
					t.Errorf("%s --%s: its own default %s: %v", typed, f.Name, def, err)
				}
			}
			for _, v := range values {
				code, said := call(t, append(strings.Fields(typed), "--"+f.Name+"="+v)...)
				if code != exitUsage || !strings.Contains(said, "--"+f.Name+" ") || !strings.Contains(said, fmt.Sprintf("%q", v)) || !strings.Contains(said, "want ") || goWords.MatchString(said) {
					t.Errorf("%s --%s=%s: exit code %d, %s", typed, f.Name, v, code, said)
				}
			}
		})
	}
	if n < 60 {
		t.Errorf("only %d flags for numbers were found", n)
	}
}

func TestUnknownFlagsAndNoArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(cachedir.Variable, t.TempDir())
	without := map[string]int{"build": exitUsage, "schema": exitOK}
	for typed, cmd := range commands(newRoot()) {
		args := strings.Fields(typed)
		code, said := call(t, append(args, "--no-such-flag")...)
		if code != exitUsage || !strings.Contains(said, "--no-such-flag") || !strings.Contains(said, "try: "+cmd.CommandPath()+" --help") {
			t.Errorf("%s with an unknown flag: exit code %d, %s", typed, code, said)
		}
		want, ok := without[typed]
		if !ok {
			want = exitUsage
		}
		if slices.Contains([]string{"calibrate", "ablate merge-count", "ablate donors", "baseline dense", "baseline individual", "baseline tfidf"}, typed) {
			continue // they work on the sample
		}
		if code, said := call(t, args...); code != want || goWords.MatchString(said) {
			t.Errorf("%s without arguments: exit code %d, want %d\n%s", typed, code, want, said)
		}
	}
}

func TestPlacesThatACallNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv(cachedir.Variable, filepath.Join(dir, ".cache"))
	if code, said := call(t, "build", "--out", "bench"); code != exitOK {
		t.Fatal(said)
	}
	if code, said := call(t, "synth", "--tasks", "1", "--models", "1", "--runs", "2", "--out", "logs"); code != exitOK {
		t.Fatal(said)
	}
	for _, d := range []string{"empty", "full"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for f, text := range map[string]string{"full/mine": "x", "occupied": "mine"} {
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// PLACE is a missing folder, an empty one, or a file.
	inputs := []string{
		"verify PLACE", "show PLACE x", "versions PLACE", "diff PLACE bench", "diff bench PLACE", "query PLACE", "export PLACE --out new",
		"publish PLACE --license MIT --out new", "curate PLACE --dry-run", "figures PLACE --out new", "reproduce PLACE",
		"annotate sample PLACE --out new.csv", "annotate import PLACE occupied --out new", "calibrate PLACE", "ablate weights PLACE",
		"build PLACE --out new", "inspect PLACE", "convert PLACE --to atif --out new", "stats describe PLACE --columns x",
	}
	for _, typed := range inputs {
		for _, place := range []string{"missing", "empty"} {
			code, said := call(t, strings.Fields(strings.ReplaceAll(typed, "PLACE", place))...)
			if code != exitUsage || !strings.Contains(said, place) && !strings.Contains(said, "no run found") || goWords.MatchString(said) {
				t.Errorf("%s, %s: exit code %d, %s", typed, place, code, said)
			}
		}
	}
	for _, typed := range []string{
		"build logs --out full", "build logs --out occupied", "export bench --out full", "publish bench --license MIT --out full", "curate bench --target ids --out full",
		"convert logs --to atif --out full", "synth --out full", "annotate sample bench --out occupied --format csv", "calibrate bench --out occupied",
		"build logs --out bench",
	} {
		code, said := call(t, strings.Fields(typed)...)
		if code != exitUsage || !strings.Contains(said, typed[strings.LastIndex(typed, "--out ")+6:][:4]) || goWords.MatchString(said) {
			t.Errorf("%s: exit code %d, %s", typed, code, said)
		}
	}
	for f, text := range map[string]string{"full/mine": "x", "occupied": "mine"} {
		if got, err := os.ReadFile(f); err != nil || string(got) != text {
			t.Errorf("%s has %q now: %v", f, got, err)
		}
	}
	// Files that flags name.
	n := 0
	for typed, cmd := range commands(newRoot()) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := f.Annotations[fileFlag]; !ok {
				return
			}
			n++
			for _, place := range []string{"missing", "empty"} {
				args := append(strings.Fields(typed), "--"+f.Name, place)
				for range strings.Count(cmd.Use, " ") {
					if cmd.ValidateArgs(args[len(strings.Fields(typed))+2:]) == nil {
						break
					}
					args = append(args, "bench")
				}
				code, said := call(t, args...)
				if code != exitUsage || !strings.Contains(said, "--"+f.Name+" "+place) || goWords.MatchString(said) {
					t.Errorf("%q: exit code %d, %s", args, code, said)
				}
			}
		})
	}
	if n < 15 {
		t.Errorf("only %d flags for files were found", n)
	}
}
