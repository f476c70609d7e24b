package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lines returns every line of every file, by "file:line number within the file".
func lines(t testing.TB, cfg Config) map[string]string {
	t.Helper()
	out := map[string]string{}
	count := map[string]int{}
	err := Generate(context.Background(), cfg, func(name string, line []byte) error {
		count[name]++
		out[fmt.Sprintf("%s:%d", name, count[name])] = string(line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// byRun keys the lines of output.jsonl files by file and task instead.
func byRun(t testing.TB, cfg Config) map[string]string {
	t.Helper()
	out := map[string]string{}
	for key, line := range lines(t, cfg) {
		var head struct {
			ID string `json:"instance_id"`
		}
		if err := json.Unmarshal([]byte(line), &head); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		name, _, _ := strings.Cut(key, ":")
		run := name + " " + head.ID
		if _, twice := out[run]; twice {
			t.Fatalf("%s occurs twice", run)
		}
		out[run] = line
	}
	return out
}

func TestSameSeedSameBytes(t *testing.T) {
	cfg := Config{Tasks: 3, Models: 3, Runs: 2, Seed: 9}
	a, b := lines(t, cfg), lines(t, cfg)
	if !maps.Equal(a, b) {
		t.Fatal("two generations differ")
	}
	cfg.Seed = 10
	if maps.Equal(a, lines(t, cfg)) {
		t.Fatal("the seed has no effect")
	}
}

func TestRunsAreIndependent(t *testing.T) {
	small := byRun(t, Config{Tasks: 2, Models: 2, Runs: 1, Seed: 4})
	large := byRun(t, Config{Tasks: 5, Models: 7, Runs: 3, Seed: 4, Shuffle: true})
	for run, line := range small {
		if large[run] != line {
			t.Errorf("%s depends on the other records", run)
		}
	}
	if want := 5 * 7 * 3; len(large) != want {
		t.Errorf("%d records, want %d", len(large), want)
	}
}

func TestShuffleMixesTheFiles(t *testing.T) {
	var order []string
	err := Generate(context.Background(), Config{Tasks: 4, Models: 3, Runs: 2, Shuffle: true}, func(name string, _ []byte) error {
		order = append(order, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if slices.IsSorted(order) || len(slices.Compact(slices.Clone(order))) < len(order)/2 {
		t.Errorf("records come file by file: %v", order)
	}
}

func TestStrideVisitsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		step := coprimeStride(n, rapid.Uint64().Draw(t, "seed"))
		if step < 1 || gcd(step, n) != 1 {
			t.Fatalf("step %d of %d", step, n)
		}
	})
}

func TestCompanionHoldsTheOutcome(t *testing.T) {
	inline := byRun(t, Config{Tasks: 4, Models: 4, Runs: 3, Seed: 2})
	split := byRun(t, Config{Tasks: 4, Models: 4, Runs: 3, Seed: 2, Outcomes: Companion})
	type result struct {
		Test struct {
			Patch  string          `json:"git_patch"`
			Report json.RawMessage `json:"report"`
		} `json:"test_result"`
	}
	for run, line := range inline {
		var want, bare, verdict result
		companion, evaluated := split[strings.Replace(run, "output.jsonl", "output.swebench_eval.jsonl", 1)]
		if !evaluated {
			companion = `{"test_result":{"git_patch":""}}` // the runtime went away
		}
		for text, into := range map[string]*result{line: &want, split[run]: &bare, companion: &verdict} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		if bare.Test.Report != nil {
			t.Errorf("%s: the record holds a report", run)
		}
		if !bytes.Equal(verdict.Test.Report, want.Test.Report) || verdict.Test.Patch != want.Test.Patch {
			t.Errorf("%s: companion says %s, inline %s", run, verdict.Test.Report, want.Test.Report)
		}
	}
}

type tokens struct {
	Prompt     int64  `json:"prompt_tokens"`
	Completion int64  `json:"completion_tokens"`
	Cached     int64  `json:"cache_read_tokens"`
	ID         string `json:"response_id"`
}

type event struct {
	ID          *int64          `json:"id"`
	Timestamp   string          `json:"timestamp"`
	Source      string          `json:"source"`
	Cause       *int64          `json:"cause"`
	Action      string          `json:"action"`
	Observation string          `json:"observation"`
	Content     string          `json:"content"`
	Args        json.RawMessage `json:"args"`
	Extras      struct {
		Metadata *struct {
			ExitCode int `json:"exit_code"`
		} `json:"metadata"`
	} `json:"extras"`
	Success *bool `json:"success"`
	Call    *struct {
		Function string `json:"function_name"`
		ID       string `json:"tool_call_id"`
		Total    int    `json:"total_calls_in_response"`
		Response struct {
			ID      string `json:"id"`
			Choices []struct {
				Message struct {
					Calls []struct {
						ID       string `json:"id"`
						Function struct {
							Name      string `json:"name"`
							Arguments string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"message"`
			} `json:"choices"`
			Usage struct {
				Prompt     int64 `json:"prompt_tokens"`
				Completion int64 `json:"completion_tokens"`
				Total      int64 `json:"total_tokens"`
				Details    struct {
					Cached int64 `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			} `json:"usage"`
		} `json:"model_response"`
	} `json:"tool_call_metadata"`
	Metrics *struct {
		Cost  float64 `json:"accumulated_cost"`
		Usage tokens  `json:"accumulated_token_usage"`
	} `json:"llm_metrics"`
}

type record struct {
	ID        string `json:"instance_id"`
	Synthetic bool   `json:"synthetic"`
	Test      struct {
		Patch  string `json:"git_patch"`
		Report *struct {
			Empty     bool `json:"empty_generation"`
			Resolved  bool `json:"resolved"`
			ErrorEval bool `json:"error_eval"`
		} `json:"report"`
	} `json:"test_result"`
	Instruction string `json:"instruction"`
	Metadata    struct {
		Dataset string `json:"dataset"`
		LLM     struct {
			Model string `json:"model"`
		} `json:"llm_config"`
		Details struct {
			Behaviour string `json:"behaviour"`
			Repair    string `json:"repair"`
		} `json:"details"`
	} `json:"metadata"`
	History []event `json:"history"`
	Metrics struct {
		Cost   float64  `json:"accumulated_cost"`
		Usage  tokens   `json:"accumulated_token_usage"`
		Usages []tokens `json:"token_usages"`
	} `json:"metrics"`
	Error *string `json:"error"`
}

func decode(t require, line string) record {
	t.Helper()
	var r record
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v in %.200s", err, line)
	}
	return r
}

// require is what *testing.T and *rapid.T share here.
type require interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// checkRecord checks what every record promises.
func checkRecord(t require, line string) {
	t.Helper()
	if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "}\n") {
		t.Fatalf("not one line: %.200q", line)
	}
	r := decode(t, line)
	if !r.Synthetic || !strings.HasPrefix(r.ID, "synth__") || !strings.HasPrefix(r.Metadata.LLM.Model, "synthetic-") ||
		r.Metadata.Dataset != "synthetic" || !strings.Contains(r.Instruction, "synthetic") {
		t.Errorf("%s is not marked as synthetic", r.ID)
	}
	if rep := r.Test.Report; rep != nil && rep.Resolved && (rep.Empty || rep.ErrorEval) {
		t.Errorf("%s: resolved and %+v", r.ID, rep)
	}
	actions := map[int64]*event{}
	answered := map[int64]bool{}
	last, when := int64(-1), ""
	seen := map[string]bool{}
	var sum tokens
	for i := range r.History {
		e := &r.History[i]
		if e.ID == nil || *e.ID <= last {
			t.Fatalf("%s: event %d has id %v after %d", r.ID, i, e.ID, last)
		}
		last = *e.ID
		if e.Timestamp[:19] < when {
			t.Errorf("%s: event %d goes back in time", r.ID, last)
		}
		when = e.Timestamp[:19]
		if n := len(e.Timestamp); n != 19 && n != 26 {
			t.Errorf("%s: timestamp %q", r.ID, e.Timestamp)
		}
		if (e.Action == "") == (e.Observation == "") {
			t.Errorf("%s: event %d is %q and %q", r.ID, last, e.Action, e.Observation)
		}
		if e.Action != "" {
			actions[last] = e
		}
		if e.Action == "condensation" {
			var args struct {
				From int64 `json:"forgotten_events_start_id"`
				To   int64 `json:"forgotten_events_end_id"`
			}
			if err := json.Unmarshal(e.Args, &args); err != nil || args.From >= args.To || args.To >= last {
				t.Errorf("%s: event %d forgets %+v, error %v", r.ID, last, args, err)
			}
		}
		if e.Cause != nil {
			a := actions[*e.Cause]
			if a == nil || answered[*e.Cause] || a.Action != e.Observation {
				t.Errorf("%s: event %d answers %d", r.ID, last, *e.Cause)
				continue
			}
			answered[*e.Cause] = true
			if (a.Call == nil) != (e.Call == nil) || a.Call != nil && (a.Call.ID != e.Call.ID || a.Call.Response.ID != e.Call.Response.ID) {
				t.Errorf("%s: event %d has other metadata than its action", r.ID, last)
			}
		}
		if e.Observation == "run" && *e.Success != (e.Extras.Metadata.ExitCode == 0) {
			t.Errorf("%s: event %d: success %v, exit code %d", r.ID, last, *e.Success, e.Extras.Metadata.ExitCode)
		}
		if e.Call == nil {
			continue
		}
		calls := e.Call.Response.Choices[0].Message.Calls
		at := slices.IndexFunc(calls, func(c struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		}) bool {
			return c.ID == e.Call.ID
		})
		if at < 0 || len(calls) != e.Call.Total || calls[at].Function.Name != e.Call.Function || !json.Valid([]byte(calls[at].Function.Arguments)) {
			t.Errorf("%s: event %d does not fit its model response", r.ID, last)
		}
		if u := e.Call.Response.Usage; !seen[e.Call.Response.ID] {
			seen[e.Call.Response.ID] = true
			sum.Prompt += u.Prompt
			sum.Completion += u.Completion
			sum.Cached += u.Details.Cached
			if u.Total != u.Prompt+u.Completion || u.Details.Cached > u.Prompt {
				t.Errorf("%s: event %d: usage %+v", r.ID, last, u)
			}
		}
		if e.Metrics != nil && (e.Metrics.Usage.Prompt < sum.Prompt || e.Metrics.Cost > r.Metrics.Cost) {
			t.Errorf("%s: event %d: accumulated %+v, events so far %+v", r.ID, last, e.Metrics.Usage, sum)
		}
	}
	var listed tokens
	for _, u := range r.Metrics.Usages {
		listed.Prompt += u.Prompt
		listed.Completion += u.Completion
		listed.Cached += u.Cached
		if !seen[u.ID] { // an unparsable response leaves no action
			sum.Prompt += u.Prompt
			sum.Completion += u.Completion
			sum.Cached += u.Cached
		}
	}
	if total := r.Metrics.Usage; listed != (tokens{total.Prompt, total.Completion, total.Cached, ""}) || sum != listed {
		t.Errorf("%s: metrics %+v, listed %+v, in events %+v", r.ID, total, listed, sum)
	}
}

func TestRecordsKeepThePromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Tasks: rapid.IntRange(1, 2).Draw(t, "tasks"), Models: rapid.IntRange(1, 7).Draw(t, "models"), Runs: rapid.IntRange(1, 2).Draw(t, "runs"),
			Seed: rapid.Uint64().Draw(t, "seed"), Shuffle: rapid.Bool().Draw(t, "shuffle"),
		}
		n := 0
		err := Generate(context.Background(), cfg, func(_ string, line []byte) error {
			n++
			checkRecord(t, string(line))
			return nil
		})
		if err != nil || n != cfg.Tasks*cfg.Models*cfg.Runs {
			t.Fatalf("%d records, error %v", n, err)
		}
	})
}

