package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/curate"
	"github.com/agentlens-bench/agentlens/internal/export"
	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
	"github.com/agentlens-bench/agentlens/internal/privacy/privacytest"
)

// Secrets, home paths and names planted in raw logs are in no file and no line that a command
// makes of them.
func TestNothingPrivateLeaves(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(cachedir.Variable, filepath.Join(dir, "cache"))
	t.Chdir(dir)
	privacytest.Plant(t, "logs")
	var said bytes.Buffer
	do := func(want int, args ...string) {
		t.Helper()
		if got := run(context.Background(), args, &said, &said); got != want {
			t.Fatalf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), got, want, said.String())
		}
	}
	do(exitRefused, "build", "logs", "--out", "out/bench", "--observations", "full")
	for _, format := range export.Formats() {
		do(exitOK, "export", "out/bench", "--format", format, "--out", "out/export-"+format)
	}
	do(exitOK, "export", "out/bench", "--tables", "states", "--partition-by", "task", "--out", "out/lake")
	for _, target := range curate.Targets() {
		want := exitOK
		if target == "pairs" || target == "rewards" { // the planted runs have no reference, so nothing is left
			want = exitFailure
		}
		do(want, "curate", "out/bench", "logs", "--target", target, "--outcome", "pass,fail,unknown", "--finish", "any", "--out", "out/set-"+target)
	}
	do(exitOK, "publish", "out/bench", "--license", "MIT", "--out", "out/published")
	do(exitOK, "publish", "out/bench", "--license", "MIT", "--no-text", "--out", "out/bare")
	do(exitRefused, "convert", "logs", "--to", "atif", "--out", "out/atif")
	do(exitRefused, "convert", "logs", "--to", "jsonl", "--out", "out/jsonl")
	do(exitRefused, "inspect", "logs", "--json")
	do(exitOK, "query", "out/bench", "SELECT * FROM states")
	do(exitOK, "show", "out/bench", "--help")
	do(exitOK, "verify", "out/published", "--json")
	if n := privacytest.Find(t, "out"); n < 150 {
		t.Errorf("%d files", n)
	}
	privacytest.FindIn(t, "what the commands said", said.String())
	for _, file := range []string{"out/set-chat/train.jsonl", "out/set-sharegpt/train.jsonl", "out/set-messages/train.jsonl", "out/export-csv/states.csv"} {
		if !strings.Contains(privacytest.Texts(t, file), "REDACTED_GITHUB_TOKEN") {
			t.Errorf("%s does not hold the texts at all", file)
		}
	}
}
