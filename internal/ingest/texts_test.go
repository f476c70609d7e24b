package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
)

// Logs hold JSON inside of texts, and there too are characters that tables can't hold: NUL,
// and half of a pair of surrogates. They become U+FFFD, and cost nothing around them.
func TestTextsAreFitForTablesInEveryFormat(t *testing.T) {
	const bad = `a\u0000b\ud83dc`
	const want = "a\ufffdb\ufffdc"
	once := strings.ReplaceAll(bad, `\`, `\\`)   // in a text that is JSON
	twice := strings.ReplaceAll(once, `\`, `\\`) // in a text in such a text
	toolCall := `{"id":"1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"` + once + `\"}"}}`
	v1 := func(rest string) string {
		return `{"kind":"ActionEvent","id":"a","timestamp":"2026-01-02T03:04:05","source":"agent","tool_name":"terminal",` + rest + "}\n"
	}
	codex := func(command, output string) string {
		return `{"type":"session_meta","payload":{"id":"x","cwd":"/w"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":` + command + `}","call_id":"1"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":` + output + "}}\n"
	}
	atif := func(step string) string {
		return `{"schema_version":"ATIF-v1.5","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent",` + step + `}]}`
	}
	for _, c := range []struct{ name, file, data string }{
		{"messages", "r.jsonl", `{"instance_id":"a__b-1","messages":[{"role":"user","content":"t"},{"role":"assistant","content":null,"tool_calls":[` + toolCall + `]},{"role":"tool","tool_call_id":"1","content":"` + bad + `"}]}`},
		{"messages in a text", "r.jsonl", `{"instance_id":"a__b-1","messages":"[{\"role\":\"user\",\"content\":\"t\"},{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"` + twice + `\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"` + once + `\"}]"}`},
		{"mini-swe-agent", "a__b-1.traj.json", `{"trajectory_format":"mini-swe-agent-1.1","info":{},"messages":[{"role":"user","content":"t"},{"role":"assistant","content":"","tool_calls":[` + toolCall + `]},{"role":"tool","tool_call_id":"1","content":"x","extra":{"raw_output":"` + bad + `","returncode":0}}]}`},
		{"OpenHands V0", "t.json", `[{"id":1,"source":"agent","timestamp":"t","action":"run","args":{"command":"` + bad + `"}},{"id":2,"source":"agent","timestamp":"t","cause":1,"observation":"run","content":"` + bad + `"}]`},
		{"OpenHands V1", "e.jsonl", v1(`"action":{"command":"`+bad+`"}`) + `{"kind":"ObservationEvent","id":"o","timestamp":"t","action_id":"a","observation":{"content":"` + bad + `"}}`},
		{"OpenHands V1, a call that was not parsed", "e.jsonl", v1(`"action":null,"tool_call":{"id":"c","name":"terminal","arguments":"{\"command\":\"`+once+`\"}"}`) + `{"kind":"AgentErrorEvent","id":"o","timestamp":"t","action_id":"a","error":"` + bad + `"}`},
		{"ATIF", "t.json", atif(`"message":"","tool_calls":[{"tool_call_id":"1","function_name":"bash","arguments":{"command":["bash","-lc","` + bad + `"]}}],"observation":{"results":[{"content":"` + bad + `"}]}`)},
		{"ATIF, arguments in a text", "t.json", atif(`"message":"","tool_calls":[{"tool_call_id":"1","function_name":"bash","arguments":"{\"command\":\"` + once + `\"}"}],"observation":{"results":[{"content":"` + bad + `"}]}`)},
		{"Terminus", "t.json", atif(`"message":"{\"commands\":[{\"keystrokes\":\"` + once + `\"}]}","observation":{"results":[{"content":"` + bad + `"}]}`)},
		{"Codex", "s.jsonl", codex(`[\"bash\",\"-lc\",\"`+once+`\"]`, `"{\"output\":\"`+once+`\",\"metadata\":{\"exit_code\":0}}"`)},
		{"Codex, an output in parts", "s.jsonl", codex(`\"`+once+`\"`, `[{"type":"text","text":"`+bad+`"}]`)},
		{"SWE-agent", "a__b-1.traj", `{"trajectory":[{"action":"` + bad + `","observation":"` + bad + `","state":"{\"working_dir\":\"/` + once + `\"}"}],"info":{},"replay_config":"{\"agent\":{\"model\":{\"name\":\"` + once + `\"}}}"}`},
		{"Claude Code", "s.jsonl", `{"type":"assistant","sessionId":"s","uuid":"2","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"` + bad + `"}}]}}` + "\n" +
			`{"type":"user","sessionId":"s","uuid":"3","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"` + bad + `"}]}}` + "\n"},
	} {
		got := readtest.Read(t, ingest.Options{}, readtest.Files(t, map[string]string{c.file: c.data}))
		if got.Err != nil || len(got.Runs) != 1 || len(got.Runs[0].States) != 2 {
			t.Errorf("%s: %v %v, %d runs", c.name, got.Err, got.Refused, len(got.Runs))
			continue
		}
		r := got.Runs[0]
		if s := r.States[1]; s.Command() != want || s.ResponsePreview != want {
			t.Errorf("%s: command %q, answer %q, want %q", c.name, s.Command(), s.ResponsePreview, want)
		}
		if all := fmt.Sprintf("%+v %+v %+v", *r, r.States[1], r.States[1].Log); strings.ContainsAny(all, "\x00") || strings.Contains(all, `\u0000`) || strings.Contains(all, `\ud83d`) {
			t.Errorf("%s: %q", c.name, all)
		}
	}
}
