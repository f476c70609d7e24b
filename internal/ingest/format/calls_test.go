package format_test

import (
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

func TestCountCalls(t *testing.T) {
	for text, want := range map[string]int64{
		`{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"b","name":"Bash","input":{}}]}`:                                   2,
		"{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"x\",\"input\":{}}\nbroken {\n{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"x\",\"input\":{}}":                              1, // a copy
		`{"messages":[{"tool_calls":[{"id":1,"function":{"name":"f","arguments":"{}"}}],"extra":{"response":{"tool_calls":[{"id":2,"function":{"name":"f","arguments":"{}"}}]}}}]}`: 1,
		`[{"function_call":{"name":"f","arguments":"{}"}},{"function_call":{"name":"f","arguments":"{}"}}]`:                                                                         2,
		`{"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}`:                                                                                                   0,
		`{"type":"tool_use","id":"a","name":"write","input":{"content":{"type":"tool_use","id":"b","name":"x","input":{}}}}`:                                                        1,
		`{"payload":{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}}`:                                                                                        1,
		`{"text":"{\"type\":\"tool_use\"}"}`: 0, ``: 0, `[{`: 0, `{"type":"tool_use"`: 0,
	} {
		if got := format.CountCalls([]byte(text)); got != want {
			t.Errorf("%s: %d calls, want %d", text, got, want)
		}
	}
}

func FuzzCountCalls(f *testing.F) {
	f.Add([]byte(`[{"function":{"name":"f","arguments":""}},{"type":"tool_use","id":"","name":"n","input":1}]`))
	f.Fuzz(func(t *testing.T, data []byte) { format.CountCalls(data) })
}
