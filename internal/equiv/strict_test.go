package equiv

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance/released"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestStrictConformance(t *testing.T) {
	rows := released.Table(t, "oracle", "profiles", "equivalence_strict_t.tsv")
	if len(rows) != 3850 {
		t.Fatalf("%d pairs, want 3850", len(rows))
	}
	needed := map[string]bool{}
	for _, r := range rows {
		needed[r["trajectory_a"]], needed[r["trajectory_b"]] = true, true
	}
	clean := stage.NewClean(shell.New(shell.Options{}))
	table := NewStrictTable()
	steps := map[string][]StrictStep{}
	for _, run := range released.Trajectories(t) {
		if !needed[run.ID] {
			continue
		}
		for _, s := range clean.Steps(run) {
			steps[run.ID] = append(steps[run.ID], table.Step(s.State, s.Stage, s.Actions))
		}
	}
	for _, r := range rows {
		at := func(side string) *StrictStep {
			i, err := strconv.Atoi(r["step_"+side])
			if err != nil {
				t.Fatal(err)
			}
			return &steps[r["trajectory_"+side]][i]
		}
		a, b := at("a"), at("b")
		same, confidence, reason := StrictT(a, b)
		if same != (r["equivalent"] == "1") || string(reason) != r["reason"] {
			t.Errorf("%v: %v by %s", r, same, reason)
		}
		if same != (confidence >= 0.7) || confidence > 1 {
			t.Errorf("%v: confidence %v", r, confidence)
		}
	}
}

func TestStrictStepConformance(t *testing.T) {
	rows := released.Table(t, "oracle", "profiles", "states_3tasks.tsv")
	expected := map[string][]map[string]string{}
	tasks := map[string]bool{}
	for _, r := range rows {
		id := r["trajectory_id"]
		expected[id] = append(expected[id], r)
		task, _, _ := strings.Cut(id, "-logs-")
		tasks[task] = true
	}
	var names []string
	for task := range tasks {
		names = append(names, task)
	}
	clean := stage.NewClean(shell.New(shell.Options{}))
	table := NewStrictTable()
	seen := 0
	for _, run := range released.Trajectories(t, names...) {
		steps := clean.Steps(run)
		want := expected[run.ID]
		if len(steps) != len(want) {
			t.Errorf("%s: %d steps, want %d", run.ID, len(steps), len(want))
			continue
		}
		for i, s := range steps {
			seen++
			if got := describeStep(i, s, table.Step(s.State, s.Stage, s.Actions)); !equalRows(got, want[i]) {
				t.Errorf("%s step %d\ngot  %v\nwant %v", run.ID, i, got, want[i])
			}
		}
	}
	if seen != len(rows) {
		t.Errorf("%d steps, want %d", seen, len(rows))
	}
}

func describeStep(i int, s stage.CleanStep, k StrictStep) map[string]string {
	row := map[string]string{
		"step": strconv.Itoa(i), "class": k.Class, "group": k.Group, "path": "", "path_class": "", "range": "", "n_tokens": "", "actions": "",
		"release": string(s.State.Stage.Letter()), "clean": string(s.Stage.Letter()),
	}
	if k.Class == "term" {
		row["n_tokens"] = strconv.Itoa(k.Tokens())
		var kinds []string
		for _, a := range s.Actions {
			kinds = append(kinds, a.Kind.String())
		}
		row["actions"] = strings.Join(kinds, ",")
	} else if k.Path != "" {
		row["path"] = k.Path
		if s.Class != shell.ClassNone {
			row["path_class"] = s.Class.String()
		}
	}
	if k.Lines.Valid {
		row["range"] = fmt.Sprintf("%d-%d", k.Lines.Start, k.Lines.End)
	}
	return row
}

func equalRows(got, want map[string]string) bool {
	for name, v := range got {
		if want[name] != v {
			return false
		}
	}
	return len(got) == len(want)-1 // all columns but the trajectory's id
}

var _ = rapid.Check
var _ trajectory.Stage
