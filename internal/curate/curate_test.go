package curate_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/curate"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/store"
)

func limits() ingest.Limits {
	return ingest.Limits{MaxRecordBytes: 1 << 28, MaxTotalBytes: 1 << 32, MaxEntries: 1 << 20, MaxRatio: 1000}
}

// built is the sample and the dataset made of it, once for all tests.
type built struct{ source, dir string }

var sample built

func TestMain(m *testing.M) {
	root, err := os.MkdirTemp("", "curate-test-")
	if err == nil {
		sample = built{filepath.Join(root, datasets.SampleName), filepath.Join(root, "dataset")}
		if err = os.WriteFile(sample.source, []byte(datasets.Sample()), 0o600); err == nil {
			err = build(sample.source, sample.dir, nil)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(root)
	os.Exit(code)
}

func build(source, dir string, profiles []profile.Profile) error {
	_, err := bench.Build(context.Background(), bench.Options{
		Sources: []string{source}, Out: dir, Profiles: profiles, Reference: profile.LeaveOneOut, K: 5, Observations: bench.ObservationsNone,
		Ingest: ingest.Options{Limits: limits()},
	})
	return err
}

func run(t *testing.T, b built, change func(*curate.Rules)) (string, curate.Result) {
	t.Helper()
	opt := curate.Options{Rules: curate.DefaultRules(), Sources: []string{b.source}, Out: filepath.Join(t.TempDir(), "set"), Jobs: 2, Limits: limits()}
	if change != nil {
		change(&opt.Rules)
	}
	res, err := curate.Run(t.Context(), b.dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return opt.Out, res
}

func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []map[string]any
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<26)
	for s.Scan() {
		var row map[string]any
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, row)
	}
	return out
}

// followed checks a dialogue by the rules of the chat format, knowing nothing of how it was
// made, and returns the number of its calls but for the finish.
func followed(messages []any, tools []any) (int, error) {
	declared := map[string]bool{}
	for _, x := range tools {
		tool := x.(map[string]any)
		if tool["type"] != "function" {
			return 0, fmt.Errorf("tool %v", tool)
		}
		declared[tool["function"].(map[string]any)["name"].(string)] = true
	}
	seen := map[string]bool{}
	var open []string
	calls, finished := 0, false
	for i, x := range messages {
		m := x.(map[string]any)
		role := m["role"]
		if (i == 0) != (role == "user") {
			return 0, fmt.Errorf("message %d has role %v", i, role)
		}
		switch role {
		case "user":
			if m["content"].(string) == "" {
				return 0, errors.New("no task")
			}
		case "assistant":
			if len(open) > 0 || finished {
				return 0, fmt.Errorf("message %d: unanswered %v, finished %v", i, open, finished)
			}
			made, _ := m["tool_calls"].([]any)
			if len(made) == 0 {
				return 0, fmt.Errorf("message %d has no call", i)
			}
			for _, x := range made {
				call := x.(map[string]any)
				id := call["id"].(string)
				f := call["function"].(map[string]any)
				if seen[id] || !declared[f["name"].(string)] || call["type"] != "function" {
					return 0, fmt.Errorf("message %d: call %v", i, call)
				}
				seen[id] = true
				var arguments map[string]any
				if err := json.Unmarshal([]byte(f["arguments"].(string)), &arguments); err != nil {
					return 0, fmt.Errorf("message %d: %w", i, err)
				}
				if finished = f["name"] == "finish"; finished {
					continue
				}
				calls++
				open = append(open, id)
			}
		case "tool":
			if len(open) == 0 || open[0] != m["tool_call_id"] {
				return 0, fmt.Errorf("message %d answers %v, open are %v", i, m["tool_call_id"], open)
			}
			open = open[1:]
		default:
			return 0, fmt.Errorf("role %v", role)
		}
	}
	if len(open) > 0 || !finished {
		return 0, fmt.Errorf("ends with open calls %v, finished %v", open, finished)
	}
	return calls, nil
}