func TestVariety(t *testing.T) {
	count := map[string]int{}
	for _, line := range byRun(t, Config{Tasks: 6, Models: 6, Runs: 5, Seed: 1}) {
		r := decode(t, line)
		count["behaviour "+r.Metadata.Details.Behaviour]++
		count["repair "+r.Metadata.Details.Repair]++
		switch rep := r.Test.Report; {
		case rep == nil:
			count["outcome: runtime error"]++
		case rep.ErrorEval:
			count["outcome: harness error"]++
		case rep.Resolved:
			count["outcome: pass"]++
		case rep.Empty:
			count["outcome: empty patch"]++
		default:
			count["outcome: fail"]++
		}
		for _, e := range r.History {
			count["action "+e.Action]++
			count["observation "+e.Observation]++
			if e.Call != nil && e.Call.Total > 1 {
				count["parallel calls"]++
			}
			if e.Extras.Metadata != nil && e.Extras.Metadata.ExitCode == -1 {
				count["exit code -1"]++
			}
			if e.Observation == "edit" && strings.HasPrefix(e.Content, "ERROR:\n") {
				count["failed edit"]++
			}
			if e.Observation == "read" && strings.HasPrefix(e.Content, "Here's the files and directories") {
				count["listing"]++
			}
			if len(e.Timestamp) == 19 {
				count["timestamp without fraction"]++
			}
			if e.Action == "edit" {
				var args struct{ Command string }
				if err := json.Unmarshal(e.Args, &args); err != nil {
					t.Fatal(err)
				}
				count["editor "+args.Command]++
			}
		}
	}
	for _, want := range []string{
		"behaviour principled", "behaviour efficient", "behaviour exploratory", "behaviour brute_force", "behaviour overconfident", "behaviour thrashing",
		"repair none", "repair in_place", "repair delegated", "repair partial",
		"outcome: pass", "outcome: fail", "outcome: empty patch", "outcome: harness error", "outcome: runtime error",
		"action system", "action message", "action recall", "action run", "action run_ipython", "action read", "action edit", "action think",
		"action task_tracking", "action finish", "action condensation",
		"observation recall", "observation run", "observation read", "observation edit", "observation think", "observation task_tracking", "observation error",
		"parallel calls", "exit code -1", "failed edit", "listing", "timestamp without fraction",
		"editor create", "editor str_replace", "editor insert", "editor undo_edit",
	} {
		if count[want] == 0 {
			t.Errorf("never generated: %s", want)
		}
	}
	if t.Failed() || testing.Verbose() {
		for _, k := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%6d %s", count[k], k)
		}
	}
}

