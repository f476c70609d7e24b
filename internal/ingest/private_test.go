package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/privacy/privacytest"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// smallLogs are a run in each of several formats, by the name of its file.
var smallLogs = map[string]string{
	"rows.jsonl":    `{"instance_id":"a__b-1","model":"m","resolved":true,"messages":[{"role":"user","content":"Fix it"},{"role":"assistant","content":"look","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"git remote -v\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"origin"}]}`,
	"output.jsonl":  `{"instance_id":"a__b-1","instruction":"t","history":[{"id":0,"source":"user","action":"message","args":{"content":"t"}},{"id":1,"source":"agent","action":"run","args":{"command":"ls","thought":"x"}},{"id":2,"source":"agent","cause":1,"observation":"run","content":"y","extras":{"metadata":{"exit_code":0}}}],"metadata":{"llm_config":{"model":"m"}},"test_result":{"report":{"resolved":true}}}`,
	"x.traj.json":   `{"trajectory_format":"mini-swe-agent-1.1","instance_id":"a__b-1","info":{"exit_status":"Submitted","submission":"p"},"messages":[{"role":"user","content":"t"},{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","tool_call_id":"1","content":"x","extra":{"raw_output":"o","returncode":0}}]}`,
	"a__b-1.traj":   `{"trajectory":[{"action":"ls","observation":"x","thought":"t","response":"r","state":"{\"working_dir\":\"/w\"}"}],"info":{"exit_status":"submitted","submission":"d"},"history":[{"role":"user","content":"c"}],"replay_config":"{\"agent\":{\"model\":{\"name\":\"m\"}}}"}`,
	"session.jsonl": `{"type":"user","sessionId":"s","uuid":"1","cwd":"/w","message":{"role":"user","content":"t"}}` + "\n" + `{"type":"assistant","sessionId":"s","uuid":"2","message":{"id":"m","model":"x","content":[{"type":"text","text":"say"},{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}}]}}` + "\n" + `{"type":"user","sessionId":"s","uuid":"3","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}}`,
	"rollout.jsonl": `{"type":"session_meta","payload":{"id":"x","cwd":"/w"}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"1"}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"{\"output\":\"o\",\"metadata\":{\"exit_code\":0}}"}}`,
	"atif.json":     `{"schema_version":"ATIF-v1.5","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"t"},{"step_id":2,"source":"agent","message":"m","tool_calls":[{"tool_call_id":"1","function_name":"bash","arguments":{"command":"ls"}}],"observation":{"results":[{"source_call_id":"1","content":"o"}]}}]}`,
}

// logsToPlantIn are the small logs and, where the shared folder is, the smaller real ones.
func logsToPlantIn(t *testing.T) map[string]string {
	logs := map[string]string{}
	maps.Copy(logs, smallLogs)
	t.Run("real", func(t *testing.T) {
		dir := conformance.Dir(t, "fixtures")
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(d.Name(), ".json") && !strings.HasSuffix(d.Name(), ".traj") {
				return err
			}
			data, err := os.ReadFile(file)
			if err == nil && len(data) < 30_000 {
				logs[d.Name()] = string(data)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return logs
}

// valueEnds returns where the strings of JSON text end that are no names of members.
func valueEnds(text string) (ends []int) {
	in := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			if in && !strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\r\n"), ":") {
				ends = append(ends, i)
			}
			in = !in
		}
	}
	return ends
}

