package inspect_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/inspect"
)

// TestOwnLogs inspects the same story in ten formats: what is counted is what they tell.
func TestOwnLogs(t *testing.T) {
	dir := t.TempDir()
	for _, format := range conformance.LogFormats() {
		if err := os.CopyFS(filepath.Join(dir, format), os.DirFS(conformance.Logs(t, format))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "cut.jsonl"), []byte(`{"instance_id":"acme__abacus-8","history":[`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := inspect.Sources(context.Background(), []string{dir}, ingest.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := inspect.Totals{Runs: 10, Pass: 2, Unknown: 8, Steps: 61, InputTokens: 7 * 750, OutputTokens: 7 * 75, CachedTokens: 7 * 75, Untold: 3}
	if got.Totals != want {
		t.Errorf("totals %+v, want %+v", got.Totals, want)
	}
	if len(got.Models) != 1 || got.Models[0] != (inspect.Model{Name: "tally-1", Totals: want}) {
		t.Errorf("models %+v", got.Models)
	}
	if len(got.Tasks) != 1 || got.Tasks[0] != (inspect.Task{Name: "acme__abacus-7", Repo: "acme/abacus", Totals: want, Reference: true}) || got.References != 1 {
		t.Errorf("tasks %+v, %d references", got.Tasks, got.References)
	}
	formats := map[string]bool{}
	for _, f := range got.Formats {
		formats[f.Format] = f.Key != "" && f.Records > 0
	}
	if len(formats) != 10 {
		t.Errorf("formats %+v", got.Formats)
	}
	var steps int64
	for i, tool := range got.Tools {
		if steps += tool.Steps; i > 0 && tool.Steps > got.Tools[i-1].Steps || !tool.Known {
			t.Errorf("tool %d is %+v", i, tool)
		}
	}
	if steps != want.Steps {
		t.Errorf("%d steps by tool", steps)
	}
	if got.Refused != 1 || len(got.Records) != 1 || got.Records[0].File != "cut.jsonl" || len(got.RefusedBy) != 1 {
		t.Errorf("refused %+v", got.Records)
	}
}

// A folder without a run is an error that says so.
func TestNothingToInspect(t *testing.T) {
	if _, err := inspect.Sources(context.Background(), []string{t.TempDir()}, ingest.Options{}); err == nil {
		t.Error("an empty folder is inspected")
	}
}

// TestRealRuns inspects the archive of real runs: its outcomes are those its README counts,
// the sums over tasks and models are those over runs, and the workers do not show.
func TestRealRuns(t *testing.T) {
	source := conformance.Dir(t, "data", "real-runs.tar.zst")
	got, err := inspect.Sources(context.Background(), []string{source}, ingest.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := []inspect.Outcome{
		{Outcome: "pass", Source: "eval_logs", Runs: 105},
		{Outcome: "pass", Source: "report.json", Runs: 371},
		{Outcome: "pass", Source: "swebench_eval.logs", Runs: 26},
		{Outcome: "fail", Source: "report.json", Runs: 129},
		{Outcome: "fail", Source: "swebench_eval.logs", Runs: 22},
		{Outcome: "fail", Source: "swebench_eval.md", Runs: 1},
		{Outcome: "fail", Source: "swebench_eval.md", Detail: "empty_patch", Runs: 1},
		{Outcome: "unknown", Runs: 53},
	}
	if !reflect.DeepEqual(got.Outcomes, want) {
		t.Errorf("outcomes %+v", got.Outcomes)
	}
	var tasks, models inspect.Totals
	var references, steps int64
	for _, task := range got.Tasks {
		sum(&tasks, task.Totals)
		if task.Reference != (task.Pass >= 2) || task.Reference != (task.Why == "") {
			t.Errorf("%+v", task)
		}
		if task.Reference {
			references++
		}
	}
	for _, m := range got.Models {
		sum(&models, m.Totals)
	}
	for _, tool := range got.Tools {
		steps += tool.Steps
	}
	if tasks != got.Totals || models != got.Totals || references != got.References || references == 0 || steps != got.Steps || got.Runs != 708 {
		t.Errorf("%+v, by task %+v, by model %+v; %d references, %d steps by tool", got.Totals, tasks, models, references, steps)
	}
	if got.Refused != 2 || len(got.Records) != 2 || got.RefusedBy["duplicate_id"] != 2 {
		t.Errorf("refused %+v", got.Records)
	}
	again, err := inspect.Sources(context.Background(), []string{source}, ingest.Options{Jobs: 1})
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Error("another result with one worker", err)
	}
}

func sum(n *inspect.Totals, m inspect.Totals) {
	a, b := reflect.ValueOf(n).Elem(), reflect.ValueOf(m)
	for i := range a.NumField() {
		a.Field(i).SetInt(a.Field(i).Int() + b.Field(i).Int())
	}
}
