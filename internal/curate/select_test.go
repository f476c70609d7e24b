package curate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

func valid() *dialogue {
	return &dialogue{finished: true, messages: []message{
		{role: "user", content: "task"},
		{role: "assistant", calls: []call{{"a", "read_file", `{"filePath":"x"}`}, {"b", "list_dir", `{}`}}},
		{role: "tool", callID: "a", tool: "read_file"},
		{role: "tool", callID: "b", tool: "list_dir"},
		{role: "assistant", calls: []call{{"f", "finish", `{}`}}},
	}}
}

func TestCheck(t *testing.T) {
	if err := valid().check("required"); err != nil {
		t.Fatal(err)
	}
	open := valid()
	open.messages, open.finished = open.messages[:4], false
	if err := open.check("any"); err != nil {
		t.Error(err)
	}
	if err := open.check("required"); err == nil || !strings.HasPrefix(err.Error(), "no_finish") {
		t.Errorf("without a finish: %v", err)
	}
	for name, c := range map[string]struct {
		want  string
		spoil func(*dialogue)
	}{
		"no task":           {"bad_roles", func(d *dialogue) { d.messages = d.messages[1:] }},
		"a second task":     {"bad_roles", func(d *dialogue) { d.messages = slices.Insert(d.messages, 4, message{role: "user"}) }},
		"swapped answers":   {"bad_roles", func(d *dialogue) { d.messages[2], d.messages[3] = d.messages[3], d.messages[2] }},
		"a missing answer":  {"bad_roles", func(d *dialogue) { d.messages = slices.Delete(d.messages, 3, 4) }},
		"a surplus answer":  {"bad_roles", func(d *dialogue) { d.messages = slices.Insert(d.messages, 4, d.messages[3]) }},
		"another tool":      {"bad_roles", func(d *dialogue) { d.messages[2].tool = "list_dir" }},
		"no calls":          {"bad_roles", func(d *dialogue) { d.messages[4].calls = nil }},
		"one id twice":      {"bad_ids", func(d *dialogue) { d.messages[4].calls[0].id = "a" }},
		"an unknown tool":   {"unknown_tool", func(d *dialogue) { d.messages[1].calls[0].tool = "teleport" }},
		"no JSON":           {"bad_arguments", func(d *dialogue) { d.messages[1].calls[0].arguments = `{"a":` }},
		"an array":          {"bad_arguments", func(d *dialogue) { d.messages[1].calls[0].arguments = `[]` }},
		"the finish is cut": {"no_finish", func(d *dialogue) { d.messages = d.messages[:4] }},
	} {
		d := valid()
		c.spoil(d)
		var no *rejection
		if err := d.check("required"); !errors.As(err, &no) || no.code != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestDeduplicate(t *testing.T) {
	score := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		dedup float64
		want  string
	}{{1, "a- b:duplicate:c c- d- e-"}, {0.5, "a- b:duplicate:c c- d:near_duplicate:c e-"}} {
		rules := DefaultRules()
		rules.Dedup = c.dedup
		runs := []*run{
			{id: "a", task: "t1", outcome: "pass"},
			{id: "b", task: "t2", outcome: "fail", score: score(90)},
			{id: "c", task: "t2", outcome: "pass", score: score(10)},
			{id: "d", task: "t2", outcome: "pass", score: score(5)},
			{id: "e", task: "t2", outcome: "pass", score: score(1)},
		}
		seq := map[string][]uint64{"a": {1, 2, 3, 4, 5}, "b": {1, 2, 3, 4, 5}, "c": {1, 2, 3, 4, 5}, "d": {1, 2, 3, 4, 6}, "e": {9, 8, 7, 6}}
		s := selection{rules: &rules, left: slices.Clone(runs)}
		s.deduplicate(seq)
		var got []string
		for _, x := range runs {
			text := x.id + "-"
			if x.reason != "" {
				text = x.id + ":" + x.reason + ":" + x.detail
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("dedup %v: %s, want %s", c.dedup, text, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	rules := DefaultRules()
	rules.Eval = 0.25
	n := 0
	for i := range 4000 {
		if rules.evaluation(&run{task: fmt.Sprint("task-", i)}) {
			n++
		}
	}
	if n < 900 || n > 1100 {
		t.Errorf("%d of 4000 tasks in a split of a quarter", n)
	}
	s := selection{rules: &rules}
	for i := range 40 {
		s.left = append(s.left, &run{task: fmt.Sprint("task-", i), donor: i%2 == 0})
	}
	s.split()
	for _, x := range s.left {
		if x.donor && rules.evaluation(x) {
			t.Errorf("donor of %s is in the evaluation split", x.task)
		}
	}
	if len(s.left) == 40 {
		t.Error("no donor was left out")
	}
}

func TestVerifiedBy(t *testing.T) {
	for stages, want := range map[string]bool{"": false, "-EEV": false, "-EIV": true, "-EVI": false, "-IVIEO": false, "-IVIEV": true} {
		if verifiedBy(stages) != want {
			t.Errorf("%s: %v", stages, !want)
		}
	}
}

// A hundred thousand runs of 500 tasks, with ten steps each.
func BenchmarkDryRun(b *testing.B) {
	const runs, steps = 100_000, 10
	dir := b.TempDir()
	w, err := store.Create(dir, []string{"release"})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	tools := []string{"read_file", "run_in_terminal", "replace_string_in_file"}
	check(w.Append("models", "", []schema.Model{{Model: "m"}}))
	yes := true
	for i := range runs {
		task, id := fmt.Sprintf("task-%03d", i/200), fmt.Sprintf("task-%03d-run-%06d", i/200, i)
		if i%200 == 0 {
			check(w.Append("tasks", "", []schema.Task{{TaskID: task}}))
		}
		score, waste, tier := int64(i*7919%101), float64(i%40)/100, []string{"ideal", "solid", "lucky"}[i%3]
		coherence, n := float64(i%100)/100, int64(steps)
		states := make([]schema.State, steps)
		for j := range states {
			tool, file := tools[(i+j)%3], fmt.Sprintf("src/file%d.py", i*j%90)
			states[j] = schema.State{TrajectoryID: id, Step: int64(j), Tool: &tool, FilePath: &file}
		}
		check(errors.Join(
			w.Append("trajectories", "", []schema.Trajectory{{TrajectoryID: id, TaskID: task, Model: "m", Outcome: "pass", Passed: &yes, NStates: steps, StagesClean: "-EEEIEEEVV"}}),
			w.Append("states", "", states),
			w.Append("features", "release", []schema.Features{{TaskID: task, Model: "m", TrajectoryID: id, Passed: &yes, NStates: &n, QualityScore: &score, WasteSeverity: &waste, CoherenceScore: &coherence}}),
			w.Append("tiers", "release", []schema.Tier{{TrajectoryID: id, Tier: &tier}}),
		))
	}
	_, err = w.Finish()
	check(err)
	check(os.WriteFile(filepath.Join(dir, "manifest.json"), fmt.Appendf(nil, `{"schema_version": %d, "parameters": {"profiles": ["release"]}}`, schema.Version), 0o644))
	check(checksum.Write(dir))
	rules := DefaultRules()
	limit := 0.2
	rules.Target, rules.Tiers, rules.MaxWaste, rules.Verified, rules.PerTask, rules.Dedup, rules.Eval = "ids", []string{"ideal", "solid"}, &limit, true, 5, 1, 0.1
	for b.Loop() {
		res, err := Run(b.Context(), dir, Options{Rules: rules, DryRun: true})
		check(err)
		b.ReportMetric(float64(res.Funnel[0].In), "runs")
		b.ReportMetric(float64(res.Selection.Runs), "taken")
	}
}
