package convert_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/atif"
	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/convert"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func runsOf(t *testing.T, source string) []*trajectory.Trajectory {
	t.Helper()
	got := readtest.Read(t, ingest.Options{Texts: true, Jobs: 2}, source)
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	return got.Runs
}

// again reads what a run was written as.
func again(t *testing.T, name string, text []byte) *trajectory.Trajectory {
	t.Helper()
	got := readtest.Read(t, ingest.Options{Texts: true}, readtest.Files(t, map[string]string{name: string(text)}))
	if got.Err != nil || len(got.Runs) != 1 || len(got.Refused) > 0 {
		t.Fatalf("%s: %v, %d runs, refused %v", name, got.Err, len(got.Runs), got.Refused)
	}
	return got.Runs[0]
}

// canonical frees a state of what the report says reads back differently, and returns its
// arguments as a value.
func canonical(t *testing.T, s *trajectory.State, groups map[string]int, model string) (trajectory.State, any) {
	c := *s
	c.Thought = strings.TrimSpace(c.Thought)
	c.RawTool, c.EntryID, c.ErrorSource, c.Stage = "", "", "", trajectory.NoStage
	c.LogModel = cmp.Or(c.LogModel, model)
	if c.ResponseGroup != "" {
		if groups[c.ResponseGroup] == 0 {
			groups[c.ResponseGroup] = len(groups) + 1
		}
		c.ResponseGroup = fmt.Sprint(groups[c.ResponseGroup])
	}
	var args any
	if c.Log != nil {
		log := *c.Log
		if log.Args.Raw != "" {
			if err := json.Unmarshal([]byte(log.Args.Raw), &args); err != nil {
				t.Fatalf("arguments %q: %v", log.Args.Raw, err)
			}
		}
		if _, ok := args.(map[string]any); !ok {
			args = map[string]any{}
		}
		log.Args.Raw = ""
		c.Log = &log
	}
	return c, args
}

// sameStates compares the states of two runs, but for fields that are reported as changed and
// what loose makes equal.
func sameStates(t *testing.T, want, got *trajectory.Trajectory, losses *convert.Losses, loose func(want, got *trajectory.State)) {
	t.Helper()
	changed := map[string]bool{}
	for _, l := range losses.List() {
		changed[l.Field] = changed[l.Field] || l.Fate == convert.Changed
	}
	if len(want.States) != len(got.States) {
		t.Fatalf("%s: %d states, want %d; warnings %v", want.ID, len(got.States), len(want.States), got.Warnings)
	}
	was, is := map[string]int{}, map[string]int{}
	for i := range want.States {
		w, wantArgs := canonical(t, &want.States[i], was, want.Model)
		g, gotArgs := canonical(t, &got.States[i], is, want.Model)
		if w.ResponseGroup == "" || changed["state.response_group"] {
			w.ResponseGroup, g.ResponseGroup = "", ""
		}
		if m, ok := gotArgs.(map[string]any); ok && changed["state.args"] && wantArgs.(map[string]any)["thought"] == nil {
			delete(m, "thought")
		}
		loose(&w, &g)
		if !reflect.DeepEqual(wantArgs, gotArgs) {
			t.Errorf("%s state %d: arguments %v, want %v", want.ID, i, gotArgs, wantArgs)
		}
		if !reflect.DeepEqual(w, g) {
			a, b := reflect.ValueOf(w), reflect.ValueOf(g)
			for f := range a.NumField() {
				if !reflect.DeepEqual(a.Field(f).Interface(), b.Field(f).Interface()) {
					t.Errorf("%s state %d, %s as %s: %s is %+v, want %+v", want.ID, i, w.Tool, want.States[i].RawTool, a.Type().Field(f).Name, show(b.Field(f)), show(a.Field(f)))
				}
			}
		}
	}
}

func show(v reflect.Value) string {
	text := fmt.Sprintf("%+v", v.Interface())
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		text = fmt.Sprintf("%+v", v.Elem().Interface())
	}
	return text[:min(len(text), 300)]
}

