package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/store"
)

// TestReadmeHolds runs what the README tells a newcomer to do with the sample.
func TestReadmeHolds(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bench-sample")
	buildSample(t, dir)
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	_, rest, _ := strings.Cut(string(text), "```sql\n")
	sql, _, _ := strings.Cut(rest, "```")
	queries := 0
	for statement := range strings.SplitSeq(sql, ";\n") {
		lines := strings.Split(strings.TrimSpace(statement), "\n")
		if strings.HasPrefix(lines[0], "--") {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] == "" {
			continue
		}
		queries++
		rows, err := db.Query(strings.Join(lines, "\n"))
		if err != nil {
			t.Errorf("%s: %v", lines, err)
			continue
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Close(); err != nil || n == 0 {
			t.Errorf("%s: %d rows, %v", lines, n, err)
		}
	}
	if queries != 3 {
		t.Errorf("%d queries in the README, want 3", queries)
	}

	runs := regexp.MustCompile(`show bench-sample (\S+)`).FindStringSubmatch(string(text))
	if runs == nil {
		t.Fatal("the README shows no run of the sample")
	}
	cmd, out := start(t, "show", dir, runs[1])
	if err := cmd.Wait(); err != nil {
		t.Errorf("show %s: %v\n%s", runs[1], err, out)
	}

	commands := map[string]bool{}
	for _, c := range newRoot().Commands() {
		commands[c.Name()] = true
	}
	for _, m := range regexp.MustCompile("agentlens ([a-z]+)").FindAllStringSubmatch(string(text), -1) {
		if !commands[m[1]] && m[1] != "labels" {
			t.Errorf("the README names a command %q that does not exist", m[1])
		}
	}
	_, table, _ := strings.Cut(string(text), "| command |")
	table, _, _ = strings.Cut(table, "\n\n")
	for name := range commands {
		if !strings.Contains(table, "`"+name) && name != "completion" && name != "help" {
			t.Errorf("the README's table leaves out the command %s", name)
		}
	}
}
