package ingest_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
)

// A log that an editor or git of Windows wrote again, with a byte order mark and CRLF, or
// that was compressed, gives the same runs.
func TestTheSameRunsFromWindowsAndCompressed(t *testing.T) {
	const row = `{"instance_id":"a__b-%d","resolved":true,"messages":[{"role":"user","content":"t"},{"role":"assistant","content":"<function=bash><parameter=command>ls</parameter></function>"},{"role":"user","content":"OBSERVATION:\nx"}]}` + "\n"
	for file, data := range map[string]string{
		"output.jsonl": evalLine("a__b-1", "m", "") + evalLine("a__b-2", "m", ""),
		"rows.jsonl":   fmt.Sprintf(row, 1) + fmt.Sprintf(row, 2),
		"rows.json":    fmt.Sprintf(row, 1) + fmt.Sprintf(row, 2),
		"events.jsonl": `{"kind":"ActionEvent","id":"a","timestamp":"t","source":"agent","action":{"command":"ls"},"tool_name":"terminal"}` + "\n" +
			`{"kind":"ObservationEvent","id":"o","timestamp":"t","source":"environment","action_id":"a","observation":{"content":"x","exit_code":0}}` + "\n",
		"claude.jsonl": `{"type":"user","sessionId":"s","uuid":"1","cwd":"/p","message":{"content":"x"}}` + "\n" +
			`{"type":"assistant","sessionId":"s","uuid":"2","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}}]}}` + "\n",
		"codex.jsonl": `{"type":"session_meta","payload":{"id":"x","cwd":"/w"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"1"}}` + "\n",
		"trajectory.json": "{\n" + `"schema_version":"ATIF-v1.5",` + "\n" + `"agent":{"name":"a","version":"1"},"steps":[` + "\n" +
			`{"step_id":1,"source":"agent","message":"","tool_calls":[{"tool_call_id":"1","function_name":"bash","arguments":{"command":"ls"}}]}]}` + "\n",
	} {
		describe := func(name string, content []byte) string {
			dir := t.TempDir()
			write(t, filepath.Join(dir, name), content)
			got := readtest.Read(t, ingest.Options{}, dir)
			if got.Err != nil || len(got.Refused) > 0 || len(got.Runs) == 0 {
				t.Fatalf("%s: %v %v", name, got.Err, got.Refused)
			}
			var out []string
			for _, r := range got.Runs {
				text := fmt.Sprintf("%s %s %s:%d %s %v:", r.ID, r.TaskID, r.SourceFile, r.SourceRecord, r.Format, r.Warnings)
				for _, s := range r.States[1:] {
					text += fmt.Sprintf(" %s %q = %q", s.Tool, s.Command(), s.ResponsePreview)
				}
				out = append(out, text)
			}
			slices.Sort(out)
			return strings.Join(out, "\n")
		}
		windows := "\ufeff" + strings.ReplaceAll(data, "\n", "\r\n")
		want := describe(file, []byte(data))
		for name, content := range map[string][]byte{
			file:          []byte(windows),
			file + ".gz":  compress(t, "x.gz", []byte(data)),
			file + ".zst": compress(t, "x.zst", []byte(windows)),
		} {
			if got := describe(name, content); got != want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
		}
	}
	// The tables beside them, too.
	two := evalLine("a__b-1", "m", "") + evalLine("a__b-2", "m", "")
	const table = "\ufeffinstance_id,passed\r\na__b-1,1\r\n\r\na__b-2,0\r\n"
	for name, content := range map[string]string{"labels.csv": table, "labels.csv.gz": string(compress(t, "x.gz", []byte(table)))} {
		got := settled(t, ingest.Options{}, map[string]string{"output.jsonl": two, name: content})
		if want := []string{"a__b-1 m=pass (labels table)", "a__b-2 m=fail (labels table)"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
