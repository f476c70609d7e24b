package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// TestRealRuns reads three of the real collections with everything that stands beside them.
func TestRealRuns(t *testing.T) {
	archive := conformance.Dir(t, "data", "real-runs.tar.zst")
	for _, tt := range []struct{ folder, want string }{
		{"mini-swe-agent-v1/", `
			cached tokens: 255694274
			errors by exit_code: 1438
			errors by flag: 26
			exit 0: 17515
			exit 123: 3
			exit 127: 30
			exit 16: 30
			exit 1: 1242
			exit 24: 2
			exit 28: 5
			exit 2: 104
			exit 3: 4
			exit 4: 13
			exit 5: 5
			input tokens: 306300590
			outcome fail: 129
			outcome pass: 371
			output tokens: 4706610
			runs: 500
			steps: 18979
			tool run_in_terminal: 18979
			warning format_error: 684`},
		{"nebius-swe-agent/", `
			errors by text: 157
			outcome pass: 105
			runs: 105
			steps: 1200
			tool create_file: 102
			tool file_search: 97
			tool grep_search: 106
			tool read_file: 224
			tool replace_string_in_file: 305
			tool run_in_terminal: 366
			warning synthetic_message: 210`},
		{"swe-agent-demos/", `
			errors by text: 12
			outcome unknown: 19
			runs: 19
			steps: 184
			tool create_file: 15
			tool file_search: 9
			tool read_file: 18
			tool replace_string_in_file: 41
			tool run_in_terminal: 101
			warning skipped_action: 7`},
	} {
		t.Run(tt.folder, func(t *testing.T) {
			got := readtest.Read(t, ingest.Options{Jobs: 2}, readtest.Extract(t, archive, tt.folder))
			if got.Err != nil || len(got.Refused) > 0 {
				t.Fatal(got.Err, got.Refused)
			}
			got.Settle()
			readtest.WantTally(t, got.Runs, tt.want)
		})
	}
}

