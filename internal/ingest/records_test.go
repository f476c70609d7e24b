package ingest_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// oneLine is a run of the release's shape in one line; swap replaces parts of it.
func oneLine(swap ...string) []byte {
	line := string(bytes.ReplaceAll(run("x"), []byte("\n"), nil))
	for i := 0; i < len(swap); i += 2 {
		if !strings.Contains(line, swap[i]) {
			panic("nothing to swap: " + swap[i])
		}
		line = strings.Replace(line, swap[i], swap[i+1], 1)
	}
	return []byte(line)
}

func TestBadRecords(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for _, c := range []struct {
		name string
		line []byte
		code string
		says []string
	}{
		{"NaN", oneLine(`"input_tokens": 5`, `"input_tokens": NaN`), "non_finite_number", []string{"NaN", "byte ", "allow_nan"}},
		{"infinity", oneLine(`"step": 1`, `"step": -Infinity`), "non_finite_number", []string{"Infinity"}},
		{"NaN where nothing is read", oneLine(`"initial_state"`, `"x": [1, NaN], "initial_state"`), "non_finite_number", nil},
		{"nested too deep", oneLine(`"initial_state"`, `"x": `+deep+`, "initial_state"`), "too_deep", []string{"10000"}},
		{"cut", oneLine()[:300], "bad_json", []string{"ends inside a value"}},
		{"text behind", append(oneLine(), " x"...), "bad_json", nil},
		{"raw control character", oneLine("seen x", "seen \x01"), "bad_json", nil},
		{"NUL byte", oneLine("seen x", "seen \x00"), "bad_json", nil},
		{"wrong type", oneLine(`"observation": "seen x"`, `"observation": 5`), "bad_type", []string{"/states/state_1/observation", "a number"}},
		{"states of another type", oneLine(`"tool_used": null`, `"tool_used": {}`), "bad_type", []string{"tool_used"}},
		{"half a token", oneLine(`"input_tokens": 5`, `"input_tokens": 5.5`), "bad_type", []string{"whole number"}},
		{"stage", oneLine(`"exploration"`, `"sleeping"`), "bad_stage", []string{"state_1", "sleeping"}},
		{"unknown object", []byte(`{"hello": 1, "world": {}}`), "unknown_format", []string{`"hello", "world"`, "agentlens-release", "option format"}},
		{"unknown array", []byte(`[1, 2]`), "unknown_format", []string{"an array of a number"}},
		{"no JSON", []byte(`hello`), "bad_json", nil},
		{"UTF-16", []byte("\xff\xfe{\x00}\x00"), "utf16", []string{"UTF-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "runs.jsonl")
			write(t, file, bytes.Join([][]byte{oneLine(), c.line, oneLine()}, []byte("\n")))
			got, err := read(t, ingest.Options{}, file)
			if c.name == "UTF-16" {
				// the mark counts at the beginning of a file
				write(t, file, c.line)
				_, err = read(t, ingest.Options{}, file)
				wantError(t, err, c.says...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got.runs) != 2 || len(got.refused) != 1 {
				t.Fatalf("%d runs, refused %v", len(got.runs), got.refused)
			}
			e := got.refused[0]
			if e.Code != c.code || e.File != "runs.jsonl" || e.Line != 2 {
				t.Errorf("%+v", e)
			}
			for _, w := range c.says {
				if !strings.Contains(e.Error(), w) {
					t.Errorf("%q does not say %q", e.Error(), w)
				}
			}
			if len(e.Message) > 2000 {
				t.Errorf("message of %d bytes", len(e.Message))
			}
		})
	}
}

func TestRepairedRecords(t *testing.T) {
	for _, c := range []struct {
		name, observation, want, warning string
	}{
		{"invalid UTF-8", "a\xff\xfeb", "a\ufffd\ufffdb", "invalid_utf8"},
		{"half a character", "caf\xc3", "caf\ufffd", "invalid_utf8"},
		{"NUL", `a\u0000b`, "a\ufffdb", "nul_character"},
		{"a backslash before the text u0000", `a\\u0000b`, `a\u0000b`, ""},
		{"NUL after a backslash", `a\\\u0000b`, "a\\\ufffdb", "nul_character"},
		{"lone surrogate", `a\ud83db`, "a\ufffdb", ""},
		{"lone surrogate in capitals", `a\uDE00\uD83Db`, "a\ufffd\ufffdb", ""},
		{"pair of surrogates", `a\ud83d\ude00b`, "a\U0001f600b", ""},
		{"escapes", `\u00e9\n\/\"`, "é\n/\"", ""},
	} {
		file := filepath.Join(t.TempDir(), "run.json")
		write(t, file, oneLine("seen x", c.observation, `"ls"}`, `"`+c.observation+`"}`))
		got, err := read(t, ingest.Options{}, file)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r := got.runs[0]
		if s := r.States[1]; s.Observation != c.want || s.Command() != c.want {
			t.Errorf("%s: %q and %q, want %q", c.name, s.Observation, s.Command(), c.want)
		}
		if raw := r.States[1].Log.Args.Raw; !jsontext.Value(raw).IsValid() {
			t.Errorf("%s: arguments %s", c.name, raw)
		}
		var codes []string
		for _, w := range r.Warnings {
			codes = append(codes, w.Code)
		}
		if strings.Join(codes, ",") != c.warning {
			t.Errorf("%s: warnings %v", c.name, r.Warnings)
		}
	}
}

func TestOddRecords(t *testing.T) {
	crlf := bytes.ReplaceAll(bytes.Join([][]byte{oneLine(), {}, oneLine(), {}}, []byte("\n")), []byte("\n"), []byte("\r\n"))
	for _, c := range []struct {
		name, file string
		data       []byte
		runs       int
		lines      bool
	}{
		{"byte order mark, CRLF, blank lines", "runs.jsonl", append([]byte("\ufeff"), crlf...), 2, true},
		{"JSON Lines by content", "runs.json", append(append(oneLine(), '\n'), oneLine()...), 2, true},
		{"JSON Lines without a suffix", "runs", append(append(oneLine(), '\n'), oneLine()...), 2, true},
		{"one line", "run.json", append(oneLine(), '\n'), 1, false},
		{"one line and blanks", "run.json", append(oneLine(), " \n\n \n"...), 1, false},
		{"many lines", "run.json", run("x"), 1, false},
		{"many lines under the wrong name", "run.jsonl", run("x"), 1, false},
		{"byte order mark", "run.json", append([]byte("\ufeff"), run("x")...), 1, false},
		{"no line end", "runs.jsonl", oneLine(), 1, true},
		{"repeated key", "run.json", oneLine(`"observation": "seen x"`, `"observation": 7, "observation": "seen x"`), 0, false},
		{"repeated key of one type", "run.json", oneLine(`"observation": "seen x"`, `"observation": "old", "observation": "seen x"`), 1, false},
		{"step as a float", "run.json", oneLine(`"step": 1,`, `"step": 1.0,`), 1, false},
	} {
		file := filepath.Join(t.TempDir(), c.file)
		write(t, file, c.data)
		got, err := read(t, ingest.Options{}, file)
		if c.runs == 0 {
			wantError(t, err, "observation")
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(got.runs) != c.runs || len(got.refused) != 0 {
			t.Errorf("%s: %d runs, refused %v", c.name, len(got.runs), got.refused)
			continue
		}
		r := got.runs[0]
		if (r.SourceRecord > 0) != c.lines || r.SourceFile != c.file {
			t.Errorf("%s: at %s line %d", c.name, r.SourceFile, r.SourceRecord)
		}
		if s := r.States[1]; s.Observation != "seen x" || s.Step != 1 {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// TestLargeRecords reads lines of 100 MB and refuses those above the limit without holding
// them.
func TestLargeRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: writes 200 MB, and -short is set")
	}
	dir := t.TempDir()
	big := oneLine("seen x", strings.Repeat("abc def ", 100<<20/8))
	file := filepath.Join(dir, "runs.jsonl")
	write(t, file, bytes.Join([][]byte{oneLine(), big, oneLine()}, []byte("\n")))
	got, err := read(t, ingest.Options{Jobs: 2}, file)
	if err != nil || len(got.runs) != 3 {
		t.Fatalf("%v, %d runs", err, len(got.runs))
	}
	for _, r := range got.runs {
		if n := r.States[1].ObservationChars; (n == 100<<20) != (r.SourceRecord == 2) {
			t.Errorf("line %d: %d characters", r.SourceRecord, n)
		}
	}
	got, big = nil, nil
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err = read(t, ingest.Options{Jobs: 2, Limits: ingest.Limits{MaxRecordBytes: 1 << 20}}, file)
	runtime.ReadMemStats(&after)
	if err != nil || len(got.runs) != 2 || len(got.refused) != 1 {
		t.Fatalf("%v, %d runs, %v", err, len(got.runs), got.refused)
	}
	if e := got.refused[0]; e.Code != "record_too_large" || e.Line != 2 || !strings.Contains(e.Hint, "option max-record-bytes") {
		t.Errorf("%+v", e)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes allocated to skip a line", n)
	}
	// The same as a document, and its digest is that of the whole file.
	file = filepath.Join(dir, "run.json")
	write(t, file, run(strings.Repeat("x", 3<<20)))
	_, err = read(t, ingest.Options{Limits: ingest.Limits{MaxRecordBytes: 1 << 20}}, file)
	wantError(t, err, "option max-record-bytes")
}

func TestFormatOverride(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.json")
	write(t, file, oneLine())
	if _, err := read(t, ingest.Options{Format: "agentlens-release"}, file); err != nil {
		t.Error(err)
	}
	_, err := read(t, ingest.Options{Format: "nonsense"}, file)
	wantError(t, err, "nonsense", "agentlens-release", "openhands-v0")
	_, err = read(t, ingest.Options{Format: "openhands-v0"}, file)
	wantError(t, err, "has no trajectory", "option format")
}

func TestReleaseWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		swap []string
		code string
	}{
		{"initial", []string{`"initial_state": "state_0"`, `"initial_state": "state_1"`}, "initial_state"},
		{"status", []string{`"passed"`, `"maybe"`}, "unknown_status"},
		{"line range", []string{`"tool_used": null`, `"tool_used": null, "line_range": [1]`}, "bad_line_range"},
		{"no step", []string{`"step": 1, "observation"`, `"observation"`}, "missing_step"},
		{"another model", []string{`"model_name": "m"`, `"model_name": "n"`}, "name_conflict"},
	} {
		file := filepath.Join(t.TempDir(), "o__r-1-logs-m-fail-1_pta.json")
		write(t, file, oneLine(c.swap...))
		got, err := read(t, ingest.Options{}, file)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var codes []string
		for _, w := range got.runs[0].Warnings {
			codes = append(codes, w.Code)
		}
		if strings.Join(codes, ",") != c.code {
			t.Errorf("%s: %v", c.name, got.runs[0].Warnings)
		}
		want := trajectory.Pass
		if c.name == "status" {
			want = trajectory.Fail // the file name is left
		}
		if got.runs[0].Outcome != want {
			t.Errorf("%s: outcome %s", c.name, got.runs[0].Outcome)
		}
	}
}

// A single trace that is no chain is refused: the method is not defined for it.
func TestReleaseRefusesWhatIsNoChain(t *testing.T) {
	for name, swap := range map[string][]string{
		"dangling":     {`"to_state": "state_1"`, `"to_state": "state_9"`},
		"extra":        {`"transitions": [`, `"transitions": [{"from_state": "state_1", "to_state": "state_0"}, `},
		"backwards":    {`"from_state": "state_0"`, `"from_state": "state_1"`},
		"falling step": {`"step": 1, "observation"`, `"step": -1, "observation"`},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "o__r-1-logs-m-fail-1_pta.json"), oneLine(swap...))
		write(t, filepath.Join(dir, "o__r-1-logs-m-fail-2_pta.json"), oneLine())
		got, err := read(t, ingest.Options{}, dir)
		if err != nil || len(got.runs) != 1 || len(got.refused) != 1 {
			t.Fatalf("%s: %v, %d runs, %v", name, err, len(got.runs), got.refused)
		}
		if e := got.refused[0]; e.Code != "not_a_chain" || e.Record != "o__r-1-logs-m-fail-1_pta" {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestBadTableRows(t *testing.T) {
	files := unpacked(t, conformance.Extract(t).Release())
	table := string(files["agentlens-bench/annotations/trajectories.csv"])
	lines := strings.SplitAfter(table, "\n")[:6]
	lines[2] = strings.Replace(lines[2], ",True,", ",yes,", 1)
	lines[3] = "a,b,c\n"
	lines[4] = strings.Replace(lines[4], ",", ",,", 1)
	file := filepath.Join(t.TempDir(), "trajectories.csv")
	write(t, file, []byte("\ufeff"+strings.ReplaceAll(strings.Join(lines, ""), "\n", "\r\n")))
	got, err := read(t, ingest.Options{}, file)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.published) != 2 || len(got.refused) != 3 {
		t.Fatalf("%d rows, refused %v", len(got.published), got.refused)
	}
	all := fmt.Sprint(got.refused)
	for _, w := range []string{"column passed: \"yes\": want True or False", "3 cells, the header has 40", "41 cells"} {
		if !strings.Contains(all, w) {
			t.Errorf("%s: not said: %s", all, w)
		}
	}
}
