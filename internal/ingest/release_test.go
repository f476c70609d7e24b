package ingest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// collected is everything one call of Read emitted, sorted.
type collected struct {
	runs      []*trajectory.Trajectory
	evidence  []ingest.Evidence
	published []schema.Published
	tasks     []schema.PublishedTask
	refs      []schema.PublishedReference
	refused   []ingest.RecordError
	summary   ingest.Summary
}

func read(t testing.TB, opt ingest.Options, sources ...string) (*collected, error) {
	t.Helper()
	var mu sync.Mutex
	c := new(collected)
	opt.Jobs = max(opt.Jobs, 1)
	var err error
	c.summary, err = ingest.Read(context.Background(), sources, opt, func(item ingest.Item) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case item.Trajectory != nil:
			c.runs = append(c.runs, item.Trajectory)
		case item.Evidence != nil:
			c.evidence = append(c.evidence, *item.Evidence)
		case item.Published != nil:
			c.published = append(c.published, *item.Published)
		case item.Task != nil:
			c.tasks = append(c.tasks, *item.Task)
		case item.Reference != nil:
			c.refs = append(c.refs, *item.Reference)
		case item.Refused != nil:
			c.refused = append(c.refused, *item.Refused)
		default:
			t.Error("item without content")
		}
		return nil
	})
	slices.SortFunc(c.runs, func(a, b *trajectory.Trajectory) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.SourceFile, b.SourceFile), cmp.Compare(a.SourceRecord, b.SourceRecord))
	})
	byText(c.evidence)
	byText(c.published)
	byText(c.tasks)
	byText(c.refs)
	byText(c.refused)
	return c, err
}

