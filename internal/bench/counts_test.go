package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
)

// The initial state is a row of states and no step: n_states is one less than the rows.
func TestStepsAreCountedWithoutTheInitialState(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	for run, steps := range []int{0, 1, 3, 4} {
		events := []string{`{"id":0,"timestamp":"2025-01-01T00:00:00","source":"user","action":"message","args":{"content":"fix it"}}`}
		for i := range steps {
			events = append(events,
				fmt.Sprintf(`{"id":%d,"timestamp":"2025-01-01T00:00:01","source":"agent","action":"run","args":{"command":"ls %d"}}`, 2*i+1, i),
				fmt.Sprintf(`{"id":%d,"timestamp":"2025-01-01T00:00:02","source":"agent","cause":%d,"observation":"run","content":"x","extras":{"metadata":{"exit_code":0}}}`, 2*i+2, 2*i+1))
		}
		lines = append(lines, fmt.Sprintf(`{"instance_id":"a__b-1","metadata":{"llm_config":{"model":"m%d"}},"test_result":{"git_patch":"d","report":{"resolved":true}},"history":[%s]}`, run, strings.Join(events, ",")))
	}
	logs := filepath.Join(dir, "output.jsonl")
	if err := os.WriteFile(logs, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	opt := options(filepath.Join(dir, "bench"), logs)
	if res := build(t, opt); res.Labelled != 8 || res.States != 12 {
		t.Errorf("%d steps in %d states, want 8 in 12", res.Labelled, res.States)
	}
	rows := query(t, opt.Out, `SELECT t.n_states, count(*) - 1, t.model || ' ' || coalesce(f.profile, ''), t.n_transitions, coalesce(f.n_states, t.n_states)
		FROM trajectories t JOIN states s ON s.trajectory_id = t.trajectory_id LEFT JOIN features f ON f.trajectory_id = t.trajectory_id
		GROUP BY t.trajectory_id, f.profile`)
	if len(rows) < 4 {
		t.Errorf("%d rows of 4 runs", len(rows))
	}
	for key, row := range rows {
		if want := row[1]; row[0] != want || row[3] != want || row[4] != want {
			t.Errorf("%s: n_states %s, n_transitions %s, n_states of the features %s, want %s", key, row[0], row[3], row[4], want)
		}
	}
}

// The references of the result are those that a scored run was judged by, not the pools that
// stand beside a task whose runs can't be scored.
func TestReferencesAreThoseOfScoredRuns(t *testing.T) {
	dir := t.TempDir()
	sample := filepath.Join(dir, datasets.SampleName)
	if err := os.WriteFile(sample, []byte(datasets.Sample()), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(dir, "output.jsonl")
	line := `{"instance_id":"a__b-1","metadata":{"llm_config":{"model":"m"}},"test_result":{"git_patch":"d","report":{"resolved":true}},"history":[` +
		`{"id":0,"timestamp":"2025-01-01T00:00:00","source":"user","action":"message","args":{"content":"fix it"}},` +
		`{"id":1,"timestamp":"2025-01-01T00:00:01","source":"agent","action":"run","args":{"command":"ls"}},` +
		`{"id":2,"timestamp":"2025-01-01T00:00:02","source":"agent","cause":1,"observation":"run","content":"x","extras":{"metadata":{"exit_code":0}}}]}`
	if err := os.WriteFile(alone, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := options(filepath.Join(dir, "bench"), sample, alone)
	res := build(t, opt)
	judged := query(t, opt.Out, `SELECT count(DISTINCT s.pta_id), (SELECT count(*) FROM pta WHERE pta.profile = s.profile), s.profile
		FROM (SELECT 'release' profile, trajectory_id, pta_id FROM signals_release UNION ALL SELECT 'paper', trajectory_id, pta_id FROM signals_paper
			UNION ALL SELECT 'process', trajectory_id, pta_id FROM signals_process) s
		JOIN features f ON f.profile = s.profile AND f.trajectory_id = s.trajectory_id GROUP BY s.profile`)
	for _, p := range registry.Names() {
		if got := fmt.Sprint(res.References[p]); len(judged[p]) == 0 || judged[p][0] != got {
			t.Fatalf("%s: %s references, want %v", p, got, judged[p])
		}
	}
	if judged["process"][0] == judged["process"][1] {
		t.Error("every pool belongs to a scored run, so this shows nothing")
	}
}
