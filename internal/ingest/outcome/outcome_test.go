package outcome_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// said writes evidence of a record as "key outcome/detail rank", sorted.
func said(t *testing.T, file, data string) []string {
	t.Helper()
	p := format.NewProbe(file, []byte(data))
	for _, f := range outcome.Formats() {
		if _, ok := f.Detect(p); !ok {
			continue
		}
		if f.Skip != "" {
			return []string{"skip"}
		}
		items, err := f.Read(format.Record{File: file, Data: []byte(data), Probe: p})
		if err != nil {
			return []string{err.Error()}
		}
		var out []string
		for _, i := range items {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s/%s", i.Evidence.Key, i.Evidence.Outcome, i.Evidence.Detail), "/"))
		}
		return out
	}
	return nil
}

func TestReports(t *testing.T) {
	for _, c := range []struct {
		name, file, data string
		want             []string
	}{
		{"nested pass", "r/report.json", `{"a__b-1": {"patch_is_None": false, "patch_exists": true, "resolved": true}}`, []string{"a__b-1 pass"}},
		{"nested, several", "report.json", `{"a-2": {"resolved": false, "patch_exists": true}, "a-1": {"resolved": true, "patch_exists": true}}`, []string{"a-1 pass", "a-2 fail"}},
		{"flat", "logs/a__b-1/report.json", `{"patch_exists": true, "resolved": false, "tests_status": {}}`, []string{"a__b-1 fail"}},
		{"flat without a folder", "report.json", `{"patch_exists": true, "resolved": false}`, []string{"a report without an instance id: it is expected in a folder named after the instance; give the folder above as the source, or use option labels"}},
		{"empty patch", "i/report.json", `{"patch_is_None": true, "patch_exists": false, "resolved": false}`, []string{"i fail/empty_patch"}},
		{"not applied", "i/report.json", `{"patch_exists": true, "patch_successfully_applied": false, "resolved": false}`, []string{"i fail/patch_failed"}},
		{"infrastructure", "i/report.json", `{"patch_exists": true, "resolved": false, "infra_failure": true}`, []string{"i unknown/infrastructure"}},
		{"null", "i/report.json", `{"patch_exists": true, "resolved": null}`, []string{"i unknown/incomplete"}},

		{"eval line", "o.swebench_eval.jsonl", `{"instance_id": "i", "test_result": {"report": {"resolved": true}}}`, []string{"i pass"}},
		{"eval line, top report", "o.swebench_eval.jsonl", `{"instance_id": "i", "report": {"resolved": false}}`, []string{"i fail"}},
		{"eval line, empty", "o.swebench_eval.jsonl", `{"instance_id": "i", "test_result": {"report": {"empty_generation": true, "resolved": false}}}`, []string{"i fail/empty_patch"}},
		{"eval line, harness", "o.swebench_eval.jsonl", `{"instance_id": "i", "test_result": {"report": {"error_eval": true, "resolved": false}}}`, []string{"i unknown/harness_error"}},
		{"eval line, timeout", "o.swebench_eval.jsonl", `{"instance_id": "i", "test_result": {"report": {"test_timeout": true, "resolved": false}}}`, []string{"i unknown/timeout"}},
		{"eval line, not applied", "o.swebench_eval.jsonl", `{"instance_id": "i", "test_result": {"report": {"failed_apply_patch": true, "resolved": false}}}`, []string{"i fail/patch_failed"}},
		{"eval line without report", "o.swebench_eval.jsonl", `{"instance_id": "i", "test_result": {"git_patch": "x"}}`, []string{"i unknown/incomplete"}},
		{"eval line without patch", "o.swebench_eval.jsonl", `{"instance_id": "i", "test_result": {"git_patch": " "}}`, []string{"i fail/empty_patch"}},
		{"the same under another name", "output.jsonl", `{"instance_id": "i", "test_result": {"report": {"resolved": true}}}`, nil},

		{"summary", "m.run.json", `{"schema_version": 2, "resolved_ids": ["a"], "unresolved_ids": ["b", "c"], "empty_patch_ids": ["c"], "error_ids": ["d"], "incomplete_ids": ["e"], "infra_failure_ids": ["f", "b"], "completed_ids": ["a", "b", "z"]}`,
			[]string{"a pass", "b unknown/infrastructure", "c fail/empty_patch", "d unknown/harness_error", "e unknown/incomplete", "f unknown/infrastructure"}},
		{"sb-cli", "s.json", `{"resolved_ids": [], "pending_ids": ["a"], "failed_ids": ["b"], "unresolved_ids": null}`, []string{"a unknown/incomplete", "b unknown/harness_error"}},
		{"results", "results.json", `{"resolved": ["a"], "generated": ["a", "b", "c"], "with_logs": ["a", "b"], "no_generation": ["d"], "no_logs": ["c"], "install_fail": ["b"], "applied": ["a"]}`,
			[]string{"a pass", "b unknown/infrastructure", "c unknown/incomplete", "d fail/empty_patch"}},
		{"predictions", "preds.json", `{"i": {"instance_id": "i", "model_name_or_path": "m", "model_patch": "p"}}`, []string{"skip"}},
		{"predictions by line", "p.jsonl", `{"instance_id": "i", "model_name_or_path": "m", "model_patch": "p"}`, []string{"skip"}},
		{"metadata", "metadata.json", `{"agent_class": "CodeActAgent", "llm_config": {}}`, []string{"skip"}},
		{"anything", "x.json", `{"resolved": true}`, nil},
		{"an array", "x.json", `[1]`, nil},
	} {
		if got := said(t, c.file, c.data); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRealReports(t *testing.T) {
	data := conformance.Read(t, "fixtures", "mini-sweagent", "results.json")
	if got := said(t, "results.json", string(data)); !slices.Equal(got, []string{"skip"}) {
		t.Errorf("%q", got)
	}
}

func labels(t *testing.T, name, data string) ([]format.Evidence, error) {
	t.Helper()
	return outcome.ReadLabels(filepath.Join("dir", name), []byte(data))
}

func TestLabels(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"csv", "trajectory_id,passed\na,true\nb,False\nc,1\nd,0\ne,pass\nf,FAIL\ng,unknown\n", "a=pass b=fail c=pass d=fail e=pass f=fail g=unknown"},
		{"mark and CRLF", "\ufeffinstance_id,passed\r\na,true\r\n\r\nb,fail\r\n", "a=pass b=fail"},
		{"other columns, other order", "note,passed,instance_id,model\n\"x, y\",1,a,m\n,0,a,n\n", "a@m=pass a@n=fail"},
		{"both ids", "trajectory_id,instance_id,passed\nt,i,1\n,i,0\n", "t=pass i=fail"},
		{"repeated", "instance_id,passed\na,1\na,true\n", "a=pass"},
		{"JSON Lines", "{\"trajectory_id\":\"a\",\"passed\":true}\n\n{\"instance_id\":\"b\",\"passed\":0}\r\n{\"instance_id\":\"c\",\"passed\":\"fail\",\"model\":\"m\"}", "a=pass b=fail c@m=fail"},
	} {
		got, err := labels(t, "labels", c.data)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var text []string
		for _, e := range got {
			if e.Rank != format.RankLabels || e.Source != "labels" || e.SourceNo != 0 {
				t.Errorf("%s: %+v", c.name, e)
			}
			id := e.Key
			if e.Model != "" {
				id += "@" + e.Model
			}
			text = append(text, id+"="+e.Outcome.String())
		}
		if s := strings.Join(text, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

func TestBadLabels(t *testing.T) {
	for _, c := range []struct {
		name, data string
		lines      []int64
	}{
		{"empty", "", []int64{1}},
		{"header only", "instance_id,passed\n", []int64{1}},
		{"wrong header", "id,ok\na,1\n", []int64{1}},
		{"values", "instance_id,passed\na,yes\nb,1\nc,\n", []int64{2, 4}},
		{"no id", "instance_id,passed\n,1\n", []int64{2}},
		{"short row", "instance_id,passed,x\na,1\n", []int64{2}},
		{"contradiction", "instance_id,passed\na,1\nb,0\na,0\n", []int64{4}},
		{"open quote", "instance_id,passed\na,1\n\"b,0\n", []int64{3}},
		{"repeated column", "instance_id,passed,passed\na,1,0\n", []int64{1}},
		{"JSON", "{\"instance_id\":\"a\",\"passed\":true}\n{\"instance_id\":\n{\"instance_id\":\"b\"}\n", []int64{2, 3}},
	} {
		_, err := labels(t, "labels.csv", c.data)
		var bad *outcome.LabelsError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var lines []int64
		for _, r := range bad.Rows {
			lines = append(lines, r.Line)
			if want := fmt.Sprintf("line %d: ", r.Line); !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.name, err, want)
			}
		}
		if !slices.Equal(lines, c.lines) {
			t.Errorf("%s: lines %v, want %v: %v", c.name, lines, c.lines, err)
		}
	}
}

func ev(key string, rank format.Rank, o trajectory.Outcome, file string) format.Evidence {
	return format.Evidence{Key: key, Rank: rank, Outcome: o, Source: fmt.Sprintf("rank %d", rank), File: file, SourceNo: 1}
}

// TestPrecedence has every pair of ranks contradict each other.
func TestPrecedence(t *testing.T) {
	for high := format.RankLabels; high <= format.RankFileName; high++ {
		for low := high; low <= format.RankFileName; low++ {
			x := outcome.NewIndex()
			x.Add(ev("t", low, trajectory.Fail, "b"))
			x.Add(ev("t", high, trajectory.Pass, "a"))
			got := x.Resolve("t", "i", "m")
			want := trajectory.Pass
			if high == low {
				want = trajectory.Unknown
			}
			if got.Outcome != want || len(got.Warnings) != 1 || got.Warnings[0].Code != outcome.WarnConflict {
				t.Errorf("%d against %d: %+v", high, low, got)
			}
			if got.Source != fmt.Sprintf("rank %d", high) {
				t.Errorf("%d against %d: source %s", high, low, got.Source)
			}
		}
	}
	x := outcome.NewIndex()
	if got := x.Resolve("t", "i", "m"); !reflect.DeepEqual(got, outcome.Resolved{}) {
		t.Errorf("without evidence: %+v", got)
	}
	harness := ev("t", format.RankReportFile, trajectory.Unknown, "a")
	harness.Detail = outcome.HarnessError
	x.Add(harness)
	x.Add(ev("t", format.RankFileName, trajectory.Pass, "b"))
	if got := x.Resolve("t", "i", "m"); got.Outcome != trajectory.Unknown || got.Detail != outcome.HarnessError || len(got.Warnings) != 1 {
		t.Errorf("a failed harness: %+v", got)
	}
}

// TestNearest binds files that name instances to the runs they stand beside.
func TestNearest(t *testing.T) {
	type at struct {
		id, model, file string
		source          int
	}
	for _, c := range []struct {
		name     string
		runs     []at
		evidence []format.Evidence
		want     string
	}{
		{"beside", []at{{"a", "m", "a/output.jsonl", 1}, {"b", "n", "b/output.jsonl", 1}},
			[]format.Evidence{ev("i", format.RankSummary, trajectory.Pass, "a/report.json"), ev("i", format.RankSummary, trajectory.Fail, "b/report.json")}, "a=pass b=fail"},
		{"only one has a report", []at{{"a", "m", "a/output.jsonl", 1}, {"b", "n", "b/output.jsonl", 1}},
			[]format.Evidence{ev("i", format.RankSummary, trajectory.Pass, "a/report.json")}, "a=pass b=unknown"},
		{"below and above", []at{{"a", "m", "a/trajs/i/i.json", 1}, {"b", "n", "b/trajs/i/i.json", 1}},
			[]format.Evidence{ev("i", format.RankReportFile, trajectory.Fail, "a/logs/i/report.json"), ev("i", format.RankSummary, trajectory.Pass, "b/results.json")}, "a=fail b=pass"},
		{"folders named after the model", []at{{"a", "x/m", "trajs/1.json", 1}, {"b", "x/n", "trajs/2.json", 1}},
			[]format.Evidence{ev("i", format.RankReportFile, trajectory.Pass, "logs/x__n/i/report.json")}, "a=unknown b=pass"},
		{"folders of one name", []at{{"a", "", "trajs/m/1.json", 1}, {"b", "", "trajs/n/2.json", 1}},
			[]format.Evidence{ev("i", format.RankReportFile, trajectory.Pass, "logs/m/i/report.json")}, "a=pass b=unknown"},
		{"equally near", []at{{"a", "m", "1.json", 1}, {"b", "n", "2.json", 1}},
			[]format.Evidence{ev("i", format.RankSummary, trajectory.Pass, "report.json")}, "a=unknown+ambiguous_evidence b=unknown+ambiguous_evidence"},
		{"another source", []at{{"a", "m", "1.json", 1}, {"b", "n", "2.json", 2}},
			[]format.Evidence{ev("i", format.RankSummary, trajectory.Pass, "report.json")}, "a=pass b=unknown"},
		{"a source of reports alone", []at{{"a", "m", "1.json", 1}},
			[]format.Evidence{{Key: "i", Rank: format.RankReportFile, Outcome: trajectory.Pass, File: "logs/i/report.json"}}, "a=pass"},
		{"a model named", []at{{"a", "m", "1.json", 1}, {"b", "n", "2.json", 1}},
			[]format.Evidence{{Key: "i", Model: "n", Rank: format.RankColumn, Outcome: trajectory.Pass, File: "labels.csv", SourceNo: 1}}, "a=unknown b=pass"},
		{"labels speak about all", []at{{"a", "m", "1.json", 1}, {"b", "n", "2.json", 2}},
			[]format.Evidence{{Key: "i", Rank: format.RankLabels, Outcome: trajectory.Pass}}, "a=pass b=pass"},
		{"own evidence and a report", []at{{"a", "m", "a/1.json", 1}},
			[]format.Evidence{ev("a", format.RankFileName, trajectory.Fail, "a/1.json"), ev("i", format.RankReportFile, trajectory.Pass, "a/i/report.json")}, "a=pass+outcome_conflict"},
	} {
		x := outcome.NewIndex()
		for _, e := range c.evidence {
			x.Add(e)
		}
		for _, r := range c.runs {
			x.AddRun(&trajectory.Trajectory{ID: r.id, TaskID: "i", Model: r.model, SourceFile: r.file, SourceNo: r.source})
		}
		var got []string
		for _, r := range c.runs {
			resolved := x.Resolve(r.id, "i", r.model)
			text := r.id + "=" + resolved.Outcome.String()
			for _, w := range resolved.Warnings {
				text += "+" + w.Code
			}
			got = append(got, text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// TestOrderDoesNotMatter shuffles evidence and runs.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SampledFrom([]string{"x", "a/x", "a/b/x", "c/x", "c/m/x", "m/x"})
		var evidence []format.Evidence
		for range rapid.IntRange(0, 8).Draw(t, "evidence") {
			evidence = append(evidence, format.Evidence{
				Key:      rapid.SampledFrom([]string{"t1", "t2", "i", "j"}).Draw(t, "key"),
				Model:    rapid.SampledFrom([]string{"", "m", "n"}).Draw(t, "model"),
				Rank:     format.Rank(rapid.IntRange(1, 7).Draw(t, "rank")),
				Outcome:  trajectory.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome")),
				Source:   rapid.SampledFrom([]string{"s", "r"}).Draw(t, "source"),
				Detail:   rapid.SampledFrom([]string{"", "d"}).Draw(t, "detail"),
				File:     files.Draw(t, "file"),
				SourceNo: rapid.IntRange(0, 2).Draw(t, "source number"),
			})
		}
		var runs []trajectory.Trajectory
		for n := range rapid.IntRange(1, 4).Draw(t, "runs") {
			runs = append(runs, trajectory.Trajectory{
				ID: fmt.Sprintf("t%d", n), TaskID: rapid.SampledFrom([]string{"i", "j"}).Draw(t, "task"),
				Model: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "run model"), SourceFile: files.Draw(t, "run file"),
				SourceNo: rapid.IntRange(1, 2).Draw(t, "run source"),
			})
		}
		resolve := func() map[string]outcome.Resolved {
			x := outcome.NewIndex()
			for _, e := range evidence {
				x.Add(e)
			}
			for i := range runs {
				x.AddRun(&runs[i])
			}
			out := map[string]outcome.Resolved{}
			for _, r := range runs {
				out[r.ID] = x.Resolve(r.ID, r.TaskID, r.Model)
			}
			return out
		}
		want := resolve()
		seed := rapid.Uint64().Draw(t, "seed")
		shuffle := rand.New(rand.NewPCG(seed, 1))
		shuffle.Shuffle(len(evidence), func(i, j int) { evidence[i], evidence[j] = evidence[j], evidence[i] })
		shuffle.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		if got := resolve(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

func TestUnusedLabels(t *testing.T) {
	x := outcome.NewIndex()
	for _, key := range []string{"task", "run", "typo", "other"} {
		x.Add(format.Evidence{Key: key, Rank: format.RankLabels, Outcome: trajectory.Pass})
	}
	x.Add(format.Evidence{Key: "published only", Rank: format.RankColumn})
	x.AddRun(&trajectory.Trajectory{ID: "run", TaskID: "task"})
	if got := x.Unused(); !slices.Equal(got, []string{"other", "typo"}) {
		t.Errorf("%q", got)
	}
}

// BenchmarkResolve settles 20,000 runs of 10 tasks, each with a report of its own.
func BenchmarkResolve(b *testing.B) {
	for b.Loop() {
		x := outcome.NewIndex()
		var runs []trajectory.Trajectory
		for n := range 20_000 {
			task := fmt.Sprintf("t%d", n%10)
			dir := fmt.Sprintf("run%d", n/10)
			runs = append(runs, trajectory.Trajectory{ID: fmt.Sprint(n), TaskID: task, Model: "m", SourceFile: "trajs/" + dir + "/" + task + "/x.json", SourceNo: 1})
			x.AddRun(&runs[n])
			x.Add(ev(task, format.RankReportFile, trajectory.Pass, "logs/"+dir+"/"+task+"/report.json"))
		}
		for _, r := range runs {
			if v := x.Resolve(r.ID, r.TaskID, r.Model); v.Outcome != trajectory.Pass {
				b.Fatal(v)
			}
		}
	}
}

func FuzzLabels(f *testing.F) {
	for _, seed := range []string{
		"trajectory_id,passed\na,true\n", "\ufeffinstance_id,model,passed\r\n\"a\nb\",m,0\r\n",
		"{\"instance_id\":\"a\",\"passed\":1}\n", "{", "\"", "instance_id,passed\na\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items := outcome.ReadTable(format.Record{File: "labels.csv", Data: data})
		if len(items) == 0 {
			t.Error("neither rows nor a complaint")
		}
		for _, i := range items {
			if (i.Evidence == nil) == (i.Refused == nil) {
				t.Errorf("%+v", i)
			}
			if e := i.Evidence; e != nil && e.Key == "" {
				t.Error("evidence about nothing")
			}
			if e := i.Refused; e != nil && e.Line < 0 {
				t.Errorf("line %d", e.Line)
			}
		}
	})
}

func FuzzReports(f *testing.F) {
	for _, seed := range []string{
		`{"a": {"resolved": true, "patch_exists": true}}`, `{"resolved": true, "tests_status": {}}`,
		`{"resolved_ids": ["a"], "error_ids": null}`, `{"resolved": ["a"], "generated": ["a"]}`,
		`{"instance_id": "a", "report": {"resolved": false}}`, `{"a": 1}`, `[]`, `{"resolved_ids": [1]}`,
	} {
		f.Add("d/report.json", []byte(seed))
		f.Add("x.swebench_eval.jsonl", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		p := format.NewProbe(file, data)
		for _, r := range outcome.Formats() {
			if _, ok := r.Detect(p); !ok || r.Skip != "" {
				continue
			}
			items, err := r.Read(format.Record{File: file, Data: data, Probe: p})
			if err == nil && format.Check(data) != nil {
				t.Errorf("%s reads what is no JSON", r.ID)
			}
			if !slices.IsSortedFunc(items, func(a, b format.Item) int { return cmp.Compare(a.Evidence.Key, b.Evidence.Key) }) {
				t.Errorf("%s: not sorted", r.ID)
			}
		}
	})
}

func TestLabelOfTheRunBeatsThatOfItsTask(t *testing.T) {
	x := outcome.NewIndex()
	x.Add(format.Evidence{Key: "task", Rank: format.RankLabels, Outcome: trajectory.Fail, Source: "labels"})
	x.Add(format.Evidence{Key: "one", Rank: format.RankLabels, Outcome: trajectory.Pass, Source: "labels"})
	for _, id := range []string{"one", "two"} {
		x.AddRun(&trajectory.Trajectory{ID: id, TaskID: "task", Model: "m"})
	}
	for id, want := range map[string]trajectory.Outcome{"one": trajectory.Pass, "two": trajectory.Fail} {
		if got := x.Resolve(id, "task", "m"); got.Outcome != want || len(got.Warnings) > 0 {
			t.Errorf("run %s: %+v, want %s", id, got, want)
		}
	}
}