func TestNumbered(t *testing.T) {
	text := strings.Repeat("x\n", 1200)
	lines := strings.Split(numbered(text, 1, 1<<30), "\n")
	for i, line := range lines {
		if want := fmt.Sprintf("%6d\tx", i+1); line != want {
			t.Fatalf("%q, want %q", line, want)
		}
	}
	if got := numbered("a\nb\nc\n", 2, 3); len(lines) != 1200 || got != "     2\tb\n     3\tc" {
		t.Errorf("%d lines; a part is %q", len(lines), got)
	}
}

// Every segment must be at one place of its file, or replacing it would hit another one.
func TestWorldsAreConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, MaxTasks-1).Draw(t, "task"))
		text := w.files[w.target].text
		for v := range variants {
			now := strings.Replace(text, w.segment[buggy], w.segment[v], 1)
			if strings.Count(now, w.segment[v]) != 1 {
				t.Errorf("%s: segment %d occurs %d times", w.id, v, strings.Count(now, w.segment[v]))
			}
		}
		if strings.Count(text, w.importOld) != 1 || strings.Count(w.files[w.caller].text, w.callerOld) != 1 {
			t.Errorf("%s: no place for an import or a change of the caller", w.id)
		}
		if !strings.Contains(text, w.raised) || !strings.Contains(text, "def "+w.fn+"(") {
			t.Errorf("%s: %s or its faulty line is not in the file", w.id, w.fn)
		}
		seen := map[string]bool{}
		for _, f := range w.files {
			if seen[f.path] || strings.Contains(f.text, "$") || strings.Contains(f.text, "%!") {
				t.Errorf("%s: %s occurs twice or has a hole", w.id, f.path)
			}
			seen[f.path] = true
		}
		for _, text := range []string{w.title, w.report, w.call, w.taskText()} {
			if strings.Contains(text, "$") {
				t.Errorf("%s: hole in %q", w.id, text)
			}
		}
	})
}

