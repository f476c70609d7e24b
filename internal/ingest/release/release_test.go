package release_test

import (
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/release"
	"github.com/agentlens-bench/agentlens/schema"
)

func TestPath(t *testing.T) {
	for file, want := range map[string]string{
		"trajectories/t/x_pta.json":                     "trajectories/t/x_pta.json",
		"agentlens-bench/trajectories/t/x_pta.json":     "trajectories/t/x_pta.json",
		"a/b/annotations/tasks.csv":                     "annotations/tasks.csv",
		"r/ground_truth/t_merged_pta.json":              "ground_truth/t_merged_pta.json",
		"trajectories/trajectories/t/x_pta.json":        "trajectories/t/x_pta.json",
		"nebius/trajectories/t/x.json":                  "nebius/trajectories/t/x.json",
		"a/trajectories/x_pta.json":                     "a/trajectories/x_pta.json",
		"a/annotations/other.csv":                       "a/annotations/other.csv",
		"x.json":                                        "x.json",
		"annotations/deep/trajectories/t/x_pta.json":    "trajectories/t/x_pta.json",
		"r/analysis/t/x_pta_report.json":                "r/analysis/t/x_pta_report.json",
		"r/ground_truth/deep/t_merged_pta.json":         "r/ground_truth/deep/t_merged_pta.json",
		"r/annotations/trajectories/t/trajectories.csv": "r/annotations/trajectories/t/trajectories.csv",
	} {
		if got := release.Path(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

func readRecord(file, data string) ([]format.Item, error) {
	rec := format.Record{File: file, Data: []byte(data), Probe: format.NewProbe(file, []byte(data))}
	return release.Formats()[0].Read(rec)
}

// TestFileNames reads the same automaton under many names.
func TestFileNames(t *testing.T) {
	const bare = `{"initial_state": "s", "states": {"s": {"step": 0}}, "transitions": []}`
	for _, c := range []struct{ file, want string }{
		{"trajectories/a__b-1/a__b-1-logs-gpt-4.1-pass-12_pta.json", "a__b-1-logs-gpt-4.1-pass-12_pta a__b-1 gpt-4.1 pass"},
		{"x/a-logs-m-fail-1_pta.json", "a-logs-m-fail-1_pta a m fail"},
		{"x/a-logs-m-maybe-1_pta.json", "a-logs-m-maybe-1_pta x  -"},
		{"x/a-logs-m-pass-_pta.json", "a-logs-m-pass-_pta x  -"},
		{"x/a-logs--pass-1_pta.json", "a-logs--pass-1_pta x  -"},
		{"x/-logs-m-pass-1_pta.json", "-logs-m-pass-1_pta x  -"},
		{"x/plain.json", "plain x  -"},
		{"plain.json", "no_task"},
	} {
		items, err := readRecord(c.file, bare)
		if got := identity(items, err); got != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
	}
}

// identity is what was read of a run: id, task, model and outcome, or the code of the error.
func identity(items []format.Item, err error) string {
	if err != nil {
		return err.(*format.RecordError).Code
	}
	tr, outcome := items[0].Trajectory, "-"
	if len(items) > 1 {
		outcome = items[1].Evidence.Outcome.String()
	}
	return fmt.Sprintf("%s %s %s %s", tr.ID, tr.TaskID, tr.Model, outcome)
}

// TestLines reads runs that stand line by line in one file.
func TestLines(t *testing.T) {
	for _, c := range []struct{ metadata, want string }{
		{`"trajectory_id": "a-logs-m-1.2-fail-7.zip"`, "a-logs-m-1.2-fail-7_pta a m-1.2 fail"},
		{`"trajectory_id": "a-logs-m-fail-7_pta", "source_path": "C:\\x\\b-logs-m-pass-8\\y.json"`, "a-logs-m-fail-7_pta a m fail"},
		{`"trajectory_id": "run 7.zip", "task_name": "a", "model_name": "n"`, "run 7 a n -"},
		{`"trajectory_id": "run 7", "task_name": "a"`, "run 7 a  -"},
		{`"source_path": "C:\\Temp\\a__b-1\\a__b-1-logs-m-pass-8\\output\\t.json"`, "a__b-1-logs-m-pass-8_pta a__b-1 m pass"},
		{`"source_path": "/tmp/x/y.json", "task_name": "a", "model_name": "o/n"`, "a-o__n-3ea95d6f2ae0 a o/n -"},
		{`"task_name": "a"`, "a-unknown-b14fb2c3d19c a  -"},
		{`"pass_fail_status": ""`, "no_task"},
	} {
		line := fmt.Sprintf(`{"initial_state": "s", "states": {"s": {"step": 0}}, "transitions": [], "metadata": {%s}}`, c.metadata)
		items, err := release.Formats()[0].Read(format.Record{File: "all.jsonl", Line: 3, Data: []byte(line), Probe: format.NewProbe("all.jsonl", []byte(line))})
		if got := identity(items, err); got != c.want {
			t.Errorf("%s: %q, want %q", c.metadata, got, c.want)
		}
	}
}

func reference(edges [][2]int) string {
	states := map[string]any{}
	var transitions []map[string]string
	for _, e := range edges {
		from, to := fmt.Sprint("s", e[0]), fmt.Sprint("s", e[1])
		states[from], states[to] = map[string]any{}, map[string]any{}
		transitions = append(transitions, map[string]string{"from_state": from, "to_state": to})
	}
	text, err := stdjson.Marshal(map[string]any{
		"states": states, "transitions": transitions,
		"metadata": map[string]any{"source": "merger", "num_traces": 2, "real_terminal_ids": []string{"s1", "s1", "s2"}},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestReference(t *testing.T) {
	for _, c := range []struct {
		name  string
		edges [][2]int
		want  schema.PublishedReference
	}{
		{"chain", [][2]int{{0, 1}, {1, 2}}, schema.PublishedReference{NStates: 3, NTransitions: 2}},
		{"diamond", [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, schema.PublishedReference{NStates: 4, NTransitions: 4, NMultiParent: 1}},
		{"parallel edges", [][2]int{{0, 1}, {0, 1}}, schema.PublishedReference{NStates: 2, NTransitions: 2}},
		{"loop at one state", [][2]int{{0, 1}, {1, 1}}, schema.PublishedReference{NStates: 2, NTransitions: 2, NMultiParent: 1, HasCycle: true}},
		{"cycle behind", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 1}, {0, 4}}, schema.PublishedReference{NStates: 5, NTransitions: 5, NMultiParent: 1, HasCycle: true}},
	} {
		items, err := readRecord("ground_truth/t_merged_pta.json", reference(c.edges))
		if err != nil {
			t.Fatal(err)
		}
		c.want.TaskID, c.want.SourceFile, c.want.NTraces, c.want.NTerminals = "t", "ground_truth/t_merged_pta.json", 2, 2
		if got := *items[0].Reference; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if _, err := readRecord("merged.json", reference([][2]int{{0, 1}})); err == nil || !strings.Contains(err.Error(), "_merged_pta.json") {
		t.Errorf("without a task: %v", err)
	}
}

// TestCycles compares with a search for a way back to each state.
func TestCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edges := make([][2]int, rapid.IntRange(1, 10).Draw(t, "edges"))
		var reach [8][8]bool
		for i := range edges {
			edges[i] = [2]int{rapid.IntRange(0, 7).Draw(t, "from"), rapid.IntRange(0, 7).Draw(t, "to")}
			reach[edges[i][0]][edges[i][1]] = true
		}
		for k := range reach {
			for i := range reach {
				for j := range reach {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		want := false
		for i := range reach {
			want = want || reach[i][i]
		}
		items, err := readRecord("t_merged_pta.json", reference(edges))
		if err != nil {
			t.Fatal(err)
		}
		if got := items[0].Reference.HasCycle; got != want {
			t.Fatalf("%v, want %v for %v", got, want, edges)
		}
	})
}

func FuzzTrajectory(f *testing.F) {
	f.Add([]byte(`{"initial_state": "s0", "states": {"s0": {"state_id": "s0", "step": 0, "tool_used": null, "log_entry": null, "metadata": {"is_initial": true}}, "s1": {"step": 1.0, "line_range": [1, -1], "files_touched": ["a"], "intent_stage": "exploration", "log_entry": {"kind": "toolCall", "args": {"command": "undo_edit"}}}}, "transitions": [{"from_state": "s0", "to_state": "s1"}], "metadata": {"pass_fail_status": "failed"}}`))
	f.Add([]byte(`{"states": {}, "transitions": []}`))
	f.Add([]byte(`{"states": [], "transitions": {}}`))
	f.Add([]byte(`{"states": {"a": 1, "a": {}}, "transitions": [null]}`))
	f.Add([]byte(reference([][2]int{{0, 1}, {1, 0}})))
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := readRecord("t/x_merged_pta.json", string(data))
		if err != nil {
			if err, ok := err.(*format.RecordError); !ok || err.Code == "" {
				t.Errorf("%v", err)
			}
			return
		}
		if !stdjson.Valid(data) {
			t.Error("reads what is no JSON")
		}
		if tr := items[0].Trajectory; tr != nil {
			if tr.ID == "" || tr.TaskID == "" || len(tr.States) == 0 {
				t.Errorf("%+v", tr)
			}
			for _, s := range tr.States {
				if s.Log != nil && s.Log.Args.Raw != "" && !stdjson.Valid([]byte(s.Log.Args.Raw)) {
					t.Errorf("arguments %q", s.Log.Args.Raw)
				}
			}
		}
	})
}

func FuzzTables(f *testing.F) {
	f.Add([]byte("task_id,n_trajectories,n_passing,n_failing,n_donors,n_assessed,n_errors,merged_pta_states,merged_pta_transitions,elapsed_s\na,1,1,0,5,35,0,180,243,10.0\nb,,,,,,,,,\n"))
	f.Add([]byte("\ufeffx\r\n\"a"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec := format.Record{File: "annotations/x.csv", Data: data}
		for _, items := range [][]format.Item{release.ReadTasks(rec), release.ReadTrajectories(rec)} {
			for _, i := range items {
				if i.Task != nil && i.Task.TaskID == "" || i.Published != nil && i.Published.TrajectoryID == "" {
					t.Error("a row without a key")
				}
			}
			if !slices.ContainsFunc(items, func(i format.Item) bool { return i.Refused != nil }) && len(data) == 0 {
				t.Error("an empty table is no complaint")
			}
		}
	})
}