// TestNothingPrivateIsRead plants private texts of every kind and spelling in the strings of
// logs in every format: whatever comes of it, it holds none of them.
func TestNothingPrivateIsRead(t *testing.T) {
	logs, privates := logsToPlantIn(t), privacytest.Privates()
	names := slices.Sorted(maps.Keys(logs))
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "log")
		text := logs[name]
		ends := valueEnds(text)
		var planted []privacytest.Private
		at := len(text)
		for range 3 {
			p := rapid.SampledFrom(privates).Draw(rt, "private")
			e := rapid.SampledFrom(privacytest.Encodings).Draw(rt, "encoding")
			var before []int
			for _, end := range ends {
				if end < at {
					before = append(before, end)
				}
			}
			if len(before) == 0 {
				break
			}
			at = rapid.SampledFrom(before).Draw(rt, "place")
			text = text[:at] + " " + e.Write(p) + text[at:]
			planted = append(planted, p)
		}
		dir, err := os.MkdirTemp("", "private-*")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			rt.Fatal(err)
		}
		got := readtest.Read(t, ingest.Options{Texts: true}, dir)
		if got.Err != nil {
			got.Err = fmt.Errorf("%s", strings.ReplaceAll(got.Err.Error(), dir, ""))
		}
		all := fmt.Sprint(marshal(rt, got.Runs), marshal(rt, got.Evidence), marshal(rt, got.Refused), got.Err)
		for _, p := range privacytest.Hidden(all, planted) {
			at := strings.Index(all, p.Needle)
			rt.Errorf("%s: %s: %s in %.300s", name, p.Kind, p.Text, all[max(0, at-100):])
		}
	})
}

func marshal(t *rapid.T, v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNamesThatAnswersTell: what git, whoami and hostname answer is hidden in the whole run.
func TestNamesThatAnswersTell(t *testing.T) {
	var messages []string
	call := func(id, command, answer string) {
		args, _ := json.Marshal(map[string]string{"command": command})
		quoted, _ := json.Marshal(string(args))
		text, _ := json.Marshal(answer)
		messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":"x","tool_calls":[{"id":%q,"function":{"name":"bash","arguments":%s}}]},{"role":"tool","tool_call_id":%q,"content":%s}`, id, quoted, id, text))
	}
	call("1", "git config user.name", "Gudrún Quist\n")
	call("2", "whoami && hostname", "gudrunq\nnordwind-7\n")
	call("3", "echo made by Gudrún Quist, gudrunq on nordwind-7", "gudrunq")
	call("4", "git config user.name 'OpenHands'", "")
	row := `{"instance_id":"a__b-1","messages":[{"role":"user","content":"t"},` + strings.Join(messages, ",") + `]}`
	read := func(opt ingest.Options) *trajectory.Trajectory {
		got := readtest.Read(t, opt, readtest.Files(t, map[string]string{"r.jsonl": row}))
		if got.Err != nil || len(got.Runs) != 1 {
			t.Fatal(got.Err)
		}
		if n := got.Summary.Privacy[privacy.HostName]; n == 0 {
			t.Errorf("counted %v", got.Summary.Privacy)
		}
		return got.Runs[0]
	}
	run := read(ingest.Options{})
	if got := run.States[3].Command(); got != "echo made by REDACTED_PERSON_NAME, user on host" {
		t.Errorf("got %q", got)
	}
	if got := run.States[4].Command(); got != "git config user.name 'OpenHands'" {
		t.Errorf("got %q", got)
	}
	if text := fmt.Sprintf("%+v %+v", run.States, run.States[1].Log); strings.Contains(text, "gudrunq") || strings.Contains(text, "nordwind") {
		t.Error(text)
	}
	if got := read(ingest.Options{KeepPaths: true}).States[3].Command(); got != "echo made by REDACTED_PERSON_NAME, gudrunq on host" {
		t.Errorf("with kept paths: %q", got)
	}
}

// TestRederive: what is derived of a run again is what was derived first, in every format.
func TestRederive(t *testing.T) {
	for name, text := range logsToPlantIn(t) {
		got := readtest.Read(t, ingest.Options{Texts: true}, readtest.Files(t, map[string]string{name: text}))
		for _, run := range got.Runs {
			if run.Format == "agentlens-release" {
				continue
			}
			before := append([]trajectory.State(nil), run.States...)
			states.Rederive(run)
			for i := range before {
				if !reflect.DeepEqual(before[i], run.States[i]) {
					t.Errorf("%s: step %d\n%+v\n%+v", name, i, before[i], run.States[i])
				}
			}
		}
	}
}