func TestChat(t *testing.T) {
	out, res := run(t, sample, nil)
	rows, ids := lines(t, filepath.Join(out, "train.jsonl")), lines(t, filepath.Join(out, "ids.jsonl"))
	if len(rows) < 50 || len(rows) != len(ids) || len(rows) != res.Selection.Runs {
		t.Fatalf("%d rows, %d ids, %d runs", len(rows), len(ids), res.Selection.Runs)
	}
	db, err := store.Open(t.Context(), sample.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, row := range rows {
		calls, err := followed(row["messages"].([]any), row["tools"].([]any))
		if err != nil {
			t.Errorf("row %d: %v", i+1, err)
		}
		var want int
		if err := db.QueryRow("SELECT count(tool) FROM states WHERE trajectory_id = ?", ids[i]["trajectory_id"]).Scan(&want); err != nil {
			t.Fatal(err)
		}
		if calls != want {
			t.Errorf("%s has %d calls, its run %d", ids[i]["trajectory_id"], calls, want)
		}
		if ids[i]["line"].(float64) != float64(i+1) {
			t.Errorf("row %d is line %v", i+1, ids[i]["line"])
		}
	}
	if res.Cut != 0 || !strings.HasPrefix(res.Texts, "whole") {
		t.Errorf("cut %d, texts %q", res.Cut, res.Texts)
	}
}

func TestSameBytes(t *testing.T) {
	for _, target := range curate.Targets() {
		var sums [2]string
		for i := range sums {
			opt := curate.Options{Rules: curate.DefaultRules(), Sources: []string{sample.source}, Out: filepath.Join(t.TempDir(), "set"), Jobs: 1 + 2*i, Limits: limits()}
			opt.Rules.Target, opt.Rules.Eval, opt.Rules.PerTask = target, 0.4, 6
			if _, err := curate.Run(t.Context(), sample.dir, opt); err != nil {
				t.Fatalf("%s: %v", target, err)
			}
			text, err := os.ReadFile(filepath.Join(opt.Out, "SHA256SUMS"))
			if err != nil {
				t.Fatal(err)
			}
			sums[i] = string(text)
		}
		if sums[0] != sums[1] {
			t.Errorf("%s: two sets differ:\n%s\n%s", target, sums[0], sums[1])
		}
	}
}

func TestPairs(t *testing.T) {
	out, _ := run(t, sample, func(r *curate.Rules) { r.Target, r.Tiers = "pairs", []string{"ideal", "solid"} })
	rows, ids := lines(t, filepath.Join(out, "train.jsonl")), lines(t, filepath.Join(out, "ids.jsonl"))
	if len(rows) == 0 {
		t.Fatal("no pairs")
	}
	for i, row := range rows {
		prompt := row["prompt"].([]any)
		for _, side := range []string{"chosen", "rejected"} {
			if _, err := followed(append(slices.Clone(prompt), row[side].([]any)...), row["tools"].([]any)); err != nil {
				t.Errorf("row %d %s: %v", i+1, side, err)
			}
		}
		task := ids[i]["task_id"].(string)
		if !strings.HasPrefix(ids[i]["paired_with"].(string), task) {
			t.Errorf("%v is paired with %v", task, ids[i]["paired_with"])
		}
	}
}

// Plain forms hold the same dialogues: roles take turns, and every call can be read back.
func TestPlainForms(t *testing.T) {
	for target, turns := range map[string]func(map[string]any) ([]string, []string){
		"messages": func(row map[string]any) (roles, texts []string) {
			for _, m := range row["messages"].([]any) {
				roles = append(roles, m.(map[string]any)["role"].(string))
				texts = append(texts, m.(map[string]any)["content"].(string))
			}
			return roles, texts
		},
		"sharegpt": func(row map[string]any) (roles, texts []string) {
			for _, m := range row["conversations"].([]any) {
				roles = append(roles, map[any]string{"human": "user", "gpt": "assistant", "tool": "user"}[m.(map[string]any)["from"]])
				texts = append(texts, m.(map[string]any)["value"].(string))
			}
			return roles, texts
		},
	} {
		out, _ := run(t, sample, func(r *curate.Rules) { r.Target, r.PerTask = target, 2 })
		for i, row := range lines(t, filepath.Join(out, "train.jsonl")) {
			roles, texts := turns(row)
			for j := range roles {
				if target == "messages" && roles[j] != []string{"user", "assistant"}[j%2] {
					t.Fatalf("%s row %d: roles %v", target, i+1, roles)
				}
				for k, part := range strings.Split(texts[j], "<tool_call>\n") {
					if k == 0 || roles[j] == "user" {
						continue
					}
					text, _, _ := strings.Cut(part, "\n</tool_call>")
					var call struct {
						Name      string         `json:"name"`
						Arguments map[string]any `json:"arguments"`
					}
					if err := json.Unmarshal([]byte(text), &call); err != nil || call.Name == "" {
						t.Fatalf("%s row %d: %q: %v", target, i+1, text, err)
					}
				}
			}
		}
	}
}

// The funnel adds up, whatever the rules, and every run is in the set or has a reason.
func TestFunnel(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		r := curate.DefaultRules()
		r.Target = rapid.SampledFrom([]string{"ids", "curriculum"}).Draw(t, "target")
		r.Profile = rapid.SampledFrom([]string{"release", "paper", "process"}).Draw(t, "profile")
		r.Outcome = rapid.SampledFrom([][]string{nil, {"pass"}, {"pass", "fail"}, {"unknown"}}).Draw(t, "outcome")
		r.Tiers = rapid.SampledFrom([][]string{nil, {"ideal", "solid"}, {"lucky", "off_track"}}).Draw(t, "tiers")
		r.Dedup = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "dedup")
		r.Verified = rapid.Bool().Draw(t, "verified")
		r.PerTask = rapid.IntRange(0, 6).Draw(t, "per task")
		r.PerModel = rapid.IntRange(0, 9).Draw(t, "per model")
		r.Balance = rapid.SampledFrom([]string{"", "task", "model"}).Draw(t, "balance")
		r.Eval = rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "eval")
		if r.Profile != "process" && rapid.Bool().Draw(t, "waste") {
			v := rapid.Float64Range(0, 0.5).Draw(t, "max waste")
			r.MaxWaste = &v
		}
		if r.K = rapid.IntRange(0, 30).Draw(t, "k"); r.K > 0 {
			r.Strategy = rapid.SampledFrom([]string{"random", "top"}).Draw(t, "strategy")
		}
		n++
		out := filepath.Join(root, fmt.Sprint(n))
		opt := curate.Options{Rules: r, Out: out}
		res, err := curate.Run(context.Background(), sample.dir, opt)
		empty := errors.Is(err, curate.ErrEmpty)
		if err != nil && !empty {
			t.Fatal(err)
		}
		have := datasets.SampleTasks * datasets.SampleModels * datasets.SampleRuns
		rejected := map[string]int{}
		for _, s := range res.Funnel {
			if s.In != have {
				t.Fatalf("%s begins with %d of %d", s.Name, s.In, have)
			}
			for _, reason := range s.Reasons {
				have -= reason.Runs
				rejected[reason.Code] += reason.Runs
			}
			if s.Out != have {
				t.Fatalf("%s ends with %d, want %d", s.Name, s.Out, have)
			}
		}
		if have != res.Selection.Runs {
			t.Fatalf("final %d, selected %d", have, res.Selection.Runs)
		}
		if empty != (have == 0) {
			t.Fatalf("%d runs and the error %v", have, err)
		}
		if empty {
			if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("an empty set has a folder: %v", err)
			}
			return
		}
		var reasons, ids []map[string]any
		for file, to := range map[string]*[]map[string]any{"rejected.jsonl": &reasons, "ids.jsonl": &ids} {
			text, err := os.ReadFile(filepath.Join(out, file))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				var row map[string]any
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err)
				}
				*to = append(*to, row)
			}
		}
		all := map[any]bool{}
		perTask, splits := map[any]int{}, map[any]any{}
		for _, row := range ids {
			all[row["trajectory_id"]] = true
			perTask[row["task_id"]]++
			if s, ok := splits[row["task_id"]]; ok && s != row["split"] {
				t.Fatalf("task %v is in both splits", row["task_id"])
			}
			splits[row["task_id"]] = row["split"]
			if r.PerTask > 0 && perTask[row["task_id"]] > r.PerTask {
				t.Fatalf("more than %d runs of %v", r.PerTask, row["task_id"])
			}
		}
		for _, row := range reasons {
			all[row["trajectory_id"]] = true
			rejected[row["reason"].(string)]--
		}
		if len(all) != len(ids)+len(reasons) || len(all) != datasets.SampleTasks*datasets.SampleModels*datasets.SampleRuns || len(ids) != have {
			t.Fatalf("%d runs in all: %d in the set, %d rejected", len(all), len(ids), len(reasons))
		}
		for code, left := range rejected {
			if left != 0 {
				t.Fatalf("reason %s: the funnel and rejected.jsonl differ by %d", code, left)
			}
		}
	})
}