func TestAppendText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		b := appendText(nil, s)
		var back string
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Fatalf("%q became %s, error %v", s, b, err)
		}
		for _, c := range b {
			if c < 0x20 || c > 0x7e {
				t.Fatalf("byte %#x in %q", c, b)
			}
		}
	})
	if got := string(appendText(nil, "a\xffb")); got != `"a\ufffdb"` {
		t.Errorf("invalid UTF-8 became %s", got)
	}
}

func TestPatchIsTheChange(t *testing.T) {
	w := newWorld(3, 0)
	for _, v := range []variant{fixed, delegated, partial} {
		s := session{world: w, rng: newRNG(1), model: newModel(3, 0), text: make([]string, len(w.files)), style: style{script: "repro.py"}, allowed: maxIterations}
		s.rewrite(v)
		s.harden()
		s.reproduce()
		if want := "+++ b/" + s.script + "\n@@ -0,0 +1,6 @@\n+\"\"\""; !strings.Contains(s.patch(), want) {
			t.Errorf("%q is not in the patch\n%s", want, s.patch())
		}
		got := apply(t, w, s.changes())
		for f := range w.files {
			if got[f] != s.content(f) {
				t.Errorf("variant %d: the patch of %s gives\n%s\nwant\n%s", v, w.files[f].path, got[f], s.content(f))
			}
		}
	}
}

