package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
)

// hostile is a text that acts on a terminal: a title, a clipboard write, colours, C1, bidi
// overrides and isolates, zero-width characters, separators.
const hostile = "x\x1b]0;t\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\r\u009b31m\x7f\u202e\u2066\u200b\u2028\u2029"

// hostileLog writes runs whose every text is hostile, and returns their file.
func hostileLog(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	for i := range 4 {
		call := map[string]any{"id": "c", "function": map[string]any{"name": "bash", "arguments": `{"command":"cat a.py"}`}}
		odd := map[string]any{"id": "d", "function": map[string]any{"name": "t" + hostile, "arguments": map[string]any{"path": hostile}}}
		line, err := json.Marshal(map[string]any{
			"instance_id": "task" + hostile, "model": "model" + hostile, "resolved": i != 0, "trajectory_id": fmt.Sprint("run", i, hostile),
			"messages": []any{
				map[string]any{"role": "user", "content": hostile},
				map[string]any{"role": "assistant", "content": hostile, "tool_calls": []any{call}},
				map[string]any{"role": "tool", "tool_call_id": "c", "content": hostile},
				map[string]any{"role": "assistant", "content": hostile, "tool_calls": []any{odd}},
				map[string]any{"role": "tool", "tool_call_id": "d", "content": hostile},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	b.WriteString(`{"instance_id": 7, "messages": "` + "\u009b\u202e\"}\n")
	file := filepath.Join(dir, "runs\x1b[31m\u202e.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// acts returns the first character that a terminal would act on, or that hides.
func acts(text string) (rune, bool) {
	for _, r := range strings.ToValidUTF8(text, "\x00") {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return r, true
		}
	}
	return 0, false
}

func TestNoCommandLetsLogsActOnATerminal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(cachedir.Variable, filepath.Join(dir, "cache"))
	log := hostileLog(t, dir)
	labels := filepath.Join(dir, "l\x1b[2J.csv")
	table := filepath.Join(dir, "t.csv")
	for file, text := range map[string]string{
		labels: "instance_id,passed\nnone" + strings.NewReplacer("\r", "", "\n", "").Replace(hostile) + ",true\n",
		table:  "a\x1b[31m,b\nx\x1b[31m,1\ny\u202e,2\n\xff,3\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := func(name string) string { return filepath.Join(dir, name+"\x1b[31m\u202e") }
	bench := out("bench")
	run0 := ""
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitRefused, []string{"build", log, "--labels", labels, "--out", bench}},
		{exitUsage, []string{"build", log, "--out", bench}},
		{exitRefused, []string{"build", log, "--root", out("root")}},
		{exitRefused, []string{"inspect", log, "--labels", labels}},
		{exitOK, []string{"query", bench, "SELECT * FROM trajectories"}},
		{exitOK, []string{"query", bench, "SELECT task_id AS \"a\x1b[31m\" FROM trajectories", "--format", "jsonl"}},
		{exitUsage, []string{"query", bench, "SELECT \"no\x1b[31m\""}},
		{exitOK, []string{"show", bench, "RUN"}},
		{exitUsage, []string{"show", bench, "run\x1b[31m", "--profile", hostile}},
		{exitOK, []string{"verify", bench}},
		{exitOK, []string{"diff", bench, bench}},
		{exitOK, []string{"versions", out("root")}},
		{exitOK, []string{"stats", "describe", table, "--columns", "a\x1b[31m"}},
		{exitOK, []string{"stats", "describe", table, "--columns", "b", "--by", "a\x1b[31m"}},
		{exitUsage, []string{"stats", "describe", table, "--columns", "c\x1b[31m\xff"}},
		{exitRefused, []string{"convert", log, "--to", "atif", "--out", out("atif")}},
		{exitOK, []string{"export", bench, "--format", "csv", "--out", out("csv")}},
		{exitFailure, []string{"curate", bench, log, "--outcome", "pass,fail", "--finish", "any", "--out", out("set")}},
		{exitOK, []string{"annotate", "sample", bench, "--n", "4", "--out", out("sheet") + ".csv"}},
		{exitUsage, []string{"no\x1b[31m"}},
		{exitUsage, []string{"build", "--no\x1b[31m\u202e"}},
		{exitUsage, []string{"build", "--k", "\x1b[31m\xed\xa0\x80"}},
	} {
		for i, a := range c.args {
			if a == "RUN" {
				c.args[i] = run0
			}
		}
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), c.args, &stdout, &stderr)
		said := stdout.String() + stderr.String()
		if r, bad := acts(said); bad {
			t.Errorf("%q writes %U in\n%q", c.args, r, said)
		}
		if code != c.code {
			t.Errorf("%q: exit code %d, want %d\n%s", c.args, code, c.code, said)
		}
		if run0 == "" {
			var id bytes.Buffer
			run(context.Background(), []string{"query", bench, "SELECT trajectory_id FROM trajectories LIMIT 1", "--format", "jsonl"}, &id, &id)
			var row struct {
				ID string `json:"trajectory_id"`
			}
			if err := json.Unmarshal(id.Bytes(), &row); err != nil || !strings.Contains(row.ID, "run") {
				t.Fatalf("%s: %v", id.String(), err)
			}
			run0 = row.ID
		}
	}
}

// What another program reads is the data itself.
func TestDataInAPipeIsNotEscaped(t *testing.T) {
	dir := t.TempDir()
	bench := filepath.Join(dir, "bench")
	var out bytes.Buffer
	if code := run(context.Background(), []string{"build", hostileLog(t, dir), "--out", bench}, &out, &out); code != exitRefused {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	out.Reset()
	if code := run(context.Background(), []string{"query", bench, "SELECT task_id FROM tasks", "--format", "csv"}, &out, &out); code != exitOK || !strings.Contains(out.String(), "\x1b]0;t\x07") {
		t.Errorf("exit code %d\n%q", code, out.String())
	}
}
