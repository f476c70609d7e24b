package ingest_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// evalLine is a line of an OpenHands output.jsonl with one step.
func evalLine(instance, model, extra string) string {
	return fmt.Sprintf(`{"instance_id": %q, "metadata": {"llm_config": {"model": %q}}, "test_result": {"git_patch": "diff"%s}, "history": [`+
		`{"id": 0, "timestamp": "2025-01-01T00:00:00", "source": "agent", "action": "run", "args": {"command": "ls"}},`+
		`{"id": 1, "timestamp": "2025-01-01T00:00:01", "source": "agent", "cause": 0, "observation": "run", "content": "x", "extras": {"metadata": {"exit_code": 0}}}]}`+"\n",
		instance, model, extra)
}

// settled reads a tree of files and settles every run, as "task model=outcome (source)".
func settled(t *testing.T, opt ingest.Options, files map[string]string, sources ...string) []string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range sortedKeys(files) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, []byte(files[name]))
	}
	roots := []string{dir}
	if len(sources) > 0 {
		roots = nil
		for _, s := range sources {
			roots = append(roots, filepath.Join(dir, s))
		}
	}
	if opt.Labels != "" {
		opt.Labels = filepath.Join(dir, opt.Labels)
	}
	got, err := read(t, opt, roots...)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.refused) > 0 {
		t.Errorf("refused: %v", got.refused)
	}
	x := outcome.NewIndex()
	for _, e := range got.evidence {
		x.Add(e)
	}
	for _, r := range got.runs {
		x.AddRun(r)
	}
	var out []string
	for _, r := range got.runs {
		v := x.Resolve(r.ID, r.TaskID, r.Model)
		text := fmt.Sprintf("%s %s=%s (%s)", r.TaskID, r.Model, v.Outcome, strings.Trim(v.Source+" "+v.Detail, " "))
		for _, w := range v.Warnings {
			text += " " + w.Code
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// TestSummaryTable reads results of mini-SWE-agent: the table among them is skipped by its
// name, as the outcomes are in the JSON.
func TestSummaryTable(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"results_summary.csv":  "instance_id,resolved,patch_applied\no__r-1,True,True\n",
		"results_summary.json": `{"total": 1, "instances": [{"instance_id": "o__r-1", "resolved": true, "patch_applied": true}]}`,
		"other.csv":            "instance_id,resolved,cost\no__r-1,True,1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(t, ingest.Options{Jobs: 1}, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{
		"results_summary.csv of mini-SWE-agent, whose outcomes are those of results_summary.json or report.json": 1,
		"table that is neither annotations nor labels":                                                           1,
	}
	if len(got.evidence) != 1 || got.evidence[0].Outcome != trajectory.Pass || !maps.Equal(got.summary.Skipped, want) {
		t.Errorf("%v, skipped %v", got.evidence, got.summary.Skipped)
	}
}

func TestCompanions(t *testing.T) {
	two := evalLine("o__r-1", "m", "") + evalLine("o__r-2", "m", "")
	for _, c := range []struct {
		name    string
		opt     ingest.Options
		files   map[string]string
		sources []string
		want    []string
	}{
		{
			"summary beside", ingest.Options{}, map[string]string{
				"m/output.jsonl": two, "m/report.json": `{"resolved_ids": ["o__r-1"], "error_ids": ["o__r-2"]}`,
				"n/output.jsonl": strings.ReplaceAll(two, `"m"`, `"n"`), "n/report.json": `{"resolved_ids": ["o__r-2"], "empty_patch_ids": ["o__r-1"]}`,
			}, nil,
			[]string{"o__r-1 m=pass (run summary)", "o__r-1 n=fail (run summary empty_patch)", "o__r-2 m=unknown (run summary harness_error)", "o__r-2 n=pass (run summary)"},
		},
		{
			"evaluated lines", ingest.Options{}, map[string]string{
				"output.jsonl": two, "output.swebench_eval.jsonl": evalLine("o__r-1", "m", `, "report": {"resolved": true}`),
			}, nil,
			[]string{"o__r-1 m=pass (swebench_eval.jsonl)", "o__r-2 m=unknown ()"},
		},
		{
			"evaluated lines alone", ingest.Options{}, map[string]string{
				"output.swebench_eval.jsonl": evalLine("o__r-1", "m", `, "report": {"resolved": true}`),
			}, []string{"output.swebench_eval.jsonl"},
			[]string{"o__r-1 m=pass (test_result.report)"},
		},
		{
			"report tree as a source of its own", ingest.Options{}, map[string]string{
				"runs/output.jsonl":                          two,
				"logs/run_evaluation/x/m/o__r-1/report.json": `{"o__r-1": {"patch_exists": true, "resolved": false}}`,
				"logs/run_evaluation/x/m/o__r-2/report.json": `{"patch_exists": true, "resolved": true}`,
			}, []string{"runs", "logs"},
			[]string{"o__r-1 m=fail (report.json)", "o__r-2 m=pass (report.json)"},
		},
		{
			"labels before everything", ingest.Options{Labels: "labels.csv"}, map[string]string{
				"runs/output.jsonl": two, "runs/results.json": `{"resolved": ["o__r-1"], "generated": ["o__r-1", "o__r-2"]}`,
				"labels.csv": "instance_id,passed\no__r-1,0\n",
			}, []string{"runs"},
			[]string{"o__r-1 m=fail (labels) outcome_conflict", "o__r-2 m=fail (results.json)"},
		},
		{
			"a labels table among the logs", ingest.Options{}, map[string]string{
				"output.jsonl": two, "outcomes.csv": "instance_id,model,passed\no__r-1,m,1\no__r-2,other,1\n",
			}, nil,
			[]string{"o__r-1 m=pass (labels table)", "o__r-2 m=unknown ()"},
		},
	} {
		if got := settled(t, c.opt, c.files, c.sources...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "labels.csv"), []byte("instance_id,passed\na,perhaps\n"))
	write(t, filepath.Join(dir, "output.jsonl"), []byte(two))
	_, err := read(t, ingest.Options{Labels: filepath.Join(dir, "labels.csv")}, filepath.Join(dir, "output.jsonl"))
	wantError(t, err, "line 2", "perhaps")
}
