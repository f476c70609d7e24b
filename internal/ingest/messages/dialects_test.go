package messages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest/session/sessiontest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// turn is what a dialect has to carry: what the model says, one call and its answer.
type turn struct{ thought, command, answer string }

type obj = map[string]any

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// dialects writes a dialogue in every way that is read, each as the list of messages.
var dialects = map[string]func(n int, t turn) []any{
	"openai": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": t.thought, "tool_calls": []any{obj{"id": fmt.Sprint("c", n), "type": "function", "function": obj{"name": "bash", "arguments": text(obj{"command": t.command})}}}},
			obj{"role": "tool", "tool_call_id": fmt.Sprint("c", n), "content": t.answer},
		}
	},
	"openai function_call": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": t.thought, "function_call": obj{"name": "bash", "arguments": text(obj{"command": t.command})}},
			obj{"role": "function", "name": "bash", "content": t.answer},
		}
	},
	"flat, numbers as ids": func(n int, t turn) []any {
		return []any{
			obj{"role": "Assistant", "content": t.thought, "tool_calls": []any{obj{"id": n, "name": "bash", "arguments": obj{"command": t.command}}}},
			obj{"role": "Tool", "tool_call_id": n, "content": t.answer},
		}
	},
	"function as a name": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": []any{obj{"type": "text", "text": t.thought}}, "tool_calls": []any{obj{"id": fmt.Sprint(n), "type": "function", "function": "bash", "arguments": obj{"cmd": t.command}}}},
			obj{"role": "tool", "tool_call_id": fmt.Sprint(n), "content": []any{obj{"type": "text", "text": t.answer}}},
		}
	},
	"responses": func(n int, t turn) []any {
		return []any{
			obj{"type": "reasoning", "summary": []any{}},
			obj{"type": "message", "role": "assistant", "content": []any{obj{"type": "output_text", "text": t.thought}}},
			obj{"type": "function_call", "id": fmt.Sprint("fc", n), "call_id": fmt.Sprint("call", n), "name": "bash", "arguments": text(obj{"command": t.command})},
			obj{"type": "function_call_output", "call_id": fmt.Sprint("call", n), "output": t.answer},
		}
	},
	"anthropic": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": []any{obj{"type": "thinking", "thinking": "hm"}, obj{"type": "text", "text": t.thought}, obj{"type": "tool_use", "id": fmt.Sprint("toolu", n), "name": "bash", "input": obj{"command": t.command}}}},
			obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": fmt.Sprint("toolu", n), "content": []any{obj{"type": "text", "text": t.answer}}}}},
		}
	},
	"vercel": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": []any{obj{"type": "text", "text": t.thought}, obj{"type": "tool-call", "toolCallId": fmt.Sprint(n), "toolName": "bash", "input": obj{"command": t.command}}}},
			obj{"role": "tool", "content": []any{obj{"type": "tool-result", "toolCallId": fmt.Sprint(n), "toolName": "bash", "output": obj{"type": "text", "value": t.answer}}}},
		}
	},
	"vercel parts": func(n int, t turn) []any {
		return []any{obj{"role": "assistant", "parts": []any{
			obj{"type": "text", "text": t.thought},
			obj{"type": "tool-bash", "toolCallId": fmt.Sprint(n), "state": "output-available", "input": obj{"command": t.command}, "output": t.answer},
		}}}
	},
	"vercel invocation": func(n int, t turn) []any {
		return []any{obj{"role": "assistant", "parts": []any{
			obj{"type": "text", "text": t.thought},
			obj{"type": "tool-invocation", "toolInvocation": obj{"state": "result", "toolCallId": fmt.Sprint(n), "toolName": "bash", "args": obj{"command": t.command}, "result": t.answer}},
		}}}
	},
	"langchain": func(n int, t turn) []any {
		return []any{
			obj{"type": "ai", "content": t.thought, "tool_calls": []any{obj{"id": fmt.Sprint(n), "name": "bash", "args": obj{"command": t.command}, "type": "tool_call"}}},
			obj{"type": "tool", "content": t.answer, "tool_call_id": fmt.Sprint(n), "name": "bash"},
		}
	},
	"langchain data": func(n int, t turn) []any {
		return []any{
			obj{"type": "ai", "data": obj{"content": t.thought, "tool_calls": []any{obj{"id": fmt.Sprint(n), "name": "bash", "args": obj{"command": t.command}}}}},
			obj{"type": "tool", "data": obj{"content": t.answer, "tool_call_id": fmt.Sprint(n)}},
		}
	},
	"sharegpt": func(n int, t turn) []any {
		return []any{
			obj{"from": "gpt", "value": t.thought},
			obj{"from": "function_call", "value": text(obj{"name": "bash", "arguments": obj{"command": t.command}})},
			obj{"from": "observation", "value": t.answer},
		}
	},
	"hermes": func(n int, t turn) []any {
		return []any{
			obj{"from": "gpt", "value": t.thought + "\n<tool_call>\n" + text(obj{"name": "bash", "arguments": obj{"command": t.command}}) + "\n</tool_call>"},
			obj{"from": "tool", "value": "<tool_response>\n" + t.answer + "\n</tool_response>"},
		}
	},
	"xml": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": t.thought + "\n<function=bash>\n<parameter=command>\n" + t.command + "\n</parameter>\n</function>"},
			obj{"role": "user", "content": t.answer},
		}
	},
	"xml in tool_call": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": t.thought + "\n<tool_call>\n<function=bash>\n<parameter=command>\n" + t.command + "\n</parameter>\n</function>\n</tool_call>"},
			obj{"role": "user", "content": "<tool_response>\n" + t.answer + "\n</tool_response>"},
		}
	},
	"invoke": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": t.thought + "\n<function_calls>\n<invoke name=\"bash\">\n<parameter name=\"command\">" + t.command + "</parameter>\n</invoke>\n</function_calls>"},
			obj{"role": "user", "content": t.answer},
		}
	},
	"mistral": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": t.thought + "\n[TOOL_CALLS] " + text([]any{obj{"name": "bash", "arguments": obj{"command": t.command}}})},
			obj{"role": "tool", "content": t.answer},
		}
	},
	"react": func(n int, t turn) []any {
		return []any{
			obj{"role": "assistant", "content": "Thought: " + t.thought + "\nAction: bash\nAction Input: " + text(obj{"command": t.command})},
			obj{"role": "user", "content": t.answer},
		}
	},
	"gemini": func(n int, t turn) []any {
		return []any{
			obj{"role": "model", "parts": []any{obj{"text": t.thought}, obj{"functionCall": obj{"name": "bash", "args": obj{"command": t.command}}}}},
			obj{"role": "user", "parts": []any{obj{"functionResponse": obj{"name": "bash", "response": obj{"type": "text", "value": t.answer}}}}},
		}
	},
}