// TestATIFAndBack converts logs of every format to ATIF, validates it, reads it, and compares
// states, task, model, agent and closing words.
func TestATIFAndBack(t *testing.T) {
	for _, name := range conformance.LogFormats() {
		eachLog(t, name, func(t *testing.T, source string) {
			for _, want := range runsOf(t, source) {
				atifAndBack(t, want)
			}
		})
	}
}

// eachLog runs a test over our own log of a format and over the real ones, where they are at
// hand.
func eachLog(t *testing.T, format string, f func(t *testing.T, source string)) {
	t.Run(format, func(t *testing.T) { f(t, conformance.Logs(t, format)) })
	t.Run(format+"/real", func(t *testing.T) {
		folder := format
		if format == "completions" {
			folder = "llm-completions"
		}
		f(t, conformance.Dir(t, "fixtures", folder))
	})
}

// TestRealRunsAndBack does so with every fifth of the real runs.
func TestRealRunsAndBack(t *testing.T) {
	for i, want := range runsOf(t, conformance.Dir(t, "data", "real-runs.tar.zst")) {
		if i%5 == 0 {
			atifAndBack(t, want)
		}
	}
}

func atifAndBack(t *testing.T, want *trajectory.Trajectory) {
	t.Helper()
	var losses convert.Losses
	text, err := convert.ToATIF(want, &losses).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range atif.Validate(text, atif.Options{}) {
		t.Errorf("%s: %s %s: %s", want.ID, p.Severity, p.Path, p.Message)
	}
	got := again(t, "run.json", text)
	if got.TaskID != want.TaskID || got.Model != want.Model || got.Prompt != cmp.Or(want.Prompt, want.TaskDescription) || got.Closing != want.Closing {
		t.Errorf("%s: task %s, model %s, closing %q; want %s, %s, %q", want.ID, got.TaskID, got.Model, got.Closing, want.TaskID, want.Model, want.Closing)
	}
	sameStates(t, want, got, &losses, func(w, g *trajectory.State) {})
}

// TestOpenHandsAndBack converts the fixtures of OpenHands and compares states.
func TestOpenHandsAndBack(t *testing.T) {
	for _, name := range []string{"openhands-v0", "openhands-v1", "mini-sweagent", "claude-code"} {
		eachLog(t, name, func(t *testing.T, source string) {
			for _, want := range runsOf(t, source) {
				var losses convert.Losses
				text, err := convert.ToOpenHands(want, &losses)
				if err != nil {
					t.Fatal(err)
				}
				got := again(t, "m/run_1.json", text)
				known := map[string]bool{}
				for _, l := range losses.List() {
					known[l.Field] = true
				}
				if known["state.tool"] || known["state.observation"] {
					continue // reported: other steps are read back
				}
				sameStates(t, want, got, &losses, func(w, g *trajectory.State) {
					if w.Tool == "think" { // its one text is thought and answer
						w.Thought = g.Thought
						w.Response, w.ResponsePreview, w.Observation, w.ObservationHash, w.ObservationChars = g.Response, g.ResponsePreview, g.Observation, g.ObservationHash, g.ObservationChars
						w.IsError = g.IsError
					}
				})
			}
		})
	}
}

// TestSourcesAreWrittenWhole converts folders to every target: the same bytes with any number
// of workers, an output that exists is left alone, a run a file.
func TestSourcesAreWrittenWhole(t *testing.T) {
	t.Run("own", func(t *testing.T) {
		dir := t.TempDir()
		for _, format := range conformance.LogFormats() {
			if err := os.CopyFS(filepath.Join(dir, format), os.DirFS(conformance.Logs(t, format))); err != nil {
				t.Fatal(err)
			}
		}
		writtenWhole(t, dir, 10, 61)
	})
	t.Run("real", func(t *testing.T) { writtenWhole(t, conformance.Dir(t, "fixtures", "openhands-v0"), 15, 146) })
}

