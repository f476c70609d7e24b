package inspect_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/inspect"
)

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