func TestRewards(t *testing.T) {
	out, _ := run(t, sample, func(r *curate.Rules) {
		r.Target, r.Outcome, r.RewardAligned, r.RewardWasted, r.RewardOutcome = "rewards", []string{"pass", "fail"}, 1, -100, 10_000
	})
	db, err := store.Open(t.Context(), sample.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows := lines(t, filepath.Join(out, "train.jsonl"))
	if len(rows) < 100 {
		t.Fatalf("%d rows", len(rows))
	}
	wasted := 0.0
	for _, row := range rows {
		id := row["trajectory_id"]
		var aligned, steps float64
		var passed bool
		if err := db.QueryRow(`SELECT (SELECT count(*) FROM alignments a WHERE a.profile = 'release' AND a.trajectory_id = t.trajectory_id AND a.aligned AND a.candidate_step > 0),
			n_states, passed FROM trajectories t WHERE trajectory_id = ?`, id).Scan(&aligned, &steps, &passed); err != nil {
			t.Fatal(err)
		}
		want, waste := aligned, 0.0
		for _, s := range row["steps"].([]any) {
			if s.(map[string]any)["wasted"].(bool) {
				waste++
			}
		}
		wasted += waste
		want -= 100 * waste
		if want += 10_000; !passed {
			want -= 20_000
		}
		if row["total"] != want || float64(len(row["steps"].([]any))) != steps {
			t.Errorf("%v: total %v, want %v; %d steps, want %v", id, row["total"], want, len(row["steps"].([]any)), steps)
		}
	}
	if wasted == 0 {
		t.Error("no step is wasted")
	}
}

// Wasted reads are left out, and what is left is a dialogue.
func TestDropWaste(t *testing.T) {
	whole, _ := run(t, sample, nil)
	out, res := run(t, sample, func(r *curate.Rules) { r.DropWaste = true })
	if res.Dropped == 0 {
		t.Fatal("nothing was dropped")
	}
	before, after := 0, 0
	for i, row := range lines(t, filepath.Join(out, "train.jsonl")) {
		n, err := followed(row["messages"].([]any), row["tools"].([]any))
		if err != nil {
			t.Errorf("row %d: %v", i+1, err)
		}
		after += n
	}
	for _, row := range lines(t, filepath.Join(whole, "train.jsonl")) {
		n, err := followed(row["messages"].([]any), row["tools"].([]any))
		if err != nil {
			t.Error(err)
		}
		before += n
	}
	if before-after != res.Dropped {
		t.Errorf("%d calls before, %d after, %d dropped", before, after, res.Dropped)
	}
}

// rewritten copies the sample with a text replaced, as a plain tar archive.
func rewritten(t *testing.T, old, with string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(datasets.Sample()))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sample.tar")
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.ReplaceAll(content, []byte(old), []byte(with))
		h.Size = int64(len(content))
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	if err := errors.Join(w.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Secrets in the logs are in no output.
func TestSecrets(t *testing.T) {
	secrets := []string{"AKIA" + "QQQQQQQQQQQQQQQQ", "ghp_" + strings.Repeat("Zx9", 12), "/home/jane.doe/keys"}
	source := rewritten(t, "the ", "the "+strings.Join(secrets, " ")+" ")
	b := built{source, filepath.Join(t.TempDir(), "dataset")}
	if err := build(b.source, b.dir, []profile.Profile{release.New()}); err != nil {
		t.Fatal(err)
	}
	for _, target := range curate.Targets() {
		out, _ := run(t, b, func(r *curate.Rules) { r.Target, r.PerTask = target, 3 })
		files, err := filepath.Glob(filepath.Join(out, "*"))
		if err != nil || len(files) < 5 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range append(secrets, "jane.doe") {
				if bytes.Contains(text, []byte(secret)) {
					t.Errorf("%s: %s holds %s", target, filepath.Base(f), secret)
				}
			}
		}
	}
}

// Other logs than the dataset's are noticed.
func TestOtherSource(t *testing.T) {
	other := built{rewritten(t, "First page", "Second page"), sample.dir}
	_, res := run(t, other, nil)
	got := map[string]int{}
	for _, s := range res.Funnel {
		for _, r := range s.Reasons {
			got[r.Code] += r.Runs
		}
	}
	if got["source_differs"]+got["not_in_source"] == 0 {
		t.Errorf("reasons %v", got)
	}
}

// Where no run is left there is no set, but the reason and the way out, which works.
func TestNothingLeft(t *testing.T) {
	source := rewritten(t, `"action":"finish"`, `"action":"null"`)
	endless := built{source, filepath.Join(t.TempDir(), "dataset")}
	if err := build(endless.source, endless.dir, []profile.Profile{release.New()}); err != nil {
		t.Fatal(err)
	}
	low := 101.0
	for want, change := range map[string]func(*curate.Rules){
		"as no_finish; option finish any takes logs that do not say that the agent ended the run": nil,
		"as score_low; a lower option min-score":                                                  func(r *curate.Rules) { r.MinScore = &low },
		"as model_not_selected; `agentlens query DIR":                                             func(r *curate.Rules) { r.Models = []string{"gpt"} },
		"66 runs were left out as outcome_fail, 73 as outcome_pass; option outcome names those to take": func(r *curate.Rules) {
			r.Outcome = []string{"unknown"}
			r.Tiers = []string{"ideal", "solid", "lucky", "partial_fail", "off_track"}
		},
	} {
		opt := curate.Options{Rules: curate.DefaultRules(), Sources: []string{source}, Out: filepath.Join(t.TempDir(), "set"), Limits: limits()}
		if change != nil {
			change(&opt.Rules)
		}
		res, err := curate.Run(t.Context(), endless.dir, opt)
		if !errors.Is(err, curate.ErrEmpty) || !strings.Contains(err.Error(), want) || len(res.Funnel) == 0 {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := os.Lstat(opt.Out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a folder was made: %v", want, err)
		}
		opt.DryRun = true
		res, err = curate.Run(t.Context(), endless.dir, opt)
		notes := strings.Join(res.Notes, "\n")
		if err != nil || !strings.Contains(notes, "unless option finish any") || change != nil && !strings.Contains(notes, want) {
			t.Errorf("dry run: %q, %v", res.Notes, err)
		}
	}
	if _, res := run(t, endless, func(r *curate.Rules) { r.Finish = "any" }); res.Selection.Runs == 0 || len(res.Notes) > 0 {
		t.Errorf("the way out: %d runs, notes %v", res.Selection.Runs, res.Notes)
	}
}

// The curation table of the paper, from the release.
func TestPaperTable(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the release, and -short is set")
	}
	source := conformance.Dir(t, "data", "agentlens-bench-1.0.tar.zst")
	dir := filepath.Join(t.TempDir(), "dataset")
	if err := build(source, dir, []profile.Profile{release.New()}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		strategy string
		k        int
		want     string
	}{
		{"random", 0, "1136 20.2 69.1 10.7 0.576 60.8 22"}, {"top", 50, "50 100.0 0.0 0.0 0.725 81.6 78"}, {"top", 25, "25 100.0 0.0 0.0 0.816 84.6 80"},
	} {
		opt := curate.Options{Rules: curate.DefaultRules(), DryRun: true}
		opt.Rules.Strategy, opt.Rules.K, opt.Rules.Score = c.strategy, c.k, "published.quality_score"
		res, err := curate.Run(t.Context(), dir, opt)
		if err != nil {
			t.Fatal(err)
		}
		s := res.Selection
		if got := fmt.Sprintf("%d %.1f %.1f %.1f %.3f %.1f %g", s.Runs, *s.IdealPct, *s.SolidPct, *s.LuckyPct, *s.MeanCoherence, *s.MeanScore, *s.MinScore); got != c.want {
			t.Errorf("%s %d: %s, want %s", c.strategy, c.k, got, c.want)
		}
	}
}
