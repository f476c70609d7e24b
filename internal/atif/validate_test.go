package atif_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/atif"
	"github.com/agentlens-bench/agentlens/internal/conformance"
)

func describe(problems []atif.Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%s %s %s: %s", p.Severity, p.Path, p.Code, p.Message))
	}
	return strings.Join(out, "\n")
}

func TestGoldenFilesAreValid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(conformance.Dir(t, "fixtures", "atif"), "*.json"))
	if err != nil || len(files) != 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range atif.Validate(data, atif.Options{}) {
			if p.Severity == atif.Error {
				t.Errorf("%s: %s %s", filepath.Base(file), p.Path, p.Message)
			}
		}
	}
}

const valid = `{"schema_version":"ATIF-v1.7","session_id":"s","trajectory_id":"t","notes":null,
"agent":{"name":"a","version":"1","model_name":"m","tool_definitions":[{}],"extra":{}},
"steps":[
{"step_id":1,"timestamp":"2025-01-01T10:00:00Z","source":"system","message":"","observation":{"results":[{"content":"x"}]},"extra":{}},
{"step_id":2,"timestamp":"2025-01-01T10:00:00.5+00:00","source":"user","message":[{"type":"text","text":"hi"},{"type":"image","source":{"media_type":"image/png","path":"images/a.png"}}]},
{"step_id":3,"timestamp":"2025-01-01T10:00:01","source":"agent","message":"go","model_name":"m","reasoning_effort":"high","reasoning_content":"r","is_copied_context":false,"llm_call_count":1,
 "tool_calls":[{"tool_call_id":"c1","function_name":"bash","arguments":{},"extra":{}},{"tool_call_id":"c2","function_name":"bash","arguments":{"a":1}}],
 "observation":{"results":[{"source_call_id":"c1","content":"out","extra":{}},{"source_call_id":"c2","subagent_trajectory_ref":[{"trajectory_id":"sub","session_id":"s"}]}]},
 "metrics":{"prompt_tokens":3,"completion_tokens":2,"cached_tokens":1,"cost_usd":0.5,"prompt_token_ids":[1,2,3],"completion_token_ids":[1,2],"logprobs":[-0.5,-1],"extra":{}}},
{"step_id":4,"source":"agent","message":"","llm_call_count":0,"metrics":null}],
"final_metrics":{"total_prompt_tokens":3,"total_completion_tokens":2,"total_cached_tokens":1,"total_cost_usd":1,"total_steps":4,"extra":{}},
"continued_trajectory_ref":"next.json","extra":{},
"subagent_trajectories":[{"schema_version":"ATIF-v1.7","trajectory_id":"sub","agent":{"name":"b","version":"1"},"steps":[{"step_id":1,"source":"user","message":"x"}]}]}`

func TestValid(t *testing.T) {
	there := func(name string) bool { return name == "images/a.png" || name == "next.json" }
	if got := atif.Validate([]byte(valid), atif.Options{Exists: there}); len(got) > 0 {
		t.Error(describe(got))
	}
}