func byText[T any](items []T) {
	slices.SortFunc(items, func(a, b T) int { return cmp.Compare(text(a), text(b)) })
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// unpacked returns the files of the release archive by name.
func unpacked(t testing.TB, archive string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for name, r := range conformance.Files(t, archive) {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestRelease(t *testing.T) { conformance.Each(t, checkRelease) }

func checkRelease(t *testing.T, set *conformance.Set) {
	got, err := read(t, ingest.Options{Jobs: 2}, set.Release())
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, set.Release())

	tasks, models := map[string]bool{}, map[string]bool{}
	states, initial, passed := 0, 0, 0
	for i, r := range got.runs {
		tasks[r.TaskID], models[r.Model] = true, true
		states += len(r.States)
		for _, s := range r.States {
			if s.Stage == trajectory.NoStage {
				initial++
			}
		}
		if r.Outcome == trajectory.Pass {
			passed++
		}
		if len(r.Warnings) > 0 {
			t.Errorf("%s: %v", r.ID, r.Warnings)
		}
		if i%set.Count(1, 5) == 0 {
			compareWithStandardLibrary(t, r, files["agentlens-bench/"+r.SourceFile])
		}
	}
	cyclic, multi := 0, int64(0)
	for _, r := range got.refs {
		if r.HasCycle {
			cyclic++
		}
		multi += r.NMultiParent
	}
	for _, c := range []struct {
		what                string
		got, extract, whole int
	}{
		{"trajectories", len(got.runs), 149, 1815}, {"tasks", len(tasks), 4, 47}, {"models", len(models), 8, 8},
		{"states", states, 3709, 53203}, {"initial states", initial, 149, 1815}, {"passed", passed, 70, 1136},
		{"published rows", len(got.published), 149, 1815}, {"task rows", len(got.tasks), 4, 47},
		{"references", len(got.refs), 4, 47}, {"cyclic references", cyclic, 1, 11},
		{"states with several parents", int(multi), 338, 4708},
		{"refused", len(got.refused), 0, 0}, {"evidence", len(got.evidence), 3 * 149, 3 * 1815},
		{"recognised", int(got.summary.Recognised["agentlens-release by states + transitions"]), 149 + 4, 1815 + 47},
		{"reports", int(got.summary.Skipped["analysis report of the release"]), 149, 1815},
	} {
		if want := set.Count(c.extract, c.whole); c.got != want {
			t.Errorf("%s: %d, want %d", c.what, c.got, want)
		}
	}
	if len(got.refused) > 0 {
		t.Log(got.refused[0])
	}
	comparePublished(t, set, got, files)
}

// compareWithStandardLibrary decodes the file anew with encoding/json and compares every
// field.
func compareWithStandardLibrary(t *testing.T, r *trajectory.Trajectory, raw []byte) {
	t.Helper()
	var file struct {
		States      map[string]map[string]any `json:"states"`
		Transitions []map[string]any          `json:"transitions"`
		Metadata    map[string]any            `json:"metadata"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&file); err != nil {
		t.Fatalf("%s: %v", r.SourceFile, err)
	}
	bad := func(what string, got, want any) {
		if got != want {
			t.Errorf("%s: %s: %v, want %v", r.ID, what, got, want)
		}
	}
	str := func(v any) string { s, _ := v.(string); return s }
	bad("task", r.TaskID, str(file.Metadata["task_name"]))
	bad("model", r.Model, str(file.Metadata["model_name"]))
	bad("description", r.TaskDescription, str(file.Metadata["task_description"]))
	bad("condensations", strconv.FormatInt(r.Condensations, 10), fmt.Sprint(file.Metadata["compaction_count"]))
	bad("outcome", r.Outcome.String()+"ed", str(file.Metadata["pass_fail_status"]))
	bad("states", len(r.States), len(file.States))
	bad("transitions", len(r.Transitions), len(file.Transitions))
	for i, tr := range r.Transitions {
		w := file.Transitions[i]
		bad("transition", fmt.Sprint(tr.ID, tr.From, tr.To, tr.ActionType, tr.Step),
			fmt.Sprint(w["transition_id"], w["from_state"], w["to_state"], w["action_type"], w["step"]))
	}
	opt := func(i trajectory.Int) string {
		if !i.Valid {
			return "<nil>"
		}
		return strconv.FormatInt(i.Value, 10)
	}
	for i := range r.States {
		s := &r.States[i]
		w := file.States[s.ID]
		bad("order", s.Step, int64(i))
		for _, f := range []struct{ key, got string }{
			{"state_id", s.ID}, {"observation", s.Observation}, {"observation_hash", s.ObservationHash},
			{"resulting_state", s.ResultingState}, {"resulting_state_hash", s.ResultingStateHash},
			{"content_hash", s.ContentHash}, {"content_description", s.ContentDescription}, {"tool_used", s.Tool},
			{"file_path", s.FilePath}, {"relative_position", s.RelativePosition}, {"operation_type", s.OperationType},
			{"edit_type", s.EditType}, {"function_name", s.FunctionName}, {"class_name", s.ClassName},
			{"scope_path", s.ScopePath}, {"intent_stage", s.Stage.String()},
		} {
			bad(f.key, f.got, str(w[f.key]))
		}
		bad("chars", s.ObservationChars, int64(len([]rune(str(w["observation"])))))
		touched := []string{}
		for _, v := range w["files_touched"].([]any) {
			touched = append(touched, v.(string))
		}
		bad("files_touched", fmt.Sprint(s.FilesTouched), fmt.Sprint(touched))
		if lines, ok := w["line_range"].([]any); ok {
			bad("line_range", fmt.Sprint(s.Lines), fmt.Sprintf("{%v %v true}", lines[0], lines[1]))
		} else {
			bad("line_range", s.Lines.Valid, false)
		}
		meta := w["metadata"].(map[string]any)
		for key, got := range map[string]string{
			"input_tokens": opt(s.InputTokens), "output_tokens": opt(s.OutputTokens), "cached_input_tokens": opt(s.CachedTokens),
		} {
			bad(key, got, fmt.Sprint(meta[key]))
		}
		bad("entry_id", s.EntryID, str(meta["entry_id"]))
		bad("thought", s.Thought, str(meta["thought"]))
		bad("log model", s.LogModel, str(meta["model"]))
		bad("timestamp", s.Timestamp, str(meta["timestamp"]))
		bad("initial", fmt.Sprint(s.Initial), fmt.Sprint(cmp.Or(meta["is_initial"], any(false))))
		bad("terminal", fmt.Sprint(s.Terminal), fmt.Sprint(cmp.Or(meta["is_terminal"], any(false))))
		bad("error", s.IsError.Valid, strings.Contains(str(w["resulting_state"]), "_failed"))
		entry, ok := w["log_entry"].(map[string]any)
		if !ok {
			bad("log entry", s.Log, (*trajectory.LogEntry)(nil))
			continue
		}
		args := entry["args"].(map[string]any)
		bad("kind", s.Log.Kind, str(entry["kind"]))
		bad("tool", s.RawTool, str(entry["tool"]))
		bad("preview", s.ResponsePreview, str(entry["response_preview"]))
		a := s.Log.Args
		for _, f := range []struct {
			key, got string
			has      trajectory.ArgSet
		}{
			{"filePath", a.FilePath, trajectory.HasFilePath}, {"path", a.Path, trajectory.HasPath},
			{"command", a.Command, trajectory.HasCommand}, {"query", a.Query, trajectory.HasQuery},
			{"code", a.Code, trajectory.HasCode}, {"oldString", a.OldString, trajectory.HasOldString},
			{"newString", a.NewString, trajectory.HasNewString}, {"content", a.Content, trajectory.HasContent},
		} {
			_, present := args[f.key]
			bad("args."+f.key, f.got, str(args[f.key]))
			bad("has "+f.key, a.Has&f.has != 0, present)
		}
		for key, got := range map[string]int64{"startLine": a.StartLine, "endLine": a.EndLine} {
			want := "0"
			if v, ok := args[key]; ok {
				want = fmt.Sprint(v)
			}
			bad("args."+key, fmt.Sprint(got), want)
		}
		var again map[string]any
		d := json.NewDecoder(strings.NewReader(a.Raw))
		d.UseNumber()
		if err := d.Decode(&again); err != nil || !reflect.DeepEqual(again, args) {
			t.Errorf("%s: raw arguments differ: %v", r.ID, err)
		}
	}
}

// comparePublished writes every row as the CSV has it and compares cell by cell.
func comparePublished(t *testing.T, set *conformance.Set, got *collected, files map[string][]byte) {
	t.Helper()
	byID := map[string]schema.Published{}
	for _, row := range got.published {
		byID[row.TrajectoryID] = row
	}
	rows, err := csv.NewReader(bytes.NewReader(files["agentlens-bench/annotations/trajectories.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := 0
	for _, want := range rows[1:] {
		v := reflect.ValueOf(byID[want[2]])
		for i, cell := range want {
			if strings.HasPrefix(rows[0][i], "stage_coverage_") && cell == "0" {
				cell = "0.0" // the authors' script writes the whole number for a stage without states
			}
			if text := pythonCell(v.Field(i)); text != cell {
				t.Errorf("%s: column %s: %s, want %s", want[2], rows[0][i], text, cell)
			}
			cells++
		}
	}
	if cells != set.Count(149, 1815)*40 {
		t.Errorf("%d cells compared", cells)
	}
}

func pythonCell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Bool:
		return map[bool]string{true: "True", false: "False"}[v.Bool()]
	case reflect.Float64:
		s := strconv.FormatFloat(v.Float(), 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	return fmt.Sprint(v.Interface())
}

// TestReleaseInAnyContainer reads a part of the release from a folder, a folder above it, a
// shuffled tar and a zip.
func TestReleaseInAnyContainer(t *testing.T) {
	files := unpacked(t, conformance.Extract(t).Release())
	for name := range files {
		keep := strings.Contains(name, "requests-2931") || strings.Contains(name, "annotations/") || strings.Count(name, "/") == 1
		if !keep {
			delete(files, name)
		}
	}
	names := sortedKeys(files)
	dir := t.TempDir()
	for _, name := range names {
		file := filepath.Join(dir, "folder", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	shuffled := filepath.Join(dir, "shuffled.tar")
	writeTar(t, shuffled, entries(names, files, ""))
	dotted := filepath.Join(dir, "dotted.tar.zst")
	writeTar(t, dotted, entries(names, files, "./"))
	zipped := filepath.Join(dir, "release.zip")
	writeZip(t, zipped, entries(names, files, ""))

	want, err := read(t, ingest.Options{Jobs: 1}, filepath.Join(dir, "folder", "agentlens-bench"))
	if err != nil {
		t.Fatal(err)
	}
	if len(want.runs) != 35 {
		t.Fatalf("%d runs", len(want.runs))
	}
	for _, source := range []string{filepath.Join(dir, "folder"), shuffled, dotted, zipped} {
		got, err := read(t, ingest.Options{Jobs: 4}, source)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: items or digest differ: %d and %d runs, %v and %v", source, len(got.runs), len(want.runs), got.summary, want.summary)
		}
	}
}

// TestReleaseAsLines reads runs of the release line by line from one file: they are the same
// runs as from files of their own.
func TestReleaseAsLines(t *testing.T) {
	dir := t.TempDir()
	var lines bytes.Buffer
	for name, data := range unpacked(t, conformance.Extract(t).Release()) {
		if !strings.Contains(name, "/trajectories/") || !strings.Contains(name, "requests-2931") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&lines, data); err != nil {
			t.Fatal(err)
		}
		lines.WriteByte('\n')
	}
	file := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	known := func(source string) []string {
		got, err := read(t, ingest.Options{Jobs: 2}, source)
		if err != nil {
			t.Fatal(err)
		}
		var runs []string
		for _, r := range got.runs {
			runs = append(runs, fmt.Sprint(r.ID, r.TaskID, r.Model, r.Outcome, len(r.States), r.Warnings))
		}
		for _, e := range got.evidence {
			runs = append(runs, fmt.Sprint(e.Key, e.Rank, e.Source, e.Outcome))
		}
		slices.Sort(runs)
		return append(runs, fmt.Sprint(len(got.refused)))
	}
	one, many := known(file), known(dir)
	if len(many) != 35*3+1 || !slices.Equal(one, many) {
		t.Errorf("%d and %d items, such as %s and %s", len(one), len(many), one[0], many[0])
	}
}

func BenchmarkReadRelease(b *testing.B) {
	archive := conformance.Release(b)
	var bytes int64
	for b.Loop() {
		summary, err := ingest.Read(context.Background(), []string{archive}, ingest.Options{Jobs: 2}, func(ingest.Item) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		bytes = summary.Sources[0].Bytes
	}
	b.SetBytes(bytes)
}