// TestForeignFixtures reads the examples of the foreign formats as users give them: a folder
// of files, of which sessions are one record although they have many lines.
func TestForeignFixtures(t *testing.T) {
	var got []string
	for _, folder := range []string{"sweagent", "mini-sweagent", "messages", "claude-code", "codex", "gemini"} {
		r := readtest.Read(t, ingest.Options{Jobs: 2}, conformance.Dir(t, "fixtures", folder))
		if r.Err != nil || len(r.Refused) > 0 {
			t.Error(folder, r.Err, r.Refused)
		}
		steps := 0
		for _, run := range r.Runs {
			steps += len(run.States) - 1
			if run.SourceFile == "" || run.SourceRecord != 0 || run.SourceSHA256 == "" {
				t.Errorf("%s: %+v", folder, run)
			}
		}
		got = append(got, fmt.Sprintf("%s: %d runs, %d steps", folder, len(r.Runs), steps))
	}
	want := "sweagent: 9 runs, 89 steps, mini-sweagent: 4 runs, 55 steps, messages: 5 runs, 44 steps, claude-code: 5 runs, 30 steps, codex: 1 runs, 14 steps, gemini: 1 runs, 11 steps"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// TestToolsOption reads a session with a mapping of its own.
func TestToolsOption(t *testing.T) {
	table, err := tools.Load(strings.NewReader("claude-code\tmcp__fs__cat\tread_file\tname=filePath\n"))
	if err != nil {
		t.Fatal(err)
	}
	dir := readtest.Files(t, map[string]string{"s.jsonl": `{"type":"user","sessionId":"s","uuid":"1","cwd":"/p","message":{"content":"x"}}
{"type":"assistant","sessionId":"s","uuid":"2","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"mcp__fs__cat","input":{"name":"/p/a.py"}}]}}
`})
	for want, opt := range map[string]ingest.Options{
		"file_read:a.py":                   {Tools: table},
		"tool_result:mcp__fs__cat:success": {},
		"file_read:a.py ":                  {Tools: table, Format: "claude-code"},
	} {
		r := readtest.Read(t, opt, dir)
		if r.Err != nil || len(r.Runs) != 1 || r.Runs[0].States[1].ResultingState != strings.TrimSpace(want) {
			t.Errorf("%s: %v %+v", want, r.Err, r.Runs)
		}
	}
}

// TestOddLines reads rows as data sets have them: a line of many megabytes, a byte order mark
// and line ends of Windows, NUL characters, several runs of one instance, and one bad row.
func TestOddLines(t *testing.T) {
	row := func(id, content string) string {
		return fmt.Sprintf(`{"instance_id":"a__b-1_%s","resolved":%v,"messages":[{"role":"user","content":"t"},{"role":"assistant","content":"<function=bash><parameter=command>%s</parameter></function>"},{"role":"user","content":"OBSERVATION:\nx"}]}`, id, id == "1", content)
	}
	lines := []string{"\ufeff" + row("1", "echo 1"), row("2", "cat <<'E' > a\\n"+strings.Repeat("0123456789abcdef", 12<<16)+"\\nE"), row("3", `a\u0000b`), `{"instance_id":"a__b-1_4","messages":[{"role":"user","content":NaN}]}`}
	dir := readtest.Files(t, map[string]string{"rows.jsonl": strings.Join(lines, "\r\n") + "\r\n"})
	r := readtest.Read(t, ingest.Options{Jobs: 2}, dir)
	if r.Err != nil || len(r.Runs) != 3 || len(r.Refused) != 1 || r.Refused[0].Code != "non_finite_number" || r.Refused[0].Line != 4 {
		t.Fatal(r.Err, len(r.Runs), r.Refused)
	}
	passed, commands := 0, 0
	for _, run := range r.Runs {
		if run.TaskID != "a__b-1" {
			t.Error(run.TaskID)
		}
		if run.Outcome == trajectory.Pass {
			passed++
		}
		commands += len(run.States[1].Command())
		if run.SourceRecord == 3 && (run.States[1].Command() != "a\ufffdb" || len(run.Warnings) != 1) {
			t.Errorf("%q %v", run.States[1].Command(), run.Warnings)
		}
	}
	if passed != 1 || commands < 12<<20 {
		t.Errorf("%d passed, %d bytes of commands", passed, commands)
	}
}

type parquetCall struct {
	ID       string `parquet:"id,optional"`
	Function *struct {
		Name      string `parquet:"name,optional"`
		Arguments string `parquet:"arguments,optional"`
	} `parquet:"function,optional"`
}

type parquetRow struct {
	TrajectoryID string `parquet:"trajectory_id"`
	InstanceID   string `parquet:"instance_id"`
	Resolved     int64  `parquet:"resolved"`
	Trajectory   []struct {
		Role       string        `parquet:"role"`
		Content    *string       `parquet:"content,optional"`
		ToolCallID *string       `parquet:"tool_call_id,optional"`
		ToolCalls  []parquetCall `parquet:"tool_calls,list,optional"`
	} `parquet:"trajectory,list"`
}

// TestParquet reads a data set in Parquet, passes over one that is none, and refuses what is
// damaged.
func TestParquet(t *testing.T) {
	rows := make([]parquetRow, 3)
	text := `[{"Role":"system","Content":"s"},{"Role":"user","Content":"t"},
{"Role":"assistant","ToolCalls":[{"ID":"1","Function":{"Name":"execute_bash","Arguments":"{\"command\":\"ls\"}"}}]},
{"Role":"tool","ToolCallID":"1","Content":"a\n[Command finished with exit code 0]"}]`
	for i := range rows {
		if err := json.Unmarshal([]byte(text), &rows[i].Trajectory); err != nil {
			t.Fatal(err)
		}
		rows[i].TrajectoryID, rows[i].InstanceID, rows[i].Resolved = fmt.Sprintf("t%d", i+1), "a__b-1", int64(i%2)
	}
	runs, other := parquetFile(t, rows), parquetFile(t, []struct {
		TaskID string `parquet:"task_id"`
	}{{"a"}})
	dir := readtest.Files(t, map[string]string{"data/train-0.parquet": runs, "other.parquet": other, "bad.parquet": runs[:len(runs)/2]})
	r := readtest.Read(t, ingest.Options{Jobs: 2}, dir)
	if r.Err != nil || len(r.Refused) != 1 || r.Refused[0].Code != "bad_parquet" || r.Refused[0].File != "bad.parquet" {
		t.Fatal(r.Err, r.Refused)
	}
	var got []string
	for _, run := range r.Runs {
		got = append(got, fmt.Sprintf("%s %s %s:%d %s %s", run.ID, run.TaskID, run.SourceFile, run.SourceRecord, run.Outcome, run.States[1].ResultingState))
	}
	want := "t1 a__b-1 data/train-0.parquet:1 fail terminal:ls, t2 a__b-1 data/train-0.parquet:2 pass terminal:ls, t3 a__b-1 data/train-0.parquet:3 fail terminal:ls"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if r.Summary.Skipped["data file in another format (.parquet)"] != 1 || r.Summary.Sources[0].Files != 2 {
		t.Errorf("%+v", r.Summary)
	}
	again := readtest.Read(t, ingest.Options{Jobs: 1}, readtest.Tar(t, dir, 1))
	if again.Err != nil || again.Summary.Sources[0] != r.Summary.Sources[0] {
		t.Errorf("%v %+v, in a folder %+v", again.Err, again.Summary.Sources, r.Summary.Sources)
	}
}

func parquetFile[T any](t *testing.T, rows []T) string {
	t.Helper()
	var buf strings.Builder
	w := parquet.NewGenericWriter[T](&buf)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}