// TestSingleViolations breaks one rule at a time.
func TestSingleViolations(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		// unknown keys at every level
		{`"extra":{},
"sub`, `"extra":{},"foo":1,
"sub`, `error $.foo unknown_key: key "foo" is not part of ATIF schema here; known are schema_version, `},
		{`"name":"a",`, `"name":"a","x":1,`, `error $.agent.x unknown_key`},
		{`"step_id":4,`, `"step_id":4,"x":1,`, `error $.steps[3].x unknown_key`},
		{`"arguments":{},`, `"arguments":{},"x":1,`, `error $.steps[2].tool_calls[0].x unknown_key`},
		{`{"results":[{"content"`, `{"x":1,"results":[{"content"`, `error $.steps[0].observation.x unknown_key`},
		{`[{"content":"x"}]`, `[{"content":"x","x":1}]`, `error $.steps[0].observation.results[0].x unknown_key`},
		{`"session_id":"s"}]`, `"x":1}]`, `error $.steps[2].observation.results[1].subagent_trajectory_ref[0].x unknown_key`},
		{`"text":"hi"`, `"text":"hi","x":1`, `error $.steps[1].message[0].x unknown_key`},
		{`"media_type":"image/png",`, `"media_type":"image/png","x":1,`, `error $.steps[1].message[1].source.x unknown_key`},
		{`"cost_usd":0.5,`, `"cost_usd":0.5,"x":1,`, `error $.steps[2].metrics.x unknown_key`},
		{`"total_cost_usd":1,`, `"total_cost_usd":1,"x":1,`, `error $.final_metrics.x unknown_key`},

		// missing
		{`{"schema_version":"ATIF-v1.7","session_id"`, `{"session_id"`, `error $.schema_version missing: required key "schema_version" is missing`},
		{`"name":"a",`, ``, `error $.agent.name missing`},
		{`"agent":{"name":"b","version":"1"},`, ``, `error $.subagent_trajectories[0].agent missing`},
		{`"name":"b","version":"1"`, `"name":"b"`, `error $.subagent_trajectories[0].agent.version missing`},
		{`,"steps":[{"step_id":1,"source":"user","message":"x"}]`, ``, `error $.subagent_trajectories[0].steps missing`},
		{`"source":"agent","message":"",`, `"source":"agent",`, `error $.steps[3].message missing`},
		{`"source":"agent","message":"",`, `"source":"agent","message":null,`, `error $.steps[3].message missing: got null, but "message" is required`},
		{`{"step_id":4,"source":"agent",`, `{"step_id":4,`, `error $.steps[3].source missing`},
		{`{"step_id":4,`, `{`, `error $.steps[3].step_id missing`},
		{`"function_name":"bash","arguments":{},`, `"arguments":{},`, `error $.steps[2].tool_calls[0].function_name missing`},
		{`,"arguments":{"a":1}`, ``, `error $.steps[2].tool_calls[1].arguments missing`},
		{`{"results":[{"content":"x"}]}`, `{}`, `error $.steps[0].observation.results missing`},
		{`"trajectory_id":"sub","agent"`, `"agent"`, `error $.subagent_trajectories[0].trajectory_id missing`},

		// types and words
		{`"ATIF-v1.7","session_id"`, `"ATIF-v1.9","session_id"`, `error $.schema_version unknown_value: got "ATIF-v1.9", want one of ATIF-v1.0, `},
		{`"session_id":"s","trajectory_id"`, `"session_id":5,"trajectory_id"`, `error $.session_id wrong_type: got 5, want a string`},
		{`"notes":null`, `"notes":[]`, `error $.notes wrong_type: got an array, want a string`},
		{`[{}],"extra"`, `["f"],"extra"`, `error $.agent.tool_definitions[0] wrong_type: got "f", want an object`},
		{`"arguments":{},`, `"arguments":"{}",`, `error $.steps[2].tool_calls[0].arguments wrong_type: got "{}", want an object`},
		{`"step_id":4`, `"step_id":4.5`, `error $.steps[3].step_id wrong_type: got 4.5, want a whole number`},
		{`"step_id":4`, `"step_id":"4"`, `error $.steps[3].step_id wrong_type: got "4"`},
		{`{"step_id":4,"source":"agent"`, `{"step_id":4,"source":"assistant"`, `error $.steps[3].source unknown_value: got "assistant", want one of system, user, agent`},
		{`"message":"go"`, `"message":{}`, `error $.steps[2].message wrong_type: got an object, want a string or an array of content parts`},
		{`"reasoning_effort":"high"`, `"reasoning_effort":[]`, `error $.steps[2].reasoning_effort wrong_type`},
		{`"is_copied_context":false`, `"is_copied_context":"no"`, `error $.steps[2].is_copied_context wrong_type: got "no", want true or false`},
		{`"llm_call_count":1`, `"llm_call_count":-1`, `error $.steps[2].llm_call_count wrong_type`},
		{`"metrics":{"prompt_tokens":3`, `"metrics":{"prompt_tokens":"3"`, `error $.steps[2].metrics.prompt_tokens wrong_type`},
		{`"logprobs":[-0.5,-1]`, `"logprobs":[-0.5,"x"]`, `error $.steps[2].metrics.logprobs[1] wrong_type: got "x", want a number`},
		{`{"step_id":4,"source":"agent","message":"","llm_call_count":0,"metrics":null}`, `7`, `error $.steps[3] wrong_type: got 7, want an object`},
		{`"extra":{},
"sub`, `"extra":[],
"sub`, `error $.extra wrong_type: got an array, want an object`},
		{`"steps":[{"step_id":1,"source":"user","message":"x"}]`, `"steps":[]`, `error $.subagent_trajectories[0].steps no_steps: the array is empty`},
		{`"subagent_trajectories":[`, `"subagent_trajectories":[3,`, `error $.subagent_trajectories[0] wrong_type`},

		// order, references, who may have what
		{`"step_id":4`, `"step_id":5`, `error $.steps[3].step_id step_order: is 5, want 4`},
		{`"source_call_id":"c1"`, `"source_call_id":"c9"`, `error $.steps[2].observation.results[0].source_call_id no_such_call: no call of the step has the id "c9"`},
		{`"results":[{"content":"x"`, `"results":[{"source_call_id":"c1","content":"x"`, `error $.steps[0].observation.results[0].source_call_id no_such_call`},
		{`"source":"user","message":[`, `"source":"user","model_name":"m","message":[`, `error $.steps[1].model_name agent_only`},
		{`"source":"user","message":[`, `"source":"user","reasoning_effort":1,"message":[`, `error $.steps[1].reasoning_effort agent_only`},
		{`"source":"user","message":[`, `"source":"user","reasoning_content":"","message":[`, `error $.steps[1].reasoning_content agent_only`},
		{`"source":"user","message":[`, `"source":"user","tool_calls":[],"message":[`, `error $.steps[1].tool_calls agent_only`},
		{`"source":"user","message":[`, `"source":"user","metrics":{},"message":[`, `error $.steps[1].metrics agent_only`},
		{`"source":"user","message":[`, `"source":"user","observation":{"results":[]},"message":[`, `error $.steps[1].observation agent_only`},
		{`"metrics":null`, `"metrics":{}`, `error $.steps[3].metrics without_model`},
		{`"metrics":null`, `"reasoning_content":"r"`, `error $.steps[3].reasoning_content without_model`},
		{`10:00:00Z`, `10:00`, ``},
		{`2025-01-01T10:00:00Z`, `yesterday`, `error $.steps[0].timestamp bad_timestamp: got "yesterday"`},
		{`2025-01-01T10:00:00Z`, `2025-02-30T10:00:00Z`, `error $.steps[0].timestamp bad_timestamp`},
		{`"2025-01-01T10:00:00Z"`, `5`, `error $.steps[0].timestamp wrong_type`},
		{`"trajectory_id":"sub","session_id":"s"`, `"session_id":"s"`, `error $.steps[2].observation.results[1].subagent_trajectory_ref[0] unresolvable`},
		{`[{"trajectory_id":"sub","session_id":"s"}]`, `{"trajectory_id":"sub"}`, `error $.steps[2].observation.results[1].subagent_trajectory_ref wrong_type`},
		{`"message":"x"}]}]}`, `"message":"x"}]},{"schema_version":"ATIF-v1.7","trajectory_id":"sub","agent":{"name":"b","version":"1"},"steps":[{"step_id":1,"source":"user","message":"x"}]}]}`,
			`error $.subagent_trajectories[1].trajectory_id duplicate_id`},

		// content parts
		{`"type":"text"`, `"type":"audio"`, `error $.steps[1].message[0].type unknown_value`},
		{`,"text":"hi"`, ``, `error $.steps[1].message[0].text missing`},
		{`"text":"hi"`, `"text":"hi","source":{"media_type":"image/png","path":"images/a.png"}`, `error $.steps[1].message[0].source wrong_part`},
		{`,"source":{"media_type":"image/png","path":"images/a.png"}`, ``, `error $.steps[1].message[1].source missing`},
		{`"type":"image",`, `"type":"image","text":"x",`, `error $.steps[1].message[1].text wrong_part`},
		{`image/png`, `image/tiff`, `error $.steps[1].message[1].source.media_type unknown_value`},
		{`"path":"images/a.png"`, `"path":"images/b.png"`, `error $.steps[1].message[1].source.path no_such_file`},
		{`"path":"images/a.png"`, `"path":"https://x/b.png"`, ``},

		// what the reference validator lets pass
		{`"tool_call_id":"c2"`, `"tool_call_id":"c3"`, `error $.steps[2].observation.results[1].source_call_id no_such_call`},
		{`{"tool_call_id":"c2",`, `{"tool_call_id":"c1","function_name":"x","arguments":{}},{"tool_call_id":"c2",`, `warning $.steps[2].tool_calls[1].tool_call_id duplicate_id`},
		{`"prompt_token_ids":[1,2,3]`, `"prompt_token_ids":[1,2]`, `warning $.steps[2].metrics.prompt_token_ids lengths_differ`},
		{`"completion_token_ids":[1,2]`, `"completion_token_ids":[1]`, `warning $.steps[2].metrics.completion_token_ids lengths_differ`},
		{`"cached_tokens":1`, `"cached_tokens":4`, `warning $.steps[2].metrics.cached_tokens lengths_differ`},
		{`10:00:00.5+00:00`, `11:00:00+02:00`, `warning $.steps[1].timestamp time_order`},
		{`"total_steps":4`, `"total_steps":5`, `warning $.final_metrics.total_steps totals_differ`},
		{`next.json`, `other.json`, `warning $.continued_trajectory_ref no_such_file`},
		{`"trajectory_id":"sub","session_id":"s"`, `"trajectory_path":"sub.json"`, `warning $.steps[2].observation.results[1].subagent_trajectory_ref[0].trajectory_path no_such_file`},
		{`[{"trajectory_id":"sub","session_id"`, `[{"trajectory_id":"nobody","session_id"`, `warning $.steps[2].observation.results[1].subagent_trajectory_ref[0].trajectory_id no_such_subagent`},
		{`"step_id":4,`, `"step_id":9,"step_id":4,`, `warning $.steps[3].step_id duplicate_key`},
	} {
		text := strings.Replace(valid, c.old, c.new, 1)
		if text == valid {
			t.Errorf("%q is not in the document", c.old)
			continue
		}
		there := func(name string) bool { return name == "images/a.png" || name == "next.json" }
		got := describe(atif.Validate([]byte(text), atif.Options{Exists: there}))
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") || c.want == "" && got != "" {
			t.Errorf("%s -> %s\ngot  %s\nwant %s", c.old, c.new, got, c.want)
		}
	}
}