func writtenWhole(t *testing.T, source string, runs, steps int64) {
	for _, target := range convert.Targets() {
		dir := t.TempDir()
		var reports []convert.Report
		for _, jobs := range []int{1, 4} {
			rep, err := convert.Sources(context.Background(), []string{source}, ingest.Options{Jobs: jobs}, target, filepath.Join(dir, fmt.Sprint(jobs)))
			if err != nil {
				t.Fatal(err)
			}
			rep.Out = ""
			reports = append(reports, rep)
		}
		if !reflect.DeepEqual(reports[0], reports[1]) || reports[0].Runs != runs || reports[0].Steps != steps {
			t.Errorf("%s: %+v\n%+v", target, reports[0], reports[1])
		}
		one, err := os.ReadFile(filepath.Join(dir, "1", checksum.Name))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(dir, "4", checksum.Name))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: other bytes with other workers, %v", target, err)
		}
		if n := int64(bytes.Count(one, []byte("\n"))); n != reports[0].Files || n != map[convert.Target]int64{convert.ATIF: runs, convert.OpenHands: runs, convert.JSONL: 1}[target] {
			t.Errorf("%s: %d files, reported %d", target, n, reports[0].Files)
		}
		if target != convert.JSONL {
			if n := len(runsOf(t, filepath.Join(dir, "1"))); int64(n) != runs {
				t.Errorf("%s: %d runs are read back", target, n)
			}
		}
		_, err = convert.Sources(context.Background(), []string{source}, ingest.Options{}, target, filepath.Join(dir, "1"))
		if !errors.Is(err, output.ErrExists) {
			t.Errorf("%s: an output that exists: %v", target, err)
		}
		_, err = convert.Sources(context.Background(), []string{t.TempDir()}, ingest.Options{}, target, filepath.Join(dir, "none"))
		if entries, _ := os.ReadDir(dir); err == nil || len(entries) != 2 {
			t.Errorf("%s: no runs: %v, %v", target, err, entries)
		}
	}
}

// TestLineHasEverything sets every field of a state and of a run and looks for it in the line.
func TestLineHasEverything(t *testing.T) {
	left := []string{"SourceNo", "TaskDescription", "Raw"} // numbers of one reading; the beginning of Prompt; see args
	var want []string
	n := 0
	var fill func(v reflect.Value, name string)
	fill = func(v reflect.Value, name string) {
		n++
		text := fmt.Sprintf("value-%d", n)
		switch v.Kind() {
		case reflect.String:
			if name == "Raw" {
				v.SetString(`{"a":"` + text + `"}`)
			} else {
				v.SetString(text)
			}
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(770000 + n))
			text = fmt.Sprint(770000 + n)
		case reflect.Struct:
			for i := range v.NumField() {
				f := v.Type().Field(i).Name
				if v.Type() == reflect.TypeFor[trajectory.Args]() && f != "Raw" || f == "Ledger" { // how a log was read is none of the run
					continue
				}
				fill(v.Field(i), f)
			}
			return
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), name)
			return
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), name)
			return
		case reflect.Bool:
			v.SetBool(true)
			return
		case reflect.Uint8:
			v.SetUint(1)
			return
		}
		if !slices.Contains(left, name) && name != "ResponsePreview" {
			want = append(want, text)
		}
	}
	var run trajectory.Trajectory
	fill(reflect.ValueOf(&run).Elem(), "")
	line, err := convert.ToLine(&run)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range want {
		if !bytes.Contains(line, []byte(text)) {
			t.Errorf("%s is not in the line", text)
		}
	}
	for _, flag := range []string{`"outcome":"pass"`, `"stage":"exploration"`, `"initial":true`, `"terminal":true`, `"undo":true`} {
		if !bytes.Contains(line, []byte(flag)) {
			t.Errorf("%s is not in the line", flag)
		}
	}
}