// apply applies a unified diff of one hunk per file and checks its counts.
func apply(t *testing.T, w *world, patch string) []string {
	t.Helper()
	out := make([]string, len(w.files))
	for f := range w.files {
		out[f] = w.files[f].text
		head := fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n", w.files[f].path)
		_, hunk, ok := strings.Cut(patch, head)
		if !ok {
			continue
		}
		hunk, _, _ = strings.Cut(hunk, "diff --git")
		header, body, _ := strings.Cut(hunk, "\n")
		var from, nOld, to, nNew int
		if _, err := fmt.Sscanf(header, "@@ -%d,%d +%d,%d @@", &from, &nOld, &to, &nNew); err != nil {
			t.Fatal(err)
		}
		old := strings.SplitAfter(w.files[f].text, "\n")
		res := slices.Clone(old[:from-1])
		at, written := from-1, 0
		for line := range strings.Lines(body) {
			switch line[0] {
			case '+':
				res = append(res, line[1:])
				written++
			case ' ', '-':
				if old[at] != line[1:] {
					t.Fatalf("%s: line %d is %q, the patch expects %q", w.files[f].path, at+1, old[at], line[1:])
				}
				if line[0] == ' ' {
					res = append(res, old[at])
					written++
				}
				at++
			}
		}
		if at-from+1 != nOld || written != nNew {
			t.Errorf("%s: %s, counted %d and %d", w.files[f].path, header, at-from+1, written)
		}
		out[f] = strings.Join(append(res, old[at:]...), "")
	}
	return out
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Tasks: 0, Models: 1, Runs: 1}, "tasks 0"},
		{Config{Tasks: 1, Models: MaxModels + 1, Runs: 1}, "models"},
		{Config{Tasks: 1, Models: 1, Runs: -1}, "runs -1"},
		{Config{Tasks: 1, Models: 1, Runs: 1, Outcomes: "nowhere"}, "inline or companion"},
	} {
		err := Generate(context.Background(), c.cfg, func(string, []byte) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.cfg, err, c.want)
		}
	}
	full := errors.New("disk full")
	if err := Generate(context.Background(), Config{Tasks: 1, Models: 1, Runs: 1}, func(string, []byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("sink error became %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Generate(ctx, Config{Tasks: 1, Models: 1, Runs: 1}, func(string, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, shuffle := range []bool{false, true} {
		b.Run(fmt.Sprintf("shuffle=%v", shuffle), func(b *testing.B) {
			var bytes, records int64
			for b.Loop() {
				err := Generate(context.Background(), Config{Tasks: 50, Models: 6, Runs: 2, Seed: 1, Shuffle: shuffle}, func(_ string, line []byte) error {
					bytes += int64(len(line))
					records++
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(bytes / int64(b.N))
			b.ReportMetric(float64(bytes)/float64(records), "B/record")
		})
	}
}