func TestOlderVersions(t *testing.T) {
	doc := func(version, more string) string {
		return `{"schema_version":"ATIF-` + version + `","agent":{"name":"a","version":"1"},` + more + `}`
	}
	const user = `"steps":[{"step_id":1,"source":"user","message":"x"}]`
	for _, c := range []struct{ text, want string }{
		{doc("v1.7", user), ""},
		{doc("v1.6", user), "error $.session_id missing"},
		{doc("v1.6", `"session_id":"s",`+user), ""},
		{doc("v1.0", `"session_id":"s","extra":{},`+user), "warning $.extra newer_than_version"},
		{doc("v1.1", `"session_id":"s","steps":[{"step_id":1,"source":"system","message":"x","observation":{"results":[]}}]`), "warning $.steps[0].observation newer_than_version"},
		{doc("v1.5", `"session_id":"s","steps":[{"step_id":1,"source":"user","message":[]}]`), "warning $.steps[0].message newer_than_version"},
		{doc("v1.6", `"session_id":"s","steps":[{"step_id":1,"source":"system","message":"","observation":{"results":[{"subagent_trajectory_ref":[{"session_id":"q"}]}]}}]`), ""},
		{doc("v1.6", `"session_id":"s","steps":[{"step_id":1,"source":"system","message":"","observation":{"results":[{"subagent_trajectory_ref":[{"trajectory_path":"q"}]}]}}]`),
			"error $.steps[0].observation.results[0].subagent_trajectory_ref[0].session_id missing"},
		{`[]`, "error $ wrong_type: got an array, want the object of a trajectory"},
		{`{"steps":`, "error $ bad_json: byte 9, line 1: the text ends inside a value"},
		{"{\n\"a\": NaN}", "error $ bad_json: byte "},
		{`{} {}`, "error $ bad_json"},
	} {
		got := describe(atif.Validate([]byte(c.text), atif.Options{}))
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") || c.want == "" && got != "" {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestAllProblemsAreCollected breaks several rules at once.
func TestAllProblemsAreCollected(t *testing.T) {
	got := atif.Validate([]byte(`{"schema_version":"x","agent":{},"steps":[{"step_id":3,"source":"user","message":"","metrics":{"a":1}},5],"b":2}`), atif.Options{})
	want := []string{"$.schema_version", "$.agent.name", "$.agent.version", "$.b", "$.steps[0].metrics.a", "$.steps[0].step_id", "$.steps[0].metrics", "$.steps[1]"}
	var paths []string
	for _, p := range got {
		paths = append(paths, p.Path)
	}
	if strings.Join(paths, " ") != strings.Join(want, " ") {
		t.Errorf("%s", describe(got))
	}
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(`{"schema_version":"ATIF-v1.6","steps":[null,{"tool_calls":[{}],"observation":{"results":[[]]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range atif.Validate(data, atif.Options{Exists: func(string) bool { return false }}) {
			if p.Path == "" || p.Code == "" || p.Message == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