// TestDialects is the property that a dialogue has the same steps however it is written.
func TestDialects(t *testing.T) {
	word := rapid.StringMatching(`[a-zé]([a-z0-9 <>/"\\{}é]{0,20}[a-z])?`)
	rapid.Check(t, func(t *rapid.T) {
		var turns []turn
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			turns = append(turns, turn{
				thought: rapid.StringMatching(`[a-z ]{1,12}[a-z]`).Draw(t, "thought"),
				command: word.Draw(t, "command"),
				answer:  word.Draw(t, "answer"),
			})
		}
		for name, write := range dialects {
			system, human := obj{"role": "system", "content": "You help."}, obj{"role": "user", "content": "Fix it"}
			if strings.HasPrefix(name, "langchain") {
				system, human = obj{"type": "system", "content": "You help."}, obj{"type": "human", "content": "Fix it"}
			}
			list := []any{system, human}
			for i, said := range turns {
				list = append(list, write(i, said)...)
			}
			key := rapid.SampledFrom([]string{"messages", "conversations", "text", "lines"}).Draw(t, "key")
			var data string
			switch key {
			case "lines":
				for _, m := range list {
					data += text(m) + "\n"
				}
			case "text":
				indented, _ := json.MarshalIndent(list, " ", "  ")
				data = text(obj{"instance_id": "a__b-1", "messages": " " + string(indented)})
			default:
				data = text(obj{"instance_id": "a__b-1", key: list})
			}
			items, err := sessiontest.Read(Formats(tools.Default()), "rows.jsonl", []byte(data))
			if err != nil || len(items) == 0 || items[0].Trajectory == nil {
				t.Fatalf("%s: %d items, %v\n%s", name, len(items), err, data)
			}
			check(t, name, items[0].Trajectory, turns)
		}
	})
}

func check(t *rapid.T, name string, run *trajectory.Trajectory, turns []turn) {
	if len(run.States) != len(turns)+1 {
		t.Fatalf("%s: %d steps, want %d", name, len(run.States)-1, len(turns))
	}
	for i, want := range turns {
		s := &run.States[i+1]
		if s.Tool != "run_in_terminal" || s.Log.Args.Command != want.command || s.ResponsePreview != want.answer {
			t.Fatalf("%s, step %d: %s %q gave %q, want %q gave %q", name, i+1, s.Tool, s.Log.Args.Command, s.ResponsePreview, want.command, want.answer)
		}
		if strings.TrimSpace(s.Thought) != strings.TrimSpace(want.thought) && name != "sharegpt" && name != "responses" {
			t.Fatalf("%s, step %d: thought %q, want %q", name, i+1, s.Thought, want.thought)
		}
	}
}

func TestOddMessages(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"an answer that is an object is kept as JSON",
			`{"messages":[{"role":"user","content":"f"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","tool_call_id":"c","content":{"stdout":"p1"}}]}`,
			`ls => {"stdout":"p1"}`},
		{"two answers in one message go by order",
			`{"messages":[{"role":"user","content":"f"},{"role":"assistant","content":"<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"a\"}}</tool_call>\n<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"echo </tool_call>\"}}</tool_call>"},{"role":"user","content":"<tool_response>\n1 </tool_response> x\n</tool_response>\n<tool_response>\n2\n</tool_response>"}]}`,
			"a => 1 </tool_response> x\necho </tool_call> => 2"},
		{"results of Anthropic by id, failed ones too",
			`{"messages":[{"role":"user","content":"f"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"bash","input":{"command":"a"}},{"type":"tool_use","id":"2","name":"bash","input":{"command":"b"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"B","is_error":true},{"type":"tool_result","tool_use_id":"1","content":"A"}]}]}`,
			"a => A\nb => B"},
		{"calls of XML whose answers end in a prompt",
			`{"conversations":[{"from":"human","value":"f"},{"from":"gpt","value":"x\n<function=bash>\n<parameter=command>ls</parameter>\n</function>"},{"from":"human","value":"EXECUTION RESULT of [bash]:\nsrc\n\n(Open file: n/a)\n(Current directory: /shop)\nbash-$"}]}`,
			"ls => src\n\n(Open file: n/a)\n(Current directory: /shop)\nbash-$"},
		{"a constructor of LangChain",
			`{"messages":[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"f"}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"","additional_kwargs":{"tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},"tool_calls":[{"id":"1","name":"bash","args":{"command":"ls"}}]}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","ToolMessage"],"kwargs":{"content":"x","tool_call_id":"1"}}]}`,
			"ls => x"},
	} {
		r := run(t, tc.data)
		var got []string
		for _, s := range r.States[1:] {
			got = append(got, s.Log.Args.Command+" => "+s.ResponsePreview)
		}
		if strings.Join(got, "\n") != tc.want {
			t.Errorf("%s:\n got %q\nwant %q (%v)", tc.name, strings.Join(got, "\n"), tc.want, r.Warnings)
		}
	}
}

func TestRowsAreRuns(t *testing.T) {
	for _, data := range []string{
		`[{"id":"r1","messages":[{"role":"user","content":"same"}]},{"id":"r2","messages":[{"role":"user","content":"same"}]}]`,
	} {
		items, err := sessiontest.Read(Formats(tools.Default()), "rows.json", []byte(data))
		if err != nil || len(items) != 2 || items[0].Trajectory.ID != "r1" || items[1].Trajectory.ID != "r2" {
			t.Errorf("%d items, %v", len(items), err)
		}
	}
}

// FuzzWritten looks for texts that stop the reading of calls in texts.
func FuzzWritten(f *testing.F) {
	for _, write := range dialects {
		for _, m := range write(1, turn{"look", "ls", "x"}) {
			f.Add(text(m))
			if said, ok := m.(obj)["content"].(string); ok {
				f.Add(said)
			}
		}
	}
	f.Add("<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value></tool_call>")
	f.Add(`[TOOL_CALLS]bash[ARGS]{"command":"ls"}`)
	f.Fuzz(func(t *testing.T, said string) {
		for _, bare := range []bool{false, true} {
			w := readWritten(said, bare)
			if len(w.calls) == 0 && w.broken == 0 && w.before != said {
				t.Errorf("%q lost its text: %q", said, w.before)
			}
			for _, c := range w.calls {
				if c.Tool == "" {
					t.Errorf("%q has a call without a tool", said)
				}
			}
		}
		readAnswers(said)
	})
}
